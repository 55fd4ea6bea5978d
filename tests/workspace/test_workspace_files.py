"""Files of a workspace: nothing outside is reached, nothing is half written, nothing is lost."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamina.errors import Conflict, Damaged, InvalidInput
from lamina.language.secrets.privacy import find_secrets
from lamina.text.entries import Entry, EntryFile
from lamina.workspace import files
from lamina.workspace.files import (
    append_lines,
    drop_versions,
    exchange,
    place,
    read_file,
    replace_file,
    stamp,
    sweep,
)
from lamina.workspace.layout import DATABASE, PROFILE, STATE_DIR, create_workspace, find_workspace

NOW = datetime(2026, 2, 7, 11, 0, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_bytes(b"not yours")
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def names(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()}


def child(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process of our own making, for limits that would not be undone in this one."""
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


# reading


def test_a_file_is_read_byte_for_byte(root: Path) -> None:
    data = b"\xef\xbb\xbfa\r\n\x00\xff\n\rz"
    (root / "a.md").write_bytes(data)
    assert read_file(root, "a.md") == data


def test_what_is_not_there_is_none(root: Path) -> None:
    assert read_file(root, "a.md") is None
    assert read_file(root, "no/such/a.md") is None
    assert read_file(root / "nowhere", "a.md") is None
    assert stamp(root, "a.md") is None
    assert stamp(root, "no/a.md") is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/passwd",
        "a//b",
        "a/",
        "./a",
        "a\x00b",
        "a\nb",
        "..\\secret.txt",
        "C:\\x",
        "a\udc80",
        "x" * 256,
        "ก" * 100,
    ],
)
def test_a_name_that_leaves_the_root_is_refused(root: Path, secret: Path, name: str) -> None:
    for act in (
        lambda: read_file(root, name),
        lambda: stamp(root, name),
        lambda: append_lines(root, name, [b"x"]),
        lambda: replace_file(root, name, b"x", None),
        lambda: drop_versions(root, name, lambda _: True),
    ):
        with pytest.raises(InvalidInput) as refused:
            act()
        assert refused.value.code == "path_invalid"
    assert names(root) == set()
    assert secret.read_bytes() == b"not yours"


@pytest.mark.parametrize(
    "name", ["..a", "a..b", "\u2025", "\uff0e\uff0e", "a\u2215b", "%2e%2e", "CON", "a.", "ภาษา.md"]
)
def test_a_name_that_only_looks_like_leaving_is_a_name(root: Path, name: str) -> None:
    replace_file(root, name, b"x", None)
    assert read_file(root, name) == b"x"
    assert names(root) == {name}


def _symlink(place: Path, secret: Path) -> None:
    place.symlink_to(secret)


def _dangling(place: Path, secret: Path) -> None:
    place.symlink_to(secret.with_name("nothing"))


def _hardlink(place: Path, secret: Path) -> None:
    place.hardlink_to(secret)


def _fifo(place: Path, secret: Path) -> None:
    os.mkfifo(place)


def _folder(place: Path, secret: Path) -> None:
    place.mkdir()


def _socket(place: Path, secret: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))


@pytest.mark.parametrize("make", [_symlink, _dangling, _hardlink, _fifo, _folder, _socket])
@pytest.mark.timeout(10)
def test_only_a_plain_file_is_read_or_written(root: Path, secret: Path, make: object) -> None:
    make(root / "a.md", secret)  # type: ignore[operator]
    for act in (
        lambda: read_file(root, "a.md"),
        lambda: stamp(root, "a.md"),
        lambda: append_lines(root, "a.md", [b"x"]),
        lambda: replace_file(root, "a.md", b"x", b"not yours"),
        lambda: replace_file(root, "a.md", b"x", None),
    ):
        with pytest.raises(Damaged) as refused:
            act()
        assert refused.value.code == "not_a_file"
        assert refused.value.hint
    assert secret.read_bytes() == b"not yours"
    assert not secret.with_name("nothing").exists()


