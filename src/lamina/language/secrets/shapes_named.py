"""Secrets that somebody names: "the password for the router is …", "รหัสผ่านคือ …", "密码：…", `DB_PASSWORD=…`.

A name is found first; then the words that link it to a value ("is", ":", "คือ", "是"); then the value is
judged by how clear the link is. Each name looks no further than the second name after it, so that the whole
takes linear time. How names, links and values are written is data (`data/names.toml`, `data/shapes.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from lamina.language.secrets.shapes import Piece, Place, compiled, shape, source
from lamina.records import dataclass


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
        self[name] = compiled(_SOURCE["grammar"][name])
        return self[name]


_SOURCE = source("names")
_GRAMMAR = _Grammar()
_KINDS: dict[str, dict[str, str]] = _SOURCE["kinds"]
NAMES = [Name(**name) for name in _SOURCE["name"]]

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
