"""Whoever changes the audit without its key is found out, and nobody else is accused."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

import lamina
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token
from lamina.model import Finding
from lamina.testing import ManualClock

SEED = 20261116
ROUNDS = 200
COLUMNS = (
    "seq",
    "at",
    "op",
    "scope",
    "key",
    "memory_id",
    "number",
    "actor",
    "via",
    "run_id",
    "reason",
    "old_hash",
    "new_hash",
    "key_id",
    "prev",
    "hash",
    "tenant",
)


@dataclass
class Scene:
    """A copy of a workspace for one tampering; its key and anchor lie where the tamperer cannot reach."""

    folder: Path
    home: Path
    older: Path  #: the whole workspace as it was before
    pick: random.Random

    def sql(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        connection = apsw.Connection(str(self.folder / ".lamina" / "memory.db"))
        connection.execute("DROP TRIGGER IF EXISTS audit_never_changes")
        connection.execute("DROP TRIGGER IF EXISTS audit_never_shrinks")
        rows = connection.execute(statement, values).fetchall()
        connection.close()
        return rows

    @property
    def last(self) -> int:
        ((last,),) = self.sql("SELECT max(seq) FROM audit")
        return int(str(last))

    def some(self, first: int = 1) -> int:
        return self.pick.randint(first, self.last)

    def log(self) -> Path:
        files = sorted((self.folder / ".lamina" / "runs").rglob("*.jsonl"))
        return self.pick.choice([file for file in files if file.read_bytes().count(b"\n") > 1])

    def open(self) -> Engine:
        environment = {"LAMINA_HOME": str(self.home)}
        return lamina.open(self.folder, owner="ana", clock=ManualClock(), environment=environment)

    def findings(self) -> tuple[Finding, ...]:
        with self.open() as engine:
            return engine.verify_audit().findings


def edit_a_column(scene: Scene) -> str:
    column, seq = scene.pick.choice(COLUMNS), scene.some()
    ((old,),) = scene.sql(f"SELECT {column} FROM audit WHERE seq = ?", seq)
    if column == "seq":
        new: object = scene.last + scene.pick.randint(1, 9)
    elif isinstance(old, int):
        new = old + scene.pick.choice([-1, 1, 1000])
    elif old is None:
        new = 3 if column == "number" else "x"
    else:
        text = str(old)
        at = scene.pick.randrange(len(text) + 1)
        new = scene.pick.choice([f"{text[:at]}x{text[at:]}", text[:-1] or "y", f"{text.upper()}z"])
        if column in ("key", "memory_id", "old_hash", "new_hash") and scene.pick.random() < 0.3:
            new = None
    scene.sql(f"UPDATE audit SET {column} = ? WHERE seq = ?", new, seq)
    return column


def delete_one(scene: Scene) -> str:
    seq = scene.some()
    scene.sql("DELETE FROM audit WHERE seq = ?", seq)
    return "last" if seq > scene.last else "inside"


def delete_and_renumber(scene: Scene) -> str:
    seq, last = scene.pick.randint(1, scene.last - 1), scene.last
    scene.sql("DELETE FROM audit WHERE seq = ?", seq)
    for number in range(seq + 1, last + 1):
        scene.sql("UPDATE audit SET seq = ? WHERE seq = ?", number - 1, number)
    return ""


def swap_two(scene: Scene) -> str:
    one = scene.pick.randint(1, scene.last - 1)
    other = scene.pick.randint(one + 1, scene.last)
    scene.sql("UPDATE audit SET seq = -1 WHERE seq = ?", one)
    scene.sql("UPDATE audit SET seq = ? WHERE seq = ?", one, other)
    scene.sql("UPDATE audit SET seq = ? WHERE seq = -1", other)
    return ""


def insert_one(scene: Scene) -> str:
    """A copy of a record at the end, in front, or in between after making room."""
    source, last = scene.some(), scene.last
    columns = ", ".join(name for name in COLUMNS if name not in ("seq", "prev"))
    if scene.pick.random() < 0.5:
        where, prev = last + 1, scene.sql("SELECT hash FROM audit WHERE seq = ?", last)[0][0]
    else:
        where, prev = 0, ""
    scene.sql(
        f"INSERT INTO audit (seq, prev, {columns}) SELECT ?, ?, {columns} FROM audit WHERE seq = ?",
        where,
        prev,
        source,
    )
    return "end" if where else "front"


def truncate(scene: Scene) -> str:
    scene.sql("DELETE FROM audit WHERE seq > ?", scene.last - scene.pick.randint(1, 10))
    return ""


def truncate_and_tidy(scene: Scene) -> str:
    """The tail goes, and with it everything in the tamperer's reach that could tell of it."""
    keep = scene.last - scene.pick.randint(1, 10)
    scene.sql("DELETE FROM audit WHERE seq > ?", keep)
    scene.sql("UPDATE property SET value = ? WHERE name = 'mirrored_seq'", str(keep))
    for file in (scene.folder / ".lamina" / "runs").rglob("*.jsonl"):
        lines = [line for line in file.read_bytes().splitlines(True) if json.loads(line)["seq"] <= keep]
        file.write_bytes(b"".join(lines))
    return ""


