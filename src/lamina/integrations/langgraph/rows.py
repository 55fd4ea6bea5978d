"""Checkpoints as rows: what is a blob, what is needed to rebuild a delta channel, what a head row says."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from lamina.errors import Damaged, InvalidInput
from lamina.model import canonical
from lamina.records import dataclass
from lamina.storage.database import Row

#: Above every name in byte order, on both databases.
LAST = "\U0010ffff"
MAX_NAME = 512  #: what fits into the key of an index, however many bytes a character takes
_INLINE_CHARS = 256
_SURROGATE = re.compile("[\ud800-\udfff]")
_DELTA_COUNTERS = "counters_since_delta_snapshot"


def name(value: Any, what: str) -> str:
    """A thread, namespace, task or channel as the key of a row; LangGraph takes numbers for names too."""
    text = str(value)
    if len(text) > MAX_NAME or "\0" in text or not (text.isascii() or _SURROGATE.search(text) is None):
        raise InvalidInput(
            f"The {what} cannot be used as a name.",
            code="name_invalid",
            hint=f"Use at most {MAX_NAME} characters, without NUL and unpaired surrogates.",
        )
    return text


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """Where a config points: a thread, a namespace in it, and perhaps a checkpoint."""

    thread: str
    ns: str
    id: str | None

    @staticmethod
    def of(config: RunnableConfig) -> ThreadPlace:
        given = config.get("configurable") or {}
        if given.get("thread_id") in (None, ""):
            raise InvalidInput(
                "A checkpoint needs a thread.",
                code="thread_missing",
                hint="Pass {'configurable': {'thread_id': …}}.",
            )
        at = given.get("checkpoint_id")
        return ThreadPlace(
            name(given["thread_id"], "thread_id"),
            name(given.get("checkpoint_ns") or "", "checkpoint_ns"),
            name(at, "checkpoint_id") if at else None,
        )

    def config(self, checkpoint_id: str) -> RunnableConfig:
        place = {"thread_id": self.thread, "checkpoint_ns": self.ns, "checkpoint_id": checkpoint_id}
        return {"configurable": place}


def inline(value: Any) -> bool:
    """Whether a value is so small that a row of its own would be larger."""
    kind = type(value)
    return value is None or kind in (bool, int, float) or (kind is str and len(value) <= _INLINE_CHARS)


def _in_the_clear() -> Damaged:
    return Damaged(
        "A checkpoint is stored in the clear, and this saver keeps encrypted ones only.",
        code="checkpoint_not_encrypted",
        hint="Somebody else wrote it, or it is older than the key: delete the thread.",
    )


def tuple_of(serde: SerializerProtocol, place: ThreadPlace, rows: Sequence[Row]) -> CheckpointTuple | None:
    """The rows of one checkpoint put together."""
    # LangGraph would read what is in the clear, whoever wrote it. (To ask isinstance of a protocol is slow.)
    if EncryptedSerializer in type(serde).__mro__ and any("+" not in row[3] for row in rows):
        raise _in_the_clear()
    head, values, writes = None, {}, []
    for part, one, two, kind, data, text, number in rows:
        if part == "checkpoint":
            head = (one, two, serde.loads_typed((kind, data)), json.loads(text))
        elif part == "value":
            values[one] = serde.loads_typed((kind, data))
        else:
            writes.append((text, one, number, two, kind, data))
    if head is None:
        return None
    checkpoint_id, parent, checkpoint, metadata = head
    checkpoint["channel_values"].update(values)
    writes.sort(key=lambda write: write[:3])  # the order in which a superstep applies them
    return CheckpointTuple(
        config=place.config(checkpoint_id),
        checkpoint=checkpoint,
        metadata=metadata,
        parent_config=place.config(parent) if parent else None,
        pending_writes=[
            (task, channel, serde.loads_typed((kind, data))) for _, task, _, channel, kind, data in writes
        ],
    )


def json_text(metadata: Mapping[str, Any]) -> str:
    try:
        return json.dumps(metadata)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "The metadata of a checkpoint is not JSON.",
            code="metadata_invalid",
            hint="Put only texts, numbers, lists and dicts into a config's metadata and configurable.",
        ) from error


def matches(metadata: Any, wanted: Any) -> bool:
    """Whether metadata contains what a filter names; dicts may hold more, everything else is equal."""
    if isinstance(wanted, Mapping):
        return isinstance(metadata, Mapping) and all(
            key in metadata and matches(metadata[key], value) for key, value in wanted.items()
        )
    return bool(metadata == wanted) and isinstance(metadata, bool) == isinstance(wanted, bool)


@dataclass(frozen=True, slots=True)
class CheckpointLink:
    """A checkpoint as a link in the chain of its ancestors."""

    ns: str
    id: str
    parent: str | None
    run: str | None
    channels: frozenset[str]  #: those that have a value here
    deltas: frozenset[str]  #: those whose value is the writes since an ancestor that has one

    @staticmethod
    def of(row: Row) -> CheckpointLink:
        ns, checkpoint_id, parent, run, channels, metadata = row
        present = frozenset(json.loads(channels))
        counters = json.loads(metadata).get(_DELTA_COUNTERS) or {}
        return CheckpointLink(ns, checkpoint_id, parent, run, present, frozenset(counters) - present)


def newest(links: Iterable[CheckpointLink]) -> set[tuple[str, str]]:
    """The latest checkpoint of each namespace."""
    last: dict[str, str] = {}
    for link in links:
        last[link.ns] = max(link.id, last.get(link.ns, ""))
    return set(last.items())


def with_ancestors(links: Iterable[CheckpointLink], kept: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """These, and every ancestor without which a delta channel of theirs would come back empty."""
    known = {(link.ns, link.id): link for link in links}
    needed = set(kept)
    for start in kept:
        link = known[start]
        wanted = link.deltas
        while wanted and link.parent and (link.ns, link.parent) in known:
            link = known[link.ns, link.parent]
            needed.add((link.ns, link.id))
            wanted -= link.channels
    return needed


def head_id(*names: str) -> str:
    """The id of a head row, always the same for one thread of one user, in the form of a UUID."""
    digest = hashlib.sha256("\0".join(names).encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"


def summary(checkpoint: Checkpoint, metadata: Mapping[str, Any]) -> str:
    """The state in short: which channels there are and how much is in them, never what."""
    state = {channel: _shape(value) for channel, value in checkpoint["channel_values"].items()}
    about = {key: metadata[key] for key in ("source", "step", "run_id") if key in metadata}
    return canonical({**about, "checkpoint_id": checkpoint["id"], "ts": checkpoint["ts"], "state": state})


def _shape(value: Any) -> dict[str, Any]:
    sized = isinstance(value, str | bytes | list | tuple | dict | set | frozenset)
    return {"type": type(value).__name__, **({"length": len(value)} if sized else {})}
