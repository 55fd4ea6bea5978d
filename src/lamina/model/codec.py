"""Values as plain JSON: one form for every surface, every trace and every hash."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any


def iso(at: datetime) -> str:
    """UTC, ISO-8601, with `Z`; microseconds only where there are any."""
    text = at.astimezone(UTC).isoformat()
    return text.replace("+00:00", "Z")


def plain(value: Any) -> Any:
    """The value as dicts, lists, strings, numbers, booleans and None."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return iso(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [plain(v) for v in items]
    return value


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no blanks, nothing escaped that need not be."""
    return _ENCODER.encode(value)


def _shallow(value: Any) -> Any:
    """One level of a value that JSON does not know; the encoder comes back for what is inside."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    return plain(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_shallow)
