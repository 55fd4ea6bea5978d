"""What a later text does to an earlier one: rows that say it, for the reader that reads both together.

Messages beside what somebody said before come from the conversations of `tools.understanding`; decisions
beside earlier ones from the fortnights of `tools.decisions`, and from `data/changes.txt`: matters (`@`, with
their language), what was settled in them (`D`), and what is settled later (`C` changes, `A` adds to, `R`
says again the one of the number that follows; `N` is near, and about none), with what was said around it
behind `|`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tools.decisions.fortnight import DATA as FORTNIGHTS
from tools.decisions.fortnight import Fortnight, load
from tools.understanding import relations

CHANGES = Path(__file__).parent / "data" / "changes.txt"
DOES = ("correct", "forget")
_MOST = 5  #: texts that stand beside one in a step


@dataclass(frozen=True)
class Beside:
    """A text, what was said before it, and what it does to which of that."""

    way: str
    file: str
    text: str
    known: tuple[str, ...]
    does: int = 0  #: which of the outputs of its way says it
    target: int = -1  #: its place in `known`; -1 for none
    strange: tuple[str, ...] = ()  #: what others said, in its language
    share: float = 1.0  #: how often it is drawn

    def drawn(self, chance: np.random.Generator) -> tuple[list[str], int]:
        """Some of what it may be about, and the place among all outputs of what it does; 0 for nothing."""
        order = chance.permutation(len(self.known)).tolist()
        if self.target >= 0:
            order.remove(self.target)
            order.insert(0, self.target)
        texts = [self.known[at] for at in order[:_MOST]]
        rest = min(_MOST - len(texts), len(self.strange))
        texts += [self.strange[at] for at in chance.choice(len(self.strange), rest).tolist()] if rest else []
        return texts, 1 + self.does * len(texts) if self.target >= 0 else 0


def messages(more: Path | None = None) -> list[Beside]:
    """Messages beside statements that they put right, want forgotten, or leave as they are."""
    rows = relations.read()
    for path in sorted(more.glob("relations/*.jsonl")) if more else ():
        lines = path.read_text("utf-8").splitlines()
        rows += [{"file": path.stem, **json.loads(line)} for line in lines if line.strip()]
    by_language: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_language[row["lang"]] += row["known"]
    strange = {language: tuple(dict.fromkeys(texts)) for language, texts in by_language.items()}
    found = []
    for row in (*rows, *relations.apart(rows)):
        is_done = row["relation"] in DOES
        found.append(
            Beside(
                "amends",
                row["file"],
                row["said"],
                tuple(row["known"]),
                DOES.index(row["relation"]) if is_done else 0,
                row["target"] if is_done else -1,
                strange[row["lang"]],
                0.3 if row["file"].startswith("apart") else 1.0,
            )
        )
    return found


def decisions(more: Path | None = None) -> list[Beside]:
    """Decisions beside earlier ones that they change, add to, or have nothing to do with."""
    paths = sorted(FORTNIGHTS.glob("*.txt")) + (sorted(more.glob("fortnights/*.txt")) if more else [])
    return [row for path in paths for row in _of_fortnight(load(path))] + list(_written(CHANGES))


def _of_fortnight(one: Fortnight) -> Iterator[Beside]:
    """Each decision beside those that were in force before it, with what was said around it and without."""
    active: dict[str, str] = {}
    for row in one.decisions:
        if active:
            old = row["supersedes"]
            target = [*active].index(old) if old in active else -1
            share = 1.0 if target >= 0 else 0.5
            for text in dict.fromkeys([row["said"], _told(one, row["said"], row["session"])]):
                yield Beside("changes", one.name, text, tuple(active.values()), target=target, share=share)
            active.pop(old, None)
        active[row["id"]] = row["said"]


def _told(one: Fortnight, said: str, session: str) -> str:
    """A decision with the rest of what was said beside it."""
    for turn in one.turns:
        if turn.session_id == session and said in turn.text:
            rest = " ".join(turn.text.replace(said, " ").split()).strip(" ,.;:。，；")
            return f"{said} {rest}".strip()
    return said


def _written(path: Path) -> Iterator[Beside]:
    name, known = "", list[str]()
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        mark, _, rest = line.partition(" ")
        if mark == "@":
            name, known = f"changes {rest}", []
        elif mark == "D":
            known.append(rest.strip())
        elif mark in ("C", "A", "R", "N"):
            number, _, told = rest.partition(" ") if mark != "N" else ("0", "", rest)
            said, _, around = (part.strip() for part in told.partition("|"))
            target = int(number) - 1 if mark == "C" else -1
            if not said or not 0 <= int(number) <= len(known):
                raise ValueError(f"{path.name}: {line!r} cannot be read")
            for text in dict.fromkeys([said, f"{said} {around}".strip()]):
                yield Beside("changes", name, text, tuple(known), target=target, share=0.5)
            if target >= 0:  # as well the other way round
                turned = tuple(said if at == target else one for at, one in enumerate(known))
                yield Beside("changes", name, known[target], turned, target=target, share=0.3)
