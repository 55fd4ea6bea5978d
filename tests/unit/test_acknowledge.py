"""Acknowledgements in the user's language at the verbosity in force (CM-7)."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from lamina.language.acknowledge import acknowledge, acknowledgement, language_for, messages, refusal
from lamina.language.commands import commands
from lamina.text.normalise import Language, language_of

LANGUAGES: tuple[Language, ...] = get_args(Language)
DETAILS: dict[str, str | int] = {
    "key": "response.tone",
    "value": "formal",
    "count": 3,
    "until": "2026-02-01",
    "scope": "PROFILE.md",
}
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
    names = ("remembered", "superseded", "forgotten", "pending", "confirmed", "shadowed", "refused_secret")
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


def test_a_code_has_its_group() -> None:
    assert refusal("privacy_deny_sensitive") == "refused_secret"
    assert refusal("ttl_invalid") == "refused_lifetime"
    assert refusal("something_new") == "refused"
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
    assert acknowledgement("forgotten", "ผมชอบชา", "2026-02-01") == "ลืมแล้ว กู้คืนได้จนถึง 2026-02-01"
    assert acknowledgement("denied", "我喜歡茶") == "沒有記錄。"
