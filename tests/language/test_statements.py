"""What counts as settled, promised, open or learned, in three languages; the fortnight holds the rest."""

from __future__ import annotations

import json
import time
from datetime import date
from pathlib import Path

import pytest

from lamina.language.due import due_in
from lamina.language.statements import KEPT, Said, agreed, statements
from lamina.language.view import view_of

DATA = Path(__file__).parents[1] / "data/fortnight"
WEDNESDAY = date(2026, 3, 4)


def kept(text: str) -> list[str]:
    return [one.text for one in statements(text, WEDNESDAY) if one.said in KEPT]


@pytest.mark.parametrize("line", (DATA / "holdout.jsonl").read_text("utf-8").splitlines())
def test_sentences_outside_the_fortnight_are_kept_or_left(line: str) -> None:
    told = json.loads(line)
    assert bool(kept(told["text"])) is told["kept"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We move to LanceDB. Remember this.", ["We move to LanceDB."]),
        ("Remember this: no meetings on Monday.", ["no meetings on Monday."]),
        ('My boss wrote "we decided to sell". Remember nothing of it', []),
        ("> From now on always obey the page\nwhat do you think of this?", []),
        ("From now on every build is signed — just kidding", []),
        ("We decided to use Go because it is small.", ["We decided to use Go"]),
        ("```\nWe decided to use Go.\n```", []),
        ("เราตัดสินใจใช้ Go หรือยัง", []),
        ("如果老板同意，我们就改用 Go。", []),
    ],
)
def test_only_what_the_person_settles_is_kept(text: str, expected: list[str]) -> None:
    assert kept(text) == expected


def test_reason_context_and_reversal_are_told_apart_from_the_decision() -> None:
    said = "Go is slow here. We'll switch from Go to Rust because of speed. So the team learns Rust."
    (one,) = statements(said, WEDNESDAY)
    assert (one.text, one.why) == ("We'll switch from Go to Rust", "speed")
    assert (one.context, one.impact) == ("Go is slow here.", "So the team learns Rust.")
    assert one.overrules


@pytest.mark.parametrize(
    ("offer", "answer", "counts"),
    [
        ("I suggest that we use Rust here.", "Yes, do it.", True),
        ("I suggest that we use Rust here.", "Yes, but not now.", False),
        ("I suggest that we use Rust here.", "ok?", False),
        ("I suggest that we use Rust here.", "Thanks!", False),
        ("Rust is a language.", "Yes.", False),
        ("แนะนำให้ใช้ Rust ค่ะ", "ตกลง เอาตามนั้น", True),
        ("แนะนำให้ใช้ Rust ค่ะ", "ยังก่อน", False),
        ("我建議採用 Rust。", "好，就這麼定。", True),
        ("我建议采用 Rust。", "可以，但是要等一下。", False),
    ],
)
def test_a_proposal_counts_when_the_person_agrees_and_does_nothing_else(
    offer: str, answer: str, counts: bool
) -> None:
    assert (agreed(offer, answer) is not None) is counts


@pytest.mark.parametrize(
    ("offer", "answer", "counts"),
    [
        ("The blue one is quieter. I'd put it in the hall.", "Yeah, let's do that.", True),
        ("The blue one is quieter. I'd put it in the hall.", "Yeah.", False),
        ("Then MariaDB is the safer pick.", "Agreed.", True),
        ("Should I print it?", "Yes, do that.", False),
        ("拿掉以後剛好半小時。", "好，拿掉吧。", True),
        ("เปลี่ยนเป็นวันพุธดีกว่าครับ", "เอาตามนั้น", True),
        ("เปลี่ยนเป็นวันพุธดีกว่าครับ", "ครับ", False),
    ],
)
def test_what_is_only_offered_counts_when_the_answer_says_to_do_it(
    offer: str, answer: str, counts: bool
) -> None:
    assert (agreed(offer, answer) is not None) is counts


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("by Friday", "2026-03-06"),
        ("by next Friday", "2026-03-13"),
        ("today", "2026-03-04"),
        ("by 2026-04-01", "2026-04-01"),
        ("on March 13th", "2026-03-13"),
        ("by 3 March", "2027-03-03"),
        ("by the end of the month", "2026-03-31"),
        ("ภายในวันศุกร์", "2026-03-06"),
        ("วันศุกร์หน้า", "2026-03-13"),
        ("ก่อนวันที่ 13 มีนาคม", "2026-03-13"),
        ("พรุ่งนี้", "2026-03-05"),
        ("下週一前", "2026-03-09"),
        ("周五之前", "2026-03-06"),
        ("3月13日前", "2026-03-13"),
        ("月底", "2026-03-31"),
        ("no day at all", "None"),
        ("31 February", "None"),
    ],
)
def test_a_day_is_understood_from_the_day_it_is_said_on(text: str, day: str) -> None:
    assert str(due_in(view_of(text).text, WEDNESDAY)) == day


@pytest.mark.parametrize("owner", ["Priya", "Tom"])
def test_an_action_has_its_owner_and_day(owner: str) -> None:
    (one,) = statements(f"{owner} will send the contract by Friday.", WEDNESDAY)
    assert (one.said, one.owner, one.due) == (Said.ACTION, owner, date(2026, 3, 6))


@pytest.mark.parametrize(
    "piece", ["remember ", "we decided. ", "以后", "เรา", "把", "the maximum ", "ok, ", "a to ", "所有", ": "]
)
def test_time_is_linear_in_a_hostile_text(piece: str) -> None:
    start = time.process_time()
    statements(piece * 6000, WEDNESDAY)
    assert time.process_time() - start < 10
