"""What a sentence is about of all that was said before: which statement it puts right or wants forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from lamina.encoders.port import JointReader
from lamina.errors import LaminaError
from lamina.language.amend import telling, weight, words_of
from lamina.language.framing import asks_anywhere, phrases_of
from lamina.language.hearing import clauses_in, hear
from lamina.language.relation import Does, KnownStatement, SaidNow, features, model
from lamina.language.rulebook import Rulebook
from lamina.language.slots import apart_from_what_stays, just_said, name_of_key
from lamina.language.sorts import Sort
from lamina.language.understanding import LONGEST, Listener, heard_whole
from lamina.language.view import view_of
from lamina.model import Kind, Layer, Memory, Space
from lamina.read.recall import look_up
from lamina.read.shelves import keyed_in, latest, window, window_in
from lamina.read.snapshot import Snapshot, look
from lamina.records import dataclass
from lamina.text.normalise import folded, is_note
from lamina.write.store import Caller
from lamina.write.verbs import pending

#: How many memories are looked through for the one that is meant, and how many of the last turns.
LOOKED_AT, _TURNS = 64, 6
#: What nobody puts right: it says nothing; and how much clearer than all else that has to be.
_DOUBT = 1500
_SAYS_NOTHING = (Sort.TASK, Sort.QUESTION, Sort.CHAT, Sort.QUOTE, Sort.HYPOTHETICAL)
#: How many of them are read together with what is said, and the most that counts.
READ, AT_MOST = 8, 6.0
#: What may be changed by a word; what happened, was said and was concluded from it stays as it was.
STATED = (Kind.FACT, Kind.PREFERENCE, Kind.CONSTRAINT, Kind.INSTRUCTION, Kind.CORRECTION)
_LASTING = (Layer.SEMANTIC, Layer.USER_MODEL)
#: What points at the person, and at nothing that was said.
_NO_POINTER = ("me", "us")
#: What is left beside a pointer, where it names something: a word, a letter of Thai, a Chinese character.
_NAMES = re.compile("[0-9a-z\u00e0-\u024f]{2}|[\u0e01-\u0e2e\u3400-\u9fff]")
#: The new value can be put in the place of the old one; nothing was said after it.
_IN_PLACE, _NEWEST = "in place", "newest"
#: How far what is certain is ahead, in thousandths of a logit; and of how many at most a person is asked.
_CERTAIN, _FEW = 4000, 3
#: How like a wish is to what it means without naming it; and what is never forgotten so: nobody loses an
#: allergy to a word about something else.
_ALIKE, _GUARDS = 0.4, re.compile("allerg|แพ้|过敏")
#: How likely it has to be that a wish means what it does not name: a command, and what is only heard.
_UNNAMED, _UNNAMED_HEARD = 1200, 1500
#: And how likely where it is hardly like it at all: whoever names something else means something else.
_FAR, _UNNAMED_FAR = 0.25, 1800
#: How unlikely it may be that somebody means the one who says themselves that they put something right.
_ANNOUNCED = 1500


@dataclass(frozen=True, slots=True)
class Fit:
    """A memory or a turn, and what speaks for it that a sentence is about it."""

    memory: Memory
    statement: KnownStatement
    scores: dict[Does, int]  #: in thousandths of a logit, against nothing being meant
    words: float  #: how much of what it says was said again, rare words more
    why: tuple[str, ...] = ()  #: what spoke for it

    @property
    def is_sentence(self) -> bool:
        """Whether it can be said again: the value of a key, such as a time zone, cannot."""
        return not self.statement.setting


@dataclass(frozen=True, slots=True)
class Meant:
    """What a sentence does, and to what: to one that is clear, or a person has to be asked which."""

    does: Does
    fits: tuple[Fit, ...]
    clear: bool

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(one.memory.id for one in self.fits)

    @property
    def score(self) -> int:
        """What speaks for it, in thousandths of a logit."""
        return max(one.scores[self.does] for one in self.fits)

    @property
    def is_named(self) -> bool:
        """Whether the best of them has a word or its meaning in common with what was said."""
        return _is_named(self.fits[0])


def certain(text: str, does: Does, signs: frozenset[str] = frozenset()) -> SaidNow:
    """Words of which it is certain what they want."""
    scores = dict.fromkeys(Sort, -_CERTAIN) | {Sort(does): 0}
    return SaidNow(text, scores, signs)


Known = list[tuple[Memory, KnownStatement]]


def fitting(caller: Caller, said: SaidNow, known: Known | None = None) -> list[Fit]:
    """All that was said before and may be meant, with what speaks for each; `known` where that was asked."""
    known = known_to(caller, said.text) if known is None else known
    if not known:
        return []
    statements = read_beside(caller, said.text, [one for _, one in known])
    rows = list(features(said, statements, caller.store.ruleset.rules))
    found = []
    scored = zip(known, statements, rows, model().scores(rows).tolist(), strict=True)
    for (memory, _), one, row, scores in scored:
        found.append(Fit(memory, one, dict(zip(Does, scores, strict=True)), row["shared"], model().why(row)))
    return found


def fits_to_forget(caller: Caller, text: str, signs: frozenset[str] = frozenset()) -> list[Fit]:
    """What a wish to forget may mean: nothing that it says is to stay."""
    book = caller.store.ruleset.rules
    wish, stays = apart_from_what_stays(text)
    kept = telling(stays, book) - telling(wish, book)
    fits = fitting(caller, certain(wish, Does.FORGET, signs))
    return [one for one in fits if not kept & words_of(one.memory.text, book)]


def heard(fits: Sequence[Fit], said: SaidNow) -> Meant | None:
    """What a sentence means that may as well be about nothing that is known; None where it does.

    Whoever says themselves that they put something right ("sorry", "wait") is asked only which of several.
    """
    options = sorted(
        ((fit.scores[does], does, fit) for fit in fits for does in Does),
        key=lambda one: (-one[0], one[1], one[2].memory.id),
    )
    if not options:
        return None
    (most, does, best), *others = options
    gap = model().ahead[does]
    ahead = most - max((score for score, _, fit in others if fit is not best), default=-_CERTAIN)
    unnamed = does is Does.FORGET and not _is_named(best)
    wished = not unnamed or said.scores[Sort.FORGET] == max(said.scores.values())
    least = _least(does, best, model().clear[does], _UNNAMED_HEARD)
    if most >= least and ahead >= gap and wished and _may_be_done(does, best):
        return Meant(does, (best,), clear=True)
    near = [fit for score, also, fit in options if also is does and score >= most - gap]
    told = "cue amends" in said.signs or (
        "cue denies" in said.signs and best.words > 0 and _IN_PLACE in best.why
    )
    told_from = -_ANNOUNCED if _IN_PLACE in best.why else 0
    announced = does is Does.CORRECT and told and len(near) == 1 and most >= told_from
    points = best.words > 0 or not {*best.why} <= {_NEWEST}
    asked = announced or (points and most >= model().asks[does])
    return Meant(does, _in_order(near), announced) if asked else None


def chosen(
    caller: Caller, fits: Sequence[Fit], does: Does, signs: frozenset[str] = frozenset()
) -> Meant | None:
    """Which of them is meant by words of which it is certain what they want; None where none comes near.

    Whoever gives a command knows as a rule what they said: one that is ahead is meant, though nothing names
    it. They are told which it was, and it can be restored.
    """
    ordered = sorted(fits, key=lambda one: (-one.scores[does], one.memory.id))
    most = ordered[0].scores[does] if ordered else -_CERTAIN
    near = [one for one in ordered if one.scores[does] >= most - model().apart[does]]
    if does is Does.CORRECT and "cue amends" in signs and len(near) == 1 and most >= -_ANNOUNCED:
        return Meant(does, tuple(near), clear=True)
    if not near or most < model().certain[does]:
        return None
    least = _least(does, near[0], model().sure[does], _UNNAMED)
    clear = most >= least and _may_be_done(does, near[0])
    if clear and does is Does.FORGET and len(near) > 1 and _are_one_message(caller, near):
        return Meant(does, tuple(near), clear=True)
    return Meant(does, _in_order(near), clear=len(near) == 1 and clear)


def _least(does: Does, fit: Fit, named: int, unnamed: int) -> int:
    """From which score on it is done, by whether it is named; a correction says what it is about."""
    if does is Does.CORRECT or _is_named(fit):
        return named
    return max(named, _UNNAMED_FAR if fit.statement.like < _FAR else unnamed)


def _may_be_done(does: Does, fit: Fit) -> bool:
    """Whether it needs no question: a wish that names nothing means what was said in this session, and never
    an allergy."""
    guards = _GUARDS.search(view_of(fit.memory.text).text) is not None
    return does is Does.CORRECT or _is_named(fit) or (fit.statement.here and not guards)


def _is_named(fit: Fit) -> bool:
    """Whether it has a word or its meaning in common with what was said."""
    return fit.words > 0 or fit.statement.like >= _ALIKE


def _are_one_message(caller: Caller, near: Sequence[Fit]) -> bool:
    """Whether all of them were told in one message, of which each kept a part."""
    texts = [folded(one.memory.text) for one in near if one.statement.lasting]
    turns = [folded(one.text) for one in window(caller)]
    return len(texts) == len(near) and any(all(text in turn for text in texts) for turn in turns)


def _in_order(near: Sequence[Fit]) -> tuple[Fit, ...]:
    """Those that fit best, in the order in which they were said."""
    return tuple(sorted(near[:_FEW], key=lambda one: (one.memory.created_at, one.memory.id)))


def stretches(listener: Listener) -> Iterator[tuple[int, int]]:
    """The stretches of a message that may each be about something known: all of it where it is short, its
    sentences, their clauses, and every two that follow one another."""
    whole, hearing = heard_whole(listener), listener.hearing
    spans = [] if whole is None else [(whole.start, whole.end)]
    for one in hearing.sentences:
        clauses = clauses_in(hearing, one)
        spans += [(one.start, one.end)] if clauses else []
        spans += [*clauses, *((low, high) for (low, _), (_, high) in pairwise(clauses))]
    yield from dict.fromkeys(spans)


def known_to(caller: Caller, words: str) -> Known:
    """What may be meant: lasting memories, and turns of this session of which nothing was kept."""

    def work(snapshot: Snapshot) -> tuple[dict[str, float], list[Memory]]:
        found = look_up(snapshot, words, k=LOOKED_AT, spaces=[Space.SESSION, Space.USER])
        like = {one.id: hit.scores.get("meaning", 0.0) for one, hit in found}
        met = [one for one, _ in found if one.layer is not Layer.WORKING]
        turns = [one for one in window_in(snapshot)[-_TURNS:] if len(one.text) <= LONGEST]
        said = [one for one in turns if tells(one.text, caller.store.ruleset.rules)]
        return like, [*keyed_in(snapshot), *met, *said]

    like, met = look(caller, work)
    found = [one for one in met if len(one.text) <= LONGEST]  # nobody puts a paste right by a word
    lasting = {one.id: one for one in found if _lasts(one)}
    kept = [folded(one.text) for one in lasting.values()]
    turns = [one for one in found if one.layer is Layer.WORKING and one.superseded_by is None]
    apart = [one for one in turns if not any(text in folded(one.text) for text in kept)]
    ordered = sorted([*lasting.values(), *apart], key=lambda one: (one.updated_at, one.id), reverse=True)
    return [
        (one, _statement(one, like.get(one.id, 0.0), age, caller.in_session.session))
        for age, one in enumerate(ordered)
    ]


@lru_cache(maxsize=256)  # the last turns are looked through again with each one that may be about them
def tells(text: str, book: Rulebook) -> bool:
    """Whether a turn says something that can be put right; a task, a question and small talk do not."""
    hearing = hear(text, book)
    return not asks_anywhere(hearing.view.text) and any(
        max(one.scores[sort] for sort in Sort if sort not in _SAYS_NOTHING)
        > max(one.scores.values()) - _DOUBT
        for one in Listener(hearing).parts()
        if not hearing.sentence_at(one.start).marked
    )


def read_beside(caller: Caller, words: str, known: Sequence[KnownStatement]) -> list[KnownStatement]:
    """The statements with what an encoder says that reads each of the likest together with some words."""
    reader: object = caller.store.embedder
    found = list(known)
    if isinstance(reader, JointReader):
        best = sorted(range(len(found)), key=lambda at: (-found[at].like, at))[:READ]
        with suppress(LaminaError):  # without it likeness must do
            fits = reader.fits(words, [found[at].text for at in best])
            least = max(-AT_MOST, min(fits, default=0.0))
            found = [replace(one, read=least) for one in found]
            for at, fit in zip(best, fits, strict=True):
                found[at] = replace(found[at], read=max(-AT_MOST, min(AT_MOST, fit)))
    return found


def echoes(caller: Caller, memory: Memory) -> list[Memory]:
    """What of this session says the same words: the turn they were said in, and what was made of it."""
    wanted = folded(memory.text)

    def work(snapshot: Snapshot) -> list[Memory]:
        met = look_up(snapshot, memory.text, k=_TURNS, spaces=[Space.SESSION])
        return [*window_in(snapshot), *(one for one, _ in met)]

    found = {one.id: one for one in look(caller, work, synced=False) if one.key is None}
    return [one for one in found.values() if one.id != memory.id and wanted in folded(one.text)]


def _lasts(one: Memory) -> bool:
    stated = one.kind in STATED and one.layer is not Layer.WORKING
    return stated and bool(one.key if one.space is Space.SESSION else one.layer in _LASTING)


def _statement(memory: Memory, like: float, age: int, session: str | None) -> KnownStatement:
    return KnownStatement(
        memory.text,
        like,
        called=name_of_key(memory.key),
        age=age,
        here=memory.provenance.session_id == session,
        lasting=memory.layer is not Layer.WORKING,
        setting=memory.key is not None and not is_note(memory.key),
    )


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
    said = telling(words, book)
    most, best = max(
        ((weight(said & words_of(one.text, book)), one) for one in waits), key=lambda each: each[0]
    )
    others = fitting(caller, certain(words, Does.FORGET))
    return best if most > max((one.words for one in others), default=0.0) else None


def only_points(caller: Caller, text: str) -> bool:
    """Whether words name nothing, and only point at what was said last: "forget it", "scratch that"."""
    said = folded(text)
    if just_said(said):
        return True
    pointer = caller.store.ruleset.rules.any_of("cue", "this")
    if not any(len(one[0]) > 1 and one[0] not in _NO_POINTER for one in pointer.finditer(said)):
        return False
    named = phrases_of("beside_pointer").sub(" ", pointer.sub(" ", said))
    return _NAMES.search(named) is None