def empty(scene: Scene) -> str:
    scene.sql("DELETE FROM audit")
    shutil.rmtree(scene.folder / ".lamina" / "runs")
    return ""


def edit_a_line(scene: Scene) -> str:
    file = scene.log()
    lines = file.read_text("utf-8").splitlines(True)
    at = scene.pick.randrange(len(lines))
    line = json.loads(lines[at])
    match scene.pick.randrange(4):
        case 0:
            line["new"] = "something else"
        case 1:
            line["actor"] = "user:mallory"
        case 2:
            line["mark"] = line["mark"][::-1]
        case _:
            line["seq"] = line["seq"] + 1
    lines[at] = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
    file.write_text("".join(lines), "utf-8")
    return ""


def garble_a_line(scene: Scene) -> str:
    file = scene.log()
    data = bytearray(file.read_bytes())
    at = scene.pick.choice([n for n, byte in enumerate(data) if byte != 10])
    data[at] = 33 if data[at] != 33 else 63
    file.write_bytes(bytes(data))
    return ""


def remove_a_line(scene: Scene) -> str:
    file = scene.log()
    lines = file.read_bytes().splitlines(True)
    del lines[scene.pick.randrange(len(lines))]
    file.write_bytes(b"".join(lines))
    return ""


def remove_a_log(scene: Scene) -> str:
    scene.log().unlink()
    return ""


def duplicate_a_line(scene: Scene) -> str:
    file = scene.log()
    lines = file.read_bytes().splitlines(True)
    lines.insert(scene.pick.randrange(len(lines) + 1), scene.pick.choice(lines))
    file.write_bytes(b"".join(lines))
    return ""


def move_a_line_to_another_log(scene: Scene) -> str:
    first, *others = sorted((scene.folder / ".lamina" / "runs").rglob("*.jsonl"))
    with scene.pick.choice(others).open("ab") as file:
        file.write(scene.pick.choice(first.read_bytes().splitlines(True)))
    return ""


def invent_a_run(scene: Scene) -> str:
    file = scene.log()
    line = {**json.loads(file.read_text("utf-8").splitlines()[0]), "actor": "user:mallory", "seq": 9999}
    forged = file.parent.parent / "never" / file.name
    forged.parent.mkdir()
    forged.write_text(json.dumps(line, separators=(",", ":")) + "\n", "utf-8")
    return ""


def copy_a_run(scene: Scene) -> str:
    file = scene.log()
    shutil.copytree(file.parent, file.parent.parent / "never")
    return ""


def restore_an_older_database(scene: Scene) -> str:
    for path in (scene.folder / ".lamina").glob("memory.db*"):
        path.unlink()
    for path in (scene.older / ".lamina").glob("memory.db*"):
        shutil.copy(path, scene.folder / ".lamina" / path.name)
    return ""


def restore_an_older_workspace(scene: Scene) -> str:
    shutil.rmtree(scene.folder)
    shutil.copytree(scene.older, scene.folder)
    return ""


TAMPERINGS: tuple[tuple[int, Callable[[Scene], str]], ...] = (
    (60, edit_a_column),
    (20, delete_one),
    (8, delete_and_renumber),
    (16, swap_two),
    (14, insert_one),
    (12, truncate),
    (12, truncate_and_tidy),
    (2, empty),
    (10, edit_a_line),
    (10, garble_a_line),
    (2, invent_a_run),
    (2, copy_a_run),
    (10, remove_a_line),
    (2, remove_a_log),
    (8, duplicate_a_line),
    (4, move_a_line_to_another_log),
    (4, restore_an_older_database),
    (4, restore_an_older_workspace),
)


