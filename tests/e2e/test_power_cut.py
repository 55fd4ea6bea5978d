"""After a power cut there is what was acknowledged, the key that seals it, and no alarm.

The disk is simulated: what was synced stays and everything else is lost, in two ways that file systems have.
Either every name is there and a file that was not synced is empty, or a name, too, is there only once its
folder was synced. SQLite syncs its own files; they are taken as they are.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import lamina
from lamina.audit.keys import SETTLED_EVERY
from lamina.engine import Engine

NAMES = ("at once", "one by one")
Tree = dict[str, bytes | None]  #: path below the root to content, None for a folder


@dataclass
class Disk:
    """What of a folder a power cut would leave."""

    root: Path
    bytes_of: dict[int, bytes] = field(default_factory=dict)  #: inode to content, when it was last synced
    names_in: dict[int, dict[str, int]] = field(
        default_factory=dict
    )  #: inode of a folder to names and inodes
    seen: list[Tree] = field(default_factory=list)  #: what each moment would leave, names one by one

    def synced(self, fd: int) -> None:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            names = {one.name: one.inode() for one in os.scandir(f"/proc/self/fd/{fd}")}
            self.names_in[found.st_ino] = names
        else:
            self.bytes_of[found.st_ino] = Path(f"/proc/self/fd/{fd}").read_bytes()
        self.seen.append(self.left("one by one"))

    def left(self, names: str) -> Tree:
        return dict(self._below(self.root, names, ""))

    def _below(self, folder: Path, names: str, prefix: str) -> Iterator[tuple[str, bytes | None]]:
        lasting = self.names_in.get(folder.stat().st_ino, {})
        for path in sorted(folder.iterdir()):
            name, inode = f"{prefix}{path.name}", path.stat().st_ino
            store = path.name.partition("-")[0]  # memory.db for memory.db-wal
            if path.name.endswith("-shm") or path.suffix == ".lock":
                continue
            if names == "one by one" and lasting.get(path.name) != inode and store not in lasting:
                continue
            if path.is_dir():
                yield name, None
                yield from self._below(path, names, f"{name}/")
            elif store == "memory.db":
                yield name, path.read_bytes()
            else:
                yield name, self.bytes_of.get(inode, b"")


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    root = tmp_path / "disk"
    root.mkdir()
    (root / "people").mkdir()
    disk, sync = Disk(root), os.fsync
    disk.names_in[root.stat().st_ino] = {"people": (root / "people").stat().st_ino}  # it was there before

    def watched(fd: int) -> None:
        sync(fd)
        if Path(f"/proc/self/fd/{fd}").readlink().is_relative_to(root):
            disk.synced(fd)

    monkeypatch.setattr(os, "fsync", watched)
    return disk


def opened(root: Path, kind: str) -> Engine:
    """A workspace in a folder that was there, or a store without one in folders that were not."""
    target = root / "people" / "w" if kind == "workspace" else f"sqlite:///{root}/new/stores/memory.db"
    return lamina.open(target, owner="ana", environment={"LAMINA_HOME": str(root / "deep" / "home")})


def after_the_cut(tree: Tree, place: Path) -> Path:
    for name, data in tree.items():
        if data is None:
            (place / name).mkdir(parents=True)
        else:
            (place / name).write_bytes(data)
    return place


def check(tree: Tree, place: Path, kind: str, known: dict[str, str]) -> None:
    """Everything that was acknowledged is there, and nothing raises an alarm, then and later."""
    place.mkdir()
    after_the_cut(tree, place)
    for _ in range(2):
        with opened(place, kind) as engine:
            for memory_id, text in known.items():
                assert engine.scope().get(memory_id).text == text
            assert engine.verify_audit().findings == ()
            assert engine.verify_audit().notes == ()
            assert engine.status().problems == ()
            engine.scope().remember("after the cut")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux which file is synced")
@pytest.mark.parametrize("kind", ["workspace", "store"])
@pytest.mark.parametrize("names", NAMES)
def test_what_was_acknowledged_survives_with_its_key_and_without_an_alarm(
    disk: Disk, tmp_path: Path, names: str, kind: str
) -> None:
    known: dict[str, str] = {}
    cuts: list[tuple[Tree, dict[str, str]]] = []

    def now() -> None:
        cuts.append((disk.left(names), dict(known)))

    for _ in range(2):
        with opened(disk.root, kind) as engine:
            now()
            for number in range(2):
                text = f"thing {len(known)}"
                known[engine.scope(run=f"r{number}").remember(text).ids[0]] = text
                now()
            key = f"k{len(known)}"
            known[engine.scope().remember("friendly", key=key).ids[0]] = "friendly"
            now()
        now()

    assert len(cuts) == 10
    for number, (tree, then) in enumerate(cuts):
        check(tree, tmp_path / f"cut{number}", kind, then)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux which file is synced")
def test_at_no_moment_is_half_a_key_or_half_an_anchor_on_the_disk(disk: Disk) -> None:
    with opened(disk.root, "workspace") as engine:
        for number in range(SETTLED_EVERY + 3):
            engine.scope().remember(f"thing {number}")
        last = engine.status().audit_records

    assert len(disk.seen) > 15
    keys = {data for tree in disk.seen for name, data in tree.items() if name.endswith("audit.key")}
    anchors = {data for tree in disk.seen for name, data in tree.items() if name.endswith(".anchor")}
    assert {len(data or b"") for data in keys} == {32}
    assert len(keys) == 1
    assert {len(data or b"") for data in anchors} == {151}
    assert sorted(int((data or b"")[:20]) for data in anchors) == [0, SETTLED_EVERY, last]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux which file is synced")
def test_what_the_simulation_calls_lost_is_what_was_not_synced(disk: Disk) -> None:
    """The simulation itself can fail: an unsynced name and unsynced bytes are gone in it."""
    (disk.root / "a").mkdir()
    (disk.root / "a" / "b").write_bytes(b"x")
    assert disk.left("one by one") == {"people": None}
    assert disk.left("at once") == {"a": None, "a/b": b"", "people": None}
    for path in (disk.root, disk.root / "a", disk.root / "a" / "b"):
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
    assert disk.left("one by one") == {"a": None, "a/b": b"x", "people": None}
