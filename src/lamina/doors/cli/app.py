"""The command line as a whole: its global options, its commands, and how every run of it ends."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lamina.doors.cli.call import PROGRAM, Call, Globals
from lamina.doors.cli.commands import commands, find_command
from lamina.doors.cli.exits import DONE, FAILED, INTERRUPTED, Failure, failure_of
from lamina.doors.cli.output import Output, prepare_streams
from lamina.doors.cli.parse import HelpAsked, Parser, Usage, no_command, of_any_width, parser_for, values_of
from lamina.operations.operation import Field, Parameter, parameters_of
from lamina.records import dataclass
from lamina.write.details import named_time

if TYPE_CHECKING:
    from lamina.doors.cli.call import CliCommand
    from lamina.doors.cli.doors import Doors

#: Commands in the order in which people need them; every other one stands in the last group.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Every day": ("init", "hear", "remember", "recall", "search", "context", "forget", "restore", "revise"),
    "What it knows, and why": (
        "me",
        "review",
        "list",
        "get",
        "explain",
        "history",
        "pending",
        "resolve",
        "user-model",
    ),
    "Serve agents": ("install", "uninstall", "hook", "serve", "mcp", "token", "demo"),
    "Look after it": (
        "status",
        "doctor",
        "backup",
        "restore-backup",
        "audit",
        "export",
        "import",
        "purge",
        "erase",
        "index",
        "job",
    ),
}
#: Further names of commands.
ALIASES: Mapping[str, str] = {"diff": "difference", "policy reload": "policy accept"}
_MORE = "More"
_ABOUT = "Memory for AI agents that its owner can read, govern and prove."
_FIRST = 2  #: groups for somebody who typed no command
_WIDTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalOptions:
    """What may stand before a command."""

    workspace: Annotated[
        Path | None,
        Field(
            "The workspace. By default $LAMINA_WORKSPACE, else the nearest folder above with `.lamina`.",
            option="-w",
            metavar="DIR",
        ),
    ] = None
    store: Annotated[
        str | None, Field("The store: sqlite:///file.db or postgresql://user@host/name.", metavar="URL")
    ] = None
    tenant: Annotated[str | None, Field("Whose store, where several share one server.")] = None
    user: Annotated[str | None, Field("Whose memories; the workspace's owner by default.")] = None
    agent: Annotated[str | None, Field("Speak as this agent instead of the person.")] = None
    session: Annotated[str | None, Field("The session this belongs to.")] = None
    run: Annotated[str | None, Field("The run whose audit file gets the changes.")] = None
    json: Annotated[bool, Field("One JSON envelope on stdout; may stand last.")] = False
    now: Annotated[str | None, Field("Let it be this time, for replays.", metavar="ISO")] = None
    debug: Annotated[bool, Field("Show where an error comes from.")] = False
    version: Annotated[bool, Field("The version, and nothing else.")] = False


def run(doors: Doors, arguments: Sequence[str]) -> int:
    """Carry out one command line and return its exit code; whatever happens, nothing is raised."""
    prepare_streams()
    words, wanted = _json_first(arguments)
    call = Call(doors=doors, out=Output(json=wanted, debug="--debug" in words))
    try:
        code = _carried_out(call, words)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError:  # not even the reason could be written
        code = FAILED
    return code if _delivered(call.out) else FAILED


def _json_first(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """`--json` may stand anywhere before `--`, because people type it last; it belongs before the command."""
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    head = [word for word in words[:end] if word != "--json"]
    return head + words[end:], len(head) < end


def _carried_out(call: Call, words: list[str]) -> int:
    placed = call
    try:
        given, rest = _global_options(words)
        if given.get("version"):
            return call.answer({"version": call.doors.version}, [f"{PROGRAM} {call.doors.version}"])
        placed, command, rest = _chosen(_given(call, given), rest)
        parser = parser_for(command.words, command.about, command.parameters, asks=command.asks)
        return command.run(placed, values_of(parser, rest, command.parameters))
    except HelpAsked as asked:
        return _helped(placed, str(asked) or help_text(everything=bool(words)))
    except Usage as usage:
        return _failed(replace(placed, command=usage.command), usage)
    except KeyboardInterrupt:
        if call.out.json:
            stopped = Failure(code="interrupted", message="Interrupted.", exit_code=INTERRUPTED)
            placed.answer(None, failure=stopped)
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads has seen enough, as `| head` has
        return FAILED
    except Exception as error:  # noqa: BLE001 people get a sentence for every error there may be
        call.out.trace(error)
        return _failed(placed, error)


def _helped(call: Call, text: str) -> int:
    if call.out.json and not call.command:
        return _failed(call, Usage("Missing command.", ""))
    sys.stdout.write(text)
    return DONE


def _failed(call: Call, error: Exception) -> int:
    return call.answer(None, failure=failure_of(error))


def _global_options(words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What stands before the command, and the rest."""
    parser = Parser(prog=PROGRAM, formatter_class=of_any_width, add_help=False, allow_abbrev=False)
    for one in parameters_of(GlobalOptions):
        _add(parser, one)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    found = vars(parser.parse_args(words))
    rest = found.pop("rest")
    if found.pop("help") or (not rest and not found["version"]):
        raise HelpAsked
    return {name: value for name, value in found.items() if value not in (None, False)}, rest


