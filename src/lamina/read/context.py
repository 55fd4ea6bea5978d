"""What an agent is told before it acts: who it is for, how it is done here, what happened, what is known."""

from __future__ import annotations

from dataclasses import replace

from lamina.language.user_model import PREFERENCES
from lamina.model import Context, Layer, Space
from lamina.read.category_modes import by_modes
from lamina.read.changes import delta_in
from lamina.read.prompt import Group, Item, block, episodes_group, procedures_group, user_model_group
from lamina.read.recall import find
from lamina.read.resolve import values_in_force
from lamina.read.shelves import episodes_about, procedures_for, user_model
from lamina.read.snapshot import Snapshot, look
from lamina.storage.shelf_contents import pending_on
from lamina.write.caller import Caller
from lamina.write.details import whole_number

#: How many hits a context considers; the budget decides how many it shows.
HITS = 20
#: How many tokens a context may have where nobody says.
BUDGET = 2000
_PROCEDURES, _EPISODES, _PENDING = 3, 3, 10
_KNOWLEDGE = [layer for layer in Layer if layer is not Layer.PROCEDURAL]


def context(caller: Caller, task: str, budget: int, form: str, cursor: str | None = None) -> Context:
    """The block for a prompt, from one snapshot; nothing that a tool or a document said is in it.

    Procedures are in it for those who act: a person, or an agent of `procedure_agents` (IS-12). Cut first is
    what stands last: what changed, what waits, what is linked, what is known, what happened, how it is done,
    who it is for.
    """
    whole_number(budget, "budget_tokens", 0, 2**31)

    def work(snapshot: Snapshot) -> Context:
        delta = None if cursor is None else delta_in(snapshot, cursor)
        changed = () if delta is None else delta.text.splitlines()
        told = Group("changes", tuple(Item(line.removeprefix("- ")) for line in changed))
        return replace(block([*_groups(snapshot, task), told], budget, form), delta=delta)

    return look(caller, work)


def _groups(snapshot: Snapshot, task: str) -> list[Group]:
    """What a prompt is told of, most useful first."""
    values = values_in_force(snapshot)
    known = find(snapshot, task, k=HITS, trusted_only=True, layers=_KNOWLEDGE)
    always, found = by_modes(snapshot, known)
    acts = snapshot.caller.acts and task.strip()
    steps = procedures_for(snapshot, task, _PROCEDURES) if acts else []
    happened = episodes_about(snapshot, "", _EPISODES)
    waiting = pending_on(snapshot.transaction, snapshot.scope.shelf(Space.USER) or "", snapshot.now)
    shown = {value.provenance.memory_id for value in values.values()} | {one.id for one in happened}
    standing = tuple(Item(text) for one, text in always.items() if one not in shown)
    shown |= always.keys()
    named = {name: values[key].value for name, key in PREFERENCES.items() if key in values}
    others = [
        one for key, one in values.items() if not key.startswith("user.") and key not in PREFERENCES.values()
    ]
    return [
        user_model_group(user_model(snapshot), named),
        Group("preferences", tuple(Item(f"{one.key}: {one.value}") for one in others)),
        Group("always", standing),
        procedures_group(steps),
        episodes_group(happened),
        Group("knowledge", tuple(Item(hit.text) for hit in found.hits if hit.id not in shown)),
        Group("related", tuple(Item(one.text) for one in found.related if one.id not in shown)),
        Group("pending", tuple(Item(f"{one.key}: {one.text}") for one in waiting[:_PENDING])),
    ]
