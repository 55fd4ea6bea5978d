"""The command line as people meet it: the real program, in its own process, in an empty home."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from lamina.__main__ import doors as _doors
from lamina.doors.cli.app import run

Inside = Callable[..., "Ran"]

STRANGE = "אבג \u202eabc\u202c z\u200bw\u200d e\u0301 \ufeff | a\\n b"


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return self.envelope["data"]

    @property
    def envelope(self) -> dict[str, Any]:
        """The one line of stdout."""
        assert self.out.count("\n") == 1, self.out
        value = json.loads(self.out)
        assert set(value) == {"ok", "command", "data", "error"}
        assert value["ok"] is (self.code == 0)
        assert (value["error"] is None) is value["ok"]
        return value  # type: ignore[no-any-return]

    @property
    def error(self) -> str:
        """The code of the failure; its message and hint are text."""
        error = self.envelope["error"]
        assert set(error) == {"code", "message", "hint"}
        assert error["message"]
        return error["code"]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Shell:
    """A person at a prompt in a folder of their own."""

    folder: Path
    home: Path
    prefix: tuple[str, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LAMINA_HOME": str(self.home / "lamina")}

    def start(self, *words: str | bytes, **details: Any) -> subprocess.Popen[bytes]:
        variables = details.pop("variables", {})
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [*self.prefix, sys.executable, "-m", "lamina", *words],
            cwd=self.folder,
            env={**self.environment, **variables},
            **{**pipes, **details},
        )

    def run(self, *words: str | bytes, stdin: bytes | None = None, **variables: str) -> Ran:
        """One command; whatever happens, nobody sees a traceback."""
        given = {} if stdin is not None else {"stdin": subprocess.DEVNULL}
        with self.start(*words, variables=variables, **given) as process:
            out, err = process.communicate(stdin, timeout=60)
        ran = Ran(process.returncode, out.decode(), err.decode())
        assert "Traceback" not in ran.out + ran.err, ran
        return ran

    def json(self, *words: str | bytes, stdin: bytes | None = None, **variables: str) -> Ran:
        return self.run("--json", *words, stdin=stdin, **variables)

    def all(self, *commands: tuple[str | bytes, ...]) -> list[Ran]:
        """Several commands that do not depend on one another, at once."""
        with ThreadPoolExecutor(3) as pool:
            return list(pool.map(lambda words: self.json(*words), commands))

    def typing(self, *words: str, keys: bytes = b"", **variables: str) -> Ran:
        """The same at a terminal, where everything that is printed appears together."""
        main, terminal = pty.openpty()
        ends = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
        process = self.start(*words, variables={"TERM": "xterm", **variables}, **ends)
        os.close(terminal)
        os.write(main, keys)
        shown = b"".join(_until_closed(main))
        os.close(main)
        return Ran(process.wait(60), shown.decode().replace("\r\n", "\n"), "")


def _until_closed(end: int) -> Iterator[bytes]:
    while select.select([end], [], [], 60)[0]:
        try:
            data = os.read(end, 65536)
        except OSError:  # how Linux says that the other side is gone
            return
        if not data:
            return
        yield data


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A new user: no configuration, no workspace."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    return Shell(tmp_path / "work", tmp_path / "home")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    root = tmp_path_factory.mktemp("template")
    for name in ("home", "work"):
        (root / name).mkdir()
    made = Shell(root / "work", root / "home")
    assert made.run("init", "--owner", "ana").code == 0
    assert made.json("remember", "Ana drinks oat milk").data["ids"] == ["user:ana:semantic:1"]
    return made


@pytest.fixture
def ana(shell: Shell, template: Shell) -> Shell:
    """Somebody with a workspace and one memory, `user:ana:semantic:1`."""
    for name in ("folder", "home"):
        shutil.copytree(getattr(template, name), getattr(shell, name), dirs_exist_ok=True, symlinks=True)
    return shell


FACT = "user:ana:semantic:1"


def database(shell: Shell) -> Path:
    return shell.folder / ".lamina" / "memory.db"


def execute(shell: Shell, sql: str) -> None:
    """What somebody with a database tool can do: past all guards, which stand again afterwards."""
    connection = apsw.Connection(str(database(shell)))
    guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(sql)
    for _, guard in guards:
        connection.execute(str(guard))
    connection.close()


@pytest.fixture
def inside(ana: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Inside:
    """Ana's commands without a process for each, for the long lists."""
    monkeypatch.chdir(ana.folder)
    monkeypatch.setenv("LAMINA_HOME", str(ana.home / "lamina"))

    def ran(*words: str, stdin: bytes | None = None) -> Ran:
        given = None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin))
        monkeypatch.setattr(sys, "stdin", given)
        code = run(_doors(), ["--json", *words])
        return Ran(code, *capsys.readouterr())

    return ran


