"""Whether a piece of text has the shape of a secret, or of something that only stands in its place.

Shapes and the tests they are made of are data (`data/shapes.toml`), which says how they are written.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, reduce
from importlib.resources import files
from typing import Any, NamedTuple

from lamina.late import regex

#: The name of a rule, and start and end of what it found.
Place = tuple[str, int, int]


class Piece(NamedTuple):
    """A candidate at `view[start:end]`, and how it is tied to the name before it, if it has one."""

    view: str
    start: int
    end: int
    link: str = ""  #: direct, detail, beside or loose
    by: str = ""  #: the words of the link
    in_quotes: bool = False

    @property
    def text(self) -> str:
        return self.view[self.start : self.end]


Test = Callable[[Piece], object]


@cache
def source(name: str) -> dict[str, Any]:
    """One of the packaged files of rules, each `@part@` in it written out."""
    text = files("lamina.language.secrets").joinpath(f"data/{name}.toml").read_text(encoding="utf-8")
    rules: dict[str, Any] = tomllib.loads(text)
    return {name: _written_out(rule, rules["parts"]) for name, rule in rules.items()}


def _written_out(rule: Any, parts: Mapping[str, str]) -> Any:
    if isinstance(rule, dict):
        return {name: _written_out(one, parts) for name, one in rule.items()}
    if isinstance(rule, list):
        return [_written_out(one, parts) for one in rule]
    if isinstance(rule, str) and "@" in rule:
        for name, part in parts.items():
            rule = rule.replace(f"@{name}@", part)
    return rule


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: most texts need none of the rules."""
    return re.compile(pattern, re.ASCII)


@cache
def shape(name: str) -> Test:
    """The test of this name; raises KeyError where there is none."""
    if name.startswith("!"):
        refused = shape(name[1:])
        return lambda piece: not refused(piece)
    if name.endswith("+"):
        shortest = int(name[:-1])
        return lambda piece: piece.end - piece.start >= shortest
    if name in _LINKS:
        return lambda piece: piece.link == name
    if name in _SOURCE["shape"]:
        return _rows(_SOURCE["shape"][name])
    return _COUNTED[name] if name in _COUNTED else _pattern(**_SOURCE["test"][name])


def _rows(lines: list[str]) -> Test:
    """The test that a list of lines makes; one with a colon has the last word where its first half holds."""
    halves = [line.rpartition(":") for line in lines]
    rows = [(_every(guard), bool(colon), _every(then)) for guard, colon, then in halves]

    def holds(piece: Piece) -> bool:
        for guard, decides, then in rows:
            if guard(piece):
                if then(piece):
                    return True
                if decides:
                    return False
        return False

    return holds


def _every(names: str) -> Test:
    tests = [shape(name) for name in names.split()]
    return reduce(_both, tests) if tests else lambda _: True


def _both(one: Test, other: Test) -> Test:
    return lambda piece: one(piece) and other(piece)


def _pattern(**test: str | list[str]) -> Test:
    ((where, written),) = test.items()
    pattern = compiled(written if isinstance(written, str) else "|".join(written))
    tests: dict[str, Test] = {
        "is": lambda piece: pattern.fullmatch(piece.view, piece.start, piece.end),
        "has": lambda piece: pattern.search(piece.view, piece.start, piece.end),
        "after": lambda piece: pattern.match(piece.view, piece.end),
        "before": lambda piece: pattern.search(piece.view, max(0, piece.start - _REACH), piece.start),
        "upto": lambda piece: pattern.search(piece.view, max(0, piece.start - _REACH), piece.end),
        "by": lambda piece: pattern.fullmatch(piece.by),
        "saying": lambda piece: pattern.search(piece.by),
    }
    return tests[where]


def _uncommon_word(piece: Piece) -> bool:
    """Letters that are no word of a sentence about passwords, or a chain of words."""
    words = piece.text.rstrip("!?").casefold().split("-")
    if not all(map(str.isalpha, words)):
        return False
    if len(words) > 1:
        return len(words) >= _CHAINED and _WORDS["function_words"].isdisjoint(words)
    return len(words[0]) >= _WORD_PASSWORD and not _is_plain(words[0])


def _passphrase(piece: Piece) -> bool:
    """Some words in a row that hold no sentence and are no label of a form."""
    text = piece.text.strip()
    words = _words(text)
    return (
        2 <= len(words) <= _MOST_WORDS
        and all(map(_WORD.fullmatch, words))
        and _WORDS["function_words"].isdisjoint(words)
        and _WORDS["label_words"].isdisjoint(words)
        and not shape("says_something")(piece)
        and sum(map(_is_plain, words)) * 2 < len(words)
        and (len(words) > 2 or text.islower() or bool(shape("digit")(piece)))
    )


def _seed(piece: Piece) -> bool:
    """Twelve or more short words in a row, none of them a word that only sentences have."""
    words = [word for word in _SEED_GAP.split(piece.text.casefold()) if word]
    return (
        len(words) in _SEED_LENGTHS
        and all(map(_SEED_WORD.fullmatch, words))
        and _WORDS["never_in_a_seed"].isdisjoint(words)
    )


def _words(text: str) -> list[str]:
    return re.split("[ ,]+", text.casefold())


def _is_plain(word: str) -> bool:
    return word in _WORDS["ordinary"] or _ADJECTIVE.fullmatch(word) is not None


_REACH = 120  #: how far back a word may stand that says what a value is
_FEW_SIGNS, _WORD_PASSWORD, _CHAINED, _MOST_WORDS = 4, 5, 4, 8
_SOURCE = source("shapes")
_WORDS = {name: frozenset(words.split()) for name, words in _SOURCE["words"].items()}
_LINKS = ("direct", "detail", "beside", "loose")
_COUNTED: dict[str, Test] = {
    "in_quotes": lambda piece: piece.in_quotes,
    "varied": lambda piece: len(set(piece.text[-20:])) > _FEW_SIGNS,
    "uncommon_word": _uncommon_word,
    "passphrase": _passphrase,
    "plain_word": lambda piece: any(map(_is_plain, _words(piece.text))),
    "seed": _seed,
}
_SEED_LENGTHS = range(11, 26)
_WORD = regex(r"[^\W_][\w'-]{1,19}")
_ADJECTIVE = regex(_SOURCE["parts"]["adjective"])
_SEED_GAP = regex(r"(?:[\s,、]|\d{1,2}[.)]?)+")
_SEED_WORD = regex(r"[a-z]{3,8}|[\u4e00-\u9fff]")
