"""A message: its commands are carried out, then the turn is kept, then guesses about its person wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lamina.errors import InvalidInput
from lamina.hear.asked_back import close_question
from lamina.hear.guess import voice, with_guesses, with_lessons
from lamina.hear.obey import obey
from lamina.hear.plan import Plan, is_person, plan_of
from lamina.hear.rehearse import rehearse
from lamina.hear.repeated import with_repetition
from lamina.hear.turn import Turn, answered, keep_turn, understood
from lamina.language.acknowledge import acknowledge, refusal
from lamina.language.command import Action, Command
from lamina.language.durable import length_of
from lamina.language.understanding import ends_of
from lamina.layers.facts import extract
from lamina.model import Deny, Heard, Outcome, Receipt, Role, Scope, Space, Trust, canonical
from lamina.storage.ledger import lanes_of
from lamina.text.normalise import well_formed
from lamina.write.request import is_refused_move
from lamina.write.store import Caller
from lamina.write.verbs import put_behind

#: Commands after which the message itself is not kept: it would say again what shall be gone.
_LEAVE_NO_TURN = (Action.FORGET, Action.WITHHOLD, Action.REJECT, Action.MISHEARD, Action.RESTORE)


def hear(
    caller: Caller,
    text: str,
    reply: str | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    *,
    dry_run: bool = False,
) -> Heard:
    """One turn of a conversation: what the caller said, the agent's reply, what tools returned."""
    store = caller.store
    said = well_formed(text, "text", store.config.max_text_chars)
    check_reply(caller, reply, tools)
    within = Caller(store, _speaker(caller))
    if dry_run:
        return rehearse(within, said)
    turn = understood(within.scope, said, reply, tools, store.ruleset.rules)
    plan = store.look(lambda one: plan_of(Caller(one, within.scope), said, turn))
    lanes = lanes_of(*(one.scope.shelf(space) for one in turn.drafts for space in (Space.USER, one.space)))
    heard = store.together(lambda one: converse(Caller(one, within.scope), said, turn, plan), lanes)
    if tools and is_person(within):
        heard = with_repetition(within, said, tools, heard)
    kept = any(":short_term:" not in one for receipt in heard.receipts for one in receipt.ids)
    told = "ok" if kept else "skipped"
    store.tally.note(within.scope, store.now(), "hotpath", "classify", status=told)
    return heard


def _speaker(caller: Caller) -> Scope:
    """Who says what is heard: an agent's turn is the person's where the owner lets it carry their words."""
    scope = caller.in_session
    carries = scope.role is Role.AGENT and scope.speaks_for
    return replace(scope, role=Role.USER) if carries else scope


def answer(caller: Caller, reply: str, tools: Sequence[Mapping[str, Any]] = ()) -> Heard:
    """What the agent answered, and what its tools returned, as the rest of the turn."""
    check_reply(caller, reply, tools)
    return keep_turn(caller.store, answered(caller.in_session, reply, tools, caller.store.ruleset.rules))


def check_reply(caller: Caller, reply: str | None, tools: Sequence[Mapping[str, Any]]) -> None:
    """What the agent answered and its tools returned, as somebody says who may speak for them."""
    limit = caller.store.config.max_text_chars
    if caller.scope.trust is Trust.UNTRUSTED and (reply or tools):
        raise InvalidInput("A tool or a document does not speak for others.", code="role_invalid")
    if reply is not None:
        well_formed(reply, "reply", limit)
    try:
        well_formed(canonical([{**one} for one in tools]), "tools", limit)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("What a tool returned is a JSON object.", code="tool_event_invalid") from None


