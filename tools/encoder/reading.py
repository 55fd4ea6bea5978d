"""Trains the reading encoder, stage by stage; every stage goes on from its checkpoint.

    python -m tools.encoder.reading STAGE [--work FOLDER] [--minutes N] [--until STEP] [--seed N]

Stages: `prepare` (fetch, pairs, pieces, the teacher's vectors), `trunk` (the kept layers learn to do
without the others, on English), `thai` and `chinese` (rows alone, layers fixed; the two may run side by
side), `all` (everything together, with questions and statements), `merge` (the weighted mean of checkpoints
of `all`, to the bit), `pack` (whole numbers, into the package), `unpack` (the way back). A stage that is
started again continues where it was; `--minutes` is how long it goes on, of the processor's time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from lamina_encoder.pieces import Pieces
from torch.nn import functional

from tools.encoder import anchors, curriculum, glossary, mean, mentor, pack_reading, pairs, teacher
from tools.encoder.lessons import Lesson, own_lessons
from tools.encoder.phrases import phrases, word_lessons
from tools.encoder.sources import SOURCES
from tools.encoder.student import LAYERS, Rows, Student, embed, from_teacher
from tools.encoder.talk import Talk, own_pairs, own_talk, pairs_in, pairs_of, spoken
from tools.encoder.unpack import unpack

SEED = 20261117
TOKENS_PER_STEP = 1536
TEMPERATURE = 0.05
NEW = 3  #: how much more often lessons are drawn that the student has not learnt from
WARM = 50  #: steps until the rates are whole
NARROW = 64  #: numbers that rank by themselves, roughly
MOST_SHOWN = 12_000  #: texts of each kind of the sources, once the student itself says where they belong
MOST_TALK = 2400  #: statements among which the alike are looked for at a time; one in three a lesson's
MENTOR_TEMPERATURE, OWN_TEMPERATURE = 0.05, 0.1  #: the mentor's likenesses lie closer together than ours

TABLE = Path("packages/lamina-encoder/src/lamina_encoder/data")


@dataclass(frozen=True)
class Stage:
    """What a stage learns from (kind: share of the texts), and how fast."""

    shares: dict[str, float]
    layers: float  #: rate of the layers
    rows: float  #: rate of the rows
    only: tuple[str, ...] = ()  #: rows that move, by language; all if empty
    steps: int = 500  #: over which the rates fall
    contrast: float = 0.1
    lessons: float = 0.0  #: share of steps with questions and statements
    talk: float = 0.0  #: share of steps with statements as people say them
    mentor: float = 0.0  #: share of steps in which Chinese follows its own teacher


STAGES = {
    "trunk": Stage({"english": 0.6, "th-english": 0.2, "zh-english": 0.2}, 1e-4, 0.0, (), 81, contrast=0.0),
    "thai": Stage({"th": 0.45, "th-word": 0.25, "own-th": 0.3}, 0.0, 2e-3, ("th",), 527),
    "chinese": Stage({"zh": 0.45, "zh-word": 0.25, "own-zh": 0.3}, 0.0, 2e-3, ("zh",), 1356),
    "all": Stage(
        {
            "english": 0.04,
            "th": 0.07,
            "zh": 0.06,
            "th-word": 0.05,
            "zh-word": 0.04,
            "own-en": 0.18,
            "own-th": 0.22,
            "own-zh": 0.16,
            "phrase-en": 0.02,
            "phrase-th": 0.08,
            "phrase-zh": 0.08,
        },
        7.8e-5,
        1.95e-3,
        steps=20_000,
        contrast=0.1,
        lessons=0.24,
        talk=0.32,
        mentor=0.07,
    ),
}

#: What each stage begins with.
BEFORE = {"thai": ("trunk",), "chinese": ("trunk",), "all": ("thai", "chinese")}


#: Texts of each kind: their pieces, and the teacher's vector.
Kinds = dict[str, list[tuple[list[int], np.ndarray]]]


@dataclass
class Material:
    """Everything that was prepared."""

    words: glossary.Vocabulary
    cut: Pieces
    kinds: Kinds
    lessons: list[Lesson]
    new: list[Lesson] = field(default_factory=list)  #: of them, those that the student has not learnt from
    talk: Path | None = None  #: files of statements with their questions
    chinese: tuple[list[list[int]], np.ndarray] = field(default_factory=lambda: ([], np.zeros((0, 0))))
    #: Chinese texts, and the mentor's vectors of them


def prepare(work: Path) -> None:
    """Pieces, first rows, and the teacher's vectors of everything that is learnt from."""
    work.mkdir(parents=True, exist_ok=True)
    table = pairs.newest(work, SOURCES)
    rows = pairs.load(table)
    english, weights = teacher.vocabulary(work)
    words = glossary.vocabulary(english, rows, work)
    glossary.save(words, work / "vocab.json")
    kept = [english[piece] for piece in words.pieces[: words.english]]
    np.save(work / "first.npy", glossary.first_rows(words, rows, weights[kept], TABLE))
    teacher.teach(curriculum.curriculum(rows, words).english(), work)
    teacher.teach([sorted(set(_own_english()))], work)


