"""What stands around the words of a command: how long, how far, from when, and mere politeness."""

from __future__ import annotations

import re

from lamina.language.hearing import Hearing, Opening
from lamina.language.rulebook import Rule, Rulebook
from lamina.language.view import PAUSE
from lamina.model.scope import Space
from lamina.records import dataclass

#: How many such words may follow one another, and how long each may be.
_MOST = 8
_LONGEST = 60
_BEFORE = re.compile(rf"[ ,:{PAUSE}\n]*")
_AFTER = " \t.,!~…、:;-–—" + PAUSE
_CLOSERS = {")": "(", "）": "（", "]": "["}

Qualifier = tuple[Rule, re.Match[str]]


@dataclass(frozen=True, slots=True)
class Stretch:
    """The words a command is about, in the view, with what was said around them."""

    book: Rulebook
    at: int
    end: int
    whole: int  #: where the command ends with what follows its words
    introduces: bool  #: a colon ends it
    cues: frozenset[str]
    qualifiers: tuple[Qualifier, ...]

    def edges(self) -> tuple[int, int]:
        return self.at, self.end

    def reach(self) -> tuple[str | None, Space | None]:
        """For how long and how far; the first qualifier that says so counts."""
        lifetimes = [ttl for rule, match in self.qualifiers if (ttl := _lifetime(rule, match, self.book))]
        spaces = [Space(rule["space"]) for rule, _ in self.qualifiers if rule["space"]]
        return next(iter(lifetimes), None), next(iter(spaces), None)


def stretch(hearing: Hearing, at: int, end: int, opening: Opening, *, text: bool = True) -> Stretch:
    """The words between two places, without what only surrounds them.

    At the end of a text, "two days" and "always" belong to it; at the end of a value, they say how long.
    """
    cues, qualifiers = set(opening.cues), list(opening.qualifiers)
    whole = end
    introduces = hearing.said[max(0, at - 2) : end].rstrip().endswith(":")
    at = _without_front(hearing, at, end, qualifiers)
    for _ in range(_MOST):
        end = _without_signs(hearing.said, at, end)
        shorter = _without_filler(hearing, at, end, cues, text)
        if shorter == end:
            shorter = _without_qualifier(hearing, at, end, qualifiers, text)
        if shorter == end:
            break
        end = shorter
    return Stretch(hearing.book, at, max(at, end), whole, introduces, frozenset(cues), tuple(qualifiers))


def _without_front(hearing: Hearing, at: int, end: int, qualifiers: list[Qualifier]) -> int:
    for _ in range(_MOST):
        blanks = _BEFORE.match(hearing.said, at, end)
        at = blanks.end() if blanks else at
        if (that := hearing.cue("that").match(hearing.said, at, end)) and that.end() > at:
            at = that.end()
            continue
        if not hearing.book.any_of("qualifier").match(hearing.said, at, end):
            break
        found = next(
            (
                (rule, match)
                for rule in hearing.book.of("qualifier")
                if (match := rule.regex.match(hearing.said, at, end))
            ),
            None,
        )
        if found is None:
            break
        qualifiers.append(found)
        at = found[1].end()
    return at


def _without_signs(said: str, at: int, end: int) -> int:
    while end > at:
        last = said[end - 1]
        if last in _AFTER or (last in _CLOSERS and _CLOSERS[last] not in said[at:end]):
            end -= 1
        else:
            break
    return end


def _without_filler(hearing: Hearing, at: int, end: int, cues: set[str], text: bool) -> int:
    for does in ("requests_after", "after") if text else ("requests_after", "after", "lasts", "after_value"):
        found = hearing.book.any_ending("cue", does).search(hearing.said, max(at, end - _LONGEST), end)
        if found and found.start() < end:
            cues.add(does)
            return found.start()
    return end


def _without_qualifier(hearing: Hearing, at: int, end: int, qualifiers: list[Qualifier], text: bool) -> int:
    low = max(at, end - _LONGEST)
    if not hearing.book.any_ending("qualifier", "").search(hearing.said, low, end):
        return end
    for rule in hearing.book.of("qualifier"):
        if text and rule["front"]:
            continue
        found = rule.ending.search(hearing.said, low, end)
        if found and not _is_exception(rule, found, hearing.said, at):
            qualifiers.append((rule, found))
            return found.start()
    return end


def _is_exception(rule: Rule, found: re.Match[str], said: str, at: int) -> bool:
    if rule.exceptions is None:
        return False
    near = rule.exceptions.finditer(said, max(at, found.start() - _LONGEST), found.end())
    return any(other.end() >= found.start() for other in near)


def _lifetime(rule: Rule, match: re.Match[str], book: Rulebook) -> str | None:
    """What `parse_ttl` reads."""
    ttl: str | None = rule["ttl"]
    if ttl is None:
        return None
    said = {name.rpartition("_")[0]: text for name, text in match.groupdict().items() if text is not None}
    count = _number(said["number"], book) if "number" in said else 1  # "for the next hour" is one
    return ttl.format(**{**said, "number": count * int(rule["times"] or 1)})


def _number(said: str, book: Rulebook) -> int:
    if said.isascii() and said.isdigit():
        return int(said)
    for rule in book.of("value", "means"):
        if rule["key"] == "number" and rule.regex.fullmatch(said):
            return int(rule["means"])
    return 1