# A first day.


def test_a_new_user_comes_from_init_to_a_proven_memory(shell: Shell) -> None:
    lost = shell.run("recall", "anything")
    assert (lost.code, lost.out) == (1, "")
    assert "lamina init" in lost.err

    begun = shell.run("init", "--owner", "ana")
    assert begun.code == 0
    assert "PROFILE.md" in begun.out
    first, second, third = re.findall(r"^  (lamina .*)$", begun.out, re.M)
    assert re.match(r'lamina hear "Remember that .+"', first)
    assert second.startswith("lamina recall ")
    assert third.startswith("lamina serve --open")

    kept = shell.run("remember", "friendly and short", "--key", "response.style")
    assert kept.out.splitlines() == ["Remembered: response.style.", "user:ana:profile:1"]
    assert "value:friendly and short" in (shell.folder / "PROFILE.md").read_text()
    assert shell.run("remember", "Ana drinks oat milk", "--tag", "food", "--tag", "home").code == 0

    found = shell.run("recall", "which milk?", "--explain", "-k", "1")
    assert found.out.startswith("1. Ana drinks oat milk\n   user:ana:semantic:1  ")
    assert "why: matches" in found.out

    assert shell.run("revise", FACT, "Ana drinks soy milk", "--expect", "1", "--reason", "new").code == 0
    asked = shell.run("forget", FACT)
    assert (asked.code, asked.out) == (2, "")
    assert "--yes" in asked.err
    assert shell.run("forget", FACT, "--yes", "--reason", "test").code == 0
    assert FACT not in [hit["id"] for hit in shell.json("recall", "milk").data["hits"]]
    assert shell.run("restore", FACT).code == 0

    told, steps, events, figures, proof, health = shell.all(
        ("explain", FACT),
        ("history", FACT),
        ("trace", "--last", "2"),
        ("status",),
        ("audit", "verify"),
        ("doctor",),
    )
    assert told.data["memory"]["text"] == "Ana drinks soy milk"
    assert [step["op"] for step in steps.data["history"]] == ["ADD", "UPDATE", "DELETE", "RESTORE"]
    assert [event["type"] for event in events.data["events"]] == ["memory_deleted", "memory_write"]
    assert figures.data["memories"] == {"active": 2}
    assert proof.data == {"intact": True, "records": 6, "findings": [], "notes": [], "proof": None}
    assert {check["state"] for check in health.data["checks"]} <= {"ok", "warn"}


#: What each layer did in the week of the tour, the first time and every time.
TOLD = (
    "expertise: docker (expert), typescript (advanced); style: friendly, short, with one example",
    "deploying: first ask which environment; then show the checklist  (correction)",
    "memory/learnings/",
    "-> The web shop runs on port 9090.\n",
    "partial: Moved the web shop",
    "-> Ana is lactose intolerant and drinks oat milk.  (",
    "-> อานาชอบทำงานตอนเช้าที่ร้านกาแฟริมแม่น้ำ  (",
    "-> 安娜每週三晚上學書法。  (",
    'name="docker" level="expert"',
    "<step>2. show the checklist</step>",
    "<knowledge>\n     - The web shop runs on port 9090. [",
    "tokens: user_model ",
)


def test_the_tour_lets_every_layer_do_its_work_and_asks_before_it_believes(shell: Shell) -> None:
    tour = shell.run("demo").out
    steps = (
        "a guess, waiting for her yes: user.expertise.docker = expert",
        "a guess, waiting for her yes: procedure.deploying",
        'does not go with what is known: "The web shop runs on port 8080." (another number)',
        "the old one is superseded",
    )
    assert [tour.count(step) for step in steps] == [1, 1, 1, 1]
    assert sorted(tour.find(step) for step in steps) == [tour.find(step) for step in steps]
    (written,) = (shell.folder / "demo/workspace/memory/learnings").glob("*web-shop*.md")
    assert "port 9090" in written.read_text("utf-8")
    there = ("-w", "demo/workspace")
    waiting = shell.json(*there, "review").data["items"]
    assert {one["sort"] for one in waiting} == {"guess", "wish", "contradiction", "double"}
    decided = shell.json(*there, "decisions", "list").data["decisions"]
    assert [one["decision"]["status"] for one in decided] == ["superseded", "active"]
    assert shell.json(*there, "list", "--state", "soft_deleted").data["total"] == 1
    assert shell.json(*there, "me").data["waiting"] == 5


