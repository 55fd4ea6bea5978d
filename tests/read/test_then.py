"""A question that names a day, a week or "ago" finds what was said or happened then."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.scoped import ScopedMemory
from tests.backends import Place

#: What is said of Tuesdays, and what happened on one; "now" is Friday, 20 November 2026.
SAID = (
    ("2026-09-01", "I go bowling every Tuesday evening."),
    ("2026-09-02", "My Tuesday class is cooking."),
    ("2026-10-30", "The boiler was repaired by Stan."),
    ("2026-11-10", "We painted the hallway green."),
    ("2026-11-12", "带儿子去打了疫苗"),
    ("2026-11-17", "Signed the lease for the allotment."),
    ("2026-11-18", "ไปหาหมอที่โรงพยาบาลมา"),
    ("2026-11-20", "Yesterday the cat had kittens."),
    ("2026-11-20", "The plumber comes tomorrow at nine."),
)


@pytest.fixture
def ana(workspace: Place) -> ScopedMemory:
    workspace.clock.at = datetime(2026, 9, 1, tzinfo=UTC)
    engine = workspace.open()
    writing = engine.scope(session="writing")
    for day, text in SAID:
        workspace.clock.at = datetime.fromisoformat(f"{day}T09:00:00+00:00")
        writing.remember(text)
    workspace.clock.at = datetime(2026, 11, 20, 15, tzinfo=UTC)
    return engine.scope(session="asking")


ASKED = {
    "What did I do last Tuesday?": "Signed the lease for the allotment.",
    "What happened on 30 October?": "The boiler was repaired by Stan.",
    "What happened three weeks ago?": "The boiler was repaired by Stan.",
    "What happened yesterday?": "Yesterday the cat had kittens.",
    "What do I have tomorrow?": "The plumber comes tomorrow at nine.",
    "เมื่อวานซืนฉันทำอะไร": "ไปหาหมอที่โรงพยาบาลมา",
    "上周四我做了什么？": "带儿子去打了疫苗",
    "上週四發生了什麼事": "带儿子去打了疫苗",
}


def test_what_was_then_comes_first_and_without_doubt(ana: ScopedMemory) -> None:
    for question, right in ASKED.items():
        best = ana.recall(question).hits[0]
        assert best.text == right, question
        assert best.uncertainty == "low", question


def test_what_happens_every_tuesday_is_no_question_about_one(ana: ScopedMemory) -> None:
    found = [hit.text for hit in ana.recall("What do I do on Tuesdays?").hits[:2]]

    assert set(found) == {SAID[0][1], SAID[1][1]}


def test_a_day_among_hundreds_of_others_is_found(ana: ScopedMemory, workspace: Place) -> None:
    """The text says nothing of what is asked but its date: no other way of looking brings it in."""
    workspace.clock.at = datetime(2027, 3, 1, tzinfo=UTC)
    notes = ({"text": f"Note {number} of what I did on a Tuesday with friends."} for number in range(200))
    ana.remember_many(notes)
    workspace.clock.at = datetime(2027, 3, 9, tzinfo=UTC)

    assert "Signed the lease for the allotment." in [
        hit.text for hit in ana.recall("What did I do on 17 November 2026?").hits[:2]
    ]
