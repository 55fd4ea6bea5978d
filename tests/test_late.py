"""Modules that are named at the top and loaded by what uses them, and patterns that are made then."""

from __future__ import annotations

import marshal
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import lamina
from lamina.late import _Made, _parts_of, late, load, regex


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A room of ours in another folder; what is in it is forgotten afterwards."""
    folder = tmp_path / "room"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.setattr(lamina, "__path__", [*lamina.__path__, str(tmp_path)])
    monkeypatch.delattr(lamina, "room", raising=False)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        del sys.modules[name]


def _late(name: str) -> ModuleType:
    with late():
        return import_module(f"lamina.room.{name}")


def test_a_module_that_is_named_is_loaded_by_its_first_use(room: Path) -> None:
    (room / "told.py").write_text("WORD = 'loaded'\nWORDS = [WORD]\n")
    module = _late("told")
    assert "WORD" not in vars(module)
    assert module.WORD == "loaded"
    assert type(module) is ModuleType
    assert module.WORDS is module.WORDS


def test_it_is_loaded_once_however_many_ask_at_the_same_time(room: Path) -> None:
    (room / "counted.py").write_text("import sys\nsys.loads = getattr(sys, 'loads', 0) + 1\nEND = 1\n")
    module = _late("counted")
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: module.END, range(64))) == {1}
    assert sys.loads == 1  # type: ignore[attr-defined]
    del sys.loads  # type: ignore[attr-defined]


def test_a_name_that_it_does_not_have_is_an_attribute_error(room: Path) -> None:
    (room / "little.py").write_text("")
    with pytest.raises(AttributeError, match="little"):
        _ = _late("little").nothing


def test_a_module_that_fails_says_why_each_time(room: Path) -> None:
    (room / "broken.py").write_text("1 / 0\n")
    module = _late("broken")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            _ = module.anything


def test_a_library_that_is_named_is_loaded_by_its_first_use(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)  # another test may have loaded it
    with late():
        library = import_module("colorsys")
    assert "rgb_to_hls" not in vars(library)
    assert library.rgb_to_hls(0, 0, 0) == (0, 0, 0)


def test_one_can_ask_for_it_now(room: Path) -> None:
    (room / "now.py").write_text("DONE = True\n")
    module = _late("now")
    load(module)
    load(module)
    assert vars(module)["DONE"]


def test_a_recall_loads_neither_what_hears_nor_what_runs_jobs() -> None:
    loaded = (
        "import sys, lamina.scoped; from types import ModuleType; "
        "print([n for n, m in sys.modules.items() if n.startswith('lamina.') and type(m) is ModuleType])"
    )
    names = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True).stdout
    assert "'lamina.write.store'" in names
    for other in ("lamina.hear.converse", "lamina.jobs.run", "lamina.imports.bring_in", "lamina.read.query"):
        assert f"'{other}'" not in names


def test_a_pattern_is_made_by_its_first_use() -> None:
    late_one = regex("(a)|b", re.IGNORECASE)
    assert set(vars(late_one)) == {"_source", "pattern"}
    found = late_one.fullmatch("A")
    assert found is not None
    assert (found[1], late_one.groups, late_one.pattern) == ("A", 1, "(a)|b")
    assert late_one.fullmatch.__self__ == re.compile("(a)|b", re.IGNORECASE)  # type: ignore[attr-defined]
    with pytest.raises(re.error, match="unterminated"):
        regex("(a").search("a")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place beside which nothing was made yet."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "late.made"


def _never() -> object:
    raise AssertionError("it was made before")


def test_what_was_made_is_there_for_the_next_process(made: Path) -> None:
    first = _Made(made)
    assert first.get("one", lambda: {"a": [1, "b"]}) == {"a": [1, "b"]}
    first._write()
    second = _Made(made)
    assert second.get("one", _never) == {"a": [1, "b"]}
    second.get("two", lambda: 2)
    second._write()
    assert _Made(made).get("two", _never) == 2
    assert _Made(made).get("one", _never) == {"a": [1, "b"]}


@pytest.mark.parametrize(
    "content", [b"", b"nothing of ours", marshal.dumps(("another version", {"one": b""}))]
)
def test_what_cannot_be_used_is_made_again(made: Path, content: bytes) -> None:
    made.write_bytes(content)
    assert _Made(made).get("one", lambda: "new") == "new"


def test_nothing_is_kept_where_bytecode_is_not(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept = _Made(made)
    assert kept.get("one", lambda: "new") == "new"
    kept._write()
    assert _Made(made).get("one", lambda: "newer") == "newer"


def test_a_pattern_from_what_was_kept_is_the_pattern() -> None:
    source = r"(?P<day>\d{1,2})[. ](?:(?P<month>[a-zé\u0e01-\u0e4e]+)|(x))"
    parts = marshal.loads(marshal.dumps(_parts_of(vars(re)["_compiler"], source, int(re.I))))
    again, plain = vars(re)["_compiler"]._sre.compile(source, *parts), re.compile(source, re.I)
    for text in ("3. Mai", "12 É", "9 มกราคม", "4.x", "x"):
        mine, theirs = again.search(text), plain.search(text)
        assert (mine and mine.groupdict(), mine and mine.groups()) == (
            theirs and theirs.groupdict(),
            theirs and theirs.groups(),
        )
    assert (again.groups, again.groupindex, again.flags) == (plain.groups, plain.groupindex, plain.flags)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="says how many threads a process has")
def test_a_command_has_one_thread_whatever_numpy_would_start(tmp_path: Path) -> None:
    told = "atexit.register(lambda: print(len(os.listdir('/proc/self/task'))))"
    words = ["lamina", "-w", str(tmp_path / "notes"), "init", "--owner", "ana"]
    code = f"import atexit, os, sys; {told}; sys.argv = {words!r}; from lamina.__main__ import main; main()"
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ended.stdout.split()[-1] == "1"
