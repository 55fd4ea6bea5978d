"""Acknowledgements in the user's language at the verbosity in force (CM-7)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import get_args

import pytest

from lamina import errors
from lamina.language.acknowledge import (
    acknowledge,
    acknowledgement,
    language_for,
    messages,
    refusal,
    value_in_words,
)
from lamina.language.command import Action
from lamina.language.commands import commands
from lamina.language.rulebook import rulebook
from lamina.text.normalise import Language, language_of
from lamina.write import request
from tests.docs.test_errors_reference import modules, name_of, texts

#: By which one memory stands against another (lamina.policy/reconcile.py).
RULES = ("authority", "correction", "recency", "importance")

LANGUAGES: tuple[Language, ...] = get_args(Language)
DETAILS: dict[str, str | int] = {
    "key": "response.tone",
    "name": "the tone of answers",
    "value": "formal",
    "count": 3,
    "until": "2026-02-01",
    "scope": "PROFILE.md",
    "old": "casual",
    "options": '"we meet on Monday", "the gym is on Monday"',
    "lead": "",
}
#: Where the verbs are that a command comes to, and what they ask of a text, an entry and a file.
VERBS = re.compile(
    r".*/lamina/(?:hear/(?:obey|correct|forgetting)|write/(?:details|commit|request|guesses|entry_files|merge|verbs)"
    r"|layers/user_model|policy/gates|text/(?:entry_line|entries|normalise|ttl)|workspace/\w+)\.py"
)
CODE = re.compile(r"[a-z_]{3,40}")
ERRORS = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
#: What is said otherwise: that it could not be written, and what is wrong before anything is heard.
ELSEWHERE = {"Unavailable", "ConfigError", "Unauthenticated"}
SECRET = "hunter2-not-a-real-one"


def test_every_message_has_every_language_and_no_verbosity_that_nobody_asks_for() -> None:
    for name, languages in messages().items():
        assert set(languages) == set(LANGUAGES), name
        levels = {language: set(texts) for language, texts in languages.items()}
        assert all(texts == levels["en"] for texts in levels.values()), name
        assert "normal" in levels["en"] <= {"concise", "normal", "detailed"}, name


def test_every_language_fills_in_the_same_gaps() -> None:
    for name, languages in messages().items():
        gaps = [
            {level: sorted(re.findall(r"\{(\w+)\}", text)) for level, text in texts.items()}
            for texts in languages.values()
        ]
        assert all(each == gaps[0] for each in gaps), name
        assert {gap for found in gaps[0].values() for gap in found} <= set(DETAILS), name


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("verbosity", ["concise", "normal", "detailed"])
def test_a_message_is_in_its_language_and_leaves_no_gap(language: Language, verbosity: str) -> None:
    for name in messages():
        for details in (DETAILS, {}, {"key": "response.tone"}):
            said = acknowledge(name, language, verbosity, **details)
            assert said.strip()
            assert not re.search(r"[{}\[\]]", said)
            if not details and len(said) > 6:
                assert language_of(said) == language, said


def test_a_word_more_at_each_verbosity() -> None:
    levels = ("concise", "normal", "detailed")
    names = ("remembered", "superseded", "forgotten", "pending", "confirmed", "refused_secret")
    for name in names:
        for language in LANGUAGES:
            lengths = [len(acknowledge(name, language, level, **DETAILS)) for level in levels]
            assert lengths == sorted(set(lengths)), (name, language)
    assert acknowledge("remembered", "en", "chatty") == acknowledge("remembered", "en")


def test_a_refusal_repeats_nothing() -> None:
    for name in messages():
        if name.startswith(("refused", "write_failed", "withheld", "not_found")):
            for language in LANGUAGES:
                for verbosity in ("concise", "normal", "detailed"):
                    said = acknowledge(name, language, verbosity, **dict.fromkeys(DETAILS, SECRET))
                    assert SECRET not in said


def codes_of_commands() -> Iterator[tuple[str, str]]:
    """Every code that stands in these modules, and the name of what it is given to."""
    for path, module in modules().items():
        for call in ast.walk(module) if VERBS.fullmatch(path) else ():
            if not isinstance(call, ast.Call):
                continue
            name = name_of(call.func)
            given = [word.value for word in call.keywords if word.arg == "code"]
            if name in ("Deny", "done") or name.startswith("deny_"):
                given += call.args
            yield from ((name, code) for value in given for code in texts(value) if CODE.fullmatch(code))


def test_every_code_that_a_command_can_end_with_has_words_in_every_language() -> None:
    found = {one for one in codes_of_commands() if one[0] not in ELSEWHERE}
    assert {"key_invalid", "several_meant", "privacy_deny_sensitive", "confirmation_needed"} <= {
        code for _, code in found
    }
    refused = {code for name, code in found if name in ERRORS or name.startswith("Deny")} | {*request._WHY}
    refused |= {"several_meant", "correction_unclear", *(f"conflict_{rule}" for rule in RULES)}
    assert [code for code in sorted(refused) if refusal(code) == "refused"] == []
    # By what was done, or not by a command.
    otherwise = {"allowed", "same", "expired", "corroborated", *refused}
    done = {code for name, code in found if name in ("Receipt", "done")}
    assert done <= {*messages(), *otherwise}
    for code in refused:
        for language in LANGUAGES:
            for act in Action:
                assert len(acknowledge(refusal(code), language, act=act)) > 8, (code, language)


def test_a_setting_is_named_as_a_person_names_it_and_a_key_that_somebody_gave_as_they_gave_it() -> None:
    said = {one: acknowledge("remembered", one, key="response.language") for one in LANGUAGES}
    assert said["en"] == "Remembered: the language of answers."
    assert said["th"] == "จำไว้แล้ว ภาษาของคำตอบ"
    assert said["zh-Hant"] == "記住了：回答的語言。"
    assert said["zh-Hans"] == "记住了：回答的语言。"
    assert (
        acknowledge("remembered", "en", key="response.format.default") == "Remembered: the form of answers."
    )
    assert acknowledge("remembered", "en", key="user.diet") == "Remembered: user.diet."
    assert acknowledgement("remembered", "short", "response.style") == "Remembered: response.style."


def test_a_setting_is_said_back_with_what_it_was_set_to_in_words() -> None:
    said = {
        one: acknowledge("remembered", one, key="response.language", value="zh-Hant") for one in LANGUAGES
    }
    assert said["en"] == "Remembered: the language of answers is now Traditional Chinese."
    assert said["th"] == "จำไว้แล้ว ภาษาของคำตอบ: ภาษาจีนตัวเต็ม"
    assert said["zh-Hant"] == "記住了：回答的語言設為「繁體中文」。"
    assert said["zh-Hans"] == "记住了：回答的语言设为“繁体中文”。"
    own = {"key": "user.code", "value": "zh-Hant"}
    assert acknowledge("remembered", "en", **own) == "Remembered: user.code is now zh-Hant."


def test_every_value_that_a_setting_of_answers_knows_has_words() -> None:
    rules = [one for one in rulebook().of("value", "means") if one["key"].startswith("response.")]
    known = [(rule["key"], rule["means"]) for rule in rules]
    assert len(known) > 40
    for key, value in known:
        for language in LANGUAGES:
            said = value_in_words(key, value, language)
            assert "-" not in said
            assert said != value or language == "en", (key, value)


def test_a_refusal_says_what_was_not_done() -> None:
    assert acknowledge("refused_policy", "en", act="forget").startswith("Not forgotten: ")
    assert acknowledge("refused_policy", "th", act="correct").startswith("ไม่มีอะไรเปลี่ยนแปลง: ")
    assert acknowledge("refused_policy", "zh-Hans", act="remember").startswith("没有记住：")
    assert acknowledge("refused_policy", "zh-Hant", act="reject").startswith("沒有取消：")


def test_a_code_has_its_group() -> None:
    assert refusal("privacy_deny_sensitive") == "refused_secret"
    assert refusal("ttl_invalid") == "refused_lifetime"
    assert refusal("something_new") == "refused"
    assert refusal("something_invalid") == "refused_form"
    for code in ("privacy_deny_sensitive", "trust_deny_key", "key_invalid", "something_new"):
        assert refusal(code) in messages()


def test_the_language_is_the_one_set_or_the_one_spoken() -> None:
    assert language_for(None, "จำไว้ว่าผมชอบชา") == "th"
    assert language_for("en", "จำไว้ว่าผมชอบชา") == "en"
    assert language_for("zh", "記住我喜歡茶") == "zh-Hant"
    assert language_for("zh", "remember") == "zh-Hans"
    assert language_for("ja", "remember") == "en"


def test_what_a_message_tells_to_say_is_understood() -> None:
    """The words in quotation marks in the longest form of `pending` are commands."""
    for language in LANGUAGES:
        said = acknowledge("pending", language, "detailed", key="response.tone", value="formal")
        quoted = re.findall(r"[\"“「]([^\"”」]+)[\"”」]", said)
        found = [command for text in quoted for command in commands(text)]
        assert [(command.action, command.key) for command in found] == [
            ("confirm", "response.tone"),
            ("reject", "response.tone"),
        ]


def test_a_long_value_is_not_repeated() -> None:
    assert "x" * 81 not in acknowledge("confirmed", "en", key="a.b", value="x" * 81)


def test_a_text_without_a_key_is_not_repeated() -> None:
    for language in LANGUAGES:
        for verbosity in ("concise", "normal", "detailed"):
            assert "I like tea" not in acknowledge("remembered", language, verbosity, value="I like tea")


def test_the_answer_to_a_text_is_in_its_language() -> None:
    assert acknowledgement("remembered", "I like tea", "name") == "Remembered: name."
    assert acknowledgement("forgotten", "ผมชอบชา", "2026-02-01") == "ลบออกจากความจำแล้ว กู้คืนได้จนถึง 2026-02-01"
    assert acknowledgement("denied", "我喜歡茶") == "沒有記住。"
