"""The engine: one open store, with or without a workspace, and the verbs it carries out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, TypedDict, TypeVar, Unpack
from urllib.parse import urlsplit, urlunsplit

from lamina.audit.keys import Anchor
from lamina.audit.telemetry import span
from lamina.clock import Runtime
from lamina.config import Config
from lamina.documents.results import LibraryStatus
from lamina.encoders.port import Embedder
from lamina.encoders.tended import patient
from lamina.errors import LaminaError
from lamina.hear.turn import DEFAULT_SESSION, Tried, Turn, commit_turn, nothing_promoted, promotable
from lamina.layers.learning_files import Learnings
from lamina.lifecycle.fading import Reads, after_indexing, catch_up, close_reads
from lamina.model import Decision, Draft, Heard, Hold, Receipt, Role, Scope, Space, canonical, quoted
from lamina.model.audit import AuditReport
from lamina.policy.gates import decide
from lamina.ranking.rerank import Reranker
from lamina.read.recall import Means
from lamina.read.search import Library
from lamina.scoped import ScopedMemory
from lamina.storage.database import Database, ReachedDatabase, Transaction
from lamina.storage.documents import Documents
from lamina.storage.logs import AuditLog
from lamina.storage.memories import Memories
from lamina.storage.small_tables import Operations, Properties
from lamina.storage.text_index import TextIndex
from lamina.storage.vectors import Vectors
from lamina.text.terms import ANALYSER_VERSION
from lamina.workspace.files import sweep
from lamina.workspace.layout import PROFILE, workspace_id
from lamina.write.allowance import load_allowed
from lamina.write.audit_files import Mirror
from lamina.write.commit import HOMES
from lamina.write.custody import claim_key
from lamina.write.details import check_who, chosen
from lamina.write.entry_files import FileProblem, HomeFile
from lamina.write.guardrails import POLICY, Guardrails, accept, digest_of, load_guardrails
from lamina.write.meaning import Meaning, embed_missing, learn, meaning_of, meant_by
from lamina.write.request import Request, Verb, forget_old_responses, perform
from lamina.write.retention import settle
from lamina.write.tally import Tally
from lamina.write.unit_of_work import Ruleset, UnitOfWork, indexed_terms, said_in

T = TypeVar("T")

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
#: A caller, its message and what became of it so far, into what became of it in the end.
Extract = Callable[[ScopedMemory, str, Heard], Heard]


class Who(TypedDict, total=False):
    """Who is asking, in whose name; what is left out is the workspace's owner, speaking for themselves."""

    user: str  #: never None: whose memory it is must be said, or left out
    agent: str | None
    session: str | None
    run: str | None
    project: str | None
    role: str | None
    via: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an engine is put together from."""

    database: Database
    ruleset: Ruleset
    config: Config
    runtime: Runtime
    anchor: Anchor
    home: Path  #: the configuration folder, where POLICY.md lies
    root: Path | None  #: the workspace, None for a store without files
    embedder: Embedder | None = None  #: what finds by meaning; without it words alone do
    library: OpenLibrary | None = None  #: how the workspace's documents are opened; None, and there are none
    extract: Extract | None = None  #: what keeps the facts of a long message; None, and nothing does
    adopt: bool = False  #: take the files over from another workspace on the same store
    adopt_key: bool = False  #: go on with this key where another sealed the store


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of a store in figures."""

    store: str
    tenant: str
    workspace: str | None
    memories: dict[str, int]
    shelves: int
    bytes: int
    audit_records: int
    pending_operations: int
    dead_jobs: tuple[str, ...]  #: jobs that failed as often as they are tried
    analyser: int
    problems: tuple[FileProblem, ...]
    meaning: Meaning
    documents: LibraryStatus | None = None  #: None where no workspace has any


