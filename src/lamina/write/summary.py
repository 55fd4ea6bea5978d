"""The rolling summary of what has left the window of recent turns: fixed length, no model."""

from __future__ import annotations

from collections.abc import Sequence

_PART = 80
_PARTS = 6
_WHOLE = 240


def rolled(earlier: str, turns: Sequence[tuple[str, str]]) -> str:
    """What was summed up before, then who said what; each part cut, and the whole."""
    parts = [f"Earlier: {_cut(earlier.removeprefix('Earlier: '), _PART)}"] if earlier else []
    parts += [f"{who}: {_cut(text, _PART)}" for who, text in turns[-_PARTS:]]
    whole = " | ".join(parts)
    return whole if len(whole) <= _WHOLE else f"{whole[:_WHOLE]}..."


def _cut(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit]
