"""Words of a command line into the fields of a request, by the catalogue's own declarations."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING
from datetime import datetime
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, NoReturn, get_args, get_origin

from lamina.errors import InvalidInput, did_you_mean
from lamina.operations.asking import members
from lamina.operations.operation import Door, Parameter
from lamina.write.details import chosen

PROGRAM = "lamina"
_ABSENT: Any = object()
_LOOSE = "unrecognized arguments: "  # as argparse begins, of words that nothing asked for


class Usage(Exception):
    """The words cannot be understood; `command` is what they were said to."""

    def __init__(self, message: str, command: str) -> None:
        super().__init__(message)
        self.message = message
        self.command = command


class HelpAsked(Exception):
    """Somebody wants to read the help; it is all there is to say."""


class Parser(argparse.ArgumentParser):
    """argparse, but nothing is printed and nothing ends the process."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in a sentence of its own."""
        command, loose = self.prog.removeprefix(PROGRAM).strip(), message.removeprefix(_LOOSE)
        if loose != message and loose.startswith("-"):
            name = loose.split()[0].partition("=")[0]
            known = [one for one in self._option_string_actions if one.startswith("--")]
            message = f"There is no option `{name:.40}`. {did_you_mean(name, known)}".rstrip()
        elif loose != message and self._get_positional_actions():
            message = f'{loose!r:.60} is too much. Put a text in quotes: `{self.prog} "…"`'
        raise Usage(_sentence(message), command)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 argparse's form
        """Only help ends here."""
        raise HelpAsked

    def print_help(self, file: Any = None) -> None:  # noqa: ARG002 argparse's form
        """Hand the help to whoever prints, as wide as the terminal."""
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        raise HelpAsked(self.format_help())


def of_any_width(prog: str) -> argparse.HelpFormatter:
    """What argparse tries each option with; to ask how wide the terminal is would load six modules."""
    return argparse.HelpFormatter(prog, width=80)


def _sentence(message: str) -> str:
    text = message[:1].upper() + message[1:]
    return text if text.endswith(".") else f"{text}."


def parser_for(command: str, about: str, parameters: Iterable[Parameter], *, asks: bool) -> Parser:
    """The parser of one command."""
    made = Parser(
        prog=f"{PROGRAM} {command}",
        description=about,
        add_help=False,
        allow_abbrev=False,
        formatter_class=of_any_width,
    )
    for one in parameters:
        _add(made, one)
    if asks:
        made.add_argument("--yes", action="store_true", help="Do not ask.")
    made.add_argument("-h", "--help", action="help", help="Show this and do nothing.")
    return made


def options_of(parameter: Parameter) -> list[str]:
    """What an option is called: the short name that is declared, and its own with dashes."""
    own = "--" + parameter.name.replace("_", "-")
    if not (given := parameter.about.option):
        return [own]
    return [given, own] if not given.startswith("--") else [given]


def _add(parser: Parser, one: Parameter) -> None:
    kinds = members(one.type)
    several = any(get_origin(kind) in (tuple, list) for kind in kinds)
    text = one.about.help.replace("%", "%%")
    metavar = one.about.metavar.removesuffix("...") or one.name.upper()
    if one.about.position:
        optional = not one.required or one.about.piped
        count: Any = ("*" if optional else "+") if several else ("?" if optional else None)
        parser.add_argument(one.name, metavar=metavar, nargs=count, default=_ABSENT, help=text)
        return
    names, default = options_of(one), _ABSENT
    if bool in kinds:
        action: Any = argparse.BooleanOptionalAction if one.default is None else "store_true"
        parser.add_argument(*names, dest=one.name, action=action, default=default, help=text)
    elif several or dict in [get_origin(kind) or kind for kind in kinds]:
        parser.add_argument(*names, dest=one.name, action="append", metavar=metavar, default=None, help=text)
    else:
        parser.add_argument(
            *names, dest=one.name, metavar=metavar, required=one.required, default=default, help=text
        )


def values_of(parser: Parser, words: Sequence[str], parameters: Iterable[Parameter]) -> dict[str, Any]:
    """What the words say, by field; what they leave out is not there."""
    found = vars(parser.parse_args(list(words)))
    given = {name: one for name, one in found.items() if one is not _ABSENT and one is not None}
    for one in parameters:
        if one.name in given:
            given[one.name] = _value(parser, one, given[one.name])
    return {name: value for name, value in given.items() if value is not _ABSENT}


def _value(parser: Parser, one: Parameter, said: Any) -> Any:
    kinds = members(one.type)
    for kind in kinds:
        origin = get_origin(kind) or kind
        if origin in (tuple, list):
            if said is _ABSENT or said == []:
                return _ABSENT
            inner = get_args(kind)[0]
            parts = _split(said) if _in_one_word(one, inner) else said
            return tuple(_single(parser, one, inner, part) for part in parts)
        if origin is dict:
            return _table(parser, one, said)
    return said if isinstance(said, bool) else _single(parser, one, kinds[0], said)


def _in_one_word(one: Parameter, inner: Any) -> bool:
    """Whether a comma stands between two; what people write in their own words may have commas."""
    chosen_from = isinstance(inner, type) and issubclass(inner, Enum)
    return one.about.listed or (chosen_from and not one.about.position)


def _split(said: Iterable[str]) -> list[str]:
    """`--layer a,b` is two."""
    return [part for text in said for name in text.split(",") if (part := name.strip())]


def _single(parser: Parser, one: Parameter, kind: Any, said: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return chosen(kind, said, _singular(one.name))
    if kind in (int, float):
        try:
            return kind(said)
        except ValueError:
            sort = "whole number" if kind is int else "number"
            parser.error(f"{options_of(one)[-1]}: {said!r:.40} is not a {sort}")
    if get_origin(kind) is dict or kind is dict:
        return _object(one, said)
    return Path(said) if kind is Path else said


def _singular(name: str) -> str:
    return name.removesuffix("s") if name not in ("status", "corpus") else name


def _object(one: Parameter, said: str) -> dict[str, Any]:
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidInput("That is not a JSON object.", code="json_invalid", hint=one.about.help)
    return found


def _table(parser: Parser, one: Parameter, said: str | list[str]) -> dict[str, Any]:  # noqa: ARG001
    """A JSON object, or `name=value` as often as it is given."""
    if isinstance(said, str):
        return _object(one, said)
    return dict(_pair(text) for text in said)


def _pair(text: str) -> tuple[str, Any]:
    """`pinned=true`, `importance_min=3`: a name and a value of the right sort."""
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInput(f"{text!r:.60} is not a filter.", code="filter_invalid", hint="Write name=value.")
    word = {"true": True, "false": False}.get(value.lower())
    number = int(value) if value.isdecimal() and name.startswith("importance") else value
    return name, number if word is None else word


def no_command(word: str, known: Iterable[str]) -> str:
    """What to say of a command that is not there."""
    return f"No such command {word!r:.40}. {did_you_mean(word, known)}".rstrip()


def at_cli(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """The fields that the command line has."""
    return tuple(one for one in parameters if Door.CLI not in one.about.but)


def timed(parameters: Iterable[Parameter]) -> list[str]:
    """The fields that hold a moment."""
    return [one.name for one in parameters if datetime in members(one.type)]


def required_missing(parameters: Iterable[Parameter], values: Mapping[str, Any]) -> list[Parameter]:
    """What was not said and has no default."""
    return [one for one in parameters if one.default is MISSING and one.name not in values]