def test_a_linked_folder_on_the_way_is_not_entered(root: Path, secret: Path) -> None:
    (root / "notes").symlink_to(secret.parent)
    for act in (
        lambda: read_file(root, "notes/secret.txt"),
        lambda: append_lines(root, "notes/secret.txt", [b"x"]),
        lambda: replace_file(root, "notes/new.md", b"x", None),
        lambda: files.ensure_folder(root, "notes/deep"),
    ):
        with pytest.raises(Damaged) as refused:
            act()
        assert refused.value.code == "not_a_folder"
    assert not (secret.parent / "new.md").exists()
    assert not (secret.parent / "deep").exists()


def test_a_link_that_flips_while_we_read_is_never_followed(root: Path, secret: Path) -> None:
    stop = threading.Event()

    def flip() -> None:
        while not stop.is_set():
            (root / "next").write_bytes(b"ours")
            (root / "next").replace(root / "a.md")
            (root / "next").symlink_to(secret)
            (root / "next").replace(root / "a.md")

    flipper = threading.Thread(target=flip)
    flipper.start()
    seen: set[bytes | None] = set()
    reads = 0
    try:
        while reads < 5000 or not seen >= {b"ours", b"refused"}:
            reads += 1
            try:
                seen.add(read_file(root, "a.md"))
            except Damaged:
                seen.add(b"refused")
    finally:
        stop.set()
        flipper.join()
    assert seen - {None} == {b"ours", b"refused"}


def test_a_file_larger_than_the_limit_is_refused_and_not_read(root: Path) -> None:
    with (root / "a.md").open("wb") as file:
        file.truncate(files.LARGEST)
    assert len(read_file(root, "a.md") or b"") == files.LARGEST
    os.truncate(root / "a.md", files.LARGEST + 1)
    with pytest.raises(Damaged) as refused:
        read_file(root, "a.md")
    assert refused.value.code == "file_too_large"
    with pytest.raises(InvalidInput):
        replace_file(root, "b.md", b"x" * (files.LARGEST + 1), None)


def test_a_stamp_changes_with_the_file(root: Path) -> None:
    replace_file(root, "a.md", b"one", None)
    first = stamp(root, "a.md")
    assert first is not None
    assert (first.size, first.inode) == (3, (root / "a.md").stat().st_ino)
    assert stamp(root, "a.md") == first
    replace_file(root, "a.md", b"two", b"one")
    assert stamp(root, "a.md") != first


# replacing


def test_two_files_swap_places_and_a_new_name_is_never_taken_by_force(root: Path) -> None:
    (root / "a").write_bytes(b"a")
    (root / "b").write_bytes(b"b")
    folder = os.open(root, os.O_RDONLY)
    try:
        if not exchange(folder, "a", "b"):
            pytest.skip("this file system cannot swap two files")
        assert (root / "a").read_bytes() == b"b"
        with pytest.raises(FileExistsError):
            place(folder, "a", "b")
        assert place(folder, "a", "c")
        with pytest.raises(FileNotFoundError):
            exchange(folder, "a", "b")
    finally:
        os.close(folder)
    assert names(root) == {"b", "c"}


def test_a_new_file_and_its_folders_are_private(root: Path) -> None:
    replace_file(root, "notes/deep/a.md", b"one", None)
    assert read_file(root, "notes/deep/a.md") == b"one"
    assert mode(root / "notes/deep/a.md") == 0o600
    assert mode(root / "notes") == mode(root / "notes/deep") == 0o700
    assert names(root / "notes/deep") == {"a.md"}


def test_a_replaced_file_keeps_its_mode_and_owner(root: Path) -> None:
    path = root / "a.md"
    path.write_bytes(b"one")
    path.chmod(0o640)
    owner = (12345, 54321) if os.geteuid() == 0 else (os.geteuid(), path.stat().st_gid)
    os.chown(path, *owner)
    replace_file(root, "a.md", b"two", b"one")
    assert path.read_bytes() == b"two"
    assert mode(path) == 0o640
    assert (path.stat().st_uid, path.stat().st_gid) == owner


