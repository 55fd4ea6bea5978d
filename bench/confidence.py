"""How sure a hit is: fits the model of `lamina.ranking.confidence` and says how good it is.

    python -m bench.confidence [FILE.tsv|FILE.jsonl|FILE.jsonl.xz ...] [--encoder NAME]

Facts are remembered and their questions asked through the public API: those of `data/questions.jsonl`, a
shelf for each person and language; those of files whose rows are `sort, topic, text, question`, a shelf
for each file; those of files like `data/talk/pairs.jsonl`, a shelf for each person, in which there are
questions that nobody can answer; and those of files of lessons that neither encoder nor reader has learnt
from (`tools/encoder/data/lessons-61.jsonl.xz`), a shelf for each person and language. Any other question is
asked twice: with its fact on the shelf, and, for an answer that nobody has, without it. Of every other fact
half of its own words are a question, too, so that the model sees both.

The figures are of a cross-validation in which no shelf is judged by a model that has seen it: the area under
the curve of the first hit's confidence between questions with and without an answer; how many of the second
sort are doubtful where 15 % of the first are; and the share of right first hits by confidence.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lamina
from lamina.encoders.reading import ReadingEncoder
from lamina.ranking.blend import CONTENT
from lamina.ranking.confidence import (
    DOUBTFUL,
    NAMED,
    USUALLY_ASKED,
    Spread,
    evidence,
    said_elsewhere,
)
from lamina.ranking.lexical import inverse_frequency
from lamina.ranking.question import understood
from lamina.ranking.timing import fits
from lamina.text.terms import terms
from lamina.text.tokens import count_tokens
from tools.encoder.lessons import read_lessons, unanswerable

QUESTIONS = Path(__file__).parent / "data" / "questions.jsonl"
LANGUAGES = ("en", "th", "zh-Hans", "zh-Hant")
#: What a question counts whose answer was taken away, and one that nobody ever could answer; and any hit but
#: the first, by which a person judges.
UNANSWERED, UNANSWERABLE, LATER = 0.25, 3.0, 0.2
FALSE_ALARMS = 0.15  #: of the questions that have an answer
FOLDS, DEPTH = 5, 5
NAMES = ("likeness", "behind", "words", "named", "elsewhere", "asked", "unfit", "read")
#: Sorts of questions in a list: those that nobody can answer, and those that people ask in their own words.
NOBODY, STRANGE = "unanswerable", "unanswerable lessons"
ASKED = ("paraphrase", "cross", "temporal", "multi", "other words", "lessons")
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_WORDS = re.compile(r"[A-Za-z0-9'$€£.:-]+|[\u0e00-\u0e7f]+|[\u4e00-\u9fff]+")
_LONG = 3


@dataclass(frozen=True, slots=True)
class Shelf:
    """Facts that are remembered together, and questions with the numbers of the facts that answer each."""

    name: str
    facts: tuple[str, ...]
    questions: tuple[tuple[str, tuple[int, ...], str], ...]  #: none answers what nobody can


@dataclass(frozen=True, slots=True)
class Row:
    """One hit of one question, as the model sees it."""

    shelf: str
    sort: str
    has_answer: bool
    is_first: bool
    is_right: bool
    is_read: bool  #: whether a reader of both has looked at it
    plain: tuple[float, ...]
    standard: tuple[float, ...]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.confidence", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--encoder", default=None, help="the setting `embedder`")
    chosen = parser.parse_args()
    rows, name = [], ""
    places: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for shelf in (*persons(), *(shelf for path in chosen.files for shelf in of_path(path))):
        name, found = asked(shelf, chosen.encoder, places)
        rows += found
    for sort, all_ in sorted(places.items()):
        for leg, ranks in zip(
            ("recall", "meaning alone", "words alone"), zip(*all_, strict=True), strict=True
        ):
            shares = [100 * sum(rank <= most for rank in ranks) / len(ranks) for most in (1, 5)]
            print(f"# {sort}, {leg}: hit@1 {shares[0]:.1f}, hit@5 {shares[1]:.1f}")
    count = len(NAMES) - 1
    report("words", rows, [2, 6])
    report("other", rows, [*range(count + 1, 2 * count + 1)])
    report(name, rows, [*range(count)])
    if read := [row for row in rows if row.is_read]:
        report(ReadingEncoder().reader_id(), read, [*range(count + 1)])


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
                    questions.append((line["question"][language], (number,), "other words"))
                    other = LANGUAGES[(at + 1 + number) % len(LANGUAGES)]
                    if other[:2] != language[:2] and number % len(LANGUAGES) == at:
                        questions.append((line["question"][other], (number,), "other language"))
            yield Shelf(f"{person} {language}", facts, (*questions, *own_words(facts)))


def of_path(path: Path) -> Iterator[Shelf]:
    """Those of a file, by what its name says that it is."""
    if path.name.startswith("lessons-"):
        yield from of_lessons(path)
    elif path.suffix == ".jsonl":
        yield from of_list(path)
    else:
        yield of_file(path)


def of_lessons(path: Path) -> Iterator[Shelf]:
    """What each person of a file of lessons says in each language, what is near it, and what is asked."""
    lessons, strange = read_lessons(path), unanswerable(path)
    for person in dict.fromkeys(lesson.person for lesson in lessons):
        own = [lesson for lesson in lessons if lesson.person == person]
        for language in ("en", "th", "zh"):
            facts = [lesson.statement[language] for lesson in own]
            near = [side[language] for lesson in own for side in lesson.near]
            asked = [
                (side[language], (number,), "lessons")
                for number, lesson in enumerate(own)
                for side in lesson.questions
            ]
            asked += [(side[language], (), STRANGE) for who, _, side in strange if who == person]
            yield Shelf(f"{path.name.split('.')[0]} {person} {language}", (*facts, *near), tuple(asked))


def of_file(path: Path) -> Shelf:
    """The rows of a file that have a question."""
    cells = [[*line.split("\t"), "", "", ""] for line in path.read_text("utf-8").splitlines()]
    known = [row for row in cells if row[0] in ("remember", "lasting") and row[3].strip()]
    facts = tuple(row[2] for row in known)
    questions = tuple((row[3], (number,), "other words") for number, row in enumerate(known))
    return Shelf(path.parent.name + path.stem, facts, (*questions, *own_words(facts)))


def of_list(path: Path) -> Iterator[Shelf]:
    """The facts and questions of each person in a list."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for person in dict.fromkeys(line["person"] for line in lines):
        own = [line for line in lines if line["person"] == person]
        facts = tuple(line["fact"] for line in own if line["kind"] == "fact")
        questions = []
        for line in (one for one in own if one["kind"] != "fact"):
            wanted = line.get("all_of") or [line.get("must") or []]
            gold = [n for n, fact in enumerate(facts) if any(_has(fact, some) for some in wanted)]
            questions.append((line["question"], tuple(gold), line["kind"]))
        yield Shelf(f"{path.stem} {person}", facts, tuple(questions))


