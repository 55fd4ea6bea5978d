"""An open store, with or without a workspace: what every verb reads, writes and judges with."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from lamina.audit.keys import Anchor
from lamina.audit.telemetry import span
from lamina.clock import Runtime, random_token
from lamina.config import Config
from lamina.documents.index import Library
from lamina.encoders.port import Embedder
from lamina.encoders.tended import patient
from lamina.errors import LaminaError
from lamina.model import Decision, Draft, Hold, Receipt, Role, Scope, Space, canonical, quoted
from lamina.model.audit import AuditReport
from lamina.policy.gates import decide
from lamina.ranking.decay import EPISODE_RENEWED
from lamina.ranking.rerank import Reranker
from lamina.retrieval.hits import Means
from lamina.retrieval.meaning import embed_missing, learn, meant_by
from lamina.storage.database import Database, ReachedDatabase, Transaction
from lamina.storage.documents import Documents
from lamina.storage.layers import LayerRows
from lamina.storage.memories import Memories
from lamina.storage.small_tables import Properties
from lamina.storage.text_index import TextIndex
from lamina.storage.vectors import Vectors
from lamina.text.terms import ANALYSER_VERSION
from lamina.workspace.files import sweep
from lamina.workspace.layout import PROFILE, workspace_id
from lamina.write.allowance import load_allowed
from lamina.write.audit_files import Mirror
from lamina.write.commit import HOMES
from lamina.write.details import chosen
from lamina.write.entry_files import FileProblem, HomeFile
from lamina.write.guardrails import POLICY, Guardrails, accept, digest_of, load_guardrails
from lamina.write.learning_files import Learnings
from lamina.write.request import Request, Verb, forget_old_responses, perform
from lamina.write.retention import settle
from lamina.write.tally import Reads, Tally
from lamina.write.unit_of_work import Ruleset, UnitOfWork, indexed_terms, said_in

T = TypeVar("T")

_log = logging.getLogger("lamina.engine")
#: The session of a caller who names none.
DEFAULT_SESSION = "main"
_REBUILD_PAGE = 500
#: What each verb is called in the GenAI conventions.
_OPERATIONS = {
    Verb.REMEMBER: "create_memory",
    Verb.REVISE: "update_memory",
    Verb.RESTORE: "update_memory",
    Verb.PROMOTE: "update_memory",
    Verb.FORGET: "delete_memory",
    Verb.EXPIRE: "delete_memory",
}

#: Root, owner, store, settings and encoder into the index of a workspace's documents.
OpenLibrary = Callable[[Path, Scope, Database, Config, Embedder | None], Library]


class Who(TypedDict, total=False):
    """Who is asking, in whose name; what is left out is the workspace's owner, speaking for themselves."""

    user: str | None
    agent: str | None
    session: str | None
    run: str | None
    project: str | None
    role: str | None
    via: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a store is put together from."""

    database: Database
    ruleset: Ruleset
    config: Config
    runtime: Runtime
    anchor: Anchor
    home: Path  #: the configuration folder, where POLICY.md lies
    root: Path | None  #: the workspace, None for a store without files
    embedder: Embedder | None = None  #: what finds by meaning; without it words alone do
    library: OpenLibrary | None = None  #: how the workspace's documents are opened; None, and there are none
    open_writer: Callable[[], Any] = lambda: None  #: the language model that jobs may ask, if any
    adopt: bool = False  #: take the files over from another workspace on the same store


class Store:
    """An open store. Safe to share between threads."""

    def __init__(self, parts: Parts) -> None:
        self.config = parts.config
        self.runtime = parts.runtime
        self.ruleset = parts.ruleset
        self.database: Database = parts.database
        self.embedder = parts.embedder
        self.reranker: Reranker | None = None  #: a program may put a cross-encoder here
        self.open_writer = parts.open_writer
        self.root = parts.root
        self.reads = Reads()
        self._learnings = None if parts.root is None else Learnings(parts.root, parts.database)
        self._config_folder = parts.home
        self.mirror = Mirror(parts.root, parts.database, parts.ruleset.sealer, parts.anchor)
        self.library: Library | None = None
        self._open_library = parts.library
        self._homes: tuple[HomeFile, ...] = ()
        self._problems: tuple[FileProblem, ...] = ()
        self.tally = Tally()
        self._listeners: list[Callable[[dict[str, Any]], None]] = []  # one list for every view of this store
        if parts.root is not None:
            sweep(parts.root, now=self.now())
            self._move_in(parts.root, parts.adopt)
        self._start()

    def close(self) -> None:
        """Let go of the store; what was found since it was opened is counted now."""
        try:
            self.apply_reads()
        except LaminaError as error:  # an answer is worth more than its count
            _log.warning("What was found could not be counted: %s", error.code)
        if self.tally.written:
            with suppress(LaminaError):  # they are counts; what was acknowledged is stored already
                self.count_now()
        self.database.close()

    def apply_reads(self) -> int:
        """Write what was found since the last time; how many memories it was."""
        seen = self.reads.taken()
        if seen:
            self.database.write(lambda tx: LayerRows(tx).note(seen, EPISODE_RENEWED))
        return len(seen)

    def count_now(self) -> None:
        """Put what waits to be counted into the store."""
        self.database.write(self.tally.store)

    def now(self) -> datetime:
        return self.runtime.clock.now()

    def scope_of(self, **who: Unpack[Who]) -> Scope:
        """Who asks, as their memories know them: the workspace's owner unless another is named.

        The role says who speaks: the user, unless an agent is named.
        """
        agent = who.get("agent")
        role = who.get("role") or (Role.AGENT if agent else Role.USER)
        return Scope(
            tenant=self.config.tenant,
            user=who.get("user") or self.config.owner,
            agent=agent,
            session=who.get("session"),
            run=who.get("run"),
            project=who.get("project") or self.config.project,
            role=chosen(Role, role, "role"),
            via=who.get("via") or "python",
        )

    def carry_out(self, request: Request) -> Receipt:
        """Do what a request asks, where its memory lives, and see that the audit follows."""
        operation = _OPERATIONS[request.verb]
        if request.verb is Verb.REMEMBER and request.draft is not None and request.draft.key:
            operation = "upsert_memory"
        said = request.draft.text if request.draft is not None and self.config.telemetry_content else None
        with span(operation, request.scope, {"gen_ai.memory.records": said} if said else None) as note:
            receipt = self._carried_out(request)
            note("lamina.decision", receipt.code)
            if receipt.ids:
                note("gen_ai.memory.record.id", receipt.ids[0])
            return receipt

    def _carried_out(self, request: Request) -> Receipt:
        if (home := self._home_of(request)) is not None:
            receipt, units = home.carry_out(request)
        else:
            receipt, unit = self.write(request.scope, request.at, lambda led: perform(led, request))
            units = [unit]
        self._follow(units)
        self._tell(*units)
        if request.verb is Verb.PROMOTE:  # a line may have to go from the file it came from
            for home in self._homes:
                home.look_again()
            self.sync()
        return replace(receipt, events=tuple(event for _, event in units[-1].told))

    def carry_out_all(self, requests: Sequence[Request]) -> list[Receipt]:
        """The same for many requests in order, all in one transaction but for those that change a file."""
        receipts: list[Receipt] = []
        for at_home, some in groupby(requests, key=lambda one: self._home_of(one) is not None):
            together = tuple(some)
            receipts += map(self.carry_out, together) if at_home else self._carried_out_together(together)
        return receipts

    def _carried_out_together(self, requests: Sequence[Request]) -> list[Receipt]:
        def whole(transaction: Transaction) -> list[tuple[Receipt, UnitOfWork]]:
            done: list[tuple[Receipt, UnitOfWork]] = []
            for request in requests:
                unit = UnitOfWork(transaction, self.ruleset, request.scope, request.at)
                if done:
                    before = done[-1][1]
                    unit.head, unit.unlearnt = before.head, before.unlearnt
                    unit.unlinked = before.unlinked
                done.append((perform(unit, request), unit))
                settle(unit, last=request is requests[-1])
            return done

        with span(_OPERATIONS[requests[0].verb], requests[0].scope, None) as note:
            done = self.database.write(whole)
            note("gen_ai.memory.record.count", len(done))
        units = [unit for _, unit in done]
        self._follow(units)
        self._tell(*units)
        return [replace(receipt, events=tuple(event for _, event in unit.told)) for receipt, unit in done]

    @property
    def means(self) -> Means:
        """What a recall works with."""
        config = self.config
        return Means(
            pool=config.recall_pool,
            embedder=self.embedder,
            fusion=config.recall_fusion,
            plain_decay=config.recall_decay == "plain",
            reranker=self.reranker,
        )

    @property
    def listened(self) -> bool:
        """Whether anybody follows the trace as it happens."""
        return bool(self._listeners)

    def subscribe(self, listener: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Call `listener(event)` for every trace event of this process once it is kept; returns how to stop.

        Events of all users are told. A listener that raises is not called again.
        """
        self._listeners.append(listener)

        def stop() -> None:
            self._listeners[:] = [one for one in self._listeners if one is not listener]

        return stop

    def told_reading(self, scope: Scope, events: Sequence[dict[str, Any]]) -> None:
        """What a recall came to: kept where the settings ask for it, and told to whoever listens."""
        if self.config.trace_recalls:
            shelf = scope.shelf(Space.USER) or ""

            def work(unit: UnitOfWork) -> None:
                unit.traced += [(shelf, event) for event in events]

            self.write(scope, self.now(), work)
        self._publish(events)

    def _follow(self, units: Sequence[UnitOfWork]) -> None:
        """After a commit: the audit's files, and those of what was learnt."""
        self.mirror.follow(units)
        if self._learnings is not None and any(unit.filed for unit in units):
            self._learnings.follow()

    def _tell(self, *units: UnitOfWork) -> None:
        for unit in units:
            self.tally.follow(unit)
        if self._listeners:
            self._publish([event for unit in units for _, event in unit.told])

    def _publish(self, events: Sequence[dict[str, Any]]) -> None:
        for listener in tuple(self._listeners):
            try:
                for event in events:
                    listener(event)
            except Exception:  # noqa: BLE001 a listener's fault is not the memory's
                self._listeners[:] = [one for one in self._listeners if one is not listener]

    def seen_by(self, scope: Scope) -> Store:
        """This store as a caller may read through it: what is outside its allowlist is in no answer."""
        if scope.reach is None:
            return self
        view = copy(self)
        view.database = ReachedDatabase(self.database, scope.reach_mark)
        return view

    def write(self, scope: Scope, at: datetime, work: Callable[[UnitOfWork], T]) -> tuple[T, UnitOfWork]:
        """Run `work(unit)` in one transaction; the caller sees to it that the audit's files follow."""

        def whole(transaction: Transaction) -> tuple[T, UnitOfWork]:
            unit = UnitOfWork(transaction, self.ruleset, scope, at)
            result = work(unit)
            settle(unit)
            if self.tally.full:
                self.tally.store(transaction)
            return result, unit

        return self.database.write(whole)

    def commit(self, scope: Scope, work: Callable[[UnitOfWork], T]) -> tuple[T, UnitOfWork]:
        """Run `work(unit)` in one transaction, audit and all; what came of it, and what it told."""
        result, unit = self.write(scope, self.now(), work)
        self._follow([unit])
        self._tell(unit)
        return result, unit

    def act(self, scope: Scope, work: Callable[[UnitOfWork], T]) -> T:
        """The same for those who need the result alone."""
        return self.commit(scope, work)[0]

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

    def _policy_problem(self) -> tuple[FileProblem, ...]:
        found, accepted = digest_of(self._config_folder), self.guardrails.digest
        if found == accepted:
            return ()
        message = "It changed, and that is not in force." if found else "It is gone; the last one stays."
        hint = "An administrator puts it in force with `lamina policy accept`."
        return (FileProblem(file=POLICY, line=1, message=message, hint=hint),)

    def sync(self) -> None:
        """Take in what a person changed in the files; cheap when nothing changed."""
        for home in self._homes:
            if units := home.sync(self.now()):
                self._follow(units)
                self._tell(*units)

    def verify_audit(self) -> AuditReport:
        """Check every record of the chain, its anchor and its files."""
        inside = self.root is not None and self.database.url.startswith(f"sqlite:///{self.root}/")
        return self.mirror.verify(complete=inside)

    def _move_in(self, root: Path, adopt: bool) -> None:
        """Make the workspace's files the home of their entries, unless another workspace's are that."""
        own, tenant = workspace_id(root, self.config.tenant)
        if tenant and tenant != quoted(self.config.tenant):
            message = f"This workspace's files belong to the tenant {tenant}; they are not used here."
            hint = "Give each tenant a workspace of its own."
            self._problems = (FileProblem(file=PROFILE, line=1, message=message, hint=hint),)
            return

        def work(transaction: Transaction) -> tuple[bool, bool]:
            properties = Properties(transaction)
            holder = properties.get(f"home:{PROFILE}")
            if holder is None or adopt:
                properties.set(f"home:{PROFILE}", own)
            return holder in (None, own) or adopt, holder not in (None, own)

        ours, taken_over = self.database.write(work)
        if not ours:
            hint = "Use `lamina init --adopt` to make this workspace's file the home."
            message = "This store's entries live in the file of another workspace; this one is not used."
            self._problems = (FileProblem(file=PROFILE, line=1, message=message, hint=hint),)
            return
        owner = Scope(
            tenant=self.config.tenant,
            user=self.config.owner,
            session=self.current_session(),
            project=self.config.project,
            via="file",
        )
        parts = (self.database, self.ruleset, self.config)
        self._homes = tuple(HomeFile(root, space, owner, *parts) for space in HOMES)
        if self._open_library is not None:
            self.library = self._open_library(root, owner, self.database, self.config, self.ruleset.encoder)
        if taken_over:
            for home in self._homes:
                home.write_missing()

    def in_file(self, memory_id: str) -> bool | None:
        """Whether a memory's line is in its file right now; None where it has no file."""
        return next((known for home in self._homes if (known := home.shows(memory_id)) is not None), None)

    def problems(self) -> tuple[FileProblem, ...]:
        """Lines of the workspace's files that are not used, and why."""
        in_files = tuple(problem for home in self._homes for problem in home.problems)
        return self._problems + in_files + self._policy_problem()

    def current_session(self) -> str:
        """The session of the workspace's owner whose entries are in SESSION.md."""
        return self.database.read(lambda tx: Properties(tx).get("session")) or DEFAULT_SESSION

    def enter_session(self, name: str) -> None:
        """From now on SESSION.md is about another session of the owner."""
        self.sync()
        self.database.write(lambda tx: Properties(tx).set("session", name))
        for home in self._homes:
            home.enter(name, self.now())

    def _start(self) -> None:
        def work(unit: UnitOfWork) -> None:
            properties = Properties(unit.transaction)
            known = properties.get("analyser")
            if known is None:
                properties.set("analyser", str(ANALYSER_VERSION))
            elif known != str(ANALYSER_VERSION):
                reindex(unit.transaction, self.ruleset.encoder)
            properties.set(self.ruleset.policy_name, canonical(self.ruleset.snapshot))
            forget_old_responses(unit, self.config.idempotency_hours)
            load_allowed(unit.transaction, self.ruleset)

        system = Scope(tenant=self.config.tenant, user=self.config.owner, role=Role.SYSTEM)
        self.write(system, self.now(), work)
        self.mirror.catch_up()
        if self.ruleset.encoder is not None:
            self.embed_missing()
        if self._learnings is not None:
            self._learnings.follow()
        self.sync()

    def embed_missing(self, limit: int = 500) -> int:
        """Give so many of the texts that wait for a vector theirs; how many, 0 also while none can be had."""
        with suppress(LaminaError):  # `status` says what is wrong with it, and search goes on by words
            return embed_missing(self.database, patient(self.embedder), limit)
        return 0

    def _home_of(self, request: Request) -> HomeFile | None:
        """The file that a request changes, if it changes one."""
        if not self._homes or (request.verb is Verb.REMEMBER and request.draft is None):
            return None
        if isinstance(request.decision, Hold):
            return None  # it waits in the store
        if request.verb is Verb.REMEMBER and request.draft is not None:
            draft = request.draft
            return self._holder(draft.scope, draft.space, None if draft.place else draft.key)
        memory = self.database.read(lambda tx: Memories(tx).get(request.memory_id))
        if memory is None:
            return None
        if request.target is not None and (home := self._holder(request.scope, request.target, memory.key)):
            return home
        return next((home for home in self._homes if home.name == memory.file), None)

    def _holder(self, scope: Scope, space: Space, key: str | None) -> HomeFile | None:
        return next((home for home in self._homes if home.holds(scope, space, key)), None)


