"""The weighted mean of checkpoints: the same parts give the same numbers, whatever their order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Weights = Mapping[str, np.ndarray]


def mean(parts: Mapping[str, tuple[float, Weights]]) -> dict[str, np.ndarray]:
    """Checkpoints by name, each with its weight; sums are of 64 bits, in the order of the names."""
    whole = sum(weight for weight, _ in parts.values())
    sums: dict[str, np.ndarray] = {}
    for _, (weight, numbers) in sorted(parts.items()):
        for name, values in numbers.items():
            sums[name] = sums.get(name, np.zeros(values.shape)) + weight / whole * values.astype(np.float64)
    return {name: values.astype(np.float32) for name, values in sums.items()}


def named(given: list[str], present: list[str]) -> dict[str, float]:
    """Weights by checkpoint: those that are asked for (`all-1=2`), or one for each that is there."""
    if not given:
        return dict.fromkeys(sorted(present), 1.0)
    split = [one.partition("=") for one in given]
    out = {name: float(weight or 1) for name, _, weight in split}
    if unknown := sorted(out.keys() - set(present)):
        raise SystemExit(
            f"there is no checkpoint {', '.join(unknown)}; there are {', '.join(sorted(present))}"
        )
    if min(out.values()) <= 0:
        raise SystemExit("the weight of a checkpoint is a number above zero")
    return out
