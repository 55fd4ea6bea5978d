"""An open store, with or without a workspace, and who asks of it: what the functions of every room take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from lamina.audit.chain import Anchor
from lamina.audit.events import span
from lamina.clock import Clock
from lamina.config import Config
from lamina.documents.index import Library
from lamina.encoders.port import Embedder
from lamina.errors import Denied, InvalidInput
from lamina.language.secrets.privacy import check_name
from lamina.late import late
from lamina.model import (
    AuditReport,
    Decision,
    Draft,
    Layer,
    Receipt,
    Role,
    Scope,
    Space,
    State,
    canonical,
    checked_name,
    quoted,
    unquoted,
)
from lamina.policy.gates import decide
from lamina.ranking.rerank import Reranker
from lamina.records import dataclass
from lamina.retrieval.hits import Means
from lamina.retrieval.meaning import AT_ONCE, Rounds, embed_some
from lamina.storage.database import Database, OpenTransaction, ReachedDatabase, Transaction, kind_of, place_of
from lamina.storage.ledger import lane_of
from lamina.storage.shelf_contents import people
from lamina.storage.small_tables import Properties, Responses, any_answers, drop_answers
from lamina.write.aftermath import Aftermath, Answered, Reads, Tally
from lamina.write.details import check_who, chosen
from lamina.write.entry_files import DEFAULT_SESSION, FileProblem, Homes
from lamina.write.guardrails import Guardrails, accept, load_allowed, load_guardrails, policy_problem
from lamina.write.reindex import begin_index, is_current, renew
from lamina.write.seals import claim_key, in_custody, known_chains, spread, tie
from lamina.write.unit_of_work import Ruleset, UnitOfWork

with late():  # who only reads does without
    from lamina.write import commit
    from lamina.write import request as changes

if TYPE_CHECKING:
    from lamina.write.request import Request

T = TypeVar("T")

#: Texts without a vector of the table that get theirs when a store is opened.
_AT_START = 500
#: Where many people write, so many shelves are made anew while a process starts, and `serve` does the others.
_SHELVES_AT_START = 20
#: After so many writes what was written is read, so that a question seldom meets more than a few.
_WRITES = AT_ONCE // 2


#: Root, owner, store, settings and encoder into the index of a workspace's documents.
OpenLibrary = Callable[[Path, Scope, Database, Config, Embedder | None], Library]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a store is put together from."""

    database: Database
    ruleset: Ruleset
    config: Config
    clock: Clock
    anchor: Anchor
    home: Path  #: the configuration folder, where POLICY.md lies
    root: Path | None  #: the workspace, None for a store without files
    embedder: Embedder | None = None  #: what finds by meaning; without it words alone do
    library: OpenLibrary | None = None  #: how the workspace's documents are opened; None, and there are none
    open_writer: Callable[[], Any] = lambda: None  #: the language model that jobs may ask, if any
    adopt: bool = False  #: take the files over from another workspace on the same store
    adopt_key: bool = False  #: go on with this key where another sealed the store
    reseal: bool = False  #: take everything as it is found and seal it anew


class Who(TypedDict, total=False):
    """Who is asking, in whose name; what is left out is the workspace's owner, speaking for themselves."""

    user: str  #: never None: whose memory it is must be said, or left out
    agent: str | None
    session: str | None
    run: str | None
    project: str | None
    role: str | None
    via: str
    speaks_for: bool  #: an agent carries the person's own turns; in the owner's own process it does


def scope_from(config: Config, who: Who) -> Scope:
    """Who asks, as their memories know them; InvalidInput for a field that is unknown, or given and empty."""
    check_who(who, Who.__annotations__)
    agent = who.get("agent")
    via = who.get("via") or "python"
    role = who.get("role") or (Role.AGENT if agent else Role.USER)
    return Scope(
        tenant=config.tenant,
        user=who.get("user", config.owner),
        agent=agent,
        session=who.get("session"),
        run=who.get("run"),
        project=who.get("project") or config.project,
        role=chosen(Role, role, "role"),
        via=via,
        speaks_for=who.get("speaks_for", via == "python" and bool(agent)),
    )


