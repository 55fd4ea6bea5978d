"""What a terminal shows of an answer: one renderer for each sort, and the options that only choose a view."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from lamina.doors.cli.answer_view import RecallView, heard, recollection, related_lines
from lamina.doors.cli.exits import Failure, refusal_of
from lamina.doors.cli.output import Output, hide_password
from lamina.doors.cli.person_view import PERSON
from lamina.doors.cli.plain_view import plain_lines, policies_once
from lamina.doors.cli.render_governance import GOVERNANCE
from lamina.doors.cli.view import CliView, Renderer, Shown, when, worded
from lamina.doors.search_body import search_body
from lamina.errors import InvalidInput
from lamina.late import late
from lamina.model import (
    Context,
    Delta,
    Effective,
    Explanation,
    HistoryEntry,
    Memory,
    Outcome,
    Phase,
    Receipt,
    State,
    Verdict,
    canonical,
    plain,
)
from lamina.operations.operation import Field
from lamina.records import dataclass

with late():
    from lamina.jobs import decision_list
    from lamina.layers import writing

if TYPE_CHECKING:
    from lamina.documents.results import LibraryStatus, SearchResults
    from lamina.imports.bring_in import Report
    from lamina.jobs.decided import Kept
    from lamina.jobs.decision_list import DecisionList
    from lamina.jobs.job import JobReport
    from lamina.jobs.run import JobLine
    from lamina.layers.layers import Learned
    from lamina.layers.relations import Graph
    from lamina.lifecycle.consent import Proposal
    from lamina.lifecycle.erase import EraseReceipt
    from lamina.lifecycle.export import Exported
    from lamina.lifecycle.purge import PurgeReceipt
    from lamina.model import TraceEvent
    from lamina.operations.upkeep import MadeToken, TokenLine
    from lamina.policy.phases import PhaseDiff
    from lamina.read.list import Page
    from lamina.read.query import Queried
    from lamina.read.stats import Stats
    from lamina.read.status import StoreStatus
    from lamina.retrieval.meaning import Meaning
    from lamina.storage.small_tables import Session
    from lamina.text.accounts import Episode, Procedure
    from lamina.text.decision_entries import Decision

_SHOWN = 10
_STATUS_COLOUR = {"active": "green", "doubtful": "yellow", "superseded": "yellow", "archived": "dim"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextView:
    """How a block is shown."""

    explain: Annotated[bool, Field("Say how many tokens each part takes.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceView:
    """How events are shown."""

    plain: Annotated[bool, Field("One `key: value` a line.")] = False


#: Options of the command line that only choose a view, by operation.
VIEWS: Mapping[str, type] = {"recall": RecallView, "context": ContextView, "trace": TraceView}


def receipt(_: CliView, answer: Receipt) -> Shown:
    """What became of a change."""
    if answer.decision is Outcome.DENIED:
        return Shown(data=answer, failure=refusal_of(answer))
    notes = [one for one in answer.warnings if one != answer.acknowledgement]
    lines = [line for line in (answer.acknowledgement, *answer.ids) if line]
    return Shown(data=answer, lines=lines, notes=notes)


def receipts(view: CliView, answers: list[Receipt]) -> Shown:
    """What became of several; one speaks for itself."""
    if len(answers) == 1:
        return receipt(view, answers[0])
    shown = [receipt(view, one) for one in answers]
    failed = next((one.failure for one in shown if one.failure is not None), None)
    lines = [line for one in shown for line in one.lines]
    return Shown(data={"items": answers}, lines=lines, failure=failed)


def rejected(view: CliView, answers: list[Receipt]) -> Shown:
    """What became of a no, which has no words of its own in a receipt."""
    shown = receipts(view, answers)
    return replace(shown, lines=["Rejected. You will not be asked about this again.", *shown.lines])


def learned(view: CliView, answer: Learned) -> Shown:
    """What became of a lesson, and what it may contradict."""
    made, out = receipt(view, answer.receipt), view.out
    notes = list(made.notes)
    if answer.suggested is not None:
        notes.append(f"Its wording speaks for the layer {answer.suggested}.")
    if answer.warning is not None:
        notes.append(f"It may contradict {answer.warning.id}: {out.text(answer.warning.text)}")
    if answer.file:
        notes.append(f"Written to {out.text(answer.file)}.")
    return Shown(data=made.data, lines=made.lines, notes=notes, failure=made.failure)


def explanation(view: CliView, answer: Explanation) -> Shown:
    """Why a memory is there."""
    memory, out = answer.memory, view.out
    words = out.text(worded(memory.key, memory.text))
    return Shown(data=answer, lines=[out.style(words, "bold"), *map(out.text, answer.lines)])


def verdict(view: CliView, answer: Verdict) -> Shown:
    """Why something happened, or did not."""
    out = view.out
    return Shown(
        data=answer, lines=[out.style(out.text(answer.subject), "bold"), *map(out.text, answer.lines)]
    )


def memory(view: CliView, answer: Memory) -> Shown:
    """One memory with what decides how it is used."""
    rows = [
        (name, view.out.text(str(value)))
        for name, value in plain(answer).items()
        if value not in (None, [], {}) and name not in ("provenance", "meta")
    ]
    return Shown(data=answer, lines=view.out.table(rows))


def page(view: CliView, answer: Page) -> Shown:
    """Everything, a page at a time, with what there is of what before the first."""
    data = {name: value for name, value in plain(answer).items() if value is not None}
    return Shown(data=data, lines=_page(view.out, answer))


def _page(out: Output, found: Page) -> Iterator[str]:
    if found.facets is not None:
        yield out.style(f"{found.total} memories", "bold")
        for name, counts in found.facets.items():
            if some := ", ".join(f"{out.text(one)} {count}" for one, count in [*counts.items()][:_SHOWN]):
                yield out.style(f"  {name}: {some}", "dim")
    for one in found.items:
        words = out.text(worded(one.key, one.text), "  ")
        state = "" if one.state is State.ACTIVE else f"  {one.state}"
        yield f"{words}\n  {out.style(f'{when(one.created_at)}  {one.kind}  {one.id}{state}', 'dim')}"
    if found.cursor is not None:
        yield f"More: add --cursor {found.cursor}"


def history(view: CliView, steps: tuple[HistoryEntry, ...]) -> Shown:
    """The life of a memory."""
    data = {"id": view.request.memory_id, "history": steps}
    return Shown(data=data, lines=(_step(view.out, step) for step in steps))


def _step(out: Output, step: HistoryEntry) -> str:
    words = " -> ".join(out.text(text, "  ") for text in (step.old_text, step.new_text) if text is not None)
    code = ":".join(str(step.decision[one]) for one in ("code", "channel") if one in step.decision)
    head = f"{when(step.at)}  {step.op}  revision {step.revision}  {step.actor} ({step.via})  {code}"
    return f"{out.style(head, 'dim')}\n  {words}"


def trace(view: CliView, events: tuple[TraceEvent, ...]) -> Shown:
    """The newest events."""
    if not view.options["plain"]:
        return Shown(data={"events": events}, lines=(_event(view.out, one) for one in events))
    if view.out.json:
        raise InvalidInput("--plain and --json ask for two forms at once.", hint="Choose one of them.")
    return Shown(data=None, lines=map(view.out.text, plain_lines({"events": policies_once(plain(events))})))


def _event(out: Output, event: TraceEvent) -> str:
    return f"{event.seq}  {when(event.at)}  {event.type}  {out.text(_gist(event.data))}"


def _gist(data: dict[str, Any]) -> str:
    """What an event is about, in a few words."""
    if written := data.get("written"):
        return "; ".join(f"{one['id']}  {one['text']}" for one in written)
    names = ("query", "action", "from_id", "to_id", "memory_id", "winner_id", "rule", "phase_id", "reason")
    parts = (data.get(name) for name in names)
    return "  ".join(str(part) for part in parts if part)


def values(view: CliView, answer: dict[str, Effective]) -> Shown:
    """The values in force."""
    return Shown(data={"values": answer}, lines=_resolved(view.out, answer))


def _resolved(out: Output, found: dict[str, Effective]) -> Iterator[str]:
    if not found:
        yield out.style("There is no value for that.", "dim")
    for key, one in found.items():
        yield f"{key}: {out.text(one.value)}  {out.style(f'({one.provenance.scope})', 'dim')}"
        for hidden in one.shadows:
            yield out.style(f"  hides the {hidden.scope}'s: {out.text(hidden.value)}", "dim")


def context(view: CliView, answer: Context) -> Shown:
    """The block for a prompt."""
    lines = [answer.text] if answer.text else []
    if view.options["explain"]:
        lines += [f"{name}: {tokens} tokens" for name, tokens in answer.parts.items()]
        lines.append(f"in all: {answer.tokens} tokens, {answer.left_out} lines left out")
    return Shown(data=answer, lines=lines)


def queried(view: CliView, answer: Queried) -> Shown:
    """A few memories."""
    out = view.out
    lines = [] if answer.delta is None else [*delta(view, answer.delta).lines]
    lines += [f"- {out.text(one.text, '  ')}  {out.style(one.id, 'dim')}" for one in answer.bullets]
    lines += related_lines(out, [each for one in answer.bullets for each in one.related])
    return Shown(data=answer, lines=lines)


def delta(view: CliView, answer: Delta) -> Shown:
    """What changed."""
    lines = [*map(view.out.text, answer.text.splitlines()), f"cursor: {answer.cursor}"]
    return Shown(data=answer, lines=lines, notes=() if answer.changes else ("Nothing changed.",))


def stats(view: CliView, answer: Stats) -> Shown:
    """What was done, counted."""
    return Shown(data=answer, lines=_counted(view.out, answer))


def _counted(out: Output, found: Stats) -> Iterator[str]:
    if found.counts:
        rows = [(when(one.since), one.node, one.op, one.status, str(one.count)) for one in found.counts]
        yield from out.table(rows)
    yield (
        f"{found.turns} turns, {found.turns_with_query} of them with memory asked on demand"
        f" ({found.query_share:.0%})."
    )
    for rate in writing.rates(found.counts):
        yield f"{rate.written} of the kind {rate.kind} written, {rate.share:.0%} of them right at once."
    for category, states in found.memories.items():
        told = ", ".join(f"{count} {state}" for state, count in states.items())
        yield f"{out.text(category)}: {told}"


def graph(view: CliView, answer: Graph) -> Shown:
    """What is linked."""
    notes = () if answer.edges else ("Nothing is linked here.",)
    return Shown(data=answer, lines=_edges(view.out, answer), notes=notes)


def _edges(out: Output, found: Graph) -> Iterator[str]:
    texts = {one.id: one.text for one in found.nodes}
    for one in found.edges:
        how = "said" if one.explicit else "found"
        yield f"{one.from_id}  {out.text(texts[one.from_id])}"
        yield f"  {one.type} {one.strength:.2f}, {how}: {one.to_id}  {out.text(texts[one.to_id])}"


def session(view: CliView, answer: Session | None) -> Shown:
    """How a session stands."""
    if answer is None:
        return Shown(data=None, lines=["It has not been used yet."])
    ended = when(answer.ended_at) if answer.ended_at else "not yet"
    rows = [
        ("session", view.out.text(answer.name)),
        ("began", when(answer.started_at)),
        ("last used", when(answer.last_at)),
        ("ended", ended),
    ]
    return Shown(data=answer, lines=view.out.table(rows))


def proposals(view: CliView, answer: list[Proposal]) -> Shown:
    """What waits for the person's word."""
    notes = () if answer else ("Nothing waits.",)
    return Shown(data={"items": plain(answer)}, lines=_waiting(view.out, answer), notes=notes)


