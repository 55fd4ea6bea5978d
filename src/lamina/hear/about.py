"""Which of a person's own lasting memories they mean, by their words and by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from lamina.language.amend import has_other_value, things, weight, words_of
from lamina.language.rulebook import Rulebook
from lamina.language.slots import just_said, name_of_key
from lamina.model import Kind, Layer, Memory, Space
from lamina.read.recall import recall
from lamina.read.shelves import keyed, latest, loaded
from lamina.records import dataclass
from lamina.text.normalise import folded
from lamina.text.terms import query_terms
from lamina.write.caller import Caller
from lamina.write.propose import pending

#: How many memories are looked through for the one that is meant.
LOOKED_AT = 200
#: What may be changed by a word; what happened, was said and was concluded from it stays as it was.
STATED = (Kind.FACT, Kind.PREFERENCE, Kind.CONSTRAINT, Kind.INSTRUCTION, Kind.CORRECTION)
_LASTING = (Layer.SEMANTIC, Layer.USER_MODEL)
#: Likeness of meaning that speaks for a memory, its worth beside a word, and where a mere hint of it begins.
_LIKE, _WORTH, _HINT = 0.25, 3.0, 0.1
#: What it is worth that it was said in this session, and that it has another value of the sort that is named.
_RECENT, _OTHER_VALUE = 0.4, 0.8
#: A memory that fits less than this much of what the best does is not meant.
_CLEARLY = 0.75
#: So much has to speak for a memory before it is meant at all.
_LEAST = 0.5
#: Where it is not clear by itself that something known is meant, so much has to speak for it at any time.
ABOUT_IT = 0.12
#: Without a word in common so much likeness is needed: one in fifty of other things is as like.
_BY_LIKENESS = 0.6
#: Letters that may stand beside a word that points; where there are more, something else is named.
_BESIDE, _NO_POINTER = 14, ("me", "us")
#: So much likeness before the person is asked about it, with so few others.
_MAYBE, _FEW = 0.1, 3


@dataclass(frozen=True, slots=True)
class Fit:
    """A memory, and how well words fit it."""

    memory: Memory
    words: float  #: how much of what it says was said again, rare words more
    meaning: float  #: how like the two are
    recent: bool = False  #: it was said in this session
    clashes: bool = False  #: it has another value of a sort that is named: another day, another number

    @property
    def is_sentence(self) -> bool:
        """Whether it can be said again: the value of a key, such as a time zone, cannot."""
        return self.memory.key is None or self.memory.key.startswith("note.")

    @property
    def about(self) -> float:
        """How much what is said speaks for it, whenever it was said."""
        hint = max(0.0, min(self.meaning, _LIKE) - _HINT)
        return self.words + _WORTH * max(0.0, self.meaning - _LIKE) + hint

    @property
    def is_sure(self) -> bool:
        """Whether it may be changed without a question: a word is shared, or the two are very like."""
        return self.words > 0 or self.about >= _BY_LIKENESS

    @property
    def total(self) -> float:
        return self.about + _RECENT * self.recent + _OTHER_VALUE * self.clashes


def lasting(caller: Caller, words: str) -> dict[str, tuple[Memory, float]]:
    """The lasting memories that words may be about, by id, with their likeness; never a turn."""
    hits = recall(caller, words, {"k": LOOKED_AT, "spaces": [Space.USER], "kinds": STATED}).hits
    like = {hit.id: hit.scores.get("meaning", 0.0) for hit in hits}
    found = [*keyed(caller), *loaded(caller, [hit.id for hit in hits])]
    return {
        one.id: (one, like.get(one.id, 0.0))
        for one in found
        if one.kind in STATED and (one.key if one.space is Space.SESSION else one.layer in _LASTING)
    }


def meant(caller: Caller, words: str) -> list[Fit]:
    """The memories that words are about, best first: one where it fits clearly best, else those alike."""
    fits = [one for one in _fits(caller, words) if one.total >= _LEAST]
    return [one for one in fits if one.total >= _CLEARLY * fits[0].total]


def nearest(caller: Caller, words: str) -> list[Fit]:
    """The few that words may be about, where none is clearly meant: to be asked about."""
    return [one for one in _fits(caller, words) if one.about >= _MAYBE][:_FEW]


def _fits(caller: Caller, words: str) -> list[Fit]:
    known, book = lasting(caller, words), caller.store.ruleset.rules
    said = _telling(words, book)
    shared = {
        one: said & (words_of(memory.text, book) | words_of(name_of_key(memory.key), book))
        for one, (memory, _) in known.items()
    }
    often: dict[str, int] = {}
    for own in shared.values():
        for word in own:
            often[word] = often.get(word, 0) + 1
    session = caller.in_session.session
    fits = [
        Fit(
            memory,
            sum(weight({word}) / often[word] for word in shared[one]),
            like,
            recent=memory.provenance.session_id == session,
            clashes=has_other_value(words, memory.text, book),
        )
        for one, (memory, like) in known.items()
    ]
    return sorted(fits, key=lambda one: (-one.total, one.memory.id))


def waits_about(caller: Caller, words: str, *, last: bool = False) -> Memory | None:
    """What waits for the person's word, where that is meant: it was said last in this session and is only
    pointed at, or it shares more of the words than anything that is kept."""
    session = caller.in_session.session
    waits = [one for one in pending(caller) if one.provenance.session_id == session]
    if not waits:
        return None
    if last or only_points(caller, words):
        newer = all(waits[-1].created_at >= one.created_at for one in latest(caller))
        return waits[-1] if newer else None
    book = caller.store.ruleset.rules
    said = _telling(words, book)
    most, best = max(
        ((weight(said & words_of(one.text, book)), one) for one in waits), key=lambda each: each[0]
    )
    return best if most > max((one.words for one in meant(caller, words)), default=0.0) else None


def only_points(caller: Caller, text: str) -> bool:
    """Whether words name nothing, and only point at what was said last: "forget it", "scratch that"."""
    said = folded(text)
    pointers = caller.store.ruleset.rules.any_of("cue", "this").finditer(said)
    longest = max((one[0] for one in pointers if one[0] not in _NO_POINTER), key=len, default="")
    beside = len(said) - len(longest)
    return just_said(said) or (len(longest) > 1 and beside <= (_BESIDE if said.isascii() else _BESIDE // 2))


def _telling(text: str, book: Rulebook) -> set[str]:
    """The words of a text that say what it is about."""
    return {one for one in words_of(text, book) if _tells(one)}


@lru_cache(maxsize=4096)
def _tells(word: str) -> bool:
    """Whether a word says what something is about: not "them", nor a number, nor one sign by itself where
    that does not name a thing."""
    if not word.isascii():
        return len(word) > 1 or word in things()
    return not word.isdigit() and len(query_terms(f"{word} \u4e00")) > 1


def clear(fits: Sequence[Fit]) -> Fit | None:
    """The one that is meant, where it is one."""
    return fits[0] if len(fits) == 1 else None
