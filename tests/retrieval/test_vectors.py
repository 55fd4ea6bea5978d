"""Vectors come and go with their memory, in its transaction, for its owner alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.encoders.port import UNCALIBRATED, Tended
from lamina.engine import Engine
from lamina.errors import Unavailable
from lamina.model import CHAIN
from lamina.retrieval.meaning import Meaning, compare, likeness
from lamina.scoped import ScopedMemory
from lamina.storage import search_index
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.testing import ManualClock
from tests.backends import Place


def alike(mind: ScopedMemory, question: str) -> dict[str, float]:
    """Id to likeness, for every memory on the caller's shelves that has a vector of the encoder that is set,
    or, with the one that ships, of the table that is written in the transaction."""
    engine, names = mind.engine, mind.scope.shelves()
    own = engine.embedder is None or engine.embedder.embedder_id.startswith("lamina-reading")
    encoder = engine.ruleset.encoder if own else engine.embedder

    def work(transaction: Any) -> dict[str, float]:
        shelves = TextIndex(transaction).shelves(names)
        found: dict[str, float] = {}
        for number, scores in likeness(transaction, encoder, question, shelves).likeness.items():
            known = Memories(transaction)
            memories = [one for one in known.load(known.in_order()).values() if one.shelf in names]
            places = {one.id: Memories(transaction).place(one.id) for one in memories}
            found |= {name: float(scores[at[1]]) for name, at in places.items() if at[0] == number}
        return found

    return engine.database.read(work)


def vectors_in(place: Place) -> int:
    """How many vectors of the table there are on disk, read without the engine."""
    tables = place.tables()
    blocks, fresh = (
        [row for row in tables[name] if "lamina-static" in row] for name in ("vector_block", "vector_fresh")
    )
    return sum(len(row.split('"')[-2]) // (2 * 193) for row in blocks) + len(fresh)


def test_a_question_in_another_language_is_nearest_to_its_answer(ana: ScopedMemory) -> None:
    tea = ana.remember("คุณหมอดื่มชาเขียวทุกเช้า").ids[0]
    ana.remember("The printer on the second floor is out of paper.")
    ana.remember("週末去圖書館看書。")
    found = alike(ana, "green tea in the morning")
    assert max(found, key=lambda one: found[one]) == tea


def test_a_vector_appears_changes_and_goes_with_its_memory(place: Place, ana: ScopedMemory) -> None:
    ids = [ana.remember(f"Note number {number} is about gardening.").ids[0] for number in range(40)]
    assert vectors_in(place) == 40
    before = alike(ana, "submarine voyage")
    ana.revise(ids[3], "A submarine voyage.")
    ana.revise(ids[39], "A long submarine voyage.")
    after = alike(ana, "submarine voyage")
    assert after[ids[3]] > 0.9 > 0.5 > before[ids[3]]
    assert vectors_in(place) == 40
    ana.forget(ids[3])
    ana.forget(ids[38])
    assert vectors_in(place) == 38
    assert ids[3] not in alike(ana, "submarine voyage")
    ana.restore(ids[3])
    assert alike(ana, "submarine voyage")[ids[3]] == after[ids[3]]


def test_what_is_rolled_back_leaves_no_vector_and_no_trace_in_memory(
    engine: Engine, ana: ScopedMemory
) -> None:
    first = ana.remember("Ana keeps bees.").ids[0]
    known = alike(ana, "beekeeping")

    class Stop(Exception):
        pass

    def fail(transaction: Any) -> None:
        shelves = TextIndex(transaction).shelves(["user:ana"])
        Memories(transaction).set_slot(first, None)
        transaction.run("drop_vector_blocks", shelf=shelves[0].number)
        transaction.run("drop_fresh_vectors", shelf=shelves[0].number)
        likeness(transaction, engine.ruleset.encoder, "beekeeping", shelves)
        raise Stop

    with pytest.raises(Stop):
        engine.database.write(fail)
    assert alike(ana, "beekeeping") == known


def test_rebuild_makes_the_same_vectors_anew(place: Place, engine: Engine, ana: ScopedMemory) -> None:
    for number in range(70):
        ana.remember(f"Shelf {number} holds books about chemistry and {'tea' * (number % 3)}.")
    ana.forget("user:ana:semantic:5")
    before = alike(ana, "books on chemistry")
    engine.rebuild()
    assert alike(ana, "books on chemistry") == before
    assert len(before) == vectors_in(place) == 69


def test_a_rebuild_that_is_stopped_leaves_every_shelf_with_an_index(
    place: Place, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [engine.scope(user=name) for name in ("ana", "bo", "cy")]
    for one in people:
        one.remember("Chemistry books are on the shelf")
    rebuilt: list[Any] = []

    def stop_at_the_second(*arguments: Any) -> None:
        rebuilt.append(arguments)
        if len(rebuilt) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lamina.write.reindex.learn", stop_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            engine.rebuild()
    assert [len(one.recall("chemistry").hits) for one in people] == [1, 1, 1]
    assert engine.rebuild() == 3
    assert [len(alike(one, "chemistry")) for one in people] == [1, 1, 1]


def test_another_process_sees_what_this_one_wrote(place: Place, ana: ScopedMemory) -> None:
    other = place.open().scope()
    for number in range(35):
        one = ana.remember(f"Apples are delivered on day {number}.").ids[0]
        assert one in alike(other, "delivery of apples")
    place.engines[-1].rebuild()
    ana.forget("user:ana:semantic:1")
    assert alike(other, "delivery of apples") == alike(ana, "delivery of apples")


def test_vectors_of_other_owners_and_tenants_are_not_looked_at(place: Place, ana: ScopedMemory) -> None:
    ana.engine.scope(user="bo").remember("Bo's secret recipe for plum jam.")
    place.open(tenant="other").scope().remember("Plum jam of another house.")
    assert alike(ana, "plum jam") == {}
    mine = ana.remember("Ana makes plum jam.").ids[0]
    assert list(alike(ana, "plum jam")) == [mine]


def test_both_databases_have_the_same_vectors_and_the_same_likeness(
    tmp_path: Path, postgres_store: str
) -> None:
    found = []
    for target in (str(tmp_path / "w"), postgres_store):
        with lamina.open(target, owner="ana", clock=ManualClock()) as engine:
            mind = engine.scope()
            texts = [f"Meeting {number} 會議 ประชุม {number * 7}" for number in range(300)]
            mind.remember_many({"text": text} for text in texts)
            mind.forget("user:ana:semantic:17")
            found.append((alike(mind, "ประชุมครั้งที่ 7"), _blocks(engine)))
    assert found[0] == found[1]


def _blocks(engine: Engine) -> list[tuple[int, bytes]]:
    found = engine.database.read(lambda tx: TextIndex(tx).shelf("user:ana"))
    assert found is not None
    assert engine.ruleset.encoder is not None
    which = {"shelf": found[0], "embedder": engine.ruleset.encoder.embedder_id, "version": -1}
    rows = engine.database.read(lambda tx: tx.all("vector_blocks_since", **which))
    return [(block, bytes(data)) for block, data in rows]


def test_a_comparison_says_what_it_means_in_every_language(engine: Engine) -> None:
    assert engine.embedder is not None
    same, other = compare(engine.embedder, "I drink green tea", ["ฉันดื่มชาเขียว", "打印機沒有紙了"])
    assert same.likeness > other.likeness
    assert (same.verdict, other.verdict) == ("same", "unrelated")


def test_many_memories_come_to_what_as_many_calls_would(place: Place, tmp_path: Path) -> None:
    items: list[dict[str, Any]] = [
        {"text": "Ana likes oolong tea."},
        {"text": "The key is AKIA" + "IOSFODNN7EXAMPLZ"},
        {"text": "Ana likes oolong tea."},
        {"text": "Thai", "key": "response.language"},
        {"text": "ประชุมวันจันทร์", "kind": "decision", "idempotency_key": "k1"},
        {"text": "ประชุมวันจันทร์", "kind": "decision", "idempotency_key": "k1"},
        {"text": "週一開會", "importance": 5, "tags": ["work"]},
    ]
    engine = place.open()
    many = engine.scope().remember_many(iter(items))
    with lamina.open(tmp_path / "single", owner="ana", clock=ManualClock()) as other:
        single = [other.scope().remember(**item) for item in items]
        assert [(one.decision, one.code, one.ids, one.events) for one in many] == [
            (one.decision, one.code, one.ids, one.events) for one in single
        ]
        if place.folder is not None:
            assert place.profile.read_text() == (tmp_path / "single" / "PROFILE.md").read_text()
        if place.variant != "postgres":  # without files nothing is written twice
            assert _audited(engine) == _audited(other)
    assert engine.verify_audit().intact


def _audited(engine: Engine) -> list[tuple[Any, ...]]:
    rows = engine.database.read(lambda tx: tx.all("audit_after", after=0, limit=100))
    return [(row[0] % CHAIN, *row[2:6], row[11]) for row in rows]


def test_an_item_that_cannot_be_used_is_refused_and_the_others_are_stored(
    ana: ScopedMemory,
) -> None:
    wrong: list[Any] = [{"text": " "}, {"txt": "a"}, "text", {"text": "a", "importance": 9}, None]
    receipts = ana.remember_many([{"text": "Tea is fine."}, *wrong, {"text": "Milk is white."}])
    assert [one.decision for one in receipts] == ["admitted", *["denied"] * len(wrong), "admitted"]
    for number, one in enumerate(receipts[1:-1], 1):
        assert one.warnings[0].startswith(f"Item {number}: ")
        assert one.code
        assert not one.ids
    assert {one.text for one in ana.list().items} == {"Tea is fine.", "Milk is white."}


class Letters:
    """An encoder of a program's own: a direction for each first letter; it counts what it is asked."""

    calibration = UNCALIBRATED

    def __init__(self, name: str) -> None:
        self.embedder_id = name
        self.dimension = 8
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return np.stack([np.eye(8, dtype=np.float32)[ord(text[0]) % 8] for text in texts])

    def reach(self, text: str) -> float:
        return float(bool(text))


