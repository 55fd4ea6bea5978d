"""Servers on one store whose clocks differ, and a full disk: nothing is lost, and nothing looks forged."""

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest

import lamina
from lamina.testing import ManualClock


def test_two_servers_whose_clocks_are_a_year_apart_write_one_story(postgres_store: str) -> None:
    late, early = ManualClock(datetime(2027, 1, 1, tzinfo=UTC)), ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    with (
        lamina.open(postgres_store, owner="ana", clock=late) as ahead,
        lamina.open(postgres_store, owner="ana", clock=early) as behind,
    ):
        made = []
        for number in range(6):
            writer = (ahead, behind)[number % 2].scope()
            made += writer.remember(f"Bird {number} sang in the garden").ids
            late.advance(seconds=1)
            early.advance(seconds=1)
        behind.scope().remember("short", key="tone")
        ahead.scope().remember("long", key="tone")
        behind.scope().remember("warm", key="tone")

        for engine in (ahead, behind):
            memory = engine.scope()
            assert {one.id for one in memory.recall("bird garden", k=20)} >= {*made}
            assert memory.resolve(["tone"])["tone"].value == "warm"  # said last, whatever the clocks say
            assert engine.verify_audit().findings == ()


def test_two_servers_with_other_settings_lose_nothing_and_find_what_the_other_wrote(
    postgres_store: str,
) -> None:
    """One makes vectors and one does not, one keeps for a day and one for a year."""
    one = {"embedder": "static", "idempotency_hours": 1, "purge_days": 1, "answer_days": 1}
    two = {"embedder": "none", "idempotency_hours": 999, "purge_days": 365, "answer_days": 365}
    with (
        lamina.open(postgres_store, owner="ana", clock=ManualClock(), **one) as first,
        lamina.open(postgres_store, owner="ana", clock=ManualClock(), **two) as second,
    ):
        servers = [first.scope(), second.scope()]
        said = [f"The {thing} stands in the garden" for thing in ("bench", "kiln", "plough", "sundial")]
        for number, text in enumerate(said):
            servers[number % 2].remember(text, idempotency_key=f"key {number}")
            again = servers[1 - number % 2].remember(text, idempotency_key=f"key {number}")
            assert again.ids == servers[number % 2].remember(text, idempotency_key=f"key {number}").ids
        for server in servers:
            assert sorted(one.text for one in server.list().items) == sorted(said)
            for text in said:
                assert server.recall(text.split()[1]).hits[0].text == text
        first.embed_in_turn()
        assert first.status().meaning.missing == 0
        for engine in (first, second):
            assert engine.verify_audit().findings == ()
            assert engine.status().problems == ()


def test_a_full_disk_of_the_database_is_called_that_and_loses_nothing(postgres_store: str) -> None:
    """The server's own error, as when it cannot extend a table; a real full disk was tried by hand."""
    with lamina.open(postgres_store, owner="ana", clock=ManualClock()) as engine:
        ana = engine.scope(session="s")
        kept = ana.remember("The kiln is fired on Thursdays").ids[0]
        with psycopg.connect(postgres_store, autocommit=True) as server:
            server.execute(
                "CREATE FUNCTION lamina.no_room() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$;"
                "CREATE TRIGGER no_room BEFORE INSERT ON lamina.memory FOR EACH ROW"
                " EXECUTE FUNCTION lamina.no_room()"
            )
            for act in (
                lambda: ana.remember("The glaze is blue"),
                lambda: ana.hear("Remember that the glaze is blue"),
            ):
                with pytest.raises(lamina.Unavailable) as refused:
                    act()
                assert (refused.value.code, refused.value.retryable) == ("disk_failure", True)
            assert [hit.id for hit in ana.recall("kiln")] == [kept]
            server.execute("DROP TRIGGER no_room ON lamina.memory")
        assert ana.remember("The glaze is blue").ids
        assert engine.verify_audit().findings == ()
