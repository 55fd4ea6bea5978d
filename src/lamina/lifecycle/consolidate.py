"""Once a day and within limits, pairs of memories that say one thing become one.

What is the same by the rules is merged without a model. What only may be the same is put to a model, where
there is one, a few pairs at a time and each pair once in two weeks. Different values are never made one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from datetime import datetime, timedelta

import numpy as np

from lamina.audit.chain import Sealer
from lamina.encoders.port import Embedder
from lamina.errors import Conflict, InvalidInput, NotFound
from lamina.model import Kind, Memory, Space, canonical, quoted
from lamina.read.explain import history
from lamina.records import dataclass
from lamina.similarity.compare import Comparison, StatementRelation, compare
from lamina.similarity.merge_bands import RECENT, TOP_K, Bands, in_common, said_twice
from lamina.storage.database import Transaction
from lamina.storage.shelf_contents import statements_on
from lamina.storage.small_tables import Marks
from lamina.text.normalise import language_of
from lamina.text.terms import query_terms
from lamina.write.merge import commit_merge, encoder_for
from lamina.write.store import Caller

JOB = "consolidate"
MOST_PAIRS = 50  #: of a user in a day, merged or asked about
REMEMBERED = timedelta(days=14)  #: for so long a pair is not looked at again
_CHANGED = timedelta(hours=72)
_IMPORTANT = 3
_POOL, _CANDIDATES = 2_000, 400  #: statements of a user that are looked at, and that get neighbours
_BATCH = 8  #: pairs in one question

#: Texts in pairs into whether each says one thing; None where no answer can be had.
Ask = Callable[[Sequence[tuple[str, str]]], Sequence[bool | None] | None]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements beside each other, the older first."""

    one: Memory
    other: Memory
    found: Comparison

    def fingerprint(self, sealer: Sealer) -> str:
        """The same as long as both say what they say and are as close; keyed, so it tells nobody what."""
        said = [[memory.id, memory.text] for memory in (self.one, self.other)]
        return sealer.fingerprint(canonical([*said, round(self.found.closeness, 2)])) or ""

    def duplicate(self, bands: Bands) -> bool:
        """Whether it can be merged while nobody looks."""
        same = self.found.relation is StatementRelation.SAME and self.found.closeness >= bands.check
        return same and said_twice(self.one.text, self.other.text)

    def doubtful(self, bands: Bands, now: datetime) -> bool:
        """Whether only more than words can tell: close enough, of late, and something in common."""
        close = bands.fallback is not None and self.found.closeness >= bands.fallback
        open_question = self.found.undecided or self.found.relation is StatementRelation.SAME
        recent = all(now - memory.updated_at <= RECENT for memory in (self.one, self.other))
        return close and open_question and recent and in_common(self.one.text, self.other.text)


@dataclass(slots=True)
class Consolidated:
    """What one user's turn came to, counted."""

    duplicates_before: int = 0
    duplicates_after: int = 0
    merged: int = 0
    asked: int = 0  #: pairs that a model was asked about
    differing: int = 0  #: pairs about one thing with different values, left as they are
    left: int = 0  #: pairs that nobody could decide on
    refused: Counter[str] = field(default_factory=Counter)  #: merges that were not let through, by code


def consolidate(caller: Caller, day: datetime, ask: Ask | None, check: Callable[[], None]) -> Consolidated:
    """Merge what says the same on the shelf of the caller's user; `day` is when the day's limit began.

    Each merge is a transaction of its own, and doing it again changes nothing: a run that is cut off is
    finished by the next. `check` is asked before each step and may raise.
    """
    return _Round(caller, day, check).run(ask)


