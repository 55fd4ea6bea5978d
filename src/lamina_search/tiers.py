"""Where a document stands: how hot it is by its path, and how far a question has to reach to need it."""

from __future__ import annotations

#: Of the second brain, what is only looked at when a question reaches across months.
_DEEP = frozenset({"research", "devlogs", "archive"})


def tier_of(path: str) -> tuple[str, int]:
    """`hot`, `warm`, `cold` or `archive`, and the depth: 0 is looked at first, 2 last."""
    first, *rest = path.split("/")
    if path == "MEMORY.md":
        return "hot", 0
    if first == "memory":
        return ("archive", 2) if rest and rest[0] == "archive" else ("warm", 0)
    return "cold", 2 if _DEEP & set(rest[:-1]) else 1
