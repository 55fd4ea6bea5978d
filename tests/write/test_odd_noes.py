"""Noes that somebody would break with: on nothing, on patterns, by floods of look-alikes, in a big import."""

from __future__ import annotations

import json
from itertools import islice, product
from pathlib import Path

import pytest

from lamina.engine import Engine
from lamina.errors import InvalidInput, LaminaError
from lamina.imports.bring_in import import_files
from lamina.model import Outcome
from tests.backends import Place
from tests.effort import times

_ALIKE = {"a": "aа", "e": "eе", "o": "oο", "c": "cс", "p": "pр", "i": "iі"}
ROWS = times(1_200, 12_000)
REFUSED = 10


@pytest.mark.parametrize("nothing", ["", "   ", "\u200b\u2060", "\n"])
def test_there_is_no_no_to_nothing(engine: Engine, nothing: str) -> None:
    ana = engine.scope()
    for ask in (ana.forget, ana.prove_forgotten):
        with pytest.raises(LaminaError) as error:
            ask(nothing)
        assert error.value.hint
    assert ana.noes() == []


@pytest.mark.parametrize(
    "said",
    [
        "The rule .* matches [a-z]+ in (every|any) line",
        "Discounts of 50% and file_name_%s are fine",
        "Robert'); DROP TABLE refusal; -- is his name",
        r"The path is \1\g<0>{{owner}} on drive ^$",
    ],
)
def test_a_no_to_a_pattern_is_a_no_to_its_letters(engine: Engine, said: str) -> None:
    ana, planner = engine.scope(), engine.scope(agent="planner")
    ana.forget(ana.remember(said).ids[0])
    assert planner.remember(said).code == "refused_stays"
    assert planner.remember(said.upper()).code == "refused_stays"
    for other in ("The kettle in the hall is red", "aaa", "Every line of the poem is long", "Robert swims"):
        assert planner.remember(other).decision is Outcome.ADMITTED, other
    assert len(ana.noes()) == 1


def test_a_flood_of_look_alikes_is_one_no_and_one_line(engine: Engine) -> None:
    """However many spellings an agent tries, none comes in, and the person is told once."""
    said = "My piano teacher is Ciao Pace"
    ana, planner = engine.scope(), engine.scope(agent="planner")
    ana.forget(ana.remember(said).ids[0])
    letters = [_ALIKE.get(letter, letter) for letter in said]
    floods = ["".join(one) for one in islice(product(*letters), 1, times(200, 3_000), 7)]
    receipts = planner.remember_many([{"text": one} for one in floods])
    assert {one.code for one in receipts} == {"refused_stays"}
    (no,) = ana.noes()
    assert (no.tries, no.tried_by) == (len(floods), "agent:planner")
    assert str(ana.review()).count("agent:planner") <= 1
    assert planner.remember(" ".join(floods)[:90_000]).code == "refused_stays"


def _rows(file: Path) -> list[str]:
    texts = [f"Row {number} tells of parcel {number * 7} in hall {number % 13}" for number in range(ROWS)]
    lines = [
        {"role": "user", "content": text, "session_id": f"s{at // 100}", "id": str(at)}
        for at, text in enumerate(texts)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return texts


def test_ten_refused_rows_of_a_big_import_are_counted_and_the_rest_is_whole(
    place: Place, tmp_path: Path
) -> None:
    """Stopped in the middle, it goes on where it was; nothing is there twice, and nothing of what was
    refused."""
    engine = place.open()
    ana, file = engine.scope(), tmp_path / "rows.jsonl"
    texts = _rows(file)
    gone = texts[:: ROWS // REFUSED][:REFUSED]
    for receipt in ana.remember_many([{"text": text} for text in gone]):
        ana.forget(receipt.ids[0])

    def stop(done: int, _: int) -> None:
        raise InvalidInput(f"stopped at {done}", code="stopped", hint="Go on.")

    with pytest.raises(InvalidInput):
        import_files(ana, [file], stop, format="jsonl")
    report = import_files(ana, [file], format="jsonl")
    again = import_files(ana, [file], format="jsonl")
    assert report.new < ROWS - REFUSED  # some came in before it was stopped
    assert (again.new, again.unchanged) == (0, 1)
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ana.list(limit=500, count=False, **({"cursor": cursor} if cursor else {}))
        found, cursor = found + [one.text for one in page.items], page.cursor
    assert sorted(found) == sorted(set(texts) - set(gone))
    assert report.refused["refused_stays"] >= 1
    assert engine.verify_audit().findings == ()


def test_a_no_of_another_process_counts_at_once(place: Place) -> None:
    """What a process keeps in mind of a person's noes is never less than what the store has."""
    here, there = place.open(), place.open()
    planner = here.scope(agent="planner", speaks_for=False)
    said = [f"My sister Maria rents flat {number} in Hanoi" for number in range(4)]
    for text in said:
        person = there.scope()
        person.forget(person.remember(text).ids[0])
        assert planner.remember(text).code == "refused_stays"
        assert planner.remember(f"The kettle number {text[-10:-9]} hums").decision is Outcome.ADMITTED


def test_noes_that_were_undone_or_erased_leave_nothing_in_mind(engine: Engine) -> None:
    """The same numbers are given again then, and to other words."""
    planner = engine.scope(agent="planner", speaks_for=False)
    ana = engine.scope()
    ana.forget(ana.remember("My brother Tomas was in prison in Riga").ids[0])
    assert ana.prove_forgotten("The gate of the farm in Leeds is painted red").forgotten is False
    ana.forget(ana.remember("The gate of the farm in Leeds is painted red").ids[0])
    assert planner.remember("The gate of the farm in Leeds is painted red").code == "refused_stays"
    ana.erase("ana")
    assert planner.remember("The gate of the farm in Leeds is painted red").decision is Outcome.ADMITTED
    for text in ("Uncle Jory collects stamps in Graz", "Aunt Mireille sold the villa in Nice"):
        ana.forget(ana.remember(text).ids[0])
        assert planner.remember(text).code == "refused_stays"
