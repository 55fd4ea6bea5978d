"""Prints the OpenAPI document: `python -m lamina.doors.http.openapi > docs/reference/openapi.json`."""

from __future__ import annotations

import json
import sys

from lamina.doors.http.app import document


def text() -> str:
    """The document as it is committed: sorted, indented, ending in a line break."""
    return json.dumps(document(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(text().encode())
