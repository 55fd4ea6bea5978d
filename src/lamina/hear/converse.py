"""A message: its commands are carried out, then the turn is kept, then guesses about its person wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lamina.errors import InvalidInput
from lamina.hear.correct import noticed
from lamina.hear.obey import obey
from lamina.hear.turn import Turn, answered, keep_turn, understood
from lamina.language.acknowledge import acknowledge, language_for, refusal
from lamina.language.command import Action, Command
from lamina.language.commands import commands
from lamina.language.infer import EARLIER, infer
from lamina.language.layering import correction_in, expertise_in
from lamina.layers.facts import extract
from lamina.layers.procedures import Procedures
from lamina.layers.user_model import UserModel
from lamina.model import Deny, Heard, Kind, Outcome, Receipt, Role, Trust, canonical
from lamina.policy.consent import Care
from lamina.read.resolve import resolve
from lamina.read.shelves import turns
from lamina.text.normalise import Language, well_formed
from lamina.write.caller import Caller
from lamina.write.promote import is_refused_move
from lamina.write.propose import propose

#: Commands after which the message itself is not kept: it would say again what shall be gone.
_LEAVE_NO_TURN = (Action.FORGET, Action.WITHHOLD, Action.REJECT)


def hear(
    caller: Caller, text: str, reply: str | None = None, tools: Sequence[Mapping[str, Any]] = ()
) -> Heard:
    """One turn of a conversation: what the caller said, the agent's reply, what tools returned."""
    store = caller.store
    said = well_formed(text, "text", store.config.max_text_chars)
    check_reply(caller, reply, tools)
    within = Caller(store, caller.in_session)
    heard = converse(within, said, reply, tools)
    kept = any(":short_term:" not in one for receipt in heard.receipts for one in receipt.ids)
    told = "ok" if kept else "skipped"
    store.tally.note(within.scope, store.now(), "hotpath", "classify", status=told)
    return heard


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


def converse(caller: Caller, text: str, reply: str | None, tools: Sequence[Mapping[str, Any]]) -> Heard:
    """What became of a message; `caller` is in a session, and everything was checked."""
    rules = caller.store.ruleset.rules
    turn = understood(caller.scope, text, reply, tools, rules)
    asked = [] if caller.scope.trust is Trust.UNTRUSTED else commands(text, book=rules)
    asked = _without_promoted(asked, turn)
    if not asked and _is_person(caller):
        asked = noticed(caller, text)
    if not asked:
        heard = _in_words(caller, turn, keep_turn(caller.store, turn))
        if not _is_person(caller):
            return heard
        heard = _with_lessons(caller, text, _with_guesses(caller, text, heard))
        return extract(caller, text, heard) if caller.store.config.extract_facts else heard
    said, objection = voice(caller, text), caller.store.judge(turn.drafts[0])
    # A value may look harmless without the words around it, which say what it is.
    secret = objection if isinstance(objection, Deny) and objection.code.startswith("privacy_") else None
    obeyed = [
        receipt
        for command in asked
        for receipt in obey(caller, command, said, None if command.action in _LEAVE_NO_TURN else secret)
    ]
    refused = all(one.decision is Outcome.DENIED for one in obeyed)
    heard = _kept(caller, turn if refused else replace(turn, hint=None), asked)
    lines = dict.fromkeys(one.acknowledgement for one in obeyed if one.acknowledgement)
    events = [*heard.events, *(event for one in obeyed for event in one.events)]
    return Heard(
        receipts=(*obeyed, *heard.receipts),
        acknowledgement="\n".join(lines),
        events=tuple(events),
        asked=len(obeyed),
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


def voice(caller: Caller, text: str) -> tuple[Language, str]:
    """The language and the verbosity to answer in: as the person set them, else as they speak."""
    values = resolve(caller, ["response.language", "response.verbosity"])
    language = values.get("response.language")
    verbosity = values.get("response.verbosity")
    spoken = language_for(language.value if language else None, text)
    return spoken, verbosity.value if verbosity else "normal"


def _without_promoted(asked: list[Command], turn: Turn) -> list[Command]:
    """A lasting statement that is to be kept for a wider space is promoted, not remembered a second time."""
    if (hint := turn.hint) is None:
        return asked
    asked = [replace(one, space=one.space or hint.target) for one in asked]
    if turn.drafts[0].kind in (Kind.CONTEXT, Kind.EXECUTION):
        return asked
    return [one for one in asked if one.action is not Action.REMEMBER or one.space != hint.target]


def _kept(caller: Caller, turn: Turn, asked: Sequence[Command]) -> Heard:
    """The turn itself, without what its commands have done already."""
    if any(one.action in _LEAVE_NO_TURN for one in asked):
        return Heard(receipts=())
    own = [draft for draft in turn.drafts if draft.scope != turn.scope or draft.place == "turn"]
    return keep_turn(caller.store, replace(turn, drafts=tuple(own)))


def _is_person(caller: Caller) -> bool:
    return caller.scope.role in (Role.USER, Role.ADMIN)


def _with_guesses(caller: Caller, text: str, heard: Heard) -> Heard:
    """Stage what the message lets one guess about the person, surely enough."""
    store, config = caller.store, caller.store.config
    if any(one.code.startswith("privacy_") for one in heard.receipts):
        return heard
    guesses = [
        one
        for one in infer(text, turns(caller, EARLIER), book=store.ruleset.rules)
        if one.confidence >= config.infer_confidence
    ]
    values = resolve(caller, [one.key for one in guesses]) if guesses else {}
    staged: list[Receipt] = []
    for one in guesses:
        if one.key not in values or values[one.key].value != one.value:
            receipt = propose(caller, one.value, one.key, one.confidence, f"inferred:{one.reason}")
            if receipt.decision is Outcome.HELD:
                how = "pending_named" if store.ruleset.fields.care(one.key) is Care.SENSITIVE else "pending"
                said = acknowledge(how, *voice(caller, text), key=one.key, value=one.value)
                receipt = replace(receipt, acknowledgement=said)
            staged.append(receipt)
    told = [one.acknowledgement for one in staged if one.decision is Outcome.HELD]
    return replace(
        heard,
        receipts=(*heard.receipts, *staged),
        acknowledgement="\n".join([*filter(None, [heard.acknowledgement]), *told]),
    )


def _with_lessons(caller: Caller, text: str, heard: Heard) -> Heard:
    """Put before the person what a message teaches of their expertise, and the procedure in a correction."""
    if any(one.code.startswith("privacy_") for one in heard.receipts):
        return heard
    known = UserModel(caller).get()["expertise"] if (said := expertise_in(text)) else {}
    staged = [
        propose(caller, one.level, f"user.expertise.{one.topic}", one.confidence, "inferred:expertise")
        for one in said
        if known.get(one.topic) != one.level
    ]
    if lesson := correction_in(text):
        staged.append(Procedures(caller).propose(*lesson, "correction", "inferred:correction"))
    return replace(heard, receipts=(*heard.receipts, *staged))
