"""What holds for any text: commands and guesses are found without raising and in linear time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.language.amend import amended, corrections
from lamina.language.command import Action, Target
from lamina.language.commands import commands
from lamina.language.infer import infer
from lamina.language.rulebook import rulebook
from tests.effort import times

FRAGMENTS = [
    "remember",
    "remember that",
    "that",
    "this",
    "forget",
    "everything",
    "about",
    "my",
    "tone",
    "language",
    "set the",
    "to",
    "change",
    "from now on",
    "answer",
    "in Thai",
    "briefly",
    "please",
    "and",
    "don't",
    "not",
    "but",
    "confirm",
    "reject",
    "memory",
    "response.tone",
    "=",
    "for 8 hours",
    "until 2030-12-31",
    "ttl=2w",
    "for this session",
    "if",
    "he said",
    "?",
    ".",
    ",",
    "\n",
    "\n\n",
    ":",
    "- ",
    '"',
    "“",
    "”",
    "`",
    "```",
    ">",
    "call me",
    "Bo",
    "actually",
    "yes",
    "จำไว้ว่า",
    "จำ",
    "ลืม",
    "ผม",
    "ชอบ",
    "ตอบ",
    "เป็นภาษาไทย",
    "ต่อไป",
    "สั้นๆ",
    "ไม่ใช่",
    "แต่เป็น",
    "ไหม",
    "อย่า",
    "ว่า",
    "ทุกอย่าง",
    "เกี่ยวกับ",
    "记住",
    "忘掉",
    "我",
    "把",
    "语气",
    "改成",
    "用",
    "中文",
    "回答",
    "以后",
    "不要",
    "不是",
    "而是",
    "吗",
    "，",
    "。",
    " ",
    "\u200b",
    "\u0301",
    "เเ",
    "ํา",
    "😀",
]
TALK = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=24)
ANY = st.text(st.characters(codec=None)) | TALK.map("".join) | TALK.map(" ".join)


@given(ANY)
@settings(deadline=None, max_examples=times(25, 300))
def test_no_text_makes_it_raise_and_it_always_says_the_same(text: str) -> None:
    found = commands(text)
    assert found == commands(text)
    assert infer(text) == infer(text)


@given(ANY, ANY)
@settings(deadline=None, max_examples=times(25, 300))
def test_no_text_makes_a_correction_raise_and_what_it_makes_differs(text: str, known: str) -> None:
    book = rulebook()
    for asked in (False, True):
        for one in corrections(text, book, asked=asked):
            made = amended(one, known, book, asked=asked)
            assert made == amended(one, known, book, asked=asked)
            assert made is None or made.text != known


@given(ANY)
@settings(deadline=None, max_examples=times(25, 300))
def test_a_command_says_where_it_stands_and_what_it_is_about(text: str) -> None:
    before = 0
    for command in commands(text):
        start, end = command.span
        assert 0 <= start < end <= len(text)
        assert start >= before or command.target is Target.KEY
        before = start
        assert command.text == command.text.strip()
        assert command.text in text
        assert command.rule
        if command.target is Target.KEY:
            assert command.key
        if command.target in (Target.LATEST, Target.EVERYTHING):
            assert command.text == ""
        if command.action in (Action.SET, Action.REMEMBER) and command.target is not Target.LATEST:
            assert command.value


@given(ANY)
@settings(deadline=None)
def test_guesses_are_between_nothing_and_certainty(text: str) -> None:
    for guess in infer(text, [text]):
        assert 0 < guess.confidence < 1
        assert 0 <= guess.span[0] < guess.span[1] <= len(text)


BREAKS = re.compile(r"[“”\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


@given(ANY)
@settings(deadline=None, max_examples=times(25, 200))
def test_what_is_quoted_or_fenced_gives_no_command_and_no_guess(text: str) -> None:
    quoted = f"“{BREAKS.sub(' ', text)}”"
    fenced = "```\n" + text.replace("`", " ") + "\n```"
    cited = "> " + BREAKS.sub(" ", text)
    for pasted in (quoted, fenced, cited):
        assert commands(pasted) == []
        assert infer(pasted) == []


@given(TALK.map(" ".join), st.integers(0, 200))
@settings(deadline=None, max_examples=times(25, 200))
def test_an_invisible_character_changes_no_command(text: str, at: int) -> None:
    # Inside a word: beside a blank it is a word of its own, and before a mark it parts it from its letter.
    inside = re.compile(r"(?<=[a-z\u0e01-\u0e2e\u4e00-\u9fff])(?=[a-z\u4e00-\u9fff])")
    places = [found.start() for found in inside.finditer(text)]
    if not places:
        return
    place = places[at % len(places)]
    hidden = f"{text[:place]}\u200b{text[place:]}"
    assert [(one.action, one.key, one.target) for one in commands(hidden)] == [
        (one.action, one.key, one.target) for one in commands(text)
    ]


SOME = [
    "remember that ",
    "forget everything about ",
    ", forget that i ",
    "set the tone to ",
    "if ",
    "จำไว้ว่า",
    " ลืมเรื่อง",
    "不是",
    "，记住我",
    "a:\n",
    "“",
]
MORE = [
    "a",
    " ",
    "\n",
    ".",
    ",",
    ":",
    "?",
    "- ",
    "(",
    "[",
    "`",
    "```\n",
    "~~~",
    ">",
    '"',
    "please ",
    "and ",
    "and forget my ",
    "from now on ",
    "answer in ",
    "a=b, ",
    "a=",
    "for 8 hours ",
    "remember ",
    "remember that. ",
    "not a but ",
    "he said ",
    "change the tone from ",
    "don't ",
    "yes ",
    "จำ",
    "ลืม",
    "ผม",
    "ตอบ",
    "ต่อไป",
    "ไม่ใช่",
    "แล้ว",
    "ว่า",
    "อย่าจำ",
    " ครับ",
    "把",
    "把我",
    "忘掉",
    "忘掉关于",
    "以后",
    "用",
    "回答",
    "语气",
    "请",
    "不要",
    "是",
    "的",
    "\u0301",
    "\u200b",
    "i usually write ",
    "be brief ",
    "1. ",
    "x:\n\n",
    "remember:\n- ",
    "not ",
]


@pytest.mark.parametrize("unit", [*SOME, *(pytest.param(unit, marks=pytest.mark.slow) for unit in MORE)])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    # Quadratic time on 100,000 characters is minutes; linear time is a few seconds.
    text = (unit * (100_000 // len(unit) + 1))[:100_000]
    start = time.process_time()
    commands(text)
    infer(text)
    assert time.process_time() - start < 20