@pytest.mark.parametrize("expected", [None, b"", b"older"])
def test_a_file_that_says_something_else_by_now_is_left_alone(root: Path, expected: bytes | None) -> None:
    (root / "a.md").write_bytes(b"by hand")
    with pytest.raises(Conflict) as refused:
        replace_file(root, "a.md", b"mine", expected)
    assert refused.value.code == "file_changed"
    assert refused.value.retryable
    assert names(root) == {"a.md"}
    assert (root / "a.md").read_bytes() == b"by hand"


def test_a_file_that_was_deleted_by_now_is_not_brought_back(root: Path) -> None:
    with pytest.raises(Conflict):
        replace_file(root, "a.md", b"mine", b"gone")
    assert names(root) == set()


def test_replacing_with_the_same_bytes_changes_nothing(root: Path) -> None:
    replace_file(root, "a.md", b"one", None)
    before = stamp(root, "a.md")
    replace_file(root, "a.md", b"one", b"one")
    assert stamp(root, "a.md") == before
    assert names(root) == {"a.md"}


def test_the_last_twenty_versions_are_kept_privately(root: Path) -> None:
    content: bytes | None = None
    for number in range(25):
        replace_file(root, "notes/a.md", b"%d" % number, content)
        content = b"%d" % number
    history = root / ".lamina/history" / files.flat_name("notes/a.md")
    versions = sorted(history.iterdir())
    assert [path.read_bytes() for path in versions] == [b"%d" % number for number in range(4, 24)]
    assert {mode(path) for path in versions} == {0o600}
    assert mode(root / ".lamina") == mode(history) == 0o700
    assert drop_versions(root, "notes/a.md", lambda _: True) == 20
    assert drop_versions(root, "notes/a.md", lambda _: True) == 0
    assert read_file(root, "notes/a.md") == b"24"


def test_different_files_never_share_a_history(root: Path) -> None:
    paths = ["a/b", "a~2Fb", "a_b", "ab", "A/b", "ก" * 80, "ก" * 79 + "ข", "x" * 250, "x" * 249 + "y"]
    assert len({files.flat_name(path) for path in paths}) == len(paths)
    assert all(len(files.flat_name(path)) <= 200 for path in paths)


EDITOR = """
import os, sys
from pathlib import Path
root = Path(sys.argv[1])
saved = 0
while saved < 400:
    text = (root / "PROFILE.md").read_bytes()
    (root / "mine~").write_bytes(text + b"typed line %d\\n" % saved)
    if (root / "PROFILE.md").read_bytes() == text:  # "the file has changed on disk": every editor looks
        os.replace(root / "mine~", root / "PROFILE.md")
        saved += 1
"""


def test_no_line_that_a_person_saves_while_we_write_is_lost(root: Path) -> None:
    replace_file(root, "PROFILE.md", b"# PROFILE\n", None)
    writes = conflicts = 0
    with subprocess.Popen([sys.executable, "-c", EDITOR, str(root)]) as editor:
        while editor.poll() is None:
            before = read_file(root, "PROFILE.md") or b""
            after = EntryFile.parse(before).put(Entry(key="count", value=str(writes)))
            try:
                replace_file(root, "PROFILE.md", after.to_bytes(), before)
                writes += 1
            except Conflict:
                conflicts += 1
    assert editor.returncode == 0
    lines = (read_file(root, "PROFILE.md") or b"").split(b"\n")
    assert [line for line in lines if line.startswith(b"typed")] == [b"typed line %d" % n for n in range(400)]
    assert writes
    assert names(root) - {"mine~"} == {"PROFILE.md", ".lamina"}


