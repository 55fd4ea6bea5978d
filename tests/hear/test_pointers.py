"""A request that only points ("keep this one", "like this every time") means what was said before it."""

from __future__ import annotations

import pytest

from lamina.scoped import ScopedMemory
from tests.backends import Place

#: What was said, the request, and what of the former is kept.
KEPT = [
    ("the wifi at the chalet is slow on Sundays", "keep that in mind", "chalet"),
    ("The silage man is Padraig Foley now", "hang on to that for me would you", "Padraig"),
    ("กุญแจคลังอยู่ช่องเจ็ด หมวดสองเป็นคนเบิก", "อันนี้จดไว้", "ช่องเจ็ด"),
    ("倉庫鑰匙在第七格", "這個記一下", "第七格"),
]
#: A way to answer, and what asks for it from now on.
THUS = [
    ("ตอบเป็นข้อๆ", "ทำอย่างนี้ทุกทีนะ", "ข้อ"),
]
#: What points where nothing was said that could be meant.
POINTS = ["ต่อไปนี้ทำอย่างนี้ทุกทีนะ", "Always like that", "以后都这样"]


def _kept(scope: ScopedMemory) -> list[str]:
    return [one.text for one in scope.list(limit=50).items if one.space == "user"]


@pytest.mark.parametrize(("said", "request_", "wanted"), [*KEPT, *THUS])
def test_what_was_said_before_is_kept(said: str, request_: str, wanted: str, place: Place) -> None:
    ana = place.open().scope(session="one")
    ana.hear(said)
    ana.hear(request_)
    assert any(wanted in one for one in _kept(ana))
    assert request_ not in _kept(ana)


def test_a_task_before_it_is_not_kept(place: Place) -> None:
    ana = place.open().scope(session="one")
    ana.hear("write me a poem about the harbour")
    ana.hear("keep this one")
    assert _kept(ana) == []


@pytest.mark.parametrize("said", POINTS)
def test_a_pointer_is_never_a_value(said: str, place: Place) -> None:
    ana = place.open().scope(session="one")
    ana.hear(said)
    assert _kept(ana) == []


def test_what_is_named_beside_a_pointer_is_kept(place: Place) -> None:
    ana = place.open().scope(session="one")
    ana.hear("My allotment plot is number 44. Keep this one.")
    ana.hear("这个你存一下吧，前台的分机是6127")
    assert any("plot" in one for one in _kept(ana))
    assert any("6127" in one for one in _kept(ana))
