"""Whether a decision is about the same matter as an earlier one, and whether it says something else of it.

A matter is told by the names and nouns that two decisions share, those that few others have counting most,
and where an encoder is at hand by how like the two are in meaning; what was said right before a decision
belongs to it. The value is what differs. Pure and deterministic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, lru_cache
from math import log
from typing import NamedTuple

from lamina.late import read_rules
from lamina.records import dataclass
from lamina.similarity.compare import Relation, compare
from lamina.text.terms import query_terms

#: How much of the shorter of two decisions must be shared: to be changed by one that says it changes
#: something, to be in doubt by it, to be changed by one that does not say so, and to be in doubt by that.
_LINKED, _DOUBTED = 0.26, 0.1
_LINKED_UNSAID, _DOUBTED_UNSAID = 0.62, 0.42
_LEAD = 1.15  #: how much better than the next one the best must be to be the one that is meant
_ALONE = 2.5  #: the same where little is shared, but with this one only
_BEGINNING = 3  #: the first third of a sentence
_NEARBY = 0.6  #: what a term counts that was only said before or after
_PIECE_OF_ALL = 0.5  #: of all pieces of Thai and Chinese, about half go across two words and name nothing
#: What likeness, shared words and the lead before the next one count beside an encoder, and where doubt and
#: certainty begin, for one that says it changes something and for one that does not: a logistic regression
#: over 142 changes of our own fortnights in three languages.
_SAID, _TOLD, _SHARED, _AHEAD, _AGAINST = 3.5, 3.2, 3.65, 7.5, 5.5
#: What it counts that the words before a decision name what only this earlier one says: "Penpot crashes. …"
_POINTED, _WORD, _PIECE = 4.0, 0.7, 0.35
#: How like two decisions are that have nothing to do with each other; of few, one is like by chance.
_UNLIKE, _UNLIKE_OF_FEW, _MANY = 0.3, 0.5, 5
_CLEAR, _CLEAR_UNSAID, _CLEAR_BARE = -0.2, 0.4, 1.0  # the last where nothing was said before it
_UNCLEAR, _UNCLEAR_UNSAID = -2.2, -0.6
_CLEAR_UNNAMED, _UNCLEAR_UNNAMED = 0.7, 0.4  #: where neither says so and no word is shared
_APART = 0.7  #: how far ahead of the next one the best has to be to be the one that is meant
#: How much the reader of both may say for or against a pair, and what it counts.
_AT_MOST, _BESIDE = 4.0, 0.3
_LEAST = 2  #: terms that must be shared with one that does not say that it changes something


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What a decision says, and what was said around it."""

    text: str
    around: str = ""
    overrules: bool = False  #: it says itself that it changes something


class Like(NamedTuple):
    """How like an earlier decision is to a new one, by the cosine of what an encoder makes of both."""

    said: float  #: by what the two say
    told: float  #: by the new one together with what was said around it
    changes: float = 0.0  #: what a reader of both says: above 0 the new one rather changes it


@dataclass(frozen=True, slots=True)
class Match:
    """Which of the earlier decisions a new one is about."""

    at: int  #: its place among them
    is_sure: bool


