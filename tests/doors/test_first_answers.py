"""What a newcomer reads after their first commands: their own words, and plain ones of ours."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from lamina.__main__ import doors
from lamina.doors.cli.app import run

Says = Callable[..., tuple[str, str]]


@pytest.fixture
def lamina(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Says:
    """A new workspace of Ana's; what a command prints, and what it notes beside that."""
    monkeypatch.chdir(tmp_path)
    assert run(doors(), ["init", "--owner", "ana"]) == 0
    capsys.readouterr()

    def says(*words: str, code: int = 0) -> tuple[str, str]:
        assert run(doors(), list(words)) == code
        out, err = capsys.readouterr()
        return out, err

    return says


def test_a_note_is_shown_in_its_words_and_not_with_a_key_that_was_made_up(lamina: Says) -> None:
    lamina("hear", "Remember that I am allergic to peanuts.")
    assert lamina("recall", "peanuts")[0].startswith("1. I am allergic to peanuts\n")
    assert "note." not in lamina("list")[0] + lamina("me")[0]
    lamina("remember", "short", "--key", "response.style")
    assert "response.style: short" in lamina("list")[0]


def test_what_became_of_a_message_is_told_in_plain_words(lamina: Says) -> None:
    told = lamina("hear", "Remember that I am allergic to peanuts.")[0]
    assert told.splitlines() == ["Remembered.", "user:ana:profile:1"]
    assert lamina("hear", "I live in Oslo.")[0].splitlines() == [
        "Noted: I live in Oslo.",
        "user:ana:semantic:1",
    ]
    forgotten = lamina("hear", "Forget that I am allergic to peanuts.")[0].splitlines()
    assert forgotten[0] == "Forgotten."
    assert forgotten[1].startswith("user:ana:profile:1")
    told = lamina("hear", "What is the weather like?")[0]
    assert told == "All right. (This is not kept.)\n"
    assert lamina("hear", "วันนี้อากาศร้อนจัง")[0] == "รับทราบ (เรื่องนี้ไม่ได้จดไว้)\n"
    assert lamina("hear", "今天天气真好")[0] == "好的。（这句不记）\n"
    secret = lamina("hear", "my password is hunter2xyz!")[0]
    assert secret.startswith("Not remembered. This looks like a secret, and secrets are not kept.")
    assert lamina("explain", "write_policy_context")[0]


def test_a_question_is_answered_with_what_may_answer_it(lamina: Says) -> None:
    for said in ("I live in Oslo.", "My cat is called Tofu.", "I play the cello.", "I work as a nurse."):
        lamina("hear", said)
    told = lamina("recall", "where do I live?")[0].splitlines()
    assert told[0] == "1. I live in Oslo."
    assert told[-1].endswith(" (weaker, or the same again). --all shows everything.")
    everything = lamina("recall", "where do I live?", "--all")[0]
    assert len(everything.splitlines()) > len(told)
    assert "--all" not in everything
    found = json.loads(lamina("recall", "where do I live?", "--json")[0])["data"]["hits"]
    assert len(found) == everything.count("\n") // 2
    told, note = lamina("recall", "quantum chromodynamics")
    assert note == "Nothing is sure to answer that; this comes nearest.\n"
    assert 1 <= sum(line[0].isdecimal() and line[1] == "." for line in told.splitlines()) <= 3


def test_nothing_that_waits_is_said_in_words(lamina: Says) -> None:
    assert lamina("pending", "ask")[0] == "Nothing waits for you.\n"
    assert lamina("review")[0] == "Nothing waits for you.\n"


def test_a_proof_tells_the_ways_of_each_in_one_line(lamina: Says) -> None:
    lamina("hear", "Remember that I am allergic to peanuts.")
    lamina("forget", "user:ana:profile:1", "--yes")
    told = lamina("prove", "forgotten", "user:ana:profile:1")[0].splitlines()
    assert len(told) <= 10
    assert told[0].startswith("refused  an agent (refused_stays): the same words, shouted, ")
    assert told[-2] == "You said no to it, and that counts."
    assert told[-1].startswith("It stays forgotten: ")


def test_a_difference_names_the_setting_that_changed(lamina: Says) -> None:
    lamina("remember", "short", "--key", "response.style")
    assert "+ response.style: short  user:ana:profile:1" in lamina("difference", "2020-01-01")[0]


def test_a_no_is_answered_in_words(lamina: Says) -> None:
    lamina("--agent", "planner", "remember", "long answers", "--key", "response.style")
    told = lamina("pending", "reject", "response.style")[0]
    assert told.startswith("Rejected. You will not be asked about this again.\n")


@pytest.mark.parametrize(
    ("said", "lead", "allow"),
    [
        ("รหัสผ่านของฉันคือ Hunter2xY!9", "ไม่ได้บันทึก: ดูเหมือนรหัสผ่านหรือข้อมูลลับ", "ถ้าไม่ใช่ข้อมูลลับ"),
        ("我的密碼是 Hunter2xY!9", "沒有記住：看起來像密碼、金鑰", "如果不是密碼或金鑰"),
        ("我的密码是 Hunter2xY!9", "没有记住：看起来像密码、密钥", "如果不是密码或密钥"),
    ],
)
def test_why_a_secret_is_not_kept_is_said_in_one_language(
    lamina: Says, said: str, lead: str, allow: str
) -> None:
    for told in (lamina("hear", said)[0], lamina("remember", said, code=4)[1].removeprefix("Error: ")):
        assert told.startswith(lead)
        assert allow in told
        assert "`lamina policy allow " in told
        assert "secret" not in told


def test_a_refusal_that_the_answer_says_itself_is_not_said_twice(lamina: Says) -> None:
    told, error = lamina("hear", "ลืมทุกอย่าง", code=4)
    assert told.startswith("จะไม่ลบทุกอย่างในคราวเดียว")
    assert error == ""


def test_an_agent_is_told_in_words_whose_value_stays(lamina: Says) -> None:
    lamina("remember", "short", "--key", "response.style")
    error = lamina("--agent", "planner", "remember", "long", "--key", "response.style", code=4)[1]
    assert "What is said by the person counts for more than what is found out by an agent" in error


def test_one_question_about_what_waits_has_the_marks_of_its_language(lamina: Says) -> None:
    lamina("--agent", "planner", "remember", "回答長一點", "--key", "response.format")
    assert "：1. 回答的格式 → 回答長一點。要記住嗎？" in lamina("pending", "ask")[0]


def test_what_init_says_to_try_next_works(lamina: Says) -> None:
    tell, ask, _ = re.findall(r"^  lamina (.*)$", lamina("init")[0], re.M)
    assert lamina(*shlex.split(tell))[0].startswith("Remembered.\n")
    assert lamina(*shlex.split(ask))[0].startswith("1. I drink tea without sugar\n")
