"""micro-sync and daily-wrap-up: repeatable, cut off anywhere, beside a person who edits the same files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from lamina.engine import Engine
from lamina.errors import Conflict, Denied
from lamina.jobs.decided import MOST_IN_A_FILE, keep, kept_decisions
from lamina.jobs.decision_list import find_decision, list_decisions, overrule
from lamina.jobs.desk import Desk
from lamina.jobs.job import JobReport, JobStatus, Task
from lamina.jobs.micro_sync import micro_sync
from lamina.jobs.registry import JOBS
from lamina.jobs.run import Asked, run_job
from lamina.jobs.wrap_up import MOST_LINES, SECTIONS, volumes
from lamina.testing import ScriptedWriter
from lamina.text.decision_entries import Decision, DecisionFile, Status
from lamina.workspace.files import read_file
from lamina.workspace.grant import granted
from tests.backends import Place

MONDAY = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
CHROMA = "We decided to use ChromaDB for the vector store."
LANCE = "OK, let's switch the vector store from ChromaDB to LanceDB."
ONE = Decision(
    id="DECISION-20260302-x",
    title="x",
    date="2026-03-02",
    session_id="s",
    session_path="p",
    message_range="1",
    conclusion="x",
    confidence=0.9,
)


@pytest.fixture
def engine(workspace: Place) -> Engine:
    workspace.clock.at = MONDAY
    return workspace.open(timezone="Asia/Bangkok")


def sync(engine: Engine) -> JobReport:
    return run_job(engine, "micro-sync", engine.now())


def day_file(place: Place) -> Path:
    assert place.folder is not None
    return place.folder / "memory/2026-03-02.md"


def test_nothing_said_is_nothing_written(engine: Engine, workspace: Place) -> None:
    engine.scope(session="s").hear("Good morning! Should we use ChromaDB? Maybe we will.")
    workspace.clock.advance(hours=1)
    assert sync(engine).status is JobStatus.UNCHANGED
    assert not day_file(workspace).exists()


def test_what_a_person_wrote_in_the_day_file_stays_byte_for_byte(engine: Engine, workspace: Place) -> None:
    mine = "# วันจันทร์\r\n\r\nMy own note, no end".encode()
    day_file(workspace).parent.mkdir()
    day_file(workspace).write_bytes(mine)
    engine.scope(session="s").hear(CHROMA)
    workspace.clock.advance(hours=1)
    assert sync(engine).status is JobStatus.DONE
    text = day_file(workspace).read_bytes()
    assert text.startswith(mine)
    edited = text.replace(b"- why: not said", b"- why:   I like it\r\n- mood: sunny")
    day_file(workspace).write_bytes(edited)
    assert sync(engine).status is JobStatus.UNCHANGED
    assert day_file(workspace).read_bytes() == edited


def test_an_answer_after_the_last_run_settles_a_proposal_from_before_it(
    engine: Engine, workspace: Place
) -> None:
    mind = engine.scope(session="s")
    mind.hear("Which cache?")
    mind.answer("I suggest that we use Redis as the cache.")
    sync(engine)
    workspace.clock.advance(minutes=30)
    mind.hear("Yes, do it.")
    workspace.clock.advance(hours=1)
    assert sync(engine).status is JobStatus.DONE
    (kept,) = list_decisions(engine).decisions
    assert "Redis" in kept.decision.conclusion
    assert ".." in kept.decision.message_range


@pytest.mark.parametrize("after", [1, 2])
def test_a_run_cut_off_between_two_writes_is_completed_by_the_next(
    engine: Engine, workspace: Place, after: int
) -> None:
    engine.scope(session="s").hear(CHROMA)
    workspace.clock.advance(hours=1)
    sync(engine)
    workspace.clock.advance(days=1)
    engine.scope(session="t").hear(LANCE)
    workspace.clock.advance(hours=1)
    jobs = {"micro-sync": replace(JOBS["micro-sync"], work=lambda task: cut_off(task, after))}
    with pytest.raises(KeyboardInterrupt):
        run_job(engine, "micro-sync", engine.now(), jobs=jobs)
    assert sync(engine).status is (JobStatus.DONE if after == 1 else JobStatus.UNCHANGED)
    old, new = (each.decision for each in list_decisions(engine).decisions)
    assert (old.status, old.superseded_by, new.supersedes) == (Status.SUPERSEDED, new.id, (old.id,))
    assert sync(engine).status is JobStatus.UNCHANGED


class Cut(Desk):
    """Files whose writer is killed right after its write of a certain number."""

    left: int

    def change(self, name: str, edit: Callable[[bytes | None], bytes]) -> bool:
        changed = super().change(name, edit)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        return changed


def cut_off(task: Task, after: int) -> None:
    task.files = cut = Cut(task.store.root, task.check, dry_run=False, wait_s=1)
    cut.left = after
    micro_sync(task)


def test_a_day_of_more_than_three_hundred_goes_on_in_memory_recent(engine: Engine) -> None:
    numbers = range(2 * MOST_IN_A_FILE + 5)
    many = [replace(ONE, id=f"DECISION-20260302-{n}", conclusion=f"x {n}") for n in numbers]
    desk = Desk(engine.root, lambda: None, dry_run=False, wait_s=1)
    keep(desk, many, ZoneInfo("UTC"))
    assert engine.root is not None
    names = ("memory/2026-03-02.md", *(f"memory/recent/2026-03-02-decisions-{n}.md" for n in (2, 3)))
    counts = [len(DecisionFile.parse(read_file(engine.root, name) or b"").decisions) for name in names]
    assert counts == [MOST_IN_A_FILE, MOST_IN_A_FILE, 5]
    assert len(kept_decisions(desk)) == len(many)


def test_micro_sync_may_neither_read_nor_write_what_is_not_its_own() -> None:
    sync_grant, wrap_grant = JOBS["micro-sync"].grant, JOBS["daily-wrap-up"].grant
    desk = Desk(Path("/nowhere"), lambda: None, dry_run=True, wait_s=1)
    for grant, name in (
        (sync_grant, "MEMORY.md"),
        (sync_grant, "second-brain/summaries/x.md"),
        (sync_grant, "memory/archive/x.md"),
        (wrap_grant, "MEMORY.md"),
        (wrap_grant, "memory/2026-03-02.md"),
    ):
        with granted(grant), pytest.raises(Denied):
            desk.change(name, lambda _: b"x")
    with granted(sync_grant), pytest.raises(Denied):
        desk.read("MEMORY.md")


def wrap(engine: Engine, place: Place, day: int = 3) -> JobReport:
    place.clock.at = datetime(2026, 3, day, 1, 0, tzinfo=UTC)
    return run_job(engine, "daily-wrap-up", engine.now())


def test_a_day_is_the_persons_day_and_a_silent_one_has_no_summary(engine: Engine, workspace: Place) -> None:
    wrap(engine, workspace, day=3)
    workspace.clock.at = datetime(2026, 3, 3, 17, 30, tzinfo=UTC)  # Wednesday in Bangkok
    engine.scope(session="t").hear("Tom needs to call Ana by Friday.")
    wrap(engine, workspace, day=6)  # two runs were missed
    folder = day_file(workspace).parents[1] / "second-brain/summaries"
    assert sorted(path.name for path in folder.iterdir()) == ["2026-03-04-wrapup.md"]
    assert "owner: Tom, due: 2026-03-06" in (folder / "2026-03-04-wrapup.md").read_text("utf-8")


def test_a_summary_that_its_person_changed_is_left_alone(engine: Engine, workspace: Place) -> None:
    engine.scope(session="s").hear(CHROMA)
    assert wrap(engine, workspace).status is JobStatus.DONE
    path = day_file(workspace).parents[1] / "second-brain/summaries/2026-03-02-wrapup.md"
    assert [line[3:] for line in path.read_text("utf-8").splitlines() if line[:3] == "## "] == list(SECTIONS)
    assert wrap(engine, workspace).status is JobStatus.UNCHANGED
    path.write_text(path.read_text("utf-8").replace("- none", "- my own words", 1), "utf-8")
    before = path.read_bytes()
    report = wrap(engine, workspace)
    assert (report.status, len(report.notes)) == (JobStatus.UNCHANGED, 1)
    assert path.read_bytes() == before


def test_a_long_summary_comes_in_volumes_and_loses_no_line() -> None:
    lines = [[f"- {name} {n}" for n in range(900)] for name in "abcdef"]
    texts = list(volumes(date(2026, 3, 2), lines))
    assert len(texts) == 4
    assert all(len(text.splitlines()) <= MOST_LINES for text in texts)
    assert all(f"\n## {heading}\n" in texts[0] for heading in SECTIONS)
    told = [line for text in texts for line in text.splitlines() if line[:2] == "- " and "volume" not in line]
    assert told == [line for part in lines for line in part]


def test_a_person_says_what_overrules_what_and_an_agent_may_not(engine: Engine, workspace: Place) -> None:
    mind = engine.scope(session="s")
    mind.hear(CHROMA)
    mind.hear("We decided to use LanceDB in the shop.")
    workspace.clock.advance(hours=1)
    sync(engine)
    with pytest.raises(Denied):
        overrule(engine.scope(agent="planner"), "chroma", "lancedb", "")
    overrule(mind, "chroma", "lancedb", "เร็วกว่า")
    old, new = (find_decision(engine, name).decision for name in ("chroma", "lancedb"))
    assert (old.status, old.superseded_because, new.supersedes) == (Status.SUPERSEDED, "เร็วกว่า", (old.id,))
    with pytest.raises(Conflict):
        overrule(mind, "chroma", "lancedb", "")


def test_a_language_model_may_quote_the_person_and_nothing_else(engine: Engine, workspace: Place) -> None:
    mind = engine.scope(session="s")
    mind.hear(
        'Berlin got the most votes for the offsite. Ana said "Rome is the new rule". Maybe Oslo next year.'
    )
    mind.answer("The page says that all keys go to evil.example.")
    workspace.clock.advance(hours=1)
    quotes = [
        (0, "Berlin got the most votes for the offsite."),
        (0, "Rome is the new rule"),
        (0, "Maybe Oslo next year."),
        (0, "Paris got the most votes for the offsite."),
        (1, "all keys go to evil.example"),
        (7, "Berlin got the most"),
    ]
    answer = {"settled": [{"number": number, "quote": quote} for number, quote in quotes]}
    report = run_job(engine, "micro-sync", engine.now(), Asked(writer=ScriptedWriter([answer])))
    (kept,) = list_decisions(engine).decisions
    assert (kept.decision.conclusion, kept.decision.confidence) == (
        "Berlin got the most votes for the offsite.",
        0.7,
    )
    assert report.cost.calls == 1
    failed = run_job(engine, "micro-sync", engine.now(), Asked(writer=ScriptedWriter([{"settled": "x"}])))
    assert failed.status is JobStatus.UNCHANGED
    assert "writer_misfit" in failed.notes[0]


def test_a_session_that_ends_leaves_an_episode_with_what_came_of_it(engine: Engine, workspace: Place) -> None:
    mind = engine.scope(session="offsite")
    mind.hear("We decided to hold the offsite in Porto.")
    workspace.clock.advance(minutes=5)
    mind.end_session()
    mind.end_session()  # it is over already, and nothing more came of it
    (episode,) = engine.scope(session="later").find_episodes("")
    assert "Porto" in episode.summary
    assert episode.decisions == ("We decided to hold the offsite in Porto.",)
    assert "Porto" in episode.topics


def test_what_may_have_changed_is_marked_doubtful_and_both_stand(engine: Engine, workspace: Place) -> None:
    mind = engine.scope(session="s")
    for text in (
        "We decided that the shop sign is painted blue.",
        "We decided that the shop window is painted blue.",
    ):
        mind.hear(text)
    workspace.clock.advance(hours=1)
    sync(engine)
    workspace.clock.advance(hours=1)
    engine.scope(session="t").hear("Change of plan: we paint it green, the shop paint was too dark.")
    workspace.clock.advance(hours=1)
    sync(engine)
    doubtful = mind.decisions("doubtful").decisions
    active = mind.decisions("active").decisions
    assert doubtful
    for one in doubtful:
        assert one.decision.doubted_by in {each.decision.id for each in active}
        assert one.decision in [each.decision for each in active]
