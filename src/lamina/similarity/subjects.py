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
from math import exp, log
from typing import NamedTuple

from lamina.late import read_rules
from lamina.records import dataclass
from lamina.similarity.compare import StatementRelation, compare
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
#: What counts for a pair beside an encoder: a logistic regression over which of the decisions in force each
#: of 376 statements of 21 fortnights changes, if any, as found by heads that did not learn those fortnights.
_WORTH = {
    "said": -1.253,
    "told": 3.472,
    "about": 1.718,
    "back": 5.044,
    "ahead": 2.739,  # how much liker than the next, by what is told
    "lead": 1.193,  # and by all that is shared
    "shared": 2.931,
    "pointed": 2.451,  # the words before name what only this earlier one says: "Penpot crashes. …"
    "together": -9.22,  # in one conversation nobody changes what they just said
    "overrules": 0.79,
    "around": 0.45,
    "unsure": -0.636,
    "changes": 0.3,  # what the reader of both says; it learnt some of these fortnights, so set by hand
}
_BEGINS = -7.319
_WORD, _PIECE = 0.7, 0.35
#: How like two decisions are that have nothing to do with each other; of few, one is like by chance.
_UNLIKE, _UNLIKE_OF_FEW, _MANY = 0.3, 0.5, 5
_CORRECTED = 0.35  #: so much of it where they say that they change something
_LINKS, _DOUBTS = 0.5, 0.35  #: how likely the best has to be to be changed, and to be in doubt
_CLEARLY = 6.0  #: how much likelier than the next
_SOME, _OF_SEVERAL = 0.6, 0.25  #: the same for one of several, of which some is changed
_AT_MOST = 4.0  #: how much the reader of both may say for or against a pair
_LEAST = 2  #: terms that must be shared with one that does not say that it changes something


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What a decision says, and what was said around it."""

    text: str
    around: str = ""
    overrules: bool = False  #: it says itself that it changes something
    is_sure: bool = True  #: else it is something only where it changes another
    session: str = ""  #: the conversation it was said in


class Like(NamedTuple):
    """How like an earlier decision is to a new one, by the cosine of what an encoder makes of both."""

    said: float  #: by what the two say
    told: float  #: by the new one together with what was said around it
    about: float = 0.0  #: by what was said around the new one alone
    back: float = 0.0  #: by the earlier one together with what was said around it
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
    if not new.overrules and compare(new.text, earlier[best].text).relation is StatementRelation.SAME:
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
    shares = [_share(replace(new, overrules=True), old, seen, len(earlier) + 1) for old in earlier]
    named = [(share, _pointed(new, old, seen)) for share, old in zip(shares, earlier, strict=True)]
    close = [like.said + like.told + share for like, share in zip(likes, shares, strict=True)]
    told = [like.told for like in likes]
    scores, together = [], _CORRECTED if new.overrules else 1.0
    for at, (old, like, (shared, pointed)) in enumerate(zip(earlier, likes, named, strict=True)):
        usual = _UNLIKE if shared or pointed or len(likes) >= _MANY else _UNLIKE_OF_FEW
        found = {
            "said": like.said,
            "told": like.told,
            "about": like.about,
            "back": like.back,
            "shared": shared,
            "pointed": pointed,
            "ahead": like.told - _most(told, at, usual),
            "lead": close[at] - (_most(close, at, 0.0) or _UNLIKE),
            "together": together if new.session and new.session == old.session else 0.0,
            "overrules": new.overrules,
            "around": bool(new.around),
            "unsure": not new.is_sure,
            "changes": min(_AT_MOST, max(-_AT_MOST, like.changes)),
        }
        scores.append(_BEGINS + sum(_WORTH[name] * one for name, one in found.items()))
    powers = [exp(one) for one in scores]
    best = max(range(len(powers)), key=lambda at: (powers[at], at))
    likely, some = (round(one / (1 + sum(powers)), 4) for one in (powers[best], sum(powers)))
    if likely < _DOUBTS and (some < _SOME or likely < _OF_SEVERAL):
        return None
    return Match(best, likely >= _LINKS and powers[best] >= _CLEARLY * _most(powers, best, 0.0))


def _most(values: Sequence[float], but: int, least: float) -> float:
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
