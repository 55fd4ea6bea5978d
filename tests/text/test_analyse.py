"""Which terms a text is found by."""

from __future__ import annotations

import hashlib
import threading

import pytest

from lamina.text.terms import ANALYSER_VERSION, TERM_LIMIT, query_terms, terms


def test_the_analyser_has_a_version_that_an_index_can_record() -> None:
    assert ANALYSER_VERSION == 3


def test_what_the_analyser_makes_of_a_sample_changes_only_with_its_version() -> None:
    sample = (
        "The HttpServer in src/app.py v1.2.3 doesn't like C++ or 1,000 users' ANTHROPIC_API_URL; "
        "GraphQL方案已放棄，改用REST 👩🏽‍💻 🇹🇭 การตั้งค่าเซิร์ฟเวอร์server ๒๕๖๙ 食べる 한국어 हिन्दी café Привет"
    )
    digest = hashlib.sha256("\n".join(terms(sample)).encode()).hexdigest()[:16]
    assert (ANALYSER_VERSION, digest) == (3, "abd41e1306e21933")


def test_words_are_stemmed_and_keep_their_order_and_repeats() -> None:
    assert terms("Cats chase cats running") == ["cat", "chase", "cat", "run"]


def test_a_query_holds_each_term_once() -> None:
    assert query_terms("cats chase a cat") == ["cat", "chase"]


def test_stop_words_stay_in_the_index_and_leave_a_query_that_has_other_words() -> None:
    assert "the" in terms("the cat")
    assert query_terms("what is the name of the cat") == ["name", "cat"]
    assert query_terms("who is the") == ["who", "is", "the"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("foo_bar", ["foo_bar", "foo", "bar"]),
        ("HttpServer", ["httpserver", "http", "server"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("src/app.py", ["src/app.py", "app.py", "src", "app", "py"]),
        ("v1.2.3", ["v1.2.3", "1.2.3", "v1", "1", "2", "3"]),
        ("ANTHROPIC_API_URL", ["anthropic_api_url", "anthrop", "api", "url"]),
        ("gpt4", ["gpt4", "gpt", "4"]),
        ("C++", ["c++", "c"]),
        ("C#", ["c#", "c"]),
        ("1,000,000", ["1000000"]),
        ("2026-11-03", ["2026-11-03", "2026", "11", "03"]),
        ("PDFs", ["pdfs", "pdf"]),
    ],
)
def test_a_name_from_code_is_found_whole_and_by_its_parts(text: str, expected: list[str]) -> None:
    assert terms(text) == expected
    assert terms(f"({text}),") == expected


def test_a_file_is_found_by_its_name_alone() -> None:
    assert set(query_terms("app.py")) <= set(terms("see /home/ana/src/app.py."))


def test_a_version_is_found_with_and_without_its_letter() -> None:
    assert "1.2.3" in terms("released v1.2.3")


def test_a_hash_is_not_cut_into_noise() -> None:
    assert terms("9f86d081884c7d659a2feaa0") == ["9f86d081884c7d659a2feaa0"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user's", ["user"]),
        ("users'", ["user"]),
        ("don't", ["dont"]),
        ("don’t", ["dont"]),
        ("O'Brien", ["obrien", "brien"]),
    ],
)
def test_apostrophes_do_not_hide_a_word(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_chinese_is_indexed_by_pairs_and_single_characters_and_asked_by_pairs() -> None:
    assert terms("数据库") == ["数", "数据", "据", "据库", "库"]
    assert query_terms("数据库") == ["数据", "据库"]
    assert query_terms("库") == ["库"]


def test_a_simplified_question_finds_traditional_text_and_the_other_way_round() -> None:
    assert set(query_terms("数据库")) <= set(terms("我們用這個數據庫"))
    assert set(query_terms("數據庫")) <= set(terms("我们用这个数据库"))


def test_thai_is_indexed_by_pairs_and_triples_with_its_marks_and_asked_by_triples() -> None:
    assert terms("น้ำ") == ["น้", "น้ำ", "้ำ"]
    assert query_terms("กาแฟ") == ["กาแ", "าแฟ"]
    assert query_terms("กา") == ["กา"]
    assert terms("ก ข") == ["ก", "ข"]


def test_a_thai_word_is_found_inside_a_sentence_without_blanks() -> None:
    assert set(query_terms("กาแฟ")) <= set(terms("ฉันชอบดื่มกาแฟร้อนทุกเช้า"))


def test_glued_scripts_part_at_their_border() -> None:
    assert query_terms("GraphQL方案已放棄") == ["graphql", "graph", "ql", "方案", "案已", "已放", "放弃"]
    assert terms("เซิร์ฟเวอร์server")[-1] == "server"


def test_kana_and_hangul_are_cut_like_chinese() -> None:
    assert query_terms("食べる") == ["食べ", "べる"]
    assert query_terms("한국어") == ["한국", "국어"]


def test_words_of_other_alphabets_keep_their_marks() -> None:
    assert terms("हिन्दी Привет café") == ["हिन्दी", "привет", "cafe", "café"]


def test_emoji_are_terms_whatever_their_skin_tone_or_variation() -> None:
    assert terms("👍🏽") == terms("👍") == ["👍"]
    assert terms("❤\ufe0f") == terms("❤")
    assert terms("🇹🇭🇹🇼") == ["🇹🇭", "🇹🇼"]


def test_digits_of_every_script_are_the_same_terms() -> None:
    assert terms("ปี ๒๕๖๙")[-1] == terms("2569")[0] == "2569"


def test_no_term_is_longer_than_the_limit_and_long_ones_stay_apart() -> None:
    one, other = terms("a" * 1000 + "b"), terms("a" * 1000 + "c")
    assert one != other
    assert all(len(term) <= TERM_LIMIT for term in [*one, *other, *terms("x/" * 100 + "y" * 100)])


@pytest.mark.parametrize("text", ["", "   ", "…!?", "()", "\u200b"])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert terms(text) == query_terms(text) == []


def test_threads_get_the_same_terms() -> None:
    text = " ".join(f"walking{n} happily running nations{n}" for n in range(300))
    expected = terms(text)
    seen: list[bool] = []
    threads = [threading.Thread(target=lambda: seen.append(terms(text) == expected)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 8