def _has(fact: str, wanted: Sequence[str]) -> bool:
    return bool(wanted) and all(one.casefold() in fact.casefold() for one in wanted)


def own_words(facts: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...], str]]:
    for number, fact in list(enumerate(facts))[::2]:
        parts = _WORDS.findall(fact)
        spaced = [part for part in parts if part.isascii() and (len(part) > _LONG or part[0].isdigit())]
        if 2 * sum(part.isascii() for part in parts) > len(parts):
            few = spaced[number // 2 % 2 :: 2] if len(spaced) > _LONG else spaced
            yield " ".join(few) or fact, (number,), "own words"
        else:
            longest = max(parts, key=len)
            start = len(longest) // 4
            yield longest[start : start + max(4, len(longest) // 2)], (number,), "own words"


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
            right = {ids[one] for one in gold}
            if right:
                places[sort].append(min(ranks_of(hits, one) for one in right))
            for has_answer in (True, False) if right else (False,):
                left = [hit for hit in hits if has_answer or hit.id not in right]
                place = (shelf.name, sort, has_answer)
                rows += judged(question, left, right, place)
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


def judged(
    question: str, hits: Sequence[lamina.Hit], gold: Collection[str], place: tuple[str, str, bool]
) -> Iterator[Row]:
    likenesses = [hit.scores.get("meaning") for hit in hits]
    spread = Spread.of([one for one in likenesses if one is not None])
    told = evidence(likenesses, [hit.scores.get("share", 0.0) for hit in hits])
    beside, asked = elsewhere(question, [hit.text for hit in hits]), math.log(max(1, count_tokens(question)))
    timing = understood(question, _NOW).timing
    behind, like = np.nan_to_num(told.behind), np.nan_to_num(told.likeness)
    stands = spread.standard(like)
    away = spread.standard(like + behind) - stands
    for number, hit in enumerate(hits[:DEPTH]):
        share = float(told.share[number])
        words = max(0.0, (share - NAMED) / (1.0 - NAMED))
        unfit = float(not fits(timing, hit.text))
        more = (words, min(share, NAMED), beside[number], asked - USUALLY_ASKED, unfit)
        read, is_read = hit.scores.get("read", 0.0), "read" in hit.scores
        plain = (float(like[number]), float(behind[number]), *more, read)
        standard = (float(stands[number]), float(away[number]), *more)
        yield Row(*place, number == 0, hit.id in gold, is_read, plain, standard)


def elsewhere(question: str, texts: Sequence[str]) -> list[float]:
    """How much of the question others of the texts say and each does not, as recall sees it on a shelf."""
    weights, said = understood(question, _NOW).weights, [set(terms(text)) for text in texts]
    has = np.array([[float(term in one) for term in weights] for one in said])
    if not has.size:
        return [0.0] * len(texts)
    counts = has.sum(axis=0).astype(int).tolist()
    worth = [w * inverse_frequency(len(texts), n) for w, n in zip(weights.values(), counts, strict=True)]
    return said_elsewhere(has, np.array(worth) / max(sum(sorted(worth, reverse=True)[:CONTENT]), 1e-9))


def report(name: str, rows: Sequence[Row], columns: Sequence[int]) -> None:
    """Fit the model, print it as the table has it, and how good it is on shelves it has not seen."""
    inputs = np.array([(*row.plain, *row.standard) for row in rows])[:, list(columns)]
    right = np.array([row.is_right for row in rows], dtype=float)
    weight = np.array([_weight(row) for row in rows])
    shelves = sorted({row.shelf for row in rows})
    fold = np.array([shelves.index(row.shelf) % FOLDS for row in rows])
    chance = np.zeros(len(rows))
    for one in range(FOLDS):
        seen = fold != one
        chance[~seen] = probability(inputs[~seen], fitted(inputs[seen], right[seen], weight[seen]))
    whole = fitted(inputs, right, weight)
    own = [at for at, row in enumerate(rows) if row.is_first and row.has_answer and row.sort in ASKED]
    if own:  # a hit is doubtful below a certain chance, and so are this many of those that have an answer
        shift = logit(DOUBTFUL) - logit(float(np.quantile(chance[own], FALSE_ALARMS)))
        whole[-1] += shift
        chance = 1.0 / (1.0 + np.exp(-shift) * (1.0 / chance - 1.0))
    print(f"[{name}]")
    for column, value in zip(columns, whole, strict=False):
        print(f"{(*NAMES, *NAMES)[column]} = {value:.2f}")
    print(f"base = {whole[-1]:.2f}")
    for sort in sorted({row.sort for row in rows}):
        firsts = [at for at, row in enumerate(rows) if row.sort == sort and row.is_first]
        having = chance[[at for at in firsts if rows[at].has_answer]]
        if not len(having):  # what nobody can answer is beside all that people ask in their own words
            asked = [at for at, row in enumerate(rows) if row.is_first and row.sort in ASKED]
            having = chance[
                [at for at in asked if rows[at].has_answer and rows[at].shelf in shelves_of(rows, sort)]
            ]
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


def _weight(row: Row) -> float:
    kind = UNANSWERABLE if row.sort in (NOBODY, STRANGE) else 1.0 if row.has_answer else UNANSWERED
    return kind * (1.0 if row.is_first else LATER)


def logit(chance: float) -> float:
    return math.log(chance / (1.0 - chance))


def shelves_of(rows: Sequence[Row], sort: str) -> set[str]:
    return {row.shelf for row in rows if row.sort == sort}


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
