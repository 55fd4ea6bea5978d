"""The sentences that the decision head learns from: ours, each with kind, language and writer."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from lamina.language.decision_head import KINDS

DATA = Path(__file__).parent / "data"
_LETTERS = {"D": 0, "R": 1, "C": 2, "P": 3, "A": 4, "O": 5, "T": 6, "L": 7, "V": 8, "N": 9}
_THAI, _HAN = re.compile("[\u0e01-\u0e4e]"), re.compile("[\u3400-\u9fff]")
_NEAR = 0.6  #: how many runs of four characters two rows may share


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence and what it does."""

    kind: str
    text: str
    language: str
    writer: str


def load() -> list[Row]:
    """Every row, by language and writer, in the order in which they were written."""
    rows = []
    for path in sorted(DATA.glob("*.jsonl.xz")):
        lines = lzma.decompress(path.read_bytes()).decode().splitlines()
        rows += [Row(**json.loads(line)) for line in lines]
    return rows


def add(writer: str, file: Path) -> int:
    """Take the rows of a TSV file in the place of those the writer had; returns how many there are.

    Raises ValueError for a kind that is unknown. Rows that say nearly what another says are left out.
    """
    new = []
    for line in file.read_text(encoding="utf-8").splitlines():
        kind, text = [*line.split("\t"), ""][:2]
        if text.strip():
            new.append(Row(_kind(kind), text.strip(), language_of(text), writer))
    kept = _distinct(new)
    here = {(row.writer, row.language) for row in kept}
    found = [row for row in load() if (row.writer, row.language) not in here]
    for language in sorted({row.language for row in [*found, *kept]}):
        _write(language, [row for row in (*found, *kept) if row.language == language])
    return len(kept)


def _kind(name: str) -> str:
    kind = KINDS[_LETTERS[name]] if name in _LETTERS else name
    if kind not in KINDS:
        raise ValueError(f"{kind} is no kind; choose one of {', '.join(KINDS)}")
    return kind


def language_of(text: str) -> str:
    """The language of a sentence, by its letters."""
    if _THAI.search(text):
        return "th"
    return "zh" if _HAN.search(text) else "en"


def _distinct(rows: Iterable[Row]) -> list[Row]:
    kept: list[Row] = []
    seen: list[frozenset[str]] = []
    for row in rows:
        runs = frozenset(row.text[at : at + 4] for at in range(max(1, len(row.text) - 3)))
        if all(len(runs & other) <= _NEAR * len(runs | other) for other in seen):
            kept.append(row)
            seen.append(runs)
    return kept


def _write(language: str, rows: list[Row]) -> None:
    DATA.mkdir(exist_ok=True)
    text = "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
    (DATA / f"decisions.{language}.jsonl.xz").write_bytes(lzma.compress(text.encode(), preset=9))
