"""Which texts are learnt, how often, and which are kept back to measure with."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from tools.encoder.pairs import Row

#: How much of the learning each language gets.
SHARES = {"en": 0.34, "th": 0.36, "zh": 0.30}

#: Sentences count more than words: there are fewer of them, and they show how words go together.
SENTENCE = 3.0

#: What a user adds counts more than what everybody says, or a handful of pairs would drown.
OWN = 20.0

_HELD_BACK = 50  # one text in so many


def held_back(english: str) -> bool:
    """Whether a text, and all that is paired with it, is kept for measuring."""
    return hashlib.blake2b(english.encode(), digest_size=4).digest()[0] % _HELD_BACK == 0 and " " in english


def course(rows: Sequence[Row], number: dict[str, int]) -> list[tuple[str, int, float]]:
    """Text, number of its target, weight."""
    found: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for source, language, text, english in rows:
        factor = OWN if source == "own" else 1.0
        if english in number and (source == "own" or not held_back(english)):
            for side, own in ((language, text), ("en", english)):
                found[side][own, number[english]] = factor * (SENTENCE if _is_sentence(own) else 1.0)
    out = []
    for language, pairs in sorted(found.items()):
        total = sum(pairs.values())
        share = SHARES[language] / total
        out += [(text, target, weight * share) for (text, target), weight in pairs.items()]
    return out


def _is_sentence(text: str) -> bool:
    return len(text) > 24 if text.isascii() else len(text) > 12
