"""Entries of ours in the files of clients: put in beside what is there, taken out without a trace."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from lamina.doors.harness.clients import CLIENTS, ClientHome, Launch
from lamina.doors.harness.install import carry_out, client_of, plan_install, plan_uninstall, shown
from lamina.errors import Conflict, InvalidInput

LAUNCH = Launch(words=("/opt/lamina/bin/lamina",), workspace="/home/ana/my notes")
OTHER = '{"hooks": [{"type": "command", "command": "echo other"}]}'

#: Files as people and programs leave them, for a list of servers and for one of hooks.
SERVERS = {
    "nothing": None,
    "empty": "",
    "blank": "\n\n",
    "a mark and nothing": "\ufeff",
    "an empty object": "{}",
    "an empty object on lines": "{\n}\n",
    "an empty object with a comment": "{\n  // servers come here\n}\n",
    "an empty list of servers": '{\n  "mcpServers": {}\n}\n',
    "an empty list on lines": '{\n    "mcpServers": {\n    }\n}\n',
    "others": '{\n  "mcpServers": {\n    "git": {\n      "command": "uvx"\n    }\n  },\n  "n": 1\n}\n',
    "four blanks": '{\n    "mcpServers": {\n        "git": {"command": "uvx"}\n    }\n}',
    "tabs": '{\n\t"mcpServers": {\n\t\t"git": {"command": "uvx"}\n\t}\n}\n',
    "windows": '{\r\n  "mcpServers": {\r\n    "git": {"command": "uvx"}\r\n  }\r\n}\r\n',
    "a mark": '\ufeff{\n  "theme": "dark"\n}\n',
    "one line": '{"mcpServers":{"git":{"command":"uvx"}},"oauth":{"token":"sk-very-secret"}}',
    "one line without servers": '{"oauth":{"token":"sk-very-secret"}}\n',
    "comments": '{\n  // m\n  "mcpServers": {\n    "git": {"command": "uvx"} // b\n    /* end */\n  }\n}\n',
    "commas at the end": '{\n  "mcpServers": {\n    "git": {"command": "uvx"},\n  },\n}\n',
    "strange blanks": '  {  "mcpServers"  :  {  }  ,  "a"  :  [ 1 , 2 ]  }   \n\n',
    "escapes": '{\n  "พ": "\\u0e1e \\" \\\\ // no comment",\n  "网": {"/*": "*/"}\n}',
    "deep": json.dumps({"a": {"b": [{"c": [[[{}]]]}]}}, indent=3),
}
HOOKS = {
    "nothing": None,
    "empty": "",
    "an empty object": "{}",
    "settings": '{\n  "model": "opus",\n  "permissions": {"allow": ["Bash(ls:*)"]}\n}\n',
    "no hooks in it": '{\n  "hooks": {},\n  "model": "opus"\n}\n',
    "an empty event": '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    "hooks of others": f'{{\n  "hooks": {{\n    "Stop": [\n      {OTHER}\n    ],\n    "X": []\n  }}\n}}\n',
    "windows": f'{{\r\n  "hooks": {{\r\n    "Stop": [{OTHER}]\r\n  }}\r\n}}',
    "commented": f'{{\n  "hooks": {{\n    // k\n    "Stop": [{OTHER}, /* x */ ] // y\n  }} // z\n}} // e\n',
    "one line": f'{{"hooks":{{"SessionStart":[{OTHER}]}}}}',
    "tabs and commas": f'{{\n\t"hooks": {{\n\t\t"Stop": [\n\t\t\t{OTHER},\n\t\t],\n\t}},\n}}\n',
}
TABLES = {
    "nothing": None,
    "empty": "",
    "plain": 'model = "gpt-5"\n',
    "no final newline": 'model = "gpt-5"',
    "windows": 'model = "gpt-5"\r\n\r\n[features]\r\nhooks = true\r\n',
    "comments": '# mine\nmodel = "gpt-5" # the best\n\n[mcp_servers.git] # git\ncommand = "uvx"\n# end',
    "blank lines at the end": 'model = "gpt-5"\n\n\n\n',
    "dotted": 'mcp_servers.git.command = "uvx"\n[tui]\ntheme = "x"\n',
    "a mark": '\ufeffmodel = "gpt-5"\n',
    "many lines": 'notes = """\n[mcp_servers.lamina]\ncommand = "no table"\n"""\n',
    "thai": 'note = "จำไว้"\n[profiles."中文"]\nmodel = "x"\n',
}
JSON5 = {
    "nothing": None,
    "bare names": "{\n  // mine\n  mcp: { servers: { 'git': { command: 'uvx' }, }, },\n  agents: {},\n}\n",
    "no servers": "{ gateway: { port: 18789, bind: 'loop\\'back' } }",
}
YAML = {
    "nothing": None,
    "empty": "",
    "plain": "model: hermes\ntools:\n  - a\n",
    "no final newline": "# mine\nmodel: hermes",
    "others": "mcp_servers:  # all of them\n    git:\n        command: uvx\n\n# end\nmodel: x\n",
    "an empty list": "mcp_servers:\nmodel: x\n",
    "windows": "model: x\r\nmcp_servers:\r\n  git:\r\n    command: uvx\r\n",
    "a text with lines": "note: |\n  mcp_servers:\n    lamina: no\nภาษา: ไทย\n",
}
CASES = [
    *(("hermes", "servers", name, text) for name, text in YAML.items()),
    *(("openclaw", "servers", name, text) for name, text in JSON5.items()),
    *(("claude-code", "servers", name, text) for name, text in SERVERS.items()),
    *(("claude-code", "hooks", name, text) for name, text in HOOKS.items()),
    *(("cursor", "servers", name, text) for name, text in SERVERS.items() if name in ("comments", "windows")),
    *(("cursor", "hooks", name, text) for name, text in HOOKS.items() if "other" not in name),
    *(("codex", "servers", name, text) for name, text in TABLES.items()),
]


def place_of(folder: Path, scope: str = "user") -> ClientHome:
    return ClientHome(home=folder / "home", project=folder / "project", environment={}, scope=scope)


def file_of(client: str, which: str, place: ClientHome) -> Path:
    found = getattr(CLIENTS[client], which)(place)
    assert isinstance(found, Path)
    return found


def everything(folder: Path) -> dict[str, bytes]:
    names = (path for path in folder.rglob("*") if "ledger" not in path.parts)
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in names}


def put(path: Path, text: str | None) -> None:
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def install(client: str, place: ClientHome, ledger: Path, launch: Launch = LAUNCH) -> int:
    plan = plan_install(client_of(client), place, launch, ledger)
    carry_out(plan)
    return len(plan.changes)


def uninstall(client: str, place: ClientHome, ledger: Path) -> int:
    plan = plan_uninstall(client_of(client), place, ledger)
    carry_out(plan, removal=True)
    return len(plan.changes)


def plain_json(text: str) -> object:
    """JSON with comments and late commas, read by somebody else's rules: ours must not vouch for itself."""
    out, at, quoted = [], 0, False
    while at < len(text):
        if quoted or text[at] == '"':
            quoted = text[at] != '"' if quoted else True
            step = 2 if text[at] == "\\" else 1
            out.append(text[at : at + step])
            at += step
        elif text.startswith("//", at):
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 2
        elif text[at] in "}]":
            while out and not out[-1].strip():
                out.pop()
            if out and out[-1] == ",":
                out.pop()
            out.append(text[at])
            at += 1
        else:
            out.append(text[at])
            at += 1
    made = "".join(out).removeprefix("\ufeff")
    try:
        return json.loads(made)
    except ValueError:  # JSON5 of ours, in which no text has an apostrophe
        made = made.replace("\\'", "&apos;").replace("'", '"')
        return json.loads(re.sub(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)", r'\1"\2"\3', made))


@pytest.mark.parametrize(
    ("client", "which", "name", "text"), CASES, ids=[f"{c}-{w}-{n}" for c, w, n, _ in CASES]
)
def test_what_was_there_stays_and_removal_restores_every_byte(
    client: str, which: str, name: str, text: str | None, tmp_path: Path
) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    place.home.mkdir()
    file = file_of(client, which, place)
    put(file, text)
    before = everything(tmp_path)

    count = 2 if CLIENTS[client].hooks is None else 3
    assert install(client, place, ledger) == count
    after = file.read_bytes().decode()
    read = {".toml": tomllib.loads, ".yaml": yaml.safe_load}.get(file.suffix, plain_json)
    data = read(after.removeprefix("\ufeff"))
    assert isinstance(data, dict)
    if which == "servers":
        listed = (
            data["mcp"]["servers"] if client == "openclaw" else data.get("mcp_servers") or data["mcpServers"]
        )
        entry = listed["lamina"]
        assert entry["command"] == "/opt/lamina/bin/lamina"
        assert entry["args"] == ["-w", "/home/ana/my notes", "--agent", client, "mcp"]
    else:
        assert all(
            json.dumps(data["hooks"][event]).count("--harness") == 1 for event in CLIENTS[client].events
        )
    if text:
        rest = iter(after)
        assert all(char in rest for char in text), "something of theirs is gone"
        assert "\r\n" not in text or "\n" not in after.replace("\r\n", "")

    assert install(client, place, ledger) == 0, "a second time there is nothing to do"
    assert uninstall(client, place, ledger) == count
    assert everything(tmp_path) == before
    assert uninstall(client, place, ledger) == 0


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("client", CLIENTS)
def test_from_nothing_to_nothing(client: str, scope: str, tmp_path: Path) -> None:
    place, ledger = place_of(tmp_path, scope), tmp_path / "ledger"
    place.home.mkdir()
    place.project.mkdir()
    before = everything(tmp_path)
    if scope not in CLIENTS[client].scopes:
        pytest.skip("it has none of its own for a project")
    count = 2 if CLIENTS[client].hooks is None else 3
    assert install(client, place, ledger) == count
    changed = set(everything(tmp_path)) - set(before)
    assert all(str(place.home if scope == "user" else place.project) in one for one in changed)
    assert uninstall(client, place, ledger) == count
    assert everything(tmp_path) == before


BROKEN = {
    "an open brace": ("claude-code", "servers", '{\n  "a": 1,\n'),
    "an open string": ("claude-code", "servers", '{"a": "b\n}'),
    "no colon": ("claude-code", "hooks", '{"a" 1}'),
    "a list": ("claude-code", "servers", "[1, 2]"),
    "words": ("cursor", "servers", "hello"),
    "twice": ("claude-code", "hooks", '{"hooks": {}, "hooks": {}}'),
    "hooks as a list": ("claude-code", "hooks", '{"hooks": []}'),
    "an event as an object": ("claude-code", "hooks", '{"hooks": {"Stop": {}}}'),
    "servers as a text": ("claude-code", "servers", '{"mcpServers": "none"}'),
    "something after the end": ("claude-code", "servers", "{} {}"),
    "too deep": ("claude-code", "servers", '{"a":' * 300 + "1" + "}" * 300),
    "bad toml": ("codex", "servers", 'model = "gpt\n'),
    "bad yaml": ("hermes", "servers", "model: [1\n"),
    "a yaml list": ("hermes", "servers", "- a\n"),
    "yaml in one line": ("hermes", "servers", "mcp_servers: {git: {command: x}}\n"),
    "servers in one line": ("codex", "servers", 'mcp_servers = { git = { command = "x" } }\n'),
}


@pytest.mark.parametrize(("client", "which", "text"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_told_and_nothing_is_changed(
    client: str, which: str, text: str, tmp_path: Path
) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    file = file_of(client, which, place)
    put(file, text)
    before = everything(tmp_path)
    with pytest.raises(InvalidInput) as told:
        install(client, place, ledger)
    assert told.value.code == "client_file_malformed"
    assert str(file) in told.value.message
    assert everything(tmp_path) == before


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    file = file_of("claude-code", "servers", place)
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InvalidInput, match="not UTF-8"):
        install("claude-code", place, tmp_path / "ledger")
    assert file.read_bytes() == b'{"a": "\xff"}'


def test_a_link_stays_a_link_and_rights_stay(tmp_path: Path) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    real = tmp_path / "dotfiles" / "settings.json"
    put(real, HOOKS["settings"])
    real.chmod(0o640)
    link = file_of("claude-code", "hooks", place)
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    before = real.read_bytes()
    install("claude-code", place, ledger)
    assert link.is_symlink()
    assert b"--harness claude-code" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o640
    uninstall("claude-code", place, ledger)
    assert link.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (before, 0o640)


def test_a_link_to_nothing_is_filled_and_left_as_it_was(tmp_path: Path) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    link = file_of("claude-code", "hooks", place)
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "gone.json")
    install("claude-code", place, ledger)
    assert (tmp_path / "gone.json").is_file()
    uninstall("claude-code", place, ledger)
    assert link.is_symlink()
    assert not link.exists()


def test_an_entry_of_somebody_else_is_never_touched(tmp_path: Path) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    foreign = '{"mcpServers": {"lamina": {"type": "http", "url": "http://10.0.0.1/mcp"}}}'
    file = file_of("claude-code", "servers", place)
    put(file, foreign)
    before = everything(tmp_path)
    with pytest.raises(Conflict, match="not ours"):
        install("claude-code", place, ledger)
    assert everything(tmp_path) == before
    assert uninstall("claude-code", place, ledger) == 0
    assert file.read_text() == foreign


def test_a_page_of_somebody_else_is_never_touched(tmp_path: Path) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    put(CLIENTS["codex"].skill(place), "my own page")
    with pytest.raises(Conflict, match="not ours"):
        install("codex", place, ledger)
    assert not file_of("codex", "servers", place).exists()


def test_what_was_written_meanwhile_stays_and_ours_still_goes(tmp_path: Path) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    servers, hooks = file_of("claude-code", "servers", place), file_of("claude-code", "hooks", place)
    put(servers, SERVERS["others"])
    install("claude-code", place, ledger)
    # The client writes its own file anew, in its own form; the person puts a hook into our group.
    data = json.loads(servers.read_text())
    servers.write_text(json.dumps({**data, "startups": 3}))
    mine = json.loads(hooks.read_text())
    mine["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    mine["hooks"]["Stop"].append(json.loads(OTHER))
    hooks.write_text(json.dumps(mine, indent=4))
    uninstall("claude-code", place, ledger)
    assert json.loads(servers.read_text()) == {
        "mcpServers": {"git": {"command": "uvx"}},
        "n": 1,
        "startups": 3,
    }
    left = {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}, json.loads(OTHER)]}
    assert json.loads(hooks.read_text()) == {"hooks": left}


