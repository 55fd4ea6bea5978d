"""micro-sync: through the day, what people settled becomes decision entries in the files of their days."""

from __future__ import annotations

from datetime import timedelta

from lamina.jobs.conversations import Noted, conversations, encoder_of, noted
from lamina.jobs.decided import DAY_FILES, RECENT_FILES, keep, kept_decisions, new_decisions, settle
from lamina.jobs.job import Task
from lamina.jobs.proposed import proposed
from lamina.jobs.turns import turns_between
from lamina.write.store import caller_of

#: How far before its stretch a run looks for the proposal that an answer is about.
_CONTEXT = timedelta(hours=1)
MAY_WRITE = (DAY_FILES, RECENT_FILES)


def micro_sync(task: Task) -> None:
    """Keeps what was settled since the last run; says and writes nothing when that is nothing.

    Only day files and `memory/recent` are written, and `MEMORY.md` is not even read. Run again over the same
    stretch it changes nothing, so a run that was cut off anywhere is simply repeated.
    """
    book, reader = task.store.ruleset.rules, encoder_of(task.store)
    turns = turns_between(caller_of(task.store, via="job"), task.since - _CONTEXT, task.until)
    found: list[Noted] = []
    guessed: list[Noted] = []
    for conversation in conversations(turns):
        task.check()
        found += [one for one in noted(conversation, task.zone, book, reader) if one.at >= task.since]
        guessed += proposed(task, conversation)
    known = [each.decision for each in kept_decisions(task.files)]
    new = new_decisions(found, known, task.zone, book, reader)
    told = "\n".join(one.statement.text for one in found)  # what a rule found, a model may well quote in part
    further = [one for one in guessed if one.statement.text not in told]
    new += new_decisions(further, [*known, *new], task.zone, book, reader)
    keep(task.files, new, task.zone)
    settle(task.files, kept_decisions(task.files, MAY_WRITE))
    task.changes += [f"kept {one.id}" for one in new]
