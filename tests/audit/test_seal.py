"""The whole story is under the seal: a store from before, one person's check, and a proof that travels."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw
import psycopg
import pytest

import lamina.opening
from lamina import NotFound
from lamina.audit.chain import Sealer
from lamina.engine import Engine
from lamina.lifecycle.erase import erase
from lamina.model import AuditRecord
from lamina.storage.database import Transaction
from lamina.storage.logs import AuditLog
from lamina.write.seals import check_proof
from tests.backends import Place, a_place

UNDERSTANDING = False


@pytest.fixture(params=("sqlite", "postgres"))
def place(request: pytest.FixtureRequest, tmp_path: Path, lamina_home: Path) -> Iterator[Place]:
    """An empty memory on each database in turn."""
    yield from a_place(request, tmp_path, lamina_home, request.param)


def sql(place: Place, statement: str) -> None:
    """Around the engine, without a key."""
    if place.url is not None:
        with psycopg.connect(place.url, options="-c search_path=lamina") as server:
            server.execute(statement.encode())
        return
    connection = apsw.Connection(str(place.databases()[0]))
    connection.execute(statement)
    connection.close()


class Before(Sealer):
    """Seals as it was done before the whole story was under the seal."""

    def _hash(self, record: AuditRecord, *, before: bool = False) -> str:  # noqa: ARG002 as it was
        return super()._hash(record, before=True)


def store_from_before(place: Place) -> None:
    """A memory with a past, as an earlier version left it."""
    with patch.object(lamina.opening, "Sealer", Before):
        engine = place.open()
        engine.database.sealing = None
        live(engine)
        place.close()
    sql(place, "DELETE FROM lane")


def live(engine: Engine) -> None:
    ana = engine.scope()
    one = ana.remember("Ana likes tea").ids[0]
    ana.revise(one, "Ana likes white tea")
    ana.remember("Ana likes white tea with milk")
    ana.forget(ana.remember("Ana is called Annie").ids[0])
    engine.scope(user="bob").remember("Bob likes rum")


def details(engine: Engine, **narrowed: Any) -> list[str]:
    return [one.detail for one in engine.verify_audit(**narrowed).findings]


@pytest.mark.parametrize("size", [1, 32, 64, 65, 128, 129, 500])
def test_what_the_key_makes_of_a_row_is_the_hmac_of_the_library(size: int) -> None:
    key = bytes(number % 251 for number in range(size))
    sealer, row = Sealer(key), '["memory","t",1]'
    made = hmac.digest(hmac.digest(key, b"subkey\0row", "sha256"), row.encode(), "sha512")
    assert sealer.element(row) == (int.from_bytes(made[:32], "big"), made[32:48].hex())
    assert sealer.mark(row) == hmac.digest(key, b"mark\0" + row.encode(), "sha256").hex()


def test_a_store_from_before_opens_and_says_from_where_on_it_is_sealed(place: Place) -> None:
    store_from_before(place)
    before = len(place.open().scope().history("user:ana:semantic:1"))

    engine = place.engines[-1]
    report = engine.verify_audit()

    assert before == 2
    assert report.findings == ()
    assert [(note.what, "cannot be known" in note.detail) for note in report.notes] == [
        ("story_sealed", True)
    ]
    assert engine.verify_audit(user="ana").findings == ()
    place.close()
    assert [one.op for one in place.open().database.read(_acts)] == ["story_sealed"]  # once
    sql(place, "UPDATE memory SET authority = 'system_imposed' WHERE id = 'user:ana:semantic:1'")
    assert details(place.engines[-1]) == ["user:ana:semantic:1 is not as it was sealed"]


def _acts(transaction: Transaction) -> list[AuditRecord]:
    return [one for one in AuditLog(transaction).after(0) if one.op.startswith("story_")]


def test_wiping_the_seals_is_a_finding_and_no_new_beginning(place: Place) -> None:
    live(place.open())
    place.close()
    sql(place, "DELETE FROM lane")
    sql(place, "UPDATE memory SET authority = 'system_imposed', seal = ''")

    engine = place.open()
    engine.scope().remember("Ana likes water")

    assert engine.verify_audit().findings
    assert engine.verify_audit(user="ana").findings
    assert engine.verify_audit().notes == ()


def test_an_owner_may_accept_what_was_found_and_every_report_says_so(place: Place) -> None:
    live(place.open())
    sql(place, "UPDATE history SET actor = 'user:eve' WHERE memory_id = 'user:ana:semantic:1'")
    assert len(details(place.engines[-1])) == 2
    place.close()

    report = place.open(adopt="seal").verify_audit()

    assert report.findings == ()
    assert [note.what for note in report.notes] == ["story_resealed"]
    place.engines[-1].scope().remember("Ana likes water")
    assert place.engines[-1].verify_audit().findings == ()


def test_one_persons_check_reads_that_persons_rows_and_finds_what_is_wrong_there_only(place: Place) -> None:
    engine = place.open()
    live(engine)
    engine.scope(session="s1").remember("for the session", space="session")
    looked: list[int] = []
    with patch("lamina.write.seals._OFTEN", 1):
        engine.progress = looked.append
        everybody = (engine.verify_audit().records, max(looked))
        looked.clear()
        bobs = (engine.verify_audit(user="bob").records, max(looked))
    assert bobs[0] == 1
    assert bobs[1] < everybody[1] / 4

    sql(place, "UPDATE history SET actor = 'user:eve' WHERE memory_id = 'user:ana:semantic:1' AND number = 1")

    assert details(engine, user="ana") == ["step 1 of user:ana:semantic:1 is not as it was sealed"]
    assert details(engine, user="bob") == []
    assert details(engine, user="nobody") == []


def test_a_person_who_was_erased_leaves_a_store_that_is_whole(place: Place) -> None:
    engine = place.open()
    live(engine)
    engine.scope(user="bob").remember("Bob likes tea")
    erase(engine.scope(role="admin"), "bob")

    assert engine.verify_audit().findings == ()
    assert engine.verify_audit(user="bob").findings == ()


def test_a_proof_holds_elsewhere_with_the_key_and_falls_with_any_change(place: Place) -> None:
    engine = place.open()
    live(engine)
    sealer, one = engine.ruleset.sealer, "user:ana:semantic:1"

    proof = json.loads(json.dumps(engine.scope().export_proof(one)))

    assert check_proof(proof, sealer) == []
    assert [step["new_text"] for step in proof["steps"]] == ["Ana likes tea", "Ana likes white tea"]
    assert check_proof(proof, Sealer(b"k" * 32))
    for path, value in (
        (("memory", 0, "text"), "Ana hates tea"),
        (("steps", 0, "actor"), "user:eve"),
        (("steps", 1, "new_text"), "Ana hates tea"),
        (("records", 0, "at"), "2020-01-01T00:00:00Z"),
        (("chain", "records"), 1),
    ):
        forged = json.loads(json.dumps(proof))
        inner = forged
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value
        assert check_proof(forged, sealer), path
        del forged["mark"]  # a mark that one may have found a way around: the seals inside speak too
        told = [line for line in check_proof(forged, sealer) if line != "it is not as it was made"]
        assert told or path[0] == "chain", path


def test_a_purged_memory_has_a_proof_of_its_end_and_one_that_never_was_has_none(place: Place) -> None:
    engine = place.open()
    live(engine)
    ana, one = engine.scope(), "user:ana:semantic:1"
    ana.purge(one, now=True)

    proof = ana.export_proof(one)

    assert (proof["memory"], proof["steps"]) == ([], [])
    assert proof["records"][-1]["op"] == "purge_receipt"
    assert check_proof(proof, engine.ruleset.sealer) == []
    with pytest.raises(NotFound):
        ana.export_proof("user:ana:semantic:99")
