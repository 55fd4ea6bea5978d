"""Questions and what answers them, written by us in three languages: `data/*.jsonl.xz` beside this file.

A line is a statement of some person in English, Thai and Chinese, questions that it answers, and near misses:
the same words about another person, time or value, which do not answer them. A line with `unanswerable` has
questions about a person that no statement of the file answers.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data"
Side = dict[str, str]  #: one meaning by language


@dataclass(frozen=True)
class Lesson:
    person: str
    key: str  #: lessons of one key answer each other's questions
    statement: Side
    questions: tuple[Side, ...]
    near: tuple[Side, ...]


def own_lessons(folder: Path = FOLDER, held: Sequence[str] = (), first: str = "") -> list[Lesson]:
    """All of them from a file on, in the order of the files, but those of the files that are held back."""
    files = {path.name.split(".")[0]: path for path in sorted(folder.glob("*.jsonl.xz"), key=place)}
    if unknown := sorted({*held} - files.keys()):
        raise SystemExit(f"there is no file of lessons {', '.join(unknown)}")
    begins = place(Path(first))
    wanted = [path for name, path in files.items() if place(path) >= begins and name not in held]
    return [lesson for path in wanted for lesson in read_lessons(path)]


def place(path: Path) -> tuple[int, str]:
    """Where a file stands among the others: the hundredth comes after the ninety-ninth."""
    name = path.name.split(".")[0]
    return len(name), name


def read_lessons(path: Path) -> list[Lesson]:
    """Those of one file."""
    rows = [row for row in _rows(path) if "statement" in row]
    return [
        Lesson(row["person"], row["key"], row["statement"], tuple(row["questions"]), tuple(row["near"]))
        for row in rows
    ]


def unanswerable(path: Path) -> list[tuple[str, str, Side]]:
    """Person, key and question of what a file asks and nothing in it answers."""
    return [(row["person"], row["key"], side) for row in _rows(path) for side in row.get("unanswerable", [])]


def _rows(path: Path) -> list[dict[str, Any]]:
    raw = path.read_bytes()
    text = (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]
