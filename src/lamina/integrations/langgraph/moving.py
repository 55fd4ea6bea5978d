"""Checkpoints out of LangGraph's own savers, copied and then compared one by one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from lamina.errors import Conflict, Damaged, InvalidInput
from lamina.integrations.langgraph.checkpoints import CheckpointSaver
from lamina.integrations.langgraph.rows import ThreadPlace, json_text
from lamina.records import dataclass

_SQLITE = """SELECT task_id, task_path, idx, channel, type, value FROM writes
 WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"""
_POSTGRES = """SELECT task_id, task_path, idx, channel, type, blob FROM checkpoint_writes
 WHERE thread_id = %s AND checkpoint_ns = %s AND checkpoint_id = %s"""

#: Task, its path, the number of the write, its channel, its value.
Write = tuple[str, str, int, str, Any]


@dataclass(frozen=True, slots=True)
class Moved:
    """What was copied, and found again as it was."""

    threads: int
    checkpoints: int
    writes: int


def move_checkpoints(
    source: BaseCheckpointSaver[Any], target: CheckpointSaver, *, threads: Collection[str] | None = None
) -> Moved:
    """Copy the threads of LangGraph's in-memory, SQLite or PostgreSQL saver to the target's user.

    Every checkpoint is read back and compared before this returns; the source is only read. Running it again
    changes nothing. Raises Damaged when something did not arrive as it was, and Conflict when the source
    was written to meanwhile.
    """
    _kind(source)
    found, writes = _ids(source, threads), 0
    stored: set[tuple[str, ...]] = set()
    for place in found:
        one = source.get_tuple(_config(place))
        if one is None:
            raise _moving()
        rows = list(_writes(source, place))
        _copy(target, one, rows, stored)
        _compare(target, one)
        writes += len(rows)
    if _ids(source, threads) != found:
        raise _moving()
    return Moved(len({place[0] for place in found}), len(found), writes)


class _Stored(NamedTuple):
    """Where a checkpoint stands."""

    thread: str
    ns: str
    id: str


def _ids(source: BaseCheckpointSaver[Any], threads: Collection[str] | None) -> list[_Stored]:
    """Every checkpoint to be moved, the oldest first."""
    every = (one.config["configurable"] for one in source.list(None))
    places = [_Stored(str(at["thread_id"]), at.get("checkpoint_ns", ""), at["checkpoint_id"]) for at in every]
    return sorted(
        (one for one in places if threads is None or one.thread in threads), key=lambda one: one[::-1]
    )


def _config(place: _Stored) -> Any:
    return ThreadPlace(place.thread, place.ns, None).config(place.id)


def _copy(
    target: CheckpointSaver, one: CheckpointTuple, writes: Iterable[Write], stored: set[tuple[str, ...]]
) -> None:
    at = ThreadPlace.of(one.config)
    parent = one.parent_config["configurable"]["checkpoint_id"] if one.parent_config else None
    versions = one.checkpoint["channel_versions"]
    new = {c: v for c, v in versions.items() if (at.thread, at.ns, c, str(v)) not in stored}
    stored |= {(at.thread, at.ns, channel, str(version)) for channel, version in new.items()}
    target.save(ThreadPlace(at.thread, at.ns, parent), one.checkpoint, one.metadata, new)
    for task, path, idx, channel, value in writes:
        target.add_writes(at, task, path, [(idx, channel, value)], replace=True)


def _compare(target: CheckpointSaver, one: CheckpointTuple) -> None:
    arrived = target.get_tuple(one.config)
    if arrived is None or _shape(target, arrived) != _shape(target, one):
        at = one.config["configurable"]
        raise Damaged(
            f"Checkpoint {at['checkpoint_id']} of thread {at['thread_id']!r:.80} did not arrive as it was.",
            code="checkpoint_differs",
            hint="If its state holds classes of yours, name them in the target's `allow`.",
        )


def _shape(target: CheckpointSaver, one: CheckpointTuple) -> Any:
    """Everything about a checkpoint in a form that can be compared: classes by what they are stored as."""
    dump = target.serde.dumps_typed
    values = {channel: dump(value) for channel, value in one.checkpoint["channel_values"].items()}
    parent = one.parent_config["configurable"]["checkpoint_id"] if one.parent_config else None
    writes = [(task, channel, dump(value)) for task, channel, value in one.pending_writes or ()]
    return {**one.checkpoint, "channel_values": values}, parent, json.loads(json_text(one.metadata)), writes


def _writes(source: Any, place: _Stored) -> Iterator[Write]:
    """The writes on top of a checkpoint with what the savers' methods do not tell: paths and numbers."""
    match _kind(source):
        case "InMemorySaver":
            found = source.writes.get(place, {}).items()
            rows = [(task, path, idx, channel, *data) for (task, idx), (_, channel, data, path) in found]
        case "SqliteSaver":
            with source.cursor(transaction=False) as cursor:
                rows = cursor.execute(_SQLITE, place).fetchall()
        case _:
            with source._cursor() as cursor:
                rows = [tuple(row.values()) for row in cursor.execute(_POSTGRES, place).fetchall()]
    for task, path, idx, channel, kind, data in rows:
        yield task, path, idx, channel, source.serde.loads_typed((kind, data))


def _kind(source: Any) -> str:
    """Which of LangGraph's savers this is, told by name: its package may not be installed."""
    names = [one.__name__ for one in type(source).__mro__]
    for known in ("InMemorySaver", "SqliteSaver", "PostgresSaver"):
        if known in names:
            return known
    raise InvalidInput(
        f"Checkpoints cannot be moved from {type(source).__name__}.",
        code="source_unknown",
        hint="Open them with InMemorySaver, SqliteSaver or PostgresSaver.",
    )


def _moving() -> Conflict:
    return Conflict(
        "The checkpoints changed while they were copied.",
        code="source_changed",
        hint="Stop what writes to them and start again; nothing is copied twice.",
    )
