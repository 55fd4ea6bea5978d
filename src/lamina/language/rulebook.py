"""The rules of understanding: read from the packaged files and from what a person adds, and checked.

A rule of the same name replaces the packaged one in its place; a new one comes before the packaged ones.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from typing import Any

from lamina.errors import InvalidInput
from lamina.language.command import Action, Target
from lamina.language.phrases import STARTS, bounded, expression, with_captures, with_parts
from lamina.late import files, read_rules, regex
from lamina.model.memory import Kind
from lamina.model.scope import Space
from lamina.records import dataclass

_KINDS = (Kind.CORRECTION, Kind.PREFERENCE, Kind.DECISION)
#: Counts up when phrases come to other expressions than before.
_FORM = "1"
_NAMED = regex(r"\(\?P<\w+>")
_TYPES: dict[str, type] = {
    "text": str,
    "a list": list,
    "true or false": bool,
    "a whole number": int,
    "a number with a decimal point": float,
}
_CHOICES: dict[str, type[StrEnum]] = {"Kind": Kind, "Space": Space, "Action": Action, "Target": Target}


@dataclass(frozen=True)
class Rule:
    """One way of saying something, in one language."""

    table: str
    name: str
    language: str
    source: str  #: a regular expression on the folded view; empty in a rule that is switched off
    unless: str
    fields: Mapping[str, Any]

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Compiled when first needed: most texts are in one language."""
        return re.compile(self.source or r"(?!)")

    @cached_property
    def ending(self) -> re.Pattern[str]:
        """The same, up to the end of the stretch that is searched."""
        return re.compile(rf"(?:{self.source})\Z" if self.source else r"(?!)")

    @cached_property
    def exceptions(self) -> re.Pattern[str] | None:
        return re.compile(self.unless) if self.unless else None

    def __getitem__(self, field: str) -> Any:
        return self.fields.get(field)

    def is_exception(self, found: re.Match[str], said: str, low: int, high: int) -> bool:
        """Whether what was found overlaps an exception that stands between these places."""
        others = self.exceptions.finditer(said, low, high) if self.exceptions else ()
        return any(other.start() < found.end() and other.end() > found.start() for other in others)


@dataclass(frozen=True, eq=False)
class Rulebook:
    """Every rule in force, in the order in which they are tried."""

    rules: tuple[Rule, ...]
    keys: tuple[str, ...]  #: the keys that facts about a person may have, in the order they are looked for
    weights: Mapping[str, int]

    @cache  # noqa: B019 - books are few, and kept as long as the process anyway
    def speaking(self, languages: frozenset[str]) -> Rulebook:
        """The part of the book that is about these languages."""
        return replace(self, rules=tuple(rule for rule in self.rules if rule.language in {*languages, "any"}))

    @cache  # noqa: B019 - as above
    def of(self, table: str, does: str = "") -> tuple[Rule, ...]:
        """The rules of a table, or those of them that do one thing."""
        return tuple(rule for rule in self.rules if rule.table == table and does in ("", rule["does"]))

    @cache  # noqa: B019 - as above
    def any_of(self, table: str, does: str = "") -> re.Pattern[str]:
        """The same rules as one expression, without its groups."""
        sources = [_NAMED.sub("(?:", rule.source) for rule in self.of(table, does) if rule.source]
        return re.compile("|".join(sources) or r"(?!)")

    @cache  # noqa: B019 - as above
    def any_ending(self, table: str, does: str) -> re.Pattern[str]:
        """The same up to the end of the stretch that is searched."""
        return re.compile(rf"(?:{self.any_of(table, does).pattern})\Z")


@lru_cache(maxsize=16)
def rulebook(extra: str = "", file: str = "extra rules") -> Rulebook:
    """The packaged rules, with those of a TOML text merged in; `file` is how errors name that text.

    Raises InvalidInput, naming the file and the line or the rule, for TOML that cannot be read, an unknown
    table or field, a field of the wrong type, and a phrase or pattern that means nothing.
    """
    texts = {name: packaged(name) for name in _SCHEMA["files"]}
    if not extra and (ready := _unpacked(_seal_of(texts))) is not None:
        return ready
    return _made(texts, _Source(file, extra))


def _made(texts: Mapping[str, str], added: _Source) -> Rulebook:
    sources = [_Source(f"{name}.toml", text) for name, text in texts.items()]
    every = [*sources, added]
    parts = {name: text for source in every for name, text in source.pairs("parts", str)}
    keys = tuple(dict.fromkeys(key for source in every for key in source.fact_keys()))
    weights = {kind: weight for source in every for kind, weight in source.weights()}
    old = {(entry.table, entry.name): entry for source in sources for entry in source.entries()}
    new = {(entry.table, entry.name): entry for entry in added.entries()}
    entries = [*({name: entry for name, entry in new.items() if name not in old} | old | new).values()]
    words = _Words(parts, keys, entries)
    rules = [entry.rule(words) for entry in entries]
    for rule, entry in zip(rules, entries, strict=True):
        if entry.source is added:
            entry.try_out(rule)
    return Rulebook(tuple(sorted(rules, key=lambda rule: _place(rule, keys))), keys, weights)


