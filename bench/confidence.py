"""How sure a hit is: fits the model of `lamina.ranking.confidence` and says how good it is.

    python -m bench.confidence [FILE.tsv ...] [--encoder NAME]

Facts are remembered and their questions asked through the public API: those of `data/questions.jsonl`, a
shelf for each person and language, and those of files whose rows are `sort, topic, text, question`, a shelf
for each file. A question is asked twice: with its fact on the shelf, and, for an answer that nobody has,
without it. Of every other fact half of its own words are a question, too, so that the model sees both.

The figures are of a cross-validation in which no shelf is judged by a model that has seen it: the area under
the curve of the first hit's confidence between questions with and without an answer; how many of the second
sort are doubtful where 15 % of the first are; and the share of right first hits by confidence.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lamina
from lamina.ranking.confidence import DOUBTFUL, NAMED, Spread, evidence

QUESTIONS = Path(__file__).parent / "data" / "questions.jsonl"
LANGUAGES = ("en", "th", "zh-Hans", "zh-Hant")
#: What a question without an answer counts beside one that has one: four in five have.
UNANSWERED = 0.25
FOLDS, DEPTH = 5, 5
_WORDS = re.compile(r"[A-Za-z0-9'$€£.:-]+|[\u0e00-\u0e7f]+|[\u4e00-\u9fff]+")
_LONG = 3


@dataclass(frozen=True, slots=True)
class Shelf:
    """Facts that are remembered together, and questions with the number of the fact that answers each."""

    name: str
    facts: tuple[str, ...]
    questions: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One hit of one question, as the model sees it."""

    shelf: str
    sort: str
    has_answer: bool
    is_first: bool
    is_right: bool
    plain: tuple[float, float, float]
    standard: tuple[float, float, float]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.confidence", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.tsv")
    parser.add_argument("--encoder", default=None, help="the setting `embedder`")
    chosen = parser.parse_args()
    rows, name = [], ""
    places: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for shelf in (*persons(), *map(of_file, chosen.files)):
        name, found = asked(shelf, chosen.encoder, places)
        rows += found
    for sort, all_ in sorted(places.items()):
        for leg, ranks in zip(
            ("recall", "meaning alone", "words alone"), zip(*all_, strict=True), strict=True
        ):
            shares = [100 * sum(rank <= most for rank in ranks) / len(ranks) for most in (1, 5)]
            print(f"# {sort}, {leg}: hit@1 {shares[0]:.1f}, hit@5 {shares[1]:.1f}")
    for table, columns in (("words", (2,)), ("other", (3, 4, 5)), (name, (0, 1, 2))):
        report(table, rows, columns)


def persons() -> Iterator[Shelf]:
    """The facts of each person in each language; a quarter of the questions in another one, too."""
    lines = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    by_person: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_person[line["person"]].append(line)
    for person, known in sorted(by_person.items()):
        for at, language in enumerate(LANGUAGES):
            facts = tuple(line["fact"][language] for line in known)
            questions = []
            for number, line in enumerate(known):
                if "question" in line:
                    questions.append((line["question"][language], number, "other words"))
                    other = LANGUAGES[(at + 1 + number) % len(LANGUAGES)]
                    if other[:2] != language[:2] and number % len(LANGUAGES) == at:
                        questions.append((line["question"][other], number, "other language"))
            yield Shelf(f"{person} {language}", facts, (*questions, *own_words(facts)))


def of_file(path: Path) -> Shelf:
    """The rows of a file that have a question."""
    cells = [[*line.split("\t"), "", "", ""] for line in path.read_text("utf-8").splitlines()]
    known = [row for row in cells if row[0] in ("remember", "lasting") and row[3].strip()]
    facts = tuple(row[2] for row in known)
    questions = tuple((row[3], number, "other words") for number, row in enumerate(known))
    return Shelf(path.parent.name + path.stem, facts, (*questions, *own_words(facts)))