def live(engine: Engine, day: int) -> None:
    user, agent = engine.scope(run="r1"), engine.scope(agent="planner", session="s1")
    for number in range(3):
        one = user.remember(f"Ana likes tea {day} {number}").ids[0]
        user.revise(one, f"Ana likes coffee {day} {number}")
        engine.scope().remember(f"friendly {day} {number}", key="tone")
        agent.remember("my password is hunter2secret99")
        agent.remember(f"for the session {day} {number}", space="session")
        user.forget(one)
    create_token(engine, f"laptop {day}")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A workspace with a past, and a copy of what it was halfway."""
    root = tmp_path_factory.mktemp("original")
    scene = Scene(root / "w", root / "home", root / "older", random.Random(SEED))
    with scene.open() as engine:
        live(engine, 1)
    shutil.copytree(scene.folder, scene.older)
    with scene.open() as engine:
        live(engine, 2)
    scene.open().close()  # a start looks at the lines written since the last one; from then on they must stay
    return scene


@pytest.fixture
def copies(original: Scene, tmp_path: Path) -> Callable[[], Scene]:
    def copy() -> Scene:
        for name in ("w", "home"):
            shutil.rmtree(tmp_path / name, ignore_errors=True)
        shutil.copytree(original.folder, tmp_path / "w")
        shutil.copytree(original.home, tmp_path / "home")
        return Scene(tmp_path / "w", tmp_path / "home", original.older, original.pick)

    return copy


def test_every_one_of_200_tamperings_is_found_by_the_next_check(copies: Callable[[], Scene]) -> None:
    assert sum(count for count, _ in TAMPERINGS) == ROUNDS
    missed: Counter[str] = Counter()
    for count, tamper in TAMPERINGS:
        for _ in range(count):
            scene = copies()
            detail = tamper(scene)
            if not scene.findings():
                missed[f"{tamper.__name__} {detail}".strip()] += 1

    assert missed == {}


def test_an_untouched_copy_is_never_accused(copies: Callable[[], Scene]) -> None:
    for turn in range(20):
        scene = copies()
        assert scene.findings() == ()
        with scene.open() as engine:
            live(engine, 3 + turn)
        assert scene.findings() == ()


COVERED_UP = (
    truncate_and_tidy,
    restore_an_older_database,
    restore_an_older_workspace,
    delete_one,
    edit_a_line,
)


@pytest.mark.parametrize("tamper", COVERED_UP)
def test_using_the_memory_after_a_tampering_does_not_cover_it_up(
    copies: Callable[[], Scene], tamper: Callable[[Scene], str]
) -> None:
    """Neither with one more record nor with so many that the chain is as long as it was."""
    for turns in (1, 8):
        scene = copies()
        tamper(scene)
        with scene.open() as engine:
            for turn in range(turns):
                live(engine, 100 + turn)

        assert scene.findings()


def test_the_place_of_an_edit_is_named(copies: Callable[[], Scene]) -> None:
    scene = copies()
    scene.sql("UPDATE audit SET actor = 'user:mallory' WHERE seq = 7")

    assert [(finding.what, finding.seq) for finding in scene.findings()] == [("edited", 7)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memory SET text = 'poison' WHERE id = (SELECT min(id) FROM memory WHERE state = 'active')",
        "UPDATE history SET new_text = 'never said' WHERE number = 1 AND new_text IS NOT NULL",
        "DELETE FROM history WHERE memory_id = (SELECT min(memory_id) FROM history)",
        "INSERT INTO memory SELECT * FROM forged",
    ],
    ids=["a memory's words", "its history's words", "its history", "a memory nobody said"],
)
def test_words_changed_behind_our_back_are_found(copies: Callable[[], Scene], statement: str) -> None:
    scene = copies()
    if "forged" in statement:
        scene.sql("CREATE TABLE forged AS SELECT * FROM memory LIMIT 1")
        scene.sql("UPDATE forged SET id = 'user:ana:semantic:9999', identity = 'forged', slot = NULL")
        given = ", ".join(name for (name,) in scene.sql("SELECT name FROM pragma_table_info('memory')"))
        statement = f"INSERT INTO memory ({given}) SELECT {given} FROM forged"
    scene.sql(statement)

    assert {finding.what for finding in scene.findings()} == {"edited"}


def test_the_audit_cannot_be_changed_in_passing(copies: Callable[[], Scene]) -> None:
    connection = apsw.Connection(str(copies().folder / ".lamina" / "memory.db"))
    for statement in ("UPDATE audit SET reason = 'x'", "DELETE FROM audit WHERE seq = 1"):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            connection.execute(statement)
    connection.close()
