"""Trust follows the origin: what an agent writes weighs no more than what it was shown when it wrote it.

Whatever nobody vouches for leaves keyed marks of its terms when it is stored or handed out to an agent. A
draft of an agent of which a sentence was made of one of its sentences has it for its origin, whether the
agent says so or not; unless the person said the same in that time, whose word is an origin of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from lamina.errors import InvalidInput
from lamina.late import regex
from lamina.model import Draft, Kind, Layer, Memory, Role, Scope, Space, Trust
from lamina.similarity.repeats import (
    gathered,
    least_shared,
    made_of,
    sentences,
    statements,
    telling_of,
    weight_of,
)
from lamina.similarity.spellings import told
from lamina.storage.memories import Memories, micros
from lamina.storage.refusals import Exposure, Exposures
from lamina.write.noes import LASTS, guards_of, is_person, term_mark
from lamina.write.unit_of_work import UnitOfWork

_MOST = 200  #: texts of one person
_TERMS, _SENTENCES = 8_000, 4_000  #: of one text that are kept
_LONG = 300  #: characters of a sentence that is taken apart
_CLAIM, _CLAIM_THAI = 8, 14  #: quarters of words in a clause that is known by itself
#: Where Thai parts its sentences, which have no stop, also before one in English.
_APART = regex(r"(?<=[\u0e01-\u0e4e])[ \t]+(?=[\u0e01-\u0e4eA-Z])")
_LOOSE = regex(r"(?<=[\u0e01-\u0e4e])[ \t]+|[,:](?=\s)|[，、：]")
#: What stands before it only says where something is from ("I found out that …"), or is said beside it.
_LEAD = regex(
    r"\b(?:that|and|but|because|since|so|while|who|which)\b|ว่า|และ|แต่|เพราะ|ซึ่ง|[说說]|并且?|並且?|而且|但是?|因[为為]|所以"
)
#: Chinese letters that come and go between the words of a claim: a pair with one of them is no word of it.
_SMALL = frozenset("的都也就了着时出把被")
_WEIGHTY = 4  #: from this importance on a person has to agree
#: What somebody acts upon: from an origin that nobody vouches for it waits for the person.
_BINDING = (Kind.DECISION, Kind.INSTRUCTION, Kind.CONSTRAINT, Kind.PROCEDURE)


def traced(unit: UnitOfWork, draft: Draft) -> Draft:
    """A draft with the origins that were declared or found; an agent's is untrusted where one of them is."""
    if is_person(draft.scope) or draft.place.startswith("summary:") or draft.tainted:
        return draft
    found = [*draft.origins, *_undeclared(unit, draft)] if draft.scope.role is Role.AGENT else draft.origins
    if not found:
        return draft
    origins = tuple(dict.fromkeys(found))
    doubted = set(origins) - set(draft.origins) or _untrusted(unit, draft.origins)
    return replace(draft, origins=origins, tainted=bool(doubted))


def _undeclared(unit: UnitOfWork, draft: Draft) -> list[str]:
    """Where a draft is from that says nothing of it: what it was made of, unless the person said it, too."""
    about = ("origin", draft.scope.user, draft.key or "", draft.text)
    if about not in unit.looked_up:
        unit.looked_up[about] = _found(unit, draft)
    found: list[str] = unit.looked_up[about]
    return found


def _found(unit: UnitOfWork, draft: Draft) -> list[str]:
    since = unit.clock - LASTS
    guards = guards_of(unit, draft.scope)
    if not guards.shown:
        return []
    shown = _INDEXES.get(guards.version)
    if shown is None:
        exposures = Exposures(unit.transaction, draft.scope.owner(Space.USER) or "")
        shown = _keep(guards.version, _NOTHING.grown(exposures.seen(since, _MOST)))
    said = [draft.text, *([f"{draft.key.replace('.', ' ')} {draft.text}"] if draft.key else ())]
    forms = dict.fromkeys(form for one in said for form in told(one))
    parts = [part for form in forms for part in _parts(unit.ruleset.no_key, form)]
    found = list(_sharing(parts, shown))
    if not found:
        return []
    own = _said_lately(unit, draft.scope, since)
    tools = {
        text for text, shared in found if shown.counts(text, since) and not any(shared <= one for one in own)
    }
    return [source for _, source, _ in sorted((shown.texts[text] for text in tools), reverse=True)]


