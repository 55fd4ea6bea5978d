"""What the reading encoder learns from the sources: texts of three languages beside the English they mean.

The teacher's time and the student's are the dearest part, so each kind of text has a share of its own and is
drawn by the hash of its words: the same texts on every machine.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tools.encoder.glossary import Vocabulary
from tools.encoder.pairs import Row

#: How many different English texts of each kind go through the teacher.
MOST = {"english": 22_000, "th": 26_000, "zh": 30_000, "th-word": 45_000, "zh-word": 45_000}

_PROSE = {"wordnet": 12_000, "books": 2_500, "speeches": 2_500, "factbook": 2_500}
_ODD = re.compile(r"[%$\\{}<>_|=]|\d{5}|https?:")


@dataclass
class Curriculum:
    """Texts by kind; each with the English that the teacher reads for it."""

    kinds: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def english(self) -> list[list[str]]:
        """Each English text once, in groups that are taught one after the other."""
        seen: set[str] = set()
        groups = []
        for kind in MOST:
            group = []
            for _, english in self.kinds[kind]:
                if english not in seen:
                    seen.add(english)
                    group.append(english)
            groups.append(group)
        return groups


def curriculum(rows: Iterable[Row], words: Vocabulary) -> Curriculum:
    """Sentences of every source, and the dictionaries' short meanings of the words that have a row."""
    pieces = {piece: at for at, piece in enumerate(words.pieces)}
    found: dict[str, dict[tuple[str, str], bytes]] = defaultdict(dict)
    for source, language, text, english in rows:
        count = len(english.split())
        chance = hashlib.blake2b(f"{text}\t{english}".encode(), digest_size=8).digest()
        if language == "en":
            if source in _PROSE and count >= 4 and len(english) < 260 and ": " not in english[:40]:
                found[f"english-{source}"][text, english] = chance
        elif source == "cldr":  # its keywords are lists whose places do not agree between languages
            continue
        elif source in ("thai-wordnet", "cc-cedict", "thai-transliteration", "geonames"):
            plain = text.translate(words.simplified) if language == "zh" else text
            if count <= 5 and (plain in pieces or (len(text) <= 8 and chance[0] < 40)):
                found[f"{language}-word"][text, english] = chance
        elif 3 <= count <= 60 and not _ODD.search(english) and not _ODD.search(text):
            found[language][text, english] = chance
    out = Curriculum()
    for source, most in _PROSE.items():
        out.kinds["english"] += _drawn(found[f"english-{source}"], most)
    for kind in ("th", "zh", "th-word", "zh-word"):
        out.kinds[kind] = _drawn(found[kind], MOST[kind] * 2, MOST[kind])
    return out


def _drawn(
    texts: dict[tuple[str, str], bytes], most: int, different: int | None = None
) -> list[tuple[str, str]]:
    """By chance, until there are so many pairs or so many different English sides."""
    out: list[tuple[str, str]] = []
    seen: set[str] = set()
    for (text, english), _ in sorted(texts.items(), key=lambda item: item[1]):
        if len(out) >= most:
            break
        if different is None or english in seen or len(seen) < different:
            seen.add(english)
            out.append((text, english))
    return out
