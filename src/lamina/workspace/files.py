"""Files below a workspace: read without being led elsewhere, replaced whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from lamina.clock import random_token
from lamina.durable import settle
from lamina.errors import Conflict, Damaged, InvalidInput, LaminaError, Unavailable
from lamina.language.secrets.privacy import find_secrets
from lamina.late import regex
from lamina.model import quoted
from lamina.workspace.grant import check_read, check_write

LARGEST = 16 * 1024 * 1024  #: bytes; nothing a person edits by hand comes near
KEPT_VERSIONS = 20
HISTORY_DIR = ".lamina/history"
_TAIL = 1 << 13
_AROUND = 20  #: lines beside a changed one that may be one secret with it
_PLAN = ".lamina/overwriting"
_PLANNED = 1 << 20  #: bytes that are overwritten at once

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# NONBLOCK: opening a FIFO would otherwise wait for somebody to write into it.
_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OWN_TEMP = regex(r"\.lamina-[0-9]+-[A-Za-z0-9_-]+\.tmp")
_VERSION = regex(r"[0-9]{6,18}")
_UNUSABLE = regex(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
#: What becomes of what is Lamina's own, where somebody put something else in its place.
_ANEW = "What `.lamina` holds beside the store may be moved away; `lamina doctor --fix` makes it anew."


class Stamp(NamedTuple):
    """Enough to see that a file may have changed without reading it."""

    size: int
    mtime_ns: int
    inode: int


def read_file(root: Path, name: str) -> bytes | None:
    """The content of a file below `root`, None when there is none.

    No link is followed. Raises InvalidInput for a name that leaves the root, Damaged for what is not one
    regular file of at most 16 MiB, Unavailable when the system refuses, Denied where a grant says no.
    """
    *folders, leaf = _steps(name)
    check_read(name)
    with _explained(name), _folder(root, folders) as folder:
        if folder is None or (fd := _opened(folder, leaf, name, os.O_RDONLY)) is None:
            return None
        with _closing(fd):
            return _content(fd, name)


def stamp(root: Path, name: str) -> Stamp | None:
    """What `os.stat` says of a file, None when there is none; raises as `read_file`."""
    *folders, leaf = _steps(name)
    with _explained(name), _folder(root, folders) as folder:
        if folder is None or (fd := _opened(folder, leaf, name, os.O_RDONLY)) is None:
            return None
        with _closing(fd):
            return _stamp(os.fstat(fd))


def replace_file(root: Path, name: str, data: bytes, expected: bytes | None) -> Stamp:
    """Makes `data` the content of a file, durably and in one step; `expected` is what it was derived from.

    Raises Conflict (`file_changed`) when the file says something else by now: apply the operation to the new
    content and try again. A save by an editor at the same moment is not overwritten. What is replaced goes
    to the history. Returns the stamp of what was written, so that a later save can be told from it. Raises
    InvalidInput and Damaged as `read_file`, Unavailable when the system refuses, Denied where a grant says
    no. Two writers need `locks.locked` around reading and replacing.
    """
    check_write(name)
    _check_size(name, data)
    *folders, leaf = _steps(name)
    with _explained(name), _folder(root, folders, create=True) as folder:
        if folder is None:
            raise _no_workspace(root)
        fd = _opened(folder, leaf, name, os.O_RDONLY)
        if fd is None:
            if expected is not None:
                raise _changed(name)
            return _swap(folder, leaf, name, data, None)
        with _closing(fd):
            before = os.fstat(fd)
            if _content(fd, name) != expected:
                raise _changed(name)
            if data == expected:
                settle(fd)  # an earlier attempt may have been cut off after its rename
                settle(folder)
                return _stamp(before)
            _keep_version(root, name, expected)
            written = _swap(folder, leaf, name, data, before)
            # An editor that is still writing in place writes into the file we replaced; keep that text too.
            if _stamp(os.fstat(fd)) != _stamp(before) and (late := _content(fd, name)) != expected:
                _keep_version(root, name, late)
            return written


def remove_file(root: Path, name: str, expected: bytes) -> bool:
    """Take a file away if it still says `expected`; it goes to the history. False where it says otherwise."""
    *folders, leaf = _steps(name)
    with _explained(name), _folder(root, folders) as folder:
        if folder is None or (fd := _opened(folder, leaf, name, os.O_RDONLY)) is None:
            return False
        with _closing(fd):
            if _content(fd, name) != expected:
                return False
            _keep_version(root, name, expected)
            os.unlink(leaf, dir_fd=folder)
            settle(folder)
            return True


def read_lines(root: Path, name: str) -> Iterator[bytes]:
    """The lines of a log below `root`, without their ends, however long the log is; raises as `read_file`."""
    *folders, leaf = _steps(name)
    check_read(name)
    with _explained(name), _folder(root, folders) as folder:
        if folder is None or (fd := _opened(folder, leaf, name, os.O_RDONLY)) is None:
            return
        with os.fdopen(fd, "rb") as file:
            for line in file:
                yield line.removesuffix(b"\n")


def read_tail(root: Path, name: str, count: int) -> list[bytes]:
    """At least the last `count` lines of a log below `root`, as far as it has them; raises as `read_file`."""
    *folders, leaf = _steps(name)
    check_read(name)
    with _explained(name), _folder(root, folders) as folder:
        if folder is None or (fd := _opened(folder, leaf, name, os.O_RDONLY)) is None:
            return []
        with _closing(fd):
            at, tail = os.fstat(fd).st_size, b""
            while at and tail.count(b"\n") <= count:
                start = max(0, at - (1 << 18))
                tail = os.pread(fd, at - start, start) + tail
                at = start
    lines = tail.removesuffix(b"\n").split(b"\n")
    return lines[1:] if at else lines


def append_line(root: Path, name: str, line: bytes, durable: bool = True) -> None:
    """Adds one line to a log below `root`; as `append_lines`."""
    append_lines(root, name, [line], durable)


def append_lines(
    root: Path,
    name: str,
    lines: Sequence[bytes],
    durable: bool = True,
    once: re.Pattern[bytes] | None = None,
) -> None:
    """Adds lines to a log below `root`, whole or not at all, safe against other appenders.

    `once` finds in each line what makes it the one it is: where that stands in the log's last lines already,
    another appender was faster, and the line is not added.

    A last line without its end, left by a crash, goes to `<name>.torn` first. Raises as `replace_file`.
    """
    texts = [line.removesuffix(b"\n") for line in lines]
    if any(b"\n" in text for text in texts):
        raise InvalidInput(
            "A log line holds a line break.", code="line_invalid", hint="Append one line at a time."
        )
    check_write(name)
    for line in texts:
        _check_size(name, line)
    *folders, leaf = _steps(name)
    with _explained(name), _folder(root, folders, create=True) as folder:
        if folder is None:
            raise _no_workspace(root)
        fd = _opened(folder, leaf, name, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        if fd is None:
            raise _changed(name)
        with _closing(fd):
            # Held by this function only and for one write. Without it a line that is half written could look
            # torn to another appender, which would cut it off.
            fcntl.flock(fd, fcntl.LOCK_EX)
            _set_torn_aside(fd, folder, leaf, name)
            if once is not None:
                last = _TAIL + 2 * sum(map(len, texts))
                known = set(once.findall(os.pread(fd, last, max(0, os.fstat(fd).st_size - last))))
                texts = [text for text in texts if known.isdisjoint(once.findall(text))]
            _append(fd, b"".join(text + b"\n" for text in texts))
            if durable:
                settle(fd)
                settle(folder)


def settle_lines(root: Path, name: str) -> None:
    """Waits until the disk has a log below `root` as it is now, and its name; raises as `read_file`."""
    *folders, leaf = _steps(name)
    with _explained(name), _folder(root, folders) as folder:
        if folder is not None and (fd := _opened(folder, leaf, name, os.O_RDONLY)) is not None:
            with _closing(fd):
                settle(fd)
                settle(folder)


def overwrite_lines(root: Path, name: str, change: Callable[[bytes], bytes], *, dry: bool = False) -> None:
    """Changes lines of a log where they stand, for words that must be gone from the disk too.

    `change` gets each line and returns one of the same length. Appenders wait meanwhile. What is written is
    written down first: a crash leaves no line half old and half new once `end_overwriting` was here. Raises
    as `replace_file`.
    """
    check_write(name)
    *folders, leaf = _steps(name)
    with _explained(name), _plan(root, create=not dry) as plan, _folder(root, folders) as folder:
        if folder is None or (fd := _opened(folder, leaf, name, os.O_RDWR)) is None:
            return
        with os.fdopen(fd, "rb") as file:
            fcntl.flock(fd, fcntl.LOCK_EX)
            at, room, lines = 0, _PLANNED, list[tuple[int, bytes]]()
            for raw in file:
                line = raw.removesuffix(b"\n")
                if (new := change(line)) != line:
                    if len(new) != len(line):
                        raise InvalidInput("A log line cannot grow or shrink.", code="line_invalid")
                    lines.append((at, new))
                    room -= len(new)
                at += len(raw)
                if room < 0 and plan is not None:
                    _overwrite(plan, fd, name, lines)
                    room, lines = _PLANNED, []
            if lines and plan is not None:
                _overwrite(plan, fd, name, lines)


def end_overwriting(root: Path) -> None:
    """Writes once more what a process wrote over lines of a log when it died, if one did; raises likewise."""
    with _explained("a log"), _plan(root, create=False):
        pass


@contextmanager
def _plan(root: Path, *, create: bool) -> Iterator[int | None]:
    """The file that says what is being overwritten, ours alone; what it says already is done first.

    None where there is no such file. It stays, empty: whoever waits for it must find the same one.
    """
    *folders, leaf = _steps(_PLAN)
    with _folder(root, folders, create=create) as folder:
        made = os.O_CREAT if create else 0
        fd = None if folder is None else _opened(folder, leaf, _PLAN, os.O_RDWR | made)
        if fd is None or folder is None:
            yield None
            return
        with _closing(fd):
            fcntl.flock(fd, fcntl.LOCK_EX)
            if begun := _content(fd, _PLAN):
                seal, _, body = begun.partition(b"\n")
                if seal == _plan_seal(body):  # or it was cut off, and nothing was overwritten
                    name, *rest = body.split(b"\n")
                    _redo(root, name.decode(), zip(map(int, rest[::2]), rest[1::2], strict=True))
                os.ftruncate(fd, 0)
                settle(fd)
            if create:
                settle(folder)
            yield fd


def _plan_seal(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _redo(root: Path, name: str, lines: Iterable[tuple[int, bytes]]) -> None:
    *folders, leaf = _steps(name)
    with _folder(root, folders) as folder:
        if folder is None or (fd := _opened(folder, leaf, name, os.O_RDWR)) is None:
            return  # somebody took the log away
        with _closing(fd):
            fcntl.flock(fd, fcntl.LOCK_EX)
            for at, new in lines:
                if at + len(new) <= os.fstat(fd).st_size:  # or it is another log
                    os.pwrite(fd, new, at)
            settle(fd)


def _overwrite(plan: int, fd: int, name: str, lines: list[tuple[int, bytes]]) -> None:
    settle(fd)  # the places that the plan names are on the disk
    body = b"\n".join((name.encode(), *(part for at, new in lines for part in (b"%d" % at, new))))
    os.lseek(plan, 0, os.SEEK_SET)
    _write_all(plan, _plan_seal(body) + b"\n" + body)
    settle(plan)
    for at, new in lines:
        os.pwrite(fd, new, at)
    settle(fd)
    os.ftruncate(plan, 0)
    settle(plan)


def drop_versions(root: Path, name: str, gone: Callable[[bytes], bool], *, dry: bool = False) -> int:
    """Removes those kept versions of a file that `gone` names by what they say; how many there were.

    So it does with what a writer that was killed left beside the file: that, too, is an earlier version.
    """
    *folders, _ = _steps(name)
    kept = _steps(f"{HISTORY_DIR}/{flat_name(name)}")
    return _dropped(root, kept, _VERSION, gone, dry) + _dropped(root, folders, _OWN_TEMP, gone, dry)


def _dropped(
    root: Path, folders: list[str], names: re.Pattern[str], gone: Callable[[bytes], bool], dry: bool
) -> int:
    count = 0
    with _explained("a version"), _folder(root, folders) as folder:
        if folder is None:
            return 0
        with os.scandir(folder) as entries:
            listed = sorted(one.name for one in entries if names.fullmatch(one.name))
        for leaf in listed:
            if (fd := _opened(folder, leaf, leaf, os.O_RDONLY)) is None:
                continue
            with _closing(fd):
                found = gone(_content(fd, leaf))
            count += found
            if found and not dry:
                with suppress(FileNotFoundError):  # its writer was alive, and has taken it away
                    os.unlink(leaf, dir_fd=folder)
        settle(folder)
    return count


def files_in(root: Path, folder: str) -> list[str]:
    """The paths of the plain files directly in a folder below `root`, sorted; none where there is none."""
    with _explained(folder), _folder(root, _steps(folder)) as found:
        if found is None:
            return []
        with os.scandir(found) as entries:
            return sorted(f"{folder}/{one.name}" for one in entries if one.is_file(follow_symlinks=False))


def ensure_folder(root: Path, name: str) -> None:
    """Makes a folder below `root` with its parents, private to the owner; raises Damaged for a link there."""
    with _explained(name), _folder(root, _steps(name), create=True) as folder:
        if folder is None:
            raise _no_workspace(root)


def sweep(root: Path, *, now: datetime, older_than: timedelta = timedelta(hours=1)) -> int:
    """Removes temporary files that crashed writers left behind and says how many; never anything else.

    Hidden folders other than our own are not entered.
    """
    if not root.is_dir():
        return 0
    removed, deadline = 0, (now - older_than).timestamp()
    with _explained("."):
        for _, folders, names, folder in os.fwalk(root.resolve()):
            folders[:] = [name for name in folders if name == ".lamina" or not name.startswith(".")]
            for name in filter(_OWN_TEMP.fullmatch, names):
                with suppress(FileNotFoundError):  # another sweep was faster
                    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode) and found.st_mtime < deadline:
                        os.unlink(name, dir_fd=folder)
                        removed += 1
    return removed


def flat_name(name: str) -> str:
    """One file name for a path below the root, different for different paths."""
    flat = quoted("/".join(_steps(name)))
    return flat if len(flat) <= 200 else f"{flat[:120]}-{hashlib.sha256(name.encode()).hexdigest()}"


def _steps(name: str) -> list[str]:
    steps = name.split("/")
    if _UNUSABLE.search(name) or any(step in ("", ".", "..") or len(step.encode()) > 255 for step in steps):
        raise InvalidInput(
            f"{name!r:.80} is not the name of a file in the workspace.",
            code="path_invalid",
            hint="Use a path below the workspace, such as notes/plan.md, without .. or a leading slash.",
        )
    return steps


@contextmanager
def _closing(fd: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(fd)


@contextmanager
def _folder(root: Path, steps: list[str], create: bool = False) -> Iterator[int | None]:
    """The folder below root, walked one step at a time so that no link on the way is followed."""
    fd = _root(root)
    try:
        for step in steps:
            if fd is not None:
                parent, fd = fd, _step(fd, step, create)
                os.close(parent)
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def _root(root: Path) -> int | None:
    try:
        return os.open(root, _FOLDER)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise Damaged(
            f"{root} is not a folder.", code="not_a_folder", hint="Name the folder that holds the memories."
        ) from None


def _step(parent: int, step: str, create: bool) -> int | None:
    try:
        return os.open(step, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            return None
        with suppress(FileExistsError):  # another writer was faster
            os.mkdir(step, 0o700, dir_fd=parent)
            settle(parent)
        return _step(parent, step, create=False)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise Damaged(
            f"{step} in the workspace is a link or a file, and a folder is needed there.",
            code="not_a_folder",
            hint=f"Put a real folder in its place. {_ANEW}",
        ) from None


def _opened(folder: int, leaf: str, name: str, flags: int) -> int | None:
    """An open regular file with one name, None when there is none."""
    try:
        fd = os.open(leaf, flags | _SAFE, 0o600, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.EMLINK):
            raise _not_a_file(name) from None
        raise
    found = os.fstat(fd)
    # A second name would let a file from outside be read, or written, through the workspace.
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
        return fd
    os.close(fd)
    raise _not_a_file(name)


def _content(fd: int, name: str) -> bytes:
    chunks, at = [], 0
    while at <= LARGEST and (chunk := os.pread(fd, 1 << 20, at)):
        chunks.append(chunk)
        at += len(chunk)
    if at > LARGEST:
        raise Damaged(
            f"{name} is larger than {LARGEST >> 20} MiB.",
            code="file_too_large",
            hint="Split it, or move what is not meant to be remembered out of the workspace.",
        )
    return b"".join(chunks)


def _check_size(name: str, data: bytes) -> None:
    if len(data) > LARGEST:
        raise InvalidInput(
            f"The new content of {name} is larger than {LARGEST >> 20} MiB.",
            code="file_too_large",
            hint="Store less in one file.",
        )


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


def _swap(folder: int, leaf: str, name: str, data: bytes, before: os.stat_result | None) -> Stamp:
    """Puts `data` in the place of exactly the file that `before` describes, or raises Conflict."""
    temp = f".lamina-{os.getpid()}-{random_token(12)}.tmp"
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600, dir_fd=folder)
    is_ours = True
    try:
        with _closing(fd):
            _write_all(fd, data)
            if before is not None:
                _inherit(fd, before)
            settle(fd)
            ours = _stamp(os.fstat(fd))
        if _identity(folder, leaf) != (before and _stamp(before)):
            raise _changed(name)
        if not (place if before is None else exchange)(folder, temp, leaf):
            os.rename(temp, leaf, src_dir_fd=folder, dst_dir_fd=folder)
        elif before is not None and _identity(folder, temp) != _stamp(before):
            # Somebody saved between the look and the swap: their file goes back, and is never deleted.
            is_ours = False
            exchange(folder, temp, leaf)
            is_ours = (found := _identity(folder, temp)) is not None and found.inode == ours.inode
            raise _changed(name)
    except FileExistsError:
        raise _changed(name) from None
    finally:
        if is_ours:
            with suppress(FileNotFoundError):
                os.unlink(temp, dir_fd=folder)
    settle(folder)
    return ours


def _identity(folder: int, leaf: str) -> Stamp | None:
    try:
        return _stamp(os.stat(leaf, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def _inherit(fd: int, before: os.stat_result) -> None:
    with suppress(PermissionError):  # only root may give a file away; it then belongs to its writer
        os.fchown(fd, before.st_uid, before.st_gid)
    os.fchmod(fd, stat.S_IMODE(before.st_mode) & 0o777)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _versions(folder: int) -> list[int]:
    with os.scandir(folder) as found:
        return sorted(int(version.name) for version in found if _VERSION.fullmatch(version.name))


def _keep_version(root: Path, name: str, data: bytes) -> None:
    with _folder(root, _steps(f"{HISTORY_DIR}/{flat_name(name)}"), create=True) as folder:
        if folder is None:
            raise _no_workspace(root)
        numbers = _versions(folder)
        if find_secrets(_new_in(data, folder, numbers[-1:]).decode(errors="replace")):
            return  # somebody pasted a secret: it stays in their file as long as they want, and nowhere else
        number = numbers[-1] + 1 if numbers else 1
        fd = os.open(f"{number:06}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600, dir_fd=folder)
        try:
            with _closing(fd):
                _write_all(fd, data)
                settle(fd)
        except OSError:
            os.unlink(f"{number:06}", dir_fd=folder)
            raise
        for old in numbers[: max(0, len(numbers) + 1 - KEPT_VERSIONS)]:
            with suppress(FileNotFoundError):
                os.unlink(f"{old:06}", dir_fd=folder)


def _new_in(data: bytes, folder: int, newest: list[int]) -> bytes:
    """The part of a file that differs from the last kept version, which has no secret; with lines around."""
    fd = _opened(folder, f"{newest[0]:06}", "a version", os.O_RDONLY) if newest else None
    if fd is None:
        return data
    with _closing(fd):
        before, after = _content(fd, "a version").split(b"\n"), data.split(b"\n")
    start, end = _alike(before, after), _alike(before[::-1], after[::-1])
    return b"\n".join(after[max(0, start - _AROUND) : len(after) - max(0, end - _AROUND)])


def _alike(before: list[bytes], after: list[bytes]) -> int:
    """How many lines two texts have in common from the first."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))


