"""The file layer with numbered points: every write, sync, rename, removal and SQL statement may be the last.

It is put between the program and the system in a process of its own: under `os` and `io.open`, under SQLite
as its file system, and before each statement that SQLite or PostgreSQL gets. What is not below `root` passes.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import random
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import psycopg

from lamina.workspace import files
from tests.faults.disk import Disk

KILLED = 77  #: the exit code of a process that was killed at a point
#: What undoes a statement does not need the disk.
_UNDOING = ("ROLLBACK", "RELEASE")


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and at which point."""

    kind: str  #: kill, torn, error, full, clock, cut, lost, restart; none to count the points
    at: int = 0
    lasting: bool = False  #: from there on, until it is lifted


class Layer:
    """Counts the points that a process comes to, and strikes at one."""

    def __init__(self, root: Path, fault: Fault, tell: Callable[..., None]) -> None:
        self.root = f"{root}/"
        self.fault = fault
        self.count = 0
        self.struck = False
        self.jump: Callable[[], None] = lambda: None  #: what a leap of the clock does
        self.disk = Disk(root) if fault.kind == "cut" else None
        self._tell = tell
        self._armed = False
        self._busy = False

    def arm(self) -> None:
        self._armed = True

    def lift(self) -> None:
        """The fault is over."""
        self._armed = False

    def mine(self, path: Any, dir_fd: int | None = None) -> str:
        """The whole path of something below the root, empty for anything else."""
        if isinstance(path, int):
            whole = str(Path(f"/proc/self/fd/{path}").readlink())
        elif dir_fd is not None:
            whole = f"{Path(f'/proc/self/fd/{dir_fd}').readlink()}/{os.fspath(path)}"
        else:
            whole = os.path.abspath(os.fspath(path))  # noqa: PTH100 links are not followed
        return whole if f"{whole}/".startswith(self.root) else ""

    def point(self, what: str, *, part: Callable[[], Any] | None = None, db: bool = False) -> None:
        """A numbered point: returns, raises, or never returns. `part` does half of what comes next."""
        if not self._armed or self._busy:
            return
        self.count += 1
        fault = self.fault
        if fault.kind == "cut":
            self._busy = True
            self._tell("cut", self.count, what)
            self._busy = False
            return
        if fault.kind == "none":
            self._tell("point", self.count, what)
        if not (self.count == fault.at or (fault.lasting and self.count >= fault.at > 0)):
            return
        if not self.struck:
            self._tell("struck", self.count, what)
        self.struck = True
        self._strike(what, part, db)

    def _strike(self, what: str, part: Callable[[], Any] | None, db: bool) -> None:
        match self.fault.kind:
            case "kill":
                os._exit(KILLED)
            case "torn":
                if part is not None:
                    part()
                os._exit(KILLED)
            case "clock":
                self.jump()
            case "error" | "full" if what.removeprefix("sql ").startswith(_UNDOING):
                pass
            case "full" if what.startswith(("unlink", "rmdir", "truncate")):
                pass  # that much is possible on a full disk
            case "full":
                raise apsw.FullError("disk full") if db else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            case "error":
                raise apsw.IOError("I/O error") if db else OSError(errno.EIO, os.strerror(errno.EIO))

    def install(self) -> None:
        """From here on this process comes to points."""
        self._install_names()
        self._install_bytes()
        files._rename = self._renamed(files._rename)
        apsw.connection_hooks.append(self._watch)
        self._vfs = _Vfs(self)
        self._install_postgres()

    def _install_names(self) -> None:
        for name in ("unlink", "remove", "rmdir", "rename", "replace", "link", "mkdir"):
            setattr(os, name, self._named(name, getattr(os, name)))
        real_open = os.open

        def opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            whole = self.mine(path, dir_fd) if flags & os.O_CREAT else ""
            fresh = bool(whole) and not os.path.lexists(whole)
            if fresh:
                self.point(f"create {Path(whole).name}")
            fd = real_open(path, flags, mode, dir_fd=dir_fd)
            if fresh and self.disk:
                self.disk.born(whole)
            return fd

        os.open = opened

    def _named(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *more: Any, **named: Any) -> Any:
            fd = named.get("dir_fd", named.get("src_dir_fd"))
            if (isinstance(path, int) and name != "unlink") or not (whole := self.mine(path, fd)):
                return real(path, *more, **named)
            self.point(f"{name.replace('remove', 'unlink')} {Path(whole).name}")
            done = real(path, *more, **named)
            if name == "mkdir" and self.disk:
                self.disk.born(whole)
            return done

        return call

    def _install_bytes(self) -> None:
        real = {name: getattr(os, name) for name in ("write", "pwrite", "fsync", "ftruncate")}
        self.real_write: Callable[[int, bytes], int] = real["write"]

        def write(fd: int, data: Any) -> int:
            if whole := self.mine(fd):
                half = bytes(data)[: max(1, len(data) // 2)]
                self.point(f"write {Path(whole).name}", part=lambda: real["write"](fd, half))
            return int(real["write"](fd, data))

        def pwrite(fd: int, data: Any, at: int) -> int:
            if whole := self.mine(fd):
                # The one place that writes over something trusts that a sector is written whole.
                self.point(f"write {Path(whole).name}")
            return int(real["pwrite"](fd, data, at))

        def fsync(fd: int) -> None:
            if whole := self.mine(fd):
                self.point(f"sync {Path(whole).name}")
            real["fsync"](fd)
            if whole and self.disk:
                self.disk.synced(fd)

        def ftruncate(fd: int, size: int) -> None:
            if whole := self.mine(fd):
                self.point(f"truncate {Path(whole).name}")
            real["ftruncate"](fd, size)

        os.write, os.pwrite, os.fsync, os.ftruncate = write, pwrite, fsync, ftruncate
        self._install_open()

    def _install_open(self) -> None:
        real = io.open

        def opened(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
            writes = bool(set(mode) & set("wax+"))
            if not writes or not (whole := self.mine(file)):
                return real(file, mode, *more, **named)
            fresh = not isinstance(file, int) and not os.path.lexists(whole)
            if fresh:
                self.point(f"create {Path(whole).name}")
            raw = _Raw(file, mode.replace("b", "").replace("t", ""), closefd=named.get("closefd", True))
            if fresh and self.disk:
                self.disk.born(whole)
            raw.layer, raw.label = self, Path(whole).name
            buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            encoding = named.get("encoding", more[1] if len(more) > 1 else None)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding)

        io.open = opened  # type: ignore[assignment]

    def _renamed(self, real: Any) -> Any:
        def call(folder: int, old: bytes, other: int, new: bytes, flag: int) -> int:
            if self.mine(folder):
                self.point(f"rename {os.fsdecode(new)}")
            return int(real(folder, old, other, new, flag))

        return call

    def _watch(self, connection: apsw.Connection) -> None:
        if not self.mine(connection.filename):
            return

        def statement(_: Any, sql: str, __: Any) -> bool:
            self.point(f"sql {' '.join(sql.split())[:40]}", db=True)
            return True

        connection.exec_trace = statement

    def _install_postgres(self) -> None:
        for name in ("execute", "executemany"):
            setattr(psycopg.Cursor, name, self._sent(getattr(psycopg.Cursor, name)))

    def _sent(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(cursor: Any, query: Any, *more: Any, **named: Any) -> Any:
            before = self.struck
            text = query.decode() if isinstance(query, bytes) else str(query)
            self.point(f"sql {' '.join(text.split())[:40]}", db=True)
            if self.struck and not before and self.fault.kind == "lost":
                own = os.dup(cursor.connection.fileno())
                with contextlib.suppress(OSError), socket.socket(fileno=own) as line:
                    line.shutdown(socket.SHUT_RDWR)
            return real(cursor, query, *more, **named)

        return call


class _Raw(io.FileIO):
    layer: Layer
    label: str

    def write(self, data: Any) -> int:
        half = bytes(data)[: max(1, len(data) // 2)]
        self.layer.point(f"write {self.label}", part=lambda: io.FileIO.write(self, half))
        return io.FileIO.write(self, data)


class _Vfs(apsw.VFS):
    """SQLite's file system, point by point."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        super().__init__("faults", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 SQLite's word
        return _VfsFile(self.layer, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        if self.layer.mine(name):
            self.layer.point(f"unlink {Path(name).name}", db=True)
        super().xDelete(name, sync)
        if sync and self.layer.disk and self.layer.mine(name):
            self.layer.disk.folder_synced(Path(name).parent)


class _VfsFile(apsw.VFSFile):
    def __init__(self, layer: Layer, name: Any, flags: list[int]) -> None:
        path = name.filename() if hasattr(name, "filename") else name
        self.layer, self.path = layer, layer.mine(path) if path else ""
        fresh = bool(self.path) and not os.path.lexists(self.path)
        if fresh:
            layer.point(f"create {Path(self.path).name}", db=True)
        super().__init__("unix", name, flags)
        if fresh and layer.disk:
            layer.disk.born(self.path)
        #: SQLite syncs the folder, too, when a new journal is synced first.
        self._names = fresh and bool(flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self.path:
            half = bytes(data)[: len(data) // 2]
            self.layer.point(
                f"write {Path(self.path).name}",
                part=lambda: apsw.VFSFile.xWrite(self, half, offset),
                db=True,
            )
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self.path:
            self.layer.point(f"sync {Path(self.path).name}", db=True)
        super().xSync(flags)
        if self.path and self.layer.disk:
            self.layer.disk.file_synced(Path(self.path))
            if self._names:
                self.layer.disk.folder_synced(Path(self.path).parent)
                self._names = False

    def xTruncate(self, size: int) -> None:  # noqa: N802
        if self.path:
            self.layer.point(f"truncate {Path(self.path).name}", db=True)
        super().xTruncate(size)


def leaps(seed: int) -> float:
    """By how many seconds a clock that leaps does: two seconds, minutes, a day, a year, either way."""
    return random.Random(seed).choice(
        [2.0, -2.0, 300.0, -300.0, 86_400.0, -86_400.0, 31_536_000.0, -31_536_000.0]
    )
