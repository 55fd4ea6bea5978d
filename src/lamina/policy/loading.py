"""Policies as text: TOML or YAML, checked to the last key, with errors that name the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from lamina.errors import ConfigError
from lamina.late import files, late, read_rules
from lamina.model import Authority, Kind, Layer, Space, contract_kind
from lamina.policy.rules import (
    PhaseRules,
    Policy,
    PrivacyRules,
    PromotionPath,
    Retention,
    RetentionMode,
    WritePolicy,
)
from lamina.records import dataclass

with late():
    from lamina.text import yaml_file

T = TypeVar("T")

PRESETS = ("minimal", "normal", "aggressive", "strict-privacy")
_CONTRACT_KINDS = tuple(contract_kind(layer) for layer in Layer)
_TOP = (
    "extends",
    "write_policy",
    "allow_event_types",
    "deny_event_types",
    "authority_order",
    "short_term_turns",
    "retention",
    "promotion",
    "spaces",
    "phase",
    "privacy",
    "trust",
)
_MODES = {"current_only": False, "current_plus_history": True}


@dataclass(frozen=True, slots=True)
class _Page:
    """A policy's text, to say where in it something stands."""

    name: str
    text: str

    def wrong(self, message: str, word: str, hint: str = "") -> ConfigError:
        """An error at the first line that mentions a word."""
        pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        lines = (n for n, line in enumerate(self.text.splitlines(), 1) if pattern.search(line))
        return ConfigError(f"{self.name}, line {next(lines, 1)}: {message}", code="policy_invalid", hint=hint)


def preset(name: str) -> Policy:
    """A policy that ships with Lamina."""
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise ConfigError(
            f"There is no policy {name!r:.40}.", code="policy_unknown", hint=f"Choose one of: {known}."
        )
    return _preset(name)


@cache
def _preset(name: str) -> Policy:
    page = _Page(f"{name}.toml", preset_text(name))
    return _built(page, _merged(page, read_rules("lamina.policy", f"presets/{name}.toml")), name)


def preset_text(name: str) -> str:
    file = files("lamina.policy") / "data" / "presets" / f"{name}.toml"
    return file.read_text("utf-8")


def load_policy(text: str, name: str) -> Policy:
    """The policy a text describes; `name` is its file, and says by its ending whether it is YAML."""
    page = _Page(name, text)
    try:
        raw = yaml_file.safe_load(text) if name.endswith((".yaml", ".yml")) else tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: {error}.", code="policy_invalid", hint="Correct that line.") from None
    except yaml_file.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        problem = getattr(error, "problem", None) or "it is not valid YAML"
        raise ConfigError(
            f"{name}, line {line}: {problem}.", code="policy_invalid", hint="Correct that line."
        ) from None
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        raise page.wrong("a policy is a table of settings.", "")
    return _built(page, _merged(page, raw), name)


def _merged(page: _Page, raw: dict[str, Any]) -> dict[str, Any]:
    """The text over the preset it extends: tables key by key, everything else replaced."""
    parent = raw.get("extends")
    if parent is None:
        return raw
    if parent not in PRESETS:
        raise page.wrong(f"it extends {parent!r:.40}, which does not exist.", "extends")
    below = _Page(f"{parent}.toml", preset_text(parent))
    base = _merged(below, tomllib.loads(below.text))
    return _over(base, {name: value for name, value in raw.items() if name != "extends"})


