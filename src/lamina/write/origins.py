"""Trust follows the origin: what an agent writes weighs no more than what it was shown when it wrote it.

Whatever nobody vouches for leaves keyed marks of its terms when it is stored or handed out to an agent. A
draft of an agent that is half made of one of them, or a sentence of which is, has it for its origin, whether
the agent says so or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.errors import InvalidInput
from lamina.model import Draft, Kind, Layer, Memory, Role, Scope, Space, Trust
from lamina.similarity.repeats import statements, telling_of
from lamina.similarity.spellings import told
from lamina.storage.memories import Memories
from lamina.storage.refusals import Exposures
from lamina.write.noes import is_person, term_mark
from lamina.write.unit_of_work import UnitOfWork

#: From this share of a draft's terms on, and so many of them, it is made of what was shown.
DERIVED, _FEWEST = 0.5, 3
#: For how long, and how many texts of one person.
_LASTS, _MOST = timedelta(hours=24), 200
_TERMS = 2_000  #: of one text that are kept
#: Where Thai parts its sentences: it has no stop.
_APART = re.compile(r"(?<=[\u0e01-\u0e4e])[ \t]+(?=[\u0e01-\u0e4e])")
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
    """Where a draft is from that says nothing of it: what it is half made of."""
    about = ("origin", draft.scope.user, draft.key or "", draft.text)
    if about not in unit.looked_up:
        unit.looked_up[about] = _found(unit, draft)
    found: list[str] = unit.looked_up[about]
    return found


def _found(unit: UnitOfWork, draft: Draft) -> list[str]:
    exposures = Exposures(unit.transaction, draft.scope.owner(Space.USER) or "")
    since = unit.clock - _LASTS
    if not (listing := exposures.listing(since, _MOST)):
        return []
    shown = _INDEXES.get(listing)
    if shown is None:
        shown = _kept_index(listing, exposures.seen(since, _MOST))
    said = f"{draft.key.replace('.', ' ')} {draft.text}" if draft.key else draft.text
    return [one for form in told(said) for one in _made_of(unit, form, shown)]


class _Shown(NamedTuple):
    """What was shown, from its terms to the texts that have them."""

    sources: Sequence[str]
    terms: NDArray[np.uint32]  #: of all texts, in order
    texts: NDArray[np.intp]  #: for each of them the text that it is in


#: By their listing, which says their contents to the letter: whoever has the same listing has the same index.
_INDEXES: dict[str, _Shown] = {}
_KEPT, _BIGGEST = 64, 50_000  #: indexes, and terms of one, that are kept in mind


def _kept_index(listing: str, seen: Sequence[tuple[str, bytes]]) -> _Shown:
    every = np.frombuffer(b"".join(kept for _, kept in seen), "<u4")
    texts = np.repeat(np.arange(len(seen)), [len(kept) // 4 for _, kept in seen])
    order = np.argsort(every, kind="stable")
    shown = _Shown([source for source, _ in seen], every[order], texts[order])
    if len(_INDEXES) >= _KEPT:
        _INDEXES.clear()
    if len(every) <= _BIGGEST:
        _INDEXES[listing] = shown
    return shown


def _made_of(unit: UnitOfWork, text: str, shown: _Shown) -> list[str]:
    """Where the texts are from that a draft, or a sentence of it, is half made of."""
    own = _terms(unit, text)
    fewest = min(_FEWEST, len(own)) if len(own) != _FEWEST else _FEWEST - 1  # one word more hides nothing
    found = _sharing(own, fewest, shown)
    pieces = [piece for part in statements(text) for piece in _APART.split(part)]
    for piece in pieces if len(pieces) > 1 else ():
        found += _sharing(_terms(unit, piece), _FEWEST, shown)
    return [shown.sources[text] for text in dict.fromkeys(found)]


def _sharing(own: NDArray[np.uint32], fewest: int, shown: _Shown) -> list[int]:
    """The texts that have half of these terms, and so many of them."""
    first, last = np.searchsorted(shown.terms, own), np.searchsorted(shown.terms, own, "right")
    spans = [shown.texts[start:end] for start, end in zip(first.tolist(), last.tolist(), strict=True)]
    if not spans:
        return []
    shared = np.bincount(np.concatenate(spans), minlength=1)
    return np.flatnonzero(shared >= max(DERIVED * len(own), fewest, 1)).tolist()


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
    exposures.drop(unit.clock - _LASTS)
    for source, text in texts:
        exposures.put(source, scope.thread, _terms(unit, text).tobytes(), unit.clock)


def _terms(unit: UnitOfWork, text: str) -> NDArray[np.uint32]:
    """The marks of a text's terms, in order."""
    key = unit.ruleset.no_key
    found = sorted({term for part in statements(text) for term in telling_of(part).terms})[:_TERMS]
    return np.array(sorted({int(term_mark(key, term)[:8], 16) for term in found}), dtype="<u4")
