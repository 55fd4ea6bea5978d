"""What of a folder a power cut would leave: bytes that were synced, and names whose folder was.

Names are kept one by one: a new file is there once its folder was synced, and one that was removed or
renamed stays under its old name until then. With chance given, each unsynced page and name is there or not.
"""

from __future__ import annotations

import os
import random
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PAGE = 4096
Key = tuple[int, int]  #: an inode, and how often its number was given to a new file
Names = dict[str, tuple[Key, bool]]  #: name to what it names, and whether that is a folder
Tree = dict[str, bytes | None]  #: path below the root to content, None for a folder


@dataclass
class Disk:
    """A folder as the disk has it, beside what the system shows of it; all that is in it now is on both."""

    root: Path
    _births: Counter[int] = field(default_factory=Counter)
    _bytes: dict[Key, bytes] = field(default_factory=dict)
    _names: dict[Key, Names] = field(default_factory=dict)
    _open: dict[Key, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settle_below(self.root)

    def settle_below(self, folder: Path) -> None:
        """As if everything in a folder had been synced."""
        self.folder_synced(folder)
        for path in folder.iterdir():
            if path.is_dir():
                self.settle_below(path)
            else:
                self.file_synced(path)

    def born(self, path: str) -> None:
        """A file or folder is new; the number of one that is gone may have been given to it."""
        found = Path(path).lstat()
        self._births[found.st_ino] += 1

    def synced(self, fd: int) -> None:
        path = Path(f"/proc/self/fd/{fd}").readlink()
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            self.folder_synced(path)
        else:
            self.file_synced(path)

    def folder_synced(self, folder: Path) -> None:
        self._names[self._key(folder.stat())] = self._shown(folder)

    def file_synced(self, path: Path) -> None:
        if path.exists():  # one without a name is nobody's
            self._bytes[self._key(path.stat())] = self._content(path)

    def left(self, chance: random.Random | None = None) -> Tree:
        """What there is after a cut now."""
        return dict(self._below(self._key(self.root.stat()), self.root, "", chance))

    def _below(
        self, key: Key, path: Path | None, prefix: str, chance: random.Random | None
    ) -> Iterator[tuple[str, bytes | None]]:
        lasting = self._names.get(key, {})
        shown = self._shown(path) if path is not None else {}
        for name in sorted({*lasting, *shown}):
            found = lasting.get(name)
            if chance is not None and shown.get(name) != found:
                found = chance.choice([found, shown.get(name)])
            if found is None or name.endswith("-shm"):  # what SQLite shares in memory is made anew
                continue
            own, is_folder = found
            here = path / name if path is not None and shown.get(name) == found else None
            if is_folder:
                yield f"{prefix}{name}", None
                yield from self._below(own, here, f"{prefix}{name}/", chance)
            else:
                yield f"{prefix}{name}", self._bytes_of(own, here, chance)

    def _bytes_of(self, key: Key, here: Path | None, chance: random.Random | None) -> bytes:
        old = self._bytes.get(key, b"")
        if chance is None or here is None or (new := self._content(here)) == old:
            return old
        size = chance.choice([len(old), len(new)])
        pages = []
        for at in range(0, size, PAGE):
            whole = min(PAGE, size - at)
            one = chance.choice([old, new])[at : at + PAGE][:whole]
            pages.append(one.ljust(whole, b"\0"))  # room that was made and never filled
        return b"".join(pages)

    def _key(self, found: os.stat_result) -> Key:
        return found.st_ino, self._births[found.st_ino]

    def _shown(self, folder: Path) -> Names:
        with os.scandir(folder) as entries:
            return {
                one.name: (self._key(one.stat(follow_symlinks=False)), one.is_dir(follow_symlinks=False))
                for one in entries
            }

    def _content(self, path: Path) -> bytes:
        # Kept open: to close a file of SQLite's would end the locks that it holds on it.
        key = self._key(path.stat())
        if key not in self._open:
            self._open[key] = os.open(path, os.O_RDONLY)
        fd = self._open[key]
        return os.pread(fd, os.fstat(fd).st_size, 0)


def put_down(tree: Tree, place: Path) -> None:
    """Make a folder what a cut left."""
    place.mkdir()
    for name, data in tree.items():
        if data is None:
            (place / name).mkdir()
        else:
            (place / name).write_bytes(data)
