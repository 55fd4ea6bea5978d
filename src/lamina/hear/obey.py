"""What a person tells their memory to do, in their own words: each command becomes a call of a verb."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lamina.errors import LaminaError, NotFound, Unavailable
from lamina.language.acknowledge import acknowledge, refusal
from lamina.language.command import Action, Command, Target
from lamina.language.commands import is_note, note_key
from lamina.layers.confirm import confirm
from lamina.model import Memory, Outcome, Receipt, Space
from lamina.policy.consent import Channel
from lamina.read.recall import recall
from lamina.read.shelves import keyed, latest, turns, window
from lamina.text.normalise import Language, folded
from lamina.text.ttl import SESSION_END
from lamina.write.caller import Caller
from lamina.write.change import forget, get, revise
from lamina.write.guesses import unnamed
from lamina.write.propose import pending, reject
from lamina.write.remember import remember

#: What somebody says weighs more than what a program wrote, and a setting more than a note.
_PRIORITY = {Action.REMEMBER: 80, Action.SET: 85, Action.CORRECT: 85}
#: How many memories are looked through for something to forget or to correct.
_LOOKED_AT = 200


def obey(caller: Caller, command: Command, said: tuple[Language, str]) -> list[Receipt]:
    """Carry one command out and say so; `said` is the language and the verbosity of the answer."""
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
    return [_acknowledged(command, one, len(receipts), said) for one in receipts]


def _acknowledged(command: Command, receipt: Receipt, count: int, said: tuple[Language, str]) -> Receipt:
    message = {
        "allowed": "revised" if command.action is Action.CORRECT else "remembered",
        "same": "unchanged",
        "not_found": "nothing_pending" if command.action in (Action.CONFIRM, Action.REJECT) else "not_found",
    }.get(receipt.code, receipt.code)
    if receipt.decision is Outcome.DENIED and message not in ("not_found", "nothing_pending"):
        message = refusal(receipt.code)
    if message == "forgotten" and count > 1:
        message = "forgotten_many"
    key, value = command.key or "", command.value or ""
    if is_note(key):
        key = ""  # it stands for the words, and says nothing to a person
    text = acknowledge(message, *said, key=key, value=value, count=count)
    return replace(receipt, acknowledgement=text)


def _remember(caller: Caller, command: Command) -> list[Receipt]:
    words = command.value or command.text
    if not words:  # "remember this", said after something else
        words = next(reversed(turns(caller, 1)), "")
        command = replace(command, key=note_key(words)) if words else command
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
    """A new value for a key; or other words where somebody says which are wrong."""
    if command.key and command.target is Target.KEY:
        return _remember(caller, command)
    if command.old and command.value:
        for memory in _saying(caller, command.old):
            if command.old in memory.text:
                words = memory.text.replace(command.old, command.value)
                return [revise(caller, memory.id, words, reason=f"said:{command.rule}")]
    if command.old:
        raise NotFound("There is nothing like that.")
    return _remember(caller, command)


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
