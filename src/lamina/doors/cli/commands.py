"""Every command there is: those of the catalogue, and those of this machine."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lamina.doors.cli.call import Call, CliCommand, Values, text_or_stdin
from lamina.doors.cli.parse import Usage, at_cli, required_missing
from lamina.doors.cli.render import VIEWS, shown
from lamina.doors.cli.view import CliView, Shown
from lamina.errors import InvalidInput, NotFound
from lamina.late import late, load
from lamina.model import Role
from lamina.operations.asking import request_of
from lamina.operations.families import FAMILIES
from lamina.operations.operation import CATALOGUE, Field, Operation, given, parameters_of
from lamina.records import dataclass

with late():  # one command needs one family of operations
    from lamina.doors import codes
    from lamina.doors.cli import agents, custody, machine
    from lamina.imports import bring_in
    from lamina.jobs import clockwork
    from lamina.layers import relations
    from lamina.operations import catalogue
    from lamina.text import ttl

if TYPE_CHECKING:
    from lamina.imports.bring_in import Report
    from lamina.scoped import ScopedMemory

Answers = Callable[["ScopedMemory", Any], Any]
#: Which module has a command; `python -m tools.reference` makes it.
INDEX = Path(__file__).parent / "data" / "commands.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Minutes:
    """How long an episode took."""

    minutes: Annotated[int | None, Field("How long it took, in minutes.", low=0)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """Whose memories an import becomes."""

    user: Annotated[str | None, Field("Whose memories they become; else as for every command.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """Whether to look only."""

    verify: Annotated[bool, Field("Purge nothing; look for what was purged.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """In which form a graph leaves."""

    form: Annotated[str, Field("json, or dot for Graphviz.", option="--format")] = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is to be explained."""

    subject: Annotated[
        str,
        Field("A memory's id, an event's number, or a code.", position=True, metavar="ID-EVENT-or-CODE"),
    ]
    question: Annotated[str | None, Field("Say why the memory is not recalled for this question.")] = None


#: Options that are the command line's own, by operation, beside those that only choose a view.
EXTRA: Mapping[str, type] = {**VIEWS, "record_episode": Minutes, "bring_in": Whose, "purge": Verify}


def commands() -> dict[str, CliCommand]:
    """Every command by its words."""
    derived = [derive(one) for one in catalogue.OPERATIONS.values() if one.command is not None]
    return {
        one.words: one for one in [*derived, *machine.COMMANDS, *custody.COMMANDS, *agents.COMMANDS, *OWN]
    }


def find_command(words: Sequence[str]) -> CliCommand | None:
    """The command that the words begin with, two before one, without loading the others."""
    index = json.loads(INDEX.read_text("utf-8"))
    for count in (2, 1):
        if (home := index.get(" ".join(words[:count]))) and len(words) >= count:
            return _loaded(home, " ".join(words[:count]))
    return None


def _loaded(home: str, words: str) -> CliCommand | None:
    if (family := FAMILIES.get(home)) is None:
        rooms = {"machine": machine, "custody": custody, "agents": agents}
        known = rooms[home].COMMANDS if home in rooms else OWN
        return next((one for one in known if one.words == words), None)
    load(family)
    return next((derive(one) for one in CATALOGUE.values() if one.command == words), None)


def derive(operation: Operation) -> CliCommand:
    """The command of an operation."""
    extra = EXTRA.get(operation.name)
    return CliCommand(
        words=operation.command or "",
        about=operation.words,
        parameters=(*at_cli(operation.parameters), *(() if extra is None else parameters_of(extra))),
        asks=bool(operation.asks),
        run=lambda call, values: SPECIAL.get(operation.name, carry_out)(operation, call, values),
    )


def carry_out(
    operation: Operation, call: Call, values: Values, answers: Answers | None = None, **who: str
) -> int:
    """Carry out an operation and show what came of it; `who` is whom it is for, beside the global options."""
    extra, yes = EXTRA.get(operation.name), values.pop("yes", False)
    views = () if extra is None else parameters_of(extra)
    own = {one.name: values.pop(one.name, one.default) for one in views}
    for one in operation.parameters:
        if one.about.piped:
            values[one.name] = text_or_stdin(values.get(one.name), "text")
    if missing := required_missing(operation.parameters, values):
        name = missing[0].about.metavar or missing[0].name.upper()
        raise Usage(f"Missing argument {name!r}.", call.command)
    request = request_of(operation, values)
    with call.engine() as engine:
        memory = engine.scope(**{**call.given.who, **who}, via="cli")  # type: ignore[arg-type]  # all texts
        trial = getattr(request, "dry_run", False)  # it changes nothing, so there is nothing to ask
        question = operation.asks and not trial
        if question and not call.confirmed(_question(operation, memory, request, yes), yes):
            return call.declined()
        answer = (answers or operation.run)(memory, request)
    return show(call, shown(operation.name, CliView(call=call, request=request, options=own), answer))


def show(call: Call, made: Shown) -> int:
    """Print an answer; what is only for people stays out of an envelope."""
    if not call.out.json:
        for note in made.notes:
            call.out.note(note)
    return call.answer(made.data, made.lines, made.failure)


