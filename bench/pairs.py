"""How well contradictions and procedures to merge are told apart: `python -m bench.pairs`.

Reads tests/data/pairs.tsv and prints precision and recall of the two decisions Lamina takes by itself: to
warn of a contradiction (FL-10) and to merge two procedures (FL-3), with the encoder of this installation and
with words alone, on the half that the word lists were made with and on the half that was held out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from lamina.engine.alike import compared
from lamina_search.compare import Comparison, same_task
from lamina_search.encoders.port import Embedder
from lamina_search.encoders.static import StaticEncoder

FILE = Path(__file__).parents[1] / "tests" / "data" / "pairs.tsv"


@dataclass(frozen=True)
class Pair:
    """Two texts and what one is to the other, by hand."""

    kind: str
    language: str
    label: str
    one: str
    other: str
    held_out: bool


def pairs() -> list[Pair]:
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for line in FILE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, language, label, one, other = line.split("\t")
            seen[kind, language, label] += 1
            found.append(Pair(kind, language, label, one, other, seen[kind, language, label] % 2 == 0))
    return found


@dataclass(frozen=True)
class Score:
    """Of one decision: how often it is right where taken, and how often taken where it should be."""

    precision: float
    recall: float
    count: int


def score(decided: Iterable[tuple[bool, bool]]) -> Score:
    """From (taken, right) for each pair."""
    cases = list(decided)
    hits = sum(taken and right for taken, right in cases)
    taken, right = sum(one for one, _ in cases), sum(one for _, one in cases)
    return Score(hits / taken if taken else 1.0, hits / right if right else 1.0, len(cases))


def decisions(embedder: Embedder | None, held_out: bool) -> dict[str, Score]:
    """Both decisions over one half of the pairs."""
    chosen = [
        (pair, compared(embedder, pair.one, [pair.other])[0]) for pair in pairs() if pair.held_out is held_out
    ]
    conflict: Callable[[Comparison], bool] = lambda found: found.conflicts  # noqa: E731 a name for a column
    rules = {
        "contradiction": ("fact", conflict, ("changed", "contradiction")),
        "merge": ("trigger", same_task, ("same",)),
    }
    return {
        name: score((taken(found), pair.label in labels) for pair, found in chosen if pair.kind == kind)
        for name, (kind, taken, labels) in rules.items()
    }


def main() -> None:
    print(f"{len(pairs())} pairs; operating point: closeness > 0.85 to merge, conflicting values to warn")
    for called, embedder in (("static encoder", StaticEncoder()), ("words alone", None)):
        for half in (False, True):
            for name, one in decisions(embedder, half).items():
                part = "held out" if half else "tuned on"
                figures = f"precision {one.precision:.3f}  recall {one.recall:.3f}  ({one.count})"
                print(f"{called:15} {part:9} {name:14} {figures}")


if __name__ == "__main__":
    main()
