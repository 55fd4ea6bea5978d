"""Measures what a score means: what the teacher says of the English sides of texts that were never learnt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement

import numpy as np

from tools.encoder.course import held_back
from tools.encoder.pairs import Row

_SEED = 5
_TEXTS = 1500  # of each language
_POINTS = 13
_NEAREST = 3
_ONE = 0.98  # from here on two vectors are the same

Curve = list[tuple[float, float]]


def curves(
    rows: Sequence[Row], number: dict[str, int], teacher: np.ndarray, embed: Callable[[list[str]], np.ndarray]
) -> dict[str, Curve]:
    """For each pair of languages, points from our score to the teacher's."""
    chance = np.random.default_rng(_SEED)
    sides: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for language in ("en", "th", "zh"):
        known = {
            text: number[english] for _, own, text, english in rows if own == language and _usable(english)
        }
        texts = sorted(known)
        chosen = [texts[at] for at in chance.permutation(len(texts))[:_TEXTS]]
        sides[language] = embed(chosen), teacher[[known[text] for text in chosen]].astype(np.float32)
    return between(sides, chance)


def between(sides: dict[str, tuple[np.ndarray, np.ndarray]], chance: np.random.Generator) -> dict[str, Curve]:
    """The same from texts by language: our vectors of them, and the teacher's of their English."""
    found: dict[str, Curve] = {}
    for one, other in combinations_with_replacement(sorted(sides), 2):
        ours = (sides[one][0] @ sides[other][0].T).astype(np.float64)
        theirs = (sides[one][1] @ sides[other][1].T).astype(np.float64)
        found[f"{one}-{other}"] = _curve(*_sampled(ours, theirs, chance, same=one == other))
    return found


def _usable(english: str) -> bool:
    return held_back(english) and 12 <= len(english) <= 200


def _sampled(
    ours: np.ndarray, theirs: np.ndarray, chance: np.random.Generator, *, same: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Of each text its nearest by the teacher, and as many by chance: alike and unlike in equal parts."""
    if same:
        np.fill_diagonal(theirs, -1.0)
    near = np.argsort(-theirs, axis=1)[:, :_NEAREST]
    far = chance.integers(0, theirs.shape[1], near.shape)
    columns = np.concatenate([near, far], axis=1)
    lines = np.arange(len(theirs))[:, None]
    x, y = ours[lines, columns].ravel(), theirs[lines, columns].ravel()
    kept = y > -1.0
    return x[kept], np.clip(y[kept], 0.0, 1.0)


def _curve(x: np.ndarray, y: np.ndarray) -> Curve:
    """The best rising curve (pool adjacent violators), at evenly spread scores."""
    order = np.argsort(x, kind="stable")
    blocks: list[list[float]] = []  # mean, weight
    for value in y[order]:
        blocks.append([float(value), 1.0])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, weight = blocks.pop()
            before, count = blocks.pop()
            blocks.append([(before * count + mean * weight) / (count + weight), count + weight])
    fitted = np.repeat([mean for mean, _ in blocks], [int(weight) for _, weight in blocks])
    grid = np.linspace(np.quantile(x, 0.02), min(1.0, float(x.max())), _POINTS)
    heights = np.interp(grid, x[order], fitted)
    smooth = np.convolve(np.pad(heights, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
    smooth[-1] = 1.0 if grid[-1] > _ONE else smooth[-1]
    points = [
        (round(float(a), 4), round(float(b), 4))
        for a, b in zip(grid, np.maximum.accumulate(smooth), strict=True)
    ]
    return points if grid[-1] > _ONE else [*points, (1.0, 1.0)]  # what is the same is the same
