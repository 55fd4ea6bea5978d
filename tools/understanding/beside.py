"""The reading of clauses in their messages: learnt from scores of models that did not learn these."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lamina.language.context import Clause, surroundings
from lamina.language.hearing import Hearing, hear
from lamina.language.rulebook import rulebook
from lamina.language.sorts import LEFT, Second, Sort, Sorter, Wholes
from lamina.language.understanding import Act, Listener
from tools.understanding.messages import Message, sorts_in
from tools.understanding.rows import LANGUAGES
from tools.understanding.states import States
from tools.understanding.train import read_twice

#: So many wishes heard are worth one that is none. Whoever tells something of themselves, or asks that it be
#: kept, expects it to be known, and what was kept in vain is easily taken back.
PRICE, PRICES = 2.0, {Sort.LASTING: 1.5, Sort.REMEMBER: 1.5}
#: Of the thresholds of statements beside an encoder so much: on the lists it heard more, and took hardly
#: anything more for what it is not.
STATEMENTS = 0.75
#: No threshold is lower, and what is never right has this one.
FLOOR, NOTHING = 300, 1 << 20
#: What lists call the sorts.
LABELS = {"self_fact": Sort.LASTING, "none": Sort.CHAT}
#: What may stand beside a statement in a sentence that is marked as one.
_BESIDE = (Sort.TASK, Sort.QUESTION, Sort.PASSING, Sort.CHAT)
#: Nothing comes of these by themselves.
HARMLESS = (Sort.CONFIRM, Sort.REJECT)


class Part(NamedTuple):
    """A message of several clauses, what is known of each, and what sort each is."""

    message: Message
    hearing: Hearing
    clauses: Sequence[Clause]
    sorts: Sequence[Sort]


class Taken(NamedTuple):
    """A part of a message that would be acted on if its margin were enough."""

    limit: str  #: the name of the threshold that it has to pass
    sort: Sort
    margin: int
    really: Sort  #: what it is


class Judged(NamedTuple):
    """What is heard in a message where every margin is enough."""

    part: Part
    heard: Sequence[Taken]

    def found(self, limits: Mapping[str, int]) -> list[tuple[Sort, Sort]]:
        return [(one.sort, one.really) for one in self.heard if one.margin >= limits.get(one.limit, FLOOR)]


def cut(model: Sorter, reader: States, message: Message, hearing: Hearing) -> Part | None:
    """A message as its clauses, by a model that did not learn it; nothing where it is one."""
    clauses = Listener(hearing, reader=reader, model=model).clauses()
    if len(clauses) < 2:
        return None
    sorts = dict(sorts_in(hearing, message))
    return Part(message, hearing, clauses, [sorts[one.start, one.end] for one in clauses])


def fit(parts: Sequence[Part]) -> Second:
    """The reading that fits; its margins are as large as those of clauses that are read alone."""
    around = [surroundings(one.clauses) for one in parts]
    first = np.stack([one.alone for part in parts for one in part.clauses])
    signs = [names for each, _ in around for names in each]
    wide = np.concatenate([one for _, one in around])
    sorts = [sort for part in parts for sort in part.sorts]
    sure = [at for at, one in enumerate(one for part in parts for one in _sure(part)) if one]
    found = read_twice(first[sure], [signs[at] for at in sure], [sorts[at] for at in sure], wide[sure])
    pairs = zip(first, signs, wide, strict=True)
    own, told = _spread(first), _spread(np.stack([found.scores(*one) for one in pairs]))
    return replace(found, outer=np.rint(found.outer * (own / told)).astype(np.int64))


def of_lists(model: Sorter, reader: States, lists: Sequence[Path]) -> list[Judged]:
    """What is heard in the rows of lists by others, as messages of one part."""
    lines = [line for path in lists for line in path.read_text("utf-8").splitlines() if line]
    found = []
    for row in map(json.loads, lines):
        label = LABELS.get(row["label"]) or Sort(row["label"])
        message = Message(row.get("lang") or row["id"][:2], "", ((label, row["text"]),))
        part = cut(model, reader, message, hear(row["text"], rulebook()))
        found += [judged(model, reader, part)] if part else []
    return found


def _sure(part: Part) -> list[bool]:
    """Which clauses are of the sort that they are said to be. What is marked as one sentence may have others
    in it: of those that ask for something the clearest clause is sure, and all that sound like it; beside
    a task, a question or what passes, what sounds like a statement may be one."""
    sort, sorts = part.sorts[0], list(Sort)
    if len(part.message.parts) > 1 or (sort in LEFT and sort not in _BESIDE):
        return [True] * len(part.clauses)
    sounds = [sorts[int(one.alone.argmax())] for one in part.clauses]
    if sort in _BESIDE:
        return [one is not Sort.LASTING for one in sounds]
    column, left = sorts.index(sort), [sorts.index(one) for one in LEFT]
    ahead = [int(one.alone[column] - one.alone[left].max()) for one in part.clauses]
    clearest = ahead.index(max(ahead))
    return [at == clearest or one is sort for at, one in enumerate(sounds)]


def _spread(scores: Wholes) -> float:
    """How far the best score is ahead of the next, on the whole."""
    ordered = np.sort(scores, axis=1)
    return float(np.median(ordered[:, -1] - ordered[:, -2]))


def judged(model: Sorter, reader: States, part: Part) -> Judged:
    """What is heard in a message; the model did not learn it."""
    if model.beside is None:
        raise ValueError("The model has no reading of clauses.")
    bare = replace(model, beside=replace(model.beside, thresholds={}))
    listener = Listener(part.hearing, reader=reader, model=bare)
    taken = [one for one in listener.parts() if listener.act(one) is Act.ACT]
    heard = [
        Taken(listener.limit(one), one.sort, one.margin(one.sort), _really(part, (one.start, one.end)))
        for one in taken
        if one.among and one.sort not in HARMLESS
    ]
    return Judged(part, heard)


def thresholds(found: Sequence[Judged], prices: Mapping[Sort, float] = PRICES) -> dict[str, int]:
    """For each name the margin from which on what is right outweighs what is taken for what it is not."""
    limits: dict[str, int] = {}
    every = sorted((one for each in found for one in each.heard), key=lambda one: -one.margin)
    for name in sorted({one.limit for one in every}):
        best, total, at = 0.0, 0.0, NOTHING
        for one in (one for one in every if one.limit == name):
            vain = prices.get(one.sort, PRICE) if one.really in LEFT else 0.5
            total += 1.0 if one.really is one.sort else -vain
            if total > best:
                best, at = total, one.margin
        limits[str(name)] = max(FLOOR, at)
    return limits


def halfway(own: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    """Thresholds halfway between those of our own messages and those that lists by others would have."""
    found = {name: at for name, at in others.items() if at < NOTHING}
    halves = {name: (at + found.get(name, at)) // 2 for name, at in own.items()}
    return {name: int(at * STATEMENTS) if name == Sort.LASTING else at for name, at in halves.items()}


def tell(found: Sequence[Judged], limits: Mapping[str, int]) -> None:
    """Print what of the messages is heard, and how many of those that ask for nothing are left alone."""
    for several in (True, False):
        for language in LANGUAGES:
            own = [
                one
                for one in found
                if one.part.message.language == language and (len(one.part.message.parts) > 1) is several
            ]
            wanted = [{sort for sort in one.part.sorts if sort not in (*LEFT, *HARMLESS)} for one in own]
            told = [one.found(limits) for one in own]
            asks = [(each, got) for each, got in zip(wanted, told, strict=True) if each]
            right = sum(any(sort is really for sort, really in got) for _, got in asks)
            left = [not got for each, got in zip(wanted, told, strict=True) if not each]
            vain = sum(really in LEFT for _, got in asks for _, really in got)
            print(
                f"{'messages' if several else 'sentences of several clauses'} {language}:"
                f" {100 * right / max(1, len(asks)):5.1f} % of {len(asks)} heard ({vain} in vain beside),"
                f" {100 * sum(left) / max(1, len(left)):5.1f} % of {len(left)} left alone"
            )


def _really(part: Part, span: tuple[int, int]) -> Sort:
    """The sort of most of a stretch; of what asks for something rather than of the rest."""
    shared: dict[Sort, int] = {}
    for clause, sort in zip(part.clauses, part.sorts, strict=True):
        size = min(clause.end, span[1]) - max(clause.start, span[0])
        if size > 0:
            shared[sort] = shared.get(sort, 0) + size
    return max(shared, key=lambda sort: (shared[sort], sort not in LEFT), default=Sort.CHAT)
