"""What a person tells their memory to do, in their own words: each command becomes a call of a verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lamina.errors import LaminaError, NotFound, Unavailable
from lamina.hear.correct import correct
from lamina.language.acknowledge import acknowledge, refusal
from lamina.language.command import Action, Command, Target
from lamina.language.commands import is_note, note_key
from lamina.layers.confirm import confirm
from lamina.model import Deny, Memory, Outcome, Receipt, Space
from lamina.policy.consent import Channel
from lamina.read.explain import history
from lamina.read.recall import recall
from lamina.read.shelves import keyed, latest, turns, window
from lamina.text.normalise import Language, folded
from lamina.text.ttl import SESSION_END
from lamina.write.caller import Caller
from lamina.write.change import forget, get
from lamina.write.guesses import unnamed
from lamina.write.propose import pending, reject
from lamina.write.remember import remember

#: What somebody says weighs more than what a program wrote, and a setting more than a note.
_PRIORITY = {Action.REMEMBER: 80, Action.SET: 85, Action.CORRECT: 85}
#: How many memories are looked through for something to forget or to correct.
_LOOKED_AT = 200
#: How many memories are named where somebody is asked which they mean, and how much of each.
_OPTIONS, _SHORT = 4, 60


def obey(
    caller: Caller, command: Command, said: tuple[Language, str], objection: Deny | None = None
) -> list[Receipt]:
    """Carry one command out and say so; `said` is the language and the verbosity of the answer.

    Every receipt has words: what was done, what is asked back, or why it was refused. With an `objection` to
    the message, nothing of it is done.
    """
    if objection is not None:
        why = tuple(part for part in (objection.why, objection.hint) if part)
        receipts = [Receipt(decision=Outcome.DENIED, code=objection.code, warnings=why)]
        return [_acknowledged(caller, command, one, 1, said) for one in receipts]
    carry: dict[Action, Callable[[Caller, Command], list[Receipt]]] = {
        Action.REMEMBER: _remember,
        Action.SET: _remember,
        Action.CORRECT: _correct,
        Action.FORGET: _forget,
        Action.CONFIRM: _decide,
        Action.REJECT: _decide,
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
    return [_acknowledged(caller, command, one, len(receipts), said) for one in receipts]


def _acknowledged(
    caller: Caller, command: Command, receipt: Receipt, count: int, said: tuple[Language, str]
) -> Receipt:
    """The receipt with its words; what a correction came to is read from the store again."""
    act, code = command.action, receipt.code
    if receipt.decision is Outcome.DENIED:
        missing = act in (Action.CONFIRM, Action.REJECT) and code == "not_found"
        message = "nothing_pending" if missing else refusal(code)
    else:
        message = {"allowed": "remembered", "same": "unchanged", "pending": "held"}.get(code, code)
    if message == "forgotten" and count > 1:
        message = "forgotten_many"
    key = "" if is_note(command.key or "") else command.key  # its digits say nothing to a person
    details: dict[str, Any] = {"key": key or "", "value": command.value or "", "count": count, "act": act}
    if message == "correction_unclear":
        details["old"] = get(caller, receipt.ids[0]).text
    elif message == "several_meant":
        details["options"] = _options(caller, receipt.ids)
    elif act is Action.CORRECT and message == "remembered":
        last = history(caller, receipt.ids[0])[-1]
        message = "new_instead" if last.old_text is None else "revised"
        details |= {"value": get(caller, receipt.ids[0]).text, "old": last.old_text or ""}
    return replace(receipt, acknowledgement=acknowledge(message, *said, **details))


def _options(caller: Caller, ids: Sequence[str]) -> str:
    texts = [get(caller, one).text for one in ids[:_OPTIONS]]
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
    space = command.space or (Space.SESSION if ttl == SESSION_END else Space.USER)
    receipt = remember(
        caller,
        words,
        key=command.key or "",
        kind=command.kind,
        space=space,
        ttl=ttl,
        priority=_PRIORITY[command.action],
        reason=f"said:{command.rule}",
    )
    return [receipt]


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
    if command.key and command.target is Target.KEY:
        return _remember(caller, command)
    if (receipt := correct(caller, command)) is not None:
        return [receipt]
    if command.old or not command.value:
        raise NotFound("There is nothing like that.")
    return _remember(caller, replace(command, key=note_key(command.value)))


def _forget(caller: Caller, command: Command) -> list[Receipt]:
    reason = f"said:{command.rule}"
    match command.target:
        case Target.KEY:
            found = [one for one in keyed(caller) if one.key == command.key]
            found = found or (_saying(caller, command.text) if command.text else [])
        case Target.LATEST:
            found = latest(caller)
        case Target.EVERYTHING:
            raise NotFound(
                "Forgetting everything is not done on a word.",
                code="confirmation_needed",
                hint="Use `lamina erase`, or name what to forget.",
            )
        case _:
            found = _saying(caller, command.text)
            if command.key and not found:
                found = [one for one in keyed(caller) if one.key == command.key]
    if not found:
        raise NotFound("There is nothing like that.")
    return [forget(caller, one.id, reason=reason) for one in found]


def _saying(caller: Caller, words: str) -> list[Memory]:
    """The lasting memories whose key or words hold these words, in any spelling that folds to the same."""
    wanted = folded(words)
    hits = recall(caller, words, {"k": _LOOKED_AT, "spaces": [Space.SESSION, Space.USER]}).hits
    known = {hit.id: get(caller, hit.id) for hit in hits}
    known |= {one.id: one for one in [*keyed(caller), *window(caller)]}
    return [one for one in known.values() if wanted in folded(f"{one.key or ''}\n{one.text}")]