WRITE_LIMITED = """
import resource, signal, sys
from pathlib import Path
from lamina.errors import LaminaError
from lamina.workspace.files import exchange, place
from lamina.workspace.files import append_lines, read_file, replace_file
root, verb, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    if verb == "replace":
        replace_file(root, "a.md", b"y" * 5000, read_file(root, "a.md"))
    else:
        append_lines(root, "log.jsonl", [b"y" * 5000])
except LaminaError as error:
    print(type(error).__name__, error.code, bool(error.hint), error.retryable)
"""


@pytest.mark.parametrize("limit", [0, 100, 4096])
def test_a_write_cut_short_by_a_full_disk_leaves_the_file_as_it_was(root: Path, limit: int) -> None:
    (root / "a.md").write_bytes(b"mine")
    told = child(WRITE_LIMITED, str(root), "replace", str(limit))
    assert told.stdout.split() == ["Unavailable", "disk_full", "True", "True"], told.stderr
    assert (root / "a.md").read_bytes() == b"mine"
    assert not [name for name in names(root) if name.endswith(".tmp")]


@pytest.mark.parametrize("limit", [8, 100, 4096])
def test_an_append_cut_short_by_a_full_disk_is_undone(root: Path, limit: int) -> None:
    (root / "log.jsonl").write_bytes(b'{"a":1}\n')
    told = child(WRITE_LIMITED, str(root), "append", str(limit))
    assert told.stdout.split() == ["Unavailable", "disk_full", "True", "True"], told.stderr
    assert (root / "log.jsonl").read_bytes() == b'{"a":1}\n'
    append_lines(root, "log.jsonl", [b'{"b":2}'])
    assert (root / "log.jsonl").read_bytes() == b'{"a":1}\n{"b":2}\n'


AS_NOBODY = """
import os, sys
from pathlib import Path
from lamina.errors import LaminaError
from lamina.workspace.files import exchange, place
from lamina.workspace.files import append_lines, read_file, replace_file, stamp
from lamina.workspace.layout import create_workspace
root = Path(sys.argv[1])
if os.geteuid() == 0:
    os.chdir(root)
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    root = Path(".")
for act in (
    lambda: replace_file(root, "a.md", b"x", read_file(root, "a.md")),
    lambda: append_lines(root, "log", [b"x"]),
    lambda: create_workspace(root, "ana"), lambda: read_file(root, "shut.md"),
):
    try:
        act()
        print("done")
    except LaminaError as error:
        print(type(error).__name__, error.code, bool(error.hint))
"""


def test_a_folder_we_may_not_write_is_named_and_left_alone(root: Path) -> None:
    (root / "a.md").write_bytes(b"mine")
    (root / "a.md").chmod(0o644)
    (root / "shut.md").touch()
    (root / "shut.md").chmod(0o000)
    root.chmod(0o555)
    try:
        told = child(AS_NOBODY, str(root))
        assert told.stdout.splitlines() == ["Unavailable not_permitted True"] * 4, told.stderr
        assert names(root) == {"a.md", "shut.md"}
    finally:
        root.chmod(0o755)


def test_a_root_that_is_no_folder_is_named(root: Path) -> None:
    (root / "file").touch()
    none = root / "none"
    for act in (lambda: replace_file(none, "a", b"", None), lambda: append_lines(none, "a", [b""])):
        with pytest.raises(Damaged) as refused:
            act()
        assert refused.value.code == "workspace_missing"
    with pytest.raises(Damaged) as refused:
        read_file(root / "file", "a")
    assert refused.value.code == "not_a_folder"


# appending


def test_lines_are_appended_one_by_one(root: Path) -> None:
    append_lines(root, ".lamina/runs/r1/audit.jsonl", [b"one"])
    append_lines(root, ".lamina/runs/r1/audit.jsonl", [b"two\n"], durable=False)
    assert read_file(root, ".lamina/runs/r1/audit.jsonl") == b"one\ntwo\n"
    assert mode(root / ".lamina/runs/r1/audit.jsonl") == 0o600
    assert mode(root / ".lamina/runs/r1") == 0o700