def pack_rules() -> str:
    """The packaged rules worked out, as JSON: reading them takes a fiftieth of making them."""
    texts = {name: packaged(name) for name in _SCHEMA["files"]}
    book = _made(texts, _Source("", ""))
    head = json.dumps({"seal": _seal_of(texts), "keys": book.keys, "weights": book.weights}, indent=None)
    rows = [
        json.dumps(
            [one.table, one.name, one.language, one.source, one.unless, one.fields], ensure_ascii=False
        )
        for one in book.rules
    ]
    return "[\n" + ",\n".join([head, *rows]) + "\n]\n"


def _unpacked(seal: str) -> Rulebook | None:
    """The packaged rules as `pack_rules` left them; None where they were changed since."""
    try:
        head, *rows = json.loads(files("lamina.language").joinpath("data/rules.json").read_bytes())
    except (OSError, ValueError):
        return None
    if head["seal"] != seal:
        return None
    return Rulebook(tuple(Rule(*row) for row in rows), tuple(head["keys"]), head["weights"])


def _seal_of(texts: Mapping[str, str]) -> str:
    """What the packed rules were made of: the files, and the form in which they are read."""
    made_of = "\x00".join([_FORM, packaged("schema"), *texts.values()])
    return hashlib.sha256(made_of.encode()).hexdigest()


def packaged(name: str) -> str:
    """The text of a packaged rule file, to copy from."""
    return files("lamina.language").joinpath(f"data/{name}.toml").read_text(encoding="utf-8")


_SCHEMA = read_rules("lamina.language", "schema.toml")
_NEEDS = {table: ("name", "language", *fields.pop("needs", ())) for table, fields in _SCHEMA["table"].items()}
#: For each field of a table what it holds, or the words it may be.
_FIELDS = {
    table: {
        name: list(_CHOICES[allowed]) if isinstance(allowed, str) and allowed in _CHOICES else allowed
        for name, allowed in (_SCHEMA["common"] | fields).items()
    }
    for table, fields in _SCHEMA["table"].items()
}


def _place(rule: Rule, keys: tuple[str, ...]) -> int:
    """Facts in the order of their keys; events in the order of their kinds, those not listed last."""
    if rule.table == "fact":
        return keys.index(rule["key"])
    return _KINDS.index(rule["kind"]) if rule["kind"] in _KINDS else len(_KINDS)


class _Words:
    """What rules share while they are made."""

    def __init__(self, parts: Mapping[str, str], keys: tuple[str, ...], entries: list[_Entry]) -> None:
        settings = [entry for entry in entries if entry.table == "setting"]
        leads: dict[str, list[str]] = {}
        for entry in entries:
            if entry.table == "cue" and entry.raw["does"] == "lead":
                leads.setdefault(entry.raw["language"], []).append(entry.body(parts))
        self.parts = parts
        self.fact_keys = keys
        self.keys = {*keys, *(entry.raw["key"] for entry in settings), "number", "manner", "response"}
        #: For each language, what may stand between the start of a sentence and a command.
        self.leads = {
            language: f"(?:(?:{'|'.join(bodies)})" + (",? " if language == "en" else "[ ,\\v]?") + "){0,3}"
            for language, bodies in leads.items()
        }
        self.captures = {name: with_parts(body, "any", parts) for name, body in _SCHEMA["captures"].items()}
        self.captures["setting"] = "|".join(body for entry in settings if (body := entry.body(parts)))


