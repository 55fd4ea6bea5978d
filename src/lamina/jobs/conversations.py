"""Turns as conversations, and what was settled, promised, left open and learned in each.

Only the person's own words count, and an agent's proposal they agreed to. No part with a secret in it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Protocol, runtime_checkable
from zoneinfo import ZoneInfo

from lamina.encoders.port import Embedder
from lamina.imports.turn import ImportedTurn, Speaker
from lamina.language.message import Between, asks, sentences_in
from lamina.language.rulebook import Rulebook
from lamina.language.secrets.privacy import find_secrets
from lamina.language.signal import low_signal
from lamina.language.sorts import Reader
from lamina.language.statements import KEPT, Statement, agreed, statements
from lamina.records import dataclass
from lamina.similarity.subjects import terms_of
from lamina.text.decision_entries import plain_line
from lamina.write.store import Store

_CONTEXT = 160  #: characters of what was said before a decision
_LONGEST = 240  #: characters of a decision with what led to it
_PIECE = 0.3  #: what a piece of a Thai or Chinese word names
_NAMES_ENOUGH = 1.0  #: words; a decision without more of them says nothing by itself
_ENDS = " .。!！…"


@runtime_checkable
class Encoder(Embedder, Reader, Protocol):
    """What says both what a text is about and how it is said: the encoder in the package."""


def encoder_of(store: Store) -> Encoder | None:
    """The store's own encoder, where it is one that jobs understand talk with."""
    return store.embedder if isinstance(store.embedder, Encoder) else None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of one session, in order."""

    turns: tuple[ImportedTurn, ...]

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
    turns: tuple[ImportedTurn, ...]  #: the one it was made in; a proposal and the answer

    @property
    def at(self) -> datetime:
        return _time(self.turns[-1])

    @property
    def message_range(self) -> str:
        first, last = self.turns[0].message_range, self.turns[-1].message_range
        return plain_line(first if first == last else f"{first}..{last}")


def conversations(turns: Iterable[ImportedTurn]) -> list[Conversation]:
    """The conversations of some turns, by when each begins."""
    sessions: dict[tuple[str, str], list[ImportedTurn]] = {}
    for turn in turns:
        if turn.at is not None:
            sessions.setdefault((turn.source, turn.session_id), []).append(turn)
    found = [Conversation(tuple(each)) for each in sessions.values()]
    return sorted(found, key=lambda one: (_time(one.turns[0]), one.session_id))


def noted(
    conversation: Conversation, zone: ZoneInfo, book: Rulebook, reader: Reader | None = None
) -> list[Noted]:
    """What a conversation holds, in the order in which it became certain."""
    found: list[Noted] = []
    asked = ""  # what the person last asked or told, which a decision may be about
    for before, turn, between in messages(conversation):
        today = _time(turn).astimezone(zone).date()
        told = statements(turn.text, today, book=book, reader=reader, between=between)
        offer = agreed(between.before, turn.text, book=book) if between.before else None
        if offer is not None and all(_is_thin(one.text) for one in told):
            told = []  # "yes, take it" says nothing but that
        settled = any(one.said in KEPT and one.is_sure for one in told)
        for statement in told:
            said = _answered(statement, between.before) if statement is told[0] else statement
            one = Noted(_complete(said, asked), conversation, (turn,))
            if statement.is_sure and _details(one, found):
                found[-1] = _with_detail(found[-1], statement.text)
            else:
                found += safe(one)
        if offer is not None and before is not None and not told:
            found += safe(Noted(_complete(offer, asked), conversation, (before, turn)))
        asked = "" if settled else _context(turn.text) or asked
    return found


def messages(conversation: Conversation) -> Iterator[tuple[ImportedTurn | None, ImportedTurn, Between]]:
    """What the person says in a conversation, each with the turn before it and with where it stands."""
    before = None
    for turn, after in zip_longest(conversation.turns, conversation.turns[1:]):
        if turn.role is Speaker.USER:
            yield before, turn, Between(_agents(before), _agents(after))
        before = turn


def _agents(turn: ImportedTurn | None) -> str:
    return turn.text if turn is not None and turn.role is Speaker.ASSISTANT else ""


def _details(new: Noted, found: list[Noted]) -> bool:
    """Whether it only says more of what was settled right before in the same message."""
    said = new.statement
    if not found or said.said not in KEPT or said.overrules or not _is_thin(said.text):
        return False
    last = found[-1]
    return last.statement.said in KEPT and last.turns[-1] is new.turns[0]


def _answered(said: Statement, before: str) -> Statement:
    """What is settled as the answer to an agent's question, with the question."""
    if said.said not in KEPT or not asks(before):
        return said
    question = plain_line(sentences_in(before)[-1])
    if not _is_thin(said.text) or len(question) + len(said.text) > _LONGEST:
        return replace(said, context=f"{said.context} {question}".strip())
    return replace(said, text=f"{question} {said.text}")


def _with_detail(last: Noted, text: str) -> Noted:
    said = last.statement
    return next(safe(replace(last, statement=replace(said, impact=f"{said.impact} {text}".strip()))), last)


def _is_thin(text: str) -> bool:
    """Whether it hardly names anything, and makes no sense without what was said before it."""
    words = [word for word in terms_of(text) if not word[0].isdigit()]
    return sum(1.0 if word.isascii() else _PIECE for word in words) <= _NAMES_ENOUGH


def _complete(said: Statement, asked: str) -> Statement:
    """A statement with what it is about: a decision that names nothing itself is told with what led to it."""
    if said.said not in KEPT:
        return said
    is_about = said.overrules or terms_of(asked) & terms_of(said.text)
    context = said.context or (asked if is_about else "")
    before = said.why or context or asked
    if not _is_thin(said.text) or not before or len(before) + len(said.text) > _LONGEST:
        return replace(said, context=context)
    return replace(said, context=context or before, text=f"{before.rstrip(_ENDS)}: {said.text}")


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


def _time(turn: ImportedTurn) -> datetime:
    if turn.at is None:
        raise ValueError("a turn without a time is in no conversation")
    return turn.at
