"""What a language model thinks was settled, believed where it quotes the person's own assertion."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from lamina.errors import Unavailable
from lamina.imports.turn import ImportedTurn, Speaker
from lamina.jobs.conversations import Conversation, Noted, safe
from lamina.jobs.job import Task
from lamina.jobs.writer import Asking
from lamina.language.secrets.privacy import find_secrets
from lamina.language.statements import Said, Statement, asserts

_PROMPT = "micro-sync-1"
_QUOTE: dict[str, Any] = {
    "type": "object",
    "required": ["number", "quote"],
    "properties": {"number": {"type": "integer"}, "quote": {"type": "string", "maxLength": 600}},
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["settled"],
    "properties": {"settled": {"type": "array", "maxItems": 40, "items": _QUOTE}},
}
_CONFIDENCE = 0.7  #: less than any rule's: of two versions the rule's counts
_MOST_CHARS = 24_000
_SHORTEST = 8


def proposed(task: Task, talk: Conversation) -> list[Noted]:
    """What the model finds in a conversation that was said since the last run.

    A quote that is not in the turn to the letter, not the person's own words, or doubted counts for nothing.
    A model that fails costs nothing but its finds: the run says so and goes on.
    """
    if task.writer is None or not any(_counts(task, turn) for turn in talk.turns):
        return []
    shown = _shown(talk.turns)
    material = json.dumps([{"number": n, "by": t.role, "text": t.text} for n, t in shown], ensure_ascii=False)
    try:
        written = task.writer.write(Asking(prompt=_PROMPT, material=material, schema=_SCHEMA))
    except Unavailable as error:
        task.notes.append(f"The language model found nothing ({error.code}).")
        return []
    turns = dict(shown)
    found: list[Noted] = []
    for each in written.value["settled"]:
        turn, quote = turns.get(each["number"]), str(each["quote"]).strip()
        if turn is None or not _counts(task, turn) or len(quote) < _SHORTEST:
            continue
        if asserts(turn.text, quote, book=task.store.ruleset.rules):
            told = Statement(said=Said.DECISION, text=quote, rule=_PROMPT, confidence=_CONFIDENCE)
            found += safe(Noted(told, talk, (turn,)))
    return found


def _counts(task: Task, turn: ImportedTurn) -> bool:
    return turn.role is Speaker.USER and turn.at is not None and turn.at >= task.since


def _shown(turns: Iterable[ImportedTurn]) -> list[tuple[int, ImportedTurn]]:
    """The last turns that fit, numbered, without those that hold a secret."""
    numbered, room = [], _MOST_CHARS
    for number, turn in reversed(list(enumerate(turns))):
        room -= len(turn.text)
        if room < 0:
            break
        if not find_secrets(turn.text):
            numbered.append((number, turn))
    return numbered[::-1]