def test_toml_that_its_client_wrote_anew_is_cut_too(tmp_path: Path) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    file = file_of("codex", "servers", place)
    put(file, TABLES["comments"])
    install("codex", place, ledger)
    text = file.read_text()
    file.write_text(
        text.replace('command = "/opt', 'command   =   "/opt') + '\n[projects."/x"]\ntrust = true\n'
    )
    uninstall("codex", place, ledger)
    data = tomllib.loads(file.read_text())
    assert data["mcp_servers"] == {"git": {"command": "uvx"}}
    assert data["projects"] == {"/x": {"trust": True}}
    assert "# end" in file.read_text()


def test_another_launcher_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    for client in CLIENTS:
        install(client, place, ledger)
        which_all = ("servers", "hooks") if CLIENTS[client].hooks else ("servers",)
        assert install(client, place, ledger, Launch(words=("/new/lamina",))) == len(which_all)
        for which in which_all:
            text = file_of(client, which, place).read_text()
            assert "/new/lamina" in text
            assert "/opt/lamina" not in text
        uninstall(client, place, ledger)
    assert [path for path in place.home.rglob("*") if path.is_file()] == []


def test_without_its_notes_ours_is_recognised_all_the_same(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    put(file_of("claude-code", "hooks", place), HOOKS["hooks of others"])
    install("claude-code", place, tmp_path / "ledger")
    uninstall("claude-code", place, tmp_path / "another home")
    assert file_of("claude-code", "hooks", place).read_text().count("harness") == 0
    assert json.loads(file_of("claude-code", "servers", place).read_text()) == {"mcpServers": {}}


def test_the_difference_shows_ours_and_nobody_elses_secrets(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    put(file_of("claude-code", "servers", place), SERVERS["one line"])
    plan = plan_install(client_of("claude-code"), place, LAUNCH, tmp_path / "ledger")
    told = "\n".join(shown(plan, [(str(place.home), "~")]))
    assert "~/.claude.json" in told
    assert '"lamina"' in told
    assert "sk-very-secret" not in told


def test_a_file_that_changes_meanwhile_is_not_overwritten_and_the_rest_is_taken_back(tmp_path: Path) -> None:
    place, ledger = place_of(tmp_path), tmp_path / "ledger"
    servers, hooks = file_of("claude-code", "servers", place), file_of("claude-code", "hooks", place)
    put(servers, SERVERS["others"])
    plan = plan_install(client_of("claude-code"), place, LAUNCH, ledger)
    put(hooks, '{"mine": true}')
    with pytest.raises(Conflict, match="this very moment"):
        carry_out(plan)
    assert servers.read_text() == SERVERS["others"]
    assert hooks.read_text() == '{"mine": true}'


def test_there_are_thirty_odd_files() -> None:
    assert len({(which, name) for _, which, name, _ in CASES}) >= 30
