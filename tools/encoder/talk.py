"""Statements as people say them, each beside a question that asks for it in other words.

Files have a line per utterance (sort, topic, text, question), in any of the three languages. The questions
of a step are those of statements that are alike: what one must not be confused with stands beside it, and so
do utterances that nobody asked for.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np

from tools.encoder.lessons import Lesson

#: Sorts of utterances without a question that say something, too.
_BYSTANDERS = frozenset({"set", "temporary", "correct", "third", "passing", "hypothetical", "quote"})

#: From this likeness on two statements may answer one question, and neither is held against the other's.
_SAME = 0.8
_BESIDE = 3  # statements that stand beside the one they are like
_AMONG = 24  # of its nearest, from which they are drawn
_SHORTEST = 3  # characters that are no question yet
_NEAR = 0.6

#: Statements out of the corpora of understanding, with questions that we wrote for them.
OWN = Path(__file__).parent / "data" / "talk"

#: The corpora themselves: what people say, by language.
SPOKEN = Path(__file__).parents[1] / "understanding" / "data"

#: What the model is measured by; nothing near it is learnt.
JUDGES = [
    Path(__file__).parents[2] / "bench" / "data" / name
    for name in ("questions.jsonl", "questions-2.jsonl", "talk/pairs.jsonl")
]

#: People mostly ask in the language in which they said it: such a pair counts for so many.
OWN_LANGUAGE = 2

Cut = Callable[[str], list[int]]


@dataclass(frozen=True)
class Pair:
    statement: str
    question: str


@dataclass(frozen=True)
class Spoken:
    """A statement in the words of some person, and questions for it by language."""

    language: str
    statement: str
    questions: dict[str, str]
    english: str  #: the same in English, if somebody wrote it
    held: bool  #: kept back, to choose by


def own_talk(folder: Path = OWN) -> list[Spoken]:
    """Every statement that we wrote questions for."""
    out = []
    for path in sorted(folder.glob("*.jsonl.xz")):
        for line in lzma.decompress(path.read_bytes()).decode("utf-8").splitlines():
            row = json.loads(line)
            english, held = row.get("english", ""), bool(row.get("held"))
            out.append(Spoken(path.name.split(".")[0], row["statement"], row["questions"], english, held))
    return out


def spoken(language: str, folder: Path = SPOKEN) -> list[tuple[str, str]]:
    """Sort and text of what people say in a language, but what is near a judge's."""
    lines = lzma.decompress((folder / f"sentences.{language}.jsonl.xz").read_bytes()).decode("utf-8")
    rows = [json.loads(line) for line in lines.splitlines()]
    return [(sort, text) for sort, _, text, _ in rows if not near_judge(text)]


def own_pairs() -> tuple[list[Pair], list[str]]:
    """Our questions with their statements, and utterances that nobody asked for."""
    found = [
        Pair(one.statement, question)
        for one in own_talk()
        if not one.held
        for language, question in one.questions.items()
        for _ in range(OWN_LANGUAGE if language == one.language else 1)
    ]
    found += [
        Pair(one.english, question)
        for one in own_talk()
        if one.english and not one.held
        for question in one.questions.values()
    ]
    others = [text for language in ("en", "th", "zh") for sort, text in _passing(language)]
    return found, others


@cache
def _passing(language: str) -> list[tuple[str, str]]:
    return [(sort, text) for sort, text in spoken(language) if sort in _BYSTANDERS - {"correct"}]


def pairs_in(folder: Path) -> tuple[list[Pair], list[str]]:
    """Every statement of the files in a folder with each of its questions, and those that have none."""
    found: dict[Pair, None] = {}
    others: dict[str, None] = {}
    for path in sorted(folder.glob("**/*.tsv")):
        for line in path.read_text("utf-8").splitlines():
            sort, _, text, question, *_ = [part.strip() for part in [*line.split("\t"), "", "", "", ""]]
            if text and len(question) > _SHORTEST and not (near_judge(text) or near_judge(question)):
                found[Pair(text, question)] = None
            elif text and sort in _BYSTANDERS:
                others[text] = None
    asked = {pair.statement for pair in found}
    return list(found), [text for text in others if text not in asked]


