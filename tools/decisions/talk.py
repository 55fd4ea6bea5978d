"""The sentences of written fortnights, each with the row of the key that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lamina.jobs.conversations import conversations, messages
from lamina.language.message import Message
from lamina.language.rulebook import rulebook
from lamina.language.sorts import Reader
from tools.decisions.fortnight import Fortnight, squashed
from tools.decisions.rows import Row, language_of

SETTLES, TASK, NOTHING = range(3)
#: How much of a row of the key is in a sentence that it is about, and which sort goes before another.
_SHARED, _BEFORE = 0.5, (0.3, 0.2, 0.0)
#: What the reason that a row of the key gives says of its kind; the first that is in it counts.
_REASONS = {
    "private": "private",
    "question": "asks",
    "idea": "proposes",
    "open": "proposes",
    "wish": "proposes",
    "unsure": "proposes",
    "other": "reports_others",
}
_WRITER = re.compile(r"[a-z]{2}-w[0-9]+")


class Spoken(NamedTuple):
    """A unit of a message of a fortnight, what it does, and the row of the key that says so."""

    message: Message
    at: int
    text: str
    sort: int
    row: dict[str, Any] | None


def spoken(one: Fortnight, reader: Reader | None) -> Iterator[Spoken]:
    """Every sentence that a person says in a fortnight; questions are left out."""
    for talk in conversations(one.turns):
        for _, turn, between in messages(talk):
            assert turn.at is not None
            key = list(_key(one, turn.session_id, str(turn.at.date())))
            message = Message(turn.text, rulebook(), reader, between)
            for at, unit in enumerate(message.units):
                if message.reading(unit) is not None:
                    text = message.words(unit.start, unit.end)
                    yield Spoken(message, at, text, *_meant(squashed(turn.text), squashed(text), key))


def writer_of(name: str) -> str:
    """The hand that wrote a fortnight; empty for our first ones."""
    found = _WRITER.match(name)
    return found[0] if found else ""


def rows(some: Iterable[Fortnight]) -> list[Row]:
    """What the head learns from fortnights by hands that have written no sentences for it."""
    return [
        Row(_kind(said), said.text, language_of(said.text), f"talk {one.name}")
        for one in some
        if writer_of(one.name)
        for said in spoken(one, None)
    ]


def _key(one: Fortnight, session: str, day: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for sort, found in ((SETTLES, one.decisions), (TASK, one.actions), (NOTHING, one.none)):
        for row in found:
            if (row["session"], row["date"]) == (session, day):
                yield sort, row


def _meant(
    whole: str, unit: str, key: Iterable[tuple[int, dict[str, Any]]]
) -> tuple[int, dict[str, Any] | None]:
    """What a unit does: as the row of the key does that it shares most with."""
    at, best = whole.find(unit), 0.0
    found: tuple[int, dict[str, Any] | None] = NOTHING, None
    for sort, row in key:
        said = squashed(row["said"])
        start = whole.find(said)
        if start >= 0 and unit and said:
            both = min(start + len(said), at + len(unit)) - max(start, at)
            share = both / min(len(said), len(unit))
            if share > _SHARED and share + _BEFORE[sort] > best:
                best, found = share + _BEFORE[sort], (sort, row)
    return found


def _kind(said: Spoken) -> str:
    if said.row is None or said.sort == TASK:
        return "task" if said.sort == TASK else "none"
    if said.sort == SETTLES:
        return "changes" if said.row["supersedes"] else "decides"
    return next((kind for word, kind in _REASONS.items() if word in said.row["why"].lower()), "none")
