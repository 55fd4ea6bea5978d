"""A person's noes as they see them, and the proof that something stays forgotten.

For the proof every way back is tried, in transactions of which nothing stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lamina.errors import InvalidInput, LaminaError, NotFound
from lamina.hear.turn import answered, commit_turn
from lamina.lifecycle.purge import check_owner, verify_purge
from lamina.model import Draft, Kind, Layer, Memory, Outcome, Receipt, Role, Scope, Space, State
from lamina.policy.consent import same_value
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.refusals import Refusal, Refusals
from lamina.storage.shelf_contents import saying
from lamina.text.normalise import well_formed
from lamina.write.details import whole_number
from lamina.write.guesses import Guess, stage
from lamina.write.request import Request, Verb, perform
from lamina.write.store import Caller, Store
from lamina.write.unit_of_work import UnitOfWork
from lamina.write.verbs import get

MOST = 200
_AGENT = "prove"
_CYRILLIC = str.maketrans("aeopcyx", "аеорсух")


def noes(caller: Caller, *, lifted: bool = False, limit: int = MOST) -> list[Refusal]:
    """What the person said no to, the newest first, without the words; with `lifted`, also what is over."""
    check_owner(caller)
    owner, most = caller.scope.owner(Space.USER) or "", whole_number(limit, "limit", 1, 10_000)
    return caller.store.database.read(lambda tx: Refusals(tx, owner).all(most, lifted=lifted))


def lift_no(caller: Caller, number: int) -> Refusal:
    """End a no by its number; the audit says who did. Only the person or an administrator may."""
    check_owner(caller)
    owner = caller.scope.owner(Space.USER) or ""
    whole_number(number, "number", 1, 2**53)

    def work(unit: UnitOfWork) -> Refusal | None:
        refusals = Refusals(unit.transaction, owner)
        if not refusals.lift(number, unit.scope.actor, unit.now):
            return None
        unit.record_act("lift_no", unit.scope.shelf(Space.USER) or "", f"number {number}")
        return refusals.get(number)

    found = caller.store.act(caller.scope, work)
    if found is None:
        raise NotFound(f"There is no such no: {number}.", hint="`lamina noes` lists those that stand.")
    return found


class _Undone(Exception):
    """Carries what a try came to out of a transaction that must leave no trace."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__()


