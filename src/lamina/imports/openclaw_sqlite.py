"""OpenClaw's sessions in SQLite: the same entries as rows, some compressed, and archives of old ones."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import apsw

from lamina.errors import ConfigError, InvalidInput
from lamina.imports.exclusion import excluded_session
from lamina.imports.lines import parsed
from lamina.imports.openclaw import EntryId, branch, turn_of
from lamina.imports.turn import ImportFile, Item, ReadUpTo

if importlib.util.find_spec("zstandard") or TYPE_CHECKING:
    import zstandard
else:
    zstandard = None

_LARGEST_EVENT = 256 * 1024 * 1024
_BUSY_MS = 10_000


def read(file: ImportFile, place: ReadUpTo) -> Iterator[Item]:
    """The turns on the active branches of all sessions, each from where it was left off."""
    done: dict[str, int] = dict(place.state.get("done", {}))
    try:
        with closing(_Store(file)) as store:
            for session in store.sessions():
                if reason := store.kept_out(session):
                    yield file.skipped(reason)
                    continue
                for seq, items in store.events(session, done.get(session, -1)):
                    yield from items
                    done[session] = seq
                yield ReadUpTo(state={"done": dict(done)})
            yield from store.archived()
    except apsw.Error as error:
        raise InvalidInput(
            f"{file.path.name} cannot be read as an OpenClaw database: {error}.",
            code="import_unreadable",
            hint="Close OpenClaw or try again; a copy made with `VACUUM INTO` works as well.",
        ) from None
    yield ReadUpTo(offset=file.end().offset, state={"done": done})


def opened(file: ImportFile) -> apsw.Connection:
    """A database of another program, opened so that nothing can be written."""
    name = f"file:{quote(str(file.path))}?mode=ro"
    database = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    database.set_busy_timeout(_BUSY_MS)
    return database


class _Store:
    """One agent's database."""

    def __init__(self, file: ImportFile) -> None:
        self._file = file
        self._database = opened(file)
        self._windows = self._read_windows()

    def close(self) -> None:
        self._database.close()

    def _rows(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        yield from self._database.execute(sql, values)

    def _columns(self, table: str) -> set[str]:
        return {name for (name,) in self._rows("SELECT name FROM pragma_table_info(?)", table)}

    def _read_windows(self) -> dict[str, Mapping[str, Any]]:
        telling = {"session_key", "spawned_by", "hook_external_content_source"}
        wanted = self._columns("session_windows") & telling
        if "session_key" not in wanted:
            return {}
        names = sorted(wanted)
        rows = self._rows(f"SELECT session_id, {', '.join(names)} FROM session_windows")  # noqa: S608 our names
        return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}

    def sessions(self) -> list[str]:
        return [one for (one,) in self._rows("SELECT DISTINCT session_id FROM transcript_events ORDER BY 1")]

    def kept_out(self, session: str) -> str | None:
        """Why nobody speaks in a session."""
        window = self._windows.get(session, {})
        if window.get("hook_external_content_source"):
            return "hook"
        return excluded_session(str(window.get("session_key", ""))) or (
            "subagent" if window.get("spawned_by") else None
        )

    def events(self, session: str, after: int) -> Iterator[tuple[int, Iterator[Item]]]:
        """What each event of a session behind a number says, with its number."""
        active = self._active(session)
        for seq, entry in self._entries(session, after):
            known = str(entry.get("id") or f"#{seq}")
            if seq in active:
                yield seq, turn_of(self._file, EntryId(session, known, seq), entry)
            elif entry.get("type") == "message":
                yield seq, iter([self._file.skipped("other_branch", seq)])

    def _active(self, session: str) -> set[int]:
        """Numbers of the events on the active branch, as OpenClaw keeps them; worked out if it does not."""
        if "event_seq" in self._columns("session_transcript_active_events"):
            sql = "SELECT event_seq FROM session_transcript_active_events WHERE session_id = ?"
            if found := {seq for (seq,) in self._rows(sql, session)}:
                return found
        every = [(seq, entry.get("id"), entry) for seq, entry in self._entries(session, -1)]
        ids = branch((entry for _, _, entry in every), None, from_start=True) or set()
        return {seq for seq, known, _ in every if known is None or known in ids}

    def _entries(self, session: str, after: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
        packed = "event_zstd" if "event_zstd" in self._columns("transcript_events") else "NULL"
        columns = f"seq, event_json, {packed}"
        sql = f"SELECT {columns} FROM transcript_events WHERE session_id = ? AND seq > ? ORDER BY seq"  # noqa: S608 our own names
        for seq, text, data in self._rows(sql, session, after):
            entry = parsed(text if text is not None else unpacked(data))
            if isinstance(entry, dict):
                yield seq, entry

    def archived(self) -> Iterator[Item]:
        """What was put aside; an entry that stands elsewhere too has the same key there."""
        if not {"archive_blob", "encoding", "session_key"} <= self._columns("session_transcript_archives"):
            return
        columns = "session_id, session_key, encoding, archive_blob"
        sql = f"SELECT {columns} FROM session_transcript_archives ORDER BY 1"  # noqa: S608 our own names
        for session, name, encoding, blob in self._rows(sql):
            if reason := excluded_session(str(name)) or self.kept_out(session):
                yield self._file.skipped(reason)
                continue
            data = unpacked(blob) if encoding == "zstd" else bytes(blob)
            entries = [entry for line in data.splitlines() if isinstance(entry := parsed(line), dict)]
            ids = branch(entries, None, from_start=True) or set()
            for number, entry in enumerate(entries, 1):
                if entry.get("id") is None or entry["id"] in ids:
                    known = str(entry.get("id") or f"#{number}")
                    yield from turn_of(self._file, EntryId(session, known, number), entry)


def unpacked(data: bytes) -> bytes:
    """What a compressed row holds."""
    if zstandard is None:
        raise ConfigError(
            "Some rows of this database are compressed, and the package `zstandard` is not installed.",
            code="extra_missing",
            hint="Run: pip install 'lamina[import]'",
        )
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)) as stream:
            read: bytes = stream.read(_LARGEST_EVENT)
            return read
    except zstandard.ZstdError:
        return b""
