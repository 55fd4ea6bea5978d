"""What a model sees of an answer: the fields that help it, without nulls, and the schema that says so."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from lamina.documents.results import SearchResult, SearchResults
from lamina.layers.layers import Learned, Warned
from lamina.lifecycle.consent import Proposal
from lamina.model import (
    Context,
    Explanation,
    Heard,
    HistoryEntry,
    Hit,
    Memory,
    Provenance,
    Receipt,
    Recollection,
    plain,
)
from lamina.operations.operation import Operation
from lamina.read.status import StoreStatus
from lamina.text.accounts import Episode, Procedure

#: Fields of an answer that are for programs and not for a model; every other field is shown.
HIDDEN: Mapping[type, tuple[str, ...]] = {
    Context: ("parts",),
    Explanation: ("history",),
    Heard: ("events", "asked"),
    Hit: ("ranks", "scores", "adjustments"),
    HistoryEntry: ("memory_id",),
    Memory: (
        "owner",
        "tick",
        "phase",
        "ttl",
        "valid_from",
        "valid_until",
        "expires_tick",
        "retired_tick",
        "last_accessed_at",
        "access_count",
        "decay_score",
        "meta",
    ),
    Proposal: ("id", "field", "days_left", "created_at", "reason"),
    Provenance: ("message_range", "source_turn_ids", "session_path", "run_id"),
    Receipt: ("events",),
    Recollection: ("events",),
    SearchResult: ("reasons",),
    StoreStatus: ("analyser", "documents"),
}
#: Answers whose clients know their fields in the form of JavaScript.
CAMEL = (SearchResults, SearchResult)
_PLAIN: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def shown(operation: Operation, answer: Any) -> dict[str, Any]:
    """An answer as structured content."""
    value = _seen(answer)
    if isinstance(value, dict) and not _is_table(operation.answer):
        return value
    name = operation.tool.items if operation.tool is not None else "items"
    if isinstance(answer, Mapping):
        return {name: value if name != "values" else list(value.values())}
    return {name if isinstance(value, list) else "result": value}


def schema_of(operation: Operation) -> dict[str, Any]:
    """The schema of what `shown` makes, as short as a schema can be."""
    if operation.name == "update_user_model":
        return {"type": "object", "properties": {"model": {"type": "object"}, "pending": {"type": "array"}}}
    kind, name = operation.answer, operation.tool.items if operation.tool is not None else "items"
    made = _schema(kind)
    if _is_table(kind) and name == "values":
        made = {"type": "array", "items": _schema(get_args(kind)[1])}
    if made.get("type") == "object" and not _is_table(kind):
        return made
    inside = name if made.get("type") == "array" or _is_table(kind) else "result"
    return {"type": "object", "properties": {inside: made}}


def _is_table(kind: Any) -> bool:
    return get_origin(kind) in (dict, Mapping) or kind in (dict, Mapping)


def _seen(value: Any) -> Any:
    if isinstance(value, Procedure | Episode | Warned):
        return value.to_plain()
    if isinstance(value, Learned):
        kept = {"success": True, "id": next(iter(value.receipt.ids), None), "code": value.receipt.code}
        kept |= {"layer": value.layer.value, "file": value.file, "warning": _seen(value.warning)}
        return {name: one for name, one in kept.items() if one is not None}
    if is_dataclass(value) and not isinstance(value, type):
        names = {name: getattr(value, name) for name in _names(type(value))}
        return {
            _wire(type(value), name): seen for name, one in names.items() if (seen := _seen(one)) is not None
        }
    if isinstance(value, Mapping):
        return {str(name): _seen(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_seen(one) for one in (sorted(value) if isinstance(value, set | frozenset) else value)]
    return str(value) if isinstance(value, Path) else plain(value)


def _names(kind: type) -> list[str]:
    hidden = HIDDEN.get(kind, ())
    return [one.name for one in fields(kind) if one.name not in hidden]


def _wire(kind: type, name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name) if kind in CAMEL else name


def _schema(kind: Any, *, whole: bool = True) -> dict[str, Any]:
    """What an answer holds, and each item of the first list in it; what is further inside is only named."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        real = [one for one in get_args(kind) if one is not type(None)]
        return _schema(real[0], whole=whole) if len(real) == 1 else {}
    if origin in (list, tuple, set, frozenset):
        return {"type": "array", "items": _schema(get_args(kind)[0])}
    if _is_table(kind) or kind in (Procedure, Episode, Warned, Learned):
        return {"type": "object"}
    if isinstance(kind, type) and is_dataclass(kind):
        if not whole:
            return {"type": "object"}
        hints = get_type_hints(kind)
        inside = {_wire(kind, name): _schema(hints[name], whole=False) for name in _names(kind)}
        described = [one for one in inside.values() if "properties" in one.get("items", ())]
        for further in described[1:]:
            further["items"] = {"type": "object"}
        return {"type": "object", "properties": inside}
    if isinstance(kind, type) and issubclass(kind, Enum | datetime | Path):
        return {"type": "string"}
    return {"type": _PLAIN[kind]} if kind in _PLAIN else {}
