"""What an answer was made of: a receipt by an id that every recall, context and query carries (BY-12).

Reading writes nothing: receipts wait in memory and go into the store with a later write, or at its close.
What nobody vouches for and an agent was shown is noted at once, because the agent may repeat it (BY-5).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from lamina.errors import NotFound
from lamina.language.secrets.privacy import redacted
from lamina.model import Memory, Role, Trust, canonical, plain, quoted
from lamina.read.snapshot import Snapshot
from lamina.records import dataclass
from lamina.storage.small_tables import Answers
from lamina.text.normalise import well_formed
from lamina.write.origins import expose
from lamina.write.store import Caller
from lamina.write.unit_of_work import UnitOfWork

_REDACTED = "(redacted)"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReceipt:
    """What one answer found, showed and left out, and by which policy; ids and never the words."""

    id: str
    op: str  #: recall, context or query
    at: datetime
    actor: str
    session: str | None
    question: str  #: as it was asked; nothing of it where it held a secret
    asked: dict[str, Any]  #: what narrowed it
    shown: tuple[str, ...]
    left_out: dict[str, str]  #: what was found and not shown, and why
    policy: str  #: the name of the policy's snapshot, which has its digest
    digest: str  #: of the words that were given, in their order
    replay: str = ""  #: where it was asked for: the same, or otherwise


@dataclass(frozen=True, slots=True)
class Given:
    """An answer as its receipt knows it."""

    op: str
    question: str
    asked: Mapping[str, Any]
    shown: Sequence[str]
    words: str  #: all that was given, in its order


def note_answer(snapshot: Snapshot, given: Given) -> str:
    """The id of an answer, whose receipt is kept once the reading is over; empty where none is kept."""
    store, scope = snapshot.caller.store, snapshot.in_session
    if not store.config.answer_receipts:
        return ""
    words, now = digest_of(given.words), snapshot.now
    said = f"{scope.thread}\0{scope.actor}\0{given.op}\0{given.question}\0{now.isoformat()}\0{words}"
    answer_id = f"a{hashlib.sha256(said.encode()).hexdigest()[:20]}"
    shown, budget = set(given.shown), given.asked.get("budget_tokens")
    why = "there was no room" if budget is not None else "others fit better"
    data = {
        "op": given.op,
        "actor": scope.actor,
        "session": scope.session,
        "question": given.question,
        "asked": dict(given.asked),
        "shown": list(given.shown),
        "left_out": {one.id: why for one in snapshot.considered if one.id not in shown},
        "policy": store.ruleset.policy_name,
        "digest": words,
    }
    snapshot.afterwards.append(lambda: store.answers.add(answer_id, quoted(scope.user), now, data))
    return answer_id


def digest_of(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def note_shown(snapshot: Snapshot, memories: Iterable[Memory]) -> None:
    """Texts that nobody vouches for were handed out to an agent: what it writes may be made of them."""
    caller = snapshot.caller
    if caller.scope.role is Role.AGENT:
        doubted = [(one.id, one.text) for one in memories if one.provenance.trust is Trust.UNTRUSTED]
        snapshot.afterwards.append(lambda: show_to(caller, doubted))


def show_to(caller: Caller, texts: Sequence[tuple[str, str]]) -> None:
    """The same once the reading is over: where each text is from, and it."""
    store, now, owner = caller.store, caller.store.now(), quoted(caller.scope.user)
    fresh = [one for one in texts if store.answers.unseen(owner, one[0], now)]
    if fresh and caller.scope.role is Role.AGENT:
        scope, ruleset = caller.scope, store.ruleset
        store.database.write(lambda tx: expose(UnitOfWork(tx, ruleset, scope, now), scope, fresh))


def receipt(caller: Caller, answer_id: str) -> AnswerReceipt:
    """The receipt of an answer to the caller's user; NotFound otherwise. An agent sees its own."""
    well_formed(answer_id, "id of an answer", 100)
    store, owner = caller.store, quoted(caller.scope.user)
    store.answers.store(store.database)
    found = store.database.read(lambda tx: Answers(tx, owner).get(answer_id))
    if found is None or not (caller.sees_past or found[2]["actor"] == caller.scope.actor):
        raise NotFound(
            f"There is no answer {answer_id!r:.60} here.",
            hint="`lamina accesses ID` lists the answers that a memory was in.",
        )
    return _told(*found)


def answers_with(caller: Caller, memory_id: str, limit: int = 50) -> list[AnswerReceipt]:
    """The answers in which a memory was shown or left out, the latest first: who was told of it, and when."""
    well_formed(memory_id, "memory id", 4000)
    store, owner = caller.store, quoted(caller.scope.user)
    store.answers.store(store.database)
    found = store.database.read(lambda tx: Answers(tx, owner).naming(memory_id, limit))
    own = [one for one in found if caller.sees_past or one[2]["actor"] == caller.scope.actor]
    return [_told(*one) for one in own]


def _told(answer_id: str, at: datetime, data: dict[str, Any]) -> AnswerReceipt:
    return AnswerReceipt(id=answer_id, at=at, **{**data, "shown": tuple(data["shown"])})


def kept_asked(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What narrowed a question, as plain data that can be asked again."""
    told: dict[str, Any] = plain(dict(asked))
    return {name: value for name, value in told.items() if value not in (None, (), [])}


def kept_question(question: str) -> str:
    """A question as a receipt keeps it."""
    return question if redacted(question) == question else _REDACTED


def said_in(hits: Iterable[tuple[str, str]]) -> str:
    """Ids and words in their order."""
    return canonical([list(one) for one in hits])
