"""One queue of what waits for a person: guesses, wishes of agents, contradictions and doubles."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from lamina.layers.relations import Relations
from lamina.lifecycle.consent import Proposal, proposals
from lamina.lifecycle.consolidate import Pair, pairs_of
from lamina.model import Role, Space
from lamina.read.shelves import loaded
from lamina.records import dataclass
from lamina.similarity.compare import StatementRelation
from lamina.storage.refusals import Refusal, Refusals
from lamina.write.store import Caller

#: So many pairs are shown; the rest comes up as these are settled.
PAIRS = 20
_CONTRADICTS = "contradicts "
#: How two memories are linked that a person said are not the same, and do not speak against each other.
DISTINCT = "distinct"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """One thing to say yes or no to."""

    sort: str  #: guess, wish, contradiction or double
    id: str  #: of the memory that waits; of the newer one of two
    text: str
    key: str = ""  #: what a guess would set
    other_id: str = ""  #: of two: what was there before
    other_text: str = ""
    by: str
    why: str
    at: datetime
    days_left: int | None = None  #: until it lapses; None for what does not
    care: str = ""  #: sensitive, benign or ordinary, of a guess


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What waits, the oldest first; what has an end comes before what has none."""

    items: tuple[ReviewItem, ...]
    waiting: int  #: how many of them need the person's word to count at all
    refused: tuple[Refusal, ...] = ()  #: noes that somebody tried to bring back, without the words


def review(caller: Caller) -> Review:
    """Everything that waits for the caller's word, in one list."""
    asked = [_proposed(caller, one) for one in proposals(caller)]
    telling = (one for one in pairs_of(caller, caller.store.now()) if _telling(caller, one))
    open_pairs = islice((one for one in telling if not _settled(caller, one)), PAIRS)
    owner = caller.scope.owner(Space.USER) or ""
    tried = caller.store.database.read(lambda tx: Refusals(tx, owner).brought_back(PAIRS))
    own = caller.scope.role in (Role.USER, Role.ADMIN)
    return Review(
        items=(*asked, *map(_paired, open_pairs)), waiting=len(asked), refused=tuple(tried) if own else ()
    )


def _settled(caller: Caller, pair: Pair) -> bool:
    """Whether a person has said that both stand."""
    ends = {pair.one.id, pair.other.id}
    edges = Relations(caller).of(pair.one.id, 1).edges
    return any(edge.type == DISTINCT and {edge.from_id, edge.to_id} == ends for edge in edges)


def _proposed(caller: Caller, proposal: Proposal) -> ReviewItem:
    sort = "wish" if proposal.proposed_by.startswith("agent:") else "guess"
    other_id = other_text = ""
    if proposal.reason.startswith(_CONTRADICTS):
        sort, other_id = "contradiction", proposal.reason.removeprefix(_CONTRADICTS)
        known = loaded(caller, [other_id])
        other_text = known[0].text if known else ""
    return ReviewItem(
        sort=sort,
        id=proposal.id,
        text=proposal.text,
        key=proposal.key,
        other_id=other_id,
        other_text=other_text,
        by=proposal.proposed_by,
        why=proposal.reason,
        at=proposal.created_at,
        days_left=proposal.days_left,
        care=proposal.care,
    )


def _telling(caller: Caller, pair: Pair) -> bool:
    """Whether two memories say the same, or cannot both be true."""
    bands = caller.store.ruleset.merging.bands
    return (pair.found.conflicts and pair.found.closeness >= bands.check) or pair.duplicate(bands)


def _paired(pair: Pair) -> ReviewItem:
    same = pair.found.relation is StatementRelation.SAME
    return ReviewItem(
        sort="double" if same else "contradiction",
        id=pair.other.id,
        text=pair.other.text,
        other_id=pair.one.id,
        other_text=pair.one.text,
        by=pair.other.provenance.actor,
        why=pair.found.why,
        at=pair.other.created_at,
    )
