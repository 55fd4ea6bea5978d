"""Policies as text, what may be promoted, and what changed between two phases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lamina.errors import ConfigError
from lamina.model import Authority, Kind, Layer, Memory, Provenance, Role, Space, Trust
from lamina.policy.gates import may_promote
from lamina.policy.loading import PRESETS, load_policy, preset, preset_text
from lamina.policy.phases import MemoryThen, compared
from lamina.policy.rules import Retention, RetentionMode, WritePolicy

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MEMORY = Memory(
    id="session:ana,s1:semantic:1",
    space=Space.SESSION,
    owner="ana,s1",
    layer=Layer.SEMANTIC,
    kind=Kind.FACT,
    text="We release weekly",
    authority=Authority.USER_ASSERTED,
    created_at=NOW,
    updated_at=NOW,
    provenance=Provenance(actor="user:ana", role=Role.USER, via="cli"),
)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_loads_and_its_text_gives_the_same_policy(name: str) -> None:
    again = load_policy(preset_text(name), f"{name}.toml")
    assert replace(again, name=name) == preset(name)


def test_a_policy_says_only_how_it_differs_from_the_one_it_extends() -> None:
    policy = load_policy('extends = "normal"\n[retention.semantic]\nfact = "ttl 7"\n', "mine.toml")

    assert policy.write_policy is WritePolicy.NORMAL
    fact = policy.retention_of(Space.SESSION, "semantic", Kind.FACT)
    assert fact == Retention(RetentionMode.TTL, 7)
    assert fact.expires_tick(10) == 17
    assert policy.retention_of(Space.SESSION, "semantic", Kind.DECISION).expires_tick(10) == 51
    assert policy.retention_of(Space.USER, "semantic", Kind.FACT).expires_tick(10) is None


def test_yaml_and_toml_say_the_same() -> None:
    toml = load_policy('extends = "minimal"\nshort_term_turns = 5\n', "p.toml")
    yaml = load_policy("extends: minimal\nshort_term_turns: 5\n", "p.yaml")
    assert replace(yaml, name="p.toml") == toml


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("p.toml", 'write_policy = "normal"\nwrite_polcy = "none"\n', 2),
        ("p.toml", '\nwrite_policy = "loud"\n', 2),
        ("p.toml", '[retention.semantic]\nfact = "soon"\n', 2),
        ("p.toml", '[retention.dreams]\nfact = "never"\n', 1),
        ("p.toml", '[spaces]\nwrite_spaces = ["moon"]\n', 2),
        ("p.toml", "short_term_turns = 0\n", 1),
        ("p.toml", 'authority_order = ["user_asserted"]\n', 1),
        ("p.toml", 'extends = "loose"\n', 1),
        ("p.toml", "[privacy]\ndeny_patterns = [1]\n", 2),
        ("p.toml", "write_policy = \n", 1),
        ("p.yaml", "phase:\n  enabled: maybe\n", 2),
        ("p.yaml", "write_policy: [none\n", 2),
        ("p.yaml", "- a\n- list\n", 1),
    ],
)
def test_what_is_wrong_with_a_policy_is_named_with_its_line(name: str, text: str, line: int) -> None:
    with pytest.raises(ConfigError) as error:
        load_policy(text, name)
    assert error.value.code == "policy_invalid"
    assert name in error.value.message
    assert f"line {line}" in error.value.message


def test_a_policy_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(ConfigError) as error:
        preset("loud")
    assert error.value.code == "policy_unknown"
    assert "strict-privacy" in error.value.hint


@pytest.mark.parametrize(
    ("change", "target", "code"),
    [
        ({}, Space.USER, "allowed"),
        ({}, Space.PROJECT, "promotion_authority"),
        ({"kind": Kind.DECISION}, Space.PROJECT, "allowed"),
        ({"kind": Kind.CONTEXT}, Space.USER, "promotion_event_type"),
        ({"layer": Layer.WORKING}, Space.USER, "promotion_event_type"),
        ({"authority": Authority.AI_INFERRED}, Space.USER, "promotion_authority"),
        ({}, Space.SYSTEM, "promotion_disallowed"),
    ],
)
def test_a_memory_moves_to_a_wider_space_only_by_a_path(
    change: dict[str, object], target: Space, code: str
) -> None:
    assert may_promote(replace(MEMORY, **change), target, preset("normal")).code == code  # type: ignore[arg-type]


def test_untrusted_text_is_never_promoted() -> None:
    page = replace(MEMORY, provenance=replace(MEMORY.provenance, trust=Trust.UNTRUSTED))
    assert may_promote(page, Space.USER, preset("normal")).code == "promotion_untrusted"


def test_the_difference_of_two_phases_is_counted_and_ordered() -> None:
    before = [MemoryThen("a:1", "profile", "key:name"), MemoryThen("a:2", "semantic", "fact:old")]
    after = [MemoryThen("a:3", "profile", "key:name"), MemoryThen("a:4", "semantic", "fact:new")]

    diff = compared(before, after)

    assert diff.summary_lines == ("Added 1 items", "Deleted 1 items", "Replaced 1 items")
    assert [change["change"] for change in diff.top_changes] == ["replaced", "added", "deleted"]
    assert diff.top_changes[0]["from_id"] == "a:1"
    assert diff.top_changes[0]["to_id"] == "a:3"
    assert compared(after, after).top_changes == ()
