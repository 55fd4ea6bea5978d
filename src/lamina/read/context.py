"""What an agent is told before it acts: who it is for, how it is done here, what happened, what is known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import Any

from lamina.language.command import WISH
from lamina.language.user_model import PREFERENCES
from lamina.model import Context, Effective, Hit, Layer, Memory, Role, Space, Trust
from lamina.ranking.tiers import is_likely
from lamina.read.answered import Given, kept_question, note_answer
from lamina.read.category_modes import by_modes
from lamina.read.changes import delta_in
from lamina.read.prompt import Group, PromptItem, block, episodes_group, procedures_group, user_model_group
from lamina.read.recall import find
from lamina.read.resolve import values_in_force
from lamina.read.shelves import episodes_about, procedures_for, user_model
from lamina.read.snapshot import Snapshot, look
from lamina.similarity.echoes import same, telling
from lamina.storage.shelf_contents import pending_on, told_on
from lamina.text.normalise import is_note, undirected
from lamina.text.tokens import count_tokens
from lamina.write.details import whole_number
from lamina.write.noes import ASKED_AGAIN
from lamina.write.store import Caller

#: How many hits a context considers; the budget decides how many it shows.
HITS = 20
_PROCEDURES, _EPISODES, _PENDING = 3, 3, 10
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
#: Of the best so many, what is no more than a guess by meaning is shown, too, if it is meant to last.
_GUESSES = 3
#: How many of the latest statements are looked through for what a person told of themselves.
_STATED = 20
#: How many tokens a sentence has beside the value that it is there for.
_FRAME = 6
_KNOWLEDGE = [layer for layer in Layer if layer is not Layer.PROCEDURAL]


def context(
    caller: Caller, task: str, budget: int, form: str, cursor: str | None = None, *, cite: bool = False
) -> Context:
    """The block for a prompt, from one snapshot; nothing that a tool or a document said is in it.

    Procedures are in it for those who act: a person, or an agent of `procedure_agents` (IS-12). What stands
    first is served first when there is too little room. Nothing is in it twice, and the task is not in it.
    With `cite`, an id stands behind whatever has one, not only behind what was found for the task.
    """
    whole_number(budget, "budget_tokens", 0, 2**31)

    def work(snapshot: Snapshot) -> Context:
        delta = None if cursor is None else delta_in(snapshot, cursor)
        changed = () if delta is None else delta.text.splitlines()
        told = Group("changes", _items(line.removeprefix("- ") for line in changed))
        made = replace(block([*_groups(snapshot, task, cite), told], budget, form), delta=delta)
        words = unescape(" ".join(made.text.split()))
        shown = [one.id for one in snapshot.considered if undirected(" ".join(one.text.split())) in words]
        asked = {"budget_tokens": budget, "form": form}
        given = Given("context", kept_question(task), asked, shown, made.text)
        return replace(made, answer=note_answer(snapshot, given))

    return look(caller, work, question=task)


def _groups(snapshot: Snapshot, task: str, cite: bool) -> list[Group]:
    """What a prompt is told of, most useful first."""
    values = values_in_force(snapshot)
    known = find(snapshot, task, k=HITS, trusted_only=True, layers=_KNOWLEDGE)
    always, found = by_modes(snapshot, known)
    acts = snapshot.caller.acts and task.strip()
    steps = procedures_for(snapshot, task, _PROCEDURES) if acts else []
    happened = episodes_about(snapshot, "", _EPISODES)
    shelf = snapshot.scope.shelf(Space.USER) or ""
    waiting = pending_on(snapshot.transaction, shelf, snapshot.now)
    own = _own(snapshot, shelf)
    stated = [one for value in values.values() for one in (value.provenance, *value.shadows)]
    shown = {one.memory_id for one in stated} | {one.id for one in happened}
    standing = {one: text for one, text in always.items() if one not in shown}
    shown |= always.keys() | {one.id for one in snapshot.considered if _is_put_right(one)}
    model = user_model(snapshot)
    named = {name: values[key].value for name, key in PREFERENCES.items() if key in values}
    rank = {hit.id: number for number, hit in enumerate(found.hits)}
    others, notes = _others(values, model, rank)
    told = [one.value for one in values.values()] + [*standing.values(), *(one.summary for one in happened)]
    told += [model["name"]] if "name" in model else []
    hits = _worth([hit for hit in found.hits if hit.id not in shown], own)
    shown |= {hit.id for hit in hits}
    said = {same(text) for text in (task, *told)}
    rest = [one for one in own.values() if one.id not in shown and same(one.text) not in said]
    rest = [one for one in rest if not _only_says(one.text, told)]
    rest.sort(key=lambda one: rank.get(one.id, HITS))
    told += [one.text for one in rest]
    knowledge = telling(hits, task, told, snapshot.caller.store.ruleset.rules)
    said = {same(text) for text in (task, *told, *(hit.text for hit in knowledge))}
    beside = [one.text for one in found.related if one.id not in shown and same(one.text) not in said]
    return [
        user_model_group(model, named),
        Group("preferences", tuple(PromptItem(_named(one) + _cited(one, cite)) for one in others)),
        Group("notes", _items([_cited(one, cite) for one in notes] + [_whole(one, cite) for one in rest])),
        Group("always", _items(f"{text} [{one}]" if cite else text for one, text in standing.items())),
        procedures_group(steps),
        episodes_group(happened),
        Group("knowledge", tuple(PromptItem(_told(hit)) for hit in knowledge)),
        Group("related", _items(beside)),
        Group("pending", _items(_asked(one) for one in _askable(waiting)[:_PENDING])),
    ]


def _asked(one: Memory) -> str:
    """A guess in words, without a key that was made up for it."""
    return one.text if is_note(one.key) else f"{one.key}: {one.text}"


def _askable(waiting: Sequence[Memory]) -> list[Memory]:
    """What an agent may ask about: nothing that a tool or a document said, nor what is near a person's no."""
    return [
        one
        for one in waiting
        if one.provenance.trust is Trust.TRUSTED and not (one.key or "").startswith(ASKED_AGAIN)
    ]


