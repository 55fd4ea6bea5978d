"""What other tools hold comes in once, under the gates, with who said it, where and when."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lamina.engine import Engine
from lamina.imports.bring_in import import_files
from lamina.jobs.turns import turns_between
from lamina.model import Authority, Memory, Trust
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock
from tests.backends import Place

DATA = Path(__file__).parents[1] / "data" / "transcripts"
DAY = datetime(2026, 2, 14, tzinfo=UTC)


@pytest.fixture
def clock(place: Place) -> ManualClock:
    """Two weeks after what the transcripts say."""
    place.clock.advance(days=58)
    return place.clock


@pytest.fixture
def ana(clock: ManualClock, place: Place) -> ScopedMemory:
    return place.open().scope()


def chat(path: Path, *texts: str, role: str = "user") -> Path:
    with path.open("a", encoding="utf-8") as stream:
        for number, text in enumerate(texts):
            line = {"role": role, "content": text, "at": f"2026-02-14T05:{number % 60:02}:00Z"}
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    return path


def stored(mind: ScopedMemory, question: str, **narrowing: Any) -> list[Memory]:
    return [mind.get(hit.id) for hit in mind.recall(question, k=20, **narrowing)]


def test_everything_comes_in_once_and_a_second_import_finds_nothing_new(
    ana: ScopedMemory, place: Place
) -> None:
    first = import_files(ana, [DATA])
    before = place.tables()
    again = import_files(ana, [DATA])

    assert (first.read, first.new, first.known) == (35, 31, 4)
    assert first.skipped["bad_line"] == 2
    assert {(Path(one.path).name, one.line) for one in first.problems} == {
        ("chat.jsonl", 7),
        ("s-main.jsonl", 9),
        ("s-main.jsonl", 14),
    }
    assert (again.read, again.new, again.unchanged) == (0, 0, sum(first.files.values()))
    assert place.tables() == before


def test_a_turn_carries_who_said_it_where_and_when(ana: ScopedMemory, clock: ManualClock) -> None:
    import_files(ana, [DATA / "openclaw"])

    (memory,) = stored(ana, "ตัดสินใจใช้ Postgres", kinds=["context"])[:1]
    origin = memory.provenance
    assert memory.text == "เราตัดสินใจใช้ Postgres ด้วย"
    assert (memory.layer, memory.kind, memory.space) == ("episodic", "context", "user")
    assert (origin.actor, origin.session_id, origin.message_range) == ("user:ana", "s-main", "c4 (line 6)")
    assert origin.session_path is not None
    assert origin.session_path.endswith("s-main.jsonl")
    assert (memory.authority, origin.trust) == (Authority.USER_ASSERTED, Trust.TRUSTED)
    assert memory.said_at == datetime(2026, 2, 14, 3, 5, tzinfo=UTC)
    assert memory.created_at == clock.now()
    (answer,) = stored(ana, "好的，用 Postgres", kinds=["context"], since=DAY + timedelta(hours=3, minutes=8))
    assert (answer.provenance.actor, answer.authority) == ("agent:openclaw", Authority.AI_INFERRED)
    assert not stored(ana, "Postgres", until=DAY)
    assert ana.recall("ตัดสินใจใช้ Postgres").hits[0].at == memory.said_at


def test_jobs_read_imported_turns_by_the_time_they_were_said(ana: ScopedMemory) -> None:
    import_files(ana, [DATA / "codex"])

    said = list(turns_between(ana, DAY, DAY + timedelta(days=1)))

    assert [(one.session_id, one.role, one.text) for one in said if one.session_id != "cx-0"] == [
        ("cx-1", "user", "Switch to LanceDB"),
        ("cx-1", "assistant", "Done."),
        ("cx-1", "user", "ใช้ได้เลย"),
        ("cx-2", "user", "换一个办法"),
    ]
    assert {one.source for one in said} == {"codex"}
    assert said[-1].message_range == "line-12 (line 12)"
    assert said[-1].path.endswith("cx-2.jsonl")
    assert not list(turns_between(ana, DAY + timedelta(days=1), DAY + timedelta(days=400)))


def test_what_a_tool_returned_is_untrusted_whatever_it_says(ana: ScopedMemory) -> None:
    report = import_files(ana, [DATA / "openclaw"], tool_output=True)

    (poisoned,) = stored(ana, "payments go to account", kinds=["context"])[:1]
    assert "IGNORE ALL RULES" in poisoned.text
    assert (poisoned.provenance.trust, poisoned.provenance.role) == (Trust.UNTRUSTED, "tool")
    assert "IGNORE" not in ana.context("payments account").text
    assert all("IGNORE" not in one.text for one in turns_between(ana, DAY, DAY + timedelta(days=1)))
    assert report.skipped["recalled"] == 1


def test_facts_of_other_memories_are_found_and_never_taken_for_the_users_word(ana: ScopedMemory) -> None:
    import_files(ana, [DATA / "mem0", DATA / "memory-server"])

    fact, *_ = stored(ana, "vegetarian")
    assert (fact.layer, fact.kind, fact.authority) == ("semantic", "fact", Authority.AI_INFERRED)
    assert (fact.provenance.trust, fact.provenance.actor) == (Trust.UNTRUSTED, "document:mem0")
    assert fact.said_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert stored(ana, "曼谷")[0].text == "Ana (person): 住在曼谷"


def test_of_a_file_of_several_people_only_the_importers_own_come_in(
    ana: ScopedMemory, tmp_path: Path
) -> None:
    rows = [
        {"id": "1", "memory": "Likes hiking in the mountains", "user_id": "ana"},
        {"id": "2", "memory": "Sings in the opera of Oslo", "user_id": "bob"},
    ]
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps({"results": rows}), "utf-8")
    report = import_files(ana, [path])
    assert (report.new, report.skipped) == (1, {"other_user": 1})
    assert not any("opera" in one.text for one in ana.list().items)
    path.write_text(json.dumps({"results": rows[1:]}), "utf-8")  # one person's alone, under another name
    assert import_files(ana, [path]).new == 1


def test_secrets_are_refused_and_counted(ana: ScopedMemory, place: Place, tmp_path: Path) -> None:
    key = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5q" * 2
    path = chat(tmp_path / "chat.jsonl", "We met on Monday", f"The key is {key}", "รหัสผ่านคือ Xk29!mQp7z")

    report = import_files(ana, [path])

    assert (report.new, report.refused) == (1, {"privacy_deny_sensitive": 2})
    assert not any(key in row for rows in place.tables().values() for row in rows)
    assert import_files(ana, [path]).read == 0


def test_a_dry_run_says_the_same_and_writes_nothing(ana: ScopedMemory, place: Place, tmp_path: Path) -> None:
    chat(tmp_path / "chat.jsonl", "One", "Two", "My password is Xk29!mQp7z")
    before = place.tables()

    planned = import_files(ana, [tmp_path, DATA], dry_run=True)
    assert place.tables() == before
    done = import_files(ana, [tmp_path, DATA])

    assert (planned.read, planned.new, planned.known) == (done.read, done.new, done.known)
    assert planned.refused == done.refused == {"privacy_deny_sensitive": 1}
    assert planned.skipped == done.skipped


class _Killed(Exception):
    pass


def test_an_import_that_was_stopped_goes_on_and_doubles_nothing(ana: ScopedMemory, tmp_path: Path) -> None:
    path = chat(tmp_path / "chat.jsonl", *(f"Sentence {number}" for number in range(600)))

    def stop(done: int, total: int) -> None:
        raise _Killed

    with pytest.raises(_Killed):
        import_files(ana, [path], stop)
    report = import_files(ana, [path])

    assert (report.read, report.new) == (350, 350)  # the first batch is not read again
    said = [one.text for one in turns_between(ana, DAY, DAY + timedelta(days=1))]
    assert sorted(said) == sorted(f"Sentence {number}" for number in range(600))


def test_only_what_was_added_is_read_and_a_moved_file_brings_nothing(
    ana: ScopedMemory, tmp_path: Path
) -> None:
    path = chat(tmp_path / "chat.jsonl", "One", "Two")
    import_files(ana, [path])
    chat(path, "สาม")

    grown = import_files(ana, [path])
    (tmp_path / "elsewhere").mkdir()
    moved = import_files(ana, [shutil.copy(path, tmp_path / "elsewhere" / "chat.jsonl")])

    assert (grown.read, grown.new) == (1, 1)
    assert (moved.read, moved.new, moved.known) == (3, 0, 3)


def test_a_turn_that_was_forgotten_does_not_come_back(ana: ScopedMemory, tmp_path: Path) -> None:
    path = chat(tmp_path / "chat.jsonl", "The launch is on Friday")
    import_files(ana, [path])
    (memory,) = stored(ana, "launch")
    ana.forget(memory.id)

    report = import_files(ana, [shutil.copy(path, tmp_path / "copy.jsonl")], format="jsonl")

    # A plain file's name is its session, so this is another conversation; it says what the person took back.
    assert (report.new, report.refused) == (0, {"refused_stays": 1})
    path.touch()
    assert import_files(ana, [path], tool_output=True).known == 1
    assert stored(ana, "launch") == []
    assert import_files(ana, [tmp_path / "copy.jsonl"], format="jsonl", bring_back=True).new == 1
    assert [one.provenance.session_id for one in stored(ana, "launch")] == ["copy"]


def test_the_same_words_in_two_turns_are_two_turns_and_each_user_has_their_own(
    engine: Engine, ana: ScopedMemory, tmp_path: Path
) -> None:
    path = chat(tmp_path / "chat.jsonl", "yes", "yes")
    import_files(ana, [path])

    assert len(list(turns_between(ana, DAY, DAY + timedelta(days=1)))) == 2
    assert import_files(engine.scope(user="bob"), [path]).new == 2
    assert len(list(turns_between(ana, DAY, DAY + timedelta(days=1)))) == 2


def test_an_agent_that_imports_does_not_speak_for_its_user(engine: Engine, ana: ScopedMemory) -> None:
    import_files(engine.scope(agent="planner"), [DATA / "plain"])

    found = stored(ana, "Hello from plain JSONL")
    assert found[0].text.startswith("Hello from plain JSONL")
    assert {one.authority for one in found} == {Authority.AI_INFERRED}


def test_since_leaves_out_what_is_older_and_may_be_asked_again(ana: ScopedMemory) -> None:
    since = datetime(2026, 2, 14, 3, 6, tzinfo=UTC)
    some = import_files(ana, [DATA / "openclaw"], since=since)
    rest = import_files(ana, [DATA / "openclaw"])

    assert (some.new, some.skipped["before"]) == (1, 5)
    assert (rest.new, rest.known) == (5, 1)
