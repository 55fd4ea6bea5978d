"""Questions that were put back to a person, and the answer in their next turn: "the second one"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from datetime import timedelta
from functools import cache

from lamina.language.amend import weight, words_of
from lamina.language.command import Action, Command, Target
from lamina.language.rulebook import packaged
from lamina.language.view import view_of
from lamina.model import Kind, Memory, quoted
from lamina.read.shelves import loaded
from lamina.storage.database import Transaction
from lamina.storage.marks import Marks
from lamina.write.caller import Caller

_JOB = "asked_back"
#: For so long a question waits for its answer.
_PATIENCE = timedelta(hours=1)
#: An answer that is longer says something else.
_LONGEST = 80
#: The rule of a command that answers a question.
ANSWERED = "answered"


def put_question(caller: Caller, action: Action, ids: Sequence[str]) -> None:
    """Note that somebody was asked which of these they mean; none of their words is kept with it."""
    note = "\n".join([action, *ids])
    now = caller.store.now()
    caller.store.database.write(lambda tx: _marks(caller, tx).put(_subject(caller), now, note))


def open_question(caller: Caller) -> list[str]:
    """The question that this session was asked and has not answered: what was to be done, and to which."""
    since = caller.store.now() - _PATIENCE
    marks = caller.store.database.read(lambda tx: _marks(caller, tx).since(since))
    mark = marks.get(_subject(caller))
    return mark.note.split("\n") if mark is not None and mark.note else []


def close_question(caller: Caller) -> None:
    """Whatever comes next is no answer to it any more."""
    now = caller.store.now()
    caller.store.database.write(lambda tx: _marks(caller, tx).put(_subject(caller), now, ""))


def answered(caller: Caller, text: str, question: Sequence[str]) -> list[Command]:
    """The commands that a message comes to as the answer to a question; none where it is no answer."""
    if not question or len(text) > _LONGEST:
        return []
    action, *ids = question
    options = loaded(caller, ids)
    return [
        Command(
            action=Action(action),
            target=Target.TEXT,
            text=text,
            key=one.id,
            kind=Kind.FACT,
            span=(0, len(text)),
            rule=ANSWERED,
        )
        for one in _chosen(caller, text, options)
    ]


def _chosen(caller: Caller, text: str, options: Sequence[Memory]) -> list[Memory]:
    """Which of the options an answer names: by its number, by its words, or all of them."""
    said = view_of(text).text
    if _words()["all"].search(said):
        return list(options)
    for at, name in enumerate(("first", "second", "third", "fourth")):
        if at < len(options) and _words()[name].search(said):
            return [options[at]]
    if _words()["last"].search(said) and options:
        return [options[-1]]
    book = caller.store.ruleset.rules
    own = words_of(text, book)
    shared = [(weight(own & words_of(one.text, book)), one) for one in options]
    most = max((value for value, _ in shared), default=0.0)
    best = [one for value, one in shared if value == most]
    return best if most > 0 and len(best) == 1 else []


@cache
def _words() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile(pattern) for name, pattern in tomllib.loads(packaged("manners"))["choices"].items()
    }


def _subject(caller: Caller) -> str:
    return caller.in_session.session or ""


def _marks(caller: Caller, transaction: Transaction) -> Marks:
    return Marks(transaction, _JOB, quoted(caller.scope.user))
