"""PROFILE.md is a home: what a person does there counts, and not one byte of it is lost."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lamina import Conflict, Outcome, State
from lamina.audit.chain import Anchor, Sealer, load_key
from lamina.clock import Runtime
from lamina.config import home_folder
from lamina.engine import Engine
from lamina.language.rulebook import rulebook
from lamina.opening import locate, open_database
from lamina.policy.rules import Policy
from lamina.storage.small_tables import Entries
from lamina.text import entries
from lamina.text.entries import EntryFile
from lamina.workspace.layout import create_workspace
from lamina.write import entry_files, request
from lamina.write.seals import store_id
from lamina.write.store import Parts
from lamina.write.unit_of_work import Ruleset
from tests.backends import Place

if TYPE_CHECKING:
    from lamina.scoped import ScopedMemory


def values(place: Place) -> dict[str, str]:
    """What the file says, as far as it is readable."""
    return {entry.canonical: entry.value for entry in EntryFile.parse(place.profile.read_bytes()).entries}


def known(mind: ScopedMemory, key: str) -> str | None:
    """What the engine holds under a key now."""
    hits = [hit for hit in mind.recall(key) if hit.key == key]
    return hits[0].text if hits else None


def edit(place: Place, change: Callable[[str], str]) -> None:
    """Saves the file as an editor does that writes in place."""
    text = place.profile.read_bytes().decode()
    place.profile.write_bytes(change(text).encode())


def test_a_keyed_memory_is_a_line_of_the_file(workspace: Place) -> None:
    mind = workspace.open().scope()
    before = workspace.profile.read_bytes()

    memory_id = mind.remember("friendly", key="response.tone", priority=70, ttl="30d").ids[0]

    after = workspace.profile.read_bytes()
    (entry,) = EntryFile.parse(after).entries
    assert (entry.key, entry.value, entry.priority, entry.ttl) == ("response.tone", "friendly", 70, "30d")
    assert (entry.source, entry.updated_at) == ("user_explicit", "2026-01-01T00:00:00Z")
    assert after.startswith(before)
    assert mind.get(memory_id).file == "PROFILE.md"
    assert mind.recall("response.tone").hits[0].source.path == "PROFILE.md"


def test_a_line_that_a_person_adds_is_a_memory_at_the_next_use(workspace: Place) -> None:
    mind = workspace.open().scope()

    edit(workspace, lambda text: text + "- key:drink | value:green tea\n")

    hit = mind.recall("drink").hits[0]
    memory = mind.get(hit.id)
    assert (memory.text, memory.provenance.via, memory.provenance.actor) == ("green tea", "file", "user:ana")
    (record,) = workspace.audit()
    assert (record.op, record.via, record.key) == ("upsert", "file", "drink")


def test_a_line_that_a_person_changes_supersedes_even_what_was_just_said(workspace: Place) -> None:
    mind = workspace.open().scope()
    first = mind.remember("friendly", key="tone").ids[0]

    edit(workspace, lambda text: text.replace("value:friendly", "value:very formal"))

    assert known(mind, "tone") == "very formal"
    assert mind.get(first).state is State.SUPERSEDED
    assert [record.via for record in workspace.audit()] == ["python", "file", "file"]


def test_a_line_that_a_person_takes_out_is_forgotten_and_can_be_restored(workspace: Place) -> None:
    mind = workspace.open().scope()
    memory_id = mind.remember("friendly", key="tone").ids[0]
    mind.remember("Thai", key="lang")

    edit(workspace, lambda text: "".join(one for one in text.splitlines(True) if "key:tone" not in one))

    assert known(mind, "tone") is None
    assert mind.get(memory_id).state is State.SOFT_DELETED
    record = workspace.audit()[-1]
    assert (record.op, record.via, record.key) == ("delete", "file", "tone")
    mind.restore(memory_id)
    assert values(workspace) == {"tone": "friendly", "lang": "Thai"}


def test_moving_lines_and_writing_comments_changes_no_memory(workspace: Place) -> None:
    mind = workspace.open().scope()
    workspace.profile.write_text("# Me\n\n## Preferences\n")
    for number in range(5):
        mind.remember(f"value {number}", key=f"k{number}")
    before, records = {f"k{n}": known(mind, f"k{n}") for n in range(5)}, len(workspace.audit())

    def shuffled(text: str) -> str:
        lines = text.splitlines(True)
        entries = [line for line in lines if line.startswith("- key:")]
        rest = [line for line in lines if not line.startswith("- key:")]
        return "".join(["Hand-written preamble\n\n", *entries[::-1], "\n<!-- key:k9 | a remark -->\n", *rest])

    edit(workspace, shuffled)

    assert {f"k{n}": known(mind, f"k{n}") for n in range(5)} == before
    assert len(workspace.audit()) == records


def test_edits_made_while_nothing_was_open_are_taken_in(workspace: Place) -> None:
    workspace.open().scope().remember("friendly", key="tone")
    workspace.close()
    edit(workspace, lambda text: text.replace("friendly", "formal") + "- key:new | value:yes\n")

    mind = workspace.open().scope()

    assert (known(mind, "tone"), known(mind, "new")) == ("formal", "yes")


def test_an_edit_seen_by_one_engine_is_seen_by_all(workspace: Place) -> None:
    one, other = workspace.open().scope(), workspace.open().scope()
    one.remember("friendly", key="tone")
    assert known(other, "tone") == "friendly"
    edit(workspace, lambda text: text.replace("friendly", "formal"))

    assert (known(other, "tone"), known(one, "tone")) == ("formal", "formal")
    ours = [record for record in workspace.audit() if record.via == "file"]
    assert [record.op for record in ours] == ["delete", "upsert"]


BROKEN = """\
# PROFILE
- key:good | value:used
- key:novalue
- key: | value:nokey
- key:twice | value:a | value:b
- key:bad.kind | value:x | kind:rumour
- key:bad.priority | value:x | priority:900
- key:bad.ttl | value:x | ttl:whenever
- key:login | value:my password is hunter2secret99
- key:also.good | value:used too
"""


def test_lines_that_cannot_be_used_are_named_and_stay_byte_for_byte(workspace: Place) -> None:
    engine = workspace.open()
    workspace.profile.write_text(BROKEN)

    problems = engine.status().problems

    assert [(problem.file, problem.line) for problem in problems] == [
        ("PROFILE.md", line) for line in (3, 4, 5, 6, 7, 8, 9)
    ]
    assert all(problem.message and problem.hint for problem in problems)
    assert "hunter2" not in str(problems)
    mind = engine.scope()
    assert (known(mind, "good"), known(mind, "also.good")) == ("used", "used too")
    assert {hit.key for hit in mind.recall("used value x a b password", k=99)} == {"good", "also.good"}
    mind.remember("agent's own", key="another")
    text = workspace.profile.read_text()
    assert all(line in text.splitlines() for line in BROKEN.splitlines())
    assert len(engine.status().problems) == 7
    workspace.close()
    assert len(workspace.open().status().problems) == 7


def test_a_secret_pasted_into_the_file_is_kept_nowhere_else(workspace: Place) -> None:
    engine = workspace.open()
    edit(workspace, lambda text: text + "- key:login | value:my password is hunter2secret99\n")

    (problem,) = engine.status().problems
    assert "privacy_deny_sensitive" in problem.message
    for _ in range(3):
        engine.status()

    assert [record.op for record in workspace.audit()] == ["deny"]  # once, not at every look
    tables = workspace.tables()
    workspace.close()
    assert not any("hunter2secret99" in row for rows in tables.values() for row in rows)
    holders = [path.name for path, data in workspace.files().items() if b"hunter2secret99" in data]
    assert holders == ["PROFILE.md"]


def test_a_secret_taken_out_of_the_file_again_is_nowhere(workspace: Place) -> None:
    mind = workspace.open().scope()
    edit(workspace, lambda text: text + "- key:login | value:my password is hunter2secret99\n")
    mind.remember("friendly", key="tone")  # replaces the file, and keeps what was there
    edit(workspace, lambda text: "".join(one for one in text.splitlines(True) if "login" not in one))
    mind.remember("formal", key="tone")
    workspace.close()

    holders = [str(path) for path, data in workspace.files().items() if b"hunter2secret99" in data]

    assert holders == []


UNUSABLE_VALUES = (
    b"a\\u{0}b",
    b"a\x00b",
    b"a\x07b",
    b"\\u{200B}",
    b"a\\u{1B}[31m",
    b"x" * 100_001,
    b"\xff\xfe",
)


def test_a_value_no_caller_could_send_is_a_problem_of_its_line_and_of_nothing_else(workspace: Place) -> None:
    """The same rules as at every other door, or one line could shut the whole workspace."""
    engine = workspace.open()
    lines = [b"- key:k%d | value:%s\n" % pair for pair in enumerate(UNUSABLE_VALUES)]
    workspace.profile.write_bytes(b"".join([*lines, b"- key:good | value:used\n"]))

    problems = engine.status().problems

    assert [problem.line for problem in problems] == list(range(1, len(lines) + 1))
    assert known(engine.scope(), "good") == "used"
    workspace.close()
    assert len(workspace.open().status().problems) == len(lines)


TRICKY = (
    "two\nlines",
    "a | b",
    "c:\\temp\\new",
    "\\",
    "\\n",
    "ends in \\",
    " blanks ",
    "\ttab",
    "-->",
    "```",
    "- key:x | value:y",
    "a\u2028b",
    "\u202eabc",
    "x\ufeff",
    "tea\r\nmilk",
    "🇹🇭 茶 ชา",
    "\\u{41}",
    "<!-- x -->",
)


def test_every_value_comes_back_from_the_file_as_it_went_in(workspace: Place) -> None:
    mind = workspace.open().scope()
    for number, value in enumerate(TRICKY):
        assert mind.remember(value, key=f"k{number:02}").decision is Outcome.ADMITTED
    expected = {f"k{number:02}": value for number, value in enumerate(TRICKY)}
    assert values(workspace) == expected
    records = len(workspace.audit())
    workspace.close()

    engine = workspace.open()

    assert {key: known(engine.scope(), key) for key in expected} == expected
    assert engine.status().problems == ()
    assert len(workspace.audit()) == records  # our own lines are not taken for a person's


@pytest.mark.parametrize(
    "before",
    [
        b"\xef\xbb\xbf# Me\r\n\r\n## Preferences\r\n- key:tone | value:warm\r\n\r\nNotes, no key.\r\n",
        b"\xef\xbb\xbf- key:tone | value:warm",
        b"# Me\n\n## Preferences\n* key: tone   |value:  warm  | mood:odd\n    a note below it\n## Other\nx",
        b"## Preferences\r\n- key:tone | value:warm\n- plain bullet\r\n\xff\xfe not utf-8 \x00\n",
    ],
    ids=["bom_crlf", "bom_no_newline", "own_layout", "mixed"],
)
def test_a_persons_bytes_stay_in_their_order_around_our_own(workspace: Place, before: bytes) -> None:
    engine = workspace.open()
    workspace.profile.write_bytes(before)
    mind = engine.scope()
    assert known(mind, "tone") == "warm"

    mind.remember("new value", key="added")
    mind.forget("added")
    middle = workspace.profile.read_bytes()
    mind.remember("cool", key="tone")

    assert middle.startswith(before)
    after = workspace.profile.read_bytes()
    changed = [line for line in after.split(b"\n") if line not in middle.split(b"\n")]
    assert len(changed) == 1
    assert b"cool" in changed[0]
    assert after.count(b"\r\n") == middle.count(b"\r\n")
    assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")


def test_a_file_that_is_gone_is_written_again_from_what_is_known(workspace: Place) -> None:
    mind = workspace.open().scope()
    mind.remember("friendly", key="tone", priority=80)
    mind.remember("Thai\nand English", key="lang")
    mind.remember("gone", key="old")
    mind.forget("old")
    workspace.profile.unlink()

    assert known(mind, "tone") == "friendly"
    assert values(workspace) == {"tone": "friendly", "lang": "Thai\nand English"}
    workspace.close()
    workspace.profile.unlink()
    assert known(workspace.open().scope(), "lang") == "Thai\nand English"
    assert values(workspace) == {"tone": "friendly", "lang": "Thai\nand English"}


def test_a_file_that_is_empty_for_a_moment_costs_nobody_anything(workspace: Place) -> None:
    """Editors that save in place empty the file first; a program may write at that very moment."""
    mind = workspace.open().scope()
    for number in range(4):
        mind.remember(f"value {number}", key=f"k{number}")
    text, records = workspace.profile.read_bytes(), len(workspace.audit())
    workspace.profile.write_bytes(b"")

    mind.recall("value")
    with suppress(Conflict):
        mind.remember("at that moment", key="other")
    workspace.profile.write_bytes(text)

    assert [known(mind, f"k{number}") for number in range(4)] == [f"value {number}" for number in range(4)]
    assert {record.op for record in workspace.audit()[records:]} <= {"upsert"}


def test_other_users_memories_never_appear_in_the_owners_file(workspace: Place) -> None:
    engine = workspace.open()
    before = workspace.profile.read_bytes()
    for user in ("bob", "ANA", "ana2"):
        mind = engine.scope(user=user, session="s1")
        memory_id = mind.remember(f"canary of {user}", key="tone").ids[0]
        mind.revise(memory_id, f"canary of {user} again")
        mind.remember(f"canary of {user} third", key="tone")
        mind.forget("tone")
        mind.remember(f"canary of {user} session", key="mood", space="session")
        mind.remember(f"canary of {user} project", key="mood", space="project")
    engine.scope(session="s1").remember("canary of a session", key="mood", space="session")
    engine.sync()

    assert workspace.profile.read_bytes() == before


class Interrupted:
    """A real database at whose every transaction a person may save the file, as they may in life."""

    def __init__(self, database: Any, moment: Callable[[], None]) -> None:
        self._database = database
        self._moment = moment

    def write(self, work: Any, **how: Any) -> Any:
        self._moment()
        result = self._database.write(work, **how)
        self._moment()
        return result

    @property
    def chains(self) -> int:
        return int(self._database.chains)

    @chains.setter
    def chains(self, count: int) -> None:
        self._database.chains = count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def opened(place: Place, moment: Callable[[], None]) -> Engine:
    """The engine of a place, put together from the same parts, on a database that can be interrupted."""
    assert place.folder is not None
    if not place.folder.exists():
        create_workspace(place.folder, "ana")
    settings = {"owner": "ana", **({"store": place.url} if place.url else {})}
    where = locate(place.folder, settings, {"LAMINA_HOME": str(place.home)})
    config = where.loaded.config
    database = open_database(where.store, config)
    sealer = database.sealing = Sealer(load_key(place.home / "keys" / "audit.key"))
    anchor = Anchor(home_folder({"LAMINA_HOME": str(place.home)}) / "anchors" / store_id(database), sealer)
    engine = Engine(
        Parts(
            database=Interrupted(database, moment),
            ruleset=Ruleset(sealer, Policy(), rulebook),
            config=config,
            runtime=Runtime(clock=place.clock),
            anchor=anchor,
            home=place.home,
            root=place.folder,
            embedder=None,
        )
    )
    place.engines.append(engine)
    return engine


class Person:
    """Edits the file by hand at given moments, and remembers every line they ever typed."""

    def __init__(self, path: Path, pick: random.Random) -> None:
        self.path, self.pick = path, pick
        self.when: set[int] = set()
        self.moments = self.typed = 0
        self.lines: dict[str, str] = {}  #: key to the line that should stand

    def moment(self) -> None:
        self.moments += 1
        if self.moments in self.when:
            self.save()

    def save(self) -> None:
        self.typed += 1
        lines = self.path.read_text("utf-8").splitlines(keepends=True)
        key = f"mine.{self.pick.randrange(4)}"
        line = f"- key:{key} | value:typed {self.typed} ✍ | note:{self.pick.randrange(99)}\n"
        place = next((n for n, one in enumerate(lines) if f"key:{key} " in one), None)
        match self.pick.randrange(4):
            case 0 if place is not None:
                del lines[place]
                self.lines.pop(key, None)
            case 1 | 2 if place is not None:
                lines[place] = line
                self.lines[key] = line
            case _:
                if place is not None:
                    del lines[place]
                lines.insert(self.pick.randrange(len(lines) + 1), line)
                self.lines[key] = line
        lines.insert(self.pick.randrange(len(lines) + 1), f"remark {self.typed}, not a memory\n")
        if self.pick.random() < 0.5:
            self.path.write_text("".join(lines), "utf-8")
        else:
            other = self.path.with_name("PROFILE.md~")
            other.write_text("".join(lines), "utf-8")
            other.replace(self.path)


SEEDS = range(20261116, 20261126)
MORE_SEEDS = range(20261126, 20261166)


def test_people_and_programs_write_the_same_file_and_neither_loses_a_thing(workspace: Place) -> None:
    interleave(workspace, SEEDS[0])


@pytest.mark.parametrize("seed", SEEDS[1:])
def test_it_holds_for_2000_interleavings(tmp_path: Path, lamina_home: Path, seed: int) -> None:
    interleave(Place(variant="sqlite", folder=tmp_path / "w", url=None, home=lamina_home), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE_SEEDS)
def test_it_holds_for_10000_interleavings(tmp_path: Path, lamina_home: Path, seed: int) -> None:
    interleave(Place(variant="sqlite", folder=tmp_path / "w", url=None, home=lamina_home), seed)


def interleave(place: Place, seed: int) -> None:
    """200 seeded interleavings: a person saves before, during and after a program writes in their name."""
    pick = random.Random(seed)
    assert place.folder is not None
    create_workspace(place.folder, "ana")
    person = Person(place.profile, pick)
    engine = opened(place, person.moment)
    program = engine.scope()
    acknowledged: dict[str, str] = {}

    rounds = 200 if place.url is None else 60
    for number in range(rounds):
        place.clock.advance(seconds=1)
        person.when = {person.moments + pick.randrange(1, 6) for _ in range(pick.randrange(3))}
        key = f"program.{pick.randrange(6)}"
        if pick.random() < 0.2 and key in acknowledged:
            program.forget(key)
            del acknowledged[key]
        else:
            assert program.remember(f"written {number}", key=key).decision is Outcome.ADMITTED
            acknowledged[key] = f"written {number}"
        if number % 10 == 0:
            person.save()

    text = place.profile.read_text("utf-8")
    assert person.typed > rounds // 2, seed
    assert [n for n in range(1, person.typed + 1) if f"remark {n}, " not in text] == [], seed
    assert [line for line in person.lines.values() if line not in text] == [], seed
    person.when = set()
    programs = {key: value for key, value in values(place).items() if key.startswith("program.")}
    assert programs == acknowledged, seed
    everything = {hit.key: hit.text for hit in engine.scope().recall("written typed", k=100)}
    assert everything == values(place), seed
    assert engine.status().problems == ()
    assert engine.verify_audit().intact


def test_a_persons_edit_of_the_same_line_at_the_same_moment_stands(workspace: Place) -> None:
    """Whenever during the program's write it is saved: theirs is in the file and in force at the end."""
    place = workspace
    assert place.folder is not None
    create_workspace(place.folder, "ana")
    countdown, edited = 0, False

    def moment() -> None:
        nonlocal countdown, edited
        countdown -= 1
        if countdown == 0 and b"value:base" in place.profile.read_bytes():
            edit(place, lambda text: text.replace("value:base", "value:typed by hand"))
            edited = True

    mind = opened(place, moment).scope()
    tried, wrong = 0, []
    for after in range(1, 9):
        key, edited = f"k{after}", False
        mind.remember("base", key=key)
        countdown = after
        with suppress(Conflict):  # telling the program to try again is fine
            mind.remember("written by a program", key=key)
        countdown = 0
        if edited:
            tried += 1
            if {values(place)[key], known(mind, key)} != {"typed by hand"}:
                wrong.append((after, values(place)[key], known(mind, key)))

    assert tried >= 3
    assert wrong == []


