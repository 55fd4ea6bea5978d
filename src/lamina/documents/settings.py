"""What a search covers and how it answers, as OpenClaw's settings say it in their old and their new form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from lamina.records import dataclass

EVERY_FILE = "**/*.md"
_DURATION = re.compile(r"(\d{1,6})(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
_KNOWN = {"backend", "citations", "qmd", "search"}


class Citations(StrEnum):
    """Whether results carry a citation: `auto` those of documents, `on` all, `off` none."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """What a search covers beside the defaults, and how it answers."""

    paths: tuple[tuple[str, str], ...] = ()  #: path, and the pattern of the files in it
    include_default: bool = True  #: `MEMORY.md` and `memory/**/*.md`
    enabled: bool = True
    citations: Citations = Citations.AUTO
    max_results: int = 6
    timeout_s: float = 4.0
    interval_s: float = 300.0
    debounce_s: float = 15.0
    notes: tuple[str, ...] = ()  #: what was asked for and is not done, and why


def listed_paths(text: str) -> tuple[tuple[str, str], ...]:
    """`a, b:*.md`: paths with commas between, each perhaps with a pattern."""
    parts = [part.strip().partition(":") for part in text.split(",") if part.strip()]
    return tuple((path, pattern or EVERY_FILE) for path, _, pattern in parts)


def from_openclaw(given: Any) -> SearchSettings:
    """The settings in the JSON of `agents.defaults.memorySearch`, `memory.qmd` or `memory.search`.

    Never raises: what is not known here is left out, with a note.
    """
    memory = _object(given, "memory")
    parts = (
        (_object(given, "agents", "defaults", "memorySearch"), "extraPaths"),
        (_object(memory, "search"), "extraPaths"),
        (_object(memory, "qmd"), "paths"),
    )
    unknown = sorted(memory.keys() - _KNOWN)
    found = SearchSettings(notes=tuple(f"`memory.{one}` is not known here." for one in unknown))
    for part, name in parts:
        found = _with_paths(found, part.get(name, []))
        found = _with_limits(found, {**part, **_object(part, "query"), **_object(part, "limits")})
        found = _with_pace(found, _object(part, "update"))
        if part.keys() & {"provider", "model"}:
            note = "`provider` and `model` are not used: the setting `embedder` names the encoder."
            found = replace(found, notes=(*found.notes, note))
        if part.get("enabled") is False:
            note = "No file is searched, because of `enabled: false`."
            found = replace(found, enabled=False, notes=(*found.notes, note))
    included = _object(memory, "qmd").get("includeDefaultMemory") is not False
    citations = memory.get("citations")
    if isinstance(citations, str) and citations in set(Citations):
        found = replace(found, citations=Citations(citations))
    return replace(found, include_default=included)


def _object(given: Any, *names: str) -> dict[str, Any]:
    for name in names:
        given = given.get(name) if isinstance(given, dict) else None
    return given if isinstance(given, dict) else {}


def _with_paths(found: SearchSettings, given: Any) -> SearchSettings:
    paths, notes = [], []
    for one in given if isinstance(given, list) else [given]:
        whole = {"path": one} if isinstance(one, str) else one if isinstance(one, dict) else {}
        path, pattern = whole.get("path"), whole.get("pattern", EVERY_FILE)
        if isinstance(path, str) and path and isinstance(pattern, str):
            paths.append((path, pattern))
        else:
            notes.append("A path is a text, or an object with `path` and `pattern`; one is neither.")
    return replace(found, paths=(*found.paths, *paths), notes=(*found.notes, *notes))


def _with_limits(found: SearchSettings, given: Mapping[str, Any]) -> SearchSettings:
    most, timeout = given.get("maxResults"), given.get("timeoutMs")
    if type(most) is int and 1 <= most <= 100:
        found = replace(found, max_results=most)
    if type(timeout) is int and timeout > 0:
        found = replace(found, timeout_s=timeout / 1000)
    return found


def _with_pace(found: SearchSettings, given: Mapping[str, Any]) -> SearchSettings:
    interval, debounce = _DURATION.fullmatch(str(given.get("interval", ""))), given.get("debounceMs")
    if interval and int(interval[1]):
        found = replace(found, interval_s=int(interval[1]) * _SECONDS[interval[2]])
    if type(debounce) is int and debounce >= 0:
        found = replace(found, debounce_s=debounce / 1000)
    return found