def test_a_slow_encoder_is_not_waited_for_and_catches_up_later(place: Place) -> None:
    engine = place.open(embedder="none")
    ana, letters = engine.scope(), Letters("letters-1")
    engine.embedder = letters
    ids = [ana.remember(f"{letter} is a letter").ids[0] for letter in "ABCDE"]
    ana.forget(ids[4])
    assert letters.asked == []  # no write waited for it
    assert engine.status().meaning == Meaning(embedder="letters-1", missing=4, texts=4)
    assert alike(ana, "A?") == {}
    assert [engine.embed_missing(3), engine.embed_missing(3), engine.embed_missing(3)] == [3, 1, 0]
    assert letters.asked[-4:] == ["A is a letter", "B is a letter", "C is a letter", "D is a letter"]
    assert engine.status().meaning.missing == 0
    assert ana.recall("letter B").hits[0].id == ids[1]
    assert alike(ana, "C?") == {ids[2]: 1.0, ids[0]: 0.0, ids[1]: 0.0, ids[3]: 0.0}


def test_a_look_for_what_waits_goes_to_what_was_written_and_to_the_others_in_turn(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.retrieval.meaning._SHELVES", 2)
    engine = place.open(embedder="none")
    engine.embedder = letters = Letters("letters-1")
    for person in "ABCDEFGH":
        engine.scope(user=person).remember(f"{person} is a letter")
    place.open(embedder="none").scope(user="H").remember("Here is another process")

    engine.database.read(lambda tx: tx.kept.pop("written"))  # as if another process had written all of it
    rounds = [engine.embed_in_turn() for _ in range(10)]
    assert sum(rounds) == 9
    assert max(rounds) <= 3  # two shelves, one of which has two texts
    assert engine.status().meaning.missing == 0

    letters.asked.clear()
    engine.scope(user="G").remember("Good to know")
    assert engine.embed_in_turn() == 1  # at once, wherever the turn is
    assert letters.asked == ["Good to know"]


def test_another_encoder_makes_its_own_vectors_and_never_meets_the_old_ones(place: Place) -> None:
    engine = place.open(embedder="static")
    ana = engine.scope()
    ids = [ana.remember(f"{letter} is a letter").ids[0] for letter in "ABC"]
    engine.embedder = Letters("letters-2")
    assert alike(ana, "A?") == {}
    assert engine.embed_missing() == 3
    assert alike(ana, "A?")[ids[0]] == 1.0
    ana.forget(ids[0])
    left = {json.loads(row)[3] for row in place.tables()["vector_fresh"]}
    assert left == {1, 2}  # that of the other encoder is gone, too
    assert alike(ana, "A?") == {ids[1]: 0.0, ids[2]: 0.0}


def test_of_a_question_with_several_parts_the_likest_counts_half(place: Place) -> None:
    engine = place.open(embedder="none")
    ana = engine.scope()
    engine.embedder = Letters("letters-1")
    ids = [ana.remember(f"{letter} is a letter").ids[0] for letter in "ABC"]
    engine.embed_missing()
    assert alike(ana, "A, what is it?\nBut what is it?") == {ids[0]: 1.0, ids[1]: 0.5, ids[2]: 0.0}


def test_where_one_encoder_sees_no_difference_the_table_beside_it_does(place: Place) -> None:
    engine = place.open(embedder="static")
    ana = engine.scope()
    engine.embedder = Letters("letters-1")
    texts = ["Apples are delivered on Monday", "A voyage by submarine", "All printers are out of paper"]
    ana.remember_many({"text": text} for text in texts)
    engine.embed_missing()
    hits = ana.recall("An undersea journey").hits
    assert [hit.scores["meaning"] for hit in hits] == [1.0, 1.0, 1.0]
    assert hits[0].text == texts[1]


def test_what_changes_while_an_encoder_works_gets_no_vector_of_its_old_words(place: Place) -> None:
    engine = place.open(embedder="none")
    ana = engine.scope()
    first = ana.remember("A was here").ids[0]

    class Slow(Letters):
        def embed(self, texts: Sequence[str]) -> Any:
            if texts[0].startswith("A was"):
                ana.revise(first, "B is here")
            return super().embed(texts)

    engine.embedder = Slow("slow")
    assert [engine.embed_missing(), engine.embed_missing()] == [0, 1]
    assert alike(ana, "B?") == {first: 1.0}


class Broken(Letters):
    def embed(self, texts: Sequence[str]) -> Any:  # noqa: ARG002
        raise Unavailable("The encoder does not answer.", code="encoder_failed")


def test_a_failing_encoder_costs_neither_a_write_nor_an_answer(place: Place) -> None:
    engine = place.open()
    engine.embedder = Broken("broken")
    object.__setattr__(engine.ruleset, "encoder", engine.embedder)
    ana = engine.scope()
    one = ana.remember("Ana keeps bees.").ids[0]
    assert [hit.id for hit in ana.recall("bees").hits] == [one]
    assert engine.embed_missing() == 0
    assert engine.status().meaning.missing == 1


def test_documents_wait_for_their_vectors_like_memories(workspace: Place) -> None:
    engine = workspace.open(embedder="none")
    assert workspace.folder is not None
    assert engine.library is not None
    (workspace.folder / "MEMORY.md").write_text("# Tea\n\nWe drink oolong.\n")
    engine.library.index(engine.now())
    engine.embedder = letters = Letters("letters")
    assert engine.embed_missing() == engine.status().meaning.missing + len(letters.asked) > 0
    assert "oolong" in letters.asked[-1]


def test_an_encoder_that_failed_rests_and_is_then_asked_again() -> None:
    now = [100.0]
    tended = Tended(Broken("b"), Letters("b"), lambda: now[0])
    codes = []
    for later in (0.0, 1.0, 30.0):
        now[0] += later
        with pytest.raises(Unavailable) as caught:
            tended.embed(["a"])
        codes.append(caught.value.code)
    assert codes == ["encoder_failed", "encoder_resting", "encoder_failed"]
    assert len(tended.patient.embed(["a"])) == 1


def test_of_sessions_that_are_over_no_earlier_vectors_are_kept(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that has seen many of them would else grow by three copies of each."""
    monkeypatch.setattr(search_index, "FRESH", 1)
    for number in range(12):
        mind = engine.scope(user="ana", session=f"s{number}")
        for turn in range(4):
            mind.hear(f"On day {number} I read {turn} pages about boats and bees.")
            mind.recall("boats and bees")
    kept = engine.database.kept["vectors"]
    assert len(kept) > 12
    assert max(map(len, kept.values())) > 1
    assert {len(states) for states in list(kept.values())[:-8]} == {1}
