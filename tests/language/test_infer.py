"""Guesses at what a person wants for good, and how sure they are (CM-6)."""

from __future__ import annotations

import pytest

from lamina.language.infer import EARLIER, infer

CONCISE = ("response.verbosity", "concise")
BULLETS = ("response.format.default", "bullet-summary")


@pytest.mark.parametrize(
    ("text", "guess", "confidence"),
    [
        ("Be concise.", CONCISE, 0.86),
        ("Can you keep it short?", CONCISE, 0.86),
        ("ขอสั้นๆ", CONCISE, 0.86),
        ("ตอบสั้นๆ หน่อยครับ", CONCISE, 0.86),
        ("請簡短回答這個問題", CONCISE, 0.86),
        ("说简单一点", CONCISE, 0.86),
        ("In bullet points, please", BULLETS, 0.78),
        ("สรุปเป็นข้อๆ ให้หน่อย", BULLETS, 0.78),
        ("用條列的方式說明", BULLETS, 0.78),
        ("That's way too long.", CONCISE, 0.7),
        ("ยาวไปครับ", CONCISE, 0.7),
        ("太長了", CONCISE, 0.7),
        ("I usually write in Thai.", ("response.language", "th"), 0.82),
        ("ปกติผมใช้ภาษาไทย", ("response.language", "th"), 0.82),
        ("我通常用繁體中文", ("response.language", "zh-Hant"), 0.82),
        ("I prefer short answers", CONCISE, 0.9),
        ("ผมชอบคำตอบแบบกระชับ", CONCISE, 0.9),
        ("我比较喜欢简短的回答", CONCISE, 0.9),
    ],
)
def test_a_guess_has_a_key_a_value_and_how_sure_it_is(
    text: str, guess: tuple[str, str], confidence: float
) -> None:
    (found,) = infer(text)
    assert ((found.key, found.value), found.confidence) == (guess, confidence)
    assert 0 <= found.span[0] < found.span[1] <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "We met briefly in Oslo.",
        "I don't prefer short answers",
        "He said be brief.",
        "If they are brief, good.",
        '"be concise" is a rule of ours',
        "I usually write code.",
        "I always use Vim",
        "Should I be brief?",
        "เขาบอกว่า ขอสั้นๆ",
        "ผมชอบกาแฟ",
        "ถ้ายาวไปให้บอก",
        "我通常用键盘",
        "他说太长了",
        "這條路很長",
        "",
        "> be brief",
    ],
)
def test_what_says_nothing_of_the_speakers_wishes_gives_no_guess(text: str) -> None:
    assert infer(text) == []


def test_saying_it_again_makes_it_surer_and_the_opposite_less_sure() -> None:
    (once,) = infer("too long, please shorten it")
    (twice,) = infer("too long, please shorten it", ["That's too long."])
    (thrice,) = infer("too long, please shorten it", ["That's too long.", "太长了"])
    assert (once.confidence, twice.confidence, thrice.confidence) == (0.7, 0.85, 0.925)
    assert [once.reason, twice.reason, thrice.reason] == ["too_long_en", "too_long_en+1", "too_long_en+2"]
    (unsure,) = infer("be brief", ["ขอรายละเอียดเพิ่ม"])
    assert unsure.confidence == 0.72
    (never_certain,) = infer("be brief", ["be brief"] * 50)
    assert never_certain.confidence == 0.99
    assert never_certain.reason == f"concise_en+{EARLIER}"


def test_one_guess_a_key_and_the_surest_first() -> None:
    found = infer("Be concise, and use bullet points. I prefer short answers.")
    assert [(guess.key, guess.confidence) for guess in found] == [
        ("response.verbosity", 0.9),
        ("response.format.default", 0.78),
    ]
