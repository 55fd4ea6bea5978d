"""The answer to a search as it goes over the wire, in the names that clients of `memory_search` know."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lamina.model import plain

if TYPE_CHECKING:
    from lamina.documents.results import DocumentLines, SearchResults


def search_body(found: SearchResults | DocumentLines) -> dict[str, Any]:
    """As JSON, `start_line` being `startLine`; `stale`, `warning` and `action` only where there is reason."""
    body: dict[str, Any] = _renamed(plain(found))
    if body.get("stale") is False:
        for name in ("stale", "warning", "action"):
            del body[name]
    return body


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        return {re.sub(r"_(\w)", lambda m: m[1].upper(), name): _renamed(one) for name, one in value.items()}
    return [_renamed(one) for one in value] if isinstance(value, list) else value
