"""Whether a piece of text has the shape of a secret, or of something that only stands in its place.

Shapes and the tests they are made of are data (`data/shapes.toml`), which says how they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import islice
from typing import Any, NamedTuple

from lamina.late import read_rules, regex
from lamina.records import dataclass

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
    rules = read_rules("lamina.language.secrets", f"{name}.toml")
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
    return regex(pattern, re.ASCII)


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
_WORD = regex(r"[^\W_][\w'-]{0,19}")
_ADJECTIVE = regex(_SOURCE["parts"]["adjective"])
_SEED_GAP = regex(r"(?:[\s,、]|\d{1,2}[.)]?)+")
_SEED_WORD = regex(r"[a-z]{3,8}|[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Name:
    """What people call a secret, and how the value that follows is judged."""

    rule: str
    kind: str
    keywords: Sequence[str]
    pattern: str
    before: str = ""
    never: str = ""


def find_named(view: str, lowered: str) -> Iterator[Place]:
    """Each named secret; `lowered` is the view in lower case, of the same length."""
    for name in NAMES:
        hits = [
            hit
            for hit in matches_at(compiled(name.pattern), lowered, lowered, name.keywords)
            if _stands_alone(view, lowered, hit, name)
        ]
        yield from _of_name(view, lowered, name, hits)


def matches_at(
    pattern: re.Pattern[str], view: str, lowered: str, keywords: Iterable[str]
) -> Iterator[re.Match[str]]:
    """The matches of a pattern that begins with one of the keywords; much cheaper than to try every place."""
    places: set[int] = set()
    for keyword in keywords:
        at = lowered.find(keyword)
        while at >= 0:
            places.add(at)
            at = lowered.find(keyword, at + 1)
    done = 0
    for at in sorted(places):
        if at >= done and (hit := pattern.match(view, at)) is not None:
            yield hit
            done = hit.end()


def trimmed(value: str) -> str:
    """Without the punctuation that belongs to the sentence; a bracket that was opened inside stays."""
    short = value.rstrip(".,;:)]}*")
    return value[: len(short) + 1] if value[len(short) :].startswith(")") and "(" in short else short


def _stands_alone(view: str, lowered: str, hit: re.Match[str], name: Name) -> bool:
    """Not a part of a longer word, unless that is one like `dbPassword` or `accesstoken`."""
    at = hit.start()
    since = max(0, at - _LOOK_BACK)
    if name.never and compiled(name.never).search(lowered, since, hit.end()):
        return False
    if name.before:
        return compiled(name.before).search(lowered, since, at) is not None
    if view[at].isupper() and view[at - 1 : at].islower():
        return True
    return _GRAMMAR["alone" if view[at].isascii() else "loosely"].search(lowered, since, at) is not None


def _of_name(view: str, lowered: str, name: Name, hits: Sequence[re.Match[str]]) -> Iterator[Place]:
    done = 0
    for number, hit in enumerate(hits):
        if hit.start() < done:
            continue  # the word is a part of the value before it
        limit = min(hits[number + 2].start() if number + 2 < len(hits) else len(view), hit.end() + _WINDOW)
        value = _after(view, lowered, name, hit.end(), limit)
        if value is None:
            since = max(done, hits[number - 1].end() if number else 0, hit.start() - _WINDOW)
            if (value := _first(view, since, hit, name)) is not None:
                yield name.rule, value.start, value.end
            continue
        while value is not None:
            done = value.end
            yield name.rule, value.start, value.end
            value = _again(view, name, done, limit)


def _after(view: str, lowered: str, name: Name, at: int, limit: int) -> Piece | None:
    """The value after a name, if there is one that its kind accepts."""
    if _GRAMMAR["something_else"].match(lowered, at):
        return None
    if (suffix := _GRAMMAR["suffix"].match(lowered, at)) is not None:
        if suffix[1] and name.kind == "weak":
            return None
        at = suffix.end()
    accepts = shape(f"named_{name.kind}")
    values = _candidates(view, lowered, name, at, limit)
    return next((value for value in values if value.end > value.start and accepts(value)), None)


def _again(view: str, name: Name, at: int, limit: int) -> Piece | None:
    """A further value: "hunter2 or hunter3", "… but I changed it to hunter3"."""
    wanted = _KINDS["again"].get(name.kind)
    if wanted is None or (link := _GRAMMAR["again"].match(view, at, limit)) is None:
        return None
    value = _value(view, link.end(), "beside", "", name)
    return value if value.end > value.start and shape(wanted)(value) else None


def _first(view: str, since: int, hit: re.Match[str], name: Name) -> Piece | None:
    """The value before a name: "X is my password", "X 是我的密码", "ใช้ X เป็นรหัสผ่าน"."""
    wanted = _KINDS["first"].get(name.kind)
    if wanted is None or (said := _GRAMMAR["value_first"].search(view, since, hit.start())) is None:
        return None
    start = said.start("value")
    value = Piece(view, start, start + len(trimmed(said["value"])))
    taken = value.end > start and not _GRAMMAR["not_this"].match(view, hit.end()) and shape(wanted)(value)
    return value if taken else None


def _candidates(view: str, lowered: str, name: Name, at: int, limit: int) -> Iterator[Piece]:
    if (beside := _GRAMMAR["aside"].match(lowered, at)) is not None:
        at = beside.end()
    if _GRAMMAR["next_noun"].match(lowered, at):
        return
    direct = _GRAMMAR["direct"].match(lowered, at)
    if direct is not None:
        yield _value(view, direct.end(), "direct", direct[0].strip(), name)
    own = not lowered[at - 1].isascii()
    links = _GRAMMAR["link"].finditer(lowered, direct.end() if direct else at, limit)
    for link in islice(links, _MOST_LINKS):
        gap = lowered[at : link.start()]
        if _GRAMMAR["sentence_end"].search(gap):
            break
        by = link[0].strip()
        detail = _GRAMMAR["own_detail" if own or not gap.isascii() else "detail"]
        loose = by[:1] in (",", "?") or not detail.fullmatch(gap)
        yield _value(view, link.end(), "loose" if loose else "detail" if gap.strip() else "direct", by, name)
    if (thai := _GRAMMAR["thai_gap"].match(lowered, at)) is not None:
        yield _value(view, thai.end(), "beside", thai[0].strip(), name)
    blank = _GRAMMAR["no_blank" if own else "blank"].match(lowered, at)
    if direct is None and blank is not None:
        yield _value(view, blank.end(), "beside", lowered[max(0, at - _LOOK_BACK) : at], name)


def _value(view: str, at: int, link: str, by: str, name: Name) -> Piece:
    """What stands at this place, quotes and the punctuation of the sentence left out; may be empty."""
    if name.kind == "pair":
        if (user := _GRAMMAR["user_name"].match(view, at)) is None:
            return Piece(view, at, at)
        at = user.end()
        by = user[1].strip() or " "
    lead = _GRAMMAR["lead"].match(view, at)
    start = lead.end() if lead else at
    if start > at and (marks := _CLOSING.get(view[start - 1])) is not None:
        ends = [end for mark in marks if (end := view.find(mark, start, start + _LONGEST)) > start]
        if ends and "\n" not in view[start : min(ends)]:
            return Piece(view, start, min(ends), link, by, True)
    return Piece(view, start, _end_of(view, start, name.kind), link, by)


def _end_of(view: str, start: int, kind: str) -> int:
    """Where an unquoted value ends."""
    for form in _FORMS.get(kind, ()):
        if (found := _GRAMMAR[form].match(view, start)) is not None:
            return found.end()
    if kind == "pin":
        return start
    if (run := _GRAMMAR["ascii_run"].match(view, start)) is not None:
        cut = _GRAMMAR["next_field"].search(view, start + 1, run.end())
        return start + len(trimmed(view[start : cut.start() if cut else run.end()]))
    own = _GRAMMAR["own_run"].match(view, start)
    return start + len(_GRAMMAR["particle"].sub("", own[0])) if own else start


class _Grammar(dict[str, re.Pattern[str]]):
    """Patterns by name, compiled when first needed."""

    def __missing__(self, name: str) -> re.Pattern[str]:
        self[name] = compiled(_NAMED_SOURCE["grammar"][name])
        return self[name]


_NAMED_SOURCE = source("names")
_GRAMMAR = _Grammar()
_KINDS: dict[str, dict[str, str]] = _NAMED_SOURCE["kinds"]
NAMES = [Name(**name) for name in _NAMED_SOURCE["name"]]

#: How far a value may be from its name, and a word that matters from a name; the longest value in quotes.
_WINDOW, _LOOK_BACK, _LONGEST = 110, 40, 160
_MOST_LINKS = 4
_PHRASES = ("seed_value", "phrase_value")
_FORMS = {"phrase": _PHRASES, "seed": _PHRASES, "pin": ("pin_value",)}
_CLOSING = {
    '"': '"”',
    "'": "'’",
    "`": "`",
    "“": '”"',
    "‘": "’'",
    "「": "」",
    "『": "』",
    "《": "》",
    "【": "】",
}
