"""Rules are data: what a person may add, and what they are told when it cannot be used."""

from __future__ import annotations

import re
import tomllib
from collections import Counter

import pytest

from lamina.errors import InvalidInput
from lamina.language.command import Action
from lamina.language.events import event_type, importance
from lamina.language.facts import profile_fact
from lamina.language.hints import promotion_hint
from lamina.language.rulebook import packaged, rulebook
from lamina.language.signal import low_signal
from lamina.model import Kind, Role, Space

FILES = (
    "keys",
    "cues",
    "events",
    "importance",
    "low_signal",
    "facts",
    "hints",
    "commands/settings",
    "commands/qualifiers",
    "commands/en",
    "commands/th",
    "commands/zh",
    "inferences",
)

DISLIKE = """
[[event]]
name = "dislike_en"
language = "en"
kind = "preference"
phrases = ["i (don't|do not) [really] like"]
"""


def test_a_rule_that_somebody_adds_is_in_force() -> None:
    book = rulebook(DISLIKE)
    assert event_type("I don't really like tea", Role.USER).kind is Kind.CONTEXT
    assert event_type("I don't really like tea", Role.USER, book=book).rule == "dislike_en"
    assert event_type("I prefer tea", Role.USER, book=book).rule == "prefer_en"


def test_a_copy_of_a_packaged_file_changes_nothing_and_may_be_edited() -> None:
    copy = packaged("events")
    assert event_type("we use Go", Role.USER, book=rulebook(copy)) == event_type("we use Go", Role.USER)
    edited = copy.replace('phrases = ["actually"]', 'phrases = ["actually", "come to think of it"]')
    assert event_type("Come to think of it, Go", Role.USER, book=rulebook(edited)).rule == "actually_en"


def test_a_rule_of_the_same_name_replaces_the_packaged_one_and_none_switches_it_off() -> None:
    rule = '[[event]]\nname = "prefer_en"\nlanguage = "en"\nkind = "preference"\nphrases = {}\n'
    moved = rulebook(rule.format('["i favour"]'))
    assert event_type("I favour tea", Role.USER, book=moved).rule == "prefer_en"
    assert event_type("I prefer tea", Role.USER, book=moved).kind is Kind.CONTEXT
    assert event_type("I prefer tea", Role.USER, book=rulebook(rule.format("[]"))).kind is Kind.CONTEXT


def test_a_new_key_has_its_own_facts_and_values() -> None:
    book = rulebook("""
keys = ["diet"]
[[fact]]
name = "diet_en"
language = "en"
key = "diet"
phrases = ["my diet is"]
[[value]]
name = "plants"
language = "any"
does = "means"
key = "diet"
means = "vegan"
phrases = ["only plants", "vegan"]
""")
    fact = profile_fact("My diet is only plants.", book=book)
    assert fact is not None
    assert (fact.key, fact.value, fact.rule) == ("diet", "vegan", "diet_en")
    assert profile_fact("My diet is vegan.") is None


def test_every_table_takes_additions() -> None:
    book = rulebook("""
importance = { decision = 5 }
[[emphasis]]
name = "vital"
language = "en"
phrases = ["vital"]
[[low_signal]]
name = "aye"
language = "en"
phrases = ["aye"]
[[cue]]
name = "denies"
language = "en"
does = "negates"
phrases = ["far from it that"]
[[hint]]
name = "mine"
language = "en"
target = "user"
reason = "hint:remember_for_me"
position = "sentence"
phrases = ["mine:"]
[[event]]
name = "rule_en"
language = "en"
kind = "constraint"
position = "clause"
phrases = ["house rule"]
""")
    assert importance(Kind.DECISION, Role.TOOL, "vital", book=book).value == 6
    assert low_signal("aye, ok", book=book)
    assert event_type("far from it that we decided", Role.USER, book=book).kind is Kind.CONTEXT
    assert event_type("House rule: shoes off", Role.USER, book=book).kind is Kind.CONSTRAINT
    hint = promotion_hint("Mine: tea", book=book)
    assert hint is not None
    assert hint.target is Space.USER


def test_parts_and_gaps_in_phrases() -> None:
    book = rulebook("""
parts = { drink = "tea|green tea" }
[[event]]
name = "drinks"
language = "en"
kind = "preference"
phrases = ["@drink@ is … for me"]
""")
    assert event_type("Green tea is the best for me", Role.USER, book=book).rule == "drinks"
    assert event_type("Green tea is, well, bad for me", Role.USER, book=book).kind is Kind.CONTEXT