class _Round:
    """One user's turn."""

    def __init__(self, caller: Caller, day: datetime, check: Callable[[], None]) -> None:
        self._caller, self._check, self._now = caller, check, caller.store.now()
        self._owner, self._sealer = quoted(caller.scope.user), caller.store.ruleset.sealer
        self._bands = caller.store.ruleset.merging.bands
        since = self._now - REMEMBERED
        known = caller.store.database.read(lambda tx: Marks(tx, JOB, self._owner).since(since))
        self._judged = set(known)
        self._room = MOST_PAIRS - sum(mark.at >= day for mark in known.values())
        self.told = Consolidated()

    def run(self, ask: Ask | None) -> Consolidated:
        pairs = self._pairs()
        self.told.duplicates_before = self._doubles(pairs)
        while self._unite([pair for pair in pairs if pair.duplicate(self._bands)]):
            pairs = self._pairs()
        open_pairs = [
            pair
            for pair in pairs
            if not pair.duplicate(self._bands) and pair.doubtful(self._bands, self._now)
        ]
        if ask is not None and self._ask(open_pairs, ask):
            pairs = self._pairs()
        self.told.left = sum(not self._known(pair) for pair in open_pairs)
        self.told.duplicates_after = self._doubles(pairs)
        self.told.differing = sum(pair.found.conflicts for pair in pairs)
        return self.told

    def _doubles(self, pairs: Sequence[Pair]) -> int:
        return sum(pair.duplicate(self._bands) for pair in pairs)

    def _pairs(self) -> list[Pair]:
        self._check()
        return pairs_of(self._caller, self._now)

    def _unite(self, pairs: Sequence[Pair], *, judged: bool = False) -> int:
        """Merge pairs, of those that share a memory the closest; how many."""
        gone: set[str] = set()
        count = 0
        for pair in pairs:
            ids = {pair.one.id, pair.other.id}
            if gone & ids or not (judged or (self._room > 0 and not self._known(pair))):
                continue
            self._check()
            code = self._merged(pair, judged)
            self._mark([pair], code)
            self._room -= not judged
            if code == "merged":
                gone |= ids
                count += 1
            else:
                self.told.refused[code] += 1
        self.told.merged += count
        return count

    def _merged(self, pair: Pair, judged: bool) -> str:
        store = self._caller.store
        why = "a language model found them the same" if judged else "they say the same"
        ids = [pair.one.id, pair.other.id]
        if any(step.decision.get("code") == "unmerged" for one in ids for step in history(self._caller, one)):
            return "taken_apart"  # by somebody who knows better
        try:
            return store.act(
                self._caller.scope, lambda unit: commit_merge(unit, ids, why, judged=judged)
            ).code
        except (NotFound, InvalidInput, Conflict) as error:  # it changed meanwhile, or lives elsewhere
            return error.code

    def _ask(self, pairs: Sequence[Pair], ask: Ask) -> int:
        """Put pairs to a model and merge those that it finds the same; how many."""
        fresh = [pair for pair in pairs if not self._known(pair)][: max(0, self._room)]
        same: list[Pair] = []
        for start in range(0, len(fresh), _BATCH):
            batch = fresh[start : start + _BATCH]
            self._check()
            answers = ask([(pair.one.text, pair.other.text) for pair in batch])
            if answers is None:
                break
            said = [(pair, answer) for pair, answer in zip(batch, answers, strict=True) if answer is not None]
            self.told.asked += len(said)
            self._room -= len(said)
            same += [pair for pair, answer in said if answer]
            self._mark([pair for pair, answer in said if not answer], "different")
        return self._unite(same, judged=True)

    def _known(self, pair: Pair) -> bool:
        return pair.fingerprint(self._sealer) in self._judged

    def _mark(self, pairs: Sequence[Pair], note: str) -> None:
        prints = [pair.fingerprint(self._sealer) for pair in pairs]
        self._judged.update(prints)

        def work(transaction: Transaction) -> None:
            for one in prints:
                Marks(transaction, JOB, self._owner).put(one, self._now, note)

        if prints:
            self._caller.store.database.write(work)


def pairs_of(caller: Caller, now: datetime) -> list[Pair]:
    """What is worth comparing on a user's shelf, beside its nearest neighbours, the closest pair first."""
    shelf = caller.scope.shelf(Space.USER) or ""
    stated = caller.store.database.read(lambda tx: statements_on(tx, shelf, now, _POOL))
    known = [one for one in stated if one.expires_at is None]
    encoder = encoder_for(caller.store.ruleset)
    least = caller.store.ruleset.merging.bands.fallback or caller.store.ruleset.merging.bands.check
    found: dict[tuple[str, str], Pair] = {}
    for mine, theirs, likeness in _near(known, _candidates(known, now), encoder, least):
        one, other = sorted((known[mine], known[theirs]), key=lambda memory: (memory.created_at, memory.id))
        if (one.id, other.id) not in found:
            found[one.id, other.id] = Pair(one, other, compare(one.text, other.text, likeness))
    return sorted(found.values(), key=lambda pair: (-pair.found.closeness, pair.one.id, pair.other.id))


def _candidates(known: Sequence[Memory], now: datetime) -> list[int]:
    """Numbers of what changed lately, matters or is often found, in the order of the list."""
    counts = sorted((one.access_count for one in known), reverse=True)
    often = max(1, counts[len(counts) // 10]) if counts else 1
    chosen = [
        number
        for number, one in enumerate(known)
        if now - one.updated_at <= _CHANGED or one.importance >= _IMPORTANT or one.access_count >= often
    ]
    return chosen[:_CANDIDATES]


def _near(
    known: Sequence[Memory], candidates: Sequence[int], encoder: Embedder | None, least: float
) -> Iterator[tuple[int, int, float | None]]:
    """Candidate, neighbour and their likeness: the nearest of the same category by words and by meaning."""
    words = [set(query_terms(one.text)) for one in known]
    having: dict[str, list[int]] = defaultdict(list)
    for number, some in enumerate(words):
        for word in some:
            having[word].append(number)
    groups: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for number, one in enumerate(known):
        groups[_group(one)].append(number)
    vectors = None if encoder is None or not known else encoder.embed([one.text for one in known])
    for mine in candidates:
        shared = Counter(other for word in words[mine] for other in having[word])
        share = {n: 2 * count / (len(words[mine]) + len(words[n])) for n, count in shared.items()}
        others = [n for n in groups[_group(known[mine])] if n != mine]
        near = sorted(others, key=lambda n: (-share.get(n, 0.0), known[n].id))[:TOP_K]
        alike: dict[int, float] = {}
        if vectors is not None and encoder is not None and others:
            raw = vectors[others].astype(np.float64) @ vectors[mine]
            best = np.argsort(-raw, kind="stable")[:TOP_K].tolist()
            near = list(dict.fromkeys([*near, *(others[at] for at in best)]))
            cosines = dict(zip(others, raw.tolist(), strict=True))
            tongue = language_of(known[mine].text)
            alike = {
                n: encoder.calibration.likeness(round(cosines[n], 6), tongue, language_of(known[n].text))
                for n in near
            }
        for n in near:
            if max(share.get(n, 0.0), alike.get(n, 0.0)) >= least:
                yield mine, n, alike.get(n)


def _group(memory: Memory) -> tuple[str, bool]:
    """What may be one with another: the same category, and never a guess with what was said."""
    return memory.topic, memory.kind is Kind.INSIGHT