def reindex(transaction: Transaction, encoder: Embedder | None) -> int:
    """Make the index of words and meaning anew from the rows; how many memories."""
    text_index, memories = TextIndex(transaction), Memories(transaction)
    text_index.clear()
    Vectors(transaction).clear()
    ids = memories.in_order()
    for start in range(0, len(ids), _REBUILD_PAGE):
        texts: dict[int, dict[int, str]] = defaultdict(dict)
        page = ids[start : start + _REBUILD_PAGE]
        known = memories.load(page)
        for memory in map(known.__getitem__, page):
            shelf = text_index.open_shelf(memory.shelf)[0]
            slot = text_index.add(shelf, indexed_terms(memory), said_in(memory))
            memories.set_slot(memory.id, slot)
            texts[shelf][slot] = meant_by(memory)
        for shelf, those in texts.items():
            learn(transaction, encoder, shelf, those)
    for shelf, those in Documents(transaction).reindex():
        learn(transaction, encoder, shelf, those)
    Properties(transaction).set("analyser", str(ANALYSER_VERSION))
    return len(ids)


def store_id(database: Database) -> str:
    """The name by which a store's anchor is known; made when the store is."""

    def work(transaction: Transaction) -> str:
        properties = Properties(transaction)
        known = properties.get("store_id")
        if known is None:
            known = random_token(12)
            properties.set("store_id", known)
        return known

    return database.read(lambda tx: Properties(tx).get("store_id")) or database.write(work)
