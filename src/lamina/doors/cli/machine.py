"""The commands of this machine: they make workspaces, start servers, look after files and settings."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from lamina.config import home_folder, knobs, load_config
from lamina.doors.cli.call import STATE_DIR, WORKSPACE_VARIABLE, Call, CliCommand, Values
from lamina.doors.cli.exits import Failure
from lamina.doors.cli.output import Output, hide_password
from lamina.doors.cli.plain_view import plain_lines
from lamina.doors.cli.render import library_lines, meaning_line
from lamina.errors import Conflict, InvalidInput, NotFound
from lamina.late import late
from lamina.model import plain
from lamina.operations.operation import Field, parameters_of
from lamina.records import dataclass
from lamina.workspace.layout import CONFIG_FILE, create_workspace, find_workspace

with late():
    from lamina.audit import chain
    from lamina.doors.cli import tour
    from lamina.jobs import clockwork
    from lamina.write import seals

if TYPE_CHECKING:
    from lamina.doors.doctor import Check

_COLOUR = {"ok": "green", "warn": "yellow", "fail": "red", "skip": "dim"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Init:
    """Where to begin."""

    folder: Annotated[Path | None, Field("Where; by default right here.", position=True, metavar="DIR")] = (
        None
    )
    owner: Annotated[str | None, Field("Whose memories these are.")] = None
    adopt: Annotated[bool, Field("Take over entries that live in another workspace's file.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """Whether to mend."""

    fix: Annotated[bool, Field("Rebuild what is broken and can be rebuilt, and say so.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Where the tour goes."""

    folder: Annotated[
        Path | None, Field("Where; demo/workspace by default.", position=True, metavar="DIR")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """How to index."""

    full: Annotated[bool, Field("Read every file again, changed or not.")] = False
    yes: Annotated[bool, Field("Drop documents that are gone, however many they are.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAt:
    """Where to listen."""

    host: Annotated[str | None, Field("The address to listen on; 127.0.0.1 unless configured.")] = None
    port: Annotated[int | None, Field("The port to listen on; 8765 unless configured.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Serve(ListenAt):
    """How to serve people and programs."""

    open: Annotated[bool, Field("Open Studio in your browser.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mcp(ListenAt):
    """How to serve agents."""

    http: Annotated[bool, Field("Over HTTP instead of stdin and stdout.")] = False
    tools: Annotated[str, Field("Which tools to offer: core, all or readonly.")] = "core"
    role: Annotated[str, Field("Who speaks through it: agent or user.")] = "agent"
    speaks_for: Annotated[
        bool, Field("What the client reports with memory_hear are the person's own words.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """Which file."""

    file: Annotated[Path, Field("A policy in TOML or YAML.", position=True, metavar="FILE")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofFile:
    """Which file."""

    file: Annotated[Path, Field("What `audit export-proof` gave.", position=True, metavar="FILE")]


def init(call: Call, values: Values) -> int:
    """Make a folder a workspace; what is there stays."""
    owner = values.get("owner")
    named = values.get("folder") or call.given.workspace or os.environ.get(WORKSPACE_VARIABLE) or "."
    root = find_workspace(Path(), Path(named), os.environ)
    was_there = (root / STATE_DIR).is_dir()
    person = load_config(root if was_there else None, call.given.settings).config.owner
    says_whose = was_there and (root / CONFIG_FILE).exists()  # one that lost it may be told again
    if says_whose and owner is not None and owner != person:
        raise Conflict(
            f"{root} is already the workspace of {person}.",
            code="workspace_exists",
            hint="Change `owner` in its lamina.toml, or choose another folder.",
        )
    person = owner or person
    created = create_workspace(root, person)
    placed = replace(call, given=replace(call.given, workspace=root))
    # The store and the audit key exist from here on, or the reason is told.
    opening = placed.opening()._replace(adopt=values.get("adopt", False), anew=True)
    with call.doors.open_memory(opening) as engine:
        found = engine.status()
    for problem in found.problems:
        call.out.note(f"{problem.file}:{problem.line}: {problem.message} {problem.hint}")
    data = {"workspace": str(root), "owner": person, "created": created, "store": hide_password(found.store)}
    return call.answer(data, _made(call.out, root, person, created))


def _made(out: Output, root: Path, person: str, created: list[str]) -> Iterator[str]:
    where = out.text(str(root))
    if created:
        yield f"{where} is a workspace of {out.text(person)} now. Made in it: {', '.join(created)}"
    else:
        yield f"{where} is a workspace of {out.text(person)} already; nothing was changed."
    enter = "" if root == Path.cwd() else f"-w {_quoted(out.text(str(root)))} "
    yield "Try next:"
    yield f'  lamina {enter}hear "Remember that I drink tea without sugar."'
    yield f'  lamina {enter}recall "how do I drink tea?"'
    yield f"  lamina {enter}serve --open  # everything, in your browser"


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else "'" + text.replace("'", "'\\''") + "'"


def doctor(call: Call, values: Values) -> int:
    """Check everything, with a round trip in a memory made for it.

    With --fix, what is broken and can be rebuilt is rebuilt: the index, vectors, the audit's files.
    """
    checks = call.doors.examine(call.opening(), values.get("fix", False))
    failed = [check.name for check in checks if check.state == "fail"]
    failure = Failure(code="doctor_failed", message=f"Not well: {', '.join(failed)}.") if failed else None
    return call.answer({"checks": checks}, _examined(call.out, checks), failure)


def _examined(out: Output, checks: Sequence[Check]) -> Iterator[str]:
    for check in checks:
        yield f"{out.style(f'{check.state:4}', _COLOUR[check.state])}  {check.name}: {out.text(check.detail)}"
        if check.hint:
            yield f"      {out.text(check.hint)}"


def rebuild(call: Call, values: Values) -> int:  # noqa: ARG001 every command's form
    """Rebuild the index and the audit's files from the stored memories."""
    with call.doors.open_memory(call.opening()._replace(anew=True)) as engine:
        count = engine.rebuild()
    return call.answer({"indexed": count}, [f"{count} memories are indexed again."])


def index(call: Call, values: Values) -> int:
    """Take in changed markdown, and make vectors that are missing."""
    with call.engine() as engine:
        if engine.library is None:
            raise NotFound("There is no workspace with documents here.", hint="Name one with --workspace.")
        tell = None if call.out.json or sys.stderr is None or not sys.stderr.isatty() else _tell
        full, agreed = values.get("full", False), values.get("yes", False)
        found = engine.library.index(engine.now(), full=full, agreed=agreed, progress=tell)
        engine.indexed()
        embedded = 0
        while some := engine.embed_missing():
            embedded += some
        meaning = engine.status().meaning
    lines = [*library_lines(call.out, found), f"meaning: {meaning_line(meaning)}; {embedded} vectors made"]
    return call.answer({**plain(found), "meaning": meaning, "embedded": embedded}, lines)


def _tell(done: int, total: int) -> None:
    sys.stderr.write(f"\r{done} of {total} files" + ("\n" if done == total else ""))
    sys.stderr.flush()


def start_jobs(call: Call, values: Values) -> int:  # noqa: ARG001 every command's form
    """Run every job when it is due, until interrupted; a missed one is caught up once."""
    with call.engine() as engine:
        runner = clockwork.Clockwork(engine, call.out.note)
        ends = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, lambda *_: runner.over.set()) for one in ends}
        try:
            call.out.note("Jobs run when they are due. Stop with Ctrl+C.")
            runner.run()
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
    return call.answer({"stopped": True}, ["The jobs have stopped."])


def list_settings(call: Call, values: Values) -> int:  # noqa: ARG001 every command's form
    """Every setting: its value, where it comes from, what it means."""
    loaded = load_config(call.opening().workspace, call.given.settings)
    rows = [
        {
            "name": name,
            "value": _shown(getattr(loaded.config, name)),
            "origin": loaded.origins[name],
            "meaning": meaning,
        }
        for name, _, meaning, _ in knobs()
    ]
    cells = [[str(cell) for cell in row.values()] for row in rows]
    return call.answer({"settings": rows}, call.out.table(cells))


def _shown(value: object) -> object:
    return hide_password(value) if isinstance(value, str) else value


def check_policy(call: Call, values: Values) -> int:
    """Whether a policy file can be used; an error names its line."""
    file = str(values["file"])
    found = call.doors.read_policy(file)
    return call.answer(found.snapshot(), [f"{call.out.text(file)} is a valid policy."])


def show_policy(call: Call, values: Values) -> int:  # noqa: ARG001 every command's form
    """The policy that is used, one `key: value` a line."""
    loaded = load_config(call.opening().workspace, call.given.settings)
    found = call.doors.read_policy(loaded.config.policy).snapshot()
    return call.answer(found, map(call.out.text, plain_lines(found)))


def serve(call: Call, values: Values) -> int:
    """Serve Studio, the HTTP API and /mcp until interrupted."""
    with call.engine(host=values.get("host"), port=values.get("port")) as engine:
        call.doors.serve_http(engine, call.out.note, values.get("open", False))
    return call.answer(None)


def mcp(call: Call, values: Values) -> int:
    """Serve the Model Context Protocol, for agents."""
    http, role = values.get("http", False), values.get("role", "agent")
    if call.out.json and not http:
        raise InvalidInput("Over stdin and stdout there is no room for --json.", hint="Leave --json out.")
    if role not in ("agent", "user"):
        raise InvalidInput(
            f"{role!r:.40} does not speak here.", code="role_invalid", hint="Use agent or user."
        )
    with call.engine(host=values.get("host"), port=values.get("port")) as engine:
        memory = engine.scope(
            **call.given.who, role=role, via="mcp", speaks_for=values.get("speaks_for", False)
        )
        call.doors.serve_mcp(memory, engine, http, values.get("tools", "core"))
    return call.answer(None) if http else 0


def adopt_key(call: Call, values: Values) -> int:
    """Go on with the audit key here, where another sealed the store and is lost."""
    question = (
        "What the other key sealed can then no longer be checked, and what was said no to before is not known"
        " again when somebody brings it back. Go on?"
    )
    if not call.confirmed(question, values.get("yes", False)):
        return call.declined()
    with call.doors.open_memory(call.opening()._replace(adopt="key")) as engine:
        fingerprint = engine.ruleset.sealer.key_id
    return call.answer({"fingerprint": fingerprint}, [f"The key {fingerprint} seals this store from now on."])


def reseal(call: Call, values: Values) -> int:
    """Accept everything in the store as it is, whoever changed it, and seal it again; a record says so."""
    question = "What was changed without the key can then no longer be found. Go on?"
    if not call.confirmed(question, values.get("yes", False)):
        return call.declined()
    with call.doors.open_memory(call.opening()._replace(adopt="seal")) as engine:
        report = engine.verify_audit()
    told = [f"Sealed again. Findings that are left: {len(report.findings)}; see `lamina audit verify`."]
    return call.answer({"findings": len(report.findings)}, told)


def check_proof_file(call: Call, values: Values) -> int:
    """Check a proof of a memory's story with the audit key here; no store is opened."""
    file = Path(values["file"])
    try:
        proof = seals.read_proof(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"The file {file} cannot be read.", hint="Check its path.") from error
    faults = seals.check_proof(proof, _key_here(call))
    data = {"memory_id": proof.get("memory_id"), "holds": not faults, "faults": faults}
    if not faults:
        told = f"{proof['memory_id']}: steps {len(proof['steps'])}, records {len(proof['records'])}."
        return call.answer(data, [call.out.text(f"The proof holds. {told}")])
    failure = Failure(
        code="proof_refuted", message="The proof does not hold.", hint="Ask for it again, and for the key."
    )
    return call.answer(data, [call.out.text(one) for one in faults], failure)


def _key_here(call: Call) -> chain.Sealer:
    """The audit key of this machine, which is not made for this."""
    named = load_config(None, call.given.settings).config.audit_key_file
    path = Path(named) if named else home_folder(os.environ) / "keys" / "audit.key"
    if not path.is_file():
        raise NotFound(
            "There is no audit key on this machine.",
            code="audit_key_missing",
            hint="Copy it from where the proof was made, and name it in LAMINA_AUDIT_KEY_FILE.",
        )
    return chain.Sealer(chain.load_key(path))


def demo(call: Call, values: Values) -> int:
    """Take a tour: a week with an agent, in a workspace of its own."""
    return tour.take_the_tour(call, values.get("folder"))


def command(words: str, run: Callable[[Call, Values], int], takes: type | None = None) -> CliCommand:
    parameters = () if takes is None else parameters_of(takes)
    return CliCommand(words=words, about=run.__doc__ or "", parameters=parameters, run=run)


COMMANDS = (
    command("init", init, Init),
    command("doctor", doctor, Fix),
    command("rebuild", rebuild),
    command("index", index, Index),
    command("job start", start_jobs),
    command("config list", list_settings),
    command("policy show", show_policy),
    command("policy check", check_policy, PolicyFile),
    command("serve", serve, Serve),
    command("mcp", mcp, Mcp),
    command("demo", demo, Folder),
    replace(command("audit adopt-key", adopt_key), asks=True),
    replace(command("audit reseal", reseal), asks=True),
    command("audit check-proof", check_proof_file, ProofFile),
)