def near_judge(text: str) -> bool:
    """Whether more than six in ten stretches of four characters are those of a text that judges the model."""
    judged, holding = _judged()
    own = grams(text)
    shared = Counter(chain.from_iterable(holding[gram] for gram in own if gram in holding))
    return any(count > _NEAR * (len(own) + judged[at] - count) for at, count in shared.items())


def grams(text: str) -> set[str]:
    low = text.lower()
    return {low[at : at + 4] for at in range(max(1, len(low) - 3))}


@cache
def _judged() -> tuple[list[int], dict[str, list[int]]]:
    """How many stretches each text that judges has, and which texts have a stretch."""
    rows = [json.loads(line) for path in JUDGES for line in path.read_text("utf-8").splitlines()]
    sides = [row[name] for row in rows for name in ("fact", "question") if row.get(name)]
    judged = [grams(text) for side in sides for text in ([side] if isinstance(side, str) else side.values())]
    holding: dict[str, list[int]] = defaultdict(list)
    for number, found in enumerate(judged):
        for gram in found:
            holding[gram].append(number)
    return list(map(len, judged)), holding


def pairs_of(lessons: Sequence[Lesson], chance: np.random.Generator) -> list[Pair]:
    """Each lesson in some two languages, so that what is alike among all of them meets as well."""
    languages, out = ("en", "th", "zh"), []
    for lesson in lessons:
        own, asked = chance.integers(3), chance.integers(3)
        question = lesson.questions[chance.integers(len(lesson.questions))]
        out.append(
            Pair(
                lesson.statement[languages[own]],
                question[languages[own if chance.random() < 0.5 else asked]],
            )
        )
    return out


class Talk:
    """Draws steps from pairs; `order` again from time to time, as what is alike changes."""

    def __init__(
        self, pairs: Sequence[Pair], others: Sequence[str], cut: Cut, chance: np.random.Generator
    ) -> None:
        self._chance = chance
        self.statements = [cut(text) for text in (*(pair.statement for pair in pairs), *others)]
        self.questions = [cut(pair.question) for pair in pairs]
        self._near = np.zeros((0, 0), dtype=np.int64)
        self._vectors = np.zeros((0, 0), dtype=np.float32)

    def order(self, embed: Callable[[Sequence[list[int]]], np.ndarray]) -> None:
        """Find what each question is confused with, as the student sees it now."""
        self._vectors = embed(self.statements)
        asked, count = embed(self.questions), len(self.questions)
        near = []
        for at in range(0, count, 512):
            likeness = asked[at : at + 512] @ self._vectors.T
            likeness[self._vectors[at : min(at + 512, count)] @ self._vectors.T > _SAME] = -1.0
            near.append(np.argpartition(-likeness, _AMONG, axis=1)[:, :_AMONG])
        self._near = np.concatenate(near)

    def steps(self, size: int) -> Iterator[tuple[list[list[int]], list[list[int]], np.ndarray]]:
        """Questions, their statements in the same order with others after them, and which of these are
        nobody's business."""
        count = len(self.questions)
        while True:
            chosen: dict[int, None] = {}
            others: dict[int, None] = {}
            while len(chosen) < size:
                one = int(self._chance.integers(count))
                chosen.setdefault(one)
                for other in self._chance.choice(self._near[one], _BESIDE, replace=False).tolist():
                    (chosen if other < count else others).setdefault(other)
            places = list(chosen)[:size]
            beside = [*places, *list(others)[: size // 2]]
            same = self._vectors[places] @ self._vectors[beside].T > _SAME
            np.fill_diagonal(same, val=False)
            yield [self.questions[at] for at in places], [self.statements[at] for at in beside], same
