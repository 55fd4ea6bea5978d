"""`memory.query`: one tool for a supervisor and its agents, every filter applied by the store (IS-6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

from lamina.errors import Denied, InvalidInput
from lamina.model import Delta, Filters, Memory, Query, Related, Role, Scope, plain
from lamina.policy.categories import Categories
from lamina.ranking.decay import faded
from lamina.read.answered import Given, kept_asked, kept_question, note_answer, note_shown, said_in
from lamina.read.changes import delta_in
from lamina.read.recall import allowed_query, find_in
from lamina.read.snapshot import Snapshot, look
from lamina.records import dataclass
from lamina.retrieval.hits import Answer
from lamina.storage.database import Transaction
from lamina.storage.memories import Edges
from lamina.text.normalise import well_formed
from lamina.text.tokens import count_tokens
from lamina.text.ttl import parse_time
from lamina.write.details import check_details, checked_query, fraction, query_of, whole_number
from lamina.write.store import Caller

TOP_K = 3
BUDGET = 512
#: Most candidates of which the threshold and the budget choose.
_POOL = 64
_RETURNS = ("bullets", "full")
_TOP = 5  #: the highest importance that a caller can give
_FILTERS = (
    "user_id",
    "agent_id",
    "run_id",
    "actor_id",
    "role",
    "category",
    "pinned",
    "importance_min",
    "importance_max",
    "updated_after",
    "updated_before",
)
#: What other systems call a role.
_ROLES = {"assistant": Role.AGENT, "ai": Role.AGENT, "human": Role.USER}


class QueryOptions(TypedDict, total=False):
    """Everything `query` takes beside the question."""

    agent: str | None
    categories: list[str] | tuple[str, ...]
    filters: Mapping[str, Any]
    top_k: int
    returns: str
    budget_tokens: int
    threshold: float | None
    changes_since: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One memory as `memory.query` gives it; `metadata` only where the whole was asked for."""

    id: str
    category: str
    text: str
    score: float  #: the probability that it answers the question; `threshold` is on this scale
    metadata: dict[str, Any] | None = None
    related: tuple[Related, ...] = ()  #: what it is linked to; at most two in a whole answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Queried:
    """What a query found, best first, and how many did not fit the budget."""

    bullets: tuple[Bullet, ...]
    tokens: int
    left_out: int = 0
    delta: Delta | None = None  #: what changed, where `changes_since` asked
    answer: str = ""  #: the id of the receipt that says what was found, shown and left out


def query(caller: Caller, question: str, **asked: Unpack[QueryOptions]) -> Queried:
    """The answer to one query; Denied or InvalidInput names what cannot be asked, and nothing is widened."""
    check_details(asked, QueryOptions.__annotations__)
    store, whole = caller.store, _whole(asked.get("returns", "bullets"))
    top_k = whole_number(asked.get("top_k", TOP_K), "top_k", 1, _POOL)
    budget = whole_number(asked.get("budget_tokens", BUDGET), "budget_tokens", 0, 2**31)
    threshold, cursor = asked.get("threshold"), asked.get("changes_since")
    least = 0.0 if threshold is None else fraction(threshold, "threshold")
    wanted = asked_query(caller.in_session, question, asked, store.ruleset.categories)

    def work(snapshot: Snapshot) -> Queried:
        now = snapshot.now
        answer = find_in(snapshot, allowed_query(caller, wanted), related=False)
        found = [faded(answer.memories[hit.id], now) for hit in answer.found.hits]
        sure = [hit.confidence for hit in answer.found.hits]
        close = [one for one in zip(found, sure, strict=True) if one[1] >= least][:top_k]
        made = _fitting([_bullet(memory, score, whole) for memory, score in close], budget)
        if answer.linked:
            made = _beside(snapshot.transaction, answer, made, now, budget)
        snapshot.considered.extend(answer.memories.values())
        note_shown(snapshot, (answer.memories[one.id] for one in made.bullets))
        shown, words = [one.id for one in made.bullets], said_in((one.id, one.text) for one in made.bullets)
        given = Given("query", kept_question(question), kept_asked(asked), shown, words)
        made = replace(made, answer=note_answer(snapshot, given))
        made = made if cursor is None else replace(made, delta=delta_in(snapshot, cursor))
        best = max((one.score for one in made.bullets), default=None)
        within = snapshot.in_session
        snapshot.afterwards.append(lambda: store.reads.note([one.id for one in made.bullets], now))
        snapshot.afterwards.append(lambda: store.tally.note(within, now, "hotpath", "query", sim=best))
        return made

    return look(caller, work, question=wanted.text)


