"""What is done the same way again and again becomes a procedure, once its person says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

from lamina.language.doing import steps_of
from lamina.layers.procedures import Procedures
from lamina.model import Heard, Outcome, quoted
from lamina.read.shelves import said_before
from lamina.retrieval.alike import compared
from lamina.similarity.compare import same_task
from lamina.storage.database import Transaction
from lamina.storage.small_tables import Marks
from lamina.text.accounts import Origin
from lamina.write.store import Caller

_JOB = "repeated"
#: So often a task has to be done with the same steps, and within how long.
TIMES, _WITHIN = 3, timedelta(days=90)


def with_repetition(caller: Caller, text: str, tools: Sequence[Mapping[str, Any]], heard: Heard) -> Heard:
    """Note how a task was done; where it was done so before, put the procedure before the person.

    Only ids of the turns are noted, none of their words: what was forgotten meanwhile does not count.
    """
    turn = next((one for one in heard.receipts if one.ids and one.decision is Outcome.ADMITTED), None)
    if turn is None or not (steps := steps_of(tools)):
        return heard
    known = Procedures(caller)
    ids = _noted(caller, steps, turn.ids[0])
    others = said_before(caller, [one for one in ids if one != turn.ids[0]])
    alike = compared(caller.store.ruleset.encoder, text, others)
    if 1 + sum(map(same_task, alike)) < TIMES:
        return heard
    staged = known.propose(text, steps, Origin.REPEATED, "inferred:repetition")
    return replace(heard, receipts=(*heard.receipts, staged))


def _noted(caller: Caller, steps: Sequence[str], turn: str) -> list[str]:
    """The turns in which something was done with these steps, this one last."""
    subject = sha256("\n".join(steps).encode()).hexdigest()[:16]
    now = caller.store.now()

    def work(tx: Transaction) -> list[str]:
        marks = Marks(tx, _JOB, quoted(caller.scope.user))
        before = marks.since(now - _WITHIN).get(subject)
        ids = [*(before.note.split("\n") if before else ()), turn][-2 * TIMES :]
        marks.put(subject, now, "\n".join(ids))
        return ids

    return caller.store.database.write(work)
