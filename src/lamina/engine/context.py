"""What an agent is told before it acts: the values in force, and what is known about its task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lamina.model import Context, Effective, Recollection
from lamina.views.context import Group, block


def context_of(
    values: dict[str, Effective], found: Recollection, always: Mapping[str, str], budget: int, form: str
) -> Context:
    """The block for a prompt; `found` holds trusted hits only, because nobody asked to see the others.

    `always` is what belongs in every block whatever the task, id to text.
    """
    known = {value.provenance.memory_id for value in values.values()}
    standing = tuple(text for one, text in always.items() if one not in known)
    known |= always.keys()
    changed = tuple(found.delta.text.splitlines()) if found.delta else ()
    made = block(
        [
            Group("changes", tuple(line.removeprefix("- ") for line in changed)),
            Group("always", standing),
            Group("preferences", tuple(f"{key}: {one.value}" for key, one in values.items())),
            Group("knowledge", tuple(hit.text for hit in found.hits if hit.id not in known)),
        ],
        budget,
        form,
    )
    return replace(made, delta=found.delta)
