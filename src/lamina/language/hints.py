"""Requests to keep something beyond the session it was said in."""

from __future__ import annotations

from lamina.language.clauses import listen
from lamina.language.rulebook import Rulebook, rulebook
from lamina.model.scope import Space
from lamina.records import dataclass


@dataclass(frozen=True, slots=True)
class Hint:
    """Where somebody asked a memory to be kept, and the stable code of how they asked."""

    target: Space
    reason: str


def promotion_hint(text: str, *, book: Rulebook | None = None) -> Hint | None:
    """The first request in a text to remember something for the user, the project or everybody, if any.

    Only a command counts: nothing inside a quotation, a question or a report, and nothing that is denied.
    """
    speech = listen(text, book or rulebook())
    found = [
        (match.start(), order, rule)
        for order, rule in enumerate(speech.book.of("hint"))
        if (match := speech.asserts(rule)) is not None
    ]
    if not found:
        return None
    _, _, first = min(found, key=lambda each: each[:2])
    return Hint(Space(first["target"]), first["reason"])
