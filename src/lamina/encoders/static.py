"""The default encoder: one table of vectors for English, Thai and Chinese, summed over a text's pieces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.encoders.pieces import PIECES_VERSION, Pieces
from lamina.encoders.port import Calibration, Vectors
from lamina.errors import Damaged, Unavailable
from lamina.text.normalise import language_of

#: Files of a table.
HEADER, PIECES, SCALES, ROWS = "table.json", "pieces.txt", "scales.npy", "rows.npy"

#: The table is in no index; it comes with the source.
INSTALL = "Run `pip install ./packages/lamina-encoder` in a clone of Lamina."
REINSTALL = "Run `pip install --force-reinstall ./packages/lamina-encoder` in a clone of Lamina."

#: Sums are cut to this many bits, so that their squares add up exactly in 64.
_SUM_BITS = 26


class StaticEncoder:
    """A table on disk: read when first used, mapped into memory, shared by the processes that use it.

    The same text has the same vector on every machine, to the last bit: pieces are summed as whole numbers,
    and what follows is division and square root, which IEEE 754 defines exactly.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @cached_property
    def folder(self) -> Path:
        """Where the table is; Unavailable if the package that brings it is not installed."""
        if self._folder is not None:
            return self._folder
        try:
            return Path(str(files("lamina_encoder"))) / "data"
        except ModuleNotFoundError:
            raise Unavailable(
                "The encoder's table is not installed.",
                code="encoder_missing",
                hint=f"{INSTALL} Or set the embedder to `none`.",
            ) from None

    @cached_property
    def header(self) -> dict[str, Any]:
        """What the table says of itself: its hash, sources, calibration."""
        path = self.folder / HEADER
        try:
            header: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise Damaged(f"{path} cannot be read.", code="encoder_damaged", hint=REINSTALL) from error
        if header.get("pieces_version") != PIECES_VERSION:
            raise Damaged(
                f"{path} is for pieces of version {header.get('pieces_version')}, not {PIECES_VERSION}.",
                code="encoder_version",
                hint="Install the encoder that belongs to this version of Lamina.",
            )
        return header

    @property
    def embedder_id(self) -> str:
        return f"lamina-static-{self.dimension}-{self.header['hash'][:16]}"

    @property
    def dimension(self) -> int:
        return int(self.header["dimension"])

    @cached_property
    def calibration(self) -> Calibration:
        curves = self.header["calibration"]
        return Calibration({pair: tuple((x, y) for x, y in points) for pair, points in curves.items()})

    def embed(self, texts: Sequence[str]) -> Vectors:
        sums = np.zeros((len(texts), self.dimension))
        for number, text in enumerate(texts):
            rows = self._pieces.rows(text)
            if rows:
                sums[number] = self._sum(rows)
        return _directions(sums.astype(np.int64))

    def reach(self, text: str) -> float:
        language = language_of(text)
        weight = float(self.header["weights"][language[:2]])
        return round(weight * self._pieces.known_share(text), 6)

    def _sum(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Whole numbers below 2**53, so that the order in which they are added cannot show."""
        table, scales = self._table
        chosen, often = np.unique(rows, return_counts=True)  # a long text says most of its pieces many times
        return np.asarray((scales[chosen] * often) @ table[chosen].astype(np.float64))

    @cached_property
    def _pieces(self) -> Pieces:
        path = self.folder / PIECES
        try:
            pieces = path.read_text("utf-8").split("\n")
        except (OSError, ValueError) as error:
            raise Damaged(f"{path} cannot be read.", code="encoder_damaged", hint=REINSTALL) from error
        return Pieces(dict(zip(pieces, range(len(pieces)), strict=True)), int(self.header["shared"]))

    @cached_property
    def _table(self) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        try:
            table = np.load(self.folder / ROWS, mmap_mode="r")
            scales = np.load(self.folder / SCALES).astype(np.float64)
        except (OSError, ValueError) as error:
            raise Damaged(
                f"The table in {self.folder} cannot be read.", code="encoder_damaged", hint=REINSTALL
            ) from error
        expected = (len(self._pieces) + int(self.header["shared"]), self.dimension)
        if table.shape != expected or scales.shape != expected[:1]:
            raise Damaged(
                f"The table in {self.folder} has the wrong size.", code="encoder_damaged", hint=REINSTALL
            )
        return table, scales


def _directions(sums: NDArray[np.int64]) -> Vectors:
    """The sums with length one, by operations that are exact or defined to the last bit."""
    largest = np.abs(sums).max(axis=1, initial=0)
    _, bits = np.frexp(largest.astype(np.float64))
    small = sums >> np.maximum(bits.astype(np.int64) - _SUM_BITS, 0)[:, None]
    squares = (small * small).sum(axis=1)
    lengths = np.sqrt(np.maximum(squares, 1).astype(np.float64))
    return np.asarray(small / lengths[:, None], dtype=np.float32)
