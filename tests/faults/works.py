"""The kinds of work that faults are put into: what is there before, the steps, and what became of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

import lamina
from lamina import custody
from lamina.engine import Engine
from lamina.jobs.job import JobStatus
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock
from lamina.text.entries import EntryFile

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass
class World:
    """An open memory in a place: a workspace, and the home with its keys, side by side."""

    place: Path
    settings: dict[str, Any]
    clock: ManualClock = field(default_factory=lambda: ManualClock(START))
    bare: bool = False  #: a store without a workspace, in folders that were not there
    engine: Engine | None = None
    synced: Callable[[Path], None] = lambda _: None  #: what another program does that saves a file

    @property
    def folder(self) -> Path:
        return self.place / "w"

    @property
    def mind(self) -> ScopedMemory:
        assert self.engine is not None
        return self.engine.scope()

    def open(self) -> Engine:
        target = f"sqlite:///{self.place}/new/stores/memory.db" if self.bare else self.folder
        self.engine = lamina.open(target, owner="ana", clock=self.clock, **self.settings)
        return self.engine

    def close(self) -> None:
        engine, self.engine = self.engine, None
        if engine is not None:
            engine.close()

    def rows(self) -> list[tuple[str, str, str | None]]:
        """Text, state and key of everything there is."""
        assert self.engine is not None
        asked = "SELECT text, state, key FROM memory WHERE tenant = :tenant"
        return [
            (str(text), str(state), key)
            for text, state, key in self.engine.database.read(lambda tx: tx.every(asked, {}))
        ]

    def states(self, text: str) -> list[str]:
        return [state for one, state, _ in self.rows() if text in one]

    def id_of(self, text: str) -> str:
        assert self.engine is not None
        asked = "SELECT id FROM memory WHERE tenant = :tenant AND text = :text"
        if not (found := self.engine.database.read(lambda tx: tx.every(asked, {"text": text}))):
            raise lamina.NotFound(f"There is no {text!r}.", hint="It was changed.")
        return str(found[0][0])

    def in_file(self, key: str) -> str | None:
        """What PROFILE.md says of a key."""
        file = EntryFile.parse((self.folder / "PROFILE.md").read_bytes())
        return {entry.canonical: entry.value for entry in file.entries}.get(key)

    def bytes_with(self, word: str) -> list[str]:
        """The files that hold a word."""
        sought = word.encode()
        return [
            str(path.relative_to(self.place))
            for path in sorted(self.place.rglob("*"))
            if path.is_file() and not path.name.endswith("-shm") and sought in path.read_bytes()
        ]


Fact = Callable[[World], bool]


@dataclass(frozen=True)
class Step:
    """One thing that is asked for; afterwards there is all of it or nothing, unless it goes in parts."""

    act: Callable[[World], Any]
    before: Fact
    after: Fact
    in_parts: bool = False  #: each part is whole, and asking again does the rest


@dataclass(frozen=True)
class Work:
    """A kind of work."""

    name: str
    steps: Sequence[Step]
    prepare: Callable[[World], None] = lambda _: None
    unopened: Callable[[World], None] | None = None  #: what is done to the place once it is closed
    hours: int = 0  #: how long after what was prepared
    shut: bool = False  #: the steps open the memory themselves
    bare: bool = False  #: without a workspace
    on_postgres: bool = True


def active(text: str) -> Fact:
    """It is there once, and active."""
    return lambda world: (
        [one for one, state, _ in world.rows() if one == text and state == "active"] == [text]
    )


def is_in(text: str, state: str) -> Fact:
    return lambda world: [one for one in world.states(text) if one != "superseded"] == [state]


def absent(text: str) -> Fact:
    return lambda world: not world.states(text)


def keyed(key: str, value: str | None) -> Fact:
    """The value in force, and the line of the file."""

    def fact(world: World) -> bool:
        effective = world.mind.resolve([key])
        held = effective[key].value if key in effective else None
        return held == value and world.in_file(key) == value

    return fact


def whatever(_: World) -> bool:
    return True


def unless_late(fact: Fact) -> Fact:
    """What is true while a thing that was forgotten can be restored; a clock may have leapt beyond that."""
    return lambda world: world.clock.at > START + timedelta(days=20) or fact(world)


def both(*facts: Fact) -> Fact:
    return lambda world: all(fact(world) for fact in facts)


TEXTS = (
    "Ana keeps bees on the roof",
    "แอนาเลี้ยงผึ้งบนดาดฟ้า",
    "安娜在屋顶养蜜蜂",
)


def _remember(text: str, **details: Any) -> Callable[[World], Any]:
    return lambda world: world.mind.remember(text, **details)


REMEMBER = Work(
    "remember",
    [
        *(Step(_remember(text), absent(text), active(text)) for text in TEXTS[:2]),
        Step(
            _remember("formal", key="letter.tone"), keyed("letter.tone", None), keyed("letter.tone", "formal")
        ),
        Step(
            lambda world: world.mind.remember_many([{"text": f"Item {n} of the list"} for n in range(3)]),
            absent("of the list"),
            both(*(active(f"Item {n} of the list") for n in range(3))),
        ),
    ],
    prepare=lambda world: world.mind.remember("Ana likes tea") and None,
)


def _known(world: World) -> None:
    mind = world.mind
    mind.remember("Ana drinks black coffee in the morning")
    mind.remember("Ana has a boat in the harbour")
    mind.remember("The spare key is under the stone")
    mind.remember("black tea", key="drink.hot")
    mind.forget(mind.remember("The choir meets on Monday").ids[0])


REVISE = Work(
    "revise",
    [
        Step(
            lambda world: world.mind.revise(
                world.id_of("Ana drinks black coffee in the morning"), "Ana drinks white coffee at noon"
            ),
            both(absent("white coffee"), active("Ana drinks black coffee in the morning")),
            active("Ana drinks white coffee at noon"),
        ),
        Step(
            _remember("green tea", key="drink.hot"),
            keyed("drink.hot", "black tea"),
            keyed("drink.hot", "green tea"),
        ),
    ],
    prepare=_known,
)

FORGET = Work(
    "forget",
    [
        Step(
            lambda world: world.mind.forget(world.id_of("Ana has a boat in the harbour")),
            active("Ana has a boat in the harbour"),
            is_in("Ana has a boat in the harbour", "soft_deleted"),
        ),
        Step(
            lambda world: world.mind.forget("drink.hot"),
            keyed("drink.hot", "black tea"),
            keyed("drink.hot", None),
        ),
        Step(
            lambda world: world.mind.restore(world.id_of("The choir meets on Monday")),
            unless_late(is_in("The choir meets on Monday", "soft_deleted")),
            unless_late(active("The choir meets on Monday")),
        ),
    ],
    prepare=_known,
)


def _hear(message: str) -> Callable[[World], Any]:
    return lambda world: world.engine and world.engine.scope(session="s").hear(message)


HEAR = Work(
    "hear",
    [
        Step(
            _hear("Please remember that my sister is called Mina."),
            absent("Mina"),
            lambda world: "active" in world.states("Mina"),
            in_parts=True,
        ),
        Step(
            _hear("We talked about the weather in Lisbon."),
            absent("Lisbon"),
            lambda world: "active" in world.states("Lisbon"),
        ),
    ],
    prepare=_known,
)


def _person_saves(world: World) -> None:
    """An editor saves the file, durably; then the memory looks at it."""
    profile = world.folder / "PROFILE.md"
    line = b"- key:pet.name | value:Rufus the dog\n"
    text = profile.read_bytes()
    if line not in text:
        draft = profile.with_name("PROFILE.md~")
        try:
            draft.write_bytes(text + line)
            draft.rename(profile)
            world.synced(world.folder)
        except OSError as error:  # the editor's own disk is full, which it says
            raise lamina.Unavailable(
                "The editor cannot save the file.", hint="Make room, then save again."
            ) from error
    assert world.engine is not None
    world.engine.sync()


EDIT = Work(
    "file edit",
    [
        Step(
            _person_saves,
            lambda world: world.in_file("pet.name") in (None, "Rufus the dog"),
            keyed("pet.name", "Rufus the dog"),
            in_parts=True,
        )
    ],
    prepare=_known,
)

SECRET_WORD = "quillfeather"


def _with_word(world: World) -> None:
    _known(world)
    world.mind.remember(f"The {SECRET_WORD} lies in the drawer")
    world.mind.remember(f"the {SECRET_WORD} drawer", key="where.pen")


def _nowhere(world: World) -> bool:
    return not world.states(SECRET_WORD) and not world.bytes_with(SECRET_WORD)


def _purge(text: str) -> Callable[[World], Any]:
    def act(world: World) -> Any:
        found = [one for one in world.rows() if one[0] == text]
        return world.mind.purge(world.id_of(text), now=True) if found else None

    return act


PURGE = Work(
    "purge",
    [
        Step(
            _purge(f"The {SECRET_WORD} lies in the drawer"),
            active(f"The {SECRET_WORD} lies in the drawer"),
            absent(f"The {SECRET_WORD} lies in the drawer"),
            in_parts=True,
        ),
        Step(
            _purge(f"the {SECRET_WORD} drawer"),
            keyed("where.pen", f"the {SECRET_WORD} drawer"),
            _nowhere,
            in_parts=True,
        ),
    ],
    prepare=_with_word,
)


def _of_bob(world: World) -> None:
    _known(world)
    assert world.engine is not None
    bob = world.engine.scope(user="bob", session="b")
    bob.remember(f"Bob has a {SECRET_WORD}")
    bob.hear(f"My {SECRET_WORD} is broken.")
    world.mind.remember("violet inkwell", key="desk.thing")
    world.mind.remember("The violet inkwell stands on the desk")
    notes = world.folder / "memory" / "notes.md"
    notes.parent.mkdir()
    notes.write_text("# Desk\n\nThe violet inkwell is full.\n")


def _no_inkwell(world: World) -> bool:
    return not world.states("violet inkwell") and not world.bytes_with("violet inkwell")


ERASE = Work(
    "erase",
    [
        Step(
            lambda world: world.engine and world.engine.scope(user="bob").erase("bob"),
            lambda world: bool(world.states(SECRET_WORD)),
            _nowhere,
            in_parts=True,
        ),
        Step(
            lambda world: world.mind.erase("ana"),
            lambda world: bool(world.states("violet inkwell")),
            _no_inkwell,
            in_parts=True,
        ),
    ],
    prepare=_of_bob,
)


def _transcript(world: World) -> None:
    _known(world)
    talk = [
        {"role": "user", "content": f"Please remember that whale number {number} is called Willy{number}."}
        for number in range(4)
    ]
    (world.place / "talk.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in talk))


IMPORT = Work(
    "import",
    [
        Step(
            lambda world: world.mind.import_files([world.place / "talk.jsonl"]),
            absent("Willy"),
            lambda world: all(world.states(f"Willy{number}") for number in range(4)),
            in_parts=True,
        )
    ],
    prepare=_transcript,
)


def _exported(world: World) -> bool:
    """An export whose manifest is there is whole."""
    for folder in world.place.glob("export-*"):
        if (manifest := folder / "manifest.json").exists():
            told = json.loads(manifest.read_bytes())
            return all(
                hashlib.sha256((folder / name).read_bytes()).hexdigest() == one["sha256"]
                for name, one in told["files"].items()
            )
    return False


def _export(world: World) -> Any:
    number = len(list(world.place.glob("export-*")))
    return world.mind.export(world.place / f"export-{number}")


EXPORT = Work("export", [Step(_export, lambda world: not _exported(world), _exported)], prepare=_known)


def _turns(world: World) -> None:
    _known(world)
    assert world.engine is not None
    mind = world.engine.scope(session="s")
    for text in (
        "We decided to paint the boat red.",
        "I must call the plumber tomorrow.",
        "The sea was calm.",
    ):
        mind.hear(text)


def _day_file(world: World) -> bool:
    return any(b"boat" in path.read_bytes() for path in (world.folder / "memory").rglob("*.md"))


JOBS = Work(
    "jobs",
    [
        Step(lambda world: _ran(world, "micro-sync"), whatever, whatever, in_parts=True),
        Step(lambda world: _ran(world, "daily-wrap-up"), whatever, _day_file, in_parts=True),
        Step(lambda world: _ran(world, "lifecycle"), whatever, whatever, in_parts=True),
        Step(lambda world: _ran(world, "index"), whatever, whatever, in_parts=True),
    ],
    prepare=_turns,
    hours=16,
)


def _ran(world: World, name: str) -> Any:
    report = world.mind.run_job(name)
    if report.status not in (JobStatus.DONE, JobStatus.UNCHANGED):
        raise lamina.Unavailable(f"{name}: {report}", code=report.code, hint="Run it again.")
    return report


def _of_an_older_version(world: World) -> None:
    """As a store is that lacks one of the migrations."""
    connection = apsw.Connection(str(world.folder / ".lamina" / "memory.db"))
    for table, names in {
        "memory": ("counted", "uncounted", "recounted"),
        "operational": ("counted", "uncounted"),
    }.items():
        for name in names:
            connection.execute(f"DROP TRIGGER {table}_{name}")
        connection.execute(f"DROP TABLE {table}_count")
    for name in ("memory_by_age", "memory_by_weight", "memory_by_end", "operational_asked"):
        connection.execute(f"DROP INDEX {name}")
    connection.execute("ALTER TABLE memory DROP COLUMN actor")
    connection.execute("ALTER TABLE shelf DROP COLUMN making")
    connection.execute("DELETE FROM schema_migration WHERE version = 18")
    connection.close()


MIGRATE = Work(
    "migrate",
    [Step(lambda _: None, whatever, lambda world: world.mind.list().total == 4)],
    prepare=_known,
    unopened=_of_an_older_version,
    on_postgres=False,
)


def _back_up(world: World) -> Any:
    if not (out := world.place / "ana.backup").exists():
        return custody.back_up(world.folder, {}, out, with_key=True, tell=lambda *_: None)
    return None


def _backed_up(world: World) -> bool:
    out = world.place / "ana.backup"
    return out.exists() and bool(custody._checked_backup(out))


BACKUP = Work(
    "backup",
    [Step(_back_up, lambda world: not (world.place / "ana.backup").exists(), _backed_up)],
    prepare=_known,
    shut=True,
    on_postgres=False,
)


def _with_backup(world: World) -> None:
    _known(world)
    world.close()
    custody.back_up(world.folder, {}, world.place / "ana.backup", with_key=True, tell=lambda *_: None)
    world.open()


def _put_back(world: World) -> Any:
    number = len(list(world.place.glob("back-*")))
    return custody.put_back(
        world.place / "ana.backup", world.place / f"back-{number}", {}, tell=lambda *_: None
    )


def _is_back(world: World) -> bool:
    folders = sorted(world.place.glob("back-*"))
    if not folders:
        return False
    with lamina.open(folders[-1], clock=world.clock) as engine:
        return engine.scope().list().total == 4 and engine.verify_audit().findings == ()


RESTORE = Work(
    "restore",
    [Step(_put_back, whatever, _is_back, in_parts=True)],
    prepare=_with_backup,
    shut=True,
    on_postgres=False,
)

OPEN = Work(
    "begin",
    [Step(_remember("Ana likes tea"), absent("likes tea"), active("Ana likes tea"))],
    unopened=lambda world: _gone(world.place),
)


BARE = Work(
    "begin a store",
    [Step(_remember("Ana likes tea"), absent("likes tea"), active("Ana likes tea"))],
    unopened=lambda world: _gone(world.place),
    bare=True,
    on_postgres=False,
)


def _gone(place: Path) -> None:
    for path in sorted(place.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


WORKS = {
    work.name: work
    for work in (
        OPEN,
        BARE,
        REMEMBER,
        REVISE,
        FORGET,
        HEAR,
        EDIT,
        PURGE,
        ERASE,
        IMPORT,
        EXPORT,
        JOBS,
        MIGRATE,
        BACKUP,
        RESTORE,
    )
}


def at_home(place: Path) -> None:
    """The home of this process is in the place; meaning is worked out by the quicker of the encoders."""
    os.environ["LAMINA_HOME"] = str(place / "home")
    os.environ["LAMINA_EMBEDDER"] = "static"
