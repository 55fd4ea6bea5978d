"""What has a time to live is there until that time and not a moment longer."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from lamina import Outcome, State

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place


def test_an_expired_memory_is_not_recalled_from_its_very_moment_on(ana: ScopedMemory, place: Place) -> None:
    plain = ana.remember("tea for a while", ttl="1h").ids[0]
    keyed = ana.remember("tea with a key", key="drink", ttl="1h").ids[0]
    kept = ana.remember("tea for good").ids[0]

    place.clock.advance(hours=1, microseconds=-1)
    assert {hit.id for hit in ana.recall("tea")} == {plain, keyed, kept}
    place.clock.advance(microseconds=1)

    assert {hit.id for hit in ana.recall("tea")} == {kept}
    for exact in (plain, keyed, "drink"):
        assert not {hit.id for hit in ana.recall(exact)} & {plain, keyed}


def test_an_expired_key_can_be_set_again_by_anyone_who_may_set_it(engine: Engine, place: Place) -> None:
    first = engine.scope().remember("friendly", key="tone", ttl="1h").ids[0]
    place.clock.advance(hours=2)

    receipt = engine.scope(session="later").remember("formal", key="tone")

    assert (receipt.decision, receipt.code) == (Outcome.ADMITTED, "allowed")
    assert engine.scope().get(first).state is State.EXPIRED
    assert [step.op for step in engine.scope().history(first)] == ["ADD", "TTL"]
    assert engine.scope().recall("tone").hits[0].text == "formal"
    assert "expire" in [record.op for record in place.audit()]


def test_the_same_words_can_be_said_again_after_they_expired(ana: ScopedMemory, place: Place) -> None:
    first = ana.remember("the build is red", ttl="1h").ids[0]
    place.clock.advance(hours=2)

    again = ana.remember("the build is red", ttl="1h")

    assert again.decision is Outcome.ADMITTED
    assert again.ids[0] != first
    assert [hit.id for hit in ana.recall("build red")] == [again.ids[0]]


def test_what_expired_stands_in_nobodys_way(ana: ScopedMemory, place: Place) -> None:
    """Neither of a memory that comes back nor of one that is said in new words."""
    forgotten = ana.remember("the build is green").ids[0]
    ana.forget(forgotten)
    ana.remember("the build is green", ttl="1h")
    ana.remember("the build is red", ttl="1h")
    other = ana.remember("the build is blue").ids[0]
    place.clock.advance(hours=2)

    assert ana.restore(forgotten).code == "restored"
    assert ana.revise(other, "the build is red").code == "allowed"
    assert {hit.id for hit in ana.recall("build")} == {forgotten, other}


def test_a_date_in_the_past_is_over_at_once(ana: ScopedMemory) -> None:
    receipt = ana.remember("old news", ttl="2020-01-01")

    assert receipt.decision is Outcome.ADMITTED
    assert not ana.recall("old news").hits


def test_a_lifetime_is_counted_from_the_moment_it_was_asked_for(ana: ScopedMemory, place: Place) -> None:
    place.clock.advance(days=59)  # over the end of a February and a change of clocks
    for ttl, length in (("90s", 90), ("30m", 1800), ("7d", 604_800), ("2w", 1_209_600)):
        memory = ana.get(ana.remember(f"for {ttl}", ttl=ttl).ids[0])
        assert memory.expires_at == place.clock.now() + timedelta(seconds=length)


def test_a_clock_that_goes_back_brings_back_what_had_not_expired_then(
    ana: ScopedMemory, place: Place
) -> None:
    memory_id = ana.remember("tea", ttl="1h").ids[0]
    place.clock.advance(hours=2)
    assert not ana.recall("tea").hits
    place.clock.advance(hours=-2)

    assert [hit.id for hit in ana.recall("tea")] == [memory_id]
    assert ana.remember("later words").decision is Outcome.ADMITTED
