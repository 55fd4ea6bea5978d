"""Trust follows the origin: what an agent writes weighs no more than what it was shown when it wrote it.

Whatever nobody vouches for leaves keyed marks of its terms when it is stored or handed out to an agent. A
draft of an agent that is half made of one of them has it for its origin, whether the agent says so or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

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
    shown = exposures.seen(unit.clock - _LASTS, _MOST)
    if not shown:
        return []
    said = f"{draft.key.replace('.', ' ')} {draft.text}" if draft.key else draft.text
    return [one for form in told(said) for one in _made_of(_terms(unit, form), shown)]


def _made_of(own: NDArray[np.uint32], shown: Sequence[tuple[str, bytes]]) -> list[str]:
    """Where the texts are from that a draft's terms are half made of."""
    fewest = min(_FEWEST, len(own)) if len(own) != _FEWEST else _FEWEST - 1  # one word more hides nothing
    least = max(DERIVED * len(own), fewest, 1)
    seen = [one for one in shown if one[1]]
    if not len(own) or not seen:
        return []
    every = np.frombuffer(
        b"".join(kept for _, kept in seen), "<u4"
    )  # all at once: two hundred are many calls
    starts = np.cumsum([0, *(len(kept) // 4 for _, kept in seen[:-1])])
    place = np.minimum(np.searchsorted(own, every), len(own) - 1)
    shared = np.add.reduceat((own[place] == every).astype(np.int64), starts)
    return [source for (source, _), count in zip(seen, shared.tolist(), strict=True) if count >= least]


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
    key = unit.ruleset.no_key
    found = sorted({term for part in statements(text) for term in telling_of(part).terms})[:_TERMS]
    return np.unique(np.array([int(term_mark(key, term)[:8], 16) for term in found], dtype="<u4"))
