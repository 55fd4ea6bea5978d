"""Questions and what answers them, written by us in three languages: `data/*.jsonl.xz` beside this file.

A line is a statement of some person in English, Thai and Chinese, questions that it answers, and near misses:
the same words about another person, time or value, which do not answer them.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "data"
Side = dict[str, str]  #: one meaning by language


@dataclass(frozen=True)
class Lesson:
    person: str
    key: str  #: lessons of one key answer each other's questions
    statement: Side
    questions: tuple[Side, ...]
    near: tuple[Side, ...]


def own_lessons(folder: Path = FOLDER) -> list[Lesson]:
    """All of them, in the order of the files."""
    out = []
    for path in sorted(folder.glob("*.jsonl.xz")):
        for line in lzma.decompress(path.read_bytes()).decode("utf-8").splitlines():
            row = json.loads(line)
            questions, near = tuple(row["questions"]), tuple(row["near"])
            out.append(Lesson(row["person"], row["key"], row["statement"], questions, near))
    return out
