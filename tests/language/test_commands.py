"""What people say to their memory, in three languages, and what each of it comes to (CM-5)."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lamina.language.command import Action, Command, Target
from lamina.language.commands import commands
from lamina.language.rulebook import rulebook
from lamina.model import Kind, Space
from lamina.text.normalise import canonical_key, note_key
from lamina.text.ttl import parse_ttl

TABLE = [
    json.loads(line)
    for line in Path(__file__).parents[1].joinpath("data", "utterances.jsonl").read_text("utf-8").splitlines()
]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def only(text: str) -> Command:
    (command,) = commands(text)
    return command


@pytest.mark.parametrize("row", [pytest.param(row, id=row["say"]) for row in TABLE])
def test_an_utterance_comes_to_its_commands(row: dict[str, Any]) -> None:
    found = commands(row["say"])
    pairs = zip(found, row["expect"], strict=False)
    told = [{name: str(getattr(one, name)) for name in want} for one, want in pairs]
    assert (len(found), told) == (len(row["expect"]), row["expect"])
    for command in found:
        start, end = command.span
        assert 0 <= start < end <= len(row["say"])
        if command.lifetime:
            parse_ttl(command.lifetime, NOW)
        if command.key:
            assert canonical_key(command.key) == command.key


def test_the_table_is_what_it_should_be() -> None:
    languages = Counter(row["language"][:2] for row in TABLE)
    assert all(languages[language] >= 60 for language in ("en", "th", "zh"))
    assert {"zh-Hant", "zh-Hans"} <= {row["language"] for row in TABLE}
    assert sum(not row["expect"] for row in TABLE) >= len(TABLE) / 3
    assert len({row["say"] for row in TABLE}) == len(TABLE)


@pytest.mark.parametrize("text", ["milestone: ship v1", "lifestyle: active", "programming language: python"])
def test_a_word_inside_another_sets_nothing(text: str) -> None:
    """Fault 2 of the first implementation."""
    assert commands(text) == []


def test_a_lifetime_is_not_part_of_the_value() -> None:
    """Fault 3 of the first implementation."""
    command = only("remember response.tone = concise for 8h")
    assert (command.key, command.value, command.lifetime) == ("response.tone", "concise", "8h")


@pytest.mark.parametrize(
    "text", ["จำไว้ว่า a=1\nจำไว้ว่า b=2", "remember a=1 and remember that b=2", "记住 a=1，记住 b=2"]
)
def test_every_command_of_a_message_counts(text: str) -> None:
    """Fault 4 of the first implementation."""
    assert [(command.key, command.value) for command in commands(text)] == [("a", "1"), ("b", "2")]


def test_a_lifetime_that_nobody_can_keep_is_handed_on_to_be_refused() -> None:
    """Fault 6 of the first implementation: an unknown lifetime was taken for none."""
    assert only("remember a.b = c ttl=banana").lifetime == "banana"
    assert only("remember a.b = c for 0 hours").lifetime == "0h"


@pytest.mark.parametrize(
    ("text", "lifetime"),
    [
        ("for the next hour", "1h"),
        ("for 90 seconds", "90s"),
        ("for 30 minutes", "30m"),
        ("for 8 hours", "8h"),
        ("for two days", "2d"),
        ("for a couple of weeks", "2w"),
        ("for three months", "90d"),
        ("for half an hour", "30m"),
        ("until 2030-12-31", "2030-12-31"),
        ("until 2030-12-31T10:00", "2030-12-31t10:00"),
        ("for this session", "session_end"),
        ("until the session ends", "session_end"),
        ("forever", "none"),
        ("ttl=2w", "2w"),
        ("(ttl: 30m)", "30m"),
    ],
)
def test_how_long_may_be_said_in_many_ways(text: str, lifetime: str) -> None:
    command = only(f"Remember deploy.day = Friday {text}")
    assert (command.value, command.lifetime) == ("Friday", lifetime)
    parse_ttl(lifetime, NOW)
    assert only(f"Remember that the lift is broken, {text}.").lifetime == lifetime


@pytest.mark.parametrize(
    "text",
    [
        "Remember that the standup lasts for 15 minutes",
        "remember that I worked there for two years",
        "จำไว้ว่าใช้เวลาเดินทางเป็นเวลา 2 ชั่วโมง",
        "จำไว้ว่าประชุม 30 นาที",
        "记住会议要开30分钟",
    ],
)
def test_a_duration_that_is_part_of_the_text_stays_there(text: str) -> None:
    command = only(text)
    assert command.lifetime is None
    assert text.endswith(command.text)


@pytest.mark.parametrize(
    ("text", "space"),
    [
        ("Remember for this project: tabs", Space.PROJECT),
        ("Remember this for everyone: we close at six", Space.SYSTEM),
        ("Remember that I like tea, only for this session", Space.SESSION),
        ("Remember that I like tea", None),
        ("จำไว้สำหรับโปรเจกต์นี้ว่าใช้แท็บ", Space.PROJECT),
        ("จำไว้ว่าผมชอบชา เฉพาะรอบนี้", Space.SESSION),
        ("記住我喜歡茶，只在這次對話", Space.SESSION),
        ("记住在这个项目里用制表符", Space.PROJECT),
    ],
)
def test_how_far_it_should_reach(text: str, space: Space | None) -> None:
    assert only(text).space is space


@pytest.mark.parametrize(
    ("asked", "denied"),
    [
        ("Remember that I like tea", "Don't remember that I like tea"),
        ("จำว่าผมชอบชา", "อย่าจำว่าผมชอบชา"),
        ("จำไว้ว่าผมชอบชา", "ไม่ต้องจำว่าผมชอบชา"),
        ("记住我喜欢茶", "不要记住我喜欢茶"),
        ("記住我喜歡茶", "別記住我喜歡茶"),
    ],
)
def test_what_is_not_to_be_remembered_is_not(asked: str, denied: str) -> None:
    assert only(asked).action is Action.REMEMBER
    assert only(denied).action is Action.WITHHOLD
    assert only(denied).text == only(asked).text


def test_a_free_text_has_the_same_key_however_it_is_typed() -> None:
    assert note_key("I like tea") == only("remember that i LIKE  tea!").key == note_key("Ｉ like\u200b tea")
    assert note_key("我喜歡茶") == note_key("我喜欢茶。")
    assert note_key("ผมชอบน้ำชา") == note_key("ผมชอบนํ้าชา")
    assert note_key("I like tea") != note_key("I like coffee")
    assert re.fullmatch(r"note\.[0-9a-f]{12}", note_key("ผมชอบชา"))


@pytest.mark.parametrize(
    "text",
    [
        "ｒｅｍｅｍｂｅｒ ｔｈａｔ I like tea",
        "re\u200bmember th\u00adat I like tea",
        "REMEMBER THAT I like tea",
    ],
)
def test_wide_and_invisible_characters_change_nothing(text: str) -> None:
    assert only(text).text == "I like tea"
    assert text[slice(*only(text).span)] == text


def test_a_value_is_kept_as_it_was_typed_unless_it_is_a_settings() -> None:
    assert only("remember home.city = Paris, France now").value == "Paris, France now"
    assert only("remember response.language = Traditional Chinese").value == "zh-Hant"
    assert only("remember response.tone = like my aunt").value == "like my aunt"
    assert [one.key for one in commands("remember tone = formal, language = Thai")] == [
        "response.tone",
        "response.language",
    ]


def test_a_word_with_a_hyphen_may_be_a_key_and_one_with_a_dot_is() -> None:
    assert (only("forget x-ray").target, only("forget x-ray").key) == (Target.TEXT, "x-ray")
    assert (only("forget my.key").target, only("forget my.key").text) == (Target.KEY, "my.key")
    assert only("remember node.js").action is Action.REMEMBER
    assert only("yes, remember response.tone").action is Action.CONFIRM


def test_a_fact_about_the_speaker_has_its_key() -> None:
    facts = {"remember that my name is Bo": "Bo", "จำไว้ว่าผมชื่อโบ": "โบ", "記住我叫小波": "小波"}
    for text, value in facts.items():
        command = only(text)
        assert (command.key, command.value, command.kind) == ("name", value, Kind.FACT)
    assert only("remember that my name is Bo and I hate mondays").target is Target.TEXT


@pytest.mark.parametrize(
    "pasted",
    [
        "```\n{}\n```",
        "~~~\n{}\n~~~",
        "```\n{}",
        "> {}",
        "`{}`",
        "“{}”",
        "「{}」",
        '"{}"',
        "Bob: {}",
        "He said: {}",
        "Translate this:\n{}",
        "Here is the mail:\n\n{}",
        "She wrote, {}",
        "If you want, say {}",
        "For example, {}",
        "Do they say {}?",
        "| {} |",
        "# {}",
        "//{}",
        "$ {}",
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        "remember that I like tea",
        "forget everything",
        "จำไว้ว่าผมชอบชา",
        "ลืมทุกอย่าง",
        "记住我喜欢茶",
        "忘掉一切",
    ],
)
def test_what_somebody_pastes_or_quotes_gives_no_command(pasted: str, command: str) -> None:
    assert len(commands(command)) == 1
    assert commands(pasted.format(command)) == []


def test_a_message_may_mix_what_is_pasted_with_what_is_meant() -> None:
    text = "Here is the log:\nremember that x\nforget everything\n\nRemember that the build is red."
    assert only(text).text == "the build is red"
    assert text[slice(*only(text).span)] == "Remember that the build is red"


def test_a_person_may_add_rules() -> None:
    book = rulebook("""
[[command]]
name = "engrave_en"
language = "en"
action = "remember"
takes = "text"
phrases = ["engrave in stone [that]"]
[[setting]]
name = "accent"
language = "any"
key = "voice.accent"
phrases = ["[my|your] accent"]
[[value]]
name = "scottish"
language = "any"
does = "means"
key = "voice.accent"
means = "en-scotland"
phrases = ["scottish", "from glasgow"]
[[qualifier]]
name = "sprint_en"
language = "en"
ttl = "2w"
phrases = ["for this sprint"]
""")
    (engraved,) = commands("Engrave in stone that we ship on Monday, for this sprint.", book=book)
    assert (engraved.text, engraved.lifetime, engraved.rule) == ("we ship on Monday", "2w", "engrave_en")
    (accent,) = commands("Set your accent to Scottish", book=book)
    assert (accent.key, accent.value) == ("voice.accent", "en-scotland")
    assert commands("Engrave in stone that we ship on Monday") == []