class Engine:
    """An open memory. Safe to share between threads; close it, or use it in a `with` statement."""

    def __init__(self, parts: Parts) -> None:
        self.config = parts.config
        self.runtime = parts.runtime
        self.ruleset = parts.ruleset
        self.database: Database = parts.database
        self.embedder = parts.embedder
        self.reranker: Reranker | None = None  #: a program may put a cross-encoder here
        self.extract = parts.extract
        self.root = parts.root
        self.reads = Reads()
        self._learnings = None if parts.root is None else Learnings(parts.root, parts.database)
        self._config_folder = parts.home
        self._guardrails = Guardrails()
        self.mirror = Mirror(parts.root, parts.database, parts.ruleset.sealer, parts.anchor)
        self.library: Library | None = None
        self._open_library = parts.library
        self._homes: tuple[HomeFile, ...] = ()
        self._problems: tuple[FileProblem, ...] = ()
        self.tally = Tally()
        self._listeners: list[Callable[[dict[str, Any]], None]] = []  # one list for every view of this engine
        if parts.root is not None:
            sweep(parts.root, now=self.now())
            self._move_in(parts.root, parts.adopt)
        self._start(parts.adopt_key)

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store; what was found since it was opened is counted now."""
        close_reads(self)
        if self.tally.written:
            with suppress(LaminaError):  # they are counts; what was acknowledged is stored already
                self.count_now()
        self.mirror.settle()
        self.database.close()

    def count_now(self) -> None:
        """Put what waits to be counted into the store."""
        self.database.write(self.tally.store)

    def now(self) -> datetime:
        return self.runtime.clock.now()

    def scope(self, **who: Unpack[Who]) -> ScopedMemory:
        """The memory of one user as one caller sees it.

        The role says who speaks: the user, unless an agent is named. It decides the authority of everything
        remembered through the result, and nothing in a text can change it. Raises InvalidInput for a field
        that there is not, or that is given and empty.
        """
        check_who(who, Who.__annotations__)
        agent = who.get("agent")
        role = who.get("role") or (Role.AGENT if agent else Role.USER)
        scope = Scope(
            tenant=self.config.tenant,
            user=who.get("user", self.config.owner),
            agent=agent,
            session=who.get("session"),
            run=who.get("run"),
            project=who.get("project") or self.config.project,
            role=chosen(Role, role, "role"),
            via=who.get("via") or "python",
        )
        return ScopedMemory(self, scope)

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
                    unit.after(done[-1][1])
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

    def hear(self, turn: Turn) -> Heard:
        """Carry out everything a turn came to: the turn in one transaction, then what it asks to be moved."""
        decisions = [self.judge(draft) for draft in turn.drafts]
        tried, unit = self.write(turn.scope, self.now(), lambda led: commit_turn(led, turn, decisions))
        self._follow([unit])
        self._tell(unit)
        moved = self._moved(turn, tried)
        told = [event for _, event in unit.told] + [event for one in moved for event in one.events]
        receipts = [*(receipt for _, receipt in tried), *moved]
        said = next((one.acknowledgement for one in moved if one.code == "promoted"), "")
        return Heard(receipts=tuple(receipts), acknowledgement=said, events=tuple(told))

    def _moved(self, turn: Turn, tried: Sequence[Tried]) -> list[Receipt]:
        if (hint := turn.hint) is None:
            return []
        if not (ids := promotable(turn, tried)):
            denied, unit = self.write(
                turn.scope, self.now(), lambda led: nothing_promoted(led, turn, hint, tried[0][1])
            )
            self._follow([unit])
            self._tell(unit)
            return [replace(denied, events=tuple(event for _, event in unit.told))]
        asked = Request(
            verb=Verb.PROMOTE, scope=turn.scope, at=self.now(), target=hint.target, reason=hint.reason
        )
        return [self.carry_out(replace(asked, memory_id=one)) for one in ids]

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

    def seen_by(self, scope: Scope) -> Engine:
        """This engine as a caller may read through it: what is outside its allowlist is in no answer."""
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

    def act(self, scope: Scope, work: Callable[[UnitOfWork], T]) -> T:
        """Run `work(unit)` in one transaction, audit and all."""
        result, unit = self.write(scope, self.now(), work)
        self._follow([unit])
        self._tell(unit)
        return result

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
        self._guardrails = self.database.read(lambda tx: load_guardrails(tx, self.ruleset.sealer))
        return self._guardrails

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

    def rebuild(self) -> int:
        """Make everything derived anew, from the rows and files; returns how many memories were indexed."""
        self.sync()
        count = self.database.write(lambda tx: _reindexed(tx, self.ruleset.encoder))
        if self.library is not None:
            self.library.index(self.now(), full=True)
        self.indexed()
        self.mirror.catch_up(all_records=True)
        return count

    def indexed(self) -> None:
        """After documents were indexed: edited learnings are taken in, episodes past their time reduced."""
        after_indexing(self)

    def status(self) -> Status:
        """Figures about the store, and lines of the workspace's files that are not used."""
        self.sync()
        meaning = meaning_of(self.database, self.embedder, self.config.embedder)

        def work(transaction: Transaction) -> Status:
            return Status(
                store=_without_password(self.database.url),
                tenant=self.database.tenant,
                workspace=None if self.root is None else str(self.root),
                memories=Memories(transaction).count_by_state(),
                shelves=len(transaction.all("all_shelves")),
                bytes=0,
                audit_records=AuditLog(transaction).head()[0],
                pending_operations=Operations(transaction).count(),
                dead_jobs=tuple(sorted({row[0] for row in transaction.all("dead_jobs")})),
                analyser=Properties(transaction).number("analyser"),
                problems=self.problems(),
                meaning=meaning,
            )

        documents = None if self.library is None else self.library.status()
        return replace(self.database.read(work), bytes=self.database.size_bytes(), documents=documents)

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

    def _start(self, adopt_key: bool) -> None:
        why = self.mirror.why_lost()

        def work(unit: UnitOfWork) -> None:
            claim_key(unit, adopt=adopt_key)
            self.mirror.tell_renewal(unit, why)
            properties = Properties(unit.transaction)
            known = properties.get("analyser")
            if known is None:
                properties.set("analyser", str(ANALYSER_VERSION))
            elif known != str(ANALYSER_VERSION):
                _reindexed(unit.transaction, self.ruleset.encoder)
            properties.set(self.ruleset.policy_name, canonical(self.ruleset.snapshot))
            forget_old_responses(unit, self.config.idempotency_hours)
            load_allowed(unit.transaction, self.ruleset)
            self._guardrails = load_guardrails(unit.transaction, self.ruleset.sealer)

        system = Scope(tenant=self.config.tenant, user=self.config.owner, role=Role.SYSTEM)
        _, unit = self.write(system, self.now(), work)
        self.mirror.renew_anchor(unit)
        self.mirror.catch_up()
        if self.ruleset.encoder is not None:
            self.embed_missing()
        if self._learnings is not None:
            self._learnings.follow()
        self.sync()
        catch_up(self)

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
        memory = self.database.read(lambda tx: Memories(tx).load([request.memory_id])).get(request.memory_id)
        if memory is None:
            return None  # or it cannot be read, which whoever carries it out will say
        if request.target is not None and (home := self._holder(request.scope, request.target, memory.key)):
            return home
        return next((home for home in self._homes if home.name == memory.file), None)

    def _holder(self, scope: Scope, space: Space, key: str | None) -> HomeFile | None:
        return next((home for home in self._homes if home.holds(scope, space, key)), None)


