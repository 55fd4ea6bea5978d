"""Retrieval sets in one format, the product's own lexical ranking over them, and how good an order is."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lamina.ranking.lexical import Shelf, packed, ranked
from lamina.text.terms import query_terms, terms

SETS = (
    "xquad-en",
    "xquad-th",
    "xquad-zh",
    "xquad-th-en",
    "xquad-zh-en",
    "madial-zh",
    "memdaily-zh",
    "locomo",
    "longmemeval-s",
)


@dataclass(frozen=True)
class Pool:
    """Units in parts, and questions that see only them; `gold[q]` are the numbers of the right units."""

    language: str
    units: list[list[str]]
    questions: list[str]
    gold: list[list[int]]


def pools(folder: Path, name: str) -> list[Pool]:
    """The pools of a set; LongMemEval is judged by session: a session is a unit, its turns are the parts."""
    with lzma.open(folder / f"{name}.dev.jsonl.xz", "rt", encoding="utf-8") as file:
        return [_pool(json.loads(line), by_session=name.startswith("longmemeval")) for line in file]


def _pool(raw: dict, *, by_session: bool) -> Pool:
    if by_session:
        sessions: dict[str, list[str]] = {}
        for unit in raw["units"]:
            sessions.setdefault(unit["session"], []).append(unit["text"])
        place = {name: number for number, name in enumerate(sessions)}
        units = list(sessions.values())
        gold = [[place[name] for name in query["gold_sessions"] if name in place] for query in raw["queries"]]
    else:
        place = {unit["id"]: number for number, unit in enumerate(raw["units"])}
        units = [[unit["text"]] for unit in raw["units"]]
        gold = [[place[name] for name in query["gold"] if name in place] for query in raw["queries"]]
    return Pool(raw["lang"], units, [query["text"] for query in raw["queries"]], gold)


def lexical(pool: Pool) -> np.ndarray:
    """BM25 of every unit for every question, by the product's own analyser and ranking."""
    postings: dict[str, list[tuple[int, int, int]]] = {}
    total = 0
    for number, unit in enumerate(pool.units):
        found = Counter(term for part in unit for term in terms(part))
        length = sum(found.values())
        total += length
        for term, frequency in found.items():
            postings.setdefault(term, []).append((number, frequency, length))
    shelf = Shelf(0, len(pool.units), total, len(pool.units))
    scores = np.zeros((len(pool.questions), len(pool.units)))
    for number, question in enumerate(pool.questions):
        asked = query_terms(question)
        scores[number] = ranked(_blocks(asked, postings), [shelf], dict.fromkeys(asked, 1.0)).score
    return scores


def likeness(pool: Pool, encode: Callable[[list[str]], np.ndarray]) -> np.ndarray:
    """How alike every question and every unit are: a unit is as near as its nearest part."""
    parts = encode([part for unit in pool.units for part in unit])
    starts = np.cumsum([0, *map(len, pool.units)])[:-1]
    return np.maximum.reduceat(encode(pool.questions) @ parts.T, starts, axis=1)


def _blocks(asked: Sequence[str], postings: dict[str, list[tuple[int, int, int]]]) -> Iterator[tuple]:
    for term in asked:
        blocks: dict[int, bytes] = {}
        for slot, frequency, length in postings.get(term, ()):
            blocks[slot // 256] = blocks.get(slot // 256, b"") + packed(slot, frequency, length)
        for block, data in blocks.items():
            yield 0, term, block, data


def spread(scores: np.ndarray) -> np.ndarray:
    """Each question's scores moved to between 0 and 1, which is how two rankings are summed."""
    low = scores.min(1, keepdims=True)
    return (scores - low) / np.maximum(scores.max(1, keepdims=True) - low, 1e-9)


def quality(scores: np.ndarray, gold: list[list[int]]) -> dict[str, float]:
    """hit@1, hit@10, MRR, recall at 5 and 10 and NDCG@10, in sums over the questions that have an answer."""
    out = dict.fromkeys(("questions", "hit@1", "hit@10", "mrr", "r@5", "r@10", "ndcg@10"), 0.0)
    for row, right in zip(scores, gold, strict=True):
        if not right:
            continue
        order = np.lexsort((np.arange(len(row)), -row))
        places = np.flatnonzero(np.isin(order, right))
        out["questions"] += 1
        out["hit@1"] += places[0] < 1
        out["hit@10"] += places[0] < 10
        out["mrr"] += 1 / (places[0] + 1)
        out["r@5"] += (places < 5).sum() / len(right)
        out["r@10"] += (places < 10).sum() / len(right)
        ideal = (1 / np.log2(np.arange(min(10, len(right))) + 2)).sum()
        out["ndcg@10"] += (1 / np.log2(places[places < 10] + 2)).sum() / ideal
    return out


def summed(words: np.ndarray, meaning: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Both rankings of each question on one scale; the second counts as much as the weight says."""
    return spread(words) + weight[:, None] * spread(meaning)