def test_the_tour_can_be_taken_again_and_keeps_out_of_the_workspaces_of_others(ana: Shell) -> None:
    for _ in range(2):
        tour = ana.run("demo", LAMINA_STORE="sqlite:///elsewhere.db")
        assert tour.code == 0, tour.err
        assert ": - key:response.style | value:friendly" in tour.out
        assert "privacy_deny_sensitive" in tour.out
        assert "intact" in tour.out
        assert "hunter2" not in tour.out
        for told in TOLD:
            assert told in tour.out
        assert "recall finds it: no" in tour.out
    assert (ana.folder / "demo/workspace/.lamina/memory.db").exists()
    assert not (ana.folder / "elsewhere.db").exists()
    (ana.folder / "lamina.toml").write_text('owner = "bea"\n')
    assert ana.json("demo", ".").error == "workspace_exists"


def test_init_can_be_repeated_and_changes_no_owner(ana: Shell) -> None:
    again, other, nowhere, file = ana.all(
        ("init",), ("init", "--owner", "bob"), ("init", "no/such/parent"), ("init", "PROFILE.md")
    )
    assert again.data["created"] == []
    assert (other.code, other.error) == (5, "workspace_exists")
    assert (nowhere.code, nowhere.error) == (2, "workspace_invalid")
    assert (file.code, file.error) == (2, "workspace_invalid")


def test_the_workspace_is_found_from_a_folder_below_it_and_from_the_environment(ana: Shell) -> None:
    below = ana.folder / "a" / "b"
    below.mkdir(parents=True)
    inside, outside = Shell(below, ana.home), Shell(ana.home, ana.home)
    assert inside.json("status").data["workspace"] == str(ana.folder)
    assert outside.json("status", LAMINA_WORKSPACE=str(ana.folder)).data["workspace"] == str(ana.folder)
    assert outside.json("-w", str(ana.folder), "status").data["memories"] == {"active": 1}


def test_a_store_without_a_workspace_needs_no_files(shell: Shell) -> None:
    store = f"sqlite:///{shell.folder}/only.db"
    assert shell.json("--store", store, "--user", "bea", "remember", "Bea sings").code == 0
    found = shell.json("recall", "sings", LAMINA_STORE=store, LAMINA_OWNER="bea")
    assert [hit["id"] for hit in found.data["hits"]] == ["user:bea:semantic:1"]
    assert [path.name for path in shell.folder.glob("*.md")] == []


# Envelopes, exit codes, who may what.


def test_json_may_stand_anywhere_before_two_dashes_and_nothing_else_is_printed(ana: Shell) -> None:
    literal = ana.run("remember", "--json", "--", "--json")
    last = ana.run("recall", literal.data["ids"][0], "--json")
    assert last.envelope["command"] == "recall"
    assert last.data["hits"][0]["text"] == "--json"
    assert (last.err, literal.err) == ("", "")


def test_each_class_of_failure_has_its_exit_code(ana: Shell) -> None:
    expected = {
        ("recall", ""): (2, "text_empty"),
        ("recall", "x", "--nope"): (2, "usage"),
        ("--user", "bob", "explain", FACT): (3, "not_found"),
        ("remember", "My router password is hunter2-Blue42"): (4, "privacy_deny_sensitive"),
        ("revise", FACT, "x", "--expect", "7"): (5, "revision_mismatch"),
    }
    ran = dict(zip(expected, ana.all(*expected), strict=True))
    assert {words: (one.code, one.error) for words, one in ran.items()} == expected


def test_an_empty_name_is_nobody_and_not_the_owner(inside: Inside, tmp_path: Path) -> None:
    (talk := tmp_path / "talk.jsonl").write_text('{"role": "user", "content": "hello there"}\n', "utf-8")
    for words in (
        ("--user", "", "recall", "milk"),
        ("--agent", "", "remember", "x"),
        ("import", str(talk), "--user", ""),
        ("token", "create", "t", "--user", ""),
        ("token", "create", "t", "--agent", ""),
        ("erase", "--user", "", "--yes"),
    ):
        refused = inside(*words)
        assert (refused.code, refused.error) == (2, "name_invalid"), words
    assert inside("token", "list").data["tokens"] == []
    assert [one["text"] for one in inside("recall", "milk hello").data["hits"]] == ["Ana drinks oat milk"]


