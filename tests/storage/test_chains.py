"""On PostgreSQL people do not wait for each other: records are in chains, by whom they are about."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import psycopg
import pytest

import lamina
from lamina import Space
from lamina.custody import move
from lamina.model import CHAIN
from lamina.storage.ledger import CHAINS, LaneOrder
from lamina.storage.logs import AuditLog
from lamina.storage.postgres import PostgresDatabase

if TYPE_CHECKING:
    from pathlib import Path

    from lamina.engine import Engine
    from tests.backends import Place

#: People in chains of their own.
ANA, BOB, EVE = "ana", "bob", "eve"
WAIT_S = 30


pytestmark = pytest.mark.parametrize("place", ["postgres"], indirect=True)


def untold(done: int, total: int) -> None:
    """Nobody wants to know how far it is."""


def chain(name: str) -> int:
    return LaneOrder(CHAINS).chain(f"user:{name}")


def run_sql(place: Place, *statements: str) -> list[tuple[object, ...]]:
    with psycopg.connect(str(place.url), options="-c search_path=lamina") as server:
        done = [server.execute(one.encode()) for one in statements]
        return done[-1].fetchall() if done[-1].description else []


def test_a_writer_waits_for_whoever_writes_for_the_same_person_and_for_nobody_else(place: Place) -> None:
    assert len({chain(name) for name in (ANA, BOB, EVE)} | {0}) == 4
    one, other = place.open(), place.open()
    one.scope(user=BOB).remember("Bob likes milk")
    entered, leave, told = threading.Event(), threading.Event(), list[str]()

    def hold(transaction: object) -> None:
        entered.set()
        assert leave.wait(WAIT_S)

    def write(engine: Engine, name: str) -> threading.Thread:
        def work() -> None:
            engine.scope(user=name).remember(f"{name} likes tea")
            told.append(name)

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    holder = threading.Thread(target=lambda: one.database.write(hold, lanes=[f"user:{ANA}"]))
    holder.start()
    assert entered.wait(WAIT_S)
    write(other, BOB).join(WAIT_S)
    assert told == [BOB]
    waits = write(other, ANA)
    write(one, EVE).join(WAIT_S)
    assert told == [BOB, EVE]
    leave.set()
    for thread in (waits, holder):
        thread.join(WAIT_S)

    assert told == [BOB, EVE, ANA]
    assert one.verify_audit().findings == ()


def test_the_numbers_of_one_person_do_not_depend_on_what_others_do(place: Place) -> None:
    engine = place.open()
    engine.scope(user=ANA).remember("Ana likes tea")
    for number in range(5):
        engine.scope(user=BOB).remember(f"Bob has {number} cats and a dog")
    engine.scope(user=ANA).remember("Ana likes stones")

    records = [one.seq for one in place.audit() if (one.memory_id or "").startswith("user:ana")]
    events = [one.seq for one in engine.scope(user=ANA).trace(last=100)]

    assert records == [chain(ANA) * CHAIN + 1, chain(ANA) * CHAIN + 2]
    assert events == list(range(events[0], events[0] + len(events)))


def test_many_writers_of_many_people_leave_chains_without_a_gap(place: Place) -> None:
    engines, failed = [place.open() for _ in range(2)], list[BaseException]()

    def live(engine: Engine, name: str) -> None:
        try:
            mind = engine.scope(user=name, session="s", project="p")
            for number in range(4):
                mind.remember(f"{name} saw {number} birds over the lake")
                mind.hear(f"I counted {number} boats")
            mind.remember(f"{name} deploys on day one", space=Space.PROJECT)
        except BaseException as error:  # noqa: BLE001 whatever it is, it is told below
            failed.append(error)

    threads = [
        threading.Thread(target=live, args=(engine, name))
        for engine in engines
        for name in (ANA, BOB, EVE, "dan")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(4 * WAIT_S)

    assert failed == []
    assert engines[0].verify_audit().findings == ()
    heads = engines[0].database.read(lambda tx: AuditLog(tx).heads())
    assert sum(seq % CHAIN for seq, _, _ in heads.values()) == len(place.audit())


def test_what_people_write_for_a_project_changes_their_lanes_and_the_projects(place: Place) -> None:
    engine = place.open()
    one, other = (engine.scope(user=name, project="p") for name in (ANA, BOB))
    one.remember("The build takes an hour", space=Space.PROJECT)
    other.remember("The tests take two hours", space=Space.PROJECT)

    records = [record for record in place.audit() if (record.memory_id or "").startswith("project:p:")]

    assert {record.seq // CHAIN for record in records} == {LaneOrder(CHAINS).chain("project:p")}
    assert [record.actor for record in records] == ["user:ana", "user:bob"]
    assert engine.verify_audit().findings == ()


def test_what_the_ends_of_the_chains_were_is_sealed_in_the_stores_own(
    place: Place, lamina_home: Path
) -> None:
    """Somebody takes a person away, records, rows, seal and chain; here is no anchor that knew of it."""
    engine = place.open()
    engine.scope(user=ANA).remember("Ana likes tea")
    engine.scope(user=BOB).remember("Bob likes milk")
    engine.seal_ends()
    assert engine.verify_audit().findings == ()
    place.close()
    first = chain(BOB) * CHAIN
    run_sql(
        place,
        f"DELETE FROM audit WHERE seq > {first} AND seq < {first + CHAIN}",
        f"DELETE FROM lane WHERE name IN ('user:bob', 'lanes:{chain(BOB)}')",
        *(f"DELETE FROM {table} WHERE owner = 'bob'" for table in ("memory",)),
        "DELETE FROM history WHERE memory_id LIKE 'user:bob:%'",
        "DELETE FROM event WHERE shelf = 'user:bob'",
        "DELETE FROM phase WHERE shelf = (SELECT number FROM shelf WHERE name = 'user:bob')",
        "DELETE FROM shelf WHERE name = 'user:bob'",
    )
    (anchor,) = (lamina_home / "anchors").iterdir()
    data = bytearray(anchor.read_bytes())
    data[chain(BOB) * 151 : (chain(BOB) + 1) * 151] = bytes(len(data[chain(BOB) * 151 :][:151]))
    anchor.write_bytes(bytes(data))

    findings = place.open().verify_audit().findings

    assert [(one.what, one.seq) for one in findings] == [("removed", first + 1)]


def test_a_store_of_one_chain_goes_on_in_many_where_it_is(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(PostgresDatabase, "most_chains", 0)
        engine = place.open()
        kept = engine.scope(user=ANA).remember("Ana likes tea").ids[0]
        engine.scope(user=BOB).remember("Bob likes milk")
        place.close()
    assert run_sql(place, "SELECT max(seq) FROM audit") == [(2,)]

    engine = place.open()
    engine.scope(user=ANA).revise(kept, "Ana likes coffee")
    gone = engine.scope(user=ANA).remember("Ana has a secret garden in the hills").ids[0]
    engine.scope(user=ANA).purge(gone, now=True)
    place.close()
    engine = place.open()

    assert engine.verify_audit().findings == ()
    assert engine.verify_audit(user=ANA).findings == ()
    assert [one.seq // CHAIN for one in place.audit()][:3] == [0, 0, chain(ANA)]
    assert [one.op for one in engine.scope(user=ANA).history(kept)] == ["ADD", "UPDATE"]


def test_what_was_forged_before_is_found_after(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(PostgresDatabase, "most_chains", 0)
        place.open().scope(user=ANA).remember("Ana likes tea")
        place.close()
        older = run_sql(place, "SELECT encode(body, 'hex') FROM lane WHERE name = 'user:ana'")[0][0]
        place.open().scope(user=ANA).remember("Ana likes milk")
        place.close()
    run_sql(place, f"UPDATE lane SET body = decode('{older}', 'hex') WHERE name = 'user:ana'")

    details = [one.detail for one in place.open().verify_audit().findings]

    assert "the seals of all lanes together are not those that were made last" in details


def test_a_store_keeps_its_chains_in_a_file_and_back_on_a_server(
    place: Place, tmp_path: Path, postgres_database: str
) -> None:
    engine = place.open()
    engine.scope(user=ANA, session="s").remember("Ana likes tea")
    engine.scope(user=BOB).remember("Bob likes milk")
    place.close()
    file = f"sqlite:///{tmp_path}/moved.db"

    assert move(None, {"store": str(place.url), "owner": "ana"}, file, untold).intact
    with lamina.open(file, owner="ana") as inside:
        made = inside.scope(user=BOB).remember("Bob likes rye bread").ids[0]
        inside.scope(user=BOB).purge(made, now=True)
        inside.scope(user="zoe").remember("Zoe is new here")
        assert inside.verify_audit().findings == ()
    assert move(None, {"store": file, "owner": "ana"}, postgres_database, untold).intact
    with lamina.open(postgres_database, owner="ana") as back:
        back.scope(user=ANA, session="t").remember("Ana likes rye bread, too")
        assert back.verify_audit().findings == ()
        assert back.scope(user=BOB).recall("milk").hits
