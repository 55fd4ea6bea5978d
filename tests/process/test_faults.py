"""When the machine lets us down, the caller is told plainly, and nothing that was there is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import psycopg
import pytest

import lamina
from lamina import Damaged, LaminaError, Unavailable

# A full disk and a read-only one are real ones: small file systems of this process's own.
FULL = r"""
import os, sys, subprocess
from pathlib import Path
import lamina
from lamina.text.entries import EntryFile
disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=5m", "none", str(disk)], check=True)
os.environ["LAMINA_HOME"] = str(disk / "home") if sys.argv[2] == "inside" else sys.argv[2]
ballast = disk / "ballast"
ballast.write_bytes(b"x" * 1_500_000)
engine = lamina.open(disk / "w", owner="ana")
mind, kept, keys, told, cut = engine.scope(), {}, {}, [], {}
for number in range(20_000):
    text, key = f"thing {number} " + "lorem ipsum " * 40, f"k{number % 70}" if number % 7 == 0 else None
    try:
        receipt = mind.remember(text, **({"key": key} if key else {}))
        if key:
            keys[key] = text
        else:
            kept[receipt.ids[0]] = text
    except lamina.LaminaError as error:
        told.append(error)
        if key:
            cut.setdefault(key, []).append((text, error))
        if len(cut) == 5:
            break
assert len(cut) == 5, "the disk never filled"
for error in told:
    assert isinstance(error, lamina.Unavailable), repr(error)
    assert error.hint and error.retryable, repr(error)
assert mind.recall("lorem", k=5).hits  # reading goes on

def check(mind, engine):
    for one, text in kept.items():
        assert mind.get(one).text == text
    file = EntryFile.parse((disk / "w" / "PROFILE.md").read_bytes())
    assert file.problems == ()
    # What was refused did not happen, unless the caller was told that this is not known.
    possible = {entry.key: {keys.get(entry.key)} for entry in file.entries}
    for key, attempts in cut.items():
        unknown = [text for text, error in attempts if not set(error.message.split()) & {"nothing", "was;"}]
        possible.setdefault(key, {None}).update(unknown)
    found = {entry.key: entry.value for entry in file.entries}
    for key in {*keys, *cut, *found}:
        assert found.get(key) in possible.get(key, {keys.get(key)}), (key, found.get(key), keys.get(key))

check(mind, engine)
ballast.unlink()
kept[mind.remember("there is room again").ids[0]] = "there is room again"
mind.remember("room", key="after")
keys["after"] = "room"
check(mind, engine)
engine.close()
with lamina.open(disk / "w", owner="ana") as engine:
    check(engine.scope(), engine)
    assert engine.verify_audit().findings == (), engine.verify_audit().findings
    assert engine.status().pending_operations == 0
    file = EntryFile.parse((disk / "w" / "PROFILE.md").read_bytes())
    in_store = {hit.key: hit.text for hit in engine.scope().recall("lorem room", k=1000) if hit.key}
    assert in_store == {entry.key: entry.value for entry in file.entries}
print(f"full disk: {len(kept) + len(keys)} kept, 0 lost, {len(told)} refused")
"""

READ_ONLY = r"""
import os, sys, subprocess
from pathlib import Path
import lamina
disk, os.environ["LAMINA_HOME"] = Path(sys.argv[1]), sys.argv[2]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(disk)], check=True)
with lamina.open(disk / "w", owner="ana") as engine:
    engine.scope().remember("Ana likes tea")
    engine.scope().remember("friendly", key="tone")
subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
for target in (disk / "w", disk / "new"):
    try:
        engine = lamina.open(target, owner="ana")
    except lamina.LaminaError as error:
        assert error.hint, repr(error)
        print(f"read-only: {error}")
    else:
        raise AssertionError("a read-only workspace was opened for writing")
subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
with lamina.open(disk / "w", owner="ana") as engine:
    assert {hit.text for hit in engine.scope().recall("tea tone")} == {"Ana likes tea", "friendly"}
    assert engine.verify_audit().intact
