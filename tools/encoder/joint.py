"""Trains the reader of two texts together, on the lower layers of the packed model.

    python -m tools.encoder.joint train --work FOLDER [--minutes N] [--more FOLDER] [--seed N --fold N] [--on]
    python -m tools.encoder.joint pack --work FOLDER [--parts NAME[=WEIGHT] ...] [--out FOLDER]

The lower layers read each text by itself and stay as they are; two layers of its own, which begin as the
packed model's last ones (with `--on`, as the packed reader's), read both together. They say several things:
whether a statement answers a question, whether a message puts right what was said before or wants it
forgotten, and whether a later decision changes an earlier one. `train` goes on from its checkpoint, and keeps
the running mean of its steps, which is what is judged and packed; of several runs (`--seed`) that began alike
the mean is packed. A run with `--fold` does not learn half of the conversations and fortnights: what it says
of those is what thresholds are fitted on.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from lamina_encoder import joint as lamina_joint
from lamina_encoder.reading import MATRICES, NUMBERS, ReadingEncoder
from torch import nn
from torch.nn import functional

from lamina.encoders.static import StaticEncoder
from tools.encoder import mean
from tools.encoder.attributes import SHELF, shelves
from tools.encoder.beside import Beside, decisions, messages
from tools.encoder.lessons import FOLDER, Lesson, place, read_lessons, unanswerable
from tools.encoder.pack_reading import Flat, eighth, hash_of
from tools.encoder.phrases import word_lessons
from tools.encoder.student import WIDE, WIDTH, Layer
from tools.encoder.talk import near_judge, own_talk
from tools.encoder.unpack import layer_of, student_of
from tools.understanding.rows import is_held

SEED = 20261118
LOWER, UPPER = 3, 2  #: layers that read a text by itself, and layers that read both together
LONGEST = 48  #: pieces of a text that are read
LANGUAGES = ("en", "th", "zh")
FIRST_NEW = "lessons-57"  #: the encoder that is packed has not learnt from this file and those after it
NEW = 7.0  #: how much more often these are drawn: of what it has learnt it makes no mistakes
TALK = "talk-"  #: how people are called whose shelf nobody knows
#: What the reader is asked, and the outputs that say it.
WAYS = {"answers": ("answers",), "amends": ("corrects", "forgets"), "changes": ("changes",)}
OUTPUTS = tuple(name for names in WAYS.values() for name in names)
GROUPS, BESIDE = 4, 4  #: questions in a step, and what stands beside the answer of each
MESSAGES, DECISIONS = 4, 4  #: messages and decisions in a step
NOBODY = 0.35  #: of the questions, so many have their answer taken away
EACH = 0.3  #: what it counts that each text by itself is said to answer or not, beside which of them does
RATE, HEAD_RATE = 1.5e-4, 3e-3
KEPT = 0.997  #: of the running mean, at each step
_SAME = 0.8  # from this likeness on two statements may answer one question
_MARGIN = 0.08  # what others say that is nearly as like the question may answer it, too
_OWN, _AMONG = 14, 40  # what is drawn from: the likest of the same person, and of all


class Reader(nn.Module):
    """Reads the states of a question and of a statement together, and says how well they fit."""

    def __init__(self) -> None:
        super().__init__()
        self.segment = nn.Parameter(torch.zeros(len(WAYS), 2, WIDTH))
        self.layers = nn.ModuleList(Layer() for _ in range(UPPER))
        self.worth = nn.Parameter(torch.full((len(OUTPUTS), WIDTH), 10.0))
        self.head = nn.Parameter(torch.zeros(len(OUTPUTS), WIDTH))
        self.bias = nn.Parameter(torch.full((len(OUTPUTS),), -4.0))
        self.dropout = 0.1

    def forward(
        self, states: torch.Tensor, asked: torch.Tensor, sizes: torch.Tensor, ways: torch.Tensor
    ) -> torch.Tensor:
        """A number per pair and output, against 0 for "no"; the first `asked` of `sizes` pieces ask."""
        count, length, _ = states.shape
        place = torch.arange(length)[None, :]
        real, asks = place < sizes[:, None], place < asked[:, None]
        hidden = real[:, None, None, :].expand(count, 1, length, length)
        state = states + torch.where(asks[:, :, None], self.segment[ways, :1], self.segment[ways, 1:])
        state = functional.dropout(state, self.dropout, self.training)
        for layer in self.layers:
            state = layer(state, hidden)
        state = state.float()
        one = (state * asks[:, :, None]).sum(1)
        both = (state * real[:, :, None]).sum(1)
        unit, other = functional.normalize(one, dim=1), functional.normalize(both - one, dim=1)
        mean = functional.dropout(both / sizes[:, None], self.dropout, self.training)
        return (unit * other) @ self.worth.T + mean @ self.head.T + self.bias


class Library:
    """Every text once: its vector by the table, for what it may be confused with, and what the lower layers
    say of its pieces, read when it is first asked for."""

    def __init__(self, encoder: ReadingEncoder) -> None:
        self.encoder = encoder
        self.student = student_of(encoder).eval()
        self._rows = np.asarray(encoder._rows), encoder._model.row_worth
        self._table = StaticEncoder()
        self.number: dict[str, int] = {}
        self.vectors = np.zeros((0, self._table.dimension), dtype=np.float32)
        self._cut: list[list[int]] = []
        self._states: dict[int, torch.Tensor] = {}

    def add(self, texts: Sequence[str]) -> None:
        """Those that are new get their numbers."""
        new = [text for text in dict.fromkeys(texts) if text not in self.number]
        self.number |= {text: len(self.number) + at for at, text in enumerate(new)}
        self._cut += [self.encoder.pieces.rows(text, LONGEST) for text in new]
        self.vectors = np.concatenate([self.vectors, self._table.embed(new)])

    def size(self, number: int) -> int:
        return len(self._cut[number])

    def _read(self, numbers: Sequence[int]) -> None:
        order = sorted({one for one in numbers if one not in self._states}, key=self.size)
        for start in range(0, len(order), 24):
            part = order[start : start + 24]
            low = self._lower([self._cut[one] for one in part])
            self._states |= {
                one: low[line, : self.size(one)].to(torch.bfloat16).clone() for line, one in enumerate(part)
            }

    @torch.no_grad()
    def _lower(self, texts: Sequence[Sequence[int]]) -> torch.Tensor:
        sizes = torch.tensor([len(text) for text in texts])
        length = int(sizes.max())
        ids = np.zeros((len(texts), length), dtype=np.int64)
        for line, text in enumerate(texts):
            ids[line, : len(text)] = text
        rows, worth = self._rows
        first = torch.from_numpy(rows[ids].astype(np.float32) * worth[ids][..., None])
        real = torch.arange(length)[None, :] < sizes[:, None]
        hidden = real[:, None, None, :].expand(len(texts), 1, length, length)
        state = self.student.first_norm(first + self.student.place[:length])
        for layer in self.student.layers[:LOWER]:
            state = layer(state, hidden)
        return state

    def pairs(self, pairs: Sequence[tuple[int, int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """States of questions and statements behind each other, how many ask, and how many there are."""
        self._read([number for pair in pairs for number in pair])
        both = [(self._states[one], self._states[other]) for one, other in pairs]
        asked = torch.tensor([len(one) for one, _ in both])
        sizes = torch.tensor([len(one) + len(other) for one, other in both])
        out = torch.zeros(len(pairs), int(sizes.max()), WIDTH)
        for line, (one, other) in enumerate(both):
            out[line, : len(one)] = one
            out[line, len(one) : len(one) + len(other)] = other
        return out, asked, sizes


@dataclass(frozen=True)
class Asked:
    """A question in some languages, and what answers it by language; nothing, if nobody can."""

    person: str
    key: str
    question: dict[str, str]
    answer: dict[str, str]
    is_new: bool = False  #: whether the encoder itself has not learnt from it
    near: tuple[dict[str, str], ...] = ()  #: what was written to be confused with the answer


@dataclass
class Course:
    """Questions, and all that is said by language: text, person, key (none for a near miss)."""

    asked: list[Asked] = field(default_factory=list)
    said: dict[str, list[tuple[str, str, str]]] = field(default_factory=lambda: defaultdict(list))

    def texts(self) -> list[str]:
        sides = [text for one in self.asked for text in (*one.question.values(), *one.answer.values())]
        return sides + [text for known in self.said.values() for text, _, _ in known]

    def add_lessons(self, lessons: Sequence[Lesson], *, are_new: bool = False) -> None:
        for lesson in lessons:
            for language in LANGUAGES:
                self.said[language].append((lesson.statement[language], lesson.person, lesson.key))
                self.said[language] += [(near[language], lesson.person, "") for near in lesson.near]
            for question in lesson.questions:
                self.asked.append(
                    Asked(lesson.person, lesson.key, question, lesson.statement, are_new, lesson.near)
                )

    def add_talk(self) -> None:
        for number, one in enumerate(own_talk()):
            if not one.held:
                sides = {one.language: one.statement} | ({"en": one.english} if one.english else {})
                person = f"{TALK}{one.language}"
                for language, text in sides.items():
                    self.said[language].append((text, person, f"talk-{number}"))
                for language, question in one.questions.items():
                    self.asked.append(Asked(person, f"talk-{number}", {language: question}, sides))


@dataclass(frozen=True)
class Group:
    """A question by its number, its answer or -1, and what may stand beside it: of its person, of others.

    What was written to be confused with the answer comes first.
    """

    question: int
    answer: int
    own: list[int]
    others: list[int]


Known = Sequence[tuple[float, list[Group]]]


def groups(course: Course, library: Library) -> Known:
    """By question how often it is drawn, and its groups in every pair of languages in which it is told."""
    out: list[list[Group]] = [[] for _ in course.asked]
    for language, known in course.said.items():
        said = _Said(known, library)
        wanted = [at for at, one in enumerate(course.asked) if not one.answer or language in one.answer]
        for start in range(0, len(wanted), 128):
            part = wanted[start : start + 128]
            for at, found in zip(part, said.groups([course.asked[at] for at in part], language), strict=True):
                out[at] += found
    return [(NEW if one.is_new else 1.0, some) for one, some in zip(course.asked, out, strict=True) if some]


class _Said:
    """All that is said in a language, to look for what a question may be confused with."""

    def __init__(self, known: Sequence[tuple[str, str, str]], library: Library) -> None:
        self._number: dict[str, int] = {}
        self._library = library
        self._texts = np.array([library.number[text] for text, _, _ in known])
        self._people = np.array([self._of(f"person {person}") for _, person, _ in known])
        self._keys = np.array([self._of(f"key {key}") for _, _, key in known])
        self._talk = np.array([person.startswith(TALK) for _, person, _ in known])
        self._shelf = np.array([person.startswith(SHELF) for _, person, _ in known])
        self._vectors = np.ascontiguousarray(library.vectors[self._texts].T)

    def _of(self, name: str) -> int:
        return self._number.setdefault(name, len(self._number))

    def groups(self, some: Sequence[Asked], language: str) -> Iterator[list[Group]]:
        """Those of each question; what it is asked in, and its answer in a language."""
        number = self._library.number
        texts = [[*one.question.values(), *([one.answer[language]] if one.answer else [])] for one in some]
        likes = self._library.vectors[[number[text] for own in texts for text in own]] @ self._vectors
        at = 0
        for one, own in zip(some, texts, strict=True):
            near = [number[side[language]] for side in one.near]
            yield self._group(one, [number[text] for text in own], near, likes[at : at + len(own)])
            at += len(own)

    def _group(
        self, one: Asked, numbers: Sequence[int], near: Sequence[int], likes: np.ndarray
    ) -> list[Group]:
        count, vectors = len(one.question), self._library.vectors
        gold = numbers[count] if one.answer else -1
        free = self._keys != self._of(f"key {one.key}")
        free &= likes[-1] < _SAME if one.answer else True
        same, is_talk = self._people == self._of(f"person {one.person}"), one.person.startswith(TALK)
        out = []
        for question, like in zip(numbers[:count], likes[:count], strict=True):
            own = _likest(like, free & same & (not is_talk), _OWN)
            others = own[:0]
            if one.answer and not one.person.startswith(SHELF):  # others say there what would answer it
                most = float(vectors[gold] @ vectors[question]) - _MARGIN
                others = _likest(
                    like, free & (like < most) & (self._talk if is_talk else ~same & ~self._shelf), _AMONG
                )
            if len(own) + len(others) >= BESIDE:
                first = dict.fromkeys([*near, *self._texts[own].tolist()])
                out.append(Group(question, gold, [*first], self._texts[others].tolist()))
        return out


def _likest(like: np.ndarray, wanted: np.ndarray, most: int) -> np.ndarray:
    places = np.flatnonzero(wanted)
    if len(places) > most:
        places = places[np.argpartition(-like[places], most)[:most]]
    return places[np.argsort(-like[places], kind="stable")]


class Drawn(NamedTuple):
    """A text and what stands beside it in a step."""

    way: str
    text: int
    beside: list[int]
    goal: int  #: the place of what is right among all outputs of its way, one after the other; 0 for nothing


def steps(
    known: Known, rows: Sequence[Sequence[Beside]], library: Library, seed: int
) -> Iterator[list[Drawn]]:
    """Questions, each with what stands beside it: the answer first, where it is there; and later texts."""
    chance = np.random.default_rng(seed)
    share = np.array([weight for weight, _ in known])
    shares = [np.array([one.share for one in some]) for some in rows]
    while True:
        out = []
        for count, some, own in zip((MESSAGES, DECISIONS), rows, shares, strict=True):
            for at in chance.choice(len(some), count, p=own / own.sum()).tolist() if some else ():
                texts, goal = some[at].drawn(chance)
                numbers = [library.number[text] for text in texts]
                out.append(Drawn(some[at].way, library.number[some[at].text], numbers, goal))
        for at in chance.choice(len(known), GROUPS, p=share / share.sum()).tolist():
            _, some = known[at]
            group = some[int(chance.integers(len(some)))]
            taken = group.answer < 0 or (bool(group.own) and chance.random() < NOBODY)
            beside = _drawn(group, chance)
            texts = beside if taken else [group.answer, *beside]
            out.append(Drawn("answers", group.question, texts, 0 if taken else 1))
        yield out


def _drawn(group: Group, chance: np.random.Generator) -> list[int]:
    """Mostly of the same person, those that are most easily taken for the answer more often."""
    own, others = list(group.own), list(group.others)
    wanted = min(len(own), int(chance.integers(2, 5)) if others else BESIDE)
    first = [own.pop(min(int(chance.exponential(2.5)), len(own) - 1)) for _ in range(wanted)]
    rest = min(BESIDE - len(first), len(others))
    return first + [others[at] for at in chance.choice(len(others), rest, replace=False).tolist()]


class Run:
    """The training from its checkpoint on."""

    def __init__(self, work: Path, library: Library, seed: int = 0, packed: Path | None = None) -> None:
        self.library, self.seed = library, SEED + 1000 * seed
        self.path = work / f"joint{f'-{seed}' if seed else ''}.pt"
        work.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(self.seed)
        self.reader = Reader()
        for own, given in zip(self.reader.layers, library.student.layers[LOWER:], strict=True):
            own.load_state_dict(given.state_dict())
        if packed is not None and not self.path.exists():
            _begin(self.reader, packed)
        self.mean = copy.deepcopy(self.reader)
        layers = list(self.reader.layers.parameters())
        heads = [self.reader.worth, self.reader.head, self.reader.bias]
        self.optimiser = torch.optim.AdamW(
            [
                {"params": layers, "rate": RATE},
                {"params": [self.reader.segment], "rate": 10 * RATE},
                {"params": heads, "rate": HEAD_RATE},
            ],
            weight_decay=0.01,
        )
        self.step, self.curve = 0, list[tuple[float, ...]]()
        if self.path.exists():
            begun = torch.load(self.path, weights_only=False)
            self.reader.load_state_dict(begun["reader"])
            self.mean.load_state_dict(begun["mean"])
            self.optimiser.load_state_dict(begun["optimiser"])
            self.step, self.curve = begun["step"], begun["curve"]

    def go(self, course: Iterator[list[Drawn]], minutes: float, total: int, keep: int = 0) -> None:
        """On to step `total`, at which the rate has fallen to almost nothing, or for so long."""
        began = shown = time.process_time()
        sums: list[list[float]] = []
        self.reader.train()
        while self.step < total and time.process_time() - began < 60 * minutes:
            warm = min(1.0, (self.step + 1) / 50)
            rate = warm * max(0.03, 0.5 * (1 + np.cos(np.pi * self.step / total)))
            sums.append(self._learn(next(course), rate))
            self.step += 1
            if keep and self.step % keep == 0:
                self.save(self.path.with_stem(f"{self.path.stem}-{self.step}"))
            if time.process_time() - shown > 20:
                shown = time.process_time()
                told = np.nanmean(sums, axis=0).round(3).tolist()
                self.curve.append((self.step, *told))
                print(f"step {self.step}, loss and right of {[*WAYS]}: {told}", file=sys.stderr, flush=True)
                sums = []
                self.save()
        self.save()

    def _learn(self, drawn: Sequence[Drawn], rate: float) -> list[float]:
        ways = [*WAYS]
        pairs = [(one.text, text, ways.index(one.way)) for one in drawn for text in one.beside]
        scores, at = self.scores(pairs, self.reader), 0
        loss, sums = scores.new_zeros(()), dict[str, list[tuple[float, bool]]]()
        for one in drawn:
            columns = [OUTPUTS.index(name) for name in WAYS[one.way]]
            line = torch.cat([scores.new_zeros(1), scores[at : at + len(one.beside), columns].T.flatten()])
            each = functional.one_hot(torch.tensor(one.goal), len(line)).float()[1:]
            own = -line.log_softmax(0)[one.goal]
            own = own + EACH * functional.binary_cross_entropy_with_logits(line[1:], each)
            loss = loss + own / len(drawn)
            sums.setdefault(one.way, []).append((float(own.detach()), int(line.argmax()) == one.goal))
            at += len(one.beside)
        loss.backward()
        nn.utils.clip_grad_norm_(self.reader.parameters(), 1.0)
        for group in self.optimiser.param_groups:
            group["lr"] = group["rate"] * rate
        self.optimiser.step()
        self.optimiser.zero_grad()
        kept = min(KEPT, (self.step + 1) / (self.step + 10))
        with torch.no_grad():
            for running, own in zip(self.mean.parameters(), self.reader.parameters(), strict=True):
                running.lerp_(own, 1 - kept)
        return [value for way in WAYS for value in np.mean(sums.get(way, [(np.nan,) * 2]), axis=0).tolist()]

    def scores(self, pairs: Sequence[tuple[int, int, int]], reader: Reader) -> torch.Tensor:
        """In parts of about equal length, to fill up less."""
        sizes = [self.library.size(one) + self.library.size(other) for one, other, _ in pairs]
        order = sorted(range(len(pairs)), key=sizes.__getitem__)
        out: list[torch.Tensor] = []
        for start in range(0, len(order), 16):
            part = [pairs[at] for at in order[start : start + 16]]
            ways = torch.tensor([way for *_, way in part])
            read = self.library.pairs([(one, other) for one, other, _ in part])
            with torch.autocast("cpu", torch.bfloat16, enabled=reader.training):  # half the time
                out.append(reader(*read, ways))
        return torch.cat(out)[torch.tensor(order).argsort()]

    def save(self, path: Path | None = None) -> None:
        torch.save(
            {
                "reader": self.reader.state_dict(),
                "mean": self.mean.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "step": self.step,
                "curve": self.curve,
            },
            path or self.path,
        )


def _begin(reader: Reader, packed: Path) -> None:
    """The weights of a packed reader, whichever encoder it was made for."""
    header = json.loads((packed / lamina_joint.HEADER).read_text("utf-8"))
    given = lamina_joint._Reader(packed, header)
    with torch.no_grad():
        for layer, known in zip(reader.layers, given.layers, strict=True):
            layer_of(layer, known)
        for at, (asks, says, _) in enumerate(given.ways.values()):
            reader.segment[at].copy_(torch.from_numpy(np.stack([asks, says])))
        for at, head in enumerate(head for *_, heads in given.ways.values() for head in heads):
            together, apart, base = head.worth
            reader.worth[at].copy_(torch.from_numpy(head.together * together))
            reader.head[at].copy_(torch.from_numpy(head.apart * apart))
            reader.bias[at].fill_(base)


def course_of(folder: Path, more: Path | None, held: Sequence[str]) -> Course:
    """All lessons and talk but the files that are held back to choose by."""
    course = Course()
    course.add_lessons(word_lessons())
    course.add_talk()
    for known, strange in shelves():
        course.add_lessons(known)
        course.asked += [Asked(person, key, side, {}, is_new=True) for person, key, side in strange]
    further = sorted(more.glob("lessons/*.jsonl")) if more else []
    for path in (*sorted(folder.glob("*.jsonl.xz"), key=place), *further):
        if path.name.split(".")[0] not in held:
            are_new = path.parent != folder or place(path) >= place(Path(FIRST_NEW))
            course.add_lessons([one for one in read_lessons(path) if not _judges(one)], are_new=are_new)
            asked = [Asked(person, key, side, {}, is_new=True) for person, key, side in unanswerable(path)]
            course.asked += [one for one in asked if not any(map(near_judge, one.question.values()))]
    return course


def _judges(lesson: Lesson) -> bool:
    """Whether it is near what the model is measured by."""
    sides = (lesson.statement, *lesson.questions, *lesson.near)
    return any(near_judge(text) for side in sides for text in side.values())


def merge(reader: Reader, work: Path, parts: Mapping[str, float]) -> None:
    """The weighted mean of what several runs came to."""
    known = {name: torch.load(work / f"{name}.pt", weights_only=False)["mean"] for name in parts}
    numbers = {name: {key: value.numpy() for key, value in state.items()} for name, state in known.items()}
    merged = mean.mean({name: (weight, numbers[name]) for name, weight in parts.items()})
    reader.load_state_dict({key: torch.from_numpy(np.asarray(value)) for key, value in merged.items()})


#: A question and texts whose scores prove that another machine computes the same ones.
PROBE = ("Which fruit is bad for me?", ["ฉันแพ้มะม่วง", "我賣芒果", "I sell mangoes.", "", "x" * 5000])


def pack(reader: Reader, encoder: ReadingEncoder, out: Path) -> None:
    """The reader as the product reads it: whole numbers of eight bits, and a header."""
    state = {name: value.detach().numpy().astype(np.float64) for name, value in reader.state_dict().items()}
    flat = Flat(state)
    flat.numbers += [*state["segment"]]
    for layer in range(UPPER):
        flat.layer(f"layers.{layer}.")
    for together, apart, base in zip(state["worth"], state["head"], state["bias"], strict=True):
        steps, worth = eighth(np.stack([together, apart]))
        flat.numbers += [*steps, np.array([*worth, float(base)])]
    flat.save(out)
    header: dict[str, Any] = {
        "format": lamina_joint.FORMAT,
        "encoder": encoder.header["hash"],
        "ways": [*WAYS.items()],
        "layers": UPPER,
        "width": WIDTH,
        "wide": WIDE,
        "longest": LONGEST,
        "largest": flat.largest,
        "hash": hash_of(out, (MATRICES, NUMBERS)),
    }
    path = out / lamina_joint.HEADER
    path.write_text(json.dumps(header), "utf-8")
    question, texts = PROBE
    made = lamina_joint.JointReader(encoder, out)
    scores = {way: made.beside(way, question, texts) for way in WAYS}
    header["probe"] = {"question": question, "texts": texts, "scores": scores}
    path.write_text(json.dumps(header, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.encoder.joint", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("stage", choices=["train", "pack"])
    parser.add_argument("--work", type=Path, default=Path("build/joint"))
    parser.add_argument("--minutes", type=float, default=60.0, help="of the processor's time")
    parser.add_argument("--total", type=int, default=6000, help="steps over which the rate falls")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=int, default=0, help="keep a checkpoint of every so many steps")
    parser.add_argument("--on", action="store_true", help="begin with the packed reader")
    parser.add_argument("--more", type=Path, help="a folder of folders: lessons, relations, fortnights")
    parser.add_argument("--fold", type=int, default=0, choices=[0, 1, 2], help="the half that is not learnt")
    parser.add_argument("--held", nargs="*", default=[], help="files that are not learnt, to choose by")
    parser.add_argument(
        "--parts", nargs="+", default=[], help="what to pack the mean of, as joint-1 joint-2=2"
    )
    parser.add_argument("--out", type=Path, default=Path(lamina_joint.__file__).parent / "joint")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    library = Library(ReadingEncoder())
    packed = Path(lamina_joint.__file__).parent / "joint" if chosen.on else None
    run = Run(chosen.work, library, chosen.seed, packed)
    if chosen.stage == "pack":
        if chosen.parts:
            merge(
                run.mean,
                chosen.work,
                mean.named(chosen.parts, [path.stem for path in chosen.work.glob("*.pt")]),
            )
        pack(run.mean, library.encoder, chosen.out)
        return
    course = course_of(FOLDER, chosen.more, chosen.held)
    rows = [
        [one for one in some if not is_held(one.file, chosen.fold)]
        for some in (messages(chosen.more), decisions(chosen.more))
    ]
    texts = dict.fromkeys(course.texts())
    for one in (one for some in rows for one in some):
        texts.update(dict.fromkeys((one.text, *one.known, *one.strange)))
    library.add([*texts])
    drawn = steps(groups(course, library), rows, library, run.seed + run.step)
    run.go(drawn, chosen.minutes, chosen.total, chosen.keep)


if __name__ == "__main__":
    main()
