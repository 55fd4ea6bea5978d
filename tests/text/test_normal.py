"""What text is let in, and which texts count as the same."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from lamina.errors import InvalidInput
from lamina.text.normalise import TEXT_LIMIT, dedup_key, folded, language_of, visible, well_formed


@pytest.mark.parametrize(
    "text",
    [
        "Ana likes tea",
        "line one\nline two\r\n\tindented",
        "ฉันชอบดื่มกาแฟ",
        "我喜歡喝咖啡",
        "我喜欢喝咖啡",
        "שלום \u200fworld\u200e",
        "zero\u200bwidth\u2060joined",
        "👩\u200d💻 ❤\ufe0f 🇹🇭",
        "  padded  ",
    ],
)
def test_text_that_means_something_comes_back_unchanged(text: str) -> None:
    assert well_formed(text) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "text_empty"),
        (" \t\r\n\u3000\u00a0", "text_empty"),
        ("\u200b\u200d\ufeff\u2060", "text_empty"),
        ("\u3164\u2800\ufe0f", "text_empty"),
        ("a\x00b", "text_nul"),
        ("a\ud800b", "text_surrogate"),
        ("a\x1bb", "text_control"),
        ("a\x7fb", "text_control"),
        ("a\x85b", "text_control"),
        ("a" * (TEXT_LIMIT + 1), "text_too_long"),
        (None, "text_type"),
        (b"bytes", "text_type"),
        (42, "text_type"),
    ],
)
def test_each_kind_of_unusable_text_has_its_own_code(text: object, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        well_formed(text)
    assert caught.value.code == code
    assert caught.value.hint


def test_the_message_names_what_is_wrong_and_never_repeats_the_text() -> None:
    with pytest.raises(InvalidInput) as caught:
        well_formed("hunter\x1b2", what="reason")
    assert "reason" in str(caught.value)
    assert "U+001B" in str(caught.value)
    assert "hunter" not in str(caught.value)


def test_the_limit_counts_characters_and_is_the_callers_choice() -> None:
    assert well_formed("ก" * 10, limit=10) == "ก" * 10
    with pytest.raises(InvalidInput):
        well_formed("ก" * 11, limit=10)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ＡＢＣ１２３", "abc123"),
        ("臺灣的資料庫", "台湾的资料库"),
        ("後台", "后台"),
        ("๑๒๓", "123"),
        ("١٢٣", "123"),
        ("soft\u00adware", "software"),
        ("❤\ufe0f", "❤"),
        ("เเม่", "แม่"),
        ("e\u0301", "é"),
    ],
)
def test_spellings_of_the_same_words_fold_together(one: str, other: str) -> None:
    assert folded(one) == folded(other)


def test_every_way_to_type_the_thai_word_for_water_folds_to_one() -> None:
    typed = ["น\u0e49\u0e33", "น\u0e49\u0e4d\u0e32", "น\u0e4d\u0e49\u0e32", "น\u0e33\u0e49"]
    assert {folded(word) for word in typed} == {"น\u0e49\u0e33"}


def test_a_thai_tone_typed_before_its_vowel_folds_to_the_usual_order() -> None:
    assert folded("ท\u0e48\u0e35") == folded("ท\u0e35\u0e48")


def test_the_visible_view_keeps_case() -> None:
    assert visible("HttpServer 資料") == "HttpServer 资料"


def test_no_format_character_of_this_interpreter_survives_folding() -> None:
    formats = [chr(point) for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)) == "Cf"]
    assert folded("a" + "".join(formats) + "b") == "ab"


def test_every_decimal_digit_of_this_interpreter_folds_to_ascii() -> None:
    digits = [chr(point) for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)) == "Nd"]
    assert set(folded("".join(digits))) <= set("0123456789")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("I prefer Dark-Mode!", "preference:i prefer dark mode"),
        ("  foo_bar  ", "preference:foo bar"),
        ("!!!", "preference:"),
        ("", "preference:"),
        ("a\tb\nc 42", "preference:a b c 42"),
    ],
)
def test_an_ascii_key_is_lower_case_letters_and_digits_with_single_blanks(text: str, key: str) -> None:
    assert dedup_key("preference", text) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ฉันชอบกาแฟ", "ฉันชอบชา"),
        ("มา", "ม้า"),
        ("ฉันชอบ!", "ฉันไม่ชอบ!"),
        ("我喜歡咖啡", "我喜歡茶"),
        ("我喜欢咖啡", "我喜欢茶"),
        ("🍕🍕", "🍔🍔"),
    ],
)
def test_different_sentences_in_any_script_have_different_keys(one: str, other: str) -> None:
    assert dedup_key("preference", one) != dedup_key("preference", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ฉันชอบกาแฟ!", "ฉันชอบกาแฟ"),
        ("我喜歡咖啡。", "「我喜歡咖啡」"),
        ("CAFÉ noir", "cafe\u0301  noir"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_case_punctuation_and_invisible_characters_do_not_change_a_key(one: str, other: str) -> None:
    assert dedup_key("fact", one) == dedup_key("fact", other)


def test_a_long_text_has_a_bounded_key_that_still_tells_texts_apart() -> None:
    one, other = "ก" * 5000 + "ข", "ก" * 5000 + "ค"
    assert dedup_key("fact", one) != dedup_key("fact", other)
    assert len(dedup_key("fact", one)) <= len("fact:") + 200
    assert "#" not in dedup_key("fact", "x" * 200)
    assert "#" in dedup_key("fact", "x" * 201)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ana likes tea", "en"),
        ("12:30 → 42", "en"),
        ("", "en"),
        ("Привет, мир", "en"),
        ("今日はいい天気ですね", "en"),
        ("ฉันชอบกาแฟ", "th"),
        ("ใช้ FastAPI กับ PostgreSQL", "th"),
        ("GraphQL方案已放棄", "zh-Hant"),
        ("請用繁體中文回答", "zh-Hant"),
        ("请用简体中文回答", "zh-Hans"),
        ("我用 GraphQL", "zh-Hans"),
        ("你好", "zh-Hans"),
        ("之後", "zh-Hant"),
        ("Please translate the word 你好 into English for me", "en"),
    ],
)
def test_the_language_is_that_of_most_words(text: str, language: str) -> None:
    assert language_of(text) == language
