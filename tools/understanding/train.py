"""Two readings, trained in floats and rounded: a softmax over hashed features, and a layer over its scores
and the signs; beside an encoder `tune.py` trains the second one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.language.features import Hashes, Seen, features
from lamina.language.hearing import Hearing
from lamina.language.sorts import MIDWAY, STEP, UNIT, Second, Sort, Sorter, Wholes

Floats = NDArray[np.float32]
EPOCHS, RATE, SMOOTHED, SEED = 8, 0.5, 0.03, 7
#: What the first steps are divided by, so that none is too long.
_START = 0.01
LEVELS = 127
#: The second reading: its size, and how it is trained.
HIDDEN, PACE, LEFT_OUT = 64, 0.005, 0.3
ROUNDS, PART, SHRINK = 18, 256, 1e-4
#: In how many sentences a sign has to occur, and by how much scores are divided before they are weighed.
COMMON, LOUD = 8, 3.0
#: In how many sentences a feature has to occur, and how many features are kept.
SEEN, MOST = 2, 125_000


def seen(hearings: Sequence[Hearing]) -> list[Seen]:
    """What the model sees of each message."""
    return [features(hearing, 0, len(hearing.said)) for hearing in hearings]


def fit(inputs: Sequence[Hashes], labels: Sequence[Sort], epochs: int = EPOCHS) -> Sorter:
    """The rounded model that fits some sentences; the same inputs give the same bytes on one machine.

    Sentence by sentence, each weight with a step of its own: long for what was hardly ever seen (Adagrad).
    """
    sorts = list(Sort)
    wanted = [sorts.index(one) for one in labels]
    used, places = _common(inputs)
    weights = np.zeros((len(used), len(sorts)), dtype=np.float32)
    moved = np.full_like(weights, _START)
    bias, bias_moved = np.zeros(len(sorts), dtype=np.float32), np.full(len(sorts), _START, dtype=np.float32)
    order = np.random.default_rng(SEED)
    for epoch in range(epochs):
        rate = RATE * (1.05 - epoch / epochs)
        for at in order.permutation(len(inputs)).tolist():
            seen_here, worth = places[at], max(1, len(inputs[at])) ** -0.5
            wrong = _softmax(weights[seen_here].sum(axis=0) * worth + bias) - SMOOTHED / len(sorts)
            wrong[wanted[at]] -= 1 - SMOOTHED
            step = wrong * worth
            moved_here = moved[seen_here] + step * step
            moved[seen_here] = moved_here
            weights[seen_here] -= rate * step / np.sqrt(moved_here)
            bias_moved += wrong * wrong
            bias -= rate * wrong / np.sqrt(bias_moved)
    return _rounded(used, weights, bias)


def read_twice(
    first: Wholes, signs: Sequence[frozenset[str]], labels: Sequence[Sort], wide: Wholes | None = None
) -> Second:
    """The second reading that fits where no encoder reads; `first` are scores of sentences that the first
    was not trained on. With `wide`, scores of what stands beside each, what each is among them."""
    counts = Counter(name for each in signs for name in each)
    names = tuple(sorted(name for name, count in counts.items() if count >= COMMON))
    always = np.ones((len(first), 1), dtype=np.float32)
    beside = np.zeros((len(first), 0)) if wide is None else wide / MIDWAY / LOUD
    given = np.concatenate([given_of(first, signs, names), _floats(beside), always], axis=1)
    wanted = np.array([list(Sort).index(one) for one in labels])
    chance = np.random.default_rng(SEED)
    inner = _floats(chance.uniform(-1, 1, (given.shape[1], HIDDEN)) / np.sqrt(given.shape[1]))
    outer = _floats(chance.uniform(-1, 1, (HIDDEN + 1, len(Sort))) / np.sqrt(HIDDEN))
    steps = _Steps([inner, outer])
    for number in range(ROUNDS):
        pace = PACE * (1 - number / ROUNDS) + PACE / 20
        for part in np.array_split(chance.permutation(len(given)), len(given) // PART + 1):
            steps.take(_slopes(given[part], wanted[part], (inner, outer), chance), pace)
    inner[: len(Sort)] /= LOUD
    inner[len(Sort) + len(names) : -1] /= LOUD
    return Second(names, np.rint(inner * STEP).astype(np.int64), np.rint(outer * STEP).astype(np.int64))


def given_of(first: Wholes, signs: Sequence[frozenset[str]], names: Sequence[str]) -> Floats:
    """What letters and signs say of each sentence, a row each."""
    level = (first - first.mean(axis=1, keepdims=True)) / UNIT / LOUD
    there = [[name in each for name in names] for each in signs]
    return _floats(np.concatenate([level, np.array(there, dtype=float)], axis=1))


def _floats(wide: NDArray[np.floating[Any]]) -> Floats:
    return np.asarray(wide, dtype=np.float32)


def _slopes(
    given: Floats, wanted: Wholes, layers: tuple[Floats, Floats], chance: np.random.Generator
) -> list[Floats]:
    """Where the two layers should go, for some sentences; a part of the hidden numbers is left out."""
    inner, outer = layers
    kept = _floats((chance.random((len(given), HIDDEN)) >= LEFT_OUT) / (1 - LEFT_OUT))
    hidden = np.maximum(given @ inner, 0) * kept
    logits = hidden @ outer[:-1] + outer[-1]
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    wrong = raised / raised.sum(axis=1, keepdims=True) - np.float32(SMOOTHED / len(Sort))
    wrong[np.arange(len(wanted)), wanted] -= 1 - SMOOTHED
    wrong /= len(given)
    back = (wrong @ outer[:-1].T) * kept * (hidden > 0)
    return [given.T @ back, np.concatenate([hidden.T @ wrong, wrong.sum(axis=0, keepdims=True)])]


class _Steps:
    """Adam, for some arrays that it changes in place."""

    def __init__(self, arrays: Sequence[Floats]) -> None:
        self._arrays = arrays
        self._means = [np.zeros_like(one) for one in arrays]
        self._squares = [np.zeros_like(one) for one in arrays]
        self._count = 0

    def take(self, slopes: Sequence[Floats], pace: float) -> None:
        self._count += 1
        for at, (array, slope) in enumerate(zip(self._arrays, slopes, strict=True)):
            slope = slope + SHRINK * array
            self._means[at] = 0.9 * self._means[at] + 0.1 * slope
            self._squares[at] = 0.999 * self._squares[at] + 0.001 * slope * slope
            mean = self._means[at] / (1 - 0.9**self._count)
            array -= pace * mean / (np.sqrt(self._squares[at] / (1 - 0.999**self._count)) + 1e-8)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    raised = np.exp(logits - logits.max())
    return np.asarray(raised / raised.sum(), dtype=np.float32)


def _common(inputs: Sequence[Hashes]) -> tuple[Hashes, list[Wholes]]:
    """The features that some sentences have, and the sentences by the places of those."""
    found, counts = np.unique(np.concatenate(inputs), return_counts=True)
    used = found[counts >= SEEN]
    rows = []
    for row in inputs:
        places = np.minimum(np.searchsorted(used, row), len(used) - 1)
        rows.append(places[used[places] == row].astype(np.int64))
    return used, rows


def _rounded(known: Hashes, weights: NDArray[np.float32], bias: NDArray[np.float32]) -> Sorter:
    weights = weights - weights.mean(axis=1, keepdims=True)  # only differences between sorts count
    step = float(np.quantile(np.abs(weights), 0.9995)) / LEVELS or 1.0
    rounded = np.clip(np.rint(weights / step), -LEVELS, LEVELS).astype(np.int8)
    strong = np.sort(np.argsort(-np.abs(rounded.astype(np.int64)).sum(axis=1), kind="stable")[:MOST])
    scale = round(UNIT * step * 4096)
    return Sorter(known[strong], rounded[strong], np.rint(bias * UNIT).astype(np.int64), scale)


def save(model: Sorter, path: Path, card: dict[str, object]) -> None:
    """One line of JSON, then the weights, the finders, and the second readings."""
    if model.plain is None or model.read is None or (finders := model.read.finders) is None:
        raise ValueError("A model is saved with its second readings.")
    seconds = [model.plain, model.read, *([] if model.beside is None else [model.beside])]
    rows, count = finders.matrix.shape
    numbers = np.concatenate([part.ravel() for one in seconds for part in (one.inner, one.outer)])
    biases = {sort: int(value) for sort, value in zip(Sort, model.biases, strict=True)}
    head = {
        **card,
        "features": len(model.known),
        "scale": model.scale,
        "biases": biases,
        "finders": {"rows": rows, "count": count, "largest": finders.largest},
        "readings": [_card_of(one) for one in seconds],
    }
    path.write_bytes(
        json.dumps(head, sort_keys=True).encode()
        + b"\n"
        + model.known.astype("<u4").tobytes()
        + model.weights.tobytes()
        + finders.matrix.tobytes()
        + np.concatenate([finders.worth, finders.bias]).astype("<f4").tobytes()
        + numbers.astype("<i4").tobytes()
    )


def _card_of(second: Second) -> dict[str, object]:
    return {
        "signs": second.names,
        "hidden": second.inner.shape[1],
        "wide": len(second.inner) - len(Sort) - len(second.names) - 1,
        "thresholds": dict(second.thresholds),
        "encoder": second.encoder,
    }
