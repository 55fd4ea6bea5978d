"""What holds for any text: understanding never raises, is never slow, and keeps the reference's English."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.language.clauses import listen
from lamina.language.events import event_type, importance
from lamina.language.facts import ALLOWED_KEYS, VALUE_LIMIT, profile_fact
from lamina.language.hints import promotion_hint
from lamina.language.rulebook import rulebook
from lamina.language.signal import low_signal
from lamina.language.view import view_of
from lamina.model import Kind, Role
from lamina.text.normalise import folded
from tests.effort import times

SURROGATES_TOO = st.text(st.characters(codec=None))
FRAGMENTS = [
    "I prefer",
    "not",
    "but",
    "my name is",
    "call me",
    "use",
    "we decided",
    "if",
    "he said",
    "should we",
    "?",
    ".",
    ",",
    "\n",
    '"',
    "'",
    "“",
    "「",
    "`",
    ">",
    ":",
    "remember this for",
    "the project",
    "me",
    "don't",
    "timezone is",
    "UTC+7",
    "ฉัน",
    "ชอบ",
    "ชื่อ",
    "ไม่",
    "ครับ",
    "ไหม",
    "ใช้",
    "ตัดสินใจ",
    "บอกว่า",
    "จำไว้",
    "สำหรับโปรเจกต์",
    "เเ",
    "ํา",
    "我",
    "叫",
    "喜歡",
    "决定",
    "不",
    "是",
    "吗",
    "说",
    "帮我",
    "记住",
    "項目",
    "，",
    "。",
    " ",
    "\u200b",
    "\u0301",
    "Ada",
]
TALK = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=24).map("".join)
SPACED_TALK = st.lists(st.sampled_from(FRAGMENTS), max_size=24).map(" ".join)
ANY = SURROGATES_TOO | TALK | SPACED_TALK


@given(ANY)
@settings(deadline=None)
def test_no_text_makes_it_raise_and_it_always_says_the_same(text: str) -> None:
    found = event_type(text, Role.USER)
    assert found == event_type(text, Role.USER)
    assert 1 <= importance(found.kind, Role.USER, text).value <= 7
    assert low_signal(text) in (True, False)
    hint = promotion_hint(text)
    assert hint is None or hint.reason.startswith("hint:")


@given(ANY)
@settings(deadline=None)
def test_a_fact_has_an_allowed_key_and_a_short_clean_value(text: str) -> None:
    fact = profile_fact(text)
    if fact is None:
        return
    assert fact.key in ALLOWED_KEYS
    assert 0 < len(fact.value) <= VALUE_LIMIT
    assert fact.value == fact.value.strip()
    assert "  " not in fact.value
    assert not set("\n\x00!?;。") & set(fact.value)


@given(TALK | SPACED_TALK)
@settings(deadline=None)
def test_what_is_asserted_is_the_folded_text_with_parts_left_out(text: str) -> None:
    speech = listen(text, rulebook())
    assert len(speech.said) == len(speech.view.text)
    kept = speech.view.text.replace("’", "'")
    assert all(said in (char, "\x00") for said, char in zip(speech.said, kept, strict=True))
    assert speech.view.slice(0, len(kept)) in text


@given(st.lists(st.sampled_from([*FRAGMENTS, "น้ำ", "數據", "ＡＢ", "é", "ﬁ", "๗"]), max_size=20).map("".join))
@settings(deadline=None)
def test_the_view_is_the_folded_text_but_for_blanks(text: str) -> None:
    text = text.replace("\u0301", "")  # a mark may join a letter across pieces only in made-up text
    assert re.sub(r"\s+", "", view_of(text).text) == re.sub(r"\s+", "", folded(text))


@given(ANY)
@settings(deadline=None)
def test_a_text_in_quotation_marks_is_context(text: str) -> None:
    quoted = "“" + re.sub(r"[“”\n\v\f\r\x1c-\x1e\x85\u2028\u2029]", " ", text) + "”"
    assert event_type(quoted, Role.USER).kind is Kind.CONTEXT
    assert promotion_hint(quoted) is None
    assert profile_fact(quoted) is None


# The reference's English, by what is known of it: its phrases, its stops and its quotes.
PHRASES = {
    Kind.CORRECTION: ["actually", "correction", "not tea but"],
    Kind.PREFERENCE: ["i prefer", "i like", "i want", "never do", "never use", "never call"],
    Kind.DECISION: ["we decided", "decision", "decided", "choose", "let's use", "we will use", "use"],
    Kind.FACT: [
        "my name is",
        "call me",
        "my timezone is",
        "timezone is",
        "timezone =",
        "my language is",
        "language preference is",
        "my project is",
        "my project name is",
        "working on",
        "my editor is",
    ],
}
KEYS = {
    "name": "name",
    "call": "name",
    "time": "timezone",
    "lang": "language",
    "proj": "project",
    "work": "project",
    "edit": "editor",
}
#: Words that are in no rule.
WORD = st.from_regex(r"[Zz][xqj][A-Za-z0-9]{1,9}", fullmatch=True)
WORDS = st.lists(WORD, min_size=1, max_size=12).map(" ".join)
ENDS = st.sampled_from(["", ".", "!", ", zx", "; zx", " ."])


@given(st.sampled_from([(kind, it) for kind in PHRASES for it in PHRASES[kind]]), WORDS, ENDS, st.booleans())
@settings(deadline=None, max_examples=times(25, 300))
def test_the_references_phrases_mean_what_they_mean_there(
    rule: tuple[Kind, str], words: str, end: str, shouted: bool
) -> None:
    kind, phrase = rule
    text = f"{phrase} {words}{end}"
    assert event_type(text.upper() if shouted else text, Role.USER).kind is kind
    assert event_type(text, Role.AGENT).kind is Kind.CONTEXT


@given(st.sampled_from(PHRASES[Kind.FACT]), WORDS, ENDS, st.sampled_from(["", '"', "'"]))
@settings(deadline=None, max_examples=times(25, 300))
def test_a_value_is_what_the_reference_takes(phrase: str, words: str, end: str, quote: str) -> None:
    fact = profile_fact(f"{phrase}  {quote}{words}{quote}{end}")
    assert fact is not None
    assert fact.key == KEYS[phrase.removeprefix("my ")[:4]]
    assert fact.value == words[:VALUE_LIMIT].rstrip()


@given(st.sampled_from([phrase for kind in PHRASES for phrase in PHRASES[kind]]), WORDS)
@settings(deadline=None)
def test_the_same_words_asked_or_quoted_are_context(phrase: str, words: str) -> None:
    for text in (f"{phrase} {words}?", f'he said "{phrase} {words}"', f"she told me that {phrase} {words}"):
        assert event_type(text, Role.USER).kind is Kind.CONTEXT


def _all_five(text: str) -> None:
    kind = event_type(text, Role.USER).kind
    importance(kind, Role.USER, text)
    low_signal(text)
    profile_fact(text)
    promotion_hint(text)


SOME = ["a", "“", "'a ", "not ", "if ", "my name is ", ", call me ", "please ", "ไม่ใช่", "ฉันชื่อ ", "，我叫"]
MORE = [
    "不是",
    " ",
    "\n",
    '"',
    "`",
    "```",
    ">",
    "?",
    ". ",
    ",",
    ":",
    "(",
    "- ",
    "i ",
    "i really ",
    "never use ",
    "use ",
    "he said ",
    "don't ",
    "remember this ",
    "timezone is ",
    "i use x ",
    "decision ",
    "a.b",
    "?a",
    "ok",
    "5",
    "ไม่",
    "ฉัน",
    "บอก",
    "บอกว่า",
    "ใช้ ",
    "ไหม ",
    "อะไร",
    "เ",
    "\u0e48",
    "ห้ามใช้",
    "我",
    "说",
    "他说",
    "决定",
    "由",
    "用",
    "把这个",
    "帮我",
    "好",
    "哈",
    "\u0301",
    "\u200b",
]


@pytest.mark.parametrize("unit", [*SOME, *(pytest.param(unit, marks=pytest.mark.slow) for unit in MORE)])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    # Quadratic time on 100,000 characters is a minute and more; linear time is a few seconds for all five.
    text = (unit * (100_000 // len(unit) + 1))[:100_000]
    start = time.process_time()
    _all_five(text)
    assert time.process_time() - start < 10
