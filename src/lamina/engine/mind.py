"""One user's memory as one caller sees it: the verbs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from lamina.engine.allowance import commit_allow, load_allowed
from lamina.engine.commit import readable
from lamina.engine.context import context_of
from lamina.engine.details import Details, Narrowing, chosen, draft_of, query_of, whole_number
from lamina.engine.explain import explained, missed, verdict
from lamina.engine.hear import DEFAULT_SESSION, understood
from lamina.engine.journal import last_events, one_event, reading_events
from lamina.engine.ledger import Ledger
from lamina.engine.phase import begin, difference, listed
from lamina.engine.recall import checked_query, recall
from lamina.engine.request import Request, Verb
from lamina.engine.resolve import resolved
from lamina.errors import Denied, InvalidInput, NotFound
from lamina.model import (
    Context,
    Draft,
    Effective,
    Explanation,
    Heard,
    HistoryEntry,
    Memory,
    Phase,
    Query,
    Receipt,
    Recollection,
    Role,
    Scope,
    Space,
    State,
    Trust,
    Verdict,
    canonical,
)
from lamina.model.audit import TraceEvent
from lamina.policy.phases import PhaseDiff
from lamina.policy.privacy import find_secrets
from lamina.storage.database import Transaction
from lamina.storage.lexicon import Lexicon
from lamina.storage.logs import History
from lamina.storage.memories import Memories
from lamina.text.entries import canonical_key
from lamina.text.normal import well_formed

if TYPE_CHECKING:
    from lamina.engine.engine import Engine

#: How many hits a context considers; the budget decides how many it shows.
CONTEXT_HITS = 20
#: Who may look at the earlier phases of a life whatever the policy says: it is theirs.
_OWN_PAST = (Role.USER, Role.ADMIN, Role.SYSTEM)
_KNOWN = (State.ACTIVE, State.PENDING, State.SUPERSEDED, State.ARCHIVED, State.SOFT_DELETED, State.EXPIRED)


class Mind:
    """What a caller may do. Everything happens within its scope; nothing outside it exists here."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self.scope = scope

    def remember(self, text: str, **details: Unpack[Details]) -> Receipt:
        """Remember one thing, exactly as it is said.

        The receipt says whether it was admitted, known already, or denied and why. Raises InvalidInput
        when the text or a detail cannot be used; then nothing happened.
        """
        now = self._engine.now()
        repeat = details.pop("idempotency_key", None)
        book, limit = self._engine.book, self._engine.config.max_text_chars
        draft = draft_of(self.scope, text, details, now, limit, book.rules)
        return self._engine.carry_out(
            Request(
                verb=Verb.REMEMBER,
                scope=self.scope,
                at=now,
                draft=draft,
                decision=self._engine.judge(draft),
                idempotency_key=None if repeat is None else well_formed(repeat, "idempotency key", 200),
            )
        )

    def hear(
        self, text: str, *, reply: str | None = None, tools: Sequence[Mapping[str, Any]] = ()
    ) -> Heard:
        """One turn of a conversation: what the caller said, the agent's reply, what tools returned.

        The turn is kept in the window of its session (`main` where the caller names none); what it says
        that lasts is kept as the policy allows, and promoted where the caller asks for it.
        """
        limit, book = self._engine.config.max_text_chars, self._engine.book
        scope = replace(self.scope, session=self.scope.session or DEFAULT_SESSION)
        if scope.trust is Trust.UNTRUSTED and (reply or tools):
            raise InvalidInput("A tool or a document does not speak for others.", code="role_invalid")
        said = well_formed(text, "text", limit)
        answered = None if reply is None else well_formed(reply, "reply", limit)
        for one in tools:
            well_formed(canonical(one), "tool event", limit)
        return self._engine.hear(understood(scope, said, answered, tools, book.rules))

    def allow(self, fingerprint: str) -> None:
        """Say that what a refusal names by this fingerprint is no secret; only the person can."""
        scope = self.scope
        self._engine.act(scope, lambda ledger: commit_allow(ledger, scope, fingerprint))
        self._engine.database.read(lambda tx: load_allowed(tx, self._engine.book))

    def promote(self, memory_id: str, to: str, *, reason: str = "") -> Receipt:
        """Move a memory to a wider space: from the session to the user or the project, and so on."""
        well_formed(memory_id, "memory id", 4000)
        self._engine.sync()
        return self._engine.carry_out(
            Request(
                verb=Verb.PROMOTE,
                scope=self.scope,
                at=self._engine.now(),
                memory_id=memory_id,
                target=chosen(Space, to, "space"),
                reason=_reason(reason),
            )
        )

    def recall(self, question: str, *, trace: bool = False, **narrowing: Unpack[Narrowing]) -> Recollection:
        """What is known about a question, best first, with reasons.

        Writes nothing, unless the setting `trace_recalls` asks for it. With `trace`, the result carries the
        events that the contract says of a reading.
        """
        engine = self._engine
        asked = checked_query(query_of(self.scope, question, narrowing, engine.config.recall_k))
        query = self._allowed(asked)
        engine.sync()
        now, wanted = engine.now(), trace or engine.config.trace_recalls or engine.listened

        def work(transaction: Transaction) -> Recollection:
            answer = recall(transaction, query, now, engine.config.recall_pool)
            if not wanted:
                return answer.found
            events = reading_events(transaction, query, asked.spaces, answer, engine.book)
            return replace(answer.found, events=tuple(events))

        found = engine.database.read(work)
        if wanted:
            engine.told_reading(query.scope, found.events)
        return found if trace else replace(found, events=())

    def resolve(self, keys: Iterable[str] = ()) -> dict[str, Effective]:
        """The values in force for these keys, or for all there are, with what each hides."""
        engine = self._engine
        if isinstance(keys, str):
            raise InvalidInput("The keys must be a list of texts.", code="key_invalid")
        wanted = [canonical_key(key) for key in keys]
        engine.sync()
        now, scope = engine.now(), self._in_session
        return engine.database.read(lambda tx: resolved(tx, scope, wanted, {}, now))

    def context(self, task: str, *, budget_tokens: int = 2000, form: str = "xml") -> Context:
        """The block an agent puts in its prompt: the values in force and what is known about the task.

        Nothing that a tool or a document said is in it.
        """
        whole_number(budget_tokens, "budget_tokens", 0, 2**31)
        found = self.recall(task, k=CONTEXT_HITS, trusted_only=True)
        return context_of(self.resolve(), found, budget_tokens, form)

    def why_not(self, question: str, memory_id: str) -> Verdict:
        """Why a memory is not among the hits for a question, or that it is."""
        engine, memory = self._engine, self.get(memory_id)
        query = self._allowed(checked_query(query_of(self.scope, question, {}, engine.config.recall_k)))
        now, pool = engine.now(), engine.config.recall_pool
        return engine.database.read(lambda tx: missed(tx, query, memory, now, pool))

    def _allowed(self, query: Query) -> Query:
        """The query within what the policy lets this caller read."""
        policy = self._engine.book.policy
        open_past = policy.phase.allow_cross_phase_recall
        if query.across_phases and not open_past and self.scope.role not in _OWN_PAST:
            raise Denied(
                "The policy in force lets agents recall the current phase only.",
                code="phase_recall_disallowed",
                hint="Let the user ask, or set `phase.allow_cross_phase_recall` in the policy.",
            )
        spaces = tuple(space for space in policy.read_order if space in query.spaces)
        return replace(query, spaces=spaces, across_phases=query.across_phases or open_past)

    def start_phase(self, space: str = "session", *, name: str = "", reason: str = "manual") -> Phase:
        """Begin the next phase of one of the caller's spaces; a recall then looks at the new one only."""
        shelf = self._shelf(space)
        title = well_formed(name, "name", 128) if name else None
        why = well_formed(reason, "reason", 1000)
        if find_secrets(f"{name}\n{reason}"):
            raise Denied("This looks like a secret.", code="privacy_deny_sensitive", hint="Leave it out.")
        phase = self._engine.act(self._in_session, lambda ledger: begin(ledger, shelf, title, why))
        if phase is None:
            raise Denied(
                "The policy in force has no phases.", code="phase_disabled", hint="Set `phase.enabled` in it."
            )
        return phase

    def phases(self, space: str = "session") -> tuple[Phase, ...]:
        """The phases of one of the caller's spaces that are kept, oldest first."""
        shelf = self._shelf(space)
        return tuple(self._engine.database.read(lambda tx: listed(tx, shelf)))

    def phase_diff(self, before: int, after: int, space: str = "session") -> PhaseDiff:
        """What changed between the ends of two phases; the newest ends now."""
        shelf = self._shelf(space)
        numbers = (whole_number(before, "before", 1, 2**31), whole_number(after, "after", 1, 2**31))
        return self._engine.act(self._in_session, lambda ledger: difference(ledger, shelf, numbers))

    @property
    def _in_session(self) -> Scope:
        return replace(self.scope, session=self.scope.session or DEFAULT_SESSION)

    def _shelf(self, space: str) -> str:
        """The caller's shelf in a space it may write to."""
        where = chosen(Space, space, "space")
        name = self._in_session.shelf(where)
        if name is None or not self._engine.book.policy.may_write(self.scope.role, where):
            raise Denied(f"This caller does not divide the {where} space.", code="write_space_disallowed")
        return name

    def revise(self, memory_id: str, text: str, *, expect: int | None = None, reason: str = "") -> Receipt:
        """Say a memory in new words; when it is no longer at the revision `expect`, that is a Conflict."""
        self._engine.sync()
        if expect is not None:
            whole_number(expect, "expect", 1, 2**53)
        old = self.get(memory_id)
        draft = Draft(
            scope=self.scope,
            text=well_formed(text, "text", self._engine.config.max_text_chars),
            space=old.space,
            layer=old.layer,
            kind=old.kind,
            key=old.key,
            reason=_reason(reason),
        )
        return self._engine.carry_out(
            Request(
                verb=Verb.REVISE,
                scope=self.scope,
                at=self._engine.now(),
                draft=draft,
                decision=self._engine.judge(draft),
                memory_id=old.id,
                expect=expect,
            )
        )

    def forget(self, id_or_key: str, *, reason: str = "") -> Receipt:
        """Take a memory out of every answer; `restore` brings it back within the undo window."""
        self._engine.sync()
        memory_id = self._found(id_or_key)
        return self._engine.carry_out(
            Request(
                verb=Verb.FORGET,
                scope=self.scope,
                at=self._engine.now(),
                memory_id=memory_id,
                undo_days=self._engine.config.undo_days,
                reason=_reason(reason),
            )
        )

    def restore(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Bring a forgotten memory back as it was."""
        well_formed(memory_id, "memory id", 4000)
        self._engine.sync()
        return self._engine.carry_out(
            Request(
                verb=Verb.RESTORE,
                scope=self.scope,
                at=self._engine.now(),
                memory_id=memory_id,
                reason=_reason(reason),
            )
        )

    def get(self, memory_id: str) -> Memory:
        """One memory of the caller's own, in whatever state it is; NotFound otherwise."""
        well_formed(memory_id, "memory id", 4000)
        self._engine.sync()
        return self._engine.database.read(
            lambda tx: readable(
                Ledger(tx, self._engine.book, self.scope, self._engine.now()), memory_id, *_KNOWN
            )
        )

    def history(self, memory_id: str) -> tuple[HistoryEntry, ...]:
        """Every step in the life of a memory, oldest first."""
        self.get(memory_id)
        return tuple(self._engine.database.read(lambda tx: History(tx).of(memory_id)))

    def explain(self, memory_id: str) -> Explanation:
        """Why a memory is there, told from what was recorded when it was decided."""
        return explained(self.get(memory_id), self.history(memory_id))

    def trace(self, last: int = 20) -> tuple[TraceEvent, ...]:
        """The newest trace events of the caller's shelves, oldest of them first."""
        whole_number(last, "last", 1, 10_000)
        self._engine.sync()
        shelves = self.scope.shelves()
        return self._engine.database.read(lambda tx: last_events(tx, shelves, last))

    def explain_event(self, seq: int) -> Verdict:
        """Why a write was refused, which of two won, what was recalled: from the event that was recorded."""
        whole_number(seq, "event", 1, 2**62)
        shelves = self.scope.shelves()
        return verdict(self._engine.database.read(lambda tx: one_event(tx, shelves, seq)))

    def _found(self, id_or_key: str) -> str:
        """The id of an active memory named by its id or its key, the nearest shelf first."""
        well_formed(id_or_key, "id or key", 4000)
        if id_or_key.partition(":")[0] in set(Space):
            return id_or_key
        try:
            key = canonical_key(id_or_key)
        except InvalidInput:
            raise NotFound(f"There is no memory {id_or_key!r:.80} here.") from None
        shelves = self.scope.shelves()

        def work(memories: Memories, lexicon: Lexicon) -> Memory | None:
            known = [shelf for name in shelves if (shelf := lexicon.shelf(name)) is not None]
            return next((m for n, _ in known if (m := memories.active(n, f"key:{key}"))), None)

        found = self._engine.database.read(lambda tx: work(Memories(tx), Lexicon(tx)))
        if found is None:
            raise NotFound(
                f"There is no memory with the key {key!r:.80} here.",
                hint="`lamina recall` shows the ids and keys of what is known.",
            )
        return found.id


def _reason(given: str) -> str | None:
    return well_formed(given, "reason", 1000) if given else None
