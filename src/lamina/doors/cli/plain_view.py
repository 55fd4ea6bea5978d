"""The plain view of a trace: one `key: value` a line, for people and for line tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_ESCAPES = str.maketrans({"\r": "\\r", "\n": "\\n", "\t": "\\t"})


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
