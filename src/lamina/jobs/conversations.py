"""Turns as conversations, and what was settled, promised, left open and learned in each.

Only the person's own words count, and an agent's proposal they agreed to. No part with a secret in it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from lamina.imports.turn import Speaker, Turn
from lamina.language.rulebook import Rulebook
from lamina.language.secrets.privacy import find_secrets
from lamina.language.signal import low_signal
from lamina.language.statements import KEPT, Statement, assents, proposal, statements
from lamina.records import dataclass
from lamina.similarity.subjects import terms_of
from lamina.text.decision_entries import plain_line

_CONTEXT = 160  #: characters of what was said before a decision


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of one session, in order."""

    turns: tuple[Turn, ...]

    @property
    def session_id(self) -> str:
        return plain_line(self.turns[0].session_id) or "main"

    @property
    def path(self) -> str:
        """Where it can be read: its transcript, or the session of this store."""
        return plain_line(self.turns[0].path) or f"session:{self.session_id}"


@dataclass(frozen=True, slots=True)
class Noted:
    """A statement, and where it was made."""

    statement: Statement
    conversation: Conversation
    turns: tuple[Turn, ...]  #: the one it was made in; a proposal and the answer

    @property
    def at(self) -> datetime:
        return _time(self.turns[-1])

    @property
    def message_range(self) -> str:
        first, last = self.turns[0].message_range, self.turns[-1].message_range
        return plain_line(first if first == last else f"{first}..{last}")


def conversations(turns: Iterable[Turn]) -> list[Conversation]:
    """The conversations of some turns, by when each begins."""
    sessions: dict[tuple[str, str], list[Turn]] = {}
    for turn in turns:
        if turn.at is not None:
            sessions.setdefault((turn.source, turn.session_id), []).append(turn)
    found = [Conversation(tuple(each)) for each in sessions.values()]
    return sorted(found, key=lambda one: (_time(one.turns[0]), one.session_id))


def noted(conversation: Conversation, zone: ZoneInfo, book: Rulebook) -> Iterator[Noted]:
    """What a conversation holds, in the order in which it became certain."""
    before: Turn | None = None
    asked = ""  # what the person last asked or told, which a decision may be about
    for turn in conversation.turns:
        if turn.role is Speaker.USER:
            today = _time(turn).astimezone(zone).date()
            told = statements(turn.text, today, book=book)
            for statement in told:
                is_about = statement.said in KEPT and terms_of(asked) & terms_of(statement.text)
                context = statement.context or (asked if is_about else "")
                yield from safe(Noted(replace(statement, context=context), conversation, (turn,)))
            asked = "" if any(one.said in KEPT for one in told) else _context(turn.text)
            agreed = before is not None and before.role is Speaker.ASSISTANT and assents(turn.text, book=book)
            if agreed and before is not None and (offer := proposal(before.text, book=book)) is not None:
                yield from safe(Noted(offer, conversation, (before, turn)))
        before = turn


def _context(text: str) -> str:
    """A message as the context of what is settled after it; empty for one that tells nothing."""
    said = plain_line(text)
    return said if len(said) <= _CONTEXT and not low_signal(said) and not find_secrets(said) else ""


def safe(found: Noted) -> Iterator[Noted]:
    """The same without any part that a secret belongs to; nothing when that is the statement itself."""
    secrets = [one.text[hit.start : hit.end] for one in found.turns for hit in find_secrets(one.text)]

    def clean(text: str) -> str:
        bare = find_secrets(text) or any(secret in text or text in secret for secret in secrets)
        return "" if not text or bare else plain_line(text)

    told = found.statement
    if text := clean(told.text):
        why, context, impact = clean(told.why), clean(told.context), clean(told.impact)
        safe = replace(told, text=text, why=why, context=context, impact=impact)
        yield replace(found, statement=safe)


def _time(turn: Turn) -> datetime:
    if turn.at is None:
        raise ValueError("a turn without a time is in no conversation")
    return turn.at