def _reindexed(transaction: Transaction, encoder: Embedder | None) -> int:
    text_index, memories = TextIndex(transaction), Memories(transaction)
    text_index.mend()
    text_index.clear()
    Vectors(transaction).clear()
    ids, count = memories.in_order(), 0
    for start in range(0, len(ids), _REBUILD_PAGE):
        texts: dict[int, dict[int, str]] = defaultdict(dict)
        page = ids[start : start + _REBUILD_PAGE]
        known = memories.load(page)
        count += len(known)
        for memory in (known[one] for one in page if one in known):  # the others cannot be read
            shelf = text_index.open_shelf(memory.shelf)[0]
            slot = text_index.add(shelf, indexed_terms(memory), said_in(memory))
            memories.set_slot(memory.id, slot)
            texts[shelf][slot] = meant_by(memory)
        for shelf, those in texts.items():
            learn(transaction, encoder, shelf, those)
    for shelf, those in Documents(transaction).reindex():
        learn(transaction, encoder, shelf, those)
    Properties(transaction).set("analyser", str(ANALYSER_VERSION))
    return count


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    user, at, place = parts.netloc.rpartition("@")
    shown = f"{user.partition(':')[0]}{at}{place}"
    query = "&".join(one for one in parts.query.split("&") if not one.lower().startswith("password="))
    return urlunsplit((parts.scheme, shown, parts.path, query, "")) if parts.netloc else url
