"""What holds for any text whatever: nothing raises, nothing is slow, whatever is asked for is indexed."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.errors import InvalidInput
from lamina.language.secrets.privacy import find_secrets, redacted
from lamina.text.normalise import dedup_key, folded, language_of, well_formed
from lamina.text.terms import TERM_LIMIT, query_terms, terms
from lamina.text.tokens import count_tokens

SURROGATES_TOO = st.text(st.characters(codec=None))
THAI_WORDS = st.sampled_from(
    ["กาแฟ", "น้ำ", "ที่", "ฉัน", "ชอบ", "เซิร์ฟเวอร์", "ฐานข้อมูล", "ไม่", "การตั้งค่า", "เดือน", "กี่", "เรา"]
)
HAN_WORDS = st.sampled_from(
    ["数据库", "數據庫", "咖啡", "我", "喜歡", "喜欢", "服务器", "伺服器", "設定", "放棄", "后台", "後台"]
)
LATIN_WORDS = st.sampled_from(
    ["Running", "foo_bar", "src/app.py", "HttpServer", "v1.2.3", "O'Brien", "C++", "1,000", "out-of-date"]
)
NAMES = ["my", "password", "token", "PIN", "is", ":", "=", "รหัสผ่าน", "คือ", "密码", "是", "://u:", "@"]
SECRET_TALK = st.lists(st.sampled_from([*NAMES, "hunter2", "123456"]) | st.text(max_size=5), max_size=20).map(
    " ".join
)


@given(SURROGATES_TOO)
@settings(deadline=None)
def test_no_text_makes_the_analyser_raise_and_it_always_says_the_same(text: str) -> None:
    assert terms(text) == terms(text)
    assert all(0 < len(term) <= TERM_LIMIT for term in terms(text))
    assert len(set(query_terms(text))) == len(query_terms(text))


@given(SURROGATES_TOO)
@settings(deadline=None)
def test_no_text_makes_the_views_raise(text: str) -> None:
    assert isinstance(folded(text), str)
    assert dedup_key("fact", text).startswith("fact:")
    assert len(dedup_key("fact", text)) <= len("fact:") + 200
    assert language_of(text) in ("en", "th", "zh-Hans", "zh-Hant")


@given(st.text(st.characters(codec="ascii"), max_size=200))
@settings(deadline=None)
def test_an_ascii_key_is_what_the_plain_rule_says(text: str) -> None:
    plain = "".join(char if char.isalnum() else " " for char in text.lower())
    assert dedup_key("fact", text) == "fact:" + " ".join(plain.split())


@given(SURROGATES_TOO)
@settings(deadline=None)
def test_a_well_formed_text_is_returned_as_it_is_and_can_be_written(text: str) -> None:
    try:
        kept = well_formed(text)
    except InvalidInput:
        return
    assert kept == text
    assert text.encode()
    assert text.strip()


@given(SURROGATES_TOO | SECRET_TALK)
@settings(deadline=None)
def test_no_text_makes_the_secret_scan_raise_and_findings_lie_inside_the_text(text: str) -> None:
    end = 0
    for hit in find_secrets(text):
        assert 0 <= hit.start < hit.end <= len(text)
        assert hit.end > end
        end = hit.end
    assert redacted(text) == text or find_secrets(text)


@given(st.text(), st.text())
@settings(deadline=None)
def test_tokens_never_shrink_as_a_text_grows(head: str, tail: str) -> None:
    assert count_tokens(head) <= count_tokens(head + tail) <= count_tokens(head) + count_tokens(tail)


@given(st.lists(THAI_WORDS), THAI_WORDS, st.lists(THAI_WORDS))
@settings(deadline=None)
def test_a_thai_word_is_found_anywhere_in_a_run(before: list[str], word: str, after: list[str]) -> None:
    assert set(query_terms(word)) <= set(terms("".join([*before, word, *after])))


@given(st.lists(HAN_WORDS), HAN_WORDS, st.lists(HAN_WORDS))
@settings(deadline=None)
def test_a_chinese_word_is_found_anywhere_in_a_run(before: list[str], word: str, after: list[str]) -> None:
    assert set(query_terms(word)) <= set(terms("".join([*before, word, *after])))


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1), st.data())
@settings(deadline=None)
def test_any_stretch_of_a_chinese_run_is_found(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert set(query_terms(run[start:end])) <= set(terms(run))


@given(st.lists(LATIN_WORDS), LATIN_WORDS, st.lists(LATIN_WORDS), st.sampled_from([" ", ", ", "\n", "; "]))
@settings(deadline=None)
def test_a_name_is_found_between_others(before: list[str], word: str, after: list[str], gap: str) -> None:
    assert set(query_terms(word)) <= set(terms(gap.join([*before, word, *after])))


HOSTILE = {
    "one word": "a" * 100_000,
    "camel case": "aB" * 50_000,
    "letters and digits": "a1" * 50_000,
    "marks in the wrong order": "a" + "\u0301\u0316" * 50_000,
    "thai tones": "\u0e48" * 100_000,
    "thai vowels and tones": "ก" + "\u0e38\u0e48" * 50_000,
    "thai letters": "ก" * 100_000,
    "chinese": "水" * 100_000,
    "dots": "a" + "." * 99_999,
    "dotted": "a." * 50_000,
    "apostrophes": "a'" * 50_000,
    "thousands": "1" + ",000" * 25_000,
    "emoji": "👍🏽" * 50_000,
    "invisible": "\u200b" * 100_000,
    "blanks": "password" + " " * 100_000,
    "names without a value": "password " * 11_000,
    "names with a word": "my password is a " * 6_000,
    "thai names": "รหัสผ่าน" * 12_500,
    "chinese names": "密码" * 50_000,
    "token heads": "ey" * 50_000 + "eyJ" * 30_000,
    "key heads": "sk-" * 33_000,
    "pem heads": ("-----BEGIN " + "PRIVATE KEY-----") * 3_700,
    "addresses": "ab://x:" * 14_000,
    "at signs": "ab://x:" + "@" * 99_000,
    "digits": "1" * 100_000,
    "headers": "authorization: bearer " * 4_500,
    "changes": "change my password to " * 4_500,
}


@pytest.mark.parametrize("act", [terms, query_terms, folded, redacted, count_tokens, language_of])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(act: Callable[[str], object], name: str) -> None:
    # Quadratic time on 100,000 characters is ten seconds and more; linear time is under half a second.
    start = time.process_time()
    act(HOSTILE[name])
    dedup_key("fact", HOSTILE[name])
    assert time.process_time() - start < 8
