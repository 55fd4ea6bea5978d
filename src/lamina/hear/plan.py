"""What a message asks of the memory and what it says that lasts, before anything is done about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.hear.asked_back import answered, open_question
from lamina.hear.correct import noticed
from lamina.hear.forgetting import misspoke, takes_something
from lamina.hear.listen import listened, second_opinion
from lamina.hear.teach import taught
from lamina.hear.turn import Turn
from lamina.language.command import Action, Command, Target
from lamina.language.commands import commands_in
from lamina.language.hearing import Hearing
from lamina.language.hearing import hear as listen_to
from lamina.language.layering import correction_in
from lamina.language.slots import is_misheard
from lamina.language.sorts import Reader
from lamina.language.understanding import Listener, ends_of, is_paste, said_around
from lamina.model import Kind, Role, Trust
from lamina.records import dataclass
from lamina.write.store import Caller

#: Commands beside which nothing else of a message is kept: it gives the reason for them.
_SAYS_WHY = (Action.FORGET, Action.WITHHOLD, Action.CORRECT, Action.MISHEARD)


#: What a phrase cannot move to a wider space: there is nothing in it that lasts.
_STAYS = (Kind.CONTEXT, Kind.EXECUTION)


@dataclass(frozen=True, slots=True)
class Plan:
    """The commands in a message, and the statements in it that are to be kept though nobody asked."""

    asked: Sequence[Command] = ()
    notes: Sequence[Command] = ()
    is_answer: bool = False  #: a question had been put back, and this was said next


def plan_of(caller: Caller, text: str, turn: Turn) -> Plan:
    """What is to be done about a message; it is only read."""
    if caller.scope.trust is Trust.UNTRUSTED:
        return Plan()
    hearing = listen_to(text, caller.store.ruleset.rules)
    asked = _without_promoted(commands_in(hearing), turn)
    if not is_person(caller):
        return Plan(asked)
    text = ends_of(text)
    if is_misheard(text):
        return Plan([_misheard(text)])
    question = open_question(caller)
    if chosen := answered(caller, text, question):
        # Whoever says anew what is right has named the memory and its words.
        anew = noticed(caller, text) if chosen[0].action is Action.CORRECT else []
        return Plan(anew or chosen, is_answer=True)
    if back := misspoke(caller, text):
        return Plan(back, is_answer=bool(question))
    plan = _heard(caller, hearing, turn, asked)
    return replace(plan, is_answer=bool(question))


def _heard(caller: Caller, hearing: Hearing, turn: Turn, asked: list[Command]) -> Plan:
    """What rules found, what the model says of it, and what it hears beside."""
    text = ends_of(hearing.view.original)
    trained = caller.store.config.understanding and not is_paste(hearing)
    listener = listener_of(caller, hearing) if trained else None
    if listener is not None:
        asked = second_opinion(caller, listener, asked)
    asked = _meant(caller, hearing, asked)
    # A phrase says where all of it is to be kept, or it teaches a procedure, which waits for its person.
    moves = turn.hint is not None and turn.drafts[0].kind not in _STAYS
    silent = moves or listener is None or correction_in(text) is not None
    heard = [] if silent or listener is None else _meant(caller, hearing, listened(caller, listener, asked))
    if turn.hint is not None:
        heard = [replace(one, space=one.space or turn.hint.target) for one in heard]
    if not asked and (corrected := noticed(caller, text)):
        return Plan(corrected)
    notes = [one for one in heard if one.action is Action.NOTE]
    asked += [one for one in heard if one.action is not Action.NOTE]
    reasons = any(one.action in _SAYS_WHY for one in asked)
    return Plan(asked, () if reasons else notes)


def _meant(caller: Caller, hearing: Hearing, asked: Sequence[Command]) -> list[Command]:
    """The commands without those that only sound like a wish to forget."""
    return [one for one in asked if takes_something(caller, one, said_around(hearing, one.span))]


def listener_of(caller: Caller, hearing: Hearing) -> Listener:
    """What listens to a message: the model, what the person taught it, and the encoder that reads."""
    embedder = caller.store.embedder
    return Listener(hearing, taught(caller), embedder if isinstance(embedder, Reader) else None)


def is_person(caller: Caller) -> bool:
    """Whether the words are a person's own."""
    return caller.scope.role in (Role.USER, Role.ADMIN)


def _misheard(text: str) -> Command:
    return Command(
        action=Action.MISHEARD, target=Target.LATEST, kind=Kind.FACT, span=(0, len(text)), rule="misheard"
    )


def _without_promoted(asked: list[Command], turn: Turn) -> list[Command]:
    """A lasting statement that is to be kept for a wider space is promoted, not remembered a second time."""
    if (hint := turn.hint) is None:
        return asked
    asked = [replace(one, space=one.space or hint.target) for one in asked]
    if turn.drafts[0].kind in _STAYS:
        return asked
    return [one for one in asked if one.action is not Action.REMEMBER or one.space != hint.target]
