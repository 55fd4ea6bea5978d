"""Makes a trained table fit for long texts, by what is known of its rows alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: The share of a language's pieces at which a piece counts half.
HALF = 1e-3

#: How many directions that a language's rows have in common are taken out.
COMMON = 2


def polished(table: np.ndarray, counts: np.ndarray, languages: Sequence[str]) -> np.ndarray:
    """The table with rows that count by how rare they are, and without what all rows of a language share.

    A row grows with every step that it is learnt in, so that frequent pieces come to count most. That does no
    harm in the short texts of training, and much in a page. And what all texts of a language have in common
    tells them apart from other languages, which is the opposite of what the table is for.
    """
    out = np.array(table, dtype=np.float64)
    for language in sorted(set(languages)):
        own = np.flatnonzero(np.array(languages) == language)
        share = counts[own] / counts[own].sum()
        lengths = np.linalg.norm(out[own], axis=1)
        rows = out[own] * (HALF / (HALF + share) / np.sqrt(np.maximum(lengths, 1e-9)))[:, None]
        weighted = rows * np.sqrt(counts[own])[:, None]
        _, directions = np.linalg.eigh(weighted.T @ weighted)
        common = directions[:, -COMMON:]
        out[own] = rows - (rows @ common) @ common.T
    return out.astype(np.float32)
