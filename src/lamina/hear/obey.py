"""What a person tells their memory to do, in their own words: each command becomes a call of a verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lamina.errors import LaminaError, NotFound, Unavailable
from lamina.hear.correct import correct
from lamina.language.acknowledge import acknowledge, refusal
from lamina.language.command import Action, Command, Target
from lamina.language.commands import is_note, note_key
from lamina.model import Deny, Hit, Memory, Outcome, Receipt, Space
from lamina.policy.consent import Channel
from lamina.text.normalise import Language, folded
from lamina.text.ttl import SESSION_END
from lamina.write.guesses import unnamed

if TYPE_CHECKING:
    from lamina.scoped import ScopedMemory

#: What somebody says weighs more than what a program wrote, and a setting more than a note.
_PRIORITY = {Action.REMEMBER: 80, Action.SET: 85, Action.CORRECT: 85}
#: How many memories are looked through for something to forget or to correct.
_LOOKED_AT = 200
#: How many memories are named where somebody is asked which they mean, and how much of each.
_OPTIONS, _SHORT = 4, 60


def obey(
    mind: ScopedMemory, command: Command, said: tuple[Language, str], objection: Deny | None = None
) -> list[Receipt]:
    """Carry one command out and say so; `said` is the language and the verbosity of the answer.

    Every receipt has words: what was done, what is asked back, or why it was refused. With an `objection` to
    the message, nothing of it is done.
    """
    if objection is not None:
        why = tuple(part for part in (objection.why, objection.hint) if part)
        receipts = [Receipt(decision=Outcome.DENIED, code=objection.code, warnings=why)]
        return [_acknowledged(mind, command, one, 1, said) for one in receipts]
    carry: dict[Action, Callable[[ScopedMemory, Command], list[Receipt]]] = {
        Action.REMEMBER: _remember,
        Action.SET: _remember,
        Action.CORRECT: _correct,
        Action.FORGET: _forget,
        Action.CONFIRM: _decide,
        Action.REJECT: _decide,
        Action.WITHHOLD: lambda *_: [Receipt(decision=Outcome.UNCHANGED, code="withheld")],
    }
    command = _meant(mind, command)
    try:
        receipts = carry[command.action](mind, command)
    except Unavailable:
        raise
    except LaminaError as error:
        refused = Receipt(decision=Outcome.DENIED, code=error.code, warnings=(error.message, error.hint))
        receipts = [refused]
    receipts = receipts or [Receipt(decision=Outcome.DENIED, code="not_found")]
    return [_acknowledged(mind, command, one, len(receipts), said) for one in receipts]


def _acknowledged(
    mind: ScopedMemory, command: Command, receipt: Receipt, count: int, said: tuple[Language, str]
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
        details["old"] = mind.get(receipt.ids[0]).text
    elif message == "several_meant":
        details["options"] = _options(mind, receipt.ids)
    elif act is Action.CORRECT and message == "remembered":
        last = mind.history(receipt.ids[0])[-1]
        message = "new_instead" if last.old_text is None else "revised"
        details |= {"value": mind.get(receipt.ids[0]).text, "old": last.old_text or ""}
    return replace(receipt, acknowledgement=acknowledge(message, *said, **details))


def _options(mind: ScopedMemory, ids: Sequence[str]) -> str:
    texts = [mind.get(one).text for one in ids[:_OPTIONS]]
    return ", ".join(f'"{text if len(text) <= _SHORT else text[:_SHORT] + "…"}"' for text in texts)


def _remember(mind: ScopedMemory, command: Command) -> list[Receipt]:
    words = command.value or command.text
    if not words:  # "remember this", said after something else
        words = next(reversed(mind.turns(1)), "")
        command = replace(command, key=note_key(words)) if words else command
    if (command.key or "").startswith("note."):  # words that a correction put in another note's place
        same = [one.key for one in mind.keyed() if one.key and note_key(one.text) == command.key]
        command = replace(command, key=next(iter(same), command.key))
    ttl = command.lifetime or "none"
    space = command.space or (Space.SESSION if ttl == SESSION_END else Space.USER)
    receipt = mind.remember(
        words,
        key=command.key or "",
        kind=command.kind,
        space=space,
        ttl=ttl,
        priority=_PRIORITY[command.action],
        reason=f"said:{command.rule}",
    )
    return [receipt]


def _meant(mind: ScopedMemory, command: Command) -> Command:
    """`Yes, remember my name` is a word about what was guessed of it, and no note that says "my name"."""
    field = mind.engine.ruleset.fields.said(command.text) if command.action is Action.REMEMBER else ""
    waiting = [one.key for one in mind.pending() if _field(mind, one.key) == field] if field else []
    return replace(command, action=Action.CONFIRM, target=Target.KEY, key=waiting[-1]) if waiting else command


def _decide(mind: ScopedMemory, command: Command) -> list[Receipt]:
    """The person's word about what was guessed: one by its key, all of them, or the newest."""
    verb = mind.confirm if command.action is Action.CONFIRM else mind.reject
    if command.target is Target.EVERYTHING:
        return [receipt for one in mind.pending() for receipt in _each(mind, command, one)]
    if command.target is Target.LATEST:
        return verb(None, channel=Channel.CHAT)
    wanted = folded(command.key or command.text)
    found = [one for one in mind.pending() if wanted in folded(f"{one.key}\n{one.text}")]
    found = found or [one for one in mind.pending() if _field(mind, one.key) == _field(mind, command.key)]
    return verb(found[-1].key if found else command.key or "nothing", channel=Channel.CHAT)


