"""What says one thing twice becomes one memory overnight: within limits, and never two values in one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lamina.engine import Engine
from lamina.errors import Unavailable
from lamina.jobs.consolidate import consolidation
from lamina.jobs.job import Deadline, JobReport, JobStatus
from lamina.jobs.registry import JOBS
from lamina.jobs.run import Asked, run_job
from lamina.lifecycle.consolidate import MOST_PAIRS, consolidate, pairs_of
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock, ScriptedWriter
from lamina.write.store import callers_of

SAME = [
    ("Ana lives in Bangkok", "Ana lives in Bangkok now"),
    ("ทีมประชุมทุกวันจันทร์ตอนเก้าโมงเช้า", "ทีมประชุมทุกวันจันทร์ตอนเก้าโมงเช้านะ"),
    ("每天早上十点团队开会", "每天早上十点团队都开会"),
]
DIFFERENT = [
    ("The deploy window opens at 14:00", "The deploy window opens at 16:00"),
    ("Ana eats meat", "Ana does not eat meat"),
    ("ห้องประชุมอยู่ชั้น 3", "ห้องประชุมอยู่ชั้น 5"),
    ("会议室在三楼", "会议室不在三楼"),
]
LIMITED = [
    ("Ana lives in Bangkok", "Ana used to live in Bangkok"),
    ("อานาอยู่กรุงเทพ", "อานาเคยอยู่กรุงเทพ"),
    ("安娜吃鱼", "安娜只在周五吃鱼"),
]
DOUBTFUL = ("Ana is allergic to peanuts, as a doctor found out long ago", "Peanuts make Ana ill")


class Ends(Deadline):
    """As much time as the list says each time it is asked."""

    def __init__(self, *lefts: float) -> None:
        self._lefts = iter(lefts)

    def left_s(self) -> float:
        return next(self._lefts)

    def check(self) -> None:
        """There is always time to finish what was begun."""


def run(engine: Engine, *answers: Any) -> JobReport:
    writer = ScriptedWriter(list(answers)) if answers else None
    return run_job(engine, "consolidate", engine.now(), Asked(writer=writer))


def say(mind: ScopedMemory, *texts: str) -> list[str]:
    return [mind.remember(text, kind="fact", category="knowledge").ids[0] for text in texts]


def known(mind: ScopedMemory) -> list[str]:
    found = mind.recall("Ana 团队 ทีม 会议室 ห้องประชุม deploy peanuts", k=500, categories=["knowledge"])
    return sorted(hit.text for hit in found.hits)


def verdicts(*same: bool) -> dict[str, Any]:
    names = {True: "same", False: "different"}
    return {"pairs": [{"number": n, "verdict": names[one]} for n, one in enumerate(same)]}


def test_duplicates_in_three_languages_become_one_and_a_second_run_changes_nothing(ana: ScopedMemory) -> None:
    for pair in SAME:
        say(ana, *pair)
    cursor = ana.changes().cursor
    report = run(ana.engine)
    assert (report.status, report.changes) == (JobStatus.DONE, ("ana: 3 merged, duplicates 3 → 0",))
    assert len(known(ana)) == len(SAME)
    assert {one.event for one in ana.changes(cursor).changes} >= {"merged"}
    again = run(ana.engine)
    assert (again.status, again.changes) == (JobStatus.UNCHANGED, ())


def test_other_values_and_contradictions_are_never_merged_whatever_a_model_says(ana: ScopedMemory) -> None:
    for pair in DIFFERENT:
        say(ana, *pair)
    before = known(ana)
    report = run(ana.engine, *[verdicts(*[True] * 8)] * 9)
    assert (known(ana), report.figures["merged"]) == (before, 0)
    assert report.figures["differing"] == len(DIFFERENT)


def test_what_adds_a_limit_a_time_or_a_doubt_is_not_merged_by_the_rules(ana: ScopedMemory) -> None:
    for pair in LIMITED:
        say(ana, *pair)
    report = run(ana.engine)
    assert (report.figures["merged"], report.figures["left"]) == (0, len(LIMITED))


def test_a_model_decides_what_only_may_be_the_same_and_is_asked_once_in_two_weeks(
    place: Any, clock: ManualClock
) -> None:
    ana = place.open().scope()
    say(ana, *DOUBTFUL)
    first = run(ana.engine, verdicts(False))
    second = run(ana.engine, verdicts(True))
    assert [(one.figures["asked"], one.cost.calls) for one in (first, second)] == [(1, 1), (0, 0)]
    clock.advance(days=15)
    ana.recall("peanuts")  # what did not change lately is looked at where it is used
    third = run(ana.engine, verdicts(True))
    assert (third.figures["merged"], DOUBTFUL[0] in known(ana), DOUBTFUL[1] in known(ana)) == (1, True, False)


def test_without_a_model_the_rules_merge_and_the_report_says_what_is_left(ana: ScopedMemory) -> None:
    say(ana, *SAME[1], *DOUBTFUL)
    report = run(ana.engine)
    assert (report.figures["merged"], report.figures["left"], report.cost.calls) == (1, 1, 0)
    assert any("no language model is set" in note for note in report.notes)


def test_a_user_has_at_most_fifty_pairs_in_a_day_over_all_runs(ana: ScopedMemory, clock: ManualClock) -> None:
    said = [f"Ana keeps item {number} in drawer {number}" for number in range(MOST_PAIRS + 5)]
    ana.remember_many({"text": text + more} for text in said for more in ("", " now"))
    first, second = run(ana.engine), run(ana.engine)
    clock.advance(days=1)
    third = run(ana.engine)
    assert [one.figures["merged"] for one in (first, second, third)] == [MOST_PAIRS, 0, 5]
    assert any("5 duplicates are left" in note for note in second.notes)


def test_a_run_that_is_cut_off_is_finished_by_the_next(ana: ScopedMemory) -> None:
    for pair in SAME:
        say(ana, *pair)
    (mind,) = callers_of(ana.engine)
    calls = iter(range(100))

    def check() -> None:
        if next(calls) == 2:
            raise Unavailable("cut off", code="job_timeout")

    with pytest.raises(Unavailable):
        consolidate(mind, ana.engine.now(), None, check)
    assert len(known(ana)) == 2 * len(SAME) - 1
    assert run(ana.engine).figures["merged"] == len(SAME) - 1


def test_who_was_not_reached_in_time_comes_first_in_the_next_run(engine: Engine, clock: ManualClock) -> None:
    people = [engine.scope(user=name) for name in ("ana", "bo", "chai")]
    for one in people:
        say(one, *SAME[0])
    ends = Ends(300.0, 30.0)
    job = replace(JOBS["consolidate"], work=lambda task: consolidation(replace(task, deadline=ends)))
    first = run_job(engine, "consolidate", engine.now(), jobs={"consolidate": job})
    assert first.changes == ("ana: 1 merged, duplicates 1 → 0",)
    assert "2 users wait for the next run" in first.notes[0]
    say(people[0], *SAME[1])
    clock.advance(days=1)
    assert [line.partition(":")[0] for line in run(engine).changes] == ["bo", "chai", "ana"]


def test_what_its_person_took_apart_stays_apart(ana: ScopedMemory, clock: ManualClock) -> None:
    ids = say(ana, *SAME[0])
    run(ana.engine)
    ana.unmerge(ana.get(ids[0]).superseded_by or "")
    for _ in range(2):
        clock.advance(days=15)
        ana.recall("Ana lives in Bangkok")
        assert run(ana.engine).figures["merged"] == 0
    assert known(ana) == sorted(SAME[0])


def test_one_owner_s_words_are_never_beside_another_s_nor_a_tool_s_beside_a_person_s(engine: Engine) -> None:
    text, same = SAME[0]
    say(engine.scope(user="ana"), text)
    say(engine.scope(user="bo"), same)
    say(engine.scope(user="ana", role="tool"), same)
    engine.scope(user="ana").remember(same, category="goals")
    assert [pairs_of(mind, engine.now()) for mind in callers_of(engine)] == [[], []]


def test_what_is_old_and_matters_little_is_looked_at_again_only_once_it_is_used(
    ana: ScopedMemory, clock: ManualClock
) -> None:
    for text in SAME[0]:
        ana.remember(text, category="knowledge", importance=1)
    clock.advance(days=4)
    assert run(ana.engine).figures["duplicates_before"] == 0
    ana.recall("Ana lives in Bangkok")
    assert run(ana.engine).figures["merged"] == 1
