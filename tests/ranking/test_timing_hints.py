"""Texts that name no time are told apart by a few letters: whatever a rule of time knows has one of them."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

import pytest

from lamina.ranking.timing import timing, told_of
from lamina.testing import ManualClock

RULES = tomllib.loads((files("lamina.ranking") / "data" / "time.toml").read_text("utf-8"))
NOW = ManualClock().now()


def has_hint(text: str) -> bool:
    return any(hint in text for hint in RULES["hints"]) or re.search(r"\d", text) is not None


@pytest.mark.parametrize("table", ["units", "months", "weekdays"])
def test_every_name_of_a_time_has_a_hint(table: str) -> None:
    names = [one for some in RULES[table].values() for one in some]
    plain = [
        re.sub(r"\(\?:(.*?)\|.*?\)(?!\?)|\(\?:.*?\)\?|.\?", r"\1", one.replace("\\", "")) for one in names
    ]
    assert [one for one in plain if not has_hint(one)] == []


def test_every_pattern_of_a_rule_has_a_name_a_digit_or_a_hint() -> None:
    patterns = [one for rule in RULES["rule"] for one in rule["patterns"]]
    named = ("{u}", "{month}", "{weekday}", r"\d")
    assert [one for one in patterns if not any(name in one for name in named) and not has_hint(one)] == []


SAID = (
    "yesterday, last night, tonight, this morning, day after tomorrow, last weekend, in march, since may, "
    "two weeks ago, last sunday, a month back, เมื่อวานซืน, เมื่อคืน, พรุ่งนี้, มะรืนนี้, เดือนที่แล้ว, สุดสัปดาห์ที่แล้ว, "
    "ในธันวาคม, 昨晚, 今早, 前天, 后天, 上周四, 去年, 三月份, 禮拜五"
)


@pytest.mark.parametrize("text", SAID.split(", "))
def test_a_time_is_seen_in_three_languages(text: str) -> None:
    assert has_hint(text)
    assert timing(text, NOW).period is not None
    assert told_of(text, NOW) is not None
