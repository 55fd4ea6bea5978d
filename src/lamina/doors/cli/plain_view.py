"""The plain view of a trace: one `key: value` a line, for people and for line tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

_ESCAPES = str.maketrans({"\r": "\\r", "\n": "\\n", "\t": "\\t"})


def policies_once(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events with each policy in full where it comes first, and by its digest from then on."""
    seen: set[str] = set()
    told: list[dict[str, Any]] = []
    for event in events:
        data = dict(event.get("data") or {})
        for name in ("policy_snapshot", "policy"):
            if isinstance(policy := data.get(name), dict):
                digest = hashlib.sha256(json.dumps(policy, sort_keys=True).encode()).hexdigest()[:16]
                data[name] = {"digest": digest} if digest in seen else {"digest": digest, **policy}
                seen.add(digest)
        told.append({**event, "data": data})
    return told


def plain_lines(value: Any, path: str = "") -> Iterator[str]:
    """The leaves of JSON data: keys sorted, dots for nesting, a list as its `count` and its parts from 1."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from plain_lines(value[key], f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield f"{path}.count: {len(value)}"
        for number, part in enumerate(value, 1):
            yield from plain_lines(part, f"{path}.{number}")
    else:
        leaf = value if isinstance(value, str) else json.dumps(value)
        yield f"{path}: {leaf}".translate(_ESCAPES)
