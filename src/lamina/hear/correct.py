"""Somebody puts right what they said: what is meant is changed and nothing of it lost, or they are asked."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.hear.about import Known, certain, chosen, echoes, fitting, known_to
from lamina.language.amend import Amended, Correction, amended, best, corrections
from lamina.language.command import Action, Command, Target
from lamina.language.hearing import hear
from lamina.language.joined import becomes
from lamina.language.relation import Does
from lamina.language.slots import is_sensitive, taken_back
from lamina.language.sorts import Reader
from lamina.language.understanding import Listener, heard_whole
from lamina.model import Kind, Layer, Memory, Outcome, Receipt, Space
from lamina.read.shelves import loaded
from lamina.write.details import Details
from lamina.write.store import Caller
from lamina.write.verbs import put_behind, remember, revise

#: The rule of a correction that nobody gave as a command.
_NOTICED = "amends"
#: And of one that a model hears.
HEARD = "heard_correct"

Named = list[tuple[Memory, Amended]]


def noticed(caller: Caller, text: str) -> list[Command]:
    """The correction in a message that gives no command, where it says what is wrong and what is right, and
    something that is known says what is wrong."""
    readings = corrections(text, caller.store.ruleset.rules)
    said = next((one.said for one in readings if one.named), None)
    if said is None or not _named(caller, readings, known_to(caller, said)):
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
    reason = command.reason
    if command.meant:
        return _changed(caller, loaded(caller, command.meant), command, reason)
    readings = corrections(command.text, caller.store.ruleset.rules, asked=True)
    if command.old and command.value:
        readings.insert(0, Correction(command.text, command.old, command.value))
    said = next((one.said for one in readings if one.named), command.text)
    known = known_to(caller, said)
    if found := _named(caller, readings, known):
        if len(found) == 1 and not found[0][1].text:
            return Receipt(decision=Outcome.DENIED, code="correction_unclear", ids=(found[0][0].id,))
        return _changed(caller, [memory for memory, _ in found], command, reason)
    about = known if said == command.text else None
    fits = [one for one in fitting(caller, certain(command.text, Does.CORRECT), about) if one.is_sentence]
    meant = chosen(caller, fits, Does.CORRECT)
    named = any(one.named for one in readings)  # what is wrong is said, and nothing says it
    if meant is None or (named and not any(one.words for one in meant.fits)):
        return None
    if not meant.clear:
        return Receipt(decision=Outcome.DENIED, code="several_meant", ids=meant.ids)
    return restate(caller, meant.fits[0].memory, command.text, reason)


def _changed(caller: Caller, memories: Sequence[Memory], command: Command, reason: str) -> Receipt:
    if len(memories) != 1 or not command.clear:
        ordered = sorted(memories, key=lambda one: (one.created_at, one.id))
        return Receipt(decision=Outcome.DENIED, code="several_meant", ids=tuple(one.id for one in ordered))
    first = Correction(command.text, command.old or "", command.value or "")
    return restate(caller, memories[0], command.text, reason, first)


def restate(
    caller: Caller, memory: Memory, said: str, reason: str, first: Correction | None = None
) -> Receipt:
    """The memory says from now on what the person says instead; what said the old words steps behind it.

    A turn stays as it was said: whoever puts right what they told cares about it, so what holds now is kept;
    what they asked for is put right for the session. Whoever says that they misspoke does not want to hear
    the old words again.
    """
    words = becomes(said, memory.text, caller.store.ruleset.rules, first)
    behind = echoes(caller, memory)
    if memory.layer is Layer.WORKING and _is_told(caller, memory.text):
        receipt = remember(caller, words, kind=Kind.FACT, merge=True, reason=reason)
        behind = [*behind, memory]
    elif memory.layer is Layer.WORKING or _only_heard(memory):
        own = Details(kind=Kind.FACT, reason=reason)
        own |= {"key": memory.key} if memory.key else {"space": Space.SESSION, "layer": Layer.SEMANTIC}
        receipt = remember(caller, words, **own)
    else:
        back = taken_back(said) is not None
        receipt = revise(caller, memory.id, words, expect=memory.revision, reason=reason, takes_back=back)
    if receipt.decision is Outcome.ADMITTED:
        put_behind(caller, [one.id for one in behind if one.id not in receipt.ids], receipt.ids[0])
    return receipt


def _named(caller: Caller, readings: Sequence[Correction], met: Known) -> Named:
    """What a correction is about that names what is wrong; several memories where none fits clearly best."""
    known = [one for one, _ in met]
    changes: dict[str, Amended] = {}
    for reading in (one for one in readings if one.named):
        for one in known:
            change = amended(reading, one.text, caller.store.ruleset.rules, asked=True)
            if change is not None and (one.id not in changes or change.fit > changes[one.id].fit):
                changes[one.id] = change
    by_id = {one.id: one for one in known}
    kept = [(one, change) for one, change in changes.items() if by_id[one].layer is not Layer.WORKING]
    return [(by_id[one], change) for one, change in best(kept or list(changes.items()))]


def _is_told(caller: Caller, text: str) -> bool:
    """Whether a turn tells something: it neither asks, nor hands out a task, nor may it harm its person."""
    reader = caller.store.embedder
    listener = Listener(
        hear(text, caller.store.ruleset.rules), reader=reader if isinstance(reader, Reader) else None
    )
    whole = heard_whole(listener)
    return whole is not None and not whole.is_frame and not is_sensitive(text)


def _only_heard(memory: Memory) -> bool:
    """Whether nobody set it: it was said in passing, and goes with its session."""
    return memory.space is Space.SESSION and memory.layer is Layer.USER_MODEL
