"""Which markdown files of a workspace are documents: those there by default, and those the settings add."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from lamina.documents.settings import EVERY_FILE, SearchSettings, from_openclaw, listed_paths
from lamina.errors import LaminaError
from lamina.records import dataclass
from lamina.workspace.files import Stamp, read_file
from lamina.workspace.layout import PROFILE, README, SESSION

_DEFAULT = (("MEMORY.md", EVERY_FILE), ("memory", EVERY_FILE))
_WEEKLY_LOCK = "memory/.locks/weekly-compound.lock"
_OWN = frozenset({PROFILE, SESSION, README})  #: their lines are memories already, or about Lamina itself
_SKIPPED = frozenset({"node_modules", "vendor", "dist", "build", "__pycache__"})
_BETWEEN_LOOKS = 256  #: files before the clock is looked at, so that a small workspace is always swept whole


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A file or folder below `base`, and which files in it count; their paths begin with `prefix`."""

    base: Path
    path: str
    pattern: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Swept:
    """The files that were seen, what was left out and why, and whether all of them were looked at."""

    files: dict[str, tuple[DocumentSource, Stamp]]
    skipped: dict[str, str]
    complete: bool = True


def read_settings(root: Path, config_file: str, extra_paths: str) -> SearchSettings:
    """The settings of a workspace; never raises, and what cannot be used is among the notes."""
    found = SearchSettings()
    try:
        data = read_file(root, config_file) if config_file else None
        found = found if data is None else from_openclaw(json.loads(data))
    except LaminaError as error:
        found = replace(found, notes=(f"{config_file} is not used: {error.message}",))
    except (ValueError, RecursionError):
        found = replace(found, notes=(f"{config_file} is not used: it is not JSON.",))
    return replace(found, paths=(*found.paths, *listed_paths(extra_paths))) if extra_paths else found


@lru_cache(maxsize=64)  # every question asks, and settings seldom change
def sources_of(
    root: Path, settings: SearchSettings, allowed: tuple[Path, ...]
) -> tuple[tuple[DocumentSource, ...], tuple[str, ...]]:
    """Where to look, and notes about the paths where we may not: outside of `root` and of what is allowed."""
    sources, notes = list[DocumentSource](), list[str]()
    wanted = (*(_DEFAULT if settings.include_default else ()), *settings.paths) if settings.enabled else ()
    for path, pattern in wanted:
        whole = Path(os.path.normpath(root / Path(path).expanduser()))
        base = next((folder for folder in (root, *allowed) if whole.is_relative_to(folder)), None)
        if base is None:
            notes.append(f"{path} is not covered: it is outside the workspace, and not in `document_roots`.")
        else:
            prefix = "" if base == root else f"{base.as_posix()}/"
            sources.append(DocumentSource(base, whole.relative_to(base).as_posix(), pattern, prefix))
    return tuple(sources), tuple(notes)


def sweep_documents(sources: Sequence[DocumentSource], is_late: Callable[[], bool]) -> Swept:
    """Every file that the sources cover, with its stamp; nothing is read, no link followed.

    Once `is_late` says so, the rest is not looked at.
    """
    swept = Swept({}, {})
    for source in sources:
        matches = _matching(source.pattern)
        for name, entry in _walk(source, swept.skipped):
            if name in _OWN or not matches(name.removeprefix(source.path).lstrip("/") or entry.name):
                continue
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # it went this very moment
            stamp = Stamp(found.st_size, found.st_mtime_ns, found.st_ino)
            swept.files.setdefault(source.prefix + name, (source, stamp))
            if len(swept.files) % _BETWEEN_LOOKS == 0 and is_late():
                return replace(swept, complete=False)
    return swept


def weekly_at_work(root: Path) -> bool:
    """Whether the weekly job holds its lock."""
    try:
        fd = os.open(root / _WEEKLY_LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def _walk(source: DocumentSource, skipped: dict[str, str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The plain files of a source in the order of their names, those of a folder before its folders."""
    folder, _, only = source.path.rpartition("/")
    steps = [one for one in (Path(folder), *Path(folder).parents) if one != Path()] if folder else []
    if link := next((one for one in steps if (source.base / one).is_symlink()), None):
        skipped[source.prefix + link.as_posix()] = "a link, and links are not followed"
        return
    waiting = [(folder, only)] if only != "." else [("", "")]
    while waiting:
        folder, only = waiting.pop()
        folders = []
        for entry in _entries(source, folder, only, skipped):
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink():
                skipped[source.prefix + name] = "a link, and links are not followed"
            elif entry.is_file(follow_symlinks=False):
                yield name, entry
            elif not entry.name.startswith(".") and entry.name not in _SKIPPED:
                folders.append((name, ""))
        waiting += reversed(folders)


def _entries(
    source: DocumentSource, folder: str, only: str, skipped: dict[str, str]
) -> list[os.DirEntry[str]]:
    """What is in a folder, or of that the one thing that is looked for, in the order of names."""
    try:
        with os.scandir(source.base / folder) as found:
            wanted = (one for one in found if one.name == only) if only else found
            return sorted(wanted, key=lambda one: one.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        skipped[source.prefix + folder] = error.strerror or "it cannot be read"
        return []


@lru_cache(maxsize=64)
def _matching(pattern: str) -> Callable[[str], bool]:
    """Whether a path fits: `*` and `?` stay within a folder, `**` goes through folders."""
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/?|\*|\?)", re.sub(r"(?:\*\*/)+", "**/", pattern))
    compiled = re.compile("".join(words.get(part) or re.escape(part) for part in parts), re.DOTALL)
    return lambda name: compiled.fullmatch(name) is not None
