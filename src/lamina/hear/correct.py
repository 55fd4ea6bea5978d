"""Somebody puts right what they said: the lasting memory they mean is changed, or they are asked which."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.hear.about import lasting, meant
from lamina.language.amend import Amended, Correction, amended, best, corrections
from lamina.language.command import Action, Command, Target
from lamina.language.slots import taken_back
from lamina.model import Kind, Layer, Memory, Outcome, Receipt, Space
from lamina.read.shelves import latest
from lamina.write.caller import Caller
from lamina.write.change import revise
from lamina.write.remember import remember

#: The rule of a correction that nobody gave as a command.
_NOTICED = "amends"
#: And of one that a model hears.
HEARD = "heard_correct"

Meant = list[tuple[Memory, Amended]]


def noticed(caller: Caller, text: str, *, named: bool = False) -> list[Command]:
    """The correction in a message that gives no command, where it is one of something that is known.

    `named`: only one that says what is wrong and what is right.
    """
    back = taken_back(text) is not None
    readings = corrections(text, caller.store.ruleset.rules, asked=back)
    readings = [one for one in readings if one.named or not named]
    if not readings or not _meant(caller, readings, asked=back):
        return []
    return [
        Command(
            action=Action.CORRECT,
            target=Target.TEXT,
            text=text,
            kind=Kind.FACT,
            span=(0, len(text)),
            rule=_NOTICED,
        )
    ]


def correct(caller: Caller, command: Command) -> Receipt | None:
    """Change the one memory that a correction means; None where nothing like it is known."""
    asked = command.rule != _NOTICED or taken_back(command.text) is not None
    readings = corrections(command.text, caller.store.ruleset.rules, asked=asked)
    if command.old and command.value:
        readings.insert(0, Correction(command.text, command.old, command.value))
    found = _meant(caller, readings, asked=asked)
    if not found:
        return _restated(caller, command) if command.rule == HEARD else None
    if len(found) > 1:
        ids = tuple(memory.id for memory, _ in found)
        return Receipt(decision=Outcome.DENIED, code="several_meant", ids=ids)
    ((memory, change),) = found
    if not change.text:
        return Receipt(decision=Outcome.DENIED, code="correction_unclear", ids=(memory.id,))
    reason = f"said:{command.rule}"
    if _only_heard(memory):
        return remember(caller, change.text, key=memory.key or "", kind=Kind.FACT, reason=reason)
    return _revised(caller, memory, change.text, command.text, reason)


def _revised(caller: Caller, memory: Memory, words: str, said: str, reason: str) -> Receipt:
    """The memory in other words; whoever says that they misspoke does not want to hear the old ones again."""
    back = taken_back(said) is not None
    return revise(caller, memory.id, words, expect=memory.revision, reason=reason, takes_back=back)


def _restated(caller: Caller, command: Command) -> Receipt | None:
    """Say a memory anew in the words of a message that sounds like a correction, where it is clear which."""
    fits = [one for one in meant(caller, command.text) if one.is_sentence]
    if not fits:
        return None
    if len(fits) > 1 and len(clashing := [one for one in fits if one.clashes]) == 1:
        fits = clashing  # another day can only stand against a day
    if len(fits) > 1:
        return Receipt(
            decision=Outcome.DENIED, code="several_meant", ids=tuple(one.memory.id for one in fits)
        )
    return restate(caller, fits[0].memory, command.text, f"said:{command.rule}")


def restate(caller: Caller, memory: Memory, text: str, reason: str) -> Receipt:
    """The memory says from now on what the person says instead."""
    book = caller.store.ruleset.rules
    readings = [*corrections(text, book, asked=True), Correction(text)]
    changes = [change for one in readings if (change := amended(one, memory.text, book, asked=True))]
    words = next((change.text for change in changes if change.text), text)
    return _revised(caller, memory, words, text, reason)


def _meant(caller: Caller, readings: Sequence[Correction], *, asked: bool) -> Meant:
    """What a correction is about: readings that name what is wrong come first; several memories where none
    of them fits clearly best."""
    found = lasting(caller, readings[0].said) if readings else {}
    known = {one: memory for one, (memory, _) in found.items()}
    last = {one.id for one in latest(caller)}
    for named in (True, False):
        changes: dict[str, Amended] = {}
        for reading in (one for one in readings if one.named is named):
            for one in known.values():
                if not named and not _is_sentence(one):
                    continue
                change = amended(reading, one.text, caller.store.ruleset.rules, asked=asked)
                if change is None or (change.bare and one.id not in last):
                    continue
                if one.id not in changes or change.fit > changes[one.id].fit:
                    changes[one.id] = change
        if changes:
            return [(known[one], change) for one, change in best(list(changes.items()))]
    return []


def _is_sentence(memory: Memory) -> bool:
    """Whether it can be said again: the value of a key, such as a time zone, cannot."""
    return memory.key is None or memory.key.startswith("note.")


def _only_heard(memory: Memory) -> bool:
    """Whether nobody set it: it was said in passing, and goes with its session."""
    return memory.space is Space.SESSION and memory.layer is Layer.USER_MODEL