"""


def mounts_are_possible() -> bool:
    if os.getuid() != 0 or shutil.which("unshare") is None:
        return False
    tried = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    )
    return tried.returncode == 0


own_mounts = pytest.mark.skipif(not mounts_are_possible(), reason="needs the right to mount a file system")


def on_own_mounts(program: str, *arguments: str) -> str:
    """Runs a program that may mount file systems which nobody else sees."""
    command = ["unshare", "-m", "--propagation", "private", sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    sys.stdout.write(done.stdout)
    return done.stdout


@own_mounts
@pytest.mark.parametrize("home", ["inside", "outside"])
def test_a_full_disk_refuses_writes_loses_none_and_goes_on_when_there_is_room(
    tmp_path: Path, lamina_home: Path, home: str
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()

    on_own_mounts(FULL, str(disk), "inside" if home == "inside" else str(lamina_home))


@own_mounts
def test_a_read_only_workspace_is_named_as_such_and_untouched(tmp_path: Path, lamina_home: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()

    on_own_mounts(READ_ONLY, str(disk), str(lamina_home))


LIMITED = r"""
import os, resource, signal, sys
import lamina
os.environ["LAMINA_HOME"] = sys.argv[2]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
engine = lamina.open(sys.argv[1], owner="ana")
mind = engine.scope()
mind.remember("Ana likes tea")
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
told = []
for number in range(5_000):
    try:
        mind.remember(f"thing {number} " + "lorem ipsum " * 40)
    except lamina.LaminaError as error:
        assert isinstance(error, lamina.Unavailable) and error.hint and error.retryable, repr(error)
        told.append(error)
        if len(told) == 5:
            break
assert len(told) == 5
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
mind.remember("there is room again")
engine.close()
"""


def test_a_file_that_may_not_grow_refuses_writes_and_goes_on_when_it_may(
    tmp_path: Path, lamina_home: Path
) -> None:
    folder = tmp_path / "w"

    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(folder), str(lamina_home)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    with lamina.open(folder, owner="ana") as engine:
        texts = {hit.text for hit in engine.scope().recall("Ana tea room", k=9)}
        assert {"Ana likes tea", "there is room again"} <= texts
        assert engine.verify_audit().findings == ()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with something in it."""
    folder = tmp_path / "w"
    with lamina.open(folder, owner="ana") as engine:
        for number in range(200):
            engine.scope().remember(f"thing {number} about tea")
        engine.scope().remember("friendly", key="tone")
    return folder


def use(folder: Path) -> None:
    """Opens a workspace and touches everything in it."""
    with lamina.open(folder, owner="ana") as engine:
        engine.scope().recall("tea", k=1000)
        engine.verify_audit()
        engine.status()
        engine.rebuild()


def assert_whole(folder: Path) -> None:
    with lamina.open(folder, owner="ana") as engine:
        assert len(engine.scope().recall("tea tone", k=1000)) == 201
        assert engine.verify_audit().findings == ()
        assert engine.status().problems == ()


