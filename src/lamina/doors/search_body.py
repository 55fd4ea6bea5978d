"""The answer to a search as it goes over the wire, in the names that clients of `memory_search` know."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lamina.model import plain

if TYPE_CHECKING:
    from lamina.documents.results import DocumentLines, SearchResults


#: What only an answer from an index that is behind has.
MAY_LACK = ("stale", "warning", "action")


def search_body(found: SearchResults | DocumentLines) -> dict[str, Any]:
    """As JSON, `start_line` being `startLine`; `stale`, `warning` and `action` only where there is reason."""
    body: dict[str, Any] = _renamed(plain(found))
    if body.get("stale") is False:
        for name in MAY_LACK:
            del body[name]
    return body


def search_answer(body: Any) -> Any:
    """The same in our own names, as `from_plain` reads it."""
    return _renamed(body, lambda name: re.sub("[A-Z]", lambda m: f"_{m[0].lower()}", name))


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda m: m[1].upper(), name)


def _renamed(value: Any, rename: Callable[[str], str] = _camel) -> Any:
    if isinstance(value, dict):
        return {rename(name): _renamed(one, rename) for name, one in value.items()}
    return [_renamed(one, rename) for one in value] if isinstance(value, list) else value