def changed_by(new: Matter, earlier: Sequence[Matter], likes: Sequence[Like] = ()) -> Match | None:
    """The earlier decision that a new one changes or puts in doubt; None when it is about none of them.

    Of two that are as close, the later counts. `likes` are what an encoder says of each of the earlier ones.
    """
    words = [terms_of(one.text) for one in earlier]
    seen = Counter(word for each in (*words, terms_of(new.text)) for word in each)
    if likes:
        return _meant(new, earlier, likes, seen)
    shares = [_share(new, old, seen, len(words) + 1) for old in earlier]
    ranked = sorted(range(len(shares)), key=lambda at: (shares[at], at), reverse=True)
    if not ranked:
        return None
    best, next_best = ranked[0], shares[ranked[1]] if len(ranked) > 1 else 0.0
    linked, doubted = (_LINKED, _DOUBTED) if new.overrules else (_LINKED_UNSAID, _DOUBTED_UNSAID)
    share = shares[best]
    if share < doubted:
        return None
    if not new.overrules and compare(new.text, earlier[best].text).relation is Relation.SAME:
        return None
    if not new.overrules:
        is_sure = share >= linked and _begin_alike(new.text, earlier[best].text)
        return Match(best, is_sure and share >= _LEAD * next_best)
    if share >= linked:
        return Match(best, share >= _LEAD * next_best)
    # Little is shared, but what a sentence begins with is what it is about.
    begins = new.text[: len(new.text) // _BEGINNING]
    is_about = bool(terms_of(begins) & terms_of(earlier[best].text))
    return Match(best, share >= _ALONE * next_best) if is_about else None


def _meant(
    new: Matter, earlier: Sequence[Matter], likes: Sequence[Like], seen: Mapping[str, int]
) -> Match | None:
    named = [
        _SHARED * _share(replace(new, overrules=True), old, seen, len(earlier) + 1)
        + _POINTED * _pointed(new, old, seen)
        for old in earlier
    ]
    close = [_pair(like) + one for like, one in zip(likes, named, strict=True)]
    usual = [_UNLIKE if one or len(likes) >= _MANY else _UNLIKE_OF_FEW for one in named]
    ahead = [like.told - _most((one.told for one in likes), at, usual[at]) for at, like in enumerate(likes)]
    scores = [round(one + _AHEAD * lead - _AGAINST, 4) for one, lead in zip(close, ahead, strict=True)]
    best = max(range(len(scores)), key=lambda at: (scores[at], at))
    if not new.overrules and (
        compare(new.text, earlier[best].text).relation is Relation.SAME
        or _end_alike(new.text, earlier[best].text)
    ):
        return None
    unsaid = _CLEAR_UNSAID if new.around else _CLEAR_BARE
    clear = _CLEAR if new.overrules else unsaid
    unclear = _UNCLEAR if new.overrules and named[best] else _UNCLEAR_UNSAID
    if not (new.overrules or named[best]):
        clear, unclear = _CLEAR_UNNAMED, _UNCLEAR_UNNAMED
    is_alone = close[best] - _most(close, best, 0.0) >= _APART
    return Match(best, is_alone and scores[best] >= clear) if scores[best] >= unclear else None


def _pair(like: Like) -> float:
    """How much the meaning of a pair speaks for the one being about the other."""
    beside = min(_AT_MOST, max(-_AT_MOST, like.changes))
    return _SAID * like.said + _TOLD * like.told + _BESIDE * beside


def _most(values: Iterable[float], but: int, least: float) -> float:
    """The largest of some values but one."""
    return max([one for at, one in enumerate(values) if at != but] + [least])


def _pointed(new: Matter, old: Matter, seen: Mapping[str, int]) -> float:
    """How clearly what was said before a decision names an earlier one, from 0 to 1."""
    mine, before = terms_of(new.text), terms_of(new.around) & terms_of(old.text)
    only = [word for word in sorted(before) if seen[word] - (word in mine) == 1 and not word[0].isdigit()]
    return min(1.0, sum(_WORD if word.isascii() else _PIECE for word in only))


def _begin_alike(one: str, other: str) -> bool:
    """Whether two sentences differ in their second half only: what they are about comes before the value."""
    mine, theirs = query_terms(one), query_terms(other)
    half = (max(len(mine), len(theirs)) + 1) // 2
    return mine[:half] == theirs[:half]


def _end_alike(one: str, other: str) -> bool:
    """Whether two sentences say the same of two things: they differ in their first half only."""
    mine, theirs = query_terms(one), query_terms(other)
    half = (max(len(mine), len(theirs)) + 1) // 2
    return mine != theirs and mine[half:] == theirs[half:] != []


def _share(new: Matter, old: Matter, seen: Mapping[str, int], count: int) -> float:
    """How much of the shorter one's words is shared, by weight."""
    mine, theirs = terms_of(new.text), terms_of(old.text)
    around, their_around = terms_of(new.around) - mine, terms_of(old.around) - theirs
    both, near = mine & theirs, (around & theirs) | (mine & their_around)
    values = {word for word in mine if word[0].isdigit()} - terms_of(new.around)
    if not (both | near) - values or (not new.overrules and (not both or len(both | near) < _LEAST)):
        return 0.0
    shared = _weight(both, seen, count) + _NEARBY * _weight(near, seen, count)
    whole = min(_weight(mine, seen, count, _PIECE_OF_ALL), _weight(theirs, seen, count, _PIECE_OF_ALL))
    return round(min(1.0, shared / whole), 4) if whole else 0.0


def _weight(words: Iterable[str], seen: Mapping[str, int], count: int, piece: float = 1.0) -> float:
    """Rare words count most; Thai and Chinese come in pieces of words, of which three make about one."""
    return sum(
        (3.0 if word.isascii() else piece) * log(1 + count / max(1, seen.get(word, 1)))
        for word in sorted(words)
    )


@lru_cache(maxsize=4096)
def terms_of(text: str) -> frozenset[str]:
    """The words of a text that name something; not those that any decision may have."""
    return frozenset(query_terms(text)) - _common()


@cache
def _common() -> Set[str]:
    data = read_rules("lamina.similarity", "subjects.toml")
    return frozenset(word for words in data["common"].values() for one in words for word in query_terms(one))