def content(folder: Path) -> dict[str, bytes]:
    """Every file but the locks, which are touched by looking."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "locks" not in path.parts
    }


def outside(folder: Path) -> Path:
    other = folder.parent / "outside.md"
    other.write_text("- key:stolen | value:from outside\n")
    return other


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def as_link(path: Path) -> None:
    other = path.parent.parent / "elsewhere"
    path.rename(other)
    path.symlink_to(other)


@pytest.mark.parametrize("replace", [as_folder, as_link], ids=["folder", "link"])
def test_a_profile_that_is_not_a_file_is_named_and_not_followed(
    folder: Path, replace: Callable[[Path], None]
) -> None:
    profile = folder / "PROFILE.md"
    text = profile.read_bytes()
    replace(profile)

    with pytest.raises(LaminaError) as told:
        use(folder)

    assert "PROFILE.md" in told.value.message
    assert told.value.hint
    if profile.is_symlink():
        assert profile.resolve().read_bytes() == text
        profile.unlink()
    else:
        profile.rmdir()
    profile.write_bytes(text)
    assert_whole(folder)


def test_a_link_in_the_place_of_the_profile_lets_nothing_in_and_nothing_out(folder: Path) -> None:
    with lamina.open(folder, owner="ana") as engine:
        profile, other = folder / "PROFILE.md", outside(folder)
        before = other.read_bytes()
        profile.unlink()
        profile.symlink_to(other)
        for attempt in (
            lambda: engine.scope().recall("stolen"),
            lambda: engine.scope().remember("formal", key="tone"),
        ):
            with pytest.raises(LaminaError):
                attempt()
        profile.unlink()

        assert not [hit for hit in engine.scope().recall("stolen") if hit.key == "stolen"]
        assert other.read_bytes() == before


def garbage(database: Path) -> None:
    database.write_bytes(os.urandom(50_000))


def emptied_head(database: Path) -> None:
    data = database.read_bytes()
    database.write_bytes(b"\0" * 4096 + data[4096:])


def truncated(database: Path) -> None:
    data = database.read_bytes()
    database.write_bytes(data[: len(data) // 2])


def holes(database: Path) -> None:
    data = bytearray(database.read_bytes())
    for at in range(8192, len(data) - 4096, 3 * 4096):
        data[at : at + 4096] = b"\xa5" * 4096
    database.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [garbage, emptied_head, truncated, holes])
def test_a_damaged_store_is_named_and_left_as_it_is(folder: Path, damage: Callable[[Path], None]) -> None:
    database = folder / ".lamina" / "memory.db"
    whole = {path: path.read_bytes() for path in (folder / ".lamina").glob("memory.db*")}
    damage(database)
    profile = (folder / "PROFILE.md").read_bytes()
    broken = database.read_bytes()

    with pytest.raises(Damaged) as told:
        use(folder)

    assert told.value.hint
    assert "memory.db" in told.value.message
    assert (folder / "PROFILE.md").read_bytes() == profile
    if damage is not holes:  # where pages are readable, something may have been written before the hole
        assert database.read_bytes() == broken
    for path in (folder / ".lamina").glob("memory.db*"):
        path.unlink()
    for path, data in whole.items():
        path.write_bytes(data)
    assert_whole(folder)


def test_a_folder_in_the_place_of_the_store_is_named(folder: Path) -> None:
    database = folder / ".lamina" / "memory.db"
    data = database.read_bytes()
    as_folder(database)

    with pytest.raises(LaminaError) as told:
        use(folder)

    assert told.value.hint
    database.rmdir()
    database.write_bytes(data)
    assert_whole(folder)


def rewritten(folder: Path, statement: str) -> None:
    connection = apsw.Connection(str(folder / ".lamina" / "memory.db"))
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "undo", "code"),
    [
        (
            "INSERT INTO schema_migration VALUES (9999, 'future', 'x')",
            "DELETE FROM schema_migration WHERE version = 9999",
            "store_too_new",
        ),
        (
            "UPDATE schema_migration SET hash = 'x' || hash WHERE version = 1",
            "UPDATE schema_migration SET hash = substr(hash, 2) WHERE version = 1",
            "migration_changed",
        ),
    ],
)
def test_a_store_of_another_make_is_refused_and_untouched(
    folder: Path, statement: str, undo: str, code: str
) -> None:
    rewritten(folder, statement)
    before = content(folder)

    with pytest.raises(Damaged) as told:
        use(folder)

    assert (told.value.code, bool(told.value.hint)) == (code, True)
    assert content(folder) == before
    rewritten(folder, undo)
    assert_whole(folder)


def test_a_broken_audit_key_is_named(folder: Path, lamina_home: Path) -> None:
    key = lamina_home / "keys" / "audit.key"
    data = key.read_bytes()
    for broken in (b"", data[:31]):
        key.write_bytes(broken)
        with pytest.raises(Damaged) as told:
            use(folder)
        assert told.value.hint
    as_folder(key)
    with pytest.raises(Damaged):
        use(folder)
    key.rmdir()
    key.write_bytes(data)

    assert_whole(folder)


def test_a_server_that_goes_away_is_named_and_found_again(postgres_store: str) -> None:
    with lamina.open(postgres_store, owner="ana") as engine:
        mind = engine.scope()
        mind.remember("Ana likes tea", idempotency_key="r1")
        with psycopg.connect(postgres_store, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lamina'"
            )

        for attempt in range(3):
            try:
                mind.remember("Ana likes milk", idempotency_key="r2")
                break
            except Unavailable as error:
                assert error.retryable, attempt  # noqa: PT017 - whether it raises depends on the pool's luck

        assert {hit.text for hit in mind.recall("Ana likes")} == {"Ana likes tea", "Ana likes milk"}
        assert engine.verify_audit().intact


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(Unavailable) as told:
        lamina.open("postgresql://ana:s3cretPass9@127.0.0.1:1/nowhere?connect_timeout=2")

    assert told.value.hint
    assert "s3cretPass9" not in str(told.value)


HOLDER = """
import sys
from pathlib import Path
from lamina.workspace.locks import locked
with locked(Path(sys.argv[1]), "PROFILE.md"):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_a_locked_file_is_waited_for_and_then_named(folder: Path) -> None:
    with (
        lamina.open(folder, owner="ana", lock_timeout_s=0.2) as engine,
        subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as holder,
    ):
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        before = (folder / "PROFILE.md").read_bytes()

        with pytest.raises(Unavailable) as told:
            engine.scope().remember("formal", key="tone")

        assert (told.value.code, told.value.retryable) == ("file_locked", True)
        assert (folder / "PROFILE.md").read_bytes() == before
        holder.stdin.close()
        holder.wait(30)
        assert engine.scope().remember("formal", key="tone").code == "superseded"
