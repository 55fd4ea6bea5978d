"""One table of vectors for English, Thai and Chinese, summed over a text's pieces.

Training and use share what cuts a text into pieces, so that they cannot drift.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lamina.encoders.port import Calibration, Vectors
from lamina.errors import Damaged, Unavailable
from lamina.text.normalise import language_of
from lamina.text.terms import Cut, analysed

#: Goes up with every change of what `Pieces` returns; a table made by another version cannot be read.
PIECES_VERSION = 1

#: Stands before a stretch of Thai characters that is no word, so that it has a row apart from the word's.
STRETCH = "~"

_SUBWORD = (3, 4)
_LONGEST_SUBWORDS = 24  # characters of an unknown word that are looked at


class LineIndex:
    """The lines of a file and their numbers: looked for in its bytes while few are asked for, since to know
    all 130,000 takes longer than a short command does."""

    def __init__(self, content: bytes, name: Path) -> None:
        self._content, self._name = b"\n" + content + b"\n", name
        self._count = content.count(b"\n") + 1
        self._asked = 0

    @cached_property
    def table(self) -> dict[str, int]:
        """All of them."""
        try:
            lines = self._content[1:-1].decode().split("\n")
        except ValueError as error:
            raise Damaged(f"{self._name} cannot be read.", code="encoder_damaged", hint=REINSTALL) from error
        return dict(zip(lines, range(len(lines)), strict=True))

    def get(self, line: str) -> int | None:
        """The number of a line, if there is one."""
        if self._asked >= _FEW or not line.isascii():
            return self.table.get(line)
        self._asked += 1
        at = self._content.find(f"\n{line}\n".encode())
        return None if at < 0 else self._content.count(b"\n", 0, at)

    def __contains__(self, line: str) -> bool:
        return self.get(line) is not None

    def __len__(self) -> int:
        return self._count


class Pieces:
    """Words where the table knows them, character stretches beside them, and parts of words it does not know.

    Rows from `len(vocabulary)` on are shared by the parts of unknown words, by their checksum.
    """

    def __init__(self, vocabulary: Mapping[str, int] | LineIndex, shared: int) -> None:
        self._vocabulary = vocabulary
        self._shared = shared
        self.parts = lru_cache(maxsize=16_384)(self._parts)
        self._cut_thai, self._cut_chinese = map(lru_cache(maxsize=256), (self._thai, self._chinese))
        self._known_thai = lru_cache(maxsize=8_192)(self._known(self._cut_thai))
        self._known_chinese = lru_cache(maxsize=8_192)(self._known(self._cut_chinese))

    def __len__(self) -> int:
        return len(self._vocabulary)

    @cached_property
    def _table(self) -> Mapping[str, int]:
        """All words: a run without blanks is asked for many."""
        return self._vocabulary.table if isinstance(self._vocabulary, LineIndex) else self._vocabulary

    @cached_property
    def _longest(self) -> dict[str, int]:
        return longest_words(self._table)

    def known_share(self, text: str) -> float:
        """How many of the text's pieces have a row of their own, of all."""
        pieces = analysed(text, self._cut_chinese, self._cut_thai)
        known = sum(piece in self._vocabulary for piece in pieces)
        return known / len(pieces) if pieces else 0.0

    def rows(self, text: str) -> list[int]:
        """Row numbers, repeated as often as the piece occurs."""
        pieces = analysed(text, self._known_chinese, self._known_thai)
        found = list(map(self._vocabulary.get, pieces))
        if None not in found:
            return cast("list[int]", found)
        out: list[int] = []
        for piece, row in zip(pieces, found, strict=True):
            if row is not None:
                out.append(row)
            elif piece.isascii() and piece.isalnum():
                out += self.parts(piece)
        return out

    def _known(self, cut: Cut) -> Cut:
        return lambda run: tuple(filter(self._table.__contains__, cut(run)))

    def _thai(self, run: str) -> list[str]:
        return [*words(run, self._table, self._longest, 2), *stretches(run)]

    def _chinese(self, run: str) -> list[str]:
        pairs = [run[at : at + 2] for at in range(len(run) - 1)]
        return [*run, *pairs, *words(run, self._table, self._longest, 3)]

    def _parts(self, word: str) -> tuple[int, ...]:
        if not self._shared:
            return ()
        first = len(self._vocabulary)
        return tuple(first + crc32(part.encode()) % self._shared for part in subwords(word))


def longest_words(known: Iterable[str]) -> dict[str, int]:
    """By its first character, how long a word without blanks may be."""
    unspaced = sorted((word for word in known if not word.isascii()), key=len)
    return {word[0]: len(word) for word in unspaced}


def words(run: str, known: Mapping[str, int], longest: Mapping[str, int], shortest: int) -> list[str]:
    """The longest known word at each place, from left to right."""
    out: list[str] = []
    at, end = 0, len(run)
    while at < end:
        for until in range(min(end, at + longest.get(run[at], 0)), at + shortest - 1, -1):
            if run[at:until] in known:
                out.append(run[at:until])
                at = until
                break
        else:
            at += 1
    return out


def stretches(run: str) -> list[str]:
    """Every three characters in a row of Thai, marked."""
    return [STRETCH + run[at : at + 3] for at in range(max(1, len(run) - 2))]


def subwords(word: str) -> list[str]:
    """The parts of a word of an alphabet: three and four characters with its borders."""
    bounded = f"<{word[:_LONGEST_SUBWORDS]}>"
    return [bounded[at : at + size] for size in _SUBWORD for at in range(len(bounded) - size + 1)]


#: Files of a table.
HEADER, PIECES, SCALES, ROWS = "table.json", "pieces.txt", "scales.npy", "rows.npy"

#: The table is in no index; it comes with the source.
INSTALL = "Run `pip install ./packages/lamina-encoder` in a clone of Lamina."
REINSTALL = "Run `pip install --force-reinstall ./packages/lamina-encoder` in a clone of Lamina."

#: Lines that are looked for one by one before all are made a table.
_FEW = 40

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
        if (package := find_spec("lamina_encoder")) is None or package.origin is None:
            raise Unavailable(
                "The encoder's table is not installed.",
                code="encoder_missing",
                hint=f"{INSTALL} Or set the embedder to `none`.",
            )
        return Path(package.origin).parent / "data"

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
        return np.asarray(np.einsum("i,ij->j", scales[rows], table[rows], dtype=np.float64))

    @cached_property
    def _pieces(self) -> Pieces:
        path = self.folder / PIECES
        try:
            pieces = LineIndex(path.read_bytes(), path)
        except OSError as error:
            raise Damaged(f"{path} cannot be read.", code="encoder_damaged", hint=REINSTALL) from error
        return Pieces(pieces, int(self.header["shared"]))

    @cached_property
    def _table(self) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        try:
            table = np.asarray(np.load(self.folder / ROWS, mmap_mode="r"))
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
