"""A closer look at the best: how near each other the question's words stand, and in which order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from lamina.ranking.question import Question
from lamina.text.terms import sequence, term_set

#: How many of the best are looked at closely.
DEPTH = 50
#: What it adds that the words stand together, that neighbours are neighbours, that a quotation is there.
NEAR, PHRASE, QUOTED = 0.15, 0.1, 0.5
#: Words belong together within this many terms, or twice as many as were asked for.
_WINDOW = 12
#: An English word may stand between two.
_GAP = 2
#: How much of a cross-encoder's verdict counts, by where the candidate stood: the first are trusted most.
BLENDING = ((3, 0.75), (10, 0.60), (2**31, 0.40))


class Reranker(Protocol):
    """Reads the question and a text together and says how well they fit: a cross-encoder, or a model."""

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """A number per text; higher is better, and only the order within one call means anything."""
        ...


def closeness(
    question: Question, rarity: Mapping[str, float], text: str, told: float = 1.0
) -> dict[str, float]:
    """What to add to a text's score: `near`, `phrase`, `quoted`, each where there is something to add.

    `told` is how much of the question the words say that are there at all.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, term in enumerate(sequence(text)):
        if term in rarity:
            places[term].append(at)
    whole = sum(rarity.values())
    added = {}
    if whole:
        added["near"] = told * NEAR * _best_window(question, rarity, places) / whole
        added["phrase"] = told * PHRASE * _in_order(question.words, rarity, places)
    folded = text.casefold() if question.literals else ""
    if question.literals and all(literal in folded for literal in question.literals):
        added["quoted"] = QUOTED
    return {name: round(value, 6) for name, value in added.items() if value > 0}


def _best_window(
    question: Question, rarity: Mapping[str, float], places: Mapping[str, Sequence[int]]
) -> float:
    """The most that the terms within one stretch of the text tell."""
    found = sorted((at, term) for term, all_ in places.items() for at in all_)
    width = max(_WINDOW, 2 * len(question.weights))
    inside: Counter[str] = Counter()
    best = held = 0.0
    first = 0
    for at, term in found:
        held += 0.0 if inside[term] else rarity[term]
        inside[term] += 1
        while found[first][0] < at - width:
            gone = found[first][1]
            inside[gone] -= 1
            held -= 0.0 if inside[gone] else rarity[gone]
            first += 1
        best = max(best, held)
    return best


def _in_order(
    words: Sequence[str], rarity: Mapping[str, float], places: Mapping[str, Sequence[int]]
) -> float:
    """How much of what neighbours in the question are neighbours in the text too, from 0 to 1."""
    whole = kept = 0.0
    for one, other in pairwise(words):
        worth = min(rarity.get(one, 0.0), rarity.get(other, 0.0))
        whole += worth
        if one in places and other in places:
            behind = set(places[other])
            if any(at + gap in behind for at in places[one] for gap in range(1, _GAP + 1)):
                kept += worth
    return kept / whole if whole else 0.0


def judged(
    reranker: Reranker, question: str, ranked: Sequence[tuple[str, str]], late: Callable[[], bool]
) -> dict[str, float]:
    """What a cross-encoder makes of (id, text) in their order: a new score each, the best 1.

    By position: of the first three a quarter of the score is its verdict, of the next seven two fifths, of
    the others three fifths. It is asked about few at a time, and what it has not read when it is late keeps
    its place.
    """
    verdicts: dict[str, float] = {}
    for start in range(0, len(ranked), 8):
        if late():
            break
        part = ranked[start : start + 8]
        scores = reranker.scores(question, [text for _, text in part])
        verdicts |= {one: float(score) for (one, _), score in zip(part, scores, strict=True)}
    low, high = min(verdicts.values(), default=0.0), max(verdicts.values(), default=0.0)
    out = {}
    for rank, (one, _) in enumerate(ranked, 1):
        share = next(share for until, share in BLENDING if rank <= until)
        placed = 1.0 / rank
        fit = (verdicts[one] - low) / (high - low) if one in verdicts and high > low else placed
        out[one] = round(share * placed + (1.0 - share) * fit, 6)
    return out


def near_duplicates(question: str, texts: Iterable[str], depth: int = 32) -> Iterator[bool]:
    """Of texts in their order, whether each says almost word for word what one before it says.

    A text that holds the whole question is what was asked for, and never does.
    """
    asked, others = question.strip(), list[frozenset[str]]()
    for number, text in enumerate(texts):
        own = term_set(text) if number < depth else frozenset()
        if (size := len(own)) < _TELLING:
            yield False
            continue
        # Whatever it shares with a much shorter one, or with one that lacks its first words, is too little.
        least, most = _SAME * size, size / _SAME
        some = tuple(own)[: int(size - least) + 1]
        near = [one for one in others if least <= len(one) <= most and not one.isdisjoint(some)]
        both = [(len(own & one), len(one)) for one in near]
        is_twin = any(shared >= _SAME * (size + other - shared) for shared, other in both)
        is_twin = is_twin and asked not in text
        if not is_twin:
            others.append(own)
        yield is_twin


_TELLING = 8  #: different terms from which on likeness means something
_SAME = 0.9