def _over(base: dict[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in top.items():
        old = merged.get(name)
        merged[name] = _over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _built(page: _Page, raw: dict[str, Any], name: str) -> Policy:
    _known(page, raw, _TOP, "setting")
    default = Policy()
    spaces = _table(page, raw, "spaces")
    _known(page, spaces, ("read_order", "write_spaces", "path"), "setting of spaces")
    retention = dict(_table(page, raw, "retention"))
    keeping = _members(page, Space, retention.pop("spaces", default.retention_spaces), "spaces")
    order = _members(page, Authority, raw.get("authority_order", tuple(Authority)), "authority_order")
    if set(order) != set(Authority) or len(order) != len(Authority):
        raise page.wrong("it must name every authority once.", "authority_order", ", ".join(Authority))
    return Policy(
        name=name,
        write_policy=_member(page, WritePolicy, raw.get("write_policy", "normal"), "write_policy"),
        allow_event_types=frozenset(_kinds(page, raw, "allow_event_types")),
        deny_event_types=frozenset(_kinds(page, raw, "deny_event_types")),
        authority_order=order,
        short_term_turns=_whole(page, raw, "short_term_turns", 20, least=1),
        retention_spaces=frozenset(keeping),
        retention={kind: _retentions(page, kind, rules) for kind, rules in retention.items()},
        promotion=_promotion(page, _table(page, raw, "promotion")),
        read_order=_members(page, Space, spaces.get("read_order", tuple(Space)), "read_order"),
        write_spaces=frozenset(
            _members(page, Space, spaces.get("write_spaces", default.write_spaces), "write_spaces")
        ),
        paths=tuple(_path(page, path) for path in spaces.get("path", ())),
        phase=_phase(page, _table(page, raw, "phase")),
        privacy=_privacy(page, _table(page, raw, "privacy")),
        trusted_tools=_tools(page, _table(page, raw, "trust")),
    )


def _table(page: _Page, raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = raw.get(name, {})
    if not isinstance(value, dict):
        raise page.wrong(f"`{name}` must be a table.", name)
    return value


def _known(page: _Page, raw: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
    for name in raw:
        if name not in names:
            hint = f"Known: {', '.join(names)}."
            raise page.wrong(f"`{name}` is not a known {what}.", str(name), hint)


def _member(page: _Page, kind: type[T], value: Any, where: str) -> T:
    try:
        return kind(value)  # type: ignore[call-arg]
    except ValueError:
        known = ", ".join(str(one) for one in kind)  # type: ignore[attr-defined]
        word = value if isinstance(value, str) and value else where
        raise page.wrong(f"{value!r:.40} is not allowed for `{where}`.", word, f"Known: {known}.") from None


def _members(page: _Page, kind: type[T], values: Any, where: str) -> tuple[T, ...]:
    if isinstance(values, str) or not isinstance(values, list | tuple | frozenset):
        raise page.wrong(f"`{where}` must be a list.", where)
    return tuple(_member(page, kind, value, where) for value in values)


def _kinds(page: _Page, raw: Mapping[str, Any], name: str) -> tuple[Kind, ...]:
    return _members(page, Kind, raw.get(name, ()), name)


def _whole(page: _Page, raw: Mapping[str, Any], name: str, default: int, least: int) -> int:
    value = raw.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise page.wrong(f"`{name}` must be a whole number of at least {least}.", name)
    return value


def _flag(page: _Page, raw: Mapping[str, Any], name: str, default: bool) -> bool:
    value = raw.get(name, default)
    if not isinstance(value, bool):
        raise page.wrong(f"`{name}` must be true or false.", name)
    return value


def _retentions(page: _Page, kind: str, rules: Any) -> dict[str, Retention]:
    if kind not in _CONTRACT_KINDS:
        raise page.wrong(f"`{kind}` is not a kind of memory.", kind, f"Known: {', '.join(_CONTRACT_KINDS)}.")
    if not isinstance(rules, dict):
        raise page.wrong(f"`retention.{kind}` must be a table.", kind)
    found = {}
    for event_type, rule in rules.items():
        if event_type != "*":
            _member(page, Kind, event_type, f"retention.{kind}")
        match = re.fullmatch(r"(never)|(ttl|decay) ([1-9]\d{0,8})", str(rule))
        if match is None:
            raise page.wrong(
                f"{rule!r:.40} is not a retention.", str(event_type), "Write never, ttl N or decay N."
            )
        found[event_type] = Retention() if match[1] else Retention(RetentionMode(match[2]), int(match[3]))
    return found


def _promotion(page: _Page, raw: Mapping[str, Any]) -> dict[str, frozenset[Kind]]:
    _known(page, raw, _CONTRACT_KINDS, "kind of memory")
    return {kind: frozenset(_kinds(page, raw, kind)) for kind in raw}


def _path(page: _Page, raw: Any) -> PromotionPath:
    if not isinstance(raw, dict):
        raise page.wrong("a path must be a table.", "path")
    _known(page, raw, ("from", "to", "types", "authority", "decision_authority"), "setting of a path")
    authority = _member(page, Authority, raw.get("authority", "user_asserted"), "authority")
    lowered = raw.get("decision_authority", authority)
    return PromotionPath(
        source=_member(page, Space, raw.get("from"), "from"),
        target=_member(page, Space, raw.get("to"), "to"),
        types=frozenset(_kinds(page, raw, "types")),
        authority=authority,
        decision_authority=_member(page, Authority, lowered, "decision_authority"),
    )


def _phase(page: _Page, raw: Mapping[str, Any]) -> PhaseRules:
    names = ("enabled", "mode", "allow_cross_phase_recall", "max_phases", "diff_enabled")
    _known(page, raw, names, "phase setting")
    across = _flag(page, raw, "allow_cross_phase_recall", False)
    mode = raw.get("mode", "current_plus_history" if across else "current_only")
    if mode not in _MODES:
        raise page.wrong(f"{mode!r:.40} is not a mode.", "mode", f"Known: {', '.join(_MODES)}.")
    if "allow_cross_phase_recall" in raw and _MODES[mode] is not across:
        raise page.wrong(
            "`mode` and `allow_cross_phase_recall` say different things.", "mode", "Leave one out."
        )
    return PhaseRules(
        enabled=_flag(page, raw, "enabled", True),
        allow_cross_phase_recall=_MODES[mode],
        max_phases=_whole(page, raw, "max_phases", 0, least=0),
        diff_enabled=_flag(page, raw, "diff_enabled", True),
    )


def _tools(page: _Page, raw: Mapping[str, Any]) -> frozenset[str]:
    _known(page, raw, ("tools",), "setting of trust")
    named = raw.get("tools", [])
    if not isinstance(named, list) or not all(isinstance(one, str) and one.strip() for one in named):
        raise page.wrong("`tools` must be a list of names.", "tools")
    return frozenset(named)


def _privacy(page: _Page, raw: Mapping[str, Any]) -> PrivacyRules:
    _known(page, raw, ("deny_patterns", "allow_profile_keys"), "privacy setting")
    for name in raw:
        values = raw[name]
        if not isinstance(values, list) or not all(isinstance(one, str) and one.strip() for one in values):
            raise page.wrong(f"`{name}` must be a list of texts.", name)
    return PrivacyRules(
        deny_patterns=tuple(raw.get("deny_patterns", ())),
        allow_profile_keys=tuple(raw.get("allow_profile_keys", ("*",))),
    )
