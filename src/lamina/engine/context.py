"""What an agent is told before it acts: the values in force, and what is known about its task."""

from __future__ import annotations

from lamina.model import Context, Effective, Recollection
from lamina.views.context import Group, block


def context_of(values: dict[str, Effective], found: Recollection, budget: int, form: str) -> Context:
    """The block for a prompt; `found` holds trusted hits only, because nobody asked to see the others."""
    known = {value.provenance.memory_id for value in values.values()}
    return block(
        [
            Group("preferences", tuple(f"{key}: {one.value}" for key, one in values.items())),
            Group("knowledge", tuple(hit.text for hit in found.hits if hit.id not in known)),
        ],
        budget,
        form,
    )
