"""The encoder that reads, as the default: writes do not wait for it, questions do not miss what is new."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import lamina
import lamina.opening
from lamina.doors.doctor import Patient, examine
from lamina.encoders.reading import ReadingEncoder
from lamina.errors import Damaged
from lamina.retrieval.meaning import AT_ONCE
from tests.backends import Place

FACTS = ("I can't eat peanuts.", "I park behind the church.", "ฉันเริ่มงานหกโมงเช้า", "我妹妹住在奥斯陆。")
QUESTIONS = (
    "Which food is dangerous for me?",
    "รถของฉันจอดอยู่ที่ไหน",
    "我几点上班?",
    "Where does my sister live?",
)


def texts(count: int) -> list[dict[str, str]]:
    return [{"text": f"Box number {number} stands in the cellar."} for number in range(count)]


def read(place: Place) -> int:
    """How many vectors of the encoder that reads are in the store, read without the engine."""
    tables = place.tables()
    fresh = sum("lamina-reading" in row for row in tables["vector_fresh"])
    blocks = [row for row in tables["vector_block"] if "lamina-reading" in row]
    return fresh + sum(len(row.split('"')[-2]) // (2 * 257) for row in blocks)


def test_what_was_written_a_moment_ago_is_found_by_its_meaning(place: Place) -> None:
    engine = place.open()
    ana = engine.scope()
    for fact in FACTS:
        ana.remember(fact)
    assert read(place) == 0  # no write waited
    assert engine.status().meaning.missing == len(FACTS)
    assert [ana.recall(question).hits[0].text for question in QUESTIONS] == list(FACTS)
    assert read(place) == 0  # nor does a question write
    ana.revise(ana.recall("peanuts").hits[0].id, "I can eat nuts again, but no shellfish.")
    assert ana.recall("Which food is dangerous for me?").hits[0].text.endswith("no shellfish.")
    place.close()
    assert read(place) == len(FACTS)  # what a question had to read is kept when the store is closed


def test_what_is_written_one_by_one_is_read_from_time_to_time(place: Place) -> None:
    engine = place.open()
    ana = engine.scope()
    for item in texts(AT_ONCE // 2):
        ana.remember(item["text"])
    assert read(place) >= AT_ONCE // 2 - 4  # writes of the store itself count, too
    old = place.open(embedder="static")
    for item in texts(AT_ONCE):
        old.scope().remember(f"Once more: {item['text']}")
    assert old.status().meaning.missing == 0
    assert engine.status().meaning.missing >= AT_ONCE


def test_many_at_once_are_answered_by_the_table_until_they_are_read(place: Place) -> None:
    engine = place.open()
    ana = engine.scope()
    ana.remember_many([{"text": FACTS[1]}, *texts(AT_ONCE)])
    found = engine.status().meaning
    assert (found.missing, found.texts) == (AT_ONCE + 1, AT_ONCE + 1)
    assert str(found.meanwhile).startswith("lamina-static")
    before = ana.recall("Where is my car parked?").hits[0]
    assert before.text == FACTS[1]
    assert read(place) == 0  # a question does not wait for so many
    assert engine.embed_missing(40) == 40
    assert engine.status().meaning.meanwhile is None  # so few are left that a question reads them
    after = ana.recall("Where is my car parked?").hits[0]
    assert after.text == FACTS[1]
    assert after.scores["meaning"] != before.scores["meaning"]
    place.close()
    assert read(place) == AT_ONCE + 1


def test_vectors_of_the_table_and_of_the_model_are_never_compared(place: Place) -> None:
    old = place.open(embedder="static")
    for fact in FACTS:
        old.scope().remember(fact)
    table = old.scope().recall("Which food is dangerous for me?").hits[0].scores["meaning"]
    new = place.open()
    assert new.status().meaning.missing == len(FACTS)
    found = new.scope().recall("Which food is dangerous for me?").hits[0]
    assert found.text == FACTS[0]
    assert found.scores["meaning"] != table
    assert old.scope().recall("Which food is dangerous for me?").hits[0].scores["meaning"] == table


def test_the_order_is_the_same_whether_a_text_was_read_before_or_now(place: Place) -> None:
    engine = place.open()
    ana = engine.scope()
    for fact in FACTS:
        ana.remember(fact)
    now = [(hit.id, hit.scores.get("meaning")) for hit in ana.recall("What must I not eat?").hits]
    assert engine.embed_missing() == len(FACTS)
    assert [(hit.id, hit.scores.get("meaning")) for hit in ana.recall("What must I not eat?").hits] == now
    engine.rebuild()
    assert [(hit.id, hit.scores.get("meaning")) for hit in ana.recall("What must I not eat?").hits] == now


def test_the_doctor_says_which_encoder_answers(workspace: Place, tmp_path: Path) -> None:
    def meaning() -> tuple[str, str]:
        patient = Patient(
            workspace=workspace.folder,
            home=workspace.home,
            open_memory=workspace.open,
            open_scratch=lambda: closing(lamina.open(tmp_path / "scratch")),
        )
        check = next(one for one in examine(patient) if one.name == "meaning")
        return str(check.state), check.detail

    engine = workspace.open()
    ana = engine.scope()
    ana.remember(FACTS[0])
    name = engine.status().meaning.embedder
    beside = f"; {ReadingEncoder().reader_id()} reads the best beside the question"
    assert meaning() == ("ok", f"{name} answers, the next question reads what is new{beside}")
    engine.embed_missing()
    assert meaning() == ("ok", f"{name} answers, every text has its vector{beside}")
    ana.remember_many(texts(AT_ONCE + 1))
    state, said = meaning()
    assert state == "warn"
    assert f"{AT_ONCE + 1} of {AT_ONCE + 2} texts have no vector of {name} yet; lamina-static" in said


def test_without_the_package_words_find_and_status_says_so(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lamina.opening, "find_spec", lambda _: None)
    engine = place.open()
    ana = engine.scope()
    ana.remember(FACTS[0])
    assert ana.recall("peanuts").hits[0].text == FACTS[0]
    assert engine.status().meaning.problem == "Off: the package `lamina-encoder` is not installed."


def test_a_damaged_model_leaves_the_questions_to_the_table(place: Place, tmp_path: Path) -> None:
    engine = place.open()
    ana = engine.scope()
    ana.remember(FACTS[1])
    engine.embedder = ReadingEncoder(tmp_path)
    with pytest.raises(Damaged) as caught:
        engine.embedder.embed(["anything"])
    assert caught.value.code == "encoder_damaged"
    hit = ana.recall("Where is my car parked?").hits[0]
    assert hit.text == FACTS[1]
    assert hit.scores["meaning"] > 0
    found = engine.status().meaning
    assert "cannot be used" in found.problem
    assert str(found.meanwhile).startswith("lamina-static")


def test_importing_and_opening_load_no_model(tmp_path: Path) -> None:
    code = (
        "import sys, lamina\n"
        f"lamina.open({str(tmp_path / 'w')!r}).scope().remember('Ana keeps bees.')\n"
        "from lamina.opening import _loaded_once\n"
        "model = _loaded_once('lamina.encoders.reading', 'ReadingEncoder')._model\n"
        "assert '_model' not in model.__dict__ and 'pieces' not in model.__dict__, model.__dict__\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