class Store:
    """An open store. Safe to share between threads."""

    def __init__(self, parts: Parts) -> None:
        self.config = parts.config
        self.clock = parts.clock
        self.ruleset = parts.ruleset
        self.database: Database = parts.database
        self.embedder = parts.embedder
        self.reranker: Reranker | None = None  #: a program may put a cross-encoder here
        self.progress: Callable[[int], None] | None = None  #: who is told how far long work is
        self.open_writer = parts.open_writer
        self.root = parts.root
        self.aftermath = Aftermath(parts.root, parts.database, parts.ruleset.sealer, parts.anchor)
        self.tally, self.reads = self.aftermath.tally, self.aftermath.reads
        self.answers = self.aftermath.answers
        self.mirror = self.aftermath.mirror
        self.library: Library | None = None
        self.met_unread = False  #: whether a question met texts without a vector, which get theirs at the end
        self.since = ""  #: the revision of another process that an answer may not be older than
        self._writes = 0
        self._rounds = Rounds()
        self._config_folder = parts.home
        self._take_custody(parts)
        self._homes = Homes(parts.database, parts.ruleset, parts.config)
        if parts.root is not None:
            owner = self._homes.move_in(parts.root, parts.adopt, self.now())
            if owner is not None and parts.library is not None:
                self.library = parts.library(
                    parts.root, owner, parts.database, parts.config, parts.ruleset.encoder
                )
        self._start()

    def _take_custody(self, parts: Parts) -> None:
        """Before anything else is written: our key seals the store, and its story is under the seal."""
        database, sealer = self.database, self.ruleset.sealer
        database.chains = database.read(known_chains)
        why = self.mirror.why_lost()

        def work(unit: UnitOfWork) -> None:
            if not known_chains(unit.transaction) and database.most_chains:
                spread(unit, database.most_chains)
            claim_key(unit, adopt=parts.adopt_key, anew=parts.reseal)
            self.mirror.tell_renewal(unit, why)

        if not database.read_only and (
            why
            or parts.adopt_key
            or parts.reseal
            or database.chains < database.most_chains
            or not database.read(lambda tx: in_custody(tx, sealer))
        ):
            _, unit = self.write(self._system, self.now(), work)
            database.chains = database.read(known_chains)
            self.mirror.renew_anchor(unit)

    @property
    def _system(self) -> Scope:
        return Scope(tenant=self.config.tenant, user=self.config.owner, role=Role.SYSTEM)

    def _start(self) -> None:
        def work(unit: UnitOfWork) -> None:
            begin_index(unit.transaction)
            Properties(unit.transaction).set(self.ruleset.policy_name, canonical(self.ruleset.snapshot))
            changes.forget_old_responses(unit, self.config.idempotency_hours)
            drop_answers(unit.transaction, unit.clock - timedelta(days=self.config.answer_days))

        self.database.read(lambda tx: load_allowed(tx, self.ruleset))
        if self.database.read_only:
            return
        if not self.database.read(self._is_ready):
            self.write(self._system, self.now(), work)
        self.renew_index(_SHELVES_AT_START if self.database.chains else None)
        self.mirror.catch_up()
        Rounds().embed(self.database, self.ruleset.encoder, _AT_START)
        if self.aftermath.learnings is not None:
            self.aftermath.learnings.follow()
        self.sync()

    def _is_ready(self, transaction: Transaction) -> bool:
        """Whether a start has nothing to write: the index is current, the policy known, nothing too old."""
        known = Properties(transaction).get(self.ruleset.policy_name) == canonical(self.ruleset.snapshot)
        now, config = self.now(), self.config
        old = Responses(transaction).any_before(now - timedelta(hours=config.idempotency_hours))
        shown = any_answers(transaction, now - timedelta(days=config.answer_days))
        return known and is_current(transaction) and not old and not shown

    def close(self) -> None:
        """Close the store; what was found since it was opened is counted now."""
        self.aftermath.close()
        if self.met_unread and not self.database.read_only:
            self.embed_in_turn(AT_ONCE)
        self.database.close()

    def apply_reads(self) -> int:
        """Write what was found since the last time; how many memories it was."""
        return self.reads.store(self.database)

    def flush(self) -> None:
        """Write what readings left behind: what was found, and the receipts of answers."""
        if not self.database.read_only:
            self.reads.store(self.database)
            self.answers.store(self.database)

    def count_now(self) -> None:
        """Put what waits to be counted into the store."""
        self.tally.store(self.database)

    def now(self) -> datetime:
        return self.clock.now()

    def scope_of(self, **who: Unpack[Who]) -> Scope:
        """Who asks, as their memories know them: the workspace's owner unless another is named.

        The role says who speaks: the user, unless an agent is named. Raises InvalidInput for a field that
        there is not, or that is given and empty.
        """
        return scope_from(self.config, who)

    def at(self, moment: datetime) -> Store:
        """This store for a question that is asked as of a moment: nothing is counted, and no receipt kept."""
        view = copy(self)
        view.now = lambda: moment  # type: ignore[method-assign]
        view.reads, view.tally, view.answers = Reads(), Tally(), Answered()
        view.config = replace(self.config, answer_receipts=False, trace_recalls=False)
        return view

    def seen_by(self, scope: Scope) -> Store:
        """This store as a caller may read through it: what is outside its allowlist is in no answer."""
        if not scope.is_limited:
            return self
        view = copy(self)
        view.database = ReachedDatabase(self.database, *scope.reach_marks)
        return view

    @property
    def revision(self) -> str:
        """What an answer of now is not older than; what another process is given it answers is not either.

        Empty where no server follows this one.
        """
        return max(self.since, self.database.revision, key=place_of)

    # Changing.

    def carry_out(self, request: Request) -> Receipt:
        """Do what a request asks, where its memory lives, and see that the audit follows."""
        operation = changes.OPERATIONS[request.verb]
        if request.verb is changes.Verb.REMEMBER and request.draft is not None and request.draft.key:
            operation = "upsert_memory"
        said = request.draft.text if request.draft is not None and self.config.telemetry_content else None
        with span(operation, request.scope, {"gen_ai.memory.records": said} if said else None) as note:
            if (home := self._homes.of(request, self.database)) is not None:
                receipt, units = home.carry_out(request)
            else:
                work = partial(changes.perform, request=request)
                receipt, unit = self.write(request.scope, request.at, work, request.lanes)
                units = [unit]
            taken = self.aftermath.follow(units)
            if request.verb is changes.Verb.PROMOTE:  # a line may have to go from the file it came from
                self._homes.look_again()
                self.sync()
            note("lamina.decision", receipt.code)
            if receipt.ids:
                note("gen_ai.memory.record.id", receipt.ids[0])
            told = (f"Taken out of {', '.join(taken)}, too.",) if taken else ()
            events = tuple(event for _, event in units[-1].told)
            return replace(receipt, events=events, warnings=(*receipt.warnings, *told))

    def carry_out_all(self, requests: Sequence[Request]) -> list[Receipt]:
        """The same for many requests in order, all in one transaction but for those that change a file."""
        receipts: list[Receipt] = []
        for at_home, some in groupby(
            requests, key=lambda one: self._homes.of(one, self.database) is not None
        ):
            together = tuple(some)
            receipts += map(self.carry_out, together) if at_home else self._carried_out_together(together)
        return receipts

    def _carried_out_together(self, requests: Sequence[Request]) -> list[Receipt]:
        def whole(transaction: Transaction) -> list[tuple[Receipt, UnitOfWork]]:
            done: list[tuple[Receipt, UnitOfWork]] = []
            for request in requests:
                unit = UnitOfWork(transaction, self.ruleset, request.scope, request.at)
                if done:
                    unit.after(done[-1][1])
                done.append((changes.perform(unit, request), unit))
                commit.settle(unit, last=request is requests[-1])
            return done

        with span(changes.OPERATIONS[requests[0].verb], requests[0].scope, None) as note:
            lanes = sorted({lane for request in requests for lane in request.lanes})
            done = self.database.write(whole, lanes=lanes)
            note("gen_ai.memory.record.count", len(done))
        self.aftermath.follow([unit for _, unit in done])
        return [replace(receipt, events=tuple(event for _, event in unit.told)) for receipt, unit in done]

    def write(
        self,
        scope: Scope,
        at: datetime,
        work: Callable[[UnitOfWork], T],
        lanes: Sequence[str] | None = None,
    ) -> tuple[T, UnitOfWork]:
        """Run `work(unit)` in one transaction; the caller sees to it that the audit's files follow.

        `lanes` are those that it will change, as in `Database.write`; it may be run twice then.
        """

        def whole(transaction: Transaction) -> tuple[T, UnitOfWork]:
            unit = UnitOfWork(transaction, self.ruleset, scope, at)
            result = work(unit)
            commit.settle(unit)
            return result, unit

        whole.__qualname__ = kind_of(work)
        done = self.database.write(whole, lanes=lanes)
        self._look_after()
        return done

    def together(self, work: Callable[[Store], T], lanes: Sequence[str]) -> T:
        """Run `work(store)`, where everything that the store is asked for is one transaction.

        `lanes` as in `Database.write`; it may be run twice. Where memories live in files, they keep their own
        order: each change is a transaction by itself.
        """
        if self.root is not None:
            return work(self)

        def whole(transaction: Transaction) -> tuple[T, list[UnitOfWork]]:
            view = self._inside(transaction)
            view.aftermath = copy(self.aftermath)
            view.aftermath.later = units = list[UnitOfWork]()
            return work(view), units

        whole.__qualname__ = kind_of(work)
        result, units = self.database.write(whole, lanes=lanes)
        self.aftermath.follow(units)
        self._look_after()
        return result

    def look(self, work: Callable[[Store], T]) -> T:
        """Run `work(store)`, which only reads, on one snapshot."""
        if self.root is not None:
            return work(self)

        def whole(transaction: Transaction) -> T:
            return work(self._inside(transaction))

        whole.__qualname__ = kind_of(work)
        return self.database.read(whole)

    def _inside(self, transaction: Transaction) -> Store:
        view = copy(self)
        view.database = OpenTransaction(self.database, transaction)
        return view

    def _look_after(self) -> None:
        """After a write: what waits to be counted is, now and then, and what was said is read."""
        if self.aftermath.later is not None:
            return
        if self.tally.full:
            self.tally.store(self.database)
        if self.answers.full:
            self.answers.store(self.database)
        self._writes += 1
        if self._writes % _WRITES == 0 and self.config.embedder == "reading":
            self.embed_in_turn(AT_ONCE)

    def commit(
        self, scope: Scope, work: Callable[[UnitOfWork], T], lanes: Sequence[str] | None = None
    ) -> tuple[T, UnitOfWork]:
        """Run `work(unit)` in one transaction, audit and all; what came of it, and what it told."""
        result, unit = self.write(scope, self.now(), work, lanes)
        self.aftermath.follow([unit])
        return result, unit

    def act(self, scope: Scope, work: Callable[[UnitOfWork], T], lanes: Sequence[str] | None = None) -> T:
        """The same for those who need the result alone."""
        return self.commit(scope, work, lanes)[0]

    def seal_ends(self) -> None:
        """Seal the ends of all chains in the store's own, where there is more than that one."""
        if self.database.chains:
            self.act(self._system, tie)

    def renew_index(self, shelves: int | None = None) -> bool:
        """Make so many shelves' lists again, if another version made them; whether all are current."""
        return self.database.read(is_current) or renew(self.database, shelves)

    def embed_missing(self, limit: int = 500) -> int:
        """Give so many of the texts that wait for a vector theirs; how many, 0 also while none can be had."""
        return embed_some(self.database, self.embedder, limit)

    def embed_in_turn(self, limit: int = 500) -> int:
        """The same, of shelves that were written to here since the last time and of some others in turn."""
        return self._rounds.embed(self.database, self.embedder, limit)

    # Judging.

    def judge(self, draft: Draft) -> Decision:
        """What the gates say of a draft; a secret is looked up once more among what was allowed meanwhile."""
        decision = decide(draft, self.ruleset.law(draft.scope))
        if decision.code == "privacy_deny_sensitive" and self._allowed_more():
            return decide(draft, self.ruleset.law(draft.scope))
        return decision

    def _allowed_more(self) -> bool:
        return self.database.read(lambda tx: load_allowed(tx, self.ruleset))

    @property
    def guardrails(self) -> Guardrails:
        """The administrator's policy in force; what another process accepted counts at once."""
        return self.database.read(lambda tx: load_guardrails(tx, self.ruleset.sealer))

    def accept_policy(self, scope: Scope) -> Guardrails:
        """Put POLICY.md as it is now in force."""
        return self.act(scope, lambda unit: accept(unit, scope, self._config_folder))

    def verify_audit(self, user: str = "", memory: str = "") -> AuditReport:
        """Check every record of the chain, its anchor, its files and everything that they tell of.

        With a user, what is theirs alone; with a memory, that of whoever has it, and where nothing is found,
        a proof of its story. `progress` is told now and then how many rows were looked at.
        """
        if memory:
            return self.mirror.prove(memory, self.now(), self.progress)
        if user:
            return self.mirror.verify_lane(f"user:{quoted(checked_name('user', user))}", self.progress)
        inside = self.root is not None and self.database.url.startswith(f"sqlite:///{self.root}/")
        return self.mirror.verify(inside, self.progress)

    # Reading.

    @property
    def means(self) -> Means:
        """What a recall works with."""
        config = self.config
        return Means(
            pool=config.recall_pool,
            embedder=self.embedder,
            table=self.ruleset.encoder,
            fusion=config.recall_fusion,
            plain_decay=config.recall_decay == "plain",
            reranker=self.reranker,
        )

    @property
    def listened(self) -> bool:
        """Whether anybody follows the trace as it happens."""
        return bool(self.aftermath.listeners)

    def subscribe(self, listener: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Call `listener(event)` for every trace event of this process once it is kept; returns how to stop.

        Events of all users are told. A listener that raises is not called again.
        """
        self.aftermath.listeners.append(listener)
        return partial(self.aftermath.leave, listener)

    def told_reading(self, scope: Scope, events: Sequence[dict[str, Any]]) -> None:
        """What a recall came to: kept where the settings ask for it, and told to whoever listens."""
        if self.config.trace_recalls and not self.database.read_only:
            shelf = scope.shelf(Space.USER) or ""

            def work(unit: UnitOfWork) -> None:
                unit.traced += [(shelf, event) for event in events]

            self.write(scope, self.now(), work, [lane_of(shelf)])
        self.aftermath.publish(events)

    # Files.

    def sync(self) -> None:
        """Take in what a person changed in the files; cheap when nothing changed."""
        for units in self._homes.sync(self.now()):
            self.aftermath.follow(units)

    def tidy(self, shelf: str) -> int:
        """Take lines that only repeat others out of the file of a shelf; how many."""
        return self._homes.tidy(shelf)

    def in_file(self, memory_id: str) -> bool | None:
        """Whether a memory's line is in its file right now; None where it has no file."""
        return self._homes.shows(memory_id)

    def problems(self) -> tuple[FileProblem, ...]:
        """Lines of the workspace's files that are not used, and why."""
        return self._homes.problems() + policy_problem(self._config_folder, self.guardrails)

    def current_session(self) -> str:
        """The session of the workspace's owner whose entries are in SESSION.md."""
        return self._homes.current_session()

    def enter_session(self, name: str) -> None:
        """From now on SESSION.md is about another session of the owner."""
        self.sync()
        self._homes.enter_session(name, self.now())


@dataclass(frozen=True, init=False)
class Caller:
    """One who asks. Everything happens within the scope; nothing outside it exists here."""

    store: Store  #: as the caller may read it: what is outside its allowlist is in no answer
    scope: Scope

    def __init__(self, store: Store, scope: Scope) -> None:
        for name in (scope.user, scope.agent, scope.session, scope.run, scope.project):
            check_name(name or "")
        lists = store.ruleset.categories
        reach = lists.reach(scope)
        if reach and plans_or_acts(store, scope):  # whoever has a list and acts needs to know how (IS-12)
            reach = tuple(dict.fromkeys((*reach, Layer.PROCEDURAL)))
        seen = replace(scope, reach=reach, project_reach=lists.project_reach(scope))
        object.__setattr__(self, "scope", seen)
        object.__setattr__(self, "store", store.seen_by(seen))

    @property
    def in_session(self) -> Scope:
        """The scope with the session it is in, named or not."""
        if self.scope.session:
            return self.scope
        return replace(self.scope, session=self.default_session(self.store.current_session))

    def scope_of(self, memory_id: str) -> Scope:
        """The scope that reaches a memory: a session's is reached from that session, named or not.

        A person reaches what was said in any session of theirs.
        """
        if not memory_id.startswith(f"{Space.SESSION}:"):
            return self.scope
        owner, _, name = memory_id.removeprefix(f"{Space.SESSION}:").partition(":")[0].partition(",")
        if not self.sees_past or not name or owner != quoted(self.scope.user):
            return self.in_session
        try:
            return replace(self.scope, session=unquoted(name))
        except InvalidInput:  # no session can have this name
            return self.in_session

    @property
    def sees_past(self) -> bool:
        """Whether what is forgotten, superseded or expired exists for the caller: not for an agent."""
        return self.scope.role in (Role.USER, Role.ADMIN, Role.SYSTEM)

    @property
    def states(self) -> tuple[State, ...]:
        """The states in which the caller may look at a memory; what is purged is in none."""
        return tuple(State) if self.sees_past else (State.ACTIVE,)

    def default_session(self, current: Callable[[], str]) -> str:
        """The session of a caller who names none: the owner's is the one that SESSION.md is about."""
        return current() if self.scope.user == self.store.config.owner else DEFAULT_SESSION

    @property
    def is_owner(self) -> bool:
        """Whether the workspace's files are the caller's own, and within its allowlist."""
        return self.scope.user == self.store.config.owner and self.scope.sees("documents")

    @property
    def acts(self) -> bool:
        """Whether the caller is given procedures unasked: a person, or an agent that plans or acts."""
        return self.scope.agent is None or plans_or_acts(self.store, self.scope)

    def shelf(self, space: str) -> str:
        """The caller's shelf in a space it may write to."""
        where = chosen(Space, space, "space")
        name = self.in_session.shelf(where)
        if name is None or not self.store.ruleset.policy.may_write(self.scope.role, where):
            raise Denied(f"This caller does not divide the {where} space.", code="write_space_disallowed")
        return name


def plans_or_acts(store: Store, scope: Scope) -> bool:
    """Whether this is an agent that the setting `procedure_agents` names."""
    names = store.config.procedure_agents.split(",")
    return scope.agent is not None and any(fnmatchcase(scope.agent, name.strip()) for name in names)


def callers_of(store: Store) -> list[Caller]:
    """Everybody this tenant holds something of, in the order of names, as a job acts for them."""
    users, tenant = sorted(store.database.read(people)), store.config.tenant
    return [Caller(store, Scope(tenant=tenant, user=user, role=Role.SYSTEM, via="job")) for user in users]


def caller_of(store: Store, **who: Unpack[Who]) -> Caller:
    """A caller by name; what is left out is the workspace's owner, speaking for themselves."""
    return Caller(store, store.scope_of(**who))
