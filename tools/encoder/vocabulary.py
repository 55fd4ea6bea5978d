"""Chooses which words and stretches have a row of their own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from lamina.encoders.static import STRETCH, longest_words, stretches, words
from lamina.text.terms import analysed
from tools.encoder.archives import members
from tools.encoder.fetch import archive
from tools.encoder.pairs import Row

#: The Thai word list that candidates come from (CC0-1.0).
THAI_WORDS = "pythainlp==5.4.0"

#: Most rows of each kind, and how often a piece has to occur.
LIMITS = {"english": (40_000, 2), "thai": (30_000, 2), "stretch": (16_000, 8), "chinese": (60_000, 3)}

#: Longest Thai word that is looked for, in characters.
LONGEST_WORD = 16

_CHINESE = re.compile("[\u3400-\u9fff]")
_THAI = re.compile("[\u0e01-\u0e4e]")


def choose(rows: Iterable[Row], folder: Path, limits: Mapping[str, tuple[int, int]] = LIMITS) -> list[str]:
    """The pieces that get a row, most frequent first within their kind."""
    candidates = dict.fromkeys(_thai_words(folder), 0)
    text_index: dict[str, int] = {}
    texts: dict[str, None] = {}
    for _, language, text, english in rows:
        texts[text] = None
        texts[english] = None
        if language == "zh" and 3 <= len(text) <= 6:
            text_index[text] = 0
    thai_lengths, chinese_lengths = longest_words(candidates), longest_words(text_index)
    pieces: dict[str, list[str]] = {kind: [] for kind in limits}
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in limits}

    def thai(run: str) -> list[str]:
        pieces["thai"] += words(run, candidates, thai_lengths, 2)
        pieces["stretch"] += stretches(run)
        return []

    def chinese(run: str) -> list[str]:
        pieces["chinese"] += [*run, *(run[at : at + 2] for at in range(len(run) - 1))]
        pieces["chinese"] += words(run, text_index, chinese_lengths, 3)
        return []

    for number, text in enumerate(texts, 1):
        pieces["english"] += analysed(text, chinese, thai)
        if number % 20_000 == 0 or number == len(texts):
            for kind, found in pieces.items():
                counts[kind].update(found)
                found.clear()
    chosen: dict[str, None] = {}
    for kind, (most, least) in limits.items():
        frequent = sorted((-count, piece) for piece, count in counts[kind].items() if count >= least)
        chosen.update(dict.fromkeys(piece for _, piece in frequent[:most] if "\n" not in piece))
    return list(chosen)


def language(piece: str) -> str:
    """Whose piece it is."""
    if _THAI.match(piece.removeprefix(STRETCH)):
        return "th"
    return "zh" if _CHINESE.match(piece) else "en"


def _thai_words(folder: Path) -> Iterable[str]:
    wheel = archive(THAI_WORDS, "pip", folder)
    ((_, content),) = members(wheel, wheel.name, r"corpus/words_th\.txt$")
    listed = map(str.strip, content.decode().splitlines())
    return (word for word in listed if _THAI.match(word) and 2 <= len(word) <= LONGEST_WORD)
