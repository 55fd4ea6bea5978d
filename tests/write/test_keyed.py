"""A key holds one value at a time; whoever has more authority sets it, and both lives are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina import Kind, Outcome, State
from lamina.model import Authority

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place


def test_a_later_value_supersedes_and_both_lives_are_explained(ana: ScopedMemory, place: Place) -> None:
    first = ana.remember("friendly", key="response.tone").ids[0]
    place.clock.advance(hours=1)

    receipt = ana.remember("formal", key="response.tone")

    second = receipt.ids[0]
    assert (receipt.decision, receipt.code) == (Outcome.ADMITTED, "superseded")
    old, new = ana.explain(first), ana.explain(second)
    assert (old.memory.state, old.memory.superseded_by) == (State.SUPERSEDED, second)
    assert (new.memory.state, new.memory.supersedes) == (State.ACTIVE, first)
    assert [step.op for step in old.history] == ["ADD", "DELETE"]
    assert [step.op for step in new.history] == ["ADD"]
    assert any(f"{second} took its place" in line for line in old.lines)
    assert any(f"It took the place of {first}" in line for line in new.lines)
    assert any("2026-01-01 00:00 UTC" in line for line in old.lines)
    assert any("2026-01-01 01:00 UTC" in line for line in new.lines)
    assert [hit.id for hit in ana.recall("response.tone")] == [second]


def test_a_supersession_is_two_records_and_tells_who_won(place: Place) -> None:
    mind = place.open().scope()
    first = mind.remember("friendly", key="tone").ids[0]
    before = len(place.audit())

    second = mind.remember("formal", key="tone").ids[0]

    told = [(record.op, record.memory_id) for record in place.audit()[before:]]
    assert told == [("delete", first), ("upsert", second)]
    (conflict,) = [event.data for event in mind.trace() if event.type == "memory_conflict"]
    assert (conflict["winner_id"], conflict["loser_id"], conflict["rule"]) == (second, first, "recency")


def test_the_same_value_again_is_unchanged(place: Place) -> None:
    mind = place.open().scope()
    first = mind.remember("friendly", key="tone", priority=60)
    before, files = place.tables(), place.folder and place.profile.read_bytes()

    again = mind.remember("friendly", key=" TONE ", priority=60)

    assert (again.decision, again.ids) == (Outcome.UNCHANGED, first.ids)
    assert place.tables() == before
    assert (place.folder and place.profile.read_bytes()) == files


def test_another_priority_kind_or_lifetime_is_another_value(ana: ScopedMemory) -> None:
    first = ana.remember("friendly", key="tone").ids[0]
    seen = {first}
    for details in ({"priority": 60}, {"kind": "fact"}, {"ttl": "7d"}):
        receipt = ana.remember("friendly", key="tone", **details)  # type: ignore[arg-type]
        assert receipt.decision is Outcome.ADMITTED
        seen.add(receipt.ids[0])

    assert len(seen) == 4


def test_every_spelling_of_a_key_is_the_same_key(ana: ScopedMemory) -> None:
    spellings = ("response tone", "Response  Tone", "RESPONSE_TONE", "response\u200btone!")
    ids = [ana.remember(f"value {key}", key=key).ids[0] for key in spellings]

    assert {ana.get(one).key for one in ids} == {"response_tone"}
    assert [ana.get(one).state for one in ids[:-1]] == [State.SUPERSEDED] * 3


def test_a_lower_authority_loses_and_leaves_exactly_one_refusal_and_one_record(place: Place) -> None:
    engine = place.open()
    user, agent = engine.scope(), engine.scope(agent="planner")
    kept = user.remember("friendly", key="tone").ids[0]
    events, records = len(user.trace(last=1000)), len(place.audit())
    memories = place.tables()["memory"]

    receipt = agent.remember("formal", key="tone")

    assert (receipt.decision, receipt.code, receipt.ids) == (Outcome.DENIED, "conflict_authority", (kept,))
    assert receipt.warnings
    assert [event.type for event in user.trace(last=1000)[events:]] == [
        "memory_conflict",
        "memory_deleted",
        "memory_denied",
    ]
    (record,) = place.audit()[records:]
    assert (record.op, record.reason) == ("deny", "conflict_authority")
    assert place.tables()["memory"] == memories
    assert user.get(kept).text == "friendly"
    if place.folder is not None:
        assert b"formal" not in place.profile.read_bytes()


def test_the_higher_authority_wins_whoever_speaks_first(engine: Engine) -> None:
    order = ("agent", "user", "system")
    for low, high in ((0, 1), (0, 2), (1, 2)):
        for first, second in ((low, high), (high, low)):
            key = f"k.{first}.{second}"
            for role in (order[first], order[second]):
                engine.scope(agent="planner", role=role).remember(f"{role} says", key=key)

            hit = engine.scope().recall(key).hits[0]

            assert hit.text == f"{order[high]} says"


def test_between_equals_the_later_word_counts(engine: Engine) -> None:
    ana = engine.scope()
    ana.remember("one", key="tone")

    assert ana.remember("two", key="tone").code == "superseded"
    assert engine.scope(session="other").remember("three", key="tone").code == "superseded"


def test_a_keyed_memory_is_a_preference_of_the_user_model(ana: ScopedMemory) -> None:
    memory = ana.get(ana.remember("friendly", key="tone").ids[0])

    assert (memory.layer, memory.kind, memory.authority) == (
        "user_model",
        Kind.PREFERENCE,
        Authority.USER_ASSERTED,
    )


def test_the_same_key_of_two_users_are_two_memories(engine: Engine) -> None:
    ana, bob = engine.scope(), engine.scope(user="bob")
    hers = ana.remember("friendly", key="tone").ids[0]
    his = bob.remember("formal", key="tone").ids[0]

    assert (ana.get(hers).text, bob.get(his).text) == ("friendly", "formal")
    assert (ana.get(hers).state, bob.get(his).state) == (State.ACTIVE, State.ACTIVE)