def _each(mind: ScopedMemory, command: Command, guess: Memory) -> list[Receipt]:
    """One of all: a yes to everything names nothing."""
    if command.action is Action.REJECT:
        return mind.reject(guess.key, channel=Channel.CHAT)
    if mind.engine.ruleset.fields.may_agree(guess.key, Channel.CHAT, named=False):
        return mind.confirm(guess.key, channel=Channel.CHAT)
    error = unnamed(guess)
    return [Receipt(decision=Outcome.DENIED, code=error.code, warnings=(error.message, error.hint))]


def _field(mind: ScopedMemory, key: str | None) -> str:
    return mind.engine.ruleset.fields.name_of(key)


def _correct(mind: ScopedMemory, command: Command) -> list[Receipt]:
    """A new value for a key; or other words for the memory that is meant, else a new one that says them."""
    if command.key and command.target is Target.KEY:
        return _remember(mind, command)
    if (receipt := correct(mind, command)) is not None:
        return [receipt]
    if command.old or not command.value:
        raise NotFound("There is nothing like that.")
    return _remember(mind, replace(command, key=note_key(command.value)))


def _forget(mind: ScopedMemory, command: Command) -> list[Receipt]:
    reason = f"said:{command.rule}"
    match command.target:
        case Target.KEY:
            found = [one for one in mind.keyed() if one.key == command.key]
            found = found or (_saying(mind, command.text) if command.text else [])
        case Target.LATEST:
            found = mind.latest()
        case Target.EVERYTHING:
            raise NotFound(
                "Forgetting everything is not done on a word.",
                code="confirmation_needed",
                hint="Use `lamina erase`, or name what to forget.",
            )
        case _:
            found = _saying(mind, command.text)
            if command.key and not found:
                found = [one for one in mind.keyed() if one.key == command.key]
    if not found:
        raise NotFound("There is nothing like that.")
    return [mind.forget(one.id, reason=reason) for one in found]


def _saying(mind: ScopedMemory, words: str) -> list[Memory]:
    """The lasting memories whose key or words hold these words, in any spelling that folds to the same."""
    wanted = folded(words)
    hits: Sequence[Hit] = mind.recall(words, k=_LOOKED_AT, spaces=[Space.SESSION, Space.USER]).hits
    known = {hit.id: mind.get(hit.id) for hit in hits}
    known |= {one.id: one for one in [*mind.keyed(), *mind.window()]}
    return [one for one in known.values() if wanted in folded(f"{one.key or ''}\n{one.text}")]
