"""The rules of understanding: read from the packaged files and from what a person adds, and checked.

A rule of the same name replaces the packaged one in its place; a new one comes before the packaged ones.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

from lamina.errors import InvalidInput
from lamina.model.memory import Kind
from lamina.model.scope import Space
from lamina_language.understand.command import Action, Target
from lamina_language.understand.phrases import STARTS, bounded, expression, with_captures, with_parts

_FILES = (
    "keys", "cues", "events", "importance", "low_signal", "facts", "hints", "commands/settings",
    "commands/qualifiers", "commands/en", "commands/th", "commands/zh", "inferences",
)  # fmt: skip
_LANGUAGES = frozenset({"en", "th", "zh", "any"})

_COMMON = {"name": str, "language": str, "phrases": list, "pattern": str}
#: Each table with the fields of its own.
_TABLES: dict[str, dict[str, type]] = {
    "event": {"unless": list, "kind": str, "position": str, "negatable": bool, "yields_to_fact": bool},
    "fact": {"unless": list, "key": str, "position": str, "value": str},
    "value": {"does": str, "key": str, "means": str},
    "hint": {"unless": list, "target": str, "reason": str, "position": str},
    "low_signal": {},
    "emphasis": {},
    "command": {
        "unless": list, "action": str, "takes": str, "target": str, "key": str, "value": str, "kind": str,
        "starts": str, "lasting": bool,
    },
    "setting": {"key": str, "closed": bool},
    "qualifier": {"unless": list, "ttl": str, "times": int, "space": str, "front": bool},
    "inference": {"unless": list, "key": str, "value": str, "confidence": float},
    "cue": {"does": str},
}
_NEEDED = {
    "event": ("kind",), "fact": ("key",), "value": ("does",), "hint": ("target", "reason"), "cue": ("does",),
    "command": ("action",), "setting": ("key",), "inference": ("key", "confidence"),
}  # fmt: skip
_DOES = {
    "cue": frozenset({
        "lead", "quotes", "asks_open", "asks_with_mark", "asks_in", "asks_tag", "supposes", "reports",
        "reports_self", "negates", "contrasts", "lasts", "corrects", "requests", "requests_after", "agrees",
        "joins", "after", "after_value", "turns", "exemplifies", "reports_after", "that", "this", "all",
        "lists", "manner",
    }),
    "value": frozenset({"ends", "head", "tail", "keeps", "rejects", "means"}),
}  # fmt: skip
_KINDS = (Kind.CORRECTION, Kind.PREFERENCE, Kind.DECISION)
_NAMED = re.compile(r"\(\?P<\w+>")
_POSITIONS = frozenset({"anywhere", *STARTS})
_TAKES = frozenset({"text", "target", "key", "value", "manner"})
_COMMAND_STARTS = frozenset({"sentence", "clause", "join"})
#: What `{name}` stands for in a phrase; `{setting}` comes from the settings themselves.
_CAPTURES = {
    name: rf"[^\n!?。;,{stop}]{{1,60}}?" for name, stop in (("value", ""), ("old", ""), ("manner", "\x00\v"))
} | {
    "text": r"[^\n!?。;]{1,400}?",
    "number": r"[0-9]{1,9}|(?:@number@)",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[t ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:z|[+-][0-9]{2}:?[0-9]{2})?)?",
}


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


@dataclass(frozen=True)
class Rulebook:
    """Every rule in force, in the order in which they are tried."""

    rules: tuple[Rule, ...]
    keys: tuple[str, ...]  #: the keys that facts about a person may have, in the order they are looked for
    weights: Mapping[str, int]

    def speaking(self, languages: frozenset[str]) -> Rulebook:
        """The part of the book that is about these languages."""
        part = self._parts.get(languages)
        if part is None:
            rules = tuple(rule for rule in self.rules if rule.language in languages or rule.language == "any")
            part = self._parts[languages] = replace(self, rules=rules)
        return part

    def of(self, table: str, does: str = "") -> tuple[Rule, ...]:
        """The rules of a table, or those of them that do one thing."""
        found = self._found.get((table, does))
        if found is None:
            found = tuple(
                rule for rule in self.rules if rule.table == table and (not does or rule["does"] == does)
            )
            self._found[table, does] = found
        return found

    def any_of(self, table: str, does: str = "") -> re.Pattern[str]:
        """The same rules as one expression, without its groups."""
        union = self._unions.get((table, does))
        if union is None:
            sources = [_NAMED.sub("(?:", rule.source) for rule in self.of(table, does) if rule.source]
            union = self._unions[table, does] = re.compile("|".join(sources) or r"(?!)")
        return union

    def any_ending(self, table: str, does: str) -> re.Pattern[str]:
        """The same up to the end of the stretch that is searched."""
        union = self._unions.get((table, f"{does}\\Z"))
        if union is None:
            whole = self.any_of(table, does).pattern
            union = self._unions[table, f"{does}\\Z"] = re.compile(rf"(?:{whole})\Z")
        return union

    @cached_property
    def _parts(self) -> dict[frozenset[str], Rulebook]:
        return {}

    @cached_property
    def _found(self) -> dict[tuple[str, str], tuple[Rule, ...]]:
        return {}

    @cached_property
    def _unions(self) -> dict[tuple[str, str], re.Pattern[str]]:
        return {}


@lru_cache(maxsize=16)
def rulebook(extra: str = "", file: str = "extra rules") -> Rulebook:
    """The packaged rules, with those of a TOML text merged in; `file` is how errors name that text.

    Raises InvalidInput, naming the file and the line or the rule, for TOML that cannot be read, an unknown
    table or field, a field of the wrong type, and a phrase or pattern that means nothing.
    """
    return _merged(_Source(file, extra) if extra.strip() else None)


def packaged(name: str) -> str:
    """The text of a packaged rule file, to copy from."""
    return files("lamina_language.understand").joinpath(f"data/{name}.toml").read_text(encoding="utf-8")


def _merged(extra: _Source | None) -> Rulebook:
    sources = [_Source(f"{name}.toml", packaged(name)) for name in _FILES]
    everything = [*sources, extra] if extra else sources
    parts = {name: text for source in everything for name, text in source.parts()}
    keys = tuple(dict.fromkeys(key for source in everything for key in source.fact_keys()))
    weights = {kind: weight for source in everything for kind, weight in source.weights()}
    rules: dict[tuple[str, str], _Entry] = {
        (entry.table, entry.name): entry for source in sources for entry in source.entries()
    }
    if extra:
        added = {(entry.table, entry.name): entry for entry in extra.entries()}
        rules = {key: entry for key, entry in added.items() if key not in rules} | rules | {
            key: entry for key, entry in added.items() if key in rules
        }
    words = _Words.of(rules.values(), parts, keys)
    made = tuple(entry.rule(words) for entry in rules.values())
    for rule, entry in zip(made, rules.values(), strict=True):
        if extra and entry.source is extra:
            entry.try_out(rule)
    return Rulebook(tuple(sorted(made, key=lambda rule: _place(rule, keys))), keys, weights)


def _place(rule: Rule, keys: tuple[str, ...]) -> int:
    """Facts in the order of their keys; events in the order of their kinds, those not listed last."""
    if rule.table == "fact":
        return keys.index(rule["key"])
    return _KINDS.index(rule["kind"]) if rule["kind"] in _KINDS else len(_KINDS)


@dataclass(frozen=True)
class _Words:
    """What rules share while they are made."""

    parts: Mapping[str, str]
    keys: tuple[str, ...]  #: of facts
    settings: frozenset[str]  #: keys that are no facts
    leads: Mapping[str, str]
    captures: Mapping[str, str]

    @classmethod
    def of(cls, entries: Iterable[_Entry], parts: Mapping[str, str], keys: tuple[str, ...]) -> _Words:
        entries = tuple(entries)
        settings = [entry for entry in entries if entry.table == "setting"]
        captures = {name: with_parts(body, "any", parts) for name, body in _CAPTURES.items()}
        captures["setting"] = "|".join(body for entry in settings if (body := entry.body(parts)))
        known = frozenset(entry.raw["key"] for entry in settings) | {"number", "manner", "response"}
        return cls(parts, keys, known, _leads(entries, parts), captures)

    def may_have(self, table: str, key: str) -> bool:
        return table == "setting" or key in self.keys or (table != "fact" and key in self.settings)


def _leads(entries: Iterable[_Entry], parts: Mapping[str, str]) -> dict[str, str]:
    """For each language, what may stand between the start of a sentence and a command."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        if entry.table == "cue" and entry.raw.get("does") == "lead":
            found.setdefault(entry.raw["language"], []).append(entry.body(parts))
    return {
        language: f"(?:(?:{'|'.join(bodies)})" + (",? " if language == "en" else "[ ,\\v]?") + "){0,3}"
        for language, bodies in found.items()
    }


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
            if name not in {*_TABLES, "keys", "parts", "importance"}:
                line = self._line_of(rf"\s*\[*{re.escape(name)}\b")
                raise self.wrong(f"`{name}` is no table of rules", line)
        return tables

    def parts(self) -> Iterator[tuple[str, str]]:
        yield from self._pairs("parts", str)

    def fact_keys(self) -> Iterator[str]:
        keys = self.tables.get("keys", [])
        if not isinstance(keys, list) or not all(isinstance(key, str) and key for key in keys):
            raise self.wrong("`keys` is not a list of names", self._line_of(r"\s*keys\b"))
        yield from keys

    def weights(self) -> Iterator[tuple[str, int]]:
        for kind, weight in self._pairs("importance", int):
            if kind not in set(Kind):
                raise self.wrong(f"`{kind}` is no kind of memory", self._line_of(rf"\s*{re.escape(kind)}\b"))
            yield kind, weight

    def _pairs(self, table: str, kind: type) -> Iterator[tuple[str, Any]]:
        pairs = self.tables.get(table, {})
        if not isinstance(pairs, dict) or not all(type(value) is kind for value in pairs.values()):
            line = self._line_of(rf"\s*\[?{table}\b")
            raise self.wrong(f"[{table}] holds something other than {kind.__name__} values", line)
        yield from pairs.items()

    def entries(self) -> Iterator[_Entry]:
        for table in _TABLES:
            rules = self.tables.get(table, [])
            if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
                raise self.wrong(
                    f"`{table}` is not written as [[{table}]]", self._line_of(rf"\s*\[?{table}\b")
                )
            names: set[str] = set()
            for number, rule in enumerate(rules):
                entry = _Entry(self, table, number, rule).checked()
                if entry.name in names:
                    raise entry.wrong("there is another rule of this name")
                names.add(entry.name)
                yield entry

    def wrong(self, what: str, line: int | None = None, rule: str = "") -> InvalidInput:
        place = f"{self.file}{f', line {line}' if line else ''}{f', rule `{rule}`' if rule else ''}"
        return InvalidInput(
            f"{place}: {what}.", code="rules_invalid", hint="docs/guides/rules.md says how rules are written."
        )

    def line_of_rule(self, table: str, number: int) -> int | None:
        return self._line_of(rf"\s*\[\[\s*{table}\s*\]\]", number)

    def _line_of(self, pattern: str, number: int = 0) -> int | None:
        lines = [at for at, line in enumerate(self.text.splitlines(), 1) if re.match(pattern, line)]
        return lines[number] if number < len(lines) else None


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

    def checked(self) -> _Entry:
        fields = {**_COMMON, **_TABLES[self.table]}
        for name, value in self.raw.items():
            if name not in fields:
                raise self.wrong(f"`{name}` is no field of [[{self.table}]]")
            if type(value) is not fields[name]:
                raise self.wrong(f"`{name}` is not {_CALLED[fields[name]]}")
        for name in ("name", "language", *_NEEDED.get(self.table, ())):
            if not self.raw.get(name):
                raise self.wrong(f"`{name}` is missing")
        if ("phrases" in self.raw) == ("pattern" in self.raw):
            raise self.wrong("either `phrases` or `pattern` has to be there, and not both")
        for name in ("phrases", "unless"):
            if not all(isinstance(phrase, str) and phrase.strip() for phrase in self.raw.get(name, ())):
                raise self.wrong(f"`{name}` holds something that is no phrase")
        self._check_choices()
        return self

    def _check_choices(self) -> None:
        choices: dict[str, Iterable[str]] = {
            "language": _LANGUAGES, "kind": [kind.value for kind in Kind], "position": _POSITIONS,
            "target": list(Target if self.table == "command" else Space), "does": _DOES.get(self.table, ()),
            "action": list(Action), "takes": _TAKES, "starts": _COMMAND_STARTS, "space": list(Space),
        }  # fmt: skip
        for name, allowed in choices.items():
            if name in self.raw and self.raw[name] not in allowed:
                raise self.wrong(f"`{name}` may be {', '.join(sorted(allowed))}, not `{self.raw[name]}`")

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
        if "key" in self.raw and not words.may_have(self.table, self.raw["key"]):
            raise self.wrong(f"`{self.raw['key']}` is not among the keys")
        body = self.body(words.parts)
        if body:
            body = f"(?:{body})" if "pattern" in self.raw else bounded(body, language)
            position = self.raw.get("position", "anywhere")
            if position in STARTS:
                body = f"{STARTS[position]}{words.leads.get(language, '')}{body}"
        try:
            body = with_captures(body, words.captures if self.table in ("command", "qualifier") else {})
            exceptions = [expression(phrase, language, words.parts) for phrase in self.raw.get("unless", ())]
            unless = "|".join(bounded(exception, language) for exception in exceptions)
        except ValueError as error:
            raise self.wrong(str(error)) from error
        return Rule(self.table, self.name, language, body, unless, self.raw)

    def try_out(self, rule: Rule) -> None:
        """Raises InvalidInput for a pattern that is no regular expression, or that holds for every text."""
        try:
            matches_nothing = rule.regex.search("")
        except re.error as error:
            raise self.wrong(f"`pattern` is no regular expression: {error}") from error
        if matches_nothing:
            raise self.wrong("it matches a text without a word in it")

    def wrong(self, what: str) -> InvalidInput:
        return self.source.wrong(what, self.source.line_of_rule(self.table, self.number), self.name)


_CALLED = {
    str: "text", list: "a list", bool: "true or false", int: "a whole number",
    float: "a number with a decimal point",
}  # fmt: skip