HEAD = '[[event]]\nname = "mine"\nlanguage = "en"\nkind = "preference"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[event]]\nname = \n", "my.toml is not TOML: .*line 2"),
        (
            f'\n{HEAD}phrases = ["x"]\ncolour = "red"\n',
            "my.toml, line 2, rule `mine`: `colour` is not a field",
        ),
        (f'{HEAD}phrases = ["x"]\n{HEAD}phrases = ["y"]\n', "line 6, rule `mine`: there is another rule"),
        ('[[rule]]\nname = "x"\n', "my.toml, line 1: `rule` is not a table"),
        ('event = "x"\n', "my.toml, line 1: `event` is not written as"),
        ('[[event]]\nlanguage = "en"\nkind = "fact"\nphrases = ["x"]', "line 1: `name` is missing"),
        (HEAD, "rule `mine`: either `phrases` or `pattern`"),
        (f'{HEAD}phrases = ["x"]\npattern = "x"', "rule `mine`: either `phrases` or `pattern`"),
        (f'{HEAD}phrases = "x"', "rule `mine`: `phrases` is not a list"),
        (f"{HEAD}phrases = [1]", "rule `mine`: `phrases` holds something that is not a phrase"),
        (f'{HEAD}phrases = ["x"]\nposition = "end"', "`position` may be anywhere, clause, sentence"),
        (f'{HEAD}phrases = ["x"]\nnegatable = "no"', "rule `mine`: `negatable` is not true or false"),
        (f'{HEAD.replace("preference", "whim")}phrases = ["x"]', "rule `mine`: `kind` may be"),
        ('[[emphasis]]\nname = "x"\nlanguage = "xx"\nphrases = ["x"]', "`language` may be any, en, th, zh"),
        (f'{HEAD}phrases = ["(x"]', r"rule `mine`: `\)` is missing"),
        (f'{HEAD}phrases = ["x]"]', "rule `mine`: `]` closes nothing"),
        (f'{HEAD}phrases = ["@nobody@"]', "rule `mine`: there is no part @nobody@"),
        (f'{HEAD}phrases = ["a@b"]', "rule `mine`: there is a single @"),
        (f'{HEAD}phrases = ["x"]\nunless = ["[x"]', "rule `mine`: `]` is missing"),
        (f'{HEAD}pattern = "(x"', "rule `mine`: `pattern` is not a regular expression"),
        (f'{HEAD}pattern = "x*"', "rule `mine`: it matches a text without a word"),
        ('[[fact]]\nname = "x"\nlanguage = "en"\nkey = "ssn"\nphrases = ["x"]', "`ssn` is not among"),
        ('[[cue]]\nname = "x"\nlanguage = "en"\ndoes = "sings"\nphrases = ["x"]', "`does` may be"),
        ('[[command]]\nname = "x"\nlanguage = "en"\naction = "sing"\nphrases = ["x"]', "`action` may be"),
        ('[[qualifier]]\nname = "x"\nlanguage = "en"\nphrases = ["x {n}"]', r"there is no \{n\} here"),
        (f'{HEAD}phrases = ["x {{value}}"]', r"there is no \{value\} here"),
        (
            '[[value]]\nname = "x"\nlanguage = "en"\ndoes = "means"\nkey = "y"\nphrases = ["x"]',
            "`y` is not among",
        ),
        (
            '[[inference]]\nname = "x"\nlanguage = "en"\nkey = "name"\nconfidence = 1\nphrases = ["x"]',
            "`confidence` is not a number with a decimal point",
        ),
        ("importance = { whim = 3 }", "`whim` is not a kind"),
        ('importance = { fact = "high" }', r"\[importance\] holds something other than int"),
        ("parts = { a = 1 }", r"\[parts\] holds something other than str"),
        ("keys = 5", "`keys` is not a list"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_file_and_place(text: str, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        rulebook(text, "my.toml")
    assert caught.value.code == "rules_invalid"
    assert caught.value.message.startswith("my.toml")
    assert re.search(told, caught.value.message)


def test_packaged_rules_compile_and_none_of_them_matches_nothing() -> None:
    for rule in rulebook().rules:
        assert not rule.regex.search(""), rule.name
        assert rule.exceptions is None or not rule.exceptions.search(""), rule.name


def test_no_name_is_used_twice_in_the_packaged_files() -> None:
    files = [tomllib.loads(packaged(name)) for name in FILES]
    parts = Counter(part for file in files for part in file.get("parts", {}))
    assert [name for name, times in parts.items() if times > 1] == []
    names = Counter((rule.table, rule.name) for rule in rulebook().rules)
    assert [name for name, times in names.items() if times > 1] == []


def test_each_kind_of_rule_speaks_all_three_languages() -> None:
    for table in ("event", "fact", "hint", "low_signal", "emphasis"):
        assert {"en", "th", "zh"} <= {rule.language for rule in rulebook().of(table)}
    for does in ("lead", "negates", "supposes", "reports", "contrasts"):
        assert {"en", "th", "zh"} == {rule.language for rule in rulebook().of("cue", does)}
    for kind in (Kind.CORRECTION, Kind.PREFERENCE, Kind.DECISION):
        languages = {rule.language for rule in rulebook().of("event") if rule["kind"] == kind}
        assert languages == {"en", "th", "zh"}
    for key in rulebook().keys:
        assert {"en", "th", "zh"} == {rule.language for rule in rulebook().of("fact") if rule["key"] == key}
    for action in set(Action) - {Action.NOTE, Action.MISHEARD, Action.RESTORE}:  # heard in other ways
        languages = {rule.language for rule in rulebook().of("command") if rule["action"] == action}
        assert languages == {"en", "th", "zh"}
    for does in (
        "requests",
        "lasts",
        "corrects",
        "agrees",
        "joins",
        "after",
        "turns",
        "exemplifies",
        "this",
        "all",
    ):
        assert {"en", "th", "zh"} == {rule.language for rule in rulebook().of("cue", does)}
    reasons = {(rule["reason"], rule.language) for rule in rulebook().of("hint")}
    assert len(reasons) == 8 * 3


def test_the_book_is_read_once() -> None:
    assert rulebook() is rulebook()