def test_one_line_is_one_line(root: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        append_lines(root, "log", [b"one\ntwo\n"])
    assert refused.value.code == "line_invalid"


@pytest.mark.parametrize("whole", [b"", b"one\n", b"one\n" + b"x" * 70_000 + b"\n"])
@pytest.mark.parametrize("tail", [b"t", b'{"half":', b"y" * 65_536, b"y" * 200_000])
def test_a_torn_tail_is_set_aside_and_the_log_goes_on(root: Path, whole: bytes, tail: bytes) -> None:
    (root / "log").write_bytes(whole + tail)
    append_lines(root, "log", [b"next"])
    assert (root / "log").read_bytes() == whole + b"next\n"
    assert (root / "log.torn").read_bytes() == tail + b"\n"


def test_appenders_in_many_processes_never_mix_their_lines(root: Path) -> None:
    script = """
import sys
from pathlib import Path
from lamina.workspace.files import exchange, place
from lamina.workspace.files import append_lines
for number in range(100):
    line = f"{sys.argv[2]}:{number}:" + sys.argv[2] * (number * 300)
    append_lines(Path(sys.argv[1]), "log", [line.encode()], durable=False)
"""
    workers = [subprocess.Popen([sys.executable, "-c", script, str(root), str(n)]) for n in range(6)]
    assert [worker.wait(timeout=60) for worker in workers] == [0] * 6
    lines = (root / "log").read_bytes().decode().splitlines()
    wanted = [f"{n}:{number}:{str(n) * (number * 300)}" for n in range(6) for number in range(100)]
    assert sorted(lines) == sorted(wanted)
    assert names(root) == {"log"}


# sweeping


def test_only_our_own_old_temporary_files_are_swept(root: Path) -> None:
    old, fresh = (NOW - timedelta(hours=2)).timestamp(), (NOW - timedelta(minutes=5)).timestamp()
    for folder in (".", "notes/deep", ".lamina/history/x", ".git"):
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in (".lamina-12-aB_-9.tmp", ".lamina-x-a.tmp", ".lamina-1-a.tmp.md", "lamina-1-a", "a.tmp"):
            (root / folder / name).touch()
            os.utime(root / folder / name, (old, old))
        (root / folder / ".lamina-7-fresh.tmp").touch()
        os.utime(root / folder / ".lamina-7-fresh.tmp", (fresh, fresh))
    (root / ".lamina-9-folder.tmp").mkdir()
    (root / ".lamina-9-link.tmp").symlink_to(root / "a.tmp")
    count = sum(1 for _ in root.rglob("*"))
    assert sweep(root, now=NOW) == 3
    assert sweep(root, now=NOW) == 0
    assert sum(1 for _ in root.rglob("*")) == count - 3
    assert (root / ".git/.lamina-12-aB_-9.tmp").exists()
    assert sweep(root / "none", now=NOW) == 0


def test_a_writer_that_is_killed_leaves_the_old_file_or_the_new_one(root: Path) -> None:
    script = """
import sys
from pathlib import Path
from lamina.workspace.files import read_file, replace_file
root, number = Path(sys.argv[1]), 0
while True:
    number += 1
    replace_file(root, "a.md", b"%08d" % number * 4096, read_file(root, "a.md"))
    print(number, flush=True)
"""
    replace_file(root, "a.md", b"00000000" * 4096, None)
    for round_number in range(8):
        with subprocess.Popen([sys.executable, "-c", script, str(root)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(round_number + 1):
                writer.stdout.readline()
            writer.kill()
        found = read_file(root, "a.md")
        assert found is not None
        assert len(found) == 32_768
        assert len({found[at : at + 8] for at in range(0, len(found), 8)}) == 1


# layout


def test_a_new_workspace_has_what_a_person_needs(tmp_path: Path) -> None:
    root = tmp_path / "me"
    created = create_workspace(root, 'ana"\\')
    made = [".lamina/", ".lamina/.gitignore", "PROFILE.md", "SESSION.md", "lamina.toml", "LAMINA.md"]
    assert created == made
    assert mode(root / STATE_DIR) == 0o700
    assert (root / ".lamina/.gitignore").read_text() == "*\n"
    assert (root / "lamina.toml").read_text() == 'owner = "ana\\"\\\\"\n'
    profile = EntryFile.parse((root / PROFILE).read_bytes())
    assert (profile.entries, profile.problems) == ((), ())
    assert not (root / DATABASE).exists()


def test_creating_a_workspace_again_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "PROFILE.md").write_bytes(b"by hand\r\n")
    assert "PROFILE.md" not in create_workspace(tmp_path, "ana")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert create_workspace(tmp_path, "ben") == []
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert (tmp_path / "PROFILE.md").read_bytes() == b"by hand\r\n"


def test_a_place_that_cannot_be_a_workspace_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/PROFILE.md").symlink_to(tmp_path / "file")
    for where in ("file", "file/below", "no/such"):
        with pytest.raises(InvalidInput) as refused:
            create_workspace(tmp_path / where, "ana")
        assert refused.value.code == "workspace_invalid"
        assert refused.value.hint
    with pytest.raises(InvalidInput):
        create_workspace(tmp_path, "two words")
    with pytest.raises(Damaged):
        create_workspace(tmp_path / "linked", "ana")


def test_the_workspace_is_the_one_named_then_the_environment_then_the_nearest(tmp_path: Path) -> None:
    inner = tmp_path / "a/b/c"
    inner.mkdir(parents=True)
    assert find_workspace(inner, None, {}) == inner
    (tmp_path / "a/.lamina").mkdir()
    assert find_workspace(inner, None, {}) == tmp_path / "a"
    assert find_workspace(inner, None, {"LAMINA_WORKSPACE": ""}) == tmp_path / "a"
    env = {"LAMINA_WORKSPACE": str(tmp_path / "named")}
    assert find_workspace(inner, None, env) == tmp_path / "named"
    assert find_workspace(inner, tmp_path / "told", env) == tmp_path / "told"


def test_no_file_stays_open(root: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    (root / "link").symlink_to(root)
    os.mkfifo(root / "fifo")
    for _ in range(20):
        for act in (
            lambda: replace_file(root, "a.md", b"x", read_file(root, "a.md")),
            lambda: append_lines(root, "d/log", [b"x"]),
            lambda: read_file(root, "no/a"),
            lambda: read_file(root, "link/a.md"),
            lambda: read_file(root, "fifo"),
            lambda: read_file(root, "d"),
            lambda: replace_file(root, "a.md", b"y", b"z"),
        ):
            with suppress(Damaged, Conflict):
                act()
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_of_a_long_file_only_what_is_new_is_searched_for_secrets(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"- key:n{number} | value:thing {number}" for number in range(2000)]
    versions = ["\n".join(lines)]
    for at, new in (
        (1000, "a new line"),
        (0, "first"),
        (2002, "last"),
        (700, "password: hunter2-Sunflower-42"),
    ):
        lines.insert(at, new)
        versions.append("\n".join(lines))
    versions += ["\n".join(lines[:700] + lines[701:]), "the end"]
    looked: list[int] = []
    monkeypatch.setattr(
        files, "find_secrets", lambda text: looked.append(text.count("\n")) or find_secrets(text)
    )
    before = None
    for version in versions:
        replace_file(root, "a.md", version.encode(), before)
        before = version.encode()
    kept = sorted((root / files.HISTORY_DIR / "a.md").iterdir())
    assert [one.read_text() for one in kept] == [*versions[:4], versions[5]]
    assert looked[0] == 1999
    assert max(looked[1:]) <= 2 * 20 + 2