def test_an_edit_saved_just_before_a_write_is_acknowledged_is_taken_in(workspace: Place) -> None:
    """The file a person saves right after ours must not be taken for ours."""
    place = workspace
    assert place.folder is not None
    create_workspace(place.folder, "ana")
    missed = []
    countdown = 0

    def moment() -> None:
        nonlocal countdown
        countdown -= 1
        if countdown == 0:
            edit(place, lambda text: text + f"- key:hand.{after} | value:typed\n")

    mind = opened(place, moment).scope()
    for after in range(1, 7):
        countdown = after
        mind.remember(f"value {after}", key="ours")
        if countdown <= 0 and known(mind, f"hand.{after}") != "typed":
            missed.append(after)

    assert missed == []


def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the lines that are read from now on."""
    seen: list[int] = []
    real = entries._entry_row

    def counted(line: bytes, number: int, problems: list[Any]) -> Any:
        seen.append(number)
        return real(line, number, problems)

    monkeypatch.setattr(entries, "_entry_row", counted)
    return seen


def test_of_a_long_file_only_new_lines_are_read(workspace: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    mind = workspace.open().scope()
    edit(workspace, lambda text: text + "".join(f"- key:n{one} | value:thing {one}\n" for one in range(300)))
    assert mind.list().total == 300
    workspace.close()

    seen = rows_read(monkeypatch)
    mind = workspace.open().scope()
    assert known(mind, "n7") == "thing 7"
    assert seen == []
    edit(workspace, lambda text: text.replace("thing 7\n", "thing seven\n"))
    assert known(mind, "n7") == "thing seven"
    assert len(seen) == 300  # the first time in this process; what was known from before was the whole file
    seen.clear()
    edit(workspace, lambda text: text.replace("## Preferences\n", "## Preferences\n- key:more | value:one\n"))
    assert known(mind, "more") == "one"
    mind.remember("two", key="more")
    mind.forget(mind.recall("n9").hits[0].id)
    assert len(seen) <= 3
    workspace.close()

    seen.clear()
    mind = workspace.open().scope()
    assert (known(mind, "more"), known(mind, "n9")) == ("two", None)
    assert seen == []
    assert workspace.engines[-1].verify_audit().findings == ()


def test_what_was_taken_in_of_many_lines_stays_so_when_the_process_dies(
    workspace: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(entry_files, "_AT_ONCE", 10)
    monkeypatch.setattr(entry_files, "_TOLD", 20)
    mind = workspace.open().scope()
    mind.remember("stays", key="old.one")
    mind.remember("goes", key="old.two")
    done: list[str] = []
    real = request.perform

    def mortal(unit: Any, asked: Any) -> Any:
        done.append(asked.memory_id or asked.draft.key)
        if len(done) == 26:
            raise KeyboardInterrupt
        return real(unit, asked)

    def changed(text: str) -> str:
        kept = "".join(line for line in text.splitlines(keepends=True) if "old.two" not in line)
        return kept + "".join(f"- key:n{one} | value:thing {one}\n" for one in range(45))

    edit(workspace, changed)
    monkeypatch.setattr(request, "perform", mortal)
    with pytest.raises(KeyboardInterrupt):
        mind.recall("thing")
    done.clear()
    monkeypatch.setattr(request, "perform", lambda unit, asked: done.append("") or real(unit, asked))

    again = workspace.open()
    assert len(done) == 26, "25 lines of 45 were still to come, and one to go; 20 were taken in"
    assert again.status().memories == {"active": 46, "soft_deleted": 1}
    assert "PROFILE.md: 20 of 26 new or changed lines are taken in." in caplog.messages
    assert (known(again.scope(), "n44"), known(again.scope(), "old.two")) == ("thing 44", None)
    assert again.verify_audit().findings == ()


def test_a_row_that_is_lost_is_taken_in_from_the_file_again(workspace: Place) -> None:
    engine = workspace.open()
    engine.scope().remember("green tea", key="drink")
    engine.database.write(lambda tx: Entries(tx).drop("PROFILE.md", "drink"))
    again = workspace.open()
    assert set(again.database.read(lambda tx: Entries(tx).of("PROFILE.md"))) == {"drink"}
