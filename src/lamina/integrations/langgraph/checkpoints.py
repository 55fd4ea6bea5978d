"""A LangGraph checkpoint saver on a Lamina store: each thread belongs to one user of one tenant."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from lamina.clock import Clock, SystemClock, random_token
from lamina.errors import ConfigError, Conflict, InvalidInput
from lamina.integrations.langgraph.rows import (
    LAST,
    CheckpointLink,
    ThreadPlace,
    head_id,
    inline,
    json_text,
    matches,
    name,
    newest,
    summary,
    tuple_of,
    with_ancestors,
)
from lamina.model import canonical, checked_name
from lamina.records import dataclass
from lamina.storage.database import Database, Row, Transaction
from lamina.storage.memories import micros, moment
from lamina.storage.sqlite import SqliteDatabase, tenant_file

try:
    from lamina.storage.postgres import PostgresDatabase
except ModuleNotFoundError:  # the extra `postgres` is not installed
    PostgresDatabase = None  # type: ignore[assignment, misc]

_NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest state of a thread in short."""

    thread: str
    checkpoint_id: str
    data: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class CheckpointSaver(BaseCheckpointSaver[str]):
    """Keeps graphs' states in a store. Safe to share between threads and event loops.

    Everything happens for one user of the store's tenant: another user's thread does not exist here. Values
    come back as plain data, messages and LangGraph's own types; classes of yours only if `allow` names them.
    """

    def __init__(
        self,
        database: Database,
        *,
        user: str = "owner",
        allow: Sequence[type | tuple[str, ...]] = (),
        serde: SerializerProtocol | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(serde=serde or JsonPlusSerializer(allowed_msgpack_modules=list(allow) or None))
        self.user = checked_name("user", user)
        self._database = database
        self._clock = clock or SystemClock()

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        tenant: str = "default",
        user: str = "owner",
        allow: Sequence[type | tuple[str, ...]] = (),
        serde: SerializerProtocol | None = None,
    ) -> CheckpointSaver:
        """A saver on the store behind a URL, made if there is none; close it, or use it in a `with`."""
        checked_name("user", user)
        database = open_store(url, checked_name("tenant", tenant))
        return cls(database, user=user, allow=allow, serde=serde)

    def __enter__(self) -> CheckpointSaver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store; one that an engine uses too is closed by the engine."""
        self._database.close()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._read(ThreadPlace.of(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        earlier = (before or {}).get("configurable", {}).get("checkpoint_id")
        last = name(earlier, "checkpoint_id") if earlier else LAST
        for place in self._places(config or {}, filter, last, limit):
            if (one := self._read(place)) is not None:  # it may have been deleted meanwhile
                yield one

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        place = ThreadPlace.of(config)
        self.save(place, checkpoint, get_serializable_checkpoint_metadata(config, metadata), new_versions)
        return place.config(checkpoint["id"])

    def save(
        self,
        place: ThreadPlace,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> None:
        """A checkpoint with exactly this metadata; the place's id is that of its parent."""
        versions = checkpoint["channel_versions"]
        small: dict[str, Any] = {}
        rows: list[tuple[str, dict[str, Any]]] = []
        channels: dict[str, str | None] = {}
        for channel, value in checkpoint["channel_values"].items():
            if inline(value):
                small[channel] = value
                channels[name(channel, "channel")] = None
            elif channel in versions:
                version = str(versions[channel])
                channels[name(channel, "channel")] = version
                if channel in new_versions:
                    kind, data = self.serde.dumps_typed(value)
                    blob = {"channel": channel, "version": version, "type": kind, "data": data}
                    rows.append(("add_checkpoint_blob", {"ns": place.ns, **blob}))
        kind, body = self.serde.dumps_typed({**checkpoint, "channel_values": small})
        row = {
            "ns": place.ns,
            "id": name(checkpoint["id"], "checkpoint_id"),
            "parent": place.id,
            "run": metadata.get("run_id"),
            "channels": canonical(channels),
            "type": kind,
            "body": body,
            "metadata": json_text(metadata),
        }
        rows.append(("put_checkpoint", row))
        if not place.ns:
            rows.append(("put_checkpoint_head", self._head(place.thread, checkpoint, metadata)))
        # What is put has a key of its own, so nobody has to wait for anybody; what deletes is alone.
        self._database.put({"user": self.user, "thread": place.thread}, rows)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        place = ThreadPlace.of(config)
        if place.id is None:
            raise InvalidInput("Writes belong to a checkpoint.", code="checkpoint_missing")
        special = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        rows = [
            (WRITES_IDX_MAP.get(channel, idx), channel, value) for idx, (channel, value) in enumerate(writes)
        ]
        self.add_writes(place, name(task_id, "task"), name(task_path, "task path"), rows, replace=special)

    def add_writes(
        self,
        place: ThreadPlace,
        task: str,
        path: str,
        writes: Sequence[tuple[int, str, Any]],
        *,
        replace: bool,
    ) -> None:
        """Writes of a task with their numbers; those that are there stay, or are replaced."""
        rows: dict[int, dict[str, Any]] = {}
        for idx, channel, value in writes:
            if replace or idx not in rows:
                kind, data = self.serde.dumps_typed(value)
                rows[idx] = {"idx": idx, "channel": name(channel, "channel"), "type": kind, "data": data}
        if rows:
            query = "put_checkpoint_write" if replace else "add_checkpoint_write"
            common = {**self._in(place), "checkpoint": place.id, "task": task, "path": path}
            self._database.put(common, [(query, row) for row in rows.values()])

    def delete_thread(self, thread_id: str) -> None:
        thread = name(thread_id, "thread_id")
        self._database.write(lambda tx: self._drop_thread(tx, thread))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what these runs saved; Conflict, and nothing is deleted, where a later state needs it."""
        runs = {str(run) for run in run_ids}

        def work(tx: Transaction) -> None:
            threads = {row[0] for run in runs for row in tx.all("threads_of_run", user=self.user, run=run)}
            for thread in sorted(threads):
                links = self._links(tx, thread)
                kept = {(link.ns, link.id) for link in links if link.run not in runs}
                if with_ancestors(links, kept) != kept:
                    raise Conflict(
                        "A later state of a thread is made of what one of these runs wrote.",
                        code="delta_chain_needed",
                        hint="Delete the thread, or prune it after its next snapshot.",
                    )
                self._keep(tx, thread, links, kept)

        self._database.write(work)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        source, target = name(source_thread_id, "thread_id"), name(target_thread_id, "thread_id")
        if source == target:
            return

        def work(tx: Transaction) -> None:
            for query in ("copy_checkpoints", "copy_checkpoint_blobs", "copy_checkpoint_writes"):
                tx.run(query, user=self.user, thread=source, target=target)
            self._renew_head(tx, target)

        self._database.write(work)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep the latest state of each namespace, and those its delta channels are made of; or nothing."""
        if strategy not in ("keep_latest", "delete"):
            raise InvalidInput(
                f"{strategy!r:.60} is no way to prune.",
                code="strategy_invalid",
                hint="Choose keep_latest or delete.",
            )
        threads = [name(thread, "thread_id") for thread in thread_ids]

        def work(tx: Transaction) -> None:
            for thread in threads:
                if strategy == "delete":
                    self._drop_thread(tx, thread)
                elif links := self._links(tx, thread):
                    self._keep(tx, thread, links, with_ancestors(links, newest(links)))

        self._database.write(work)

    def heads(self, limit: int = 100) -> tuple[Head, ...]:
        """This user's threads, the one that moved last first."""
        rows = self._database.ask("checkpoint_heads", user=self.user, limit=limit)
        return tuple(
            Head(
                thread=thread,
                checkpoint_id=checkpoint_id,
                data=json.loads(data),
                created_at=moment(created),
                updated_at=moment(updated),
            )
            for thread, checkpoint_id, data, created, updated in rows
        )

    def get_next_version(self, current: str | int | None, channel: None) -> str:  # noqa: ARG002 LangGraph's
        """One more, with a random end: two branches of a thread never share a version."""
        last = 0 if current is None else int(str(current).partition(".")[0])
        return f"{last + 1:032}.{random_token(9)}"

    # The same for event loops: the work waits for the disk in a thread of its own.

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (one := await asyncio.to_thread(next, found, None)) is not None:
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await asyncio.to_thread(lambda: self.prune(thread_ids, strategy=strategy))

    # Inside a transaction.

    def _load(self, ask: Callable[..., Sequence[Row]], place: ThreadPlace) -> CheckpointTuple | None:
        first, last = (place.id, place.id) if place.id else ("", LAST)
        within = {"user": self.user, "thread": place.thread, "ns": place.ns, "id": first, "id_last": last}
        return tuple_of(self.serde, place, ask("load_checkpoint", **within))

    def _read(self, place: ThreadPlace) -> CheckpointTuple | None:
        return self._load(self._database.ask, place)

    def _places(
        self, within: RunnableConfig, wanted: dict[str, Any] | None, before: str, limit: int | None
    ) -> Sequence[ThreadPlace]:
        """Where the checkpoints are that a config and a filter name, newest first."""
        given = within.get("configurable") or {}
        ranges: dict[str, str] = {}
        for column, key in (("thread", "thread_id"), ("ns", "checkpoint_ns"), ("id", "checkpoint_id")):
            exact = given.get(key) is not None
            ranges[column] = name(given[key], key) if exact else ""
            ranges[f"{column}_last"] = ranges[column] if exact else LAST
        most = limit if limit is not None and not wanted else _NO_LIMIT
        rows = self._database.ask("list_checkpoints", user=self.user, before=before, limit=most, **ranges)
        chosen = [ThreadPlace(*row[:3]) for row in rows if not wanted or matches(json.loads(row[3]), wanted)]
        return chosen[:limit]

    def _in(self, place: ThreadPlace) -> dict[str, Any]:
        return {"user": self.user, "thread": place.thread, "ns": place.ns}

    def _head(self, thread: str, checkpoint: Checkpoint, metadata: CheckpointMetadata) -> dict[str, Any]:
        return {
            "head": head_id(self._database.tenant, self.user, thread),
            "id": checkpoint["id"],
            "data": summary(checkpoint, metadata),
            "now": micros(self._clock.now()),
        }

    def _renew_head(self, tx: Transaction, thread: str) -> None:
        tx.run("drop_checkpoint_head", user=self.user, thread=thread)
        if (last := self._load(tx.all, ThreadPlace(thread, "", None))) is not None:
            head = self._head(thread, last.checkpoint, last.metadata)
            tx.run("put_checkpoint_head", user=self.user, thread=thread, **head)

    def _links(self, tx: Transaction, thread: str) -> Sequence[CheckpointLink]:
        return [
            CheckpointLink.of(row) for row in tx.all("checkpoints_of_thread", user=self.user, thread=thread)
        ]

    def _keep(
        self, tx: Transaction, thread: str, links: Sequence[CheckpointLink], kept: set[tuple[str, str]]
    ) -> None:
        """Only these checkpoints of a thread, and what belongs to them."""
        gone = [
            {"user": self.user, "thread": thread, "ns": link.ns, "id": link.id}
            for link in links
            if (link.ns, link.id) not in kept
        ]
        if not gone:
            return
        tx.many("drop_checkpoint_writes", gone)
        tx.many("drop_checkpoint", gone)
        for query in ("drop_checkpoint_parents", "sweep_checkpoint_blobs"):
            tx.run(query, user=self.user, thread=thread)
        self._renew_head(tx, thread)

    def _drop_thread(self, tx: Transaction, thread: str) -> None:
        for what in ("thread_writes", "thread_checkpoints", "thread_blobs", "checkpoint_head"):
            tx.run(f"drop_{what}", user=self.user, thread=thread)


def open_store(url: str, tenant: str) -> Database:
    """A tenant's store behind a URL, as `lamina.open` finds it."""
    if not url.startswith(("postgresql://", "postgres://")):
        return SqliteDatabase(tenant_file(url, tenant), tenant)
    if PostgresDatabase is None:
        raise ConfigError(
            "PostgreSQL needs the package `psycopg`, which is not installed.",
            code="extra_missing",
            hint="Run: pip install 'lamina[postgres]'",
        )
    return PostgresDatabase(url, tenant)