def own_words(facts: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    for number, fact in list(enumerate(facts))[::2]:
        parts = _WORDS.findall(fact)
        spaced = [part for part in parts if part.isascii() and (len(part) > _LONG or part[0].isdigit())]
        if 2 * sum(part.isascii() for part in parts) > len(parts):
            few = spaced[number // 2 % 2 :: 2] if len(spaced) > _LONG else spaced
            yield " ".join(few) or fact, number, "own words"
        else:
            longest = max(parts, key=len)
            start = len(longest) // 4
            yield longest[start : start + max(4, len(longest) // 2)], number, "own words"


def asked(
    shelf: Shelf, encoder: str | None, places: dict[str, list[tuple[int, int, int]]]
) -> tuple[str, list[Row]]:
    """The encoder's id, and the first hits of every question, with its fact and without.

    `places` gets the rank of the right fact in the answer, and by meaning and by words alone.
    """
    rows: list[Row] = []
    settings = {"config": {"embedder": encoder}} if encoder else {}
    with tempfile.TemporaryDirectory() as folder, lamina.open(folder, **settings) as engine:
        memory = engine.scope(session="writing")
        ids = [next(iter(memory.remember(fact).ids), "") for fact in shelf.facts]
        mind = engine.scope(session="asking")
        for question, gold, sort in shelf.questions:
            hits = [hit for hit in mind.recall(question, k=100).hits if hit.id in ids]
            places[sort].append(ranks_of(hits, ids[gold]))
            for has_answer in (True, False):
                left = [hit for hit in hits if has_answer or hit.id != ids[gold]]
                rows += judged(left, ids[gold], (shelf.name, sort, has_answer))
        return engine.means.embedder.embedder_id if engine.means.embedder else "", rows


def ranks_of(hits: Sequence[lamina.Hit], gold: str) -> tuple[int, int, int]:
    """Where the right one stands: in the answer, and among all by meaning and by words alone."""
    own = next((hit for hit in hits if hit.id == gold), None)
    if own is None:
        return 1000, 1000, 1000
    legs = []
    for leg in ("meaning", "lexical"):
        mine = own.scores.get(leg, 0.0)
        above = sum(hit.scores.get(leg, 0.0) > mine for hit in hits) if mine > 0 else 1000
        legs.append(1 + above)
    return 1 + hits.index(own), legs[0], legs[1]


def judged(hits: Sequence[lamina.Hit], gold: str, place: tuple[str, str, bool]) -> Iterator[Row]:
    likenesses = [hit.scores.get("meaning") for hit in hits]
    spread = Spread.of([one for one in likenesses if one is not None])
    told = evidence(likenesses, [hit.scores.get("share", 0.0) for hit in hits])
    for number, (hit, one) in enumerate(list(zip(hits, told, strict=True))[:DEPTH]):
        words = max(0.0, (one.share - NAMED) / (1.0 - NAMED))
        like = one.likeness or 0.0
        behind = spread.standard(like + one.behind) - spread.standard(like)
        standard = (spread.standard(like), behind, words)
        yield Row(*place, number == 0, hit.id == gold, (like, one.behind, words), standard)


def report(name: str, rows: Sequence[Row], columns: Sequence[int]) -> None:
    """Fit the model, print it as the table has it, and how good it is on shelves it has not seen."""
    inputs = np.array([(*row.plain, *row.standard) for row in rows])[:, list(columns)]
    right = np.array([row.is_right for row in rows], dtype=float)
    weight = np.array([1.0 if row.has_answer else UNANSWERED for row in rows])
    shelves = sorted({row.shelf for row in rows})
    fold = np.array([shelves.index(row.shelf) % FOLDS for row in rows])
    chance = np.zeros(len(rows))
    for one in range(FOLDS):
        seen = fold != one
        chance[~seen] = probability(inputs[~seen], fitted(inputs[seen], right[seen], weight[seen]))
    whole = fitted(inputs, right, weight)
    print(f"[{name}]")
    for label, value in zip(("likeness", "behind", "words")[-len(columns) :], whole, strict=False):
        print(f"{label} = {value:.2f}")
    print(f"base = {whole[-1]:.2f}")
    for sort in sorted({row.sort for row in rows}):
        firsts = [at for at, row in enumerate(rows) if row.sort == sort and row.is_first]
        having = chance[[at for at in firsts if rows[at].has_answer]]
        lacking = chance[[at for at in firsts if not rows[at].has_answer]]
        area = (having[:, None] > lacking).mean() + (having[:, None] == lacking).mean() / 2
        doubted = (lacking < np.quantile(having, 0.15)).mean()
        wrong = (having < DOUBTFUL).mean(), (lacking < DOUBTFUL).mean()
        print(
            f"# {sort}: {len(having)} questions, area {area:.3f}, at 15 % {100 * doubted:.0f} %; "
            f"below {DOUBTFUL}: {100 * wrong[0]:.0f} % with an answer, {100 * wrong[1]:.0f} % without"
        )
    firsts = [at for at, row in enumerate(rows) if row.is_first]
    for low in np.arange(0.0, 1.0, 0.2):
        inside = [at for at in firsts if low <= chance[at] < low + 0.2]
        if inside:
            share = np.average(right[inside], weights=weight[inside])
            print(f"# {low:.1f} to {low + 0.2:.1f}: {len(inside)} first hits, {100 * share:.0f} % right")


def fitted(inputs: NDArray[Any], right: NDArray[Any], weight: NDArray[Any]) -> NDArray[Any]:
    """Weights of a logistic model by Newton's method, the last one for no input."""
    wide = np.c_[inputs, np.ones(len(inputs))]
    held = np.eye(wide.shape[1]) * 0.01
    weights = np.zeros(wide.shape[1])
    for _ in range(30):
        chance = probability(inputs, weights)
        slope = wide.T @ (weight * (chance - right)) + held @ weights
        bend = (wide * (weight * chance * (1.0 - chance))[:, None]).T @ wide + held
        weights -= np.linalg.solve(bend, slope)
    return weights


def probability(inputs: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(1.0 / (1.0 + np.exp(-(inputs @ weights[:-1] + weights[-1]))))


if __name__ == "__main__":
    main()