def converse(caller: Caller, text: str, turn: Turn, plan: Plan) -> Heard:
    """What became of a message; `caller` is in a session, and everything was checked."""
    asked, notes = plan.asked, plan.notes
    if plan.is_answer:
        close_question(caller)
    if not asked:
        heard = _in_words(caller, turn, keep_turn(caller.store, turn))
        if not is_person(caller):
            return heard
        gist = ends_of(text)
        heard = with_lessons(caller, gist, with_guesses(caller, gist, heard))
        if caller.store.config.extract_facts and length_of(text) > caller.store.config.extract_from_chars:
            return extract(caller, text, heard)
        return _with_notes(caller, text, heard, notes)
    said, objection = voice(caller, text), caller.store.judge(turn.drafts[0])
    # A value may look harmless without the words around it, which say what it is.
    secret = objection if isinstance(objection, Deny) and objection.code.startswith("privacy_") else None
    obeyed = [
        receipt
        for command in asked
        for receipt in obey(caller, command, *said, None if command.action in _LEAVE_NO_TURN else secret)
    ]
    refused = all(one.decision is Outcome.DENIED for one in obeyed)
    heard = _kept(caller, turn if refused else replace(turn, hint=None), asked)
    _stand_for(caller, asked, obeyed, heard)
    # Beside something that was done, "nothing of that kind" would only deny it.
    said_of = obeyed if refused else [one for one in obeyed if one.code != "not_found"]
    lines = dict.fromkeys(one.acknowledgement for one in said_of if one.acknowledgement)
    events = [*heard.events, *(event for one in obeyed for event in one.events)]
    done = Heard(
        receipts=(*obeyed, *heard.receipts),
        acknowledgement="\n".join(lines),
        events=tuple(events),
        asked=len(obeyed),
    )
    return _with_notes(caller, text, done, notes)


def _stand_for(caller: Caller, asked: Sequence[Command], obeyed: Sequence[Receipt], heard: Heard) -> None:
    """Let a turn that put one memory right step behind it: it says the same, and of what."""
    corrected = len(asked) == len(obeyed) == 1 and asked[0].action is Action.CORRECT
    if corrected and obeyed[0].decision is Outcome.ADMITTED:
        turns = [one for receipt in heard.receipts[:1] for one in receipt.ids]
        put_behind(caller, turns, obeyed[0].ids[0])


def _with_notes(caller: Caller, text: str, heard: Heard, notes: Sequence[Command]) -> Heard:
    """Keep what a person says of themselves that lasts; a secret in the message keeps nothing of it."""
    if not notes or any(one.code.startswith("privacy_") for one in heard.receipts):
        return heard
    said = voice(caller, text)
    kept = [receipt for command in notes for receipt in obey(caller, command, *said)]
    lines = [one.acknowledgement for one in kept if one.decision is not Outcome.DENIED]
    return replace(
        heard,
        receipts=(*heard.receipts, *kept),
        acknowledgement="\n".join(dict.fromkeys(filter(None, [heard.acknowledgement, *lines]))),
        events=(*heard.events, *(event for one in kept for event in one.events)),
    )


def _in_words(caller: Caller, turn: Turn, heard: Heard) -> Heard:
    """What a phrase asked to be kept for a wider space and was not, in the words of the person's language."""
    receipts = list(heard.receipts)
    missing = [at for at, one in enumerate(receipts) if turn.hint and is_refused_move(one)]
    if not missing:
        return heard
    first = next((one.code for one in receipts if one.code.startswith("privacy_")), "")
    said = voice(caller, turn.drafts[0].text)
    for at in missing:
        words = acknowledge(refusal(first or receipts[at].code), *said)
        receipts[at] = replace(receipts[at], acknowledgement=words)
    told = [heard.acknowledgement, *(receipts[at].acknowledgement for at in missing)]
    return replace(
        heard, receipts=tuple(receipts), acknowledgement="\n".join(dict.fromkeys(filter(None, told)))
    )


def _kept(caller: Caller, turn: Turn, asked: Sequence[Command]) -> Heard:
    """The turn itself, without what its commands have done already."""
    if any(one.action in _LEAVE_NO_TURN for one in asked):
        return Heard(receipts=())
    own = [draft for draft in turn.drafts if draft.scope != turn.scope or draft.place == "turn"]
    return keep_turn(caller.store, replace(turn, drafts=tuple(own)))