@dataclass(frozen=True)
class _Source:
    """A rule file while it is read."""

    file: str
    text: str

    @cached_property
    def tables(self) -> dict[str, Any]:
        try:
            tables = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(
                f"{self.file} is not TOML: {error}.", code="rules_invalid", hint="Put it right there."
            ) from error
        for name in tables:
            if name not in {*_SCHEMA["table"], "keys", "parts", "importance"}:
                raise self.wrong(f"`{name}` is not a table of rules", name)
        return tables

    def fact_keys(self) -> list[str]:
        keys = self.tables.get("keys", [])
        if not isinstance(keys, list) or not all(isinstance(key, str) and key for key in keys):
            raise self.wrong("`keys` is not a list of names", "keys")
        return keys

    def weights(self) -> Iterator[tuple[str, int]]:
        for kind, weight in self.pairs("importance", int):
            if kind not in set(Kind):
                raise self.wrong(f"`{kind}` is not a kind of memory", kind)
            yield kind, weight

    def pairs(self, table: str, kind: type) -> Iterator[tuple[str, Any]]:
        pairs = self.tables.get(table, {})
        if not isinstance(pairs, dict) or not all(type(value) is kind for value in pairs.values()):
            raise self.wrong(f"[{table}] holds something other than {kind.__name__} values", table)
        yield from pairs.items()

    def entries(self) -> Iterator[_Entry]:
        for table in _SCHEMA["table"]:
            rules = self.tables.get(table, [])
            if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
                raise self.wrong(f"`{table}` is not written as [[{table}]]", table)
            names: set[str] = set()
            for number, rule in enumerate(rules):
                entry = _Entry(self, table, number, rule)
                entry.check()
                if entry.name in names:
                    raise entry.wrong("there is another rule of this name")
                names.add(entry.name)
                yield entry

    def wrong(self, what: str, word: str, number: int = 0, rule: str = "") -> InvalidInput:
        """An error in the line that the word begins, or in the one of that number."""
        lines = [
            f", line {at}"
            for at, line in enumerate(self.text.splitlines(), 1)
            if re.match(rf"[\s\[]*{re.escape(word)}\b", line)
        ]
        place = f"{self.file}{''.join(lines[number : number + 1])}{f', rule `{rule}`' if rule else ''}"
        return InvalidInput(
            f"{place}: {what}.", code="rules_invalid", hint="docs/guides/rules.md says how rules are written."
        )


@dataclass(frozen=True)
class _Entry:
    """A rule as it is written."""

    source: _Source
    table: str
    number: int
    raw: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.raw.get("name", ""))

    def check(self) -> None:
        """Raises InvalidInput where the rule has not the fields of its table."""
        fields = _FIELDS[self.table]
        for name, value in self.raw.items():
            if name not in fields:
                raise self.wrong(f"`{name}` is not a field of [[{self.table}]]")
            allowed = fields[name]
            if isinstance(allowed, str) and type(value) is not _TYPES[allowed]:
                raise self.wrong(f"`{name}` is not {allowed}")
            if isinstance(allowed, list) and value not in allowed:
                raise self.wrong(f"`{name}` may be {', '.join(sorted(allowed))}, not `{value}`")
        for name in _NEEDS[self.table]:
            if not self.raw.get(name):
                raise self.wrong(f"`{name}` is missing")
        if ("phrases" in self.raw) == ("pattern" in self.raw):
            raise self.wrong("either `phrases` or `pattern` has to be there, and not both")
        for name in ("phrases", "unless"):
            if not all(isinstance(phrase, str) and phrase.strip() for phrase in self.raw.get(name, ())):
                raise self.wrong(f"`{name}` holds something that is not a phrase")

    def body(self, parts: Mapping[str, str]) -> str:
        language = self.raw["language"]
        try:
            if "pattern" in self.raw:
                return with_parts(self.raw["pattern"], language, parts)
            return "|".join(expression(phrase, language, parts) for phrase in self.raw["phrases"])
        except ValueError as error:
            raise self.wrong(str(error)) from error

    def rule(self, words: _Words) -> Rule:
        language = self.raw["language"]
        keys = words.fact_keys if self.table == "fact" else words.keys
        if "key" in self.raw and self.raw["key"] not in keys:
            raise self.wrong(f"`{self.raw['key']}` is not among the keys")
        body = self.body(words.parts)
        if body:
            body = f"(?:{body})" if "pattern" in self.raw else bounded(body, language)
            position = self.raw.get("position", "anywhere")
            if position in STARTS:
                body = f"{STARTS[position]}{words.leads.get(language, '')}{body}"
        try:
            takes = self.table in ("command", "qualifier", "correction")
            body = with_captures(body, words.captures if takes else {})
            exceptions = [expression(phrase, language, words.parts) for phrase in self.raw.get("unless", ())]
            unless = "|".join(bounded(exception, language) for exception in exceptions)
        except ValueError as error:
            raise self.wrong(str(error)) from error
        return Rule(self.table, self.name, language, body, unless, self.raw)

    def try_out(self, rule: Rule) -> None:
        """Raises InvalidInput for a pattern that is no regular expression, or that holds for every text."""
        try:
            re.compile(rule["frame"] or "")
            matches_nothing = rule.regex.search("")
        except re.error as error:
            raise self.wrong(f"`pattern` is not a regular expression: {error}") from error
        if matches_nothing:
            raise self.wrong("it matches a text without a word in it")

    def wrong(self, what: str) -> InvalidInput:
        return self.source.wrong(what, self.table, self.number, self.name)
