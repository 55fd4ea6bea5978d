"""Reads members out of the archives that package managers download."""

from __future__ import annotations

import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

Member = tuple[str, bytes]


def members(archive: Path | io.BytesIO, name: str, pattern: str) -> Iterator[Member]:
    """Path and content of each member whose path matches, in the order of the paths."""
    wanted = re.compile(pattern)
    if name.endswith((".whl", ".zip", ".xpi", ".ja")):
        yield from _zipped(archive, wanted)
    elif name.endswith(".deb"):
        yield from _tarred(_payload(Path(str(archive)).read_bytes()), wanted)
    else:
        yield from _tarred(archive, wanted)


def _zipped(archive: Path | io.BytesIO, wanted: re.Pattern[str]) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as opened:
        for path in sorted(filter(wanted.search, opened.namelist())):
            yield path, opened.read(path)


def _tarred(archive: Path | io.BytesIO, wanted: re.Pattern[str]) -> Iterator[Member]:
    data = io.BytesIO(archive.read_bytes()) if isinstance(archive, Path) else archive
    found: list[Member] = []
    with tarfile.open(fileobj=data) as opened:
        for entry in opened:
            if entry.isfile() and wanted.search(entry.name):
                content = opened.extractfile(entry)
                found.append((entry.name, content.read() if content else b""))
    yield from sorted(found)


def _payload(deb: bytes) -> io.BytesIO:
    """The `data.tar` of a Debian package, which is an `ar` archive of three members."""
    at = 8
    while at < len(deb):
        name, size = deb[at : at + 16].decode().strip(), int(deb[at + 48 : at + 58])
        if name.startswith("data.tar"):
            data = deb[at + 60 : at + 60 + size]
            return io.BytesIO(lzma.decompress(data) if ".xz" in name else data)
        at += 60 + size + size % 2
    raise ValueError("a Debian package without data")