def test_every_way_to_fail_has_a_stable_code(inside: Inside) -> None:
    expected = {
        ("remember",): (2, "text_empty"),
        ("remember", "x", "--kind", "joke"): (2, "kind_invalid"),
        ("remember", "x", "--importance", "many"): (2, "usage"),
        ("remember", "x", "--importance", "9"): (2, "importance_invalid"),
        ("remember", "x", "--space", "session"): (2, "space_unknown"),
        ("remember", "x", "--ttl", "soon"): (2, "ttl_invalid"),
        ("--user", "a b", "recall", "x"): (2, "name_invalid"),
        ("--now", "later", "status"): (2, "time_invalid"),
        ("recall", "x", "--since", "last week"): (2, "time_invalid"),
        ("recall", ""): (2, "text_empty"),
        ("remembr", "x"): (2, "usage"),
        ("recall",): (2, "text_empty"),
        ("recall", "x", "--nope"): (2, "usage"),
        ("token",): (2, "usage"),
        (): (2, "usage"),
        ("mcp",): (2, "invalid_input"),
        ("trace", "--plain"): (2, "invalid_input"),
        ("forget", FACT): (2, "confirmation_needed"),
        ("--store", "mysql://x", "status"): (2, "config_invalid"),
        ("explain", "user:ana:semantic:99"): (3, "not_found"),
        ("forget", "no.such.key", "--yes"): (3, "not_found"),
        ("restore", FACT): (3, "not_found"),
        ("token", "revoke", "nope", "--yes"): (3, "not_found"),
        ("--user", "bob", "explain", FACT): (3, "not_found"),
        ("--user", "bob", "revise", FACT, "mine"): (3, "not_found"),
        ("--user", "bob", "forget", FACT, "--yes"): (3, "not_found"),
        ("remember", "My router password is hunter2-Blue42"): (4, "privacy_deny_sensitive"),
        ("remember", "x", "--space", "system"): (4, "write_space_disallowed"),
        ("--agent", "bot", "revise", FACT, "Ana drinks beer"): (4, "conflict_authority"),
        ("revise", FACT, "x", "--expect", "7"): (5, "revision_mismatch"),
    }
    ran = {words: inside(*words) for words in expected}
    assert [words for words, one in ran.items() if one.code == 0] == []
    assert {words: (one.code, one.error) for words, one in ran.items()} == expected
    assert ran["remember", "x", "--space", "system"].data["decision"] == "denied"
    assert ran["token",].envelope["command"] == "token"
    assert ran["remembr", "x"].envelope["command"] is None
    assert "remember" in ran["remembr", "x"].envelope["error"]["message"]


def test_a_refusal_says_why_and_what_to_do_and_keeps_the_secret_to_itself(ana: Shell) -> None:
    refused = ana.run("remember", "My router password is hunter2-Blue42")
    assert (refused.code, refused.out) == (4, "")
    assert "secret" in refused.err
    assert "password manager" in refused.err
    everything = b"".join(path.read_bytes() for path in ana.folder.rglob("*") if path.is_file())
    assert b"hunter2" not in everything
    assert "hunter2" not in refused.err


def test_an_agent_speaks_with_an_agents_authority(ana: Shell) -> None:
    said = ana.json("--agent", "bot", "--session", "s1", "--run", "r1", "remember", "a guess")
    memory = ana.json("explain", said.data["ids"][0]).data["memory"]
    assert memory["authority"] == "ai_inferred"
    assert memory["provenance"]["actor"] == "agent:bot"
    assert memory["provenance"]["via"] == "cli"
    assert (ana.folder / ".lamina/runs/r1/memory_audit.jsonl").exists()


def test_a_repeated_request_is_answered_once_and_time_can_be_set(ana: Shell) -> None:
    words = ("--now", "2031-05-06T07:08:09Z", "remember", "once", "--idempotency-key", "k1", "--ttl", "1d")
    first, second = ana.json(*words), ana.json(*words)
    assert first.data["ids"] == second.data["ids"]
    memory = ana.json("explain", first.data["ids"][0]).data["memory"]
    assert (memory["created_at"], memory["expires_at"]) == ("2031-05-06T07:08:09Z", "2031-05-07T07:08:09Z")
    later = ana.json("--now", "2032-01-01", "recall", "once").data["hits"]
    assert "once" not in [hit["text"] for hit in later]


