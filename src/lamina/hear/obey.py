"""What a person tells their memory to do, in their own words: each command becomes a call of a verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from lamina.errors import LaminaError, NotFound, Unavailable
from lamina.hear.asked_back import ALL, ANSWERED, may_undo, put_question
from lamina.hear.correct import correct, restate
from lamina.hear.forgetting import carry_forget, was_named
from lamina.hear.teach import misheard
from lamina.language.acknowledge import acknowledge, refusal
from lamina.language.command import WISH, Action, Command, Target
from lamina.language.slots import is_sensitive
from lamina.layers.layers import confirm
from lamina.model import Deny, Memory, Outcome, Receipt, Space, State
from lamina.policy.consent import Channel
from lamina.read.explain import history
from lamina.read.resolve import FOR_NOW, SESSION_WISH
from lamina.read.shelves import keyed, loaded, turns
from lamina.text.normalise import Language, folded, is_note, note_key
from lamina.text.ttl import SESSION_END, parse_ttl
from lamina.write.guesses import unnamed
from lamina.write.store import Caller
from lamina.write.verbs import forget, get, pending, propose, reject, remember, restore, revise

#: What somebody says weighs more than what a program wrote, and a setting more than a note.
_PRIORITY = {Action.REMEMBER: 80, Action.SET: 85, Action.CORRECT: 85}
#: How sure it is that somebody means what they say.
_STATED = 0.9
#: What ends at the first moment of a day holds on the day before it.
_A_MOMENT = timedelta(seconds=1)
#: What a person is asked where it is not clear which they mean: of one, of several; and of what shall go.
_QUESTIONS = (("one_to_correct", "several_meant"), ("one_to_forget", "several_to_forget"))
#: What the next turn may undo.
_UNDOABLE = (Action.FORGET, Action.CORRECT)
#: How many memories are named where somebody is asked which they mean, and how much of each.
_OPTIONS, _SHORT = 4, 60


def obey(
    caller: Caller, command: Command, language: Language, verbosity: str, objection: Deny | None = None
) -> list[Receipt]:
    """Carry one command out and say so, in this language and so many words.

    Every receipt has words: what was done, what is asked back, or why it was refused. With an `objection` to
    the message, nothing of it is done.
    """
    if objection is not None:
        why = tuple(part for part in (objection.why, objection.hint) if part)
        receipts = [Receipt(decision=Outcome.DENIED, code=objection.code, warnings=why)]
        return [_acknowledged(caller, command, one, (), language, verbosity) for one in receipts]
    carry: dict[Action, Callable[[Caller, Command], list[Receipt]]] = {
        Action.REMEMBER: _remember,
        Action.SET: _remember,
        Action.CORRECT: _correct,
        Action.FORGET: carry_forget,
        Action.CONFIRM: _decide,
        Action.REJECT: _decide,
        Action.NOTE: _note,
        Action.MISHEARD: misheard,
        Action.RESTORE: _restore,
        Action.WITHHOLD: lambda *_: [Receipt(decision=Outcome.UNCHANGED, code="withheld")],
    }
    command = _meant(caller, command)
    try:
        receipts = carry[command.action](caller, command)
    except Unavailable:
        raise
    except LaminaError as error:
        refused = Receipt(decision=Outcome.DENIED, code=error.code, warnings=(error.message, error.hint))
        receipts = [refused]
    receipts = receipts or [Receipt(decision=Outcome.DENIED, code="not_found")]
    if receipts[0].code == "several_meant":
        put_question(caller, command.action, receipts[0].ids)
    elif command.action in _UNDOABLE and (done := _done_to(receipts)):
        may_undo(caller, command.action, done)
    all_ids = _done_to(receipts)
    return [_acknowledged(caller, command, one, all_ids, language, verbosity) for one in receipts]


def _acknowledged(
    caller: Caller,
    command: Command,
    receipt: Receipt,
    gone_with: Sequence[str],
    language: Language,
    verbosity: str,
) -> Receipt:
    """The receipt with its words; what a correction came to is read from the store again."""
    count = len(gone_with)
    act, code = command.action, receipt.code
    if receipt.decision is Outcome.DENIED:
        missing = act in (Action.CONFIRM, Action.REJECT) and code == "not_found"
        message = "nothing_pending" if missing else refusal(code)
    else:
        message = {"allowed": "remembered", "same": "unchanged", "pending": "held"}.get(code, code)
    # Neither key says anything to a person.
    wished = (command.key or "").startswith(WISH) or (act is Action.SET and is_note(command.key))
    if (act is Action.NOTE or wished) and message in ("remembered", "merged", "superseded"):
        message, command = "noted", replace(command, value=(command.value or command.text).rstrip(".。 "))
    if act is Action.FORGET and message == "remembered":
        message, command = "forgotten_part", replace(command, value=get(caller, receipt.ids[0]).text)
    if message == "forgotten" and count > 1:
        message = "forgotten_many"
    unnamed_key = wished or is_note(command.key or "") or command.rule == ANSWERED
    key = "" if unnamed_key else command.key
    details: dict[str, Any] = {"key": key or "", "value": command.value or "", "count": count, "act": act}
    if act in _PRIORITY and receipt.decision is not Outcome.DENIED:
        details["until"] = _last_day(caller, command)
    if message == "correction_unclear":
        details["old"] = get(caller, receipt.ids[0]).text
    elif message == "several_meant":
        one, several = _QUESTIONS[act is Action.FORGET]
        message = one if len(receipt.ids) == 1 else several
        details["options"] = _options(caller, receipt.ids)
    elif message in ("forgotten", "forgotten_many"):
        details |= _what_went(caller, command, gone_with)
    elif act is Action.RESTORE and message in ("remembered", "restored", "forgotten"):
        message, details["name"] = (
            "restored",
            _listed([one.text for one in _in_force(caller, receipt.ids[0])]),
        )
    elif act is Action.CORRECT and message == "remembered":
        old = history(caller, receipt.ids[0])[-1].old_text
        old = old or next((get(caller, one).text for one in command.meant), None)
        message = "new_instead" if old is None else "revised"
        details |= {"value": get(caller, receipt.ids[0]).text, "old": old or ""}
    return replace(receipt, acknowledgement=acknowledge(message, language, verbosity, **details))


def _what_went(caller: Caller, command: Command, gone: Sequence[str]) -> dict[str, str]:
    """What an answer names of what went: its key where that was said, else its words where none was said."""
    if command.key and all(one.key == command.key for one in loaded(caller, gone)):
        return {}
    texts = [history(caller, one)[-1].old_text or "" for one in gone]
    named = all(was_named(caller, command, one) for one in texts)
    return {"key": "", "name": "" if named else _listed(texts)}


def _done_to(receipts: Sequence[Receipt]) -> list[str]:
    """The memories that a word changed; the turns that went with them are none."""
    return [one.ids[0] for one in receipts if one.decision is Outcome.ADMITTED and one.ids]


def _restore(caller: Caller, command: Command) -> list[Receipt]:
    """What just went comes back, and what was just changed says again what it said."""
    return [_as_it_was(caller, one, command.reason) for one in command.meant]


def _as_it_was(caller: Caller, memory_id: str, reason: str) -> Receipt:
    if not _in_force(caller, memory_id):
        return restore(caller, memory_id, reason=reason)
    old = history(caller, memory_id)[-1].old_text
    if old is None:  # what was right was kept as something new
        return forget(caller, memory_id, reason=reason)
    return revise(caller, memory_id, old, reason=reason)


def _in_force(caller: Caller, memory_id: str) -> list[Memory]:
    return [one for one in loaded(caller, [memory_id]) if one.state is State.ACTIVE]


def _last_day(caller: Caller, command: Command) -> str:
    """The last day on which a wish for a time holds; empty where it ends today in some hours, with the
    session, or never."""
    if not command.lifetime or command.lifetime[-1] in "hms":
        return ""
    _, end = parse_ttl(command.lifetime, caller.store.now())
    return "" if end is None else (end - _A_MOMENT).date().isoformat()


def _options(caller: Caller, ids: Sequence[str]) -> str:
    return _listed([get(caller, one).text for one in ids[:_OPTIONS]])


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(f'"{text if len(text) <= _SHORT else text[:_SHORT] + "…"}"' for text in texts)


def _remember(caller: Caller, command: Command) -> list[Receipt]:
    words = command.value or command.text
    if not words:  # "remember this", said after something else
        words = next(reversed(turns(caller, 1)), "")
        command = replace(command, key=note_key(words)) if words else command
    if (command.key or "").startswith("note."):  # words that a correction put in another note's place
        same = [one.key for one in keyed(caller) if one.key and note_key(one.text) == command.key]
        command = replace(command, key=next(iter(same), command.key))
    ttl = command.lifetime or "none"
    command = _beside_what_lasts(caller, command)
    space = command.space or (Space.SESSION if ttl == SESSION_END else Space.USER)
    receipt = remember(
        caller,
        words,
        key=command.key or "",
        kind=command.kind,
        space=space,
        ttl=ttl,
        priority=SESSION_WISH if space is Space.SESSION else _PRIORITY[command.action],
        reason=command.reason,
    )
    return [receipt]


def _beside_what_lasts(caller: Caller, command: Command) -> Command:
    """A wish for a time stands over a lasting one, which holds again afterwards; a new one ends it."""
    if not command.key or is_note(command.key) or command.space is Space.SESSION:
        return command
    known = {one.key: one for one in keyed(caller) if one.space is Space.USER}
    lent = known.get(FOR_NOW + command.key)
    if not command.lifetime:
        if lent is not None:
            forget(caller, lent.id, reason=command.reason)
        return command
    lasting = known.get(command.key)
    beside = lasting is not None and lasting.expires_at is None and command.lifetime != SESSION_END
    return replace(command, key=FOR_NOW + command.key) if beside else command


def _note(caller: Caller, command: Command) -> list[Receipt]:
    """Keep what a person says of themselves; what may harm them waits for their word."""
    if is_sensitive(command.text):
        return [propose(caller, command.text, note_key(command.text), _STATED, command.reason)]
    kind = command.kind
    return [remember(caller, command.text, kind=kind, merge=True, reason=command.reason)]


def _meant(caller: Caller, command: Command) -> Command:
    """`Yes, remember my name` is a word about what was guessed of it, and no note that says "my name"."""
    field = caller.store.ruleset.fields.said(command.text) if command.action is Action.REMEMBER else ""
    waiting = [one.key for one in pending(caller) if _field(caller, one.key) == field] if field else []
    return replace(command, action=Action.CONFIRM, target=Target.KEY, key=waiting[-1]) if waiting else command


def _decide(caller: Caller, command: Command) -> list[Receipt]:
    """The person's word about what was guessed: one by its key, all of them, or the newest."""
    verb = confirm if command.action is Action.CONFIRM else reject
    if command.target is Target.EVERYTHING:
        return [receipt for one in pending(caller) for receipt in _each(caller, command, one)]
    if command.target is Target.LATEST:
        return verb(caller, None, channel=Channel.CHAT)
    if command.rule == ALL:
        return [
            receipt
            for one in pending(caller)
            if one.key == command.key
            for receipt in _each(caller, command, one)
        ]
    wanted = folded(command.key or command.text)
    guesses, field = pending(caller), _field(caller, command.key)
    found = [one for one in guesses if wanted in folded(f"{one.key}\n{one.text}")]
    found = found or [one for one in guesses if _field(caller, one.key) == field]
    return verb(caller, found[-1].key if found else command.key or "nothing", channel=Channel.CHAT)


def _each(caller: Caller, command: Command, guess: Memory) -> list[Receipt]:
    """One of all: a yes to everything names nothing."""
    if command.action is Action.REJECT:
        return reject(caller, guess.key, channel=Channel.CHAT)
    if caller.store.ruleset.fields.may_agree(guess.key, Channel.CHAT, named=False):
        return confirm(caller, guess.key, channel=Channel.CHAT)
    error = unnamed(guess)
    return [Receipt(decision=Outcome.DENIED, code=error.code, warnings=(error.message, error.hint))]


def _field(caller: Caller, key: str | None) -> str:
    return caller.store.ruleset.fields.name_of(key)


def _correct(caller: Caller, command: Command) -> list[Receipt]:
    """A new value for a key; or other words for the memory that is meant, else a new one that says them."""
    if command.rule == ANSWERED:
        said = next(reversed(turns(caller, 1)), command.text)
        return [restate(caller, get(caller, command.key or ""), said, command.reason)]
    if command.key and command.target is Target.KEY:
        return _remember(caller, command)
    if (receipt := correct(caller, command)) is not None:
        return [receipt]
    if command.old or not command.value:
        raise NotFound("There is nothing like that.")
    return _remember(caller, replace(command, key=note_key(command.value)))
