"""What was said in a stretch of time, for the jobs that read it."""

from __future__ import annotations

from lamina.engine import Engine
from lamina.imports.turn import Speaker
from lamina.jobs.turns import turns_between
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock

#: Rules alone: what the trained model hears is test_understanding.py.
UNDERSTANDING = False


def test_turns_of_a_stretch_of_time_come_in_order_with_who_said_them(
    engine: Engine, clock: ManualClock
) -> None:
    start = clock.now()
    work = engine.scope(session="work")
    for number in range(12):
        work.hear(f"Question {number}", reply=f"Answer {number}")
    clock.advance(hours=1)
    noon = clock.now()
    engine.scope(session="home").hear("เราตัดสินใจใช้ LanceDB", reply="好的，已记下")
    clock.advance(hours=1)
    end = clock.now()
    work.hear("Too late")

    said = list(turns_between(engine.scope(), start, end))

    expected = [word for n in range(12) for word in (f"Question {n}", f"Answer {n}")]
    assert [one.text for one in said] == [*expected, "เราตัดสินใจใช้ LanceDB", "好的，已记下"]
    assert [one.role for one in said[-2:]] == [Speaker.USER, Speaker.ASSISTANT]
    assert {one.session_id for one in said} == {"work", "home"}
    assert said[0].memory_id == said[0].message_range
    assert [one.text for one in turns_between(engine.scope(), noon, end)] == [one.text for one in said[-2:]]


def test_nobody_reads_what_others_what_tools_and_what_schedulers_said(
    engine: Engine, ana: ScopedMemory, clock: ManualClock
) -> None:
    start = clock.now()
    for user, session, role in (
        ("ana", "s", "user"),
        ("ana", "s", "tool"),
        ("ana", "cron:nightly", "user"),
        ("ana", "agent:main:subagent:7", "user"),
        ("anabel", "s", "user"),
        ("an", "s", "user"),
    ):
        engine.scope(user=user, session=session, role=role).hear(f"{user} {session} {role} said this")
    engine.scope(session="s", via="job").hear("A job said this")
    ana.hear("HEARTBEAT_OK")
    clock.advance(minutes=1)

    said = [one.text for one in turns_between(ana, start, clock.now())]

    assert said == ["ana s user said this"]


def test_what_was_forgotten_is_not_read_again(engine: Engine, ana: ScopedMemory, clock: ManualClock) -> None:
    start = clock.now()
    heard = engine.scope(session="s").hear("The launch is on Friday")
    clock.advance(minutes=1)
    engine.scope(session="s").forget(heard.receipts[0].ids[0])

    assert list(turns_between(ana, start, clock.now())) == []


def test_what_is_heard_where_no_session_is_named_is_found_and_changed_where_none_is(engine: Engine) -> None:
    ana = engine.scope()
    ana.hear("I live in Chiang Mai")
    (hit,) = ana.recall("where do I live?").hits
    assert hit.text == "I live in Chiang Mai"
    assert ana.search("where do I live?").results
    assert ana.query("where do I live?").bullets
    assert ana.get(hit.id).text == hit.text
    assert ana.explain(hit.id).lines
    assert any(event.shelf == "session:ana,main" for event in ana.trace())
    assert ana.forget(hit.id).code == "forgotten"
    assert ana.recall("where do I live?").hits == ()
    assert ana.restore(hit.id).code == "restored"


def test_a_session_that_is_named_stays_apart_from_the_one_that_is_not(engine: Engine) -> None:
    engine.scope().hear("I live in Chiang Mai")
    engine.scope(session="work").hear("I live in a tent this week")
    assert [hit.text for hit in engine.scope(session="work").recall("where do I live?").hits] == [
        "I live in a tent this week"
    ]
    assert [hit.text for hit in engine.scope().recall("where do I live?").hits] == ["I live in Chiang Mai"]
    assert engine.scope(user="ben").recall("where do I live?").hits == ()


def test_the_turn_that_asked_for_a_memory_is_not_shown_beside_it(engine: Engine) -> None:
    ana = engine.scope()
    ana.hear("Remember that I am allergic to peanuts")
    assert [hit.text for hit in ana.recall("what am I allergic to?").hits] == ["I am allergic to peanuts"]