def _question(operation: Operation, memory: ScopedMemory, request: Any, yes: bool) -> str:
    """What a person is asked; they see the words of what would go, and nobody is asked about nothing."""
    question = operation.asks.format(**given(request))
    if operation.name != "forget" or yes:
        return question
    words = memory.get(memory.id_of(request.memory_id)).text
    return f"{words}\n{question}"


def _purge(operation: Operation, call: Call, values: Values) -> int:
    if values.pop("verify", False):
        if not values.get("memory_id"):
            raise InvalidInput("--verify needs the id of what was purged.", code="id_missing")
        return carry_out(catalogue.OPERATIONS["verify_purge"], call, {"memory_id": values["memory_id"]})
    due = "was forgotten" if values.get("now") else "is due"
    asked = replace(operation, asks=f"Purge everything that {due}? Nothing can bring it back.")
    return carry_out(operation if values.get("memory_id") else asked, call, values)


def _episode(operation: Operation, call: Call, values: Values) -> int:
    if (minutes := values.pop("minutes", None)) is not None:
        values["duration_ms"] = minutes * 60_000
    return carry_out(operation, call, values)


def _token(operation: Operation, call: Call, values: Values) -> int:
    who: Values = {name: one for name, one in call.given.who.items() if name in ("user", "agent")}
    until = values.pop("expires_at", None)

    def made(memory: ScopedMemory, request: Any) -> Any:
        if until is None or until.strip().lower() == "none":
            return operation.run(memory, request)
        _, at = ttl.parse_ttl(until, memory.engine.now())
        if at is None:
            raise InvalidInput("A token ends at a time.", code="ttl_invalid", hint="Write 30d or a date.")
        return operation.run(memory, replace(request, expires_at=at))

    return carry_out(operation, call, {**who, **values}, made)


def _import(operation: Operation, call: Call, values: Values) -> int:
    whose = {} if values.get("user") is None else {"user": values["user"]}

    def made(memory: ScopedMemory, request: Any) -> Report:
        if call.out.json or sys.stderr is None or not sys.stderr.isatty():
            found: Report = operation.run(memory, request)
            return found
        with call.doors.show_bar("Importing") as advance:
            return bring_in.import_files(memory, request.paths, advance, **given(request, "paths"))

    return carry_out(operation, call, values, made, **whose)


def _erase(operation: Operation, call: Call, values: Values) -> int:
    """Whoever holds the workspace may erase anybody; others, and agents, what the verb lets them."""
    with call.engine() as engine:
        owner = engine.config.owner
    holder = call.given.who.get("user", owner) == owner and "agent" not in call.given.who
    role = {"role": Role.ADMIN.value} if holder and values.get("user") != owner else {}
    return carry_out(operation, call, values, None, **role)


def _job(operation: Operation, call: Call, values: Values) -> int:
    def made(memory: ScopedMemory, request: Any) -> Any:
        with _stopped_hard_after(clockwork.hard_stop_s(memory.engine, request.name)):
            return operation.run(memory, request)

    return carry_out(operation, call, values, made)


@contextmanager
def _stopped_hard_after(seconds: float) -> Iterator[None]:
    """A run that does not stop itself in time is ended by a watchdog that needs nothing of Python to work.

    It may hang in a place where no exception reaches it; with the process its locks are free.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        os.close(nowhere)


#: Operations that the command line asks for in a way of its own.
SPECIAL: Mapping[str, Callable[[Operation, Call, Values], int]] = {
    "purge": _purge,
    "record_episode": _episode,
    "new_token": _token,
    "bring_in": _import,
    "erase": _erase,
    "run_job": _job,
}


def _explain(call: Call, values: Values) -> int:
    subject, question = values["subject"], values.get("question")
    if question is not None:
        return carry_out(catalogue.OPERATIONS["why_not"], call, {"memory_id": subject, "query": question})
    if subject.isdecimal():
        return carry_out(catalogue.OPERATIONS["explain_event"], call, {"seq": int(subject)})
    if (told := codes.told_of(subject))[0]:
        return call.answer(
            {"code": subject, "meaning": told[0], "hints": told[1]},
            [*told[0], *(f"What to do: {hint}" for hint in told[1])],
        )
    if ":" not in subject:
        raise NotFound(
            f"{subject!r:.60} is not a code that Lamina knows, and not an id.",
            hint="An id looks like user:ana:semantic:1; `lamina resolve KEY` says what a key is and why.",
        )
    return carry_out(catalogue.OPERATIONS["explain"], call, {"memory_id": subject})


def _export_graph(call: Call, values: Values) -> int:
    with call.memory() as memory:
        graph = memory.relations()
    return call.answer(graph, relations.exported(graph, values.get("form", "json")).splitlines())


EXPLAIN = CliCommand(
    words="explain",
    about="Why a memory is there, or is not recalled; what an event or a code means.",
    parameters=parameters_of(Subject),
    run=_explain,
)
EXPORT_GRAPH = CliCommand(
    words="relations export",
    about="All that is linked, for other tools: `lamina relations export --format dot | dot -Tsvg`.",
    parameters=parameters_of(Form),
    run=_export_graph,
)
#: Commands that put several operations together.
OWN = (EXPLAIN, EXPORT_GRAPH)
