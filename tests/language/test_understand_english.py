"""What English messages are and say; a third of each table must not match."""

from __future__ import annotations

import pytest

from lamina.language.events import event_type, importance
from lamina.language.facts import ALLOWED_KEYS, Fact, profile_fact
from lamina.language.hints import Hint, promotion_hint
from lamina.language.signal import low_signal
from lamina.model import Kind, Role, Space

KINDS = {
    Kind.CORRECTION: [
        "Actually, my name is Ada Lovelace.",
        "Actually the meeting is on Tuesday",
        "I actually like it",
        "Correction: the port is 8080",
        "It's not Bob but Ada",
        "not today but tomorrow",
        "Sorry, I meant Thursday",
        "That's wrong, it's 42",
        "Scratch that, use port 81",
    ],
    Kind.PREFERENCE: [
        "I prefer tea",
        "I   PREFER\u00a0tea",
        "Ｉ ｐｒｅｆｅｒ tea",
        "i like it",
        "I want a dark theme",
        "Never use tabs",
        "I never call before noon",
        "never do that again",
        "I'd rather walk",
        "I always prefer window seats",
        "As I said, I prefer tea",
        "I hate meetings",
        "what I want is tea",
        "Never push to main",
        "Remember this for me: I prefer dark mode",
        "I don't know why, but I like rain",
    ],
    Kind.DECISION: [
        "We decided to use Postgres",
        "The decision is final",
        "decided: go with Rust",
        "choose the second option",
        "Let's use Redis",
        "let’s use Redis",
        "We will use Kafka",
        "We'll use Kafka",
        "Use python 3.11",
        "Please use spaces",
        "1. Use Rust",
        "- use Rust",
        "For dates use ISO 8601",
        "We agreed to deploy on Mondays",
        "We decided not to use Redis",
        "Remember this for the project: use Postgres",
        "Don't forget we decided on Friday",
        'We decided to use "Redis"',
        "If in doubt, use tabs",
    ],
    Kind.FACT: [
        "My name is Ada.",
        "call me Ishmael",
        "my timezone is UTC",
        "timezone is UTC",
        "timezone = UTC",
        "my language is Thai",
        "language preference is English",
        "my project is Lamina",
        "I'm working on Lamina",
        "my editor is vim",
        "Use metric units",
        "use imperial units please",
        "I use metric units",
        "What's your name? My name is Ada.",
        "My name is Ada, can you help me?",
    ],
    Kind.CONTEXT: [
        "I use python",
        "The users use Python",
        "They will use Rust",
        "You should use Rust",
        "I'm used to Python",
        "use cases are listed below",
        "The use of tabs is fine",
        "No use crying",
        "We release weekly.",
        # denied
        "I don't prefer tea",
        "I do not like tea",
        "We haven't decided yet",
        "No decision has been made",
        "We never decided on that",
        "Please do not use emojis",
        "Nobody decided anything",
        "No correction is needed",
        "my name is not Bob",
        "don't use metric units",
        # quoted and reported
        "he said 'I prefer tea'",
        "he said I prefer tea",
        '"I prefer tea"',
        "> I prefer tea",
        "`use metric units`",
        "She told me that we decided to use Go",
        "“Let’s use Redis” is what the sign says",
        "Bob thinks we decided",
        # asked and supposed
        "should we use Redis?",
        "Should we use Redis",
        "Do I like tea",
        "Which one did we choose?",
        "is it actually true?",
        "I prefer tea, right?",
        "Is my name Bob?",
        "If we decided to use X",
        "I wonder if I prefer tea",
        # not yet
        "Time to make a decision",
        "The decision hasn't been made",
        "the docs recommend: use tabs",
        "I have to choose",
        "You can choose any colour",
        "Undecided",
        "Not only tea but also coffee",
        "not sure but it works",
        "error correction is slow",
        "never mind",
        "",
    ],
}