def _set_torn_aside(fd: int, folder: int, leaf: str, name: str) -> None:
    size = os.fstat(fd).st_size
    if size == 0 or os.pread(fd, 1, size - 1) == b"\n":
        return
    start = size
    while start > 0:
        chunk = os.pread(fd, min(start, 1 << 16), max(0, start - (1 << 16)))
        if (at := chunk.rfind(b"\n")) >= 0:
            start -= len(chunk) - at - 1
            break
        start -= len(chunk)
    torn = _opened(folder, f"{leaf}.torn", f"{name}.torn", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    if torn is None:
        raise _changed(f"{name}.torn")
    with _closing(torn):
        at = start
        while at < size and (chunk := os.pread(fd, 1 << 20, at)):
            _write_all(torn, chunk)
            at += len(chunk)
        _write_all(torn, b"\n")
        settle(torn)
    os.ftruncate(fd, start)


def _append(fd: int, data: bytes) -> None:
    """One write, so that no reader sees half a line; one cut short by a full disk is completed or undone."""
    size = os.fstat(fd).st_size
    try:
        _write_all(fd, data)
    except OSError:
        os.ftruncate(fd, size)
        raise


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise explained(name, error) from error


def explained(name: str, error: OSError) -> LaminaError:
    """What a refusal by the system means to the owner of the workspace; nothing was changed by it."""
    if error.errno in _FULL:
        return Unavailable(
            f"There is no room left to write {name}; it is as it was.",
            code="disk_full",
            hint="Free some space, then try again.",
            retryable=True,
        )
    if error.errno in _FORBIDDEN:
        return Unavailable(
            f"The system does not allow access to {name}: {error.strerror}.",
            code="not_permitted",
            hint="Check the owner and the permissions of the workspace folder.",
        )
    if error.errno == errno.EISDIR:
        return _not_a_file(name)
    return Unavailable(
        f"The system could not use {name}: {error.strerror}.",
        code="io_error",
        hint="Check the disk, then try again.",
        retryable=True,
    )


def _changed(name: str) -> Conflict:
    return Conflict(
        f"{name} was changed by somebody else in the meantime.",
        code="file_changed",
        hint="Read it again and repeat the change.",
        retryable=True,
    )


def _not_a_file(name: str) -> Damaged:
    return Damaged(
        f"{name} is not a plain file of its own: it is a folder, a device, or a link to something else.",
        code="not_a_file",
        hint=f"Put a copy of the file itself in its place. {_ANEW}",
    )


def _no_workspace(root: Path) -> Damaged:
    return Damaged(
        f"There is no folder {root}.", code="workspace_missing", hint="Create it with `lamina init`."
    )


_CALL, _NO_REPLACE, _SWAP = ("renameatx_np", 4, 2) if sys.platform == "darwin" else ("renameat2", 1, 2)
_NOT_OFFERED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def exchange(folder: int, one: str, other: str) -> bool:
    """Swaps two files of an open folder in one step; False when the system or the file system cannot."""
    return _renamed(folder, one, other, _SWAP)


def place(folder: int, temp: str, name: str) -> bool:
    """Renames to a name that is free, or raises FileExistsError; False when it cannot be done in one step."""
    return _renamed(folder, temp, name, _NO_REPLACE)


def _system_call() -> Callable[..., int] | None:
    call = getattr(ctypes.CDLL(None, use_errno=True), _CALL, None)  # absent from old C libraries
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call


_rename = _system_call()


def _renamed(folder: int, old: str, new: str, flag: int) -> bool:
    if _rename is None:
        return False
    if _rename(folder, os.fsencode(old), folder, os.fsencode(new), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_OFFERED:
        return False
    raise OSError(code, os.strerror(code), new)
