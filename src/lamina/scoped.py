"""One user's memory as one caller sees it: the verbs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack

from lamina.audit.telemetry import span
from lamina.documents.results import DocumentLines, SearchResults
from lamina.errors import Denied, InvalidInput, NotFound
from lamina.hear.agent_turn import AgentTurn
from lamina.hear.converse import converse
from lamina.hear.turn import DEFAULT_SESSION, answered
from lamina.language.secrets.privacy import check_name, redacted
from lamina.layers.layers import Layers
from lamina.model import (
    Context,
    Deny,
    Draft,
    Effective,
    Explanation,
    Heard,
    HistoryEntry,
    Layer,
    Memory,
    Outcome,
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
    checked_name,
)
from lamina.model.audit import TraceEvent
from lamina.policy.phases import PhaseDiff
from lamina.ranking.decay import faded
from lamina.read.as_of import moment_of, recall_then
from lamina.read.context import context_of
from lamina.read.explain import explained, verdict
from lamina.read.journal import last_events, one_event, reading_events
from lamina.read.missing import missed
from lamina.read.recall import checked_query
from lamina.read.resolve import resolved
from lamina.read.search import SearchOptions, covering, planned, reach, read_lines, searched
from lamina.scoped_team import Team
from lamina.storage.database import Transaction
from lamina.storage.logs import History
from lamina.storage.memories import Memories
from lamina.storage.sessions import Session, Sessions
from lamina.storage.shelf_contents import keyed_on, lapsed_on, lapsing_on, latest_on, pending_on, turns_on
from lamina.storage.text_index import TextIndex
from lamina.text.entries import canonical_key
from lamina.text.normalise import well_formed
from lamina.write.allowance import commit_allow, load_allowed
from lamina.write.commit import commit_denial, readable
from lamina.write.details import (
    Details,
    Narrowing,
    chosen,
    draft_of,
    query_of,
    time_of,
    whole_number,
)
from lamina.write.guesses import Guess, check_person, conclude, stage, unnamed
from lamina.write.phase import begin, difference, listed
from lamina.write.request import Request, Verb
from lamina.write.unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from lamina.engine import Engine

#: How many memories one transaction of `remember_many` stores; other writers wait for it.
BATCH = 250
#: Who may look at the earlier phases of a life whatever the policy says: it is theirs.
_OWN_PAST = (Role.USER, Role.ADMIN, Role.SYSTEM)
_KNOWN = (State.ACTIVE, State.PENDING, State.SUPERSEDED, State.ARCHIVED, State.SOFT_DELETED, State.EXPIRED)


class ScopedMemory(Team):
    """What a caller may do. Everything happens within its scope; nothing outside it exists here."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        for name in (scope.user, scope.agent, scope.session, scope.run, scope.project):
            check_name(name or "")
        reach = engine.ruleset.categories.reach(scope)
        self.scope = replace(scope, reach=reach)
        self.engine = engine.seen_by(self.scope)  # whoever reads through it cannot step over the allowlist

    def remember(self, text: str, **details: Unpack[Details]) -> Receipt:
        """Remember one thing, exactly as it is said.

        The receipt says whether it was admitted, known already, or denied and why. Raises InvalidInput
        when the text or a detail cannot be used; then nothing happened.
        """
        return self.engine.carry_out(self._asked(text, details))

    def remember_many(self, items: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Remember many things in order, each `{"text": …, …}` with what `remember` takes; a receipt each.

        They come to what as many calls of `remember` would, but are stored in batches, each whole or not at
        all. An item that cannot be used raises InvalidInput with its number; the batches before its own are
        stored by then, and the whole can be asked again.
        """
        receipts: list[Receipt] = []
        remaining = iter(items)
        while batch := list(islice(remaining, BATCH)):
            receipts += self.engine.carry_out_all(
                [self._item(number, one) for number, one in enumerate(batch, len(receipts))]
            )
        return receipts

    def _item(self, number: int, item: Mapping[str, Any]) -> Request:
        try:
            details: Any = {name: value for name, value in item.items() if name != "text"}
            return self._asked(item["text"], details)
        except (InvalidInput, KeyError, AttributeError, TypeError) as error:
            if not isinstance(error, InvalidInput):
                error = InvalidInput('It is no {"text": …}.', code="item_invalid")
            raise InvalidInput(f"Item {number}: {error.message}", code=error.code, hint=error.hint) from None

    def _asked(self, text: str, details: Details) -> Request:
        """The request to remember a text, judged."""
        now = self.engine.now()
        repeat = details.pop("idempotency_key", None)
        book, limit = self.engine.ruleset, self.engine.config.max_text_chars
        draft = draft_of(self.scope, text, details, now, limit, book.rules)
        return Request(
            verb=Verb.REMEMBER,
            scope=self.scope,
            at=now,
            draft=draft,
            decision=self.engine.judge(draft),
            idempotency_key=book.sealer.fingerprint(
                None if repeat is None else well_formed(repeat, "idempotency key", 200)
            ),
        )

    def hear(self, text: str, *, reply: str | None = None, tools: Sequence[Mapping[str, Any]] = ()) -> Heard:
        """One turn of a conversation: what the caller said, the agent's reply, what tools returned.

        Commands in it ("remember that …", "จำไว้ว่า …", "忘记 …") are carried out first. The turn is kept in
        the window of its session (the current one where the caller names none); what it says that lasts is
        kept as the policy allows, and guesses about the person wait for their word.
        """
        said = well_formed(text, "text", self.engine.config.max_text_chars)
        self._check_reply(reply, tools)
        heard = converse(ScopedMemory(self.engine, self.in_session), said, reply, tools)
        kept = any(":short_term:" not in one for receipt in heard.receipts for one in receipt.ids)
        told = "ok" if kept else "skipped"
        self.engine.tally.note(self.in_session, self.engine.now(), "hotpath", "classify", status=told)
        return heard

    def _check_reply(self, reply: str | None, tools: Sequence[Mapping[str, Any]]) -> None:
        """What the agent answered and its tools returned, as somebody says who may speak for them."""
        limit = self.engine.config.max_text_chars
        if self.scope.trust is Trust.UNTRUSTED and (reply or tools):
            raise InvalidInput("A tool or a document does not speak for others.", code="role_invalid")
        if reply is not None:
            well_formed(reply, "reply", limit)
        try:
            well_formed(canonical([{**one} for one in tools]), "tools", limit)
        except (TypeError, ValueError, RecursionError):
            raise InvalidInput("What a tool returned is a JSON object.", code="tool_event_invalid") from None

    def allow(self, fingerprint: str) -> None:
        """Say that what a refusal names by this fingerprint is no secret; only the person can."""
        scope = self.scope
        self.engine.act(scope, lambda unit: commit_allow(unit, scope, fingerprint))
        self.engine.database.read(lambda tx: load_allowed(tx, self.engine.ruleset))

    def promote(self, memory_id: str, to: str, *, reason: str = "") -> Receipt:
        """Move a memory to a wider space: from the session to the user or the project, and so on."""
        well_formed(memory_id, "memory id", 4000)
        self.engine.sync()
        return self.engine.carry_out(
            Request(
                verb=Verb.PROMOTE,
                scope=self.scope_of(memory_id),
                at=self.engine.now(),
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
        engine, then = self.engine, narrowing.pop("as_of", None)
        cursor = narrowing.pop("changes_since", None)
        asked = checked_query(query_of(self.in_session, question, narrowing, engine.config.recall_k))
        engine.ruleset.categories.checked(asked.categories, self.scope)
        query = self.allowed(asked)
        if then is not None:
            return engine.database.read(lambda tx: recall_then(tx, query, time_of(then, "as_of")))
        if not narrowing.get("spaces"):
            query, _ = covering(self, query)
        engine.sync()
        now, wanted = engine.now(), trace or engine.config.trace_recalls or engine.listened

        def work(transaction: Transaction) -> Recollection:
            answer = reach(transaction, query, engine, now, lambda: False).answer
            found = replace(answer.found, delta=self.delta(transaction, cursor))
            if not wanted:
                return found
            events = reading_events(transaction, query, asked.spaces, answer, engine.ruleset)
            return replace(found, events=tuple(events))

        said = {"gen_ai.memory.query.text": question} if engine.config.telemetry_content else None
        with span("search_memory", self.scope, said) as note:
            found = engine.database.read(work)
            note("gen_ai.memory.record.count", len(found.hits))
        engine.reads.note([hit.id for hit in found.hits], now)
        engine.tally.note(self.scope, now, "context", "search")
        if wanted:
            engine.told_reading(query.scope, found.events)
        return found if trace else replace(found, events=())

    def search(self, question: str, **options: Unpack[SearchOptions]) -> SearchResults:
        """What documents and memories say about a question: where it stands, when, and how sure that is.

        Recent files first, the others when those say too little, the archives when the question reaches
        across months or `archive` asks for it. No file is written.
        """
        plan = planned(self.engine.library, options)
        query = self.allowed(checked_query(query_of(self.in_session, question, {"k": plan.most}, plan.most)))
        return searched(self, query, plan)

    def read_document(self, path: str, *, start: int = 1, lines: int = 200) -> DocumentLines:
        """Some lines of one of the caller's documents as the file has them now, without secrets."""
        return read_lines(self, path, start, lines)

    @property
    def layers(self) -> Layers:
        """The five layers: the user model, procedures, what is learnt, episodes."""
        return Layers(self)

    def moment_of(self, revision: int) -> datetime:
        """When the caller's conversation reached a revision; NotFound where it never did."""
        return moment_of(self, revision)

    def loaded(self, ids: Sequence[str]) -> list[Memory]:
        """The memories behind some hits, in their order; an id of somebody else's is behind none."""
        found, own = self.engine.database.read(lambda tx: Memories(tx).load(ids)), self.in_session.shelves()
        now = self.engine.now()
        return [faded(found[one], now) for one in ids if one in found and found[one].shelf in own]

    def resolve(self, keys: Iterable[str] = ()) -> dict[str, Effective]:
        """The values in force for these keys, or for all there are, with what each hides."""
        engine = self.engine
        if isinstance(keys, str):
            raise InvalidInput("The keys must be a list of texts.", code="key_invalid")
        wanted = [canonical_key(key) for key in keys]
        engine.sync()
        now, scope = engine.now(), self.in_session
        policy = engine.guardrails.values
        return engine.database.read(lambda tx: resolved(tx, scope, wanted, policy, now))

    def may_use(self, tool: str) -> bool:
        """Whether the administrator's policy lets an agent use a tool; a refusal is audited."""
        name = well_formed(tool, "tool", 200)
        if self.engine.guardrails.allows(name):
            return True
        told = redacted(name)
        self.engine.act(self.scope, lambda unit: unit.record_act("policy_block", "policy", told))
        return False

    def prohibited(self, what: str) -> bool:
        """Whether the administrator's policy prohibits something by name, such as `secrets_exfiltration`."""
        return self.engine.guardrails.prohibits(well_formed(what, "name", 200))

    def context(
        self,
        task: str,
        *,
        budget_tokens: int = 2000,
        form: str = "xml",
        changes_since: str | None = None,
    ) -> Context:
        """The block an agent puts in its prompt: the user, how things are done, what happened, what is known.

        Nothing that a tool or a document said is in it. With `changes_since`, a cursor, also what changed
        after it.
        """
        whole_number(budget_tokens, "budget_tokens", 0, 2**31)
        return context_of(self, task, budget_tokens, form, changes_since)

    def turn(self, message: str) -> AgentTurn:
        """One step of an agent's loop, as a context: see `AgentTurn`."""
        return AgentTurn(ScopedMemory(self.engine, self.in_session), message)

    def answer(self, reply: str, tools: Sequence[Mapping[str, Any]] = ()) -> Heard:
        """What the agent answered, and what its tools returned, as the rest of the turn."""
        self._check_reply(reply, tools)
        return self.engine.hear(answered(self.in_session, reply, tools, self.engine.ruleset.rules))

    def keyed(self) -> list[Memory]:
        """Every memory of the caller's session and user that holds a key."""
        self.engine.sync()
        now, names = self.engine.now(), self.in_session.shelves((Space.SESSION, Space.USER))
        return self.engine.database.read(lambda tx: keyed_on(tx, names, now))

    def latest(self) -> list[Memory]:
        """The last thing the caller's session or user got that lasts, as a list of none or one."""
        names = self.in_session.shelves((Space.SESSION, Space.USER))
        return self.engine.database.read(lambda tx: latest_on(tx, names))

    def turns(self, count: int) -> list[str]:
        """What was said lately in this session, latest last."""
        return [turn.text for turn in self.window()][-count:]

    def window(self) -> list[Memory]:
        """The turns of the user that this session still has, latest last."""
        name = self.in_session.shelf(Space.SESSION) or ""
        return self.engine.database.read(lambda tx: turns_on(tx, name))

    def propose(
        self, value: str, key: str, confidence: float, reason: str = "", *, importance: int = 0
    ) -> Receipt:
        """Put a guess about the person before them.

        It counts for nothing until they confirm it; but a benign one (`response.tone`, `goal.…`) holds by
        itself once a second turn says the same, or as an insight of importance 3 that is 0.8 sure.
        """
        details: Details = {"key": key, "confidence": confidence, "reason": reason or None}  # type: ignore[typeddict-item]
        now, limit = self.engine.now(), self.engine.config.max_text_chars
        draft = draft_of(self.scope, value, details, now, limit, self.engine.ruleset.rules)
        decision = self.engine.judge(draft)
        guess = Guess(
            key=draft.key or "",
            value=draft.text,
            confidence=draft.confidence,
            reason=draft.reason or "proposed",
            importance=importance,
        )

        if isinstance(decision, Deny):
            return self.engine.act(self.scope, lambda unit: commit_denial(unit, draft, decision))
        return self.engine.act(self.scope, lambda unit: stage(unit, guess))

    def pending(self) -> list[Memory]:
        """The guesses that wait for the person's word, oldest first."""
        now, name = self.engine.now(), self.scope.shelf(Space.USER) or ""
        return self.engine.database.read(lambda tx: pending_on(tx, name, now))

    def confirm(self, key: str | None = None, *, reason: str = "", channel: str = "") -> list[Receipt]:
        """Keep what was guessed, under its key; without a key, the newest guess. Only the person can.

        `channel` is by what way they said so, this caller's door unless given. In a chat, what is sensitive
        needs its key: a bare yes raises Denied.
        """
        memory, by = self._guess(key), channel or self.scope.via
        if not self.engine.ruleset.fields.may_agree(memory.key, by, named=key is not None):
            raise unnamed(memory)
        if memory.layer is not Layer.USER_MODEL:
            receipt = self.layers.settle(memory)
        else:
            receipt = self.layers.user_model.agreed(memory, reason or "confirmed")
            if receipt.decision is Outcome.DENIED:
                return [receipt]
        self.engine.act(self.scope, lambda unit: conclude(unit, memory, receipt.ids[0], by))
        return [receipt]

    def reject(self, key: str | None = None, *, channel: str = "") -> list[Receipt]:
        """Drop what was guessed; without a key, the newest guess. Only the person can."""
        memory, by = self._guess(key), channel or self.scope.via
        self.engine.act(self.scope, lambda unit: conclude(unit, memory, None, by))
        return [Receipt(decision=Outcome.ADMITTED, code="rejected", ids=(memory.id,))]

    def _guess(self, key: str | None) -> Memory:
        check_person(self.scope)
        wanted = None if key is None else canonical_key(key)
        found = [one for one in self.pending() if wanted in (None, one.key)]
        if not found:
            raise NotFound("Nothing like that waits for a word.", hint="`lamina pending` lists what does.")
        return found[-1]

    def compact(self, space: str = "session") -> int:
        """Put aside what is past its time in one of the caller's spaces, lines in files too; how many."""
        name = self._shelf(space)
        self.engine.sync()
        now, scope = self.engine.now(), self.in_session
        ids = self.engine.database.read(lambda tx: lapsed_on(tx, name, now))
        for one in ids:
            self.engine.carry_out(Request(verb=Verb.EXPIRE, scope=scope, at=now, memory_id=one))
        return len(ids)

    def start_session(self, name: str) -> None:
        """Begin or go on with a session of the workspace's owner; SESSION.md is about it from now on."""
        scope = replace(self.scope, session=check_name(checked_name("session", name)))
        self.engine.act(scope, lambda led: Sessions(led.transaction).touch(scope.user, name, led.now))
        if scope.user == self.engine.config.owner:
            self.engine.enter_session(name)

    def end_session(self) -> int:
        """The session is over: what it keeps until its end goes; how many."""
        scope, now = self.in_session, self.engine.now()
        name = scope.shelf(Space.SESSION) or ""
        ids = self.engine.database.read(lambda tx: lapsing_on(tx, name))
        for one in ids:
            request = Request(verb=Verb.EXPIRE, scope=scope, at=now, memory_id=one, reason="session_end")
            self.engine.carry_out(request)
        self.compact("session")

        def work(unit: UnitOfWork) -> None:
            Sessions(unit.transaction).end(scope.user, scope.session or "", unit.now)
            unit.record_act("session_end", name, f"{len(ids)} entries")

        self.engine.act(scope, work)
        return len(ids)

    def session(self) -> Session | None:
        """When the caller's session began, was last used and ended; None before its first use."""
        scope = self.in_session
        return self.engine.database.read(lambda tx: Sessions(tx).get(scope.user, scope.session or ""))

    def why_not(self, question: str, memory_id: str, **narrowing: Unpack[Narrowing]) -> Verdict:
        """Why a memory is not among the hits for a question, or that it is; asked as `recall` would be."""
        return missed(self, question, memory_id, narrowing)

    def allowed(self, query: Query) -> Query:
        """The query within what the policy lets this caller read."""
        policy = self.engine.ruleset.policy
        open_past = policy.phase.allow_cross_phase_recall
        if query.across_phases and not open_past and self.scope.role not in _OWN_PAST:
            raise Denied(
                "The policy in force lets agents recall the current phase only.",
                code="phase_recall_disallowed",
                hint="Let the user ask, or set `phase.allow_cross_phase_recall` in the policy.",
            )
        spaces = tuple(space for space in policy.read_order if space in query.spaces)
        if not query.layers and not self.layers.acts:
            query = replace(query, layers=tuple(one for one in Layer if one is not Layer.PROCEDURAL))
        return replace(query, spaces=spaces, across_phases=query.across_phases or open_past)

    def start_phase(self, space: str = "session", *, name: str = "", reason: str = "manual") -> Phase:
        """Begin the next phase of one of the caller's spaces; a recall then looks at the new one only."""
        shelf = self._shelf(space)
        title = well_formed(name, "name", 128) if name else None
        why = well_formed(reason, "reason", 1000)
        phase = self.engine.act(self.in_session, lambda unit: begin(unit, shelf, title, why))
        if isinstance(phase, Denied):
            raise phase
        return phase

    def phases(self, space: str = "session") -> tuple[Phase, ...]:
        """The phases of one of the caller's spaces that are kept, oldest first."""
        shelf = self._shelf(space)
        return tuple(self.engine.database.read(lambda tx: listed(tx, shelf)))

    def phase_diff(self, before: int, after: int, space: str = "session") -> PhaseDiff:
        """What changed between the ends of two phases; the newest ends now."""
        shelf = self._shelf(space)
        numbers = (whole_number(before, "before", 1, 2**31), whole_number(after, "after", 1, 2**31))
        return self.engine.act(self.in_session, lambda unit: difference(unit, shelf, numbers))

    @property
    def in_session(self) -> Scope:
        return replace(self.scope, session=self.scope.session or self._default_session())

    def scope_of(self, memory_id: str) -> Scope:
        return self.in_session if memory_id.startswith(f"{Space.SESSION}:") else self.scope

    def _default_session(self) -> str:
        own = self.scope.user == self.engine.config.owner
        return self.engine.current_session() if own else DEFAULT_SESSION

    def _shelf(self, space: str) -> str:
        """The caller's shelf in a space it may write to."""
        where = chosen(Space, space, "space")
        name = self.in_session.shelf(where)
        if name is None or not self.engine.ruleset.policy.may_write(self.scope.role, where):
            raise Denied(f"This caller does not divide the {where} space.", code="write_space_disallowed")
        return name

    def revise(self, memory_id: str, text: str, *, expect: int | None = None, reason: str = "") -> Receipt:
        """Say a memory in new words; when it is no longer at the revision `expect`, that is a Conflict."""
        self.engine.sync()
        if expect is not None:
            whole_number(expect, "expect", 1, 2**53)
        old, scope = self.get(memory_id), self.scope_of(memory_id)
        draft = Draft(
            scope=scope,
            text=well_formed(text, "text", self.engine.config.max_text_chars),
            space=old.space,
            layer=old.layer,
            kind=old.kind,
            key=old.key,
            category=old.category,
            reason=_reason(reason),
        )
        return self.engine.carry_out(
            Request(
                verb=Verb.REVISE,
                scope=scope,
                at=self.engine.now(),
                draft=draft,
                decision=self.engine.judge(draft),
                memory_id=old.id,
                expect=expect,
            )
        )

    def forget(self, id_or_key: str, *, reason: str = "") -> Receipt:
        """Take a memory out of every answer; `restore` brings it back within the undo window."""
        self.engine.sync()
        memory_id = self._found(id_or_key)
        return self.engine.carry_out(
            Request(
                verb=Verb.FORGET,
                scope=self.scope_of(memory_id),
                at=self.engine.now(),
                memory_id=memory_id,
                undo_days=self.engine.config.undo_days,
                reason=_reason(reason),
            )
        )

    def restore(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Bring a forgotten memory back as it was."""
        well_formed(memory_id, "memory id", 4000)
        self.engine.sync()
        return self.engine.carry_out(
            Request(
                verb=Verb.RESTORE,
                scope=self.scope_of(memory_id),
                at=self.engine.now(),
                memory_id=memory_id,
                reason=_reason(reason),
            )
        )

    def get(self, memory_id: str) -> Memory:
        """One memory of the caller's own, in whatever state it is; NotFound otherwise."""
        well_formed(memory_id, "memory id", 4000)
        self.engine.sync()
        engine, scope, now = self.engine, self.scope_of(memory_id), self.engine.now()
        found = engine.database.read(
            lambda tx: readable(UnitOfWork(tx, engine.ruleset, scope, now), memory_id, *_KNOWN)
        )
        return faded(found, now)

    def history(self, memory_id: str) -> tuple[HistoryEntry, ...]:
        """Every step in the life of a memory, oldest first."""
        self.get(memory_id)
        return tuple(self.engine.database.read(lambda tx: History(tx).of(memory_id)))

    def explain(self, memory_id: str) -> Explanation:
        """Why a memory is there, told from what was recorded when it was decided."""
        memory, history = self.get(memory_id), self.history(memory_id)
        whole = not self.engine.database.damage.has("history", memory_id)
        return explained(memory, history, whole=whole)

    def trace(self, last: int = 20) -> tuple[TraceEvent, ...]:
        """The newest trace events of the caller's shelves, oldest of them first."""
        whole_number(last, "last", 1, 10_000)
        self.engine.sync()
        shelves = self.in_session.shelves()
        return self.engine.database.read(lambda tx: last_events(tx, shelves, last))

    def explain_event(self, seq: int) -> Verdict:
        """Why a write was refused, which of two won, what was recalled: from the event that was recorded."""
        whole_number(seq, "event", 1, 2**62)
        shelves = self.in_session.shelves()
        return verdict(self.engine.database.read(lambda tx: one_event(tx, shelves, seq)))

    def _found(self, id_or_key: str) -> str:
        """The id of an active memory named by its id or its key, the nearest shelf first."""
        well_formed(id_or_key, "id or key", 4000)
        if id_or_key.partition(":")[0] in set(Space):
            return id_or_key
        try:
            key = canonical_key(id_or_key)
        except InvalidInput:
            raise NotFound(f"There is no memory {id_or_key!r:.80} here.") from None
        shelves = self.in_session.shelves()

        def work(memories: Memories, text_index: TextIndex) -> Memory | None:
            known = [shelf for name in shelves if (shelf := text_index.shelf(name)) is not None]
            return next((m for n, _ in known if (m := memories.active(n, f"key:{key}"))), None)

        found = self.engine.database.read(lambda tx: work(Memories(tx), TextIndex(tx)))
        if found is None:
            raise NotFound(
                f"There is no memory with the key {key!r:.80} here.",
                hint="`lamina recall` shows the ids and keys of what is known.",
            )
        return found.id


def _reason(given: str) -> str | None:
    return well_formed(given, "reason", 1000) if given else None