def _beside(transaction: Transaction, answer: Answer, made: Queried, now: datetime, budget: int) -> Queried:
    """The answer with what is linked to it, within what is left of its budget."""
    ids = [one.id for one in made.bullets]
    found = Edges(transaction).beside(answer.query, ids, now, budget - made.tokens)
    linked = [replace(one, related=tuple(r for r in found if r.to == one.id)) for one in made.bullets]
    tokens = made.tokens + sum(count_tokens(one.text) for one in found)
    return replace(made, bullets=tuple(linked), tokens=tokens)


def asked_query(scope: Scope, question: str, asked: QueryOptions, categories: Categories) -> Query:
    """The query with its filters and categories checked against who asks."""
    agent, raw = asked.get("agent"), dict(asked.get("filters") or {})
    if agent is not None and agent != scope.agent:
        raise Denied(
            "Who asks is known from the token, and it is not that agent.",
            code="agent_mismatch",
            hint="Leave `agent` out, or use that agent's own token.",
        )
    if unknown := raw.keys() - set(_FILTERS):
        raise InvalidInput(f"There is no filter {min(map(str, unknown))!r:.60}.", code="filter_invalid")
    if raw.get("user_id") not in (None, scope.user):
        raise Denied("This is another user's memory.", code="user_mismatch", hint="Leave `user_id` out.")
    names = tuple(well_formed(one, "category", 128) for one in asked.get("categories") or ())
    query = query_of(scope, question, {"categories": categories.checked(names, scope)}, _POOL)
    filters = _filters(raw)
    categories.checked((filters.category,) if filters.category else (), scope)
    return replace(checked_query(query), filters=filters)


def _filters(raw: Mapping[str, Any]) -> Filters:
    given = {name: value for name, value in raw.items() if value is not None and name != "user_id"}
    for name in ("agent_id", "run_id", "actor_id"):
        if name in given:
            given[name] = well_formed(given[name], name, 256)
    if "category" in given:
        given["category"] = well_formed(given["category"], "category", 128)
    if "actor_id" in given and given["actor_id"].partition(":")[0] not in set(Role):
        given["actor_id"] = f"{Role.USER}:{given['actor_id']}"  # a bare name is a person's
    if "role" in given:
        role = str(given["role"]).lower()
        if role not in _ROLES and role not in set(Role):
            raise InvalidInput(f"{role!r:.40} is not a role.", code="role_invalid")
        given["role"] = _ROLES.get(role, role)
    if "pinned" in given and not isinstance(given["pinned"], bool):
        raise InvalidInput("`pinned` is true or false.", code="filter_invalid")
    for name in ("importance_min", "importance_max"):
        if name in given:
            given[name] = whole_number(given[name], "importance", 1, 7)
    if given.get("importance_max", 0) >= _TOP:
        del given["importance_max"]  # what rules put above the scale is at its top, too
    for name in ("updated_after", "updated_before"):
        if name in given:
            given[name] = _moment(given[name], name)
    return Filters(**given)


def _moment(value: Any, name: str) -> datetime:
    at = parse_time(value) if isinstance(value, str) else value
    if not isinstance(at, datetime) or at.tzinfo is None:
        raise InvalidInput(f"`{name}` is not a date or time.", code="time_invalid", hint="Write 2026-07-01.")
    return at


def _whole(returns: str) -> bool:
    if returns not in _RETURNS:
        raise InvalidInput(
            f"{returns!r:.40} is not a form of an answer.", code="return_invalid", hint="Say bullets or full."
        )
    return returns == "full"


def _bullet(memory: Memory, score: float, whole: bool) -> Bullet:
    words = f"{memory.key}: {memory.text}" if memory.key else memory.text
    shown = words if whole else " ".join(words.split())
    return Bullet(
        id=memory.id,
        category=memory.topic,
        text=shown if whole else f"[{memory.topic}] {shown}",
        score=round(score, 4),
        metadata=_metadata(memory) if whole else None,
    )


def _metadata(memory: Memory) -> dict[str, Any]:
    told: dict[str, Any] = plain(memory)
    return {name: value for name, value in told.items() if name not in ("id", "text", "category", "meta")}


def _fitting(bullets: list[Bullet], budget: int) -> Queried:
    """As many as fit, the best first; what is too long lets a shorter one in."""
    kept, used = [], 0
    for one in bullets:
        size = count_tokens(one.text)
        if used + size <= budget:
            kept.append(one)
            used += size
    return Queried(bullets=tuple(kept), tokens=used, left_out=len(bullets) - len(kept))
