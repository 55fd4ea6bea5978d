"""Whoever sees the wrong thing go, or change, says so in the next turn, and it is as it was."""

from __future__ import annotations

import pytest

from lamina.scoped import ScopedMemory
from tests.backends import Place

#: What was said, the word that took it away or changed it, and the word that brings it back.
BACK = [
    ("I live in Leeds", "forget where I live", "no, keep it"),
    ("I live in Leeds", "forget that I live in Leeds", "undo that"),
    ("I live in Leeds", "I've moved to York", "no wait, put it back"),
    ("我住在成都", "忘掉我住哪儿", "删错了,恢复"),
    ("我住在成都", "忘掉我住哪儿", "别删"),
    ("我間舖喺旺角", "間舖嗰句剔走佢", "唔好剷,放返去"),
    ("ผมอยู่เชียงใหม่", "ลืมเรื่องที่อยู่ผมไปเลย", "อย่าลบ เอากลับมา"),
]


def _kept(scope: ScopedMemory) -> list[str]:
    return sorted(one.text for one in scope.list(limit=50).items if one.layer != "working")


@pytest.mark.parametrize(("said", "gone", "back"), BACK)
def test_what_just_went_comes_back_by_a_word(said: str, gone: str, back: str, place: Place) -> None:
    ana = place.open().scope(session="one")
    ana.hear(said)
    before = _kept(ana)
    ana.hear(gone)
    assert _kept(ana) != before
    heard = ana.hear(back)
    assert _kept(ana) == before
    assert before[0] in heard.acknowledgement


def test_a_later_turn_brings_nothing_back(place: Place) -> None:
    ana = place.open().scope(session="one")
    ana.hear("I live in Leeds")
    ana.hear("forget where I live")
    ana.hear("what goes well with leeks?")
    ana.hear("no, keep it")
    assert _kept(ana) == []


@pytest.mark.parametrize(
    ("said", "gone", "next_said"),
    [
        ("I live in Leeds", "forget where I live", "keep the parking permit under glovebox papers after all"),
        ("我住在成都", "忘掉我住哪儿", "Svelte 的原型就先留著參考"),
    ],
)
def test_what_is_said_of_something_else_brings_nothing_back(
    said: str, gone: str, next_said: str, place: Place
) -> None:
    ana = place.open().scope(session="one")
    for one in (said, gone, next_said):
        ana.hear(one)
    assert said not in _kept(ana)


def test_what_waits_can_be_answered_right_after_something_went(place: Place) -> None:
    ana = place.open().scope(session="one")
    ana.hear("I live in Leeds")
    ana.propose("vim", "editor.name", 0.9)
    ana.hear("forget where I live")
    assert ana.ask_what_waits()
    ana.hear("all of them")
    assert ana.pending() == []