@dataclass(frozen=True, slots=True)
class Tried:
    """One way back: who took it, and what it came to."""

    way: str
    who: str
    result: str  #: refused, waits or back
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Whether something stays forgotten; none of its words are in here."""

    forgotten: bool
    standing: int  #: noes of the person that stand against it
    active: tuple[str, ...]  #: ids of what says it and is active
    ways: tuple[Tried, ...]
    note: str = ""


def prove_forgotten(caller: Caller, what: str) -> Proof:
    """Try every way by which a text, or a memory that was forgotten, could come back; nothing of it stays.

    Of a purged memory no words are left to try with: then its purge is looked at again. Only the person or an
    administrator may.
    """
    check_owner(caller)
    store = caller.store
    store.sync()
    said = well_formed(what, "text", store.config.max_text_chars)
    memory_id = said if _is_id(said) else ""
    memory: Memory | None = None
    if memory_id:
        try:
            memory = get(caller, memory_id)
        except NotFound:
            return _purged(caller, memory_id)
        said = memory.text
    owner = caller.scope.owner(Space.USER) or ""
    active = store.database.read(lambda tx: tuple(_active(tx, owner, said)))
    ways = tuple(_tries(caller, said, memory))
    stands = store.database.read(lambda tx: _standing(tx, owner, memory_id, ways))
    held = not active and not [one for one in ways if one.result == "back"]
    return Proof(forgotten=held, standing=stands, active=active, ways=ways)


def _is_id(text: str) -> bool:
    return (
        text.partition(":")[0] in set(Space) and text.count(":") >= 3 and text.rpartition(":")[2].isdecimal()
    )


def _purged(caller: Caller, memory_id: str) -> Proof:
    seen = verify_purge(caller, memory_id)
    owner = caller.scope.owner(Space.USER) or ""
    stands = caller.store.database.read(lambda tx: len(Refusals(tx, owner).about(memory_id)))
    note = "It was purged: no words are left to try with. Give the text to try every way."
    return Proof(forgotten=seen.clean and stands > 0, standing=stands, active=(), ways=(), note=note)


def _active(transaction: Transaction, owner: str, said: str) -> Iterator[str]:
    """Ids of what is active and says it, in whatever spelling."""
    wanted = same_value(said)
    if not wanted:
        raise InvalidInput("There is nothing in this to look for.", code="text_empty")
    for one in saying(transaction, owner, said):
        if wanted in same_value(one.text):
            yield one.id


def _standing(transaction: Transaction, owner: str, memory_id: str, ways: tuple[Tried, ...]) -> int:
    about = Refusals(transaction, owner).about(memory_id) if memory_id else []
    return max(len(about), int(any(one.code == "refused_stays" for one in ways)))


Way = Callable[[UnitOfWork], Receipt]


def _tries(caller: Caller, said: str, memory: Memory | None) -> Iterator[Tried]:
    store, scope = caller.store, replace(caller.in_session, agent=None, role=Role.USER, via="prove")
    for who, role in (("an agent", Role.AGENT), ("a tool", Role.TOOL), ("a job", Role.SYSTEM)):
        speaker = replace(scope, role=role, agent=_AGENT, via="job" if role is Role.SYSTEM else "prove")
        for name, draft in _drafts(speaker, said):
            yield _tried(store, name, who, speaker, _remembering(store, draft))
    agent = replace(scope, role=Role.AGENT, agent=_AGENT)
    guess = Guess(key="goal.prove", value=said, confidence=1.0, reason="prove", importance=5)
    yield _tried(store, "proposed", "an agent", agent, lambda unit: stage(unit, guess))
    turn = answered(agent, said, (), store.ruleset.rules)
    decisions = [store.judge(one) for one in turn.drafts]
    yield _tried(
        store, "in a reply", "an agent", agent, lambda unit: commit_turn(unit, turn, decisions)[0][1]
    )
    old = replace(_plain(scope, said), second_hand=True, layer=Layer.EPISODIC, place="turn")
    yield _tried(store, "an old transcript", "the person", scope, _remembering(store, old))
    if memory is not None and memory.state is not State.ACTIVE:
        ask = Request(verb=Verb.RESTORE, scope=agent, at=store.now(), memory_id=memory.id)
        yield _tried(store, "restored", "an agent", agent, lambda unit: perform(unit, ask))


def _plain(scope: Scope, text: str) -> Draft:
    return Draft(scope=scope, text=text)


def _drafts(scope: Scope, said: str) -> Iterator[tuple[str, Draft]]:
    plain = _plain(scope, said)
    yield "the same words", plain
    yield "shouted", replace(plain, text=said.upper())
    yield "look-alike letters", replace(plain, text=said.translate(_CYRILLIC))
    yield "invisible letters", replace(plain, text="\u200b".join(said))
    yield "inside a text", replace(plain, text=f"Some notes. {said}. It was sunny.")
    yield "an instruction", replace(plain, kind=Kind.INSTRUCTION)
    yield "under a key", replace(plain, key="fact.prove", layer=Layer.USER_MODEL, kind=Kind.PREFERENCE)
    yield "in the session", replace(plain, space=Space.SESSION, layer=Layer.WORKING)
    yield "an episode", replace(plain, layer=Layer.EPISODIC, kind=Kind.EPISODE, place="episode")
    yield "a procedure", replace(plain, layer=Layer.PROCEDURAL, kind=Kind.PROCEDURE, place="procedure:prove")
    if scope.project:
        yield "in the project", replace(plain, space=Space.PROJECT)


def _remembering(store: Store, draft: Draft) -> Way:
    ask = Request(
        verb=Verb.REMEMBER, scope=draft.scope, at=store.now(), draft=draft, decision=store.judge(draft)
    )
    return lambda unit: perform(unit, ask)


def _tried(store: Store, way: str, who: str, scope: Scope, work: Way) -> Tried:
    """What a way comes to, in a transaction of its own that is undone."""

    def whole(transaction: Transaction) -> str:
        receipt = work(UnitOfWork(transaction, store.ruleset, scope, store.now()))
        raise _Undone(f"{receipt.decision}:{receipt.code}")

    try:
        said = store.database.write(whole)
    except _Undone as undone:
        said = undone.code
    except LaminaError as error:
        said = f"{Outcome.DENIED}:{error.code}"
    decision, _, code = said.partition(":")
    results = {Outcome.DENIED: "refused", Outcome.HELD: "waits"}
    return Tried(way, who, results.get(Outcome(decision), "back"), code)
