"""What an agent is told before it acts: who it is for, how it is done here, what happened, what is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lamina.language.user_model import PREFERENCES
from lamina.model import Context, Layer
from lamina.read.category_modes import by_modes
from lamina.read.prompt import Group, Item, block, episodes_group, procedures_group, user_model_group

if TYPE_CHECKING:
    from lamina.scoped import ScopedMemory

#: How many hits a context considers; the budget decides how many it shows.
HITS = 20
_PROCEDURES, _EPISODES, _PENDING = 3, 3, 10
_KNOWLEDGE = [layer for layer in Layer if layer is not Layer.PROCEDURAL]


def context_of(mind: ScopedMemory, task: str, budget: int, form: str, cursor: str | None = None) -> Context:
    """The block for a prompt; nothing that a tool or a document said is in it.

    Procedures are in it for those who act: a person, or an agent of `procedure_agents` (IS-12). Cut first is
    what stands last: what changed, what waits, what is linked, what is known, what happened, how it is done,
    who it is for.
    """
    values, layers = mind.resolve(), mind.layers
    always, found = by_modes(mind, mind.recall(task, k=HITS, trusted_only=True, layers=_KNOWLEDGE))
    delta = None if cursor is None else mind.changes(cursor)
    steps = layers.procedures.find(task, _PROCEDURES) if layers.acts and task.strip() else []
    happened = layers.episodes.find(limit=_EPISODES)
    shown = {value.provenance.memory_id for value in values.values()} | {one.id for one in happened}
    standing = tuple(Item(text) for one, text in always.items() if one not in shown)
    shown |= always.keys()
    told = tuple(Item(line.removeprefix("- ")) for line in delta.text.splitlines()) if delta else ()
    named = {name: values[key].value for name, key in PREFERENCES.items() if key in values}
    others = [
        one for key, one in values.items() if not key.startswith("user.") and key not in PREFERENCES.values()
    ]
    made = block(
        [
            user_model_group(layers.user_model.get(), named),
            Group("preferences", tuple(Item(f"{one.key}: {one.value}") for one in others)),
            Group("always", standing),
            procedures_group(steps),
            episodes_group(happened),
            Group("knowledge", tuple(Item(hit.text) for hit in found.hits if hit.id not in shown)),
            Group("related", tuple(Item(one.text) for one in found.related if one.id not in shown)),
            Group("pending", tuple(Item(f"{one.key}: {one.text}") for one in mind.pending()[:_PENDING])),
            Group("changes", told),
        ],
        budget,
        form,
    )
    return replace(made, delta=delta)