def _waiting(out: Output, found: list[Proposal]) -> Iterator[str]:
    for one in found:
        turns = f"{one.signals} turn{'' if one.signals == 1 else 's'}"
        left = f"{one.days_left} day{'' if one.days_left == 1 else 's'} left"
        when = left if one.status == "proposed" else one.status
        told = f"{one.care}, {one.confidence:.0%} sure, {turns}, by {out.text(one.proposed_by)}, {when}"
        yield f"{one.key} = {out.text(one.text)}  {out.style(told, 'dim')}"


def phase(view: CliView, answer: Phase) -> Shown:
    """One phase."""
    return Shown(data={"id": answer.id, **plain(answer)}, lines=[_phase(view.out, answer)])


def phases(view: CliView, answer: tuple[Phase, ...]) -> Shown:
    """Phases, oldest first."""
    rows = [{"id": one.id, **plain(one)} for one in answer]
    return Shown(data={"phases": rows}, lines=(_phase(view.out, one) for one in answer))


def _phase(out: Output, one: Phase) -> str:
    name = f"  {out.text(one.name)}" if one.name else ""
    return f"{one.id}{name}  {out.style(f'since {when(one.started_at)} ({out.text(one.reason)})', 'dim')}"


def phase_diff(_: CliView, answer: PhaseDiff) -> Shown:
    """What changed between two phases."""
    lines = [*answer.summary_lines, *(_change(change) for change in answer.top_changes)]
    return Shown(data={**plain(answer), "summary_lines": answer.summary_lines}, lines=lines)


