"""Questions that were put back to a person, and the answer in their next turn: "the second one".

What was just forgotten or changed stands as such a question too: "no, keep it" brings it back.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from datetime import timedelta
from functools import cache

from lamina.hear.guess import voice
from lamina.language.acknowledge import acknowledge, in_words, value_in_words
from lamina.language.amend import telling, weight, words_of
from lamina.language.command import Action, Command, Target
from lamina.language.framing import phrases_of
from lamina.language.rulebook import packaged
from lamina.language.view import view_of
from lamina.model import Kind, Memory, State, quoted
from lamina.read.explain import history
from lamina.read.shelves import loaded
from lamina.storage.database import Transaction
from lamina.storage.small_tables import Marks
from lamina.text.normalise import Language, is_note
from lamina.write.guesses import check_person
from lamina.write.store import Caller
from lamina.write.verbs import pending

_JOB = "asked_back"
#: For so long a question waits for its answer; one about all that waits does in whatever session follows.
_PATIENCE, _LONG_PATIENCE = timedelta(hours=1), timedelta(days=2)
_ANY_SESSION = ""
#: An answer that is longer says something else.
_LONGEST = 80
#: How many are asked about at once, the newest, and how much of each is shown.
_MOST, _SHORT = 4, 60
#: The rule of a command that answers a question.
ANSWERED = "answered"
#: What stands in the place of the action where something was done that the next turn may undo.
_UNDO = "undo"
#: From this weight on, the words beside an undoing name what it is about.
_NAMES = 2
#: And of one that takes all of what was asked about: it names nothing.
ALL = "answered_all"


def put_question(caller: Caller, action: Action, ids: Sequence[str], *, in_any_session: bool = False) -> None:
    """Note that somebody was asked which of these they mean; none of their words is kept with it."""
    _put(caller, "\n".join([action, *ids]), for_any=in_any_session)


def may_undo(caller: Caller, action: Action, ids: Sequence[str]) -> None:
    """Note what a person's word changed just now: in their next turn they may want it back."""
    _put(caller, "\n".join([_UNDO, action, *ids]))


def _put(caller: Caller, note: str, *, for_any: bool = False) -> None:
    now, own = caller.store.now(), _subject(caller)

    def work(tx: Transaction) -> None:
        _marks(caller, tx).put(
            own, now, "" if for_any else note
        )  # the newest question is the one that stands
        if for_any:
            _marks(caller, tx).put(_ANY_SESSION, now, note)

    caller.store.database.write(work)


def open_question(caller: Caller) -> list[str]:
    """The question that this session was asked and has not answered: what was to be done, and to which."""
    now = caller.store.now()
    marks = caller.store.database.read(lambda tx: _marks(caller, tx).since(now - _LONG_PATIENCE))
    own, for_all = marks.get(_subject(caller)), marks.get(_ANY_SESSION)
    if own is not None and own.note and own.at >= now - _PATIENCE:
        return own.note.split("\n")
    return for_all.note.split("\n") if for_all is not None and for_all.note else []


def close_question(caller: Caller) -> None:
    """Whatever comes next is no answer to it any more."""
    now = caller.store.now()

    def work(tx: Transaction) -> None:
        for subject in {_subject(caller), _ANY_SESSION} & _marks(caller, tx).since(
            now - _LONG_PATIENCE
        ).keys():
            _marks(caller, tx).put(subject, now, "")

    caller.store.database.write(work)


def answered(caller: Caller, text: str, question: Sequence[str]) -> list[Command]:
    """The commands that a message comes to as the answer to a question; none where it is no answer."""
    if not question or len(text) > _LONGEST:
        return []
    action, *ids = question
    if action == _UNDO:
        return _undone(caller, text, ids)
    options = loaded(caller, ids)
    if action == Action.CONFIRM:
        return _decided(caller, text, options)
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


def _undone(caller: Caller, text: str, done: Sequence[str]) -> list[Command]:
    """The word that what was just done is to be undone: "no, keep it", "bring it back"."""
    undoes, said, book = phrases_of("undoes"), view_of(text).text, caller.store.ruleset.rules
    action, *ids = done
    names = telling(undoes.sub(" ", said), book)
    apart = weight(names) >= _NAMES and not any(
        names & words_of(told or "", book)
        for one in ids
        for step in history(caller, one)
        for told in (step.old_text, step.new_text)
    )
    if apart or undoes.search(said) is None:  # "keep the prototype" is about something else
        return []
    return [
        Command(
            action=Action.RESTORE,
            target=Target.TEXT,
            text=text,
            old=action,
            kind=Kind.FACT,
            meant=tuple(ids),
            span=(0, len(text)),
            rule=ANSWERED,
        )
    ]


def _decided(caller: Caller, text: str, options: Sequence[Memory]) -> list[Command]:
    """A person's word about what waits: what they choose is kept, and with "none" all of it is dropped."""
    waits = [one for one in options if one.state is State.PENDING]
    said = view_of(text).text
    none = _words()["none"].search(said) is not None
    whole = none or _words()["all"].search(said) is not None
    chosen = waits if whole else _chosen(caller, text, waits)
    return [
        Command(
            action=Action.REJECT if none else Action.CONFIRM,
            target=Target.KEY,
            text=text,
            key=one.key,
            kind=Kind.FACT,
            span=(0, len(text)),
            rule=ALL if whole else ANSWERED,
        )
        for one in chosen
    ]


def _chosen(caller: Caller, text: str, options: Sequence[Memory]) -> list[Memory]:
    """Which of the options an answer names: by its number, by its words, or all of them."""
    said = view_of(text).text
    if _words()["all"].search(said) or (len(options) == 1 and _words()["yes"].search(said)):
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


def ask_what_waits(caller: Caller) -> str:
    """One question about what waits, in the person's language; empty where nothing does.

    "All", "none" or "the first" in their next turn, in whatever session that is, is the answer.
    """
    check_person(caller.scope)
    waits = pending(caller)[-_MOST:]
    if not waits:
        return ""
    put_question(caller, Action.CONFIRM, [one.id for one in waits], in_any_session=True)
    language, verbosity = voice(caller, waits[-1].text)
    between, end = {"en": ("; ", "."), "th": (" ", "")}.get(language, ("；", "。"))
    told = between.join(f"{number}. {_shown(one, language)}" for number, one in enumerate(waits, 1))
    return acknowledge("what_waits", language, verbosity, count=len(waits), options=told + end)


def _shown(memory: Memory, language: Language) -> str:
    text = memory.text.splitlines()[0]
    short = text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"
    if not memory.key or is_note(memory.key):
        return short
    return f"{in_words(memory.key, language)} → {value_in_words(memory.key, short, language)}"


@cache
def _words() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile(pattern) for name, pattern in tomllib.loads(packaged("manners"))["choices"].items()
    }


def _subject(caller: Caller) -> str:
    return caller.in_session.session or ""


def _marks(caller: Caller, transaction: Transaction) -> Marks:
    return Marks(transaction, _JOB, quoted(caller.scope.user))
