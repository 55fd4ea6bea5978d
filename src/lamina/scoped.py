"""One user's memory as one caller sees it: every verb, each a line that leads to its room."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from lamina.errors import Damaged, Denied
from lamina.late import late
from lamina.model import (
    BUDGET,
    RELATED,
    Context,
    Delta,
    Effective,
    Explanation,
    Heard,
    HistoryEntry,
    Memory,
    Phase,
    Receipt,
    Recollection,
    Role,
    Verdict,
    quoted,
)
from lamina.storage.ledger import lane_of
from lamina.write.details import Details, Narrowing
from lamina.write.store import Caller, Store

with late():  # each verb loads what it needs
    from lamina.hear import agent_turn, asked_back, converse, teach
    from lamina.imports import bring_in
    from lamina.jobs import decision_list, session_episode
    from lamina.jobs import run as job_runs
    from lamina.layers import layers, relations, would_keep
    from lamina.lifecycle import consent, erase, export, prove, purge, review, tokens, undo
    from lamina.read import (
        answered,
        changes,
        context,
        difference,
        explain,
        missing,
        profile,
        query,
        recall,
        records,
        replayed,
        resolve,
        search,
        shelves,
        stats,
        status,
        tree,
    )
    from lamina.read import list as pages
    from lamina.write import sessions, verbs

if TYPE_CHECKING:
    from lamina.documents.results import DocumentLines, SearchResults
    from lamina.hear.agent_turn import AgentTurn
    from lamina.imports.bring_in import Options, Progress, Report
    from lamina.imports.detect import PathName
    from lamina.jobs.decided import Kept
    from lamina.jobs.decision_list import DecisionList
    from lamina.jobs.job import JobReport
    from lamina.jobs.run import JobLine
    from lamina.layers.episodes import Happened
    from lamina.layers.layers import Layers, Learned, Lesson
    from lamina.layers.relations import Graph, Relation
    from lamina.layers.would_keep import WouldKeep
    from lamina.lifecycle.consent import Proposal
    from lamina.lifecycle.erase import EraseReceipt
    from lamina.lifecycle.export import Exported
    from lamina.lifecycle.prove import Proof
    from lamina.lifecycle.purge import PurgeReceipt
    from lamina.lifecycle.review import Review
    from lamina.lifecycle.tokens import TokenDetails
    from lamina.lifecycle.undo import Undone
    from lamina.model import AuditReport, Token, TraceEvent
    from lamina.policy.phases import PhaseDiff
    from lamina.read.answered import AnswerReceipt
    from lamina.read.difference import Difference
    from lamina.read.list import ListOptions, Page
    from lamina.read.profile import Profile
    from lamina.read.query import Queried, QueryOptions
    from lamina.read.records import AuditPage
    from lamina.read.search import SearchOptions
    from lamina.read.stats import Stats
    from lamina.read.status import StoreStatus
    from lamina.read.tree import DocumentTree
    from lamina.storage.refusals import Refusal
    from lamina.storage.small_tables import Session
    from lamina.text.accounts import Episode, Procedure
    from lamina.text.decision_entries import Decision
    from lamina.write.guardrails import Guardrails


class ScopedMemory(Caller):
    """What a caller may do. Everything happens within its scope; nothing outside it exists here."""

    @property
    def engine(self) -> Store:
        """The open store, as this caller may read it."""
        return self.store

    # Keeping.

    def remember(self, text: str, **details: Unpack[Details]) -> Receipt:
        """Remember one thing, exactly as it is said.

        The receipt says whether it was admitted, known already, or denied and why. Raises InvalidInput
        when the text or a detail cannot be used; then nothing happened.
        """
        return verbs.remember(self, text, **details)

    def remember_many(self, items: Iterable[Mapping[str, Any]]) -> builtins.list[Receipt]:
        """Remember many things in order, each `{"text": …, …}` with what `remember` takes; a receipt each.

        They come to what as many calls of `remember` would, but are stored in batches, each whole or not at
        all. An item that cannot be used is refused by its receipt, with its number; the others are stored.
        """
        return verbs.remember_many(self, items)

    def hear(
        self,
        text: str,
        *,
        reply: str | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        dry_run: bool = False,
    ) -> Heard:
        """One turn of a conversation: what the caller said, the agent's reply, what tools returned.

        Commands in it ("remember that …", "จำไว้ว่า …", "忘记 …") are carried out first. The turn is kept in
        the window of its session (the current one where the caller names none); what it says that lasts is
        kept as the policy allows, and guesses about the person wait for their yes. With `dry_run` nothing is
        done: `understood` says what every part of it was taken for, and why.
        """
        return converse.hear(self, text, reply, tools, dry_run=dry_run)

    def teach(self, text: str, sort: str = "none") -> Receipt:
        """Say what a sentence is: from now on those like it are taken so. `none`: it asks for nothing."""
        return teach.teach(self, text, sort)

    def answer(self, reply: str, tools: Sequence[Mapping[str, Any]] = ()) -> Heard:
        """What the agent answered, and what its tools returned, as the rest of the turn."""
        return converse.answer(self, reply, tools)

    def turn(self, message: str) -> AgentTurn:
        """One step of an agent's loop, as a context: see `AgentTurn`."""
        return agent_turn.AgentTurn(Caller(self.store, self.in_session), message)

    @property
    def layers(self) -> Layers:
        """The five layers: the user model, procedures, what is learned, episodes."""
        return layers.Layers(self)

    def learn(self, text: str, **lesson: Unpack[Lesson]) -> Learned:
        """Keep something for good, in its layer; name what it contradicts."""
        return self.layers.learn(text, **lesson)

    def user_model(self) -> dict[str, Any]:
        """What is known about the user: expertise, preferences, topics, notes; what is not has defaults."""
        return self.layers.user_model.get()

    def update_user_model(self, updates: Mapping[str, Any]) -> builtins.list[Receipt]:
        """Merge into the user model: what is not mentioned stays, and lists grow."""
        return self.layers.user_model.update(updates)

    def remove_from_user_model(self, item: str) -> builtins.list[Receipt]:
        """Forget one item of the user model, such as `expertise.C++`; it can be restored."""
        return self.layers.user_model.remove(item)

    def reset_user_model(self) -> int:
        """Forget everything in the user model; each value can be restored. How many values."""
        return self.layers.user_model.reset()

    def find_procedures(self, task: str = "", limit: int = 3) -> builtins.list[Procedure]:
        """How things are done here: procedures for a task, best first."""
        return self.layers.procedures.find(task, limit)

    def learn_procedure(
        self,
        trigger: str,
        steps: Sequence[str],
        source: str = "explicit",
        *,
        derived_from: Sequence[str] = (),
    ) -> Receipt:
        """Keep how something is done; a procedure for the same task is extended instead."""
        return self.layers.procedures.learn(trigger, steps, source, derived_from=derived_from)

    def used_procedure(self, memory_id: str, outcome: str = "success") -> Procedure:
        """Note that a procedure was followed, and how it went."""
        return self.layers.procedures.used(memory_id, outcome)

    def find_episodes(self, topic: str = "", limit: int = 5) -> builtins.list[Episode]:
        """What happened before: about a topic, best first, or the latest."""
        return self.layers.episodes.find(topic, limit)

    def record_episode(self, summary: str, **happened: Unpack[Happened]) -> Receipt:
        """Keep what happened for 90 days, longer where it is found again, one line of it for good."""
        return self.layers.episodes.record(summary, **happened)

    # Changing.

    def revise(self, memory_id: str, text: str, *, expect: int | None = None, reason: str = "") -> Receipt:
        """Say a memory in new words; when it is no longer at the revision `expect`, that is a Conflict."""
        return verbs.revise(self, memory_id, text, expect=expect, reason=reason)

    def forget(self, id_or_key: str, *, reason: str = "") -> Receipt:
        """Take a memory out of every answer; `restore` brings it back within the undo window."""
        return verbs.forget(self, id_or_key, reason=reason)

    def restore(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Bring a forgotten memory back as it was."""
        return verbs.restore(self, memory_id, reason=reason)

    def promote(self, memory_id: str, to: str, *, reason: str = "") -> Receipt:
        """Move a memory to a wider space: from the session to the user or the project, and so on."""
        return verbs.promote(self, memory_id, to, reason=reason)

    def pin(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Keep a memory through every clean-up: it neither fades nor is put aside unused."""
        return verbs.pin(self, memory_id, True, reason)

    def unpin(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Let a memory age again like any other."""
        return verbs.pin(self, memory_id, False, reason)

    def merge(self, ids: Sequence[str], *, reason: str = "") -> Receipt:
        """Make one memory of several that say the same: code `merged`, and the id of the one that stays.

        DENIED with `values_differ` where they give different values, with `not_alike` where they are about
        different things. Raises NotFound for what the caller does not see, InvalidInput `merge_unfit` for
        what has a key, a file or an end of its own.
        """
        return verbs.merge(self, ids, reason=reason)

    def unmerge(self, memory_id: str, *, reason: str = "") -> Receipt:
        """Undo a merge, or an update by a newer value: the ids of what is active again, as it was.

        A Conflict where the memory has changed since (`merge_changed`) or what it was made of is gone.
        """
        return verbs.unmerge(self, memory_id, reason=reason)

    def link(self, memory_id: str, other: str, type: str = RELATED, strength: float = 1.0) -> Relation:
        """Say that two memories belong together; said again, it is as said last."""
        return relations.Relations(self).link(memory_id, other, type, strength)

    def unlink(self, memory_id: str, other: str, type: str = RELATED) -> Relation:
        """Take an edge away, said or found, whichever way round it is; NotFound where there is none."""
        return relations.Relations(self).unlink(memory_id, other, type)

    # Asking.

    def recall(self, question: str, *, trace: bool = False, **narrowing: Unpack[Narrowing]) -> Recollection:
        """What is known about a question, best first, with reasons.

        Writes nothing, unless the setting `trace_recalls` asks for it. With `trace`, the result carries the
        events that the contract says of a reading.
        """
        return recall.recall(self, question, narrowing, trace=trace)

    def search(self, question: str, **options: Unpack[SearchOptions]) -> SearchResults:
        """What documents and memories say about a question: where it stands, when, and how sure that is.

        Recent files first, the others when those say too little, the archives when the question reaches
        across months or `archive` asks for it. No file is written.
        """
        return search.search(self, question, **options)

    def query(self, question: str, **asked: Unpack[QueryOptions]) -> Queried:
        """`memory.query`: a few memories, narrowed by categories and filters, within a budget."""
        return query.query(self, question, **asked)

    def context(
        self,
        task: str,
        *,
        budget_tokens: int = BUDGET,
        form: str = "xml",
        changes_since: str | None = None,
        seen_as: str | None = None,
        cite: bool = False,
    ) -> Context:
        """The block an agent puts in its prompt: the user, how things are done, what happened, what is known.

        Nothing that a tool or a document said is in it. With `changes_since`, a cursor, also what changed
        after it. With `seen_as`, the block that an agent of the caller's would be given. With `cite`, an id
        behind whatever has one.
        """
        return context.context(self.seen_as(seen_as), task, budget_tokens, form, changes_since, cite=cite)

    def resolve(self, keys: Iterable[str] = ()) -> dict[str, Effective]:
        """The values in force for these keys, or for all there are, with what each hides."""
        return resolve.resolve(self, keys)

    def get(self, memory_id: str) -> Memory:
        """One memory of the caller's own, in whatever state it is; NotFound otherwise."""
        return verbs.get(self, memory_id)

    def list(self, **wanted: Unpack[ListOptions]) -> Page:
        """Everything the caller may read, newest first, a page at a time: what a recall hides is in none.

        Narrowed to spaces, layers, kinds, categories, states (`active` unless named), who said it, a time,
        tags. `order` is newest, oldest or important. The first page counts what there is of each; `cursor`
        asks for the page after the last, in the same order.
        """
        return pages.list_memories(self, **wanted)

    def id_of(self, id_or_key: str) -> str:
        """The id of an active memory named by its id or its key, the nearest shelf first."""
        return verbs.id_of(self, id_or_key)

    def history(self, memory_id: str) -> tuple[HistoryEntry, ...]:
        """Every step in the life of a memory, oldest first."""
        return explain.history(self, memory_id)

    def explain(self, memory_id: str) -> Explanation:
        """Why a memory is there, told from what was recorded when it was decided."""
        return explain.explain(self, memory_id)

    def why_not(self, question: str, memory_id: str, **narrowing: Unpack[Narrowing]) -> Verdict:
        """Why a memory is not among the hits for a question, or that it is; asked as `recall` would be."""
        return missing.why_not(self, question, memory_id, narrowing)

    def trace(self, last: int = 20) -> tuple[TraceEvent, ...]:
        """The newest trace events of the caller's shelves, oldest of them first."""
        return explain.trace(self, last)

    def explain_event(self, seq: int) -> Verdict:
        """Why a write was refused, which of two won, what was recalled: from the event that was recorded."""
        return explain.explain_event(self, seq)

    def receipt(self, answer_id: str, *, replay: bool = False) -> AnswerReceipt:
        """What a recall, context or query found, showed and left out, by the id that the answer carries.

        With `replay` it is asked again, and the receipt says whether the same comes back.
        """
        return (replayed.replay if replay else answered.receipt)(self, answer_id)

    def answers_with(self, memory_id: str, limit: int = 50) -> builtins.list[AnswerReceipt]:
        """The answers that a memory was in, or was left out of, the latest first."""
        return answered.answers_with(self, memory_id, limit)

    def changes(self, since: str = "") -> Delta:
        """What changed in the caller's memory since a cursor, and the cursor to ask with next time.

        Without a cursor, everything since the beginning. A caller never hears of what it may not read.
        """
        return changes.changes(self, since)

    def cursor(self) -> str:
        """The cursor of this moment: with it, `changes` tells what comes after."""
        return changes.cursor_now(self)

    def stats(self, *, by: str = "day", days: int = 7) -> Stats:
        """What was done in the caller's memory lately, counted; and what there is, by category and state."""
        return stats.stats(self, by, days)

    def relations(self, memory_id: str = "", depth: int = 1) -> Graph:
        """What a memory is linked to, and what that is, as many steps away as `depth` says.

        Without one, every edge between memories that the caller may read, with both ends.
        """
        linked = relations.Relations(self)
        return linked.of(memory_id, depth) if memory_id else linked.graph()

    def read_document(self, path: str, *, start: int = 1, lines: int = 200) -> DocumentLines:
        """Some lines of one of the caller's documents as the file has them now, without secrets."""
        return search.read_document(self, path, start, lines)

    def moment_of(self, revision: int) -> datetime:
        """When the caller's conversation reached a revision; NotFound where it never did."""
        return recall.moment_of(self, revision)

    def moment(self, then: str) -> datetime:
        """The time that a date, a time or the number of a revision names."""
        return recall.moment(self, then)

    def loaded(self, ids: Sequence[str]) -> builtins.list[Memory]:
        """The memories behind some hits, in their order; an id of somebody else's is behind none."""
        return shelves.loaded(self, ids)

    def keyed(self) -> builtins.list[Memory]:
        """Every memory of the caller's session and user that holds a key."""
        return shelves.keyed(self)

    def latest(self) -> builtins.list[Memory]:
        """The last thing the caller's session or user got that lasts, as a list of none or one."""
        return shelves.latest(self)

    def turns(self, count: int) -> builtins.list[str]:
        """What was said lately in this session, latest last."""
        return shelves.turns(self, count)

    def me(self) -> Profile:
        """What is known about the caller's user, in words and grouped, and what waits for their answer."""
        return profile.profile(self)

    def difference(self, before: datetime, after: datetime | None = None) -> Difference:
        """What came, went and says something else between two dates; the second is now where none is."""
        return difference.difference(self, before, after or self.store.now())

    def document_tree(self) -> DocumentTree:
        """Every file of the workspace that is searched; NotFound for whoever is not its owner."""
        return tree.document_tree(self)

    # What waits for the person's word.

    def review(self) -> Review:
        """One queue of what waits: guesses, wishes of agents, contradictions and doubles."""
        return review.review(self)

    def would_keep(
        self, text: str, *, key: str | None = None, kind: str | None = None, agent: str | None = None
    ) -> WouldKeep:
        """Whether a sentence would be kept, gate by gate, said by the caller or by an agent of theirs."""
        return would_keep.would_keep(self.seen_as(agent), text, key, kind)

    def seen_as(self, agent: str | None) -> ScopedMemory:
        """This memory as an agent of the caller's has it; only a person may ask for it."""
        if agent is None:
            return self
        if self.scope.role not in (Role.USER, Role.ADMIN):
            raise Denied("Only a person sees with an agent's eyes.", code="person_only")
        return ScopedMemory(self.store, replace(self.scope, agent=agent, role=Role.AGENT))

    def propose(
        self, value: str, key: str, confidence: float, reason: str = "", *, importance: int = 0
    ) -> Receipt:
        """Put a guess about the person before them.

        It counts for nothing until they confirm it; but a benign one (`response.tone`, `goal.…`) holds by
        itself once a second turn says the same, or as an insight of importance 3 that is 0.8 sure.
        """
        return verbs.propose(self, value, key, confidence, reason, importance=importance)

    def pending(self) -> builtins.list[Memory]:
        """The guesses that wait for the person's yes or no, oldest first."""
        return verbs.pending(self)

    def proposals(self, *, decided: bool = False) -> builtins.list[Proposal]:
        """The same as people see them; with `decided`, also what was decided lately."""
        return consent.proposals(self, decided=decided)

    def confirm(
        self, key: str | None = None, *, reason: str = "", channel: str = ""
    ) -> builtins.list[Receipt]:
        """Keep what was guessed, under its key; without a key, the newest guess. Only the person can.

        `channel` is by what way they said so, this caller's door unless given. In a chat, what is sensitive
        needs its key: a bare yes raises Denied.
        """
        return layers.confirm(self, key, reason=reason, channel=channel)

    def reject(self, key: str | None = None, *, channel: str = "") -> builtins.list[Receipt]:
        """Drop what was guessed; without a key, the newest guess. Only the person can."""
        return verbs.reject(self, key, channel=channel)

    def ask_what_waits(self) -> str:
        """What waits for the person as one question in their language, for the end of a session; empty
        where nothing does. Their next turn, in whatever session, answers it: "all", "none", "the first"."""
        return asked_back.ask_what_waits(self)

    # Sessions and phases.

    def start_session(self, name: str) -> Session:
        """Begin or go on with a session of the workspace's owner; SESSION.md is about it from now on."""
        return sessions.start_session(self, name)

    def end_session(self) -> int:
        """The session is over: what it keeps until its end goes; how many. What came of it is an episode."""
        session_episode.record_session(self)
        return sessions.end_session(self)

    def session(self) -> Session | None:
        """When the caller's session began, was last used and ended; None before its first use."""
        return sessions.session(self)

    def compact(self, space: str = "session") -> int:
        """Put aside what is past its time in a space, and lines of its file that repeat another; how many."""
        return sessions.compact(self, space)

    def start_phase(self, space: str = "session", *, name: str = "", reason: str = "manual") -> Phase:
        """Begin the next phase of one of the caller's spaces; a recall then looks at the new one only."""
        return sessions.start_phase(self, space, name=name, reason=reason)

    def phases(self, space: str = "session") -> tuple[Phase, ...]:
        """The phases of one of the caller's spaces that are kept, oldest first."""
        return sessions.phases(self, space)

    def phase_diff(self, before: int, after: int, space: str = "session") -> PhaseDiff:
        """What changed between the ends of two phases; the newest ends now."""
        return sessions.phase_diff(self, before, after, space)

    # How memories end, leave and come in.

    def purge(
        self, memory_id: str = "", *, now: bool = False, exports: bool = False
    ) -> tuple[PurgeReceipt, ...]:
        """Take the caller's memory, or all of theirs that is due, out of every place for good.

        A receipt each. What can still be restored is purged with `now` only. With `exports`, known exports
        that hold it are removed. Only a person or an administrator may.
        """
        return purge.purge(self, memory_id, now=now, exports=exports)

    def verify_purge(self, memory_id: str) -> PurgeReceipt:
        """Look at every place again for a memory that was purged; NotFound where none of the caller's was."""
        return purge.verify_purge(self, memory_id)

    def undo(
        self,
        *,
        session: str | None = None,
        agent: str | None = None,
        source: str | None = None,
        dry_run: bool = False,
        for_good: bool = False,
    ) -> Undone:
        """Forget all that a session, an agent or a source wrote for this person; one of the three.

        What it had taken the place of comes back. A dry run says what would go and changes nothing.
        """
        of: dict[str, str | None] = {"session": session, "agent": agent, "source": source}
        return undo.undo(self, **of, dry_run=dry_run, for_good=for_good)

    def noes(self, *, lifted: bool = False, limit: int = 200) -> builtins.list[Refusal]:
        """What the person said no to, the newest first, without the words."""
        return prove.noes(self, lifted=lifted, limit=limit)

    def lift_no(self, number: int) -> Refusal:
        """End a no by its number; the audit says who did."""
        return prove.lift_no(self, number)

    def prove_forgotten(self, what: str) -> Proof:
        """Try every way by which a text, or a memory that was forgotten, could come back; nothing stays."""
        return prove.prove_forgotten(self, what)

    def erase(self, user: str) -> EraseReceipt:
        """Take out everything of a person's: memories, history, sessions, tokens, exports, files.

        A person may erase themselves, an administrator anybody; Denied otherwise.
        """
        return erase.erase(self, user)

    def export(self, to: Path | None = None, format: str = "lamina") -> Exported:
        """Everything known about the caller's user, as files in a new or empty folder."""
        return export.export(self, to or export.default_folder(self), format)

    def export_lines(self) -> Iterator[str]:
        """The same as lines of JSON; the last one counts the others and seals them with a SHA-256."""
        return export.lines_of(self)

    def import_files(
        self,
        paths: Iterable[PathName],
        progress: Progress | None = None,
        **options: Unpack[Options],
    ) -> Report:
        """Bring in every transcript and export under the paths; `progress(done, total)` counts bytes.

        What came in before does not come in again. A dry run says what would happen and writes nothing.
        """
        return bring_in.import_files(self, paths, progress, **options)

    # Upkeep.

    def jobs(self) -> builtins.list[JobLine]:
        """The memory's background work: when each job runs next, and how its last run went."""
        return job_runs.list_jobs(self.store, self.store.now())

    def run_job(
        self, name: str, *, dry_run: bool = False, agree: bool = False, scheduled: bool = False
    ) -> JobReport:
        """Run a job now and wait for it, with the language model that the settings name, if any."""
        writer = self.store.open_writer()
        asked = job_runs.Asked(scheduled=scheduled, dry_run=dry_run, agreed=agree, writer=writer)
        return job_runs.run_job(self.store, name, self.store.now(), asked)

    def decisions(self, status: str | None = None) -> DecisionList:
        """Every decision in the workspace's files, oldest first, and sections that cannot be read."""
        return decision_list.list_decisions(decision_list.owned(self), status)

    def decision(self, decision_id: str) -> Kept:
        """The decision of an id, or of the one id that has this part; raises NotFound."""
        return decision_list.find_decision(decision_list.owned(self), decision_id)

    def supersede_decision(self, decision_id: str, by: str, because: str = "") -> Decision:
        """Say that one decision overrules another, in both of their sections; only a person may."""
        return decision_list.overrule(self, decision_id, by, because)

    def create_token(self, label: str, **details: Unpack[TokenDetails]) -> tuple[Token, str]:
        """A new token and, this once, the text to present."""
        return tokens.create_token(self.store, label, **details)

    def tokens(self) -> builtins.list[Token]:
        """Every token there is or was."""
        return tokens.list_tokens(self.store)

    def revoke_token(self, token_id: str) -> None:
        """From now on the token is refused; NotFound when it is not there or was revoked before."""
        tokens.revoke_token(self.store, token_id)

    # Rules and proof.

    def policy(self) -> Mapping[str, Any]:
        """The policy that is used, as events carry it."""
        return self.store.ruleset.snapshot

    def accept_policy(self) -> Guardrails:
        """Put POLICY.md as it is now in force; an administrator's act, Denied to everybody else."""
        return self.store.accept_policy(self.scope)

    def allow(self, *fingerprints: str) -> None:
        """Say that what a refusal names by these fingerprints is not a secret; only the person can."""
        verbs.allow(self, *fingerprints)

    def may_use(self, tool: str) -> bool:
        """Whether the administrator's policy lets an agent use a tool; a refusal is audited."""
        return verbs.may_use(self, tool)

    def prohibited(self, what: str) -> bool:
        """Whether the administrator's policy prohibits something by name, such as `secrets_exfiltration`."""
        return verbs.is_prohibited(self, what)

    def audit(
        self, *, actor: str = "", op: str = "", memory_id: str = "", before: int = 0, limit: int = 50
    ) -> AuditPage:
        """The newest records of the audit, narrowed; values are in them as hashes only.

        They tell what everybody did: Denied to whoever is neither the store's owner nor an administrator.
        """
        owns = self.scope.role is Role.USER and self.scope.user == self.store.config.owner
        if not owns and self.scope.role is not Role.ADMIN:
            raise Denied("The owner and administrators read the audit.", code="admin_only")
        narrowed = records.AuditFilter(actor=actor, op=op, memory_id=memory_id, before=before)
        return records.records(self.store, narrowed, limit)

    def verify_audit(self, user: str = "", memory: str = "") -> AuditReport:
        """Check every record of the chain, its anchor, its files and all that they tell of; with a user what
        is theirs, with a memory that of whoever has it, and a proof of its story comes along."""
        if memory and not (self.sees_past and lane_of(memory) == f"user:{quoted(self.scope.user)}"):
            self.get(memory)  # a story is told to whoever may read it; one's own, also of what was purged
        return self.store.verify_audit(user, memory)

    def export_proof(self, memory_id: str) -> dict[str, Any]:
        """A memory's story, for whoever has the key and not the store; Damaged where it does not hold."""
        report = self.verify_audit(memory=memory_id)
        if report.proof is None:
            raise Damaged(
                f"There is no proof of {memory_id!r:.80}: the audit has {len(report.findings)} findings.",
                code="story_unproven",
                hint="See them with `lamina audit verify`.",
            )
        return report.proof

    def status(self) -> StoreStatus:
        """Figures about the whole store, and lines of the workspace's files that are not used."""
        return status.status_of(self.store)
