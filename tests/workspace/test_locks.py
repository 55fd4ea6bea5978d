"""A lock lets one writer in at a time, whoever else is there, and dies with its holder."""

from __future__ import annotations

import stat
import subprocess
import sys
import threading
from pathlib import Path
from time import sleep

import pytest
from filelock import FileLock, Timeout

from lamina.clock import monotonic
from lamina.config import Config
from lamina.durable import lock, unlock
from lamina.errors import Damaged, Unavailable
from lamina.storage.sqlite import BUSY_TIMEOUT_MS
from lamina.text.entries import EntryFile
from lamina.workspace.files import read_file, replace_file
from lamina.workspace.locks import LOCK_DIR, locked
from tests.effort import times

WRITER = """
import sys
from pathlib import Path
from lamina.text.entries import Entry, EntryFile
from lamina.workspace.files import read_file, replace_file
from lamina.workspace.locks import locked
root, me = Path(sys.argv[1]), sys.argv[2]
for number in range(int(sys.argv[3])):
    with locked(root, "PROFILE.md", timeout_s=100):
        before = read_file(root, "PROFILE.md")
        after = EntryFile.parse(before or b"").put(Entry(key=f"w{me}.n{number}", value="x"))
        replace_file(root, "PROFILE.md", after.to_bytes(), before)
"""

HOLDER = """
import sys
from pathlib import Path
from lamina.workspace.locks import locked
with locked(Path(sys.argv[1]), "a.md"):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_eight_processes_that_read_change_and_replace_lose_nothing(tmp_path: Path) -> None:
    rounds = times(10, 50)
    started = [sys.executable, "-c", WRITER, str(tmp_path)]
    workers = [subprocess.Popen([*started, str(n), str(rounds)]) for n in range(8)]
    assert [worker.wait(timeout=200) for worker in workers] == [0] * 8
    file = EntryFile.parse(read_file(tmp_path, "PROFILE.md") or b"")
    assert {entry.key for entry in file.entries} == {f"w{w}.n{n}" for w in range(8) for n in range(rounds)}
    assert file.problems == ()


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    replace_file(tmp_path, "n", b"0", None)
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(25):
            with locked(tmp_path, "n", timeout_s=60):
                inside.append(1)
                most.append(len(inside))
                before = read_file(tmp_path, "n") or b""
                replace_file(tmp_path, "n", b"%d" % (int(before) + 1), before)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_file(tmp_path, "n") == b"150"
    assert max(most) == 1


def test_a_lock_held_elsewhere_is_told_in_time_and_may_be_retried(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"in\n"
        started = monotonic()
        with pytest.raises(Unavailable) as refused, locked(tmp_path, "a.md", timeout_s=0.05):
            pass
        assert (refused.value.code, refused.value.retryable) == ("file_locked", True)
        assert monotonic() - started < 5
        with locked(tmp_path, "b.md", timeout_s=0):
            pass
        holder.kill()
        holder.wait()
        with locked(tmp_path, "a.md", timeout_s=5):
            pass


def test_asking_twice_in_one_thread_times_out_instead_of_hanging(tmp_path: Path) -> None:
    with locked(tmp_path, "a.md"), pytest.raises(Unavailable), locked(tmp_path, "a.md", timeout_s=0):
        pass


def test_who_waits_for_a_file_waits_as_long_as_who_waits_for_the_store() -> None:
    """Eight processes on a busy machine must not see `file_locked` where the store would have waited."""
    assert Config().lock_timeout_s * 1000 >= BUSY_TIMEOUT_MS


def test_who_comes_back_at_once_lets_the_one_in_who_waits(tmp_path: Path) -> None:
    order: list[str] = []

    def wait() -> None:
        with locked(tmp_path, "a.md"):
            order.append("waiting")

    waiter = threading.Thread(target=wait)
    for again in range(3):
        with locked(tmp_path, "a.md"):
            order.append("inside")
            if not again:
                waiter.start()
                turn = FileLock(tmp_path / LOCK_DIR / "a.md.next", is_singleton=False)
                for _ in range(2000):  # until somebody else is the next
                    try:
                        turn.acquire(timeout=0)
                    except Timeout:
                        break
                    turn.release()
                    sleep(0.005)
    waiter.join()
    assert order == ["inside", "waiting", "inside", "inside"]


def test_our_lock_and_that_of_another_program_on_the_same_file_exclude_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    theirs = FileLock(path, is_singleton=False)
    with theirs, pytest.raises(TimeoutError):
        lock(path, 0.0)
    ours = lock(path, 0.0)
    with pytest.raises(Timeout):
        theirs.acquire(timeout=0)
    unlock(ours)
    with theirs.acquire(timeout=0):
        pass


def test_a_lock_is_on_the_file_that_others_look_at(tmp_path: Path) -> None:
    """A file that is taken away leaves its holder alone with it; whoever comes locks the new one."""
    path, elsewhere = tmp_path / "a.lock", tmp_path / "b.lock"
    gone = lock(path, 0.0)
    path.unlink()
    unlock(lock(path, 0.0))
    unlock(gone)
    elsewhere.touch()
    path.unlink()
    path.symlink_to(elsewhere)
    with pytest.raises(OSError, match="symbolic link"):
        lock(path, 0.0)


def test_a_lock_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path, "a.md"):
        raise KeyError
    with locked(tmp_path, "a.md", timeout_s=0):
        pass


def test_lock_files_are_private_and_beside_the_data(tmp_path: Path) -> None:
    with locked(tmp_path, "notes/ภาษา.md"), locked(tmp_path, "x" * 250):
        pass
    assert stat.S_IMODE((tmp_path / LOCK_DIR).stat().st_mode) == 0o700
    locks = list((tmp_path / LOCK_DIR).iterdir())
    assert len(locks) == 4  # for each name one to be inside, and one to be the next
    assert {stat.S_IMODE(path.stat().st_mode) for path in locks} == {0o600}
    assert not (tmp_path / "notes").exists()


def test_a_lock_is_never_made_through_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "w/.lamina").mkdir(parents=True)
    (tmp_path / "w/.lamina/locks").symlink_to(elsewhere)
    with pytest.raises(Damaged), locked(tmp_path / "w", "a.md"):
        pass
    assert list(elsewhere.iterdir()) == []