def _change(change: dict[str, Any]) -> str:
    if change["change"] == "replaced":
        return f"  replaced  {change['from_id']} -> {change['to_id']}"
    return f"  {change['change']}  {change['memory_id']}"


def user_model(view: CliView, answer: dict[str, Any]) -> Shown:
    """What is known about a person."""
    rows = [
        (name, view.out.text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
        for name, value in answer.items()
    ]
    return Shown(data=answer, lines=view.out.table(rows))


def procedures(view: CliView, answer: list[Procedure]) -> Shown:
    """How things are done."""
    lines = [line for one in answer for line in (view.out.text(one.text), view.out.style(one.id, "dim"))]
    notes = () if answer else ("No procedure is known for that.",)
    return Shown(data={"items": [one.to_plain() for one in answer]}, lines=lines, notes=notes)


def procedure(view: CliView, answer: Procedure) -> Shown:
    """How often a procedure went well."""
    counts = f"{answer.success_count} times well, {answer.failure_count} times not"
    return Shown(data=answer.to_plain(), lines=[f"{view.out.text(answer.trigger)}: {counts}"])


def episodes(view: CliView, answer: list[Episode]) -> Shown:
    """What happened."""
    lines = [f"{one.at:%Y-%m-%d} {one.outcome}: {view.out.text(one.summary)}" for one in answer]
    notes = () if answer else ("Nothing like that is known to have happened.",)
    return Shown(data={"items": [one.to_plain() for one in answer]}, lines=lines, notes=notes)


def search(view: CliView, answer: SearchResults) -> Shown:
    """What was found, and where it stands."""
    notes = []
    if not answer.results:
        notes.append(f"Nothing was found in: {', '.join(answer.searched) or 'nothing'}.")
    elif "cold" in answer.searched:
        notes.append(f"Looked in: {', '.join(answer.searched)}.")
    if answer.partial:
        notes.append(f"There was no time for: {', '.join(answer.cut)}.")
    if answer.stale:
        notes.append(f"{answer.warning} Run `{answer.action}`.")
    return Shown(data=search_body(answer), lines=_results(view.out, answer), notes=notes)


def _results(out: Output, found: SearchResults) -> Iterator[str]:
    for number, one in enumerate(found.results, 1):
        head = f"{number}. "
        indent = " " * len(head)
        yield f"{head}{out.text(one.snippet, indent)}"
        where = one.citation or (one.id if one.source == "memory" else "")
        parts = (where, one.date or "", one.status or "", f"uncertainty: {one.uncertainty} ({one.why})")
        yield indent + out.style("  ".join(out.text(part) for part in parts if part), "dim")


def decisions(view: CliView, answer: DecisionList) -> Shown:
    """What was decided."""
    return Shown(data=answer, lines=_decisions(view.out, answer))


def _decisions(out: Output, found: DecisionList) -> Iterator[str]:
    for kept in found.decisions:
        one = kept.decision
        status = decision_list.standing(one)
        yield f"{out.style(status, _STATUS_COLOUR[status])} {one.date[:10]} {out.text(one.title)}"
        yield f"  {out.text(one.id)}  {out.text(kept.path)}:{one.line}"
    if not found.decisions:
        yield "No decisions."
    for flaw in found.problems:
        place = out.style(f"{out.text(flaw.path)}:{flaw.line}:", "yellow")
        yield f"{place} {out.text(flaw.message)} {out.text(flaw.hint)}"


def decision(view: CliView, answer: Kept) -> Shown:
    """One decision with everything that is known of it."""
    one, out = answer.decision, view.out
    told = {
        "id": one.id,
        "date": one.date,
        "status": one.status.value,
        "confidence": f"{one.confidence:g}",
        "conclusion": one.conclusion,
        "why": one.why,
        "finding": one.finding,
        "impact": one.impact,
        "source": f"{one.session_path} {one.message_range}",
        "file": f"{answer.path}:{one.line}",
        "supersedes": ", ".join(one.supersedes),
        "may change": ", ".join(one.doubts),
        "doubted by": one.doubted_by,
        "superseded by": one.superseded_by,
        "superseded at": one.superseded_at,
        "because": one.superseded_because,
        "refs": ", ".join(one.refs),
        **dict(one.extra),
    }
    rows = [(out.text(name), out.text(text)) for name, text in told.items() if text]
    return Shown(data=answer, lines=[out.text(one.title), *out.table(rows)])


def superseded(view: CliView, answer: Decision) -> Shown:
    """Which decision counts now."""
    old, new = (view.out.text(one) for one in (answer.id, answer.superseded_by))
    return Shown(data=answer, lines=[f"{old} is superseded by {new}."])


def purged(view: CliView, answer: tuple[PurgeReceipt, ...] | PurgeReceipt) -> Shown:
    """What is left of a memory in every place, which should be nothing."""
    found = answer if isinstance(answer, tuple) else (answer,)
    left = [one.memory_id for one in found if not one.clean]
    lines = [line for one in found for line in _purge_receipt(view.out, one)]
    message = f"Something of {', '.join(left)} was found."
    failure = Failure(code="purge_incomplete", message=message, hint="Purge it again.") if left else None
    notes = () if found else ("Nothing is due.",)
    return Shown(data={"receipts": found}, lines=lines, notes=notes, failure=failure)


def _purge_receipt(out: Output, one: PurgeReceipt) -> Iterator[str]:
    yield out.style(f"{one.memory_id}  purged {when(one.at)} by {one.actor}", "bold")
    yield from out.table([(f"  {place}", f"{count} left") for place, count in one.found.items()])
    if one.same_words:
        yield f"  The same words stand in {', '.join(one.same_words)}: purge those too if they are to go."
        yield "  (for one of a session: lamina --session NAME purge ID --now)"
    for folder in one.exports:
        yield f"  An export has it: {out.text(folder)} (--exports removes it)"


def exported(view: CliView, answer: Exported) -> Shown:
    """Where an export lies."""
    rows = [(name.replace("_", " "), str(count)) for name, count in sorted(answer.counts.items())]
    rows += [(f"left out: {name}", str(count)) for name, count in sorted(answer.left_out.items())]
    return Shown(data=answer, lines=[answer.folder, *view.out.table(rows)])


def erased(view: CliView, answer: EraseReceipt) -> Shown:
    """What is left of a person, which should be nothing."""
    user = view.request.user
    rows = [
        (f"  {place}", f"{count} erased", f"{answer.found.get(place, 0)} left")
        for place, count in sorted(answer.erased.items())
    ]
    lines = [view.out.style(f"{user}  erased {when(answer.at)}", "bold"), *view.out.table(rows)]
    if answer.shared:
        lines.append(f"  {answer.shared} memories that they said for a project stay there.")
    message = f"Something of {user} was found again."
    left = Failure(code="purge_incomplete", message=message, hint="Erase again.")
    return Shown(data=answer, lines=lines, failure=None if answer.clean else left)


def imported(_: CliView, answer: Report) -> Shown:
    """What came in."""
    notes = [
        f"{one.path}:{one.line}: {one.reason}" if one.line else f"{one.path}: {one.reason}"
        for one in answer.problems
    ]
    return Shown(data=answer, lines=_imported(answer), notes=notes)


def _imported(report: Report) -> Iterator[str]:
    files = _counts(report.files) or "none"
    yield f"files: {files}" + (f"; {report.unchanged} unchanged" if report.unchanged else "")
    new = "would be new" if report.dry_run else "new"
    yield f"{report.read} read: {report.new} {new}, {report.known} known"
    if report.held:
        wait = "would wait" if report.dry_run else "wait"
        yield f"{report.held} {wait} for your yes or no: `lamina review`"
    if report.skipped:
        yield f"not taken: {_counts(report.skipped)}"
    if report.skipped["other_user"]:
        yield "The file is of several people; `--user NAME` takes what is NAME's."
    if report.refused:
        yield f"refused: {_counts(report.refused)} (`lamina explain CODE` says why)"
    if report.new and not report.dry_run:
        yield "`lamina recall QUESTION` finds it now."


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def made_token(_: CliView, answer: MadeToken) -> Shown:
    """The text of a token, this once."""
    return Shown(data=answer, lines=[answer.text], notes=["Keep this now; it is not shown again."])


def tokens(view: CliView, answer: list[TokenLine]) -> Shown:
    """Every token and its state."""
    rows = [("id", "label", "for", "agent", "role", "rights", "state")]
    for one in answer:
        at = one.revoked_at or one.expires_at
        until = " until" if one.state == "live" else ""
        state = one.state if at is None else f"{one.state}{until} {when(at)}"
        people = ",".join([*([one.user] if one.user else []), *one.acts_for])
        rows.append(
            (one.id, one.label, people or "-", one.agent or "-", one.role, ",".join(one.rights), state)
        )
    return Shown(data={"tokens": answer}, lines=view.out.table(rows))


def jobs(view: CliView, answer: list[JobLine]) -> Shown:
    """Every job."""
    return Shown(data={"jobs": answer}, lines=_jobs(view.out, answer))


def _jobs(out: Output, found: list[JobLine]) -> Iterator[str]:
    rows = [
        (
            line.job,
            line.state,
            "" if line.next_at is None else f"next {line.next_at:%Y-%m-%d %H:%M} UTC",
            line.summary,
        )
        for line in found
    ]
    yield from out.table([[out.text(cell) for cell in row] for row in rows])
    for line in found:
        for problem in line.problems:
            yield f"{out.style(line.job, 'yellow')}: {out.text(problem)}"


def job_report(view: CliView, answer: JobReport) -> Shown:
    """What a job did."""
    failed = answer.status.value in ("failed", "dead")
    hint = "`lamina job list` says what comes next."
    failure = Failure(code=answer.code, message=answer.notes[-1], hint=hint) if failed else None
    return Shown(data=answer, lines=_job_lines(view, answer), failure=failure)


def _job_lines(view: CliView, report: JobReport) -> Iterator[str]:
    yield f"{report.job}: {report.status}" + (", if this were not a dry run" if view.request.dry_run else "")
    for line in (*report.changes, *report.notes):
        yield f"  {view.out.text(line)}"
    if report.diff:
        yield from (view.out.text(line) for line in report.diff.split("\n"))


def policy(view: CliView, answer: Mapping[str, Any]) -> Shown:
    """The policy in force, a fact a line."""
    return Shown(data=answer, lines=map(view.out.text, plain_lines(plain(answer))))


def status(view: CliView, answer: StoreStatus) -> Shown:
    """The store in figures."""
    return Shown(data=answer, lines=_figures(view.out, answer))


def _figures(out: Output, found: StoreStatus) -> Iterator[str]:
    counts = ", ".join(f"{count} {state}" for state, count in found.memories.items())
    yield from out.table(
        [
            ("workspace", found.workspace or "none"),
            ("store", f"{hide_password(found.store)} ({found.bytes / 1024:,.0f} KiB)"),
            ("tenant", found.tenant),
            ("memories", f"{counts} (what was said in conversations included)" if counts else "none yet"),
            ("kept for", f"{found.shelves} people, sessions and projects"),
            ("audit", f"{found.audit_records} records"),
            ("files", f"{found.pending_operations} changes wait to be written"),
            ("jobs", f"failed for good: {', '.join(found.dead_jobs)}" if found.dead_jobs else "none failed"),
            ("analyser", f"version {found.analyser}"),
            ("meaning", meaning_line(found.meaning)),
        ]
    )
    if found.documents is not None:
        yield from library_lines(out, found.documents)
    for problem in found.problems:
        place = out.style(f"{problem.file}:{problem.line}:", "yellow")
        yield f"{place} {out.text(problem.message)} {out.text(problem.hint)}".rstrip()


def library_lines(out: Output, found: LibraryStatus) -> Iterator[str]:
    """The disk and the index in a few lines, and what somebody should look at."""
    tiers = ", ".join(f"{count} {tier}" for tier, count in found.documents.items()) or "none"
    yield f"documents: {tiers}; {found.passages} passages of {found.files} files"
    if found.dirty:
        yield f"behind: {found.dirty} files changed and are not indexed yet"
    if found.weekly_job:
        yield "waiting: the weekly job is at work"
    if found.is_paused:
        yield (
            f"paused: {found.gone} documents are gone at once and are not shown;"
            " `lamina index --yes` drops them"
        )
    if found.hidden:
        yield f"kept out: what looks like a secret in {', '.join(found.hidden[:_SHOWN])}"
    for path, why in sorted(found.skipped.items())[:_SHOWN]:
        yield f"skipped: {out.text(path)}: {out.text(why)}"
    for note in found.notes:
        yield f"note: {out.text(note)}"


def meaning_line(found: Meaning) -> str:
    """Whether search by meaning is on, and what it lacks."""
    waiting = f", {found.missing} of {found.texts} texts wait for a vector" if found.missing else ""
    meanwhile = f"; meanwhile {found.meanwhile} answers" if found.meanwhile else ""
    return f"{found.problem or f'{found.embedder}{waiting}'}{meanwhile}"


#: How the answer of an operation is shown, by the operation's name.
RENDERERS: Mapping[str, Renderer] = {
    "learn": learned,
    "recall": recollection,
    "explain": explanation,
    "get": memory,
    "list": page,
    "history": history,
    "trace": trace,
    "hear": heard,
    "resolve": values,
    "context": context,
    "query": queried,
    "changes": delta,
    "stats": stats,
    "relations": graph,
    "link": lambda _, made: Shown(data=made, lines=[f"{made.from_id} {made.type} {made.to_id}"]),
    "unlink": lambda _, gone: Shown(data=gone, lines=["They are no longer linked."]),
    "start_session": lambda view, made: Shown(
        data=made, lines=[f"SESSION.md is about {view.out.text(made.name)} now."]
    ),
    "end_session": lambda _, count: Shown(
        data={"cleared": count},
        lines=[f"The session is over; {count} entries went with it." if count else "The session is over."],
    ),
    "session": session,
    "compact": lambda _, count: Shown(
        data={"removed": count}, lines=[f"{count} entries were past their time or written twice."]
    ),
    "pending": proposals,
    "ask_what_waits": lambda view, asked: Shown(
        data=asked, lines=[view.out.text(asked or "Nothing waits for you.")]
    ),
    "confirm": receipts,
    "reject": rejected,
    "start_phase": phase,
    "phases": phases,
    "phase_diff": phase_diff,
    "user_model": user_model,
    "update_user_model": receipts,
    "remove_from_user_model": receipts,
    "reset_user_model": lambda _, count: Shown(
        data={"removed": count}, lines=[f"{count} values were forgotten."]
    ),
    "find_procedures": procedures,
    "used_procedure": procedure,
    "find_episodes": episodes,
    "search": search,
    "lines": lambda view, found: Shown(data=search_body(found), lines=[view.out.text(found.text)]),
    "decisions": decisions,
    "decision": decision,
    "supersede_decision": superseded,
    "purge": purged,
    "verify_purge": purged,
    "export": exported,
    "erase": erased,
    "bring_in": imported,
    "new_token": made_token,
    "tokens": tokens,
    "end_token": lambda view, _: Shown(data={"id": view.request.token_id}, lines=["Revoked."]),
    "jobs": jobs,
    "run_job": job_report,
    "policy": policy,
    "accept_policy": lambda _, made: Shown(
        data={"entries": made.policy_entry_count, "digest": made.digest},
        lines=[f"{made.policy_entry_count} entries are used from now on."],
    ),
    "allow": lambda view, _: Shown(
        data={"allowed": view.request.fingerprints}, lines=["It passes from now on, for this user."]
    ),
    "export_proof": lambda view, proof: Shown(data=proof, lines=[view.out.text(canonical(proof))]),
    "status": status,
    **GOVERNANCE,
    **PERSON,
}


def shown(name: str, view: CliView, answer: Any) -> Shown:
    """The answer of an operation; what has no renderer of its own is a receipt, a verdict, or JSON."""
    if (own := RENDERERS.get(name)) is not None:
        return own(view, answer)
    if isinstance(answer, Receipt):
        return receipt(view, answer)
    if isinstance(answer, Verdict):
        return verdict(view, answer)
    text = json.dumps(plain(answer), ensure_ascii=False, indent=2)
    return Shown(data=answer, lines=map(view.out.text, text.splitlines()))