class _Shown(NamedTuple):
    """What was shown, from its terms to the sentences that have them."""

    texts: Sequence[tuple[int, str, str]]  #: when each was shown, where it is from, and which wording it is
    places: Mapping[int, list[int]]  #: a term to the sentences that it is in
    sizes: Sequence[int]  #: of each sentence, in quarters of words
    text_of: Sequence[int]  #: for each sentence the text that it is of
    beside: Set[int]  #: the sentences of texts that have several

    def counts(self, text: int, since: datetime) -> bool:
        """Whether a text was shown since then, and is among the last of those."""
        told = self.texts[text]
        late = len(self.texts) <= _MOST or told >= sorted(self.texts)[-_MOST]
        return late and told[0] >= micros(since)

    def grown(self, seen: Iterable[Exposure]) -> _Shown:
        """The same with more texts."""
        texts, sizes, text_of, places = [*self.texts], [*self.sizes], [*self.text_of], dict(self.places)
        known, beside = {told[1:]: number for number, told in enumerate(texts)}, set(self.beside)
        own = set[int]()  # terms whose places are no longer the other index's
        for source, wording, terms, at in seen:
            number = known.setdefault((source, wording), len(texts))
            if number < len(texts):
                texts[number] = at, source, wording
                continue
            texts.append((at, source, wording))
            first, size = len(sizes), 0
            for mark in (*np.frombuffer(terms, "<u4").tolist(), 0):
                if mark:
                    if mark not in own:
                        own.add(mark)
                        places[mark] = [*places.get(mark, ())]
                    places[mark].append(len(sizes))
                    size += _QUARTERS[mark & 3]
                elif size:
                    sizes.append(size)
                    text_of.append(number)
                    size = 0
            beside.update(range(first, len(sizes)) if len(sizes) > first + 1 else ())
        return _Shown(texts, places, sizes, text_of, beside)


#: By the version of what was shown, which stands for its contents: who has the same has the same index.
_INDEXES: dict[str, _Shown] = {}
_NOTHING = _Shown((), {}, (), (), frozenset())
_KEPT, _BIGGEST = 32, 20_000  #: indexes, and sentences of one, that are kept in mind
_QUARTERS = (4, 1, 2, 1)  #: of a word, by the last bits of a mark


def _keep(version: str, shown: _Shown) -> _Shown:
    if len(_INDEXES) >= _KEPT:
        _INDEXES.clear()
    if version and len(shown.sizes) <= _BIGGEST:
        _INDEXES[version] = shown
    return shown


def _sharing(parts: Sequence[frozenset[int]], shown: _Shown) -> Iterator[tuple[int, frozenset[int]]]:
    """The texts that a part of a draft was made of, with what they share."""
    known = shown.places
    places = {mark: known[mark] for mark in frozenset[int]().union(*parts) if mark in known}
    for part in parts if places else ():
        own, whole = _size(part), defaultdict[int, int](int)
        both = part & places.keys()
        least = least_shared(own)
        if _size(both) < least:  # in no sentence is more of it than in all
            continue
        unit = 4 if not any(mark & 3 for mark in both) else 1  # quarters that are counted at once
        at = (places[mark] if unit == 4 else places[mark] * _QUARTERS[mark & 3] for mark in both)
        shared = Counter(chain.from_iterable(at))
        for sentence in [sentence for sentence, size in shared.items() if size * unit >= least]:
            if made_of(shared[sentence] * unit, own, shown.sizes[sentence]):
                yield shown.text_of[sentence], _both(part, places, {sentence})
        for sentence in shared.keys() & shown.beside if gathered(own, own) else ():
            whole[shown.text_of[sentence]] += shared[sentence] * unit
        for text in [text for text, size in whole.items() if gathered(size, own)]:
            all_of = _both(part, places, {at for at in shown.beside if shown.text_of[at] == text})
            if gathered(_size(all_of), own):  # what is in several of its sentences counts once
                yield text, all_of


def _both(part: frozenset[int], places: Mapping[int, Sequence[int]], sentences: set[int]) -> frozenset[int]:
    return frozenset(mark for mark in part & places.keys() if not sentences.isdisjoint(places[mark]))


def _said_lately(unit: UnitOfWork, scope: Scope, since: datetime) -> list[frozenset[int]]:
    """What the person stated themselves in that time, here and in this session."""
    names = [name for space in (Space.USER, Space.SESSION) if (name := scope.shelf(space))]
    shelves = [known[0] for name in names if (known := unit.text_index.shelf(name))]
    texts = [text for shelf in shelves for text in unit.memories.stated(shelf, since)]
    key = unit.ruleset.no_key
    return [_marked(key, one) for text in texts if not text.endswith(("?", "？")) for one in statements(text)]


def _untrusted(unit: UnitOfWork, origins: Sequence[str]) -> bool:
    """Whether any of what was declared is not trusted; InvalidInput for what the caller cannot read."""
    known = Memories(unit.seen).load(list(origins))
    for one in origins:
        if one not in known or known[one].shelf not in unit.scope.shelves():
            raise InvalidInput(
                f"There is no memory {one!r:.80} that this could be derived from.",
                code="origin_unknown",
                hint="`derived_from` takes ids of memories that you can read.",
            )
    return any(one.provenance.trust is Trust.UNTRUSTED for one in known.values())


