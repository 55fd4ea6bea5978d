"""Writes the table as the product reads it: whole numbers, a scale per row, and a header."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lamina.encoders.static import HEADER, PIECES, PIECES_VERSION, ROWS, SCALES


def quantised(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of eight bits, and how much a step of each is worth in units of the largest step's 65535th."""
    steps = np.maximum(np.abs(table).max(axis=1), 1e-9) / 127
    scales = np.maximum(np.rint(steps / steps.max() * 65535), 1).astype(np.uint16)
    unit = scales * (steps.max() / 65535)
    return np.clip(np.rint(table / unit[:, None]), -127, 127).astype(np.int8), scales


def write(folder: Path, pieces: Sequence[str], table: np.ndarray, about: Mapping[str, Any]) -> None:
    """The four files of a table; `about` goes into the header as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, scales = quantised(table)
    (folder / PIECES).write_text("\n".join(pieces), encoding="utf-8")
    np.save(folder / ROWS, rows)
    np.save(folder / SCALES, scales)
    digest = hashlib.sha256()
    for name in (PIECES, ROWS, SCALES):
        digest.update((folder / name).read_bytes())
    header = {
        "pieces_version": PIECES_VERSION,
        "hash": digest.hexdigest(),
        "dimension": int(table.shape[1]),
        "shared": len(table) - len(pieces),
        **about,
    }
    (folder / HEADER).write_text(json.dumps(header, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