def _own_english() -> Iterator[str]:
    for lesson in own_lessons():
        yield lesson.statement["en"]
        yield from (side["en"] for side in (*lesson.questions, *lesson.near))


class Course:
    """Draws steps: texts of about equal length with their targets."""

    def __init__(self, material: Material, stage: Stage, seed: int) -> None:
        self._kinds = material.kinds
        self._stage = stage
        self._chance = np.random.default_rng(seed)

    def steps(self) -> Iterator[tuple[list[list[int]], torch.Tensor]]:
        names = [name for name in self._stage.shares if self._kinds.get(name)]
        shares = np.array([self._stage.shares[name] for name in names])
        while True:
            drawn = []
            for name, count in zip(names, self._chance.multinomial(2048, shares / shares.sum()), strict=True):
                texts = self._kinds[name]
                drawn += [texts[at] for at in self._chance.integers(0, len(texts), count)]
            drawn.sort(key=lambda text: len(text[0]))
            for batch in self._mixed(list(_batches(drawn))):
                yield (
                    [ids for ids, _ in batch],
                    torch.from_numpy(np.stack([goal for _, goal in batch])).float(),
                )

    def _mixed(self, batches: list) -> list:
        return [batches[at] for at in self._chance.permutation(len(batches))]


def _batches(drawn: Sequence[tuple[list[int], np.ndarray]]) -> Iterator[list]:
    at = 0
    while at < len(drawn):
        size = max(4, TOKENS_PER_STEP // len(drawn[min(len(drawn) - 1, at + 40)][0]))
        yield list(drawn[at : at + size])
        at += size


def near(own: torch.Tensor, goal: torch.Tensor, axes: torch.Tensor, contrast: float) -> torch.Tensor:
    """How far texts are from their targets, in all numbers and in the first few; and from which others."""
    unit = functional.normalize(own, dim=1)
    narrow = functional.cosine_similarity(own @ axes, goal @ axes)
    loss = (1 - (unit * goal).sum(1)).mean() + 0.25 * (1 - narrow).mean()
    if contrast and len(own) > 8:
        likeness = unit @ goal.T / TEMPERATURE
        twice = (goal @ goal.T > 0.9) & ~torch.eye(len(own), dtype=torch.bool)
        loss = loss + contrast * functional.cross_entropy(
            likeness.masked_fill(twice, float("-inf")), torch.arange(len(own))
        )
    return loss


def apart(
    questions: torch.Tensor, statements: torch.Tensor, same: torch.Tensor, axes: torch.Tensor
) -> torch.Tensor:
    """Each question shall be nearer to its statement (the first ones, in order) than to all others there."""
    loss = torch.zeros(())
    for matrix, weight in ((None, 1.0), (axes, 0.3)):
        one, other = (questions, statements) if matrix is None else (questions @ matrix, statements @ matrix)
        likeness = functional.normalize(one, dim=1) @ functional.normalize(other, dim=1).T / TEMPERATURE
        likeness = likeness.masked_fill(same, float("-inf"))
        count = torch.arange(len(questions))
        loss = loss + weight * functional.cross_entropy(likeness, count)
        back = likeness[:, : len(questions)].T
        loss = loss + 0.3 * weight * functional.cross_entropy(back, count)
    return loss


def follow(own: torch.Tensor, mentor: torch.Tensor) -> torch.Tensor:
    """How far the likenesses among texts are from those that a mentor with a space of its own sees."""
    unit, itself = functional.normalize(own, dim=1), torch.eye(len(own), dtype=torch.bool)
    ours = (unit @ unit.T / OWN_TEMPERATURE).masked_fill(itself, -1e4)
    theirs = (mentor @ mentor.T / MENTOR_TEMPERATURE).masked_fill(itself, -1e4)
    return functional.kl_div(
        ours.log_softmax(1), theirs.log_softmax(1), reduction="batchmean", log_target=True
    )


def meetings(
    questions: torch.Tensor,
    asked: torch.Tensor,
    statements: torch.Tensor,
    said: torch.Tensor,
    axes: torch.Tensor,
) -> torch.Tensor:
    """How well each piece of a question is met by some piece of a statement, in the first few numbers."""
    one, other = functional.normalize(questions @ axes, dim=2), functional.normalize(statements @ axes, dim=2)
    likeness = torch.einsum("qld,smd->qslm", one, other)
    likeness = likeness.masked_fill(~_inner(said, statements.shape[1])[None, :, None, :], -1.0)
    wanted = _inner(asked, questions.shape[1]).float()
    return (likeness.amax(3) * wanted[:, None, :]).sum(2) / wanted.sum(1).clamp(min=1)[:, None]


def _inner(sizes: torch.Tensor, length: int) -> torch.Tensor:
    """Which pieces are neither beyond the end nor the marks of start and end."""
    place = torch.arange(length)[None, :]
    return (place > 0) & (place < sizes[:, None] - 1)


class Run:
    """One stage from its checkpoint on."""

    def __init__(self, name: str, work: Path, material: Material, seed: int = 0) -> None:
        self.name, self.stage, self.work, self.material = name, STAGES[name], work, material
        self.seed = SEED + 1000 * seed
        self.path = work / "student" / f"{name}{f'-{seed}' if seed else ''}.pt"
        self.path.parent.mkdir(exist_ok=True)
        known = material.words.pieces
        languages = np.array([_language(piece, at, material.words.english) for at, piece in enumerate(known)])
        self.moving = torch.from_numpy(
            np.isin(languages, self.stage.only) if self.stage.only else np.ones(len(known), dtype=bool)
        )
        begun = torch.load(self.path, weights_only=False) if self.path.exists() else self._begin(languages)
        self.student = Student(len(LAYERS))
        self.student.load_state_dict(begun["student"])
        self.rows = Rows(begun["rows"], begun.get("force"), begun.get("seen"))
        self.step, self.seconds, self.curve = begun["step"], begun["seconds"], begun["curve"]
        self.optimiser = torch.optim.AdamW(
            self.student.parameters(), self.stage.layers or 1e-6, weight_decay=0.01
        )
        self.cold = self.step  # where the optimiser knew nothing
        if "optimiser" in begun:
            self.optimiser.load_state_dict(begun["optimiser"])
            self.cold -= WARM
        for parameter in self.student.parameters():
            parameter.requires_grad_(bool(self.stage.layers))
        self.axes = torch.from_numpy(np.load(work / "axes.npy")[:, :NARROW].copy())

    def _begin(self, languages: np.ndarray) -> dict:
        merged = self.work / "student" / f"{self.name}.pt"
        if merged.exists():
            return torch.load(merged, weights_only=False)
        fresh = {"step": 0, "seconds": 0.0, "curve": []}
        if self.name not in BEFORE:
            weights = teacher.Teacher(self.work).weights
            return {
                "student": from_teacher(weights).state_dict(),
                "rows": np.load(self.work / "first.npy"),
                **fresh,
            }
        parts = [
            torch.load(self.work / "student" / f"{before}.pt", weights_only=False)
            for before in BEFORE[self.name]
        ]
        rows = parts[0]["rows"].copy()
        for before, part in zip(BEFORE[self.name], parts, strict=True):
            for language in STAGES[before].only:
                rows[languages == language] = part["rows"][languages == language]
        trunk = torch.load(self.work / "student" / "trunk.pt", weights_only=False)
        return {"student": trunk["student"], "rows": rows, **fresh}

    def go(self, minutes: float, until: int, *, cool: bool = False, keep: int = 0) -> None:
        """On to a step or for so long; `cool` lets the rates fall over this time, before it is packed.

        `keep` leaves a checkpoint of every so many steps beside, for `merge`.
        """
        course = Course(self.material, self.stage, self.seed + self.step).steps()
        lessons = self._lessons()
        chance = np.random.default_rng(self.seed + self.step)
        talk, chinese = self._talk(), self._chinese()
        total = self.stage.steps
        began = time.process_time()
        shown, sums, count = began, 0.0, 0
        while self.step < min(total, until) and time.process_time() - began < 60 * minutes:
            warm = min(1.0, (self.step + 1 - self.cold) / WARM)
            gone = (time.process_time() - began) / (60 * minutes) if cool else self.step / total
            rate = warm * max(0.03, 0.5 * (1 + np.cos(np.pi * min(1.0, gone))))
            kind = chance.random()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                if kind < self.stage.lessons:
                    loss = self._lesson(next(lessons))
                elif kind < self.stage.lessons + self.stage.talk:
                    loss = self._lesson(next(talk))
                elif kind < self.stage.lessons + self.stage.talk + self.stage.mentor:
                    texts, goal = next(chinese)
                    ids, sizes = self.rows.gathered(texts)
                    loss = 0.5 * follow(self.student(ids, sizes), goal)
                else:
                    texts, goal = next(course)
                    ids, sizes = self.rows.gathered(texts)
                    loss = near(self.student(ids, sizes), goal, self.axes, self.stage.contrast)
            loss.backward()
            self._learn(rate)
            self.step += 1
            if keep and self.step % keep == 0:
                self.save(time.process_time() - began, self.path.with_stem(f"{self.path.stem}-{self.step}"))
            sums, count = sums + loss.item(), count + 1
            if time.process_time() - shown > 20:
                shown = time.process_time()
                print(
                    f"{self.name}: step {self.step} of {total}, loss {sums / count:.4f}",
                    file=sys.stderr,
                    flush=True,
                )
                self.curve.append((self.step, round(sums / count, 4)))
                sums, count = 0.0, 0
                self.save(time.process_time() - began)
        self.save(time.process_time() - began)

    def _learn(self, rate: float) -> None:
        if self.stage.layers:
            torch.nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
            for group in self.optimiser.param_groups:
                group["lr"] = self.stage.layers * rate
            self.optimiser.step()
            self.optimiser.zero_grad()
        if self.stage.rows:
            self.rows.learn(self.stage.rows * rate, self.moving)

    def _lessons(self) -> Iterator[list]:
        return batches_of_lessons(self.material, np.random.default_rng(self.seed + 7 + self.step))

    def _talk(self) -> Iterator[tuple[list[list[int]], list[list[int]], torch.Tensor]]:
        """Steps of talk; now and then the files are read again, as they may have grown."""
        chance, cut = np.random.default_rng(self.seed + 11 + self.step), self.material.cut
        while True:
            own = pairs_of([*self.material.lessons, *self.material.new * (NEW - 1)], chance)
            found, others = own_pairs()
            if self.material.talk is not None:
                more, passing = pairs_in(self.material.talk)
                found, others = [*found, *more], [*others, *passing]
            sides = zip((own, found), (MOST_TALK // 3, MOST_TALK - MOST_TALK // 3), strict=True)
            pairs = [some[at] for some, most in sides for at in chance.permutation(len(some))[:most]]
            others = [others[at] for at in chance.permutation(len(others))[: MOST_TALK // 2]]
            talk = Talk(pairs, others, lambda text: cut.rows(text, 40), chance)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                talk.order(lambda texts: embed(self.student, self.rows, texts))
            print(f"talk: {len(own)} + {len(found)} statements", file=sys.stderr, flush=True)
            for questions, statements, same in islice(talk.steps(48), 150):
                yield questions, statements, torch.from_numpy(same)

    def _chinese(self) -> Iterator[tuple[list[list[int]], torch.Tensor]]:
        texts, vectors = self.material.chinese
        chance = np.random.default_rng(self.seed + 13 + self.step)
        for chosen in mentor.steps(vectors, chance):
            order = sorted(chosen, key=lambda at: len(texts[at]))
            yield [texts[at] for at in order], torch.from_numpy(vectors[order])

    def _lesson(self, batch: tuple[list[list[int]], list[list[int]], torch.Tensor]) -> torch.Tensor:
        questions, statements, same = batch
        states, sizes = self.rows.read(self.student, [*questions, *statements])
        own = states.sum(1) / sizes[:, None]
        count = len(questions)
        met = meetings(states[:count], sizes[:count], states[count:], sizes[count:], self.axes)
        late = functional.cross_entropy(
            met.masked_fill(same, float("-inf")) / TEMPERATURE, torch.arange(count)
        )
        return 0.25 * apart(own[:count], own[count:], same, self.axes) + 0.07 * late

    def save(self, seconds: float, path: Path | None = None) -> None:
        path = path or self.path
        scratch = path.with_suffix(".part")
        torch.save(
            {
                "student": self.student.state_dict(),
                "rows": self.rows.values.numpy(),
                "force": self.rows.force.numpy(),
                "seen": self.rows.seen.numpy(),
                "step": self.step,
                "seconds": self.seconds + seconds,
                "curve": self.curve,
                "optimiser": self.optimiser.state_dict(),
            },
            scratch,
        )
        scratch.rename(path)


def batches_of_lessons(
    material: Material, chance: np.random.Generator, size: int = 40
) -> Iterator[tuple[list[list[int]], list[list[int]], torch.Tensor]]:
    """Questions with their statements, in any two languages, and near misses that are nobody's answer.

    All lessons of a person come together, so that the others of a step are what it must not be confused with.
    """
    people: dict[str, list[Lesson]] = {}
    for lesson in material.lessons:
        people.setdefault(lesson.person, []).append(lesson)
    names = sorted(people)
    new = {lesson.person for lesson in material.new}
    share = np.array([NEW if name in new else 1 for name in names], dtype=np.float64)
    cut = {}

    def rows(text: str) -> list[int]:
        if text not in cut:
            cut[text] = material.cut.rows(text, 48)
        return cut[text]

    languages = ["en", "th", "zh"]
    while True:
        chosen: list[Lesson] = []
        while len(chosen) < size:
            group = people[names[chance.choice(len(names), p=share / share.sum())]]
            chosen += [group[at] for at in chance.permutation(len(group))]
        chosen = chosen[:size]
        fixed = languages[chance.integers(3)] if chance.random() < 0.5 else None  # one language for all facts
        questions, statements, misses, keys = [], [], [], []
        for lesson in chosen:
            own = fixed or languages[chance.integers(3)]
            asked = own if chance.random() < 0.6 else languages[chance.integers(3)]
            question = lesson.questions[chance.integers(len(lesson.questions))]
            questions.append(rows(question[asked]))
            statements.append(rows(lesson.statement[own]))
            keys.append(lesson.key)
            if lesson.near and chance.random() < 0.7:
                misses.append(rows(lesson.near[chance.integers(len(lesson.near))][own]))
        count = len(questions)
        same = torch.zeros(count, count + len(misses), dtype=torch.bool)
        for one in range(count):
            for other in range(count):
                same[one, other] = one != other and keys[one] == keys[other]
        yield questions, [*statements, *misses], same


def _language(piece: str, at: int, english: int) -> str:
    if at < english:
        return "en"
    return "th" if "\u0e00" <= piece[0] <= "\u0e7f" else "zh"


def load(
    work: Path, talk: Path | None = None, held: Sequence[str] = (), first: str | None = None
) -> Material:
    """What `prepare` left in the work folder, and our own lessons as they are now.

    Those of the files `held` are kept back, to choose by; those from the file `first` on are new.
    """
    words = glossary.load(work / "vocab.json")
    cut = words.cutter()
    found = curriculum.curriculum(pairs.load(pairs.newest(work, SOURCES)), words)
    lessons = own_lessons(held=held)
    new = own_lessons(held=held, first=first) if first else []
    begun = work / "student" / "all.pt"
    if begun.exists():
        shown = {kind: texts[:MOST_SHOWN] for kind, texts in found.kinds.items()}
        said = {**anchors.own_texts(lessons), **anchors.by_language("phrase", phrases())}
        kinds = anchors.anchored(begun, {**shown, **said}, cut)
    else:
        known = teacher.known(work)
        kinds = {**_kinds(found, cut, known), **_taught(lessons, cut, known)}
    if not (work / "axes.npy").exists():
        sample = np.stack([goal for _, goal in kinds["english"]]).astype(np.float64)
        _, directions = np.linalg.eigh(sample.T @ sample)
        np.save(work / "axes.npy", np.ascontiguousarray(directions[:, ::-1].astype(np.float32)))
    chinese = _chinese_texts(lessons)
    told = mentor.taught([text.translate(words.simplified) for text in chinese], work)
    lessons += word_lessons()
    return Material(words, cut, kinds, lessons, new, talk, ([cut.rows(text, 64) for text in chinese], told))


def _taught(lessons: Sequence[Lesson], cut: Pieces, known: dict[str, np.ndarray]) -> Kinds:
    return {
        f"own-{language}": [
            (cut.rows(side[language], 64), known[side["en"]])
            for lesson in lessons
            for side in (lesson.statement, *lesson.questions, *lesson.near)
            if side["en"] in known
        ]
        for language in ("en", "th", "zh")
    }


def _chinese_texts(lessons: Sequence[Lesson]) -> list[str]:
    """Everything of ours that is said in Chinese, once."""
    sides = [side for lesson in lessons for side in (lesson.statement, *lesson.questions, *lesson.near)]
    asked = [one.questions["zh"] for one in own_talk() if "zh" in one.questions and not one.held]
    said = [text for sort, text in spoken("zh") if sort not in ("task", "chat")]
    return list(dict.fromkeys([*(side["zh"] for side in sides), *asked, *said]))


def _kinds(found: curriculum.Curriculum, cut: Pieces, known: dict[str, np.ndarray]) -> Kinds:
    kinds: Kinds = {}
    for name, texts in found.kinds.items():
        kinds[name] = [(cut.rows(text, 128), known[goal]) for text, goal in texts if goal in known]
    for name in ("th", "zh"):
        sides = dict.fromkeys(english for _, english in found.kinds[name] if english in known)
        kinds[f"{name}-english"] = [(cut.rows(english, 128), known[english]) for english in sides]
    return kinds


def merge(work: Path, stage: str, parts: Mapping[str, float]) -> None:
    """The weighted mean of checkpoints that went on from one another, as the checkpoint of a stage."""
    home = work / "student"
    runs = {name: torch.load(home / f"{name}.pt", weights_only=False) for name in parts}
    numbers = {
        name: {"rows": run["rows"], **{key: value.numpy() for key, value in run["student"].items()}}
        for name, run in runs.items()
    }
    merged = mean.mean({name: (weight, numbers[name]) for name, weight in parts.items()})
    begun = home / f"{stage}.pt"  # what all of them went on from
    before = torch.load(begun, weights_only=False)["seconds"] if begun.exists() else 0.0
    out = {
        "rows": merged.pop("rows"),
        "student": {name: torch.from_numpy(values) for name, values in merged.items()},
        "step": max(run["step"] for run in runs.values()),
        "seconds": before + sum(max(0.0, run["seconds"] - before) for run in runs.values()),
        "curve": runs[min(runs)]["curve"],
        "parts": dict(sorted(parts.items())),
    }
    torch.save(out, begun)


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.encoder.reading", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("stage", choices=["prepare", "unpack", *STAGES, "merge", "pack"])
    parser.add_argument("--work", type=Path, default=Path("build/encoder"))
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--until", type=int, default=1_000_000, help="stop after this step of the stage")
    parser.add_argument(
        "--seed", type=int, default=0, help="another number runs beside, with its own checkpoint"
    )
    parser.add_argument("--keep", type=int, default=0, help="keep a checkpoint of every so many steps")
    parser.add_argument("--cool", action="store_true", help="let the rates fall to almost nothing")
    parser.add_argument("--talk", type=Path, help="a folder of statements with questions")
    parser.add_argument("--held", nargs="*", default=[], help="files of lessons that are not learnt")
    parser.add_argument("--first", help="the first file of lessons that the packed model has not learnt")
    parser.add_argument("--parts", nargs="+", default=[], help="checkpoints to merge, as NAME or NAME=WEIGHT")
    parser.add_argument("--out", type=Path, default=TABLE.parent / "reading")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.stage == "prepare":
        prepare(chosen.work)
    elif chosen.stage == "unpack":
        unpack(chosen.out, chosen.work)
    elif chosen.stage == "merge":
        present = [path.stem for path in (chosen.work / "student").glob("all*.pt")]
        others = [name for name in present if name != "all"]
        merge(chosen.work, "all", mean.named(chosen.parts or others, present))
    elif chosen.stage == "pack":
        pack_reading.pack(chosen.work, chosen.out)
    else:
        torch.manual_seed(SEED)
        material = load(chosen.work, chosen.talk, chosen.held, chosen.first)
        run = Run(chosen.stage, chosen.work, material, chosen.seed)
        run.go(chosen.minutes, chosen.until, cool=chosen.cool, keep=chosen.keep)
        print(json.dumps({"stage": run.name, "step": run.step, "curve": run.curve[-3:]}), file=sys.stderr)


if __name__ == "__main__":
    main()
