"""X-1: clocks differ and are set back; what is stored is found all the same, and in its order."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from lamina.doors.doctor import Patient, examine
from lamina.engine import Engine
from lamina.model import Filters, Kind, Layer, Query, Space
from lamina.read.missing import hurdles
from lamina.scoped import ScopedMemory
from lamina.storage.memories import Memories
from lamina.testing import ManualClock
from tests.backends import Place

AHEAD = [timedelta(seconds=2), timedelta(minutes=5), timedelta(days=1), timedelta(days=3650)]
SAID = [
    ("The harbour gate opens with the blue card", "harbour gate"),
    ("ประตูท่าเรือเปิดด้วยบัตรสีน้ำเงิน", "ประตูท่าเรือ"),
    ("港口大門用藍色卡片打開", "港口大门"),
]


def everything_finds(mind: ScopedMemory, question: str, known: str) -> None:
    assert known in [hit.id for hit in mind.recall(question)]
    assert known in [one.id for one in mind.search(question).results]
    assert known in [one.id for one in mind.query(question).bullets]
    assert mind.get(known).text in mind.context(question).text
    assert mind.why_not(question, known).lines[0].startswith("It is recalled, as number")


@pytest.mark.parametrize("ahead", AHEAD, ids=str)
def test_what_a_clock_ahead_wrote_is_found_by_one_behind(place: Place, ahead: timedelta) -> None:
    writer = place.open(clock=ManualClock(place.clock.at + ahead)).scope()
    reader = place.open().scope()
    for text, question in SAID:
        everything_finds(reader, question, writer.remember(text).ids[0])
    writer.remember("window seat", key="travel.seat")
    assert reader.resolve(["travel.seat"])["travel.seat"].value == "window seat"
    assert "window seat" in reader.context("book a flight").text
    happened = writer.layers.episodes.record("Moved the boats to pier nine").ids[0]
    assert [one.id for one in reader.layers.episodes.find("boats pier")] == [happened]
    steps = writer.layers.procedures.learn("paint the boats", ["sand them", "paint them"]).ids[0]
    assert [one.id for one in reader.layers.procedures.find("paint the boats")] == [steps]
    assert reader.remember(SAID[0][0]).code == "same"


@pytest.mark.parametrize("back", AHEAD, ids=str)
def test_a_clock_set_back_hides_nothing(place: Place, back: timedelta) -> None:
    ana = place.open().scope()
    known = [ana.remember(text).ids[0] for text, _ in SAID]
    place.clock.at -= back
    for one, (_, question) in zip(known, SAID, strict=True):
        everything_finds(ana, question, one)
    later = ana.remember("The harbour gate was painted red").ids[0]
    everything_finds(ana, "harbour gate", later)


@pytest.mark.parametrize("back", AHEAD, ids=str)
def test_the_stores_time_never_goes_back(place: Place, back: timedelta) -> None:
    engine, clock = place.open(), place.clock
    ana, told = engine.scope(session="s"), list[datetime]()
    for step in (timedelta(0), timedelta(hours=1), -back, timedelta(seconds=1), 2 * back, -back):
        clock.at += step
        one = ana.remember(f"We met {len(told)} times").ids[0]
        ana.hear(f"We met {len(told)} times, did we not?")
        ana.revise(one, f"We met {len(told)} times in all")
        memory = ana.get(one)
        told += [memory.created_at, *(entry.at for entry in ana.history(one)), memory.updated_at]
    assert told == sorted(told)
    assert (times := [record.at for record in place.audit()]) == sorted(times)
    assert (times := [event.at for event in ana.trace(1000)]) == sorted(times)
    assert (changed := [change.at for change in place.changes(ana.scope.thread)]) == sorted(changed)
    assert engine.verify_audit().intact


def test_two_clocks_take_turns(place: Place) -> None:
    minds = [place.open(clock=ManualClock(place.clock.at + timedelta(seconds=n))).scope() for n in (0, 40)]
    ids = [minds[n % 2].remember(f"Turn {n} of the two servers").ids[0] for n in range(6)]
    times = [minds[0].get(one).created_at for one in ids]
    assert times == sorted(times)
    many = minds[0].remember_many({"text": f"Line {n} of the list"} for n in range(3))
    assert {minds[0].get(one.ids[0]).created_at for one in many} == {times[-1]}
    found = minds[0].recall("what is the latest turn of the two servers?", k=6)
    assert ids[-1] in [hit.id for hit in found.hits]


@pytest.mark.parametrize("ahead", AHEAD[2:], ids=str)
def test_a_deadline_is_kept_by_the_clock_also_after_one_stood_ahead(place: Place, ahead: timedelta) -> None:
    place.open(clock=ManualClock(place.clock.at + ahead)).scope().remember("Written by a clock ahead")
    ana, clock = place.open().scope(session="s"), place.clock
    brief = ana.remember("The guest code is on the fridge", ttl="1h").ids[0]
    keyed = ana.remember("quiet", key="mood.today", ttl="1h").ids[0]
    guess = ana.propose("formal", "letter.style", 0.8).ids[0]
    everything_finds(ana, "guest code fridge", brief)
    assert ana.get(brief).expires_at == clock.now() + timedelta(hours=1)
    clock.advance(minutes=61)
    assert not [hit for hit in ana.recall("guest code fridge") if hit.id == brief]
    assert "Its time was up" in ana.why_not("guest code fridge", brief).lines[0]
    assert "mood.today" not in ana.resolve()
    assert ana.remember("loud", key="mood.today").code == "allowed"
    assert ana.get(keyed).state == "expired"
    gone = ana.remember("Gone in a moment").ids[0]
    ana.forget(gone)
    assert ana.get(gone).purge_at == clock.now() + timedelta(days=ana.engine.config.undo_days)
    assert [one.id for one in ana.pending()] == [guess]
    clock.advance(days=8)
    assert ana.pending() == []


def test_dates_are_right_again_once_a_clock_far_ahead_is(place: Place) -> None:
    place.open(clock=ManualClock(place.clock.at + timedelta(days=3650))).scope().remember("Far away")
    ana, clock = place.open().scope(), place.clock
    old, day = ana.remember("The plumber came to the house").ids[0], clock.now()
    clock.advance(days=40)
    new = ana.remember("The electrician came to the house").ids[0]
    clock.advance(days=1)
    hits = {hit.id: hit for hit in ana.recall("who came to the house yesterday?")}
    assert (hits[old].at, hits[new].at) == (day, day + timedelta(days=40))
    assert hits[new].adjustments["*period"] > hits[old].adjustments.get("*period", 1.0)
    assert [hit.id for hit in ana.recall("came to the house", until=day + timedelta(days=1))] == [old]


def test_what_shall_hold_later_is_held_back_until_then(place: Place) -> None:
    ana = place.open().scope()
    then = place.clock.now() + timedelta(days=3)
    known = ana.layers.learn("The office moves to Osaka", valid_from=then).receipt.ids[0]
    assert not ana.recall("office Osaka").hits
    assert ana.why_not("office Osaka", known).lines == ("It was said to hold from 2026-01-04T00:00:00Z on.",)
    place.clock.advance(days=3)
    everything_finds(ana, "office Osaka", known)


def test_a_time_that_the_caller_names_is_a_limit(place: Place) -> None:
    ana, clock = place.open().scope(), place.clock
    before = clock.now()
    clock.advance(hours=1)
    known = ana.remember("The boat is red").ids[0]
    assert not ana.recall("boat", as_of=before).hits
    said = ana.why_not("boat", known, as_of=before).lines
    assert said == (
        "It was stored at 2026-01-01T01:00:00Z; asked for was what was known at 2026-01-01T00:00:00Z.",
    )
    assert ana.why_not("boat", known, as_of=clock.now()).lines[0].startswith("It is recalled from what")
    clock.advance(hours=1)
    ana.forget(known)
    assert "was put aside" in ana.why_not("boat", known, as_of=clock.now()).lines[0]
    said = ana.why_not("car", known, as_of=before + timedelta(hours=1)).lines
    assert "none of the question's 1 words" in said[0]


@pytest.mark.parametrize(("ahead", "state"), [(2, "ok"), (300, "warn")])
def test_the_doctor_says_when_clocks_differ(place: Place, ahead: int, state: str) -> None:
    place.open(clock=ManualClock(place.clock.at + timedelta(seconds=ahead))).scope().remember("Tea at noon")

    def opened() -> Engine:
        engine = place.open()
        place.engines.remove(engine)  # whoever examines it closes it
        return engine

    patient = Patient(workspace=place.folder, home=place.home, open_memory=opened, open_scratch=opened)
    clock = next(one for one in examine(patient) if one.name == "clock")
    assert clock.state == state
    assert ("2026-01-01T00:05:00Z" in clock.detail) is (state == "warn")


@pytest.fixture
def crowd(place: Place) -> tuple[Engine, list[str]]:
    """An engine, and memories that differ in everything a recall can be narrowed by."""
    engine, clock = place.open(), place.clock
    ana = engine.scope(session="s", project="p")
    ids = [*ana.remember("tea at noon").ids, *ana.remember("tea at two", importance=1, pin=True).ids]
    ids += ana.remember("tea at three", kind="decision", category="work").ids
    ids += ana.remember("tea for the session", space="session").ids
    ids += ana.remember("tea for the project", space="project").ids
    ids += ana.remember("tea with milk", key="drink.tea").ids
    ids += ana.layers.procedures.learn("make tea", ["boil", "pour"]).ids
    ids += ana.layers.episodes.record("We had tea").ids
    ids += ana.layers.learn("Tea is cheap next week", valid_from=clock.now() + timedelta(days=4)).receipt.ids
    ids += ana.layers.learn("Tea is dear", valid_until=clock.now() + timedelta(days=2)).receipt.ids
    planner = engine.scope(agent="planner", session="s", project="p", run="r9")
    ids += planner.remember("tea says the planner").ids
    ids += engine.scope(agent="web", role="tool", session="s").remember("tea says the tool").ids
    clock.advance(days=2)
    ids += ana.remember("tea for an hour", ttl="1h").ids
    ids += (gone := ana.remember("tea forgotten").ids)
    ana.forget(gone[0])
    ids += ana.remember("tea of the first phase", space="session").ids
    ana.start_phase()
    clock.advance(hours=2)
    ids += ana.remember("tea of today", space="session").ids
    engine.apply_reads()
    return engine, ids


START = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
QUERIES: dict[str, list[Any]] = {
    "spaces": [(Space.USER,), (Space.SESSION, Space.PROJECT)],
    "layers": [(Layer.PROCEDURAL,), (Layer.SEMANTIC, Layer.EPISODIC)],
    "kinds": [(Kind.DECISION,), (Kind.FACT, Kind.PREFERENCE)],
    "categories": [("work",), ("event", "procedural")],
    "since": [START + timedelta(days=1)],
    "until": [START + timedelta(days=1)],
    "trusted_only": [True],
    "phases": [("session:ana,s phase-2", "user:ana phase-1"), ("session:ana,s phase-1",)],
    "filters": [
        Filters(agent_id="planner"),
        Filters(run_id="r9"),
        Filters(actor_id="user:ana"),
        Filters(role="tool"),
        Filters(category="work"),
        Filters(pinned=True),
        Filters(pinned=False),
        Filters(importance_min=4),
        Filters(importance_max=4),
        Filters(updated_after=START + timedelta(days=1)),
        Filters(updated_before=START + timedelta(days=1)),
    ],
}
#: What of a query leaves nothing out: what is asked, how much of it is shown, and where it is looked.
NO_FILTER = {"scope", "text", "k", "budget_tokens", "across_phases", "documents", "depth"}


def test_why_not_knows_every_filter_of_the_store(crowd: tuple[Engine, list[str]]) -> None:
    """What the sentences say and what the store does are the same, memory by memory, filter by filter."""
    assert {one.name for one in fields(Query)} == NO_FILTER | QUERIES.keys()
    for one in fields(Filters):
        assert any(getattr(filters, one.name) is not None for filters in QUERIES["filters"])
    engine, ids = crowd
    scope, now = engine.scope(session="s", project="p").scope, engine.now()
    plain = Query(scope=scope, text="tea")
    queries = [plain, *(replace(plain, **{name: one}) for name, all_ in QUERIES.items() for one in all_)]

    def differing(query: Query) -> set[str]:
        readable = set(engine.database.read(lambda tx: Memories(tx).readable_ids(query, ids, now)))
        known = engine.database.read(lambda tx: Memories(tx).load(ids))
        assert known.keys() == set(ids)
        passing = {one for one, memory in known.items() if not hurdles(query, query, memory, now)}
        assert passing != known.keys()
        return readable ^ passing

    assert [query for query in queries if differing(query)] == []


WHY = [
    ({"layers": ["procedural"]}, "It belongs to the layer semantic; asked for was procedural."),
    ({"kinds": ["decision"]}, "It is of the kind fact; asked for was decision."),
    ({"categories": ["event"]}, "Its category is uncategorised; asked for was event."),
    ({"spaces": ["project"]}, "It belongs to the user space; asked for was project."),
    ({"since": START + timedelta(days=1)}, "It was said at 2026-01-01T00:00:00Z; asked for was since"),
    ({"until": START}, "It was said at 2026-01-01T00:00:00Z; asked for was until 2026-01-01T00:00:00Z."),
    ({"budget_tokens": 0}, "It matches, as number 1, and did not fit the budget of 0 tokens."),
]


@pytest.mark.parametrize(("narrowing", "why"), WHY)
def test_a_question_that_leaves_it_out_is_named(place: Place, narrowing: Any, why: str) -> None:
    ana = place.open().scope(project="p")
    known = ana.remember("green tea is calming").ids[0]
    assert ana.why_not("green tea", known, **narrowing).lines[0].startswith(why)
    assert not ana.recall("green tea", **narrowing).hits


def test_every_filter_that_leaves_it_out_is_named_and_no_other(place: Place) -> None:
    engine = place.open(procedure_agents="planner")
    tool = engine.scope(agent="web", role="tool").remember("oolong tea").ids[0]
    ana = engine.scope()
    assert ana.why_not("oolong", tool, trusted_only=True, kinds=["decision"]).lines == (
        "It is of the kind fact; asked for was decision.",
        "It is untrusted, because a tool said it; asked for was what is trusted.",
    )
    steps = ana.layers.procedures.learn("brew oolong", ["boil", "pour"]).ids[0]
    assert "recalled, as number 1" in ana.why_not("brew oolong", steps).lines[0]
    assert engine.scope(agent="chat").why_not("brew oolong", steps).lines == (
        "Of the layer procedural this agent is given nothing unasked (`procedure_agents`).",
    )