FACTS = {
    "My name is Ada.": ("name", "Ada"),
    "MY NAME IS ADA": ("name", "ADA"),
    "my name's Bob": ("name", "Bob"),
    "My name is “Ada”, dear": ("name", "Ada"),
    "My name is O'Brien": ("name", "O'Brien"),
    "My name is   Jean-Luc   Picard and I like tea": ("name", "Jean-Luc Picard"),
    "Actually, my name is Ada Lovelace.": ("name", "Ada Lovelace"),
    "You can call me Al.": ("name", "Al"),
    'Call me "Ace"!': ("name", "Ace"),
    "Please call me Dr. Smith": ("name", "Dr. Smith"),
    "My name is " + "x" * 100: ("name", "x" * 60),
    "My name is Ada; my timezone is UTC": ("name", "Ada"),
    "my timezone is asia/bangkok": ("timezone", "Asia/Bangkok"),
    "my time zone is america/new_york": ("timezone", "America/New_York"),
    "timezone = UTC+7": ("timezone", "UTC+07:00"),
    "timezone=gmt-3:30": ("timezone", "UTC-03:30"),
    "My timezone is Bangkok": ("timezone", "Asia/Bangkok"),
    "My timezone is somewhere cold": ("timezone", "somewhere cold"),
    "I'm in the Asia/Tokyo timezone": ("timezone", "Asia/Tokyo"),
    "My language is Thai": ("language", "Thai"),
    "language preference is English": ("language", "English"),
    "my project name is Salt & Light; it's new": ("project", "Salt & Light"),
    "My project is called Zephyr": ("project", "Zephyr"),
    "My project is node.js": ("project", "node.js"),
    "I'm currently working on Lamina": ("project", "Lamina"),
    "My editor is vim.": ("editor", "vim"),
    "my editor is Emacs (mostly)": ("editor", "Emacs"),
    "I use VS Code as my editor": ("editor", "VS Code"),
    "Use metric units": ("units", "metric"),
    "we use imperial units": ("units", "imperial"),
    "My name is not Bob": None,
    "My name isn't Bob": None,
    "Don't call me Bob": None,
    "Never call me Bob": None,
    "call me back tomorrow": None,
    "call me when you arrive": None,
    "Her name is Ada": None,
    "What is my name?": None,
    "My name is Ada?": None,
    "He said my name is Bob": None,
    "'my name is Bob'": None,
    "the server's timezone is UTC": None,
    "My timezone is": None,
    "My preferred language is Python": None,
    "I'm working on it": None,
    "I'm working on a bug": None,
    "He is working on Zephyr": None,
    "My project is late": None,
    "My editor is slow": None,
    "Should I use metric units?": None,
    "They use metric units": None,
}

HINTS = {
    "Remember this for me: I prefer tea": (Space.USER, "hint:remember_for_me"),
    "Hey, remember this for me please": (Space.USER, "hint:remember_for_me"),
    "please remember this about me": (Space.USER, "hint:remember_about_me"),
    "Save this for me": (Space.USER, "hint:save_for_me"),
    "Remember this for the project: we ship on Fridays": (Space.PROJECT, "hint:remember_for_project"),
    "remember this for my project": (Space.PROJECT, "hint:remember_for_project"),
    "We use tabs. Remember that for our project.": (Space.PROJECT, "hint:remember_for_project"),
    "Remember for the project that we ship on Fridays": (Space.PROJECT, "hint:remember_for_project"),
    "Add this to project memory: tabs": (Space.PROJECT, "hint:project_memory"),
    "Project memory: we deploy on Fridays": (Space.PROJECT, "hint:project_memory"),
    "Remember this for everyone: We release weekly.": (Space.SYSTEM, "hint:remember_for_everyone"),
    "Remember this for the system": (Space.SYSTEM, "hint:remember_for_system"),
    "Store this in system memory": (Space.SYSTEM, "hint:system_memory"),
    "Can you remember this for me?": None,
    'He said "remember this for me"': None,
    "He told me: remember this for everyone": None,
    "I will remember this for me": None,
    "Don't remember this for me": None,
    "Please don't save this for me": None,
    "Remember to buy milk for me": None,
    "Project memory is full": None,
    "For our project, we need a database": None,
    "This is for everyone": None,
    "Save the file for me": None,
}

SAYS_NOTHING = [
    "ok",
    "okay",
    "thanks",
    "thank you",
    "hello",
    "hi",
    "hey",
    "cool",
    "great",
    "OK, thanks!",
    "Thank you so much",
    "Good morning",
    "haha",
    "LOL",
    "👍",
    "...",
    "",
    " \n",
    "👋🏽 hi!",
    "5555",
]
SAYS_SOMETHING = [
    "hi bob",
    "hello world program fails",
    "great job on the report",
    "thanks for the file",
    "no",
    "1",
    "5",
    "55",
    "ok, use Rust",
    "hiccups",
    "I like it",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in KINDS for text in KINDS[kind]])