def binds(draft: Draft) -> bool:
    """Whether a draft would be acted upon, or seen by others: from a doubtful origin it needs a person."""
    weighty = draft.importance >= _WEIGHTY and draft.importance_reason == ("given",)
    heavy = draft.pinned or weighty or draft.space in (Space.PROJECT, Space.SYSTEM)
    told = draft.layer is Layer.PROCEDURAL or draft.kind in _BINDING or draft.key is not None
    return draft.layer is not Layer.WORKING and (heavy or told)


def trust_of(unit: UnitOfWork, draft: Draft) -> Trust:
    """What a draft is worth: the least of its writer and its origins; a tool the policy names is trusted."""
    scope = draft.scope
    if draft.tainted:
        return Trust.UNTRUSTED
    named = scope.role is Role.TOOL and scope.agent in unit.ruleset.policy.trusted_tools
    return Trust.TRUSTED if named else scope.trust


def keep_exposure(unit: UnitOfWork, memory: Memory) -> None:
    """What is stored and not trusted may be repeated from now on."""
    if memory.provenance.trust is Trust.UNTRUSTED:
        expose(unit, unit.scope, [(memory.id, memory.text)])


def expose(unit: UnitOfWork, scope: Scope, texts: Iterable[tuple[str, str]]) -> None:
    """Somebody was shown texts that nobody vouches for: where each is from, and it."""
    exposures = Exposures(unit.transaction, scope.owner(Space.USER) or "")
    exposures.drop(unit.clock - LASTS)
    key = unit.ruleset.no_key
    seen = [(source, _kept(key, text)) for source, text in texts]
    before, after, put = exposures.put(seen, scope.thread, unit.clock)
    if (shown := _INDEXES.pop(before, None)) is not None and len(shown.texts) < 2 * _MOST:
        _keep(after, shown.grown(put))
    unit.looked_up.clear()


_END = bytes(4)  #: after each sentence


def _kept(key: bytes, text: str) -> bytes:
    """The marks of a text's sentences, one after the other, and after them those of their longer clauses."""
    parts = statements(text, _SENTENCES)
    short = [piece for part in parts for piece in (_LOOSE.split(part) if len(part) > _LONG else [part])]
    clauses = [piece for part in short for piece in _pieces(part) if _claims(_marked(key, piece))]
    marks = [
        mark for piece in dict.fromkeys((*short, *clauses)) for mark in (*sorted(_marked(key, piece)), 0)
    ]
    return np.array(marks[:_TERMS], "<u4").tobytes()


def _claims(marks: frozenset[int]) -> bool:
    """Whether a clause says enough to be known by itself: two words, and more in Thai, without blanks."""
    return _size(marks) >= (_CLAIM_THAI if any(mark & 3 == 1 for mark in marks) else _CLAIM)


def _pieces(text: str) -> list[str]:
    """The parts of a text in which something may be repeated: sentences, clauses, what is said beside."""
    pieces = dict.fromkeys(sentences(text))
    if not text.isascii():
        pieces |= dict.fromkeys(piece for part in pieces for piece in _APART.split(part))
    if _LEAD.search(text):
        pieces |= dict.fromkeys(piece for part in pieces for piece in _LEAD.split(part))
    return list(pieces)


def _parts(key: bytes, text: str) -> list[frozenset[int]]:
    """The whole of a text, and every part in which something may be repeated, by the marks of their terms."""
    every = [_marked(key, piece) for piece in _pieces(text)]
    if len(every) > 1:
        every.append(frozenset[int]().union(*every))
    if not text.isascii():  # beside a sentence in Thai or Chinese, words of another language are others'
        every += [frozenset(mark for mark in part if mark & 3) for part in every]
    return [part for part in dict.fromkeys(every) if part]


@lru_cache(maxsize=1024)
def _marked(key: bytes, part: str) -> frozenset[int]:
    terms = telling_of(part.strip()).terms
    return frozenset(_mark(key, term) for term in terms if _SMALL.isdisjoint(term)) or frozenset(
        _mark(key, term) for term in terms
    )


@lru_cache(maxsize=16_384)
def _mark(key: bytes, term: str) -> int:
    """The keyed mark of a term; its last bits say how much of a word it is."""
    return int(term_mark(key, term)[:8], 16) & ~3 | weight_of(term) & 3


def _size(marks: Iterable[int]) -> int:
    return sum(_QUARTERS[mark & 3] for mark in marks)