def _items(texts: Iterable[str]) -> tuple[PromptItem, ...]:
    """One line each, in their order, nothing twice."""
    said: dict[str, PromptItem] = {}
    for text in texts:
        said.setdefault(same(text), PromptItem(text))
    return tuple(said.values())


def _others(
    values: Mapping[str, Effective], model: Mapping[str, Any], rank: Mapping[str, int]
) -> tuple[list[Effective], list[Effective]]:
    """The values that the model of the user does not show: those under a key that says something, and what
    was to be remembered as it was said, what fits the task first and then the newest."""
    heard = {"name"} if "name" in model else set()
    heard |= {"timezone"} if "user.timezone" in model["known"] else set()
    heard |= {"language"} if PREFERENCES["language"] in values else set()
    others = [
        one
        for key, one in values.items()
        if not key.startswith("user.") and key not in PREFERENCES.values() and key not in heard
    ]
    notes = [one for one in others if is_note(one.key)]
    newest = sorted(notes, key=lambda one: (one.provenance.updated_at or _NEVER, one.key), reverse=True)
    newest.sort(key=lambda one: rank.get(one.provenance.memory_id or "", HITS))
    return [one for one in others if not is_note(one.key)], newest


def _named(value: Effective) -> str:
    """The key before a value; that of a wish which has no setting of its own says nothing to anybody."""
    return "" if value.key.startswith(WISH) else f"{value.key}: "


def _cited(value: Effective, cite: bool) -> str:
    """A value, with the id of the memory that says so; the policy's is nobody's to read."""
    own = value.provenance.memory_id
    return f"{value.value} [{own}]" if cite and own else value.value


def _only_says(text: str, values: Sequence[str]) -> bool:
    """Whether a short sentence says no more than a value that stands above: "My name is Ada"."""
    return any(one in text and count_tokens(text) <= count_tokens(one) + _FRAME for one in values)


def _own(snapshot: Snapshot, shelf: str) -> dict[str, Memory]:
    """What a person told of themselves that holds: what bears on the task, what matters, what is new."""
    latest = told_on(snapshot.transaction, shelf, snapshot.now, _STATED)
    known = {one.id for one in snapshot.considered}
    snapshot.considered.extend(one for one in latest if one.id not in known and _is_told(one))
    return {one.id: one for one in snapshot.considered if one.shelf == shelf and _is_told(one)}


def _is_told(memory: Memory) -> bool:
    spoken = memory.provenance.is_spoken and memory.provenance.role is Role.USER
    return spoken and memory.key is None and memory.superseded_by is None


def _is_put_right(memory: Memory) -> bool:
    """Whether it was said in passing, and a memory says now what holds."""
    return memory.layer is Layer.WORKING and memory.superseded_by is not None


def _whole(memory: Memory, cite: bool) -> str:
    return f"{memory.text} [{memory.id}]" if cite else memory.text


def _told(hit: Hit) -> str:
    """A hit as a prompt is told of it: by its id, and with a word of doubt where there is some."""
    return f"{hit.text} [{hit.id}{', unsure' if hit.uncertainty == 'high' else ''}]"


def _worth(hits: Sequence[Hit], own: Collection[str]) -> list[Hit]:
    """What bears on the task, and a guess where little does: nothing that was only said in passing, and of
    what a person told of themselves, which is in the prompt anyway, nothing doubtful."""
    guesses = {hit.id for hit in hits[:_GUESSES] if hit.layer is not Layer.WORKING}
    doubted = {hit.id for hit in hits if hit.uncertainty == "high" and hit.id in own}
    return [hit for hit in hits if hit.id not in doubted and (hit.id in guesses or is_likely(hit.scores))]