def _add(parser: Parser, one: Parameter) -> None:
    own = f"--{one.name}"
    names = [one.about.option, own] if one.about.option else [own]
    if one.type is bool:
        parser.add_argument(*names, dest=one.name, action="store_true")
    else:
        parser.add_argument(*names, dest=one.name, metavar=one.about.metavar or one.name.upper())


def _given(call: Call, given: Mapping[str, Any]) -> Call:
    who = {name: given[name] for name in ("user", "agent", "session", "run") if name in given}
    settings = {name: given[name] for name in ("store", "tenant") if name in given}
    place = Path(given["workspace"]) if "workspace" in given else None
    at = named_time(given["now"], "--now") if "now" in given else None
    return replace(call, given=Globals(workspace=place, settings=settings, who=who, at=at))


def _chosen(call: Call, words: list[str]) -> tuple[Call, CliCommand, list[str]]:
    """The command that the words begin with, two words before one."""
    for name, meant in ALIASES.items():
        if words[: len(name.split())] == name.split():
            words = [*meant.split(), *words[len(name.split()) :]]
    if (one := find_command(words)) is not None:
        return replace(call, command=one.words), one, words[len(one.words.split()) :]
    known = commands()
    for count in (2, 1):
        name = " ".join(words[:count])
        if len(words) >= count and name in known:
            return replace(call, command=name), known[name], words[count:]
    first = words[0]
    group = {name: one for name, one in known.items() if name.startswith(f"{first} ")}
    if not group:
        names = {name.split()[0] for name in known}
        raise Usage(no_command(first, sorted(names)), "")
    asks = words[1:2] in (["-h"], ["--help"])
    if not asks and (alone := group.get(f"{first} list") if first == "pending" else None):
        return replace(call, command=alone.words), alone, words[1:]
    if words[1:] and not asks:
        raise Usage(no_command(words[1], [name.split()[1] for name in group]), first)
    if asks:
        raise HelpAsked(_listed(f"Usage: {PROGRAM} {first} COMMAND [ARGS]...", {first.capitalize(): group}))
    raise Usage(f"Missing command: one of {', '.join(name.split()[1] for name in group)}.", first)


def help_text(*, everything: bool = True) -> str:
    """The list of all commands, the everyday ones first, or of those alone."""
    known = {words: one for words, one in commands().items() if one.listed}
    grouped = {}
    for title, names in GROUPS.items():
        grouped[title] = {
            words: one for name in names for words, one in known.items() if words.split()[0] == name
        }
    shown = {words for group in grouped.values() for words in group}
    grouped[_MORE] = {words: one for words, one in sorted(known.items()) if words not in shown}
    head = [f"Usage: {PROGRAM} [OPTIONS] COMMAND [ARGS]...", "", _ABOUT, "", ""]
    if not everything:
        first = {
            title: {words: one for words, one in grouped[title].items() if " " not in words}
            for title in [*GROUPS][:_FIRST]
        }
        more = f"{PROGRAM} COMMAND --help: what a command takes. {PROGRAM} --help: all {len(known)} commands."
        return "\n".join(head) + _listed(more, first)
    options = [
        (f"  {', '.join(filter(None, [one.about.option, f'--{one.name}']))}", one.about.help)
        for one in parameters_of(GlobalOptions)
    ]
    head[-1:] = ["Options:", *(f"{names:<18} {about}" for names, about in options), "", ""]
    return "\n".join(head) + _listed(f"`{PROGRAM} COMMAND --help` says what a command takes.", grouped)


def _listed(head: str, grouped: Mapping[str, Mapping[str, CliCommand]]) -> str:
    lines = [head]
    for title, group in grouped.items():
        if group:
            lines += ["", f"{title}:"]
            lines += [_line(words, one.summary) for words, one in group.items()]
    return "\n".join(lines) + "\n"


#: A summary that is cut at a comma to less than this says nothing any more: "What came."
_TOO_SHORT = 15


def _line(words: str, summary: str) -> str:
    """One command in one line of a narrow terminal: what it does, without the finer points."""
    room = _WIDTH - 24
    short = summary
    for mark in (";", ":", ","):
        if len(short) > room and len(cut := short.rpartition(mark)[0]) > _TOO_SHORT:
            short = cut
    if len(short) > room:
        return f"  {words:<20} {short[:room].rpartition(' ')[0].rstrip(',')} …"
    return f"  {words:<20} {short.rstrip('.')}."


def _delivered(out: Output) -> bool:
    """Whether everything printed has left; if not, Python must not try again at exit and complain."""
    stream = sys.__stdout__
    if stream is None:
        return True
    try:
        stream.flush()
        return True
    except OSError as error:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            out.note(f"Error: The answer could not be written: {error.strerror}.")
        return False
