"""A wish to forget takes what it names or points at, and the answer says what went."""

from __future__ import annotations

import pytest

from lamina.scoped import ScopedMemory
from tests.backends import Place

#: What is known of somebody, and wishes about what they never said: short names beside a word that points.
KNOWN = {
    "en": ("Remember that my dentist is on 12 December", "I play the cello"),
    "th": ("จำไว้ว่า นัดหมอฟันวันที่ 12 ธันวา", "หนูเป็นพยาบาลอยู่เชียงใหม่"),
    "zh": ("记一下牙医是12月12日", "我养了两只猫"),
}
UNKNOWN = [
    ("en", "forget that loan"),
    ("en", "forget this ex"),
    ("en", "drop that visa"),
    ("th", "ลืมเรื่องแฟนเก่าที่เล่าไปเถอะ"),
    ("th", "ลืมเงินกู้อันนั้นไปเลย"),
    ("zh", "把那个前任忘了"),
    ("zh", "刪掉那個房東"),
]
#: Words that only point, each with what was said last.
POINTS = [
    ("en", "forget that", "I play the cello"),
    ("en", "oh please delete that one from your memory", "I play the cello"),
    ("th", "ลบอันนั้นทิ้งเลยค่ะ", "หนูเป็นพยาบาลอยู่เชียงใหม่"),
    ("zh", "删掉这个", "我养了两只猫"),
    ("zh", "刪掉這個", "我养了两只猫"),
]


def _told(place: Place, language: str) -> ScopedMemory:
    ana = place.open().scope(session="one")
    for one in KNOWN[language]:
        ana.hear(one)
    return ana


def _kept(scope: ScopedMemory) -> list[str]:
    return sorted(one.text for one in scope.list(limit=50).items if one.layer != "working")


@pytest.mark.parametrize(("language", "wish"), UNKNOWN)
def test_what_was_never_said_takes_nothing_else_along(language: str, wish: str, place: Place) -> None:
    ana = _told(place, language)
    before = _kept(ana)
    ana.hear(wish)
    assert [one for one in before if one not in _kept(ana)] == []


@pytest.mark.parametrize(("language", "wish", "last"), POINTS)
def test_what_only_points_takes_what_was_said_last_and_names_it(
    language: str, wish: str, last: str, place: Place
) -> None:
    ana = _told(place, language)
    heard = ana.hear(wish)
    assert last not in _kept(ana)
    assert last in heard.acknowledgement


def test_what_is_named_by_its_own_words_is_not_said_again(place: Place) -> None:
    ana = _told(place, "en")
    assert ana.hear("Forget that I play the cello").acknowledgement == "Forgotten."
