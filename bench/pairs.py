"""How well contradictions and procedures to merge are told apart: `python -m bench.pairs`.

Reads tests/data/pairs.tsv and prints precision and recall of the decisions Lamina takes by itself: to warn of
a contradiction (FL-10), to merge two procedures (FL-3), to make one memory of two and to let a newer value
take an older one's place, with the encoder of this installation and with words alone, on the half that the
word lists were made with and on the half that was held out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lamina.config import Config
from lamina.encoders.port import Embedder
from lamina.encoders.static import StaticEncoder
from lamina.model import Authority, Kind, Layer, Memory, Provenance, Role, Space
from lamina.retrieval.alike import compared
from lamina.similarity.compare import Comparison, same_task
from lamina.similarity.merge_bands import Merge, Near, Update, banded, merging

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
    """Each decision over one half of the pairs."""
    chosen = [
        (pair, compared(embedder, pair.one, [pair.other])[0]) for pair in pairs() if pair.held_out is held_out
    ]
    rules: dict[str, tuple[str, Callable[[Pair, Comparison], bool], tuple[str, ...]]] = {
        "contradiction": ("fact", lambda _, found: found.conflicts, ("changed", "contradiction")),
        "merge": ("trigger", lambda _, found: same_task(found), ("same",)),
        "memories": ("fact", lambda pair, found: isinstance(met(pair, found, embedder), Merge), ("same",)),
        "update": (
            "fact",
            lambda pair, found: isinstance(met(pair, found, embedder), Update),
            ("changed", "contradiction"),
        ),
    }
    return {
        name: score((taken(pair, found), pair.label in labels) for pair, found in chosen if pair.kind == kind)
        for name, (kind, taken, labels) in rules.items()
    }


def met(pair: Pair, found: Comparison, embedder: Embedder | None) -> Merge | Update | None:
    """What becomes of the second statement of a pair where the first is known since a month."""
    bands = merging(Config(), embedder and embedder.embedder_id).bands
    now = datetime(2026, 3, 1, tzinfo=UTC)
    told = Provenance(actor="ana", role=Role.USER, via="bench")
    known = Memory(
        id="user:ana:semantic:1",
        space=Space.USER,
        owner="ana",
        layer=Layer.SEMANTIC,
        kind=Kind.FACT,
        text=pair.one,
        authority=Authority.USER_ASSERTED,
        provenance=told,
        created_at=now - timedelta(days=30),
        updated_at=now - timedelta(days=30),
    )
    return banded(pair.other, [Near(known, found)], bands, now)


def main() -> None:
    bands = merging(Config(), None).bands
    point = f"auto {bands.auto}, check {bands.check}, fallback {bands.fallback}; 0.85 for procedures"
    print(f"{len(pairs())} pairs; operating point: {point}")
    for called, embedder in (("static encoder", StaticEncoder()), ("words alone", None)):
        for half in (False, True):
            for name, one in decisions(embedder, half).items():
                part = "held out" if half else "tuned on"
                figures = f"precision {one.precision:.3f}  recall {one.recall:.3f}  ({one.count})"
                print(f"{called:15} {part:9} {name:14} {figures}")


if __name__ == "__main__":
    main()
