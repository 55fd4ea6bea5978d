"""An answer asked again, at the moment it was given: whether the same words come back in the same order."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from lamina.errors import InvalidInput
from lamina.read.answered import AnswerReceipt, digest_of, receipt, said_in
from lamina.read.context import context
from lamina.read.query import query
from lamina.read.recall import recall
from lamina.write.details import named_time
from lamina.write.store import Caller

_TIMES = ("since", "until", "as_of")


def replay(caller: Caller, answer_id: str) -> AnswerReceipt:
    """A receipt with what asking again came to: `the same`, or `otherwise` where the store has changed since.

    InvalidInput where the question was not kept because it held a secret.
    """
    told = receipt(caller, answer_id)
    if told.question == "(redacted)":
        raise InvalidInput("The question held a secret and was not kept.", code="question_not_kept")
    asked: dict[str, Any] = {
        name: named_time(value, name) if name in _TIMES and isinstance(value, str) else value
        for name, value in told.asked.items()
    }
    same = digest_of(_words(_then(caller, told.at), told, asked)) == told.digest
    return replace(told, replay="the same" if same else "otherwise")


def _then(caller: Caller, at: datetime) -> Caller:
    """The caller as of a moment: what is stored now, with the clock of then."""
    store = caller.store.at(at)
    scope = caller.scope
    return Caller(store, scope)


def _words(caller: Caller, told: AnswerReceipt, asked: dict[str, Any]) -> str:
    match told.op:
        case "recall":
            hits = recall(caller, told.question, asked).hits  # type: ignore[arg-type]
            return said_in((hit.id, hit.text) for hit in hits)
        case "query":
            return said_in((one.id, one.text) for one in query(caller, told.question, **asked).bullets)
        case _:
            return context(caller, told.question, asked["budget_tokens"], asked["form"]).text
