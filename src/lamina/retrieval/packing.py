"""As many hits as fit: the best first, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.model import Hit


def packed(hits: Sequence[Hit], budget_tokens: int | None) -> tuple[Hit, ...]:
    """The hits that fit the budget in their order; a long one that does not fit lets a shorter one in."""
    if budget_tokens is None:
        return tuple(hits)
    chosen, left = [], budget_tokens
    for hit in hits:
        if hit.tokens <= left:
            chosen.append(hit)
            left -= hit.tokens
    return tuple(chosen)