def test_tokens_are_shown_once_and_kept_as_hashes(ana: Shell) -> None:
    details = ("--agent", "bot", "--right", "read", "--expires-in", "30d")
    made = ana.json("token", "create", "for a test", *details)
    token, text = made.data["token"], made.data["text"]
    assert (token["role"], token["rights"], "hash" in token) == ("agent", ["read"], False)
    assert text.split("_", 2)[2].encode() not in database(ana).read_bytes()
    assert ana.json("token", "revoke", token["id"], "--yes").code == 0
    listed = ana.run("token", "list")
    assert re.search(rf"{token['id']}  for a test  ana +bot +agent  read +revoked ", listed.out)


# What people type, pipe and paste.


def test_text_comes_in_through_a_pipe_without_its_last_line_break(ana: Shell) -> None:
    given = ana.json("remember", stdin="ชอบชาเขียว\n\n".encode())
    dash = ana.json("remember", "-", stdin=b"two\r\n")
    told = ana.all(*(("explain", one.data["ids"][0]) for one in (given, dash)))
    assert [one.data["memory"]["text"] for one in told] == ["ชอบชาเขียว\n", "two"]


@pytest.mark.parametrize(
    ("stdin", "code"),
    [
        (b"", "text_empty"),
        (b" \n\t", "text_empty"),
        ("\u200b\u2060".encode(), "text_empty"),
        (b"x" * 1_000_000, "text_too_long"),
        (b"a\0b", "text_nul"),
        (b"half \xed\xa0\xbd of a pair", "text_surrogate"),
        (b"latin \xe9", "text_surrogate"),
        (b"bell \x07 and escape \x1b[31m", "text_control"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_reason(inside: Inside, stdin: bytes, code: str) -> None:
    refused = inside("remember", stdin=stdin)
    assert (refused.code, refused.error) == (2, code)


def test_what_cannot_be_kept_is_refused_at_a_real_prompt(ana: Shell) -> None:
    assert ana.run("remember", b"caf\xe9").code == 2
    for stdin, part in ((b"a\0b", "NUL"), (b"x" * 1_000_000, "1,000,000")):
        refused = ana.run("remember", stdin=stdin)
        assert (refused.code, refused.out, part in refused.err) == (2, "", True)


def test_strange_text_comes_back_the_same(ana: Shell) -> None:
    said = ana.json("remember", STRANGE)
    keyed = ana.json("remember", f"{STRANGE}\nsecond | line\ttab", "--key", "odd.value")
    hit = ana.json("recall", said.data["ids"][0]).data["hits"][0]
    piped = ana.run("recall", said.data["ids"][0])
    assert hit["text"] == STRANGE
    assert f"1. {STRANGE}\n" in piped.out
    assert (ana.folder / "PROFILE.md").read_text().count("\n- key:odd.value") == 1
    (ana.folder / ".lamina/memory.db").unlink()  # now only the file knows
    for rest in database(ana).parent.glob("memory.db-*"):
        rest.unlink()
    gone = ana.run("recall", "odd.value")
    assert (gone.code, "is not there" in gone.err, "lamina restore-backup" in gone.err) == (1, True, True)
    assert ana.run("init").code == 0
    again = ana.json("recall", "odd.value").data["hits"][0]
    assert again["text"] == f"{STRANGE}\nsecond | line\ttab"
    assert keyed.code == 0


def test_an_edit_in_the_file_counts_and_a_bad_line_is_named(ana: Shell) -> None:
    profile = ana.folder / "PROFILE.md"
    profile.write_text(f"{profile.read_text()}- key:by.hand | value:typed\n- key: | value:x\n")
    assert ana.json("recall", "by.hand").data["hits"][0]["text"] == "typed"
    line = len(profile.read_text().splitlines())
    shown = ana.run("status")
    assert shown.code == 0
    assert f"PROFILE.md:{line}: " in shown.out


def test_the_plain_trace_has_one_sorted_fact_a_line(ana: Shell) -> None:
    lines = ana.run("trace", "--last", "4", "--plain").out.splitlines()
    assert lines[0] == "events.count: 4"
    assert "events.1.data.written.1.text: Ana drinks oat milk" in lines
    assert [line for line in lines if line.endswith("write_policy: normal")]  # once in all
    assert "events.1.data.written.count: 1" in lines


# A terminal.


def test_a_terminal_is_asked_before_something_is_lost(ana: Shell) -> None:
    no = ana.typing("forget", FACT, keys=b"\n")
    assert (no.code, "[y/N]" in no.out, "Nothing was changed." in no.out) == (1, True, True)
    yes = ana.typing("forget", FACT, keys=b"y\n")
    assert (yes.code, "Forgotten." in yes.out) == (0, True)


def test_a_terminal_shows_what_would_deceive_and_colours_only_if_wanted(ana: Shell) -> None:
    memory_id = ana.json("remember", f"{STRANGE}\n2. [bold]a false hit[/] :smile:").data["ids"][0]
    shown = ana.typing("recall", memory_id)
    assert r"אבג \u202eabc\u202c z\u200bw\u200d" in shown.out
    assert "\u202e" not in shown.out
    assert "\n   2. [bold]a false hit[/] :smile:\n" in shown.out
    assert "\x1b[2m" in shown.out
    assert "\x1b[" not in ana.typing("recall", memory_id, NO_COLOR="1").out


# What can be wrong with a place.


def test_a_workspace_that_cannot_be_used_is_explained(ana: Shell) -> None:
    def broken(name: str) -> Shell:
        copy = ana.folder.parent / name
        shutil.copytree(ana.folder, copy)
        return Shell(copy, ana.home)

    cut, noise, folder, newer, gone = map(broken, ("cut", "noise", "folder", "newer", "gone"))
    whole = database(cut).read_bytes()
    database(cut).write_bytes(whole[: len(whole) // 2 - 100])
    database(noise).write_bytes(b"not a database, but long enough to be read as one " * 100)
    database(folder).unlink()
    database(folder).mkdir()
    execute(newer, "INSERT INTO schema_migration (version, name, hash) VALUES (9999, 'later', 'x')")
    shutil.rmtree(gone.folder / ".lamina")
    (gone.folder / ".lamina").write_text("a file")
    for shell in (cut, noise, folder, newer):
        for rest in database(shell).parent.glob("memory.db-*"):
            rest.unlink()
    expected = {
        cut: "store_damaged",
        noise: "store_damaged",
        folder: "store_unwritable",
        newer: "store_too_new",
        gone: "no_workspace",
    }
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda shell: shell.json("recall", "milk"), expected))
    for refused, code in zip(answers, expected.values(), strict=True):
        assert (refused.code, refused.error) == (1, code)
        assert refused.envelope["error"]["hint"]
    assert database(cut).read_bytes() == whole[: len(whole) // 2 - 100]
    for shell, check in ((newer, "schema"), (gone, "workspace")):
        states = {one["name"]: one["state"] for one in shell.json("doctor").data["checks"]}
        assert states[check] == "fail"
        assert states["round trip"] == "ok"


def test_a_workspace_that_may_not_be_read_is_explained(ana: Shell) -> None:
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root reads everything, and there is no setpriv to give that up")
        ana = replace(ana, prefix=("setpriv", "--bounding-set=-all", "--inh-caps=-all"))
    expected = {
        "PROFILE.md": (1, "not_permitted"),
        ".lamina": (1, "store_unwritable"),
        ".": (2, "config_invalid"),
    }
    for name, failure in expected.items():
        place = ana.folder / name
        mode = place.stat().st_mode
        elsewhere = Shell(ana.home, ana.home, ana.prefix)
        place.chmod(0)
        try:
            refused = elsewhere.json("-w", str(ana.folder), "recall", "milk")
        finally:
            place.chmod(mode)
        assert (refused.code, refused.error) == failure


def test_a_wrong_setting_is_named_with_its_place(ana: Shell) -> None:
    assert ana.json("status", LAMINA_RECALL_K="many").error == "config_invalid"
    (ana.folder / "lamina.toml").write_text('ownr = "ana"\n')
    unknown = ana.run("status")
    assert (unknown.code, "ownr" in unknown.err, "lamina.toml" in unknown.err) == (2, True, True)
    (ana.folder / "lamina.toml").write_text('store = "postgresql://evil/x"\n')
    assert ana.json("config", "list").error == "config_unsafe"


def test_settings_are_listed_with_their_origin_and_without_passwords(ana: Shell) -> None:
    secret = "postgresql://ana:hunter2@db/x?password=hunter3"
    listed = ana.json("config", "list", LAMINA_STORE=secret, LAMINA_RECALL_K="9")
    rows = {row["name"]: row for row in listed.data["settings"]}
    assert rows["store"]["value"] == "postgresql://ana:***@db/x?password=***"
    assert (rows["recall_k"]["value"], rows["recall_k"]["origin"]) == (9, "environment")
    assert (rows["owner"]["value"], rows["owner"]["origin"]) == ("ana", "lamina.toml")
    assert rows["port"]["meaning"]


def test_tampering_is_found_and_a_broken_index_is_mended(ana: Shell) -> None:
    execute(ana, "UPDATE shelf SET members = members + 1")
    sick = ana.json("doctor")
    states = {one["name"]: one["state"] for one in sick.data["checks"]}
    assert (sick.code, sick.error, states["index"], states["audit"]) == (1, "doctor_failed", "fail", "ok")
    assert ana.json("rebuild").data == {"indexed": 1}
    assert ana.json("doctor").code == 0
    execute(ana, "UPDATE audit SET actor = 'user:eve'")
    report = ana.run("audit", "verify")
    assert (report.code, "edited 1: " in report.out, "findings" in report.err) == (1, True, True)


# How a run may end.


def test_an_interrupt_ends_with_130_and_nothing_else(ana: Shell) -> None:
    def as_in_a_terminal() -> None:  # a background job has it switched off
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    process = ana.start("remember", "-", preexec_fn=as_in_a_terminal)
    assert process.stdin is not None
    os.write(process.stdin.fileno(), b"x" * 200_000)  # more than a pipe holds: it is reading now
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_a_reader_that_has_gone_and_a_full_disk_leave_no_traceback(ana: Shell) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    for words in (["--json", "status"], ["list"], ["explain", "not_found"]):
        gone = ana.start(*words, stdin=subprocess.DEVNULL, stdout=writer)
        assert gone.communicate(timeout=60)[1] == b"", words
        assert gone.returncode == 1
    os.close(writer)
    with Path("/dev/full").open("wb") as full:
        refused = ana.start("status", stdin=subprocess.DEVNULL, stdout=full)
        err = refused.communicate(timeout=60)[1].decode()
    assert (refused.returncode, err.count("\n"), "No space left" in err) == (1, 1, True)


def test_a_server_stops_when_it_is_told_to(ana: Shell) -> None:
    process = ana.start("serve", "--port", "0", stdin=subprocess.DEVNULL)
    assert process.stderr is not None
    url = process.stderr.readline().decode().split()[-1]
    assert httpx.get(f"{url}/livez").status_code == 200
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, b"Traceback" in err) == (0, b"", False)


@pytest.mark.parametrize("debug", [False, True])
def test_a_bug_is_admitted_in_one_sentence_and_shown_on_request(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, debug: bool
) -> None:
    def broken(_: object) -> Any:
        raise RuntimeError("a secret detail")

    doors = _doors()._replace(open_memory=broken)
    code = run(doors, [*["--debug"] * debug, "--json", "-w", str(tmp_path), "status"])
    out, err = capsys.readouterr()
    ran = Ran(code, out, err)
    assert (ran.code, ran.error, ran.envelope["command"]) == (1, "unexpected", "status")
    assert "secret" not in out
    assert "--debug" in ran.envelope["error"]["hint"]
    assert ("Traceback" in err) is debug


# Start-up.


def test_one_damaged_row_is_named_and_stops_nothing_else(ana: Shell) -> None:
    """One byte of what is stored, made no UTF-8 by a failing disk."""
    other = ana.run("remember", "Ana keeps a spare key under the blue pot", "--json").data["ids"][0]
    spoilt = "CAST(x'ff' || substr(CAST(text AS BLOB), 2) AS TEXT)"
    execute(ana, f"UPDATE memory SET text = {spoilt} WHERE id = '{FACT}'")

    found = ana.run("recall", "spare key")
    assert found.code == 0
    assert "blue pot" in found.out
    for words in (("export", "--to", "saved"), ("rebuild",), ("context", "spare key"), ("explain", other)):
        assert ana.run(*words).code == 0, words
    assert "blue pot" in (ana.folder / "saved" / "memories.jsonl").read_text("utf-8")
    asked = ana.run("explain", FACT, "--json")
    assert (asked.code, asked.error) == (1, "row_damaged")
    assert f"memory {FACT}" in asked.envelope["error"]["message"]
    for words in (("doctor",), ("audit", "verify")):
        told = ana.run(*words)
        assert told.code == 1, words
        assert f"memory {FACT} (text)" in told.out, words
        assert "Traceback" not in told.err
    assert f"memory {FACT} (text)" in ana.run("rebuild").err  # what is left out is said


def test_another_key_is_refused_and_a_lost_one_can_be_replaced(ana: Shell) -> None:
    key = ana.home / "lamina" / "keys" / "audit.key"
    key.write_bytes(b"k" * 32)

    told = ana.run("recall", "anything", "--json")
    assert (told.code, told.error) == (2, "audit_key_other")
    assert "adopt-key" in told.envelope["error"]["hint"]
    assert ana.run("doctor").code == 1
    assert ana.run("audit", "adopt-key", "--json").error == "confirmation_needed"
    assert ana.run("audit", "adopt-key", "--yes").code == 0
    report = ana.run("audit", "verify", "--json")
    assert report.data["intact"]
    assert [one["what"] for one in report.data["notes"]] == ["key_adopted"]
    assert "note" in ana.run("audit", "verify").out


def test_what_was_forged_is_found_has_no_proof_and_may_be_accepted(ana: Shell) -> None:
    one = ana.run("remember", "Ana likes tea", "--json").data["ids"][0]
    proof = ana.run("audit", "export-proof", one).out
    (ana.folder / "proof.json").write_text(proof.replace("likes tea", "hates tea"), "utf-8")
    told = ana.run("audit", "check-proof", "proof.json", "--json")
    assert (told.code, told.error) == (1, "proof_refuted")
    assert ana.run("audit", "check-proof", "nowhere.json", "--json").code == 3
    store = apsw.Connection(str(ana.folder / ".lamina" / "memory.db"))
    store.execute("UPDATE memory SET authority = 'system_imposed'")
    store.close()

    assert ana.run("audit", "verify", "--user", "ana", "--json").error == "audit_findings"
    assert ana.run("audit", "export-proof", one, "--json").error == "story_unproven"
    assert ana.run("audit", "reseal", "--json").error == "confirmation_needed"
    assert ana.run("audit", "reseal", "--yes").code == 0
    report = ana.run("audit", "verify", "--memory", one, "--json")
    assert report.data["proof"]["memory_id"] == one
    assert [note["what"] for note in report.data["notes"]] == ["story_resealed"]


def test_a_lost_anchor_is_told_by_verify_from_then_on(ana: Shell) -> None:
    (anchor,) = (ana.home / "lamina" / "anchors").iterdir()
    anchor.write_bytes(b"")

    for _ in range(2):
        told = ana.run("audit", "verify")
        assert told.code == 0
        assert "the anchor was empty and was made again after record" in told.out
    assert "made again" in ana.run("doctor").out


def test_a_command_does_without_numpys_documentation() -> None:
    code = (
        "from lamina.__main__ import _spare_documentation as spare; spare(); import numpy;"
        "print(numpy.array.__doc__, numpy.arange(4).reshape(2, 2).sum(), numpy.dot([1, 2], [3, 4]))"
    )
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["None", "6", "11"]


HEAVY = {
    "anyio",
    "apsw",
    "asyncio",
    "fastapi",
    "filelock",
    "httpx",
    "jinja2",
    "mcp",
    "numpy",
    "platformdirs",
    "psycopg",
    "pydantic",
    "pydantic_core",
    "rich.console",
    "starlette",
    "Stemmer",
    "tempfile",
    "uvicorn",
    "lamina.opening",
    "lamina.config",
    "lamina.engine",
    "lamina.storage",
    "lamina.text",
    "lamina.workspace",
}
SERVERS = {"fastapi", "httpx", "mcp", "psycopg", "pydantic", "rich.console", "starlette", "uvicorn"}


def loaded(shell: Shell, *words: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    script = (
        "import sys, lamina.__main__ as m\n"
        "sys.argv = ['lamina', *sys.argv[1:]]\n"
        "try:\n    m.main()\nfinally:\n    print(*sys.modules, sep='\\n', file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(command, cwd=shell.folder, env=shell.environment, capture_output=True, text=True)
    assert done.stdout
    return set(done.stderr.split())


def test_help_loads_neither_the_engine_nor_a_server(shell: Shell) -> None:
    assert loaded(shell, "--help") & HEAVY == set()
    assert loaded(shell, "remember", "--help") & SERVERS == set()


def test_the_installed_command_is_this_program(shell: Shell) -> None:
    command = [Path(sys.executable).parent / "lamina", "--help"]
    done = subprocess.run(command, env=shell.environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: lamina [OPTIONS] COMMAND")