def test_the_kind_of_a_message(kind: Kind, text: str) -> None:
    assert event_type(text, Role.USER).kind is kind


@pytest.mark.parametrize(("text", "expected"), FACTS.items())
def test_the_fact_in_a_message(text: str, expected: tuple[str, str] | None) -> None:
    fact = profile_fact(text)
    assert (fact and (fact.key, fact.value)) == expected


@pytest.mark.parametrize(("text", "expected"), HINTS.items())
def test_where_a_message_asks_to_be_kept(text: str, expected: tuple[Space, str] | None) -> None:
    assert promotion_hint(text) == (expected and Hint(*expected))


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_a_message_that_says_nothing(text: str) -> None:
    assert low_signal(text)


@pytest.mark.parametrize("text", SAYS_SOMETHING)
def test_a_message_that_says_something(text: str) -> None:
    assert not low_signal(text)


def test_what_an_agent_says_is_context_whatever_it_says() -> None:
    for tool_events in (False, True):
        found = event_type("We decided to use Redis", Role.AGENT, tool_events=tool_events)
        assert (found.kind, found.rule) == (Kind.CONTEXT, "ai_output")


def test_tool_events_make_an_execution_whatever_the_text() -> None:
    found = event_type("I prefer tea", Role.USER, tool_events=True)
    assert (found.kind, found.rule) == (Kind.EXECUTION, "tool_events")


def test_the_rule_that_decided_is_named() -> None:
    assert event_type("I prefer tea", Role.USER).rule == "prefer_en"
    assert event_type("We release weekly.", Role.USER).rule == "no_rule"
    assert profile_fact("call me Al") == Fact("name", "Al", "call_me_en")


def test_the_allowed_keys_are_those_of_the_data_file() -> None:
    assert ALLOWED_KEYS == ("name", "timezone", "language", "project", "editor", "units")


@pytest.mark.parametrize(
    ("kind", "role", "text", "value", "reasons"),
    [
        (Kind.PREFERENCE, Role.SYSTEM, "tea", 3, ["event:preference"]),
        (Kind.DECISION, Role.USER, "tea", 4, ["event:decision", "source:user"]),
        (Kind.FACT, Role.USER, "always tea", 6, ["event:fact", "source:user", "emphasis"]),
        (
            Kind.CORRECTION,
            Role.USER,
            "MUST",
            7,
            ["event:correction", "source:user", "emphasis", "corrective"],
        ),
        (Kind.CORRECTION, Role.TOOL, "tea", 5, ["event:correction", "corrective"]),
        (Kind.EXECUTION, Role.TOOL, "avoid", 3, ["event:execution", "emphasis"]),
        (Kind.CONTEXT, Role.AGENT, "never!", 2, ["event:context", "emphasis"]),
        (Kind.CONTEXT, Role.AGENT, "mustard, nevertheless, avoidance", 1, ["event:context"]),
        (Kind.FACT, Role.AGENT, "The lift is out of order today", 1, ["event:fact", "passing"]),
        (Kind.FACT, Role.USER, "I'm in Leeds this week", 2, ["event:fact", "source:user", "passing"]),
        (Kind.FACT, Role.AGENT, "คืนนี้ร้านปิดเร็ว", 1, ["event:fact", "passing"]),
        (Kind.FACT, Role.AGENT, "電梯今天壞了", 1, ["event:fact", "passing"]),
        (Kind.FACT, Role.AGENT, "这周末停水", 1, ["event:fact", "passing"]),
        (Kind.FACT, Role.AGENT, "They must never park here today", 5, ["event:fact", "emphasis"]),
        (Kind.DECISION, Role.AGENT, "We ship today", 3, ["event:decision"]),
    ],
)
def test_importance_has_reasons(kind: Kind, role: Role, text: str, value: int, reasons: list[str]) -> None:
    weighed = importance(kind, role, text)
    assert (weighed.value, list(weighed.reasons)) == (value, reasons)


def test_every_kind_has_a_weight() -> None:
    assert all(importance(kind, Role.TOOL, "").value >= 1 for kind in Kind)
