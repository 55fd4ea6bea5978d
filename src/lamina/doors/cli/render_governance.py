"""How a terminal shows the audit, noes, what was undone, proofs, and the receipt of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lamina.doors.cli.exits import Failure
from lamina.doors.cli.output import Output
from lamina.doors.cli.view import CliView, Renderer, Shown, when
from lamina.model import plain

if TYPE_CHECKING:
    from lamina.lifecycle.prove import Proof
    from lamina.lifecycle.undo import Undone
    from lamina.model import AuditReport
    from lamina.read.answered import AnswerReceipt
    from lamina.storage.refusals import Refusal

_SHOWN = 20


def undone(view: CliView, answer: Undone) -> Shown:
    """What went, or would."""

    def lines() -> Iterator[str]:
        would, name = "would " if answer.dry_run else "", view.out.text(answer.name)
        many = f"{len(answer.memories)} {'memory' if len(answer.memories) == 1 else 'memories'}"
        yield f"{answer.by} {name}: {many} {would}go{', for good' if answer.for_good else ''}"
        yield from (f"  {one}" for one in _some(answer.memories))
        if answer.restored:
            yield f"{len(answer.restored)} {would}come back, because they had been replaced"
            yield from (f"  {one}" for one in _some(answer.restored))
        if answer.pending:
            yield f"{len(answer.pending)} guesses {would}wait no longer"
        for code, count in (answer.refused or {}).items():
            yield f"not undone: {count} ({code})"

    return Shown(data=answer, lines=lines())


def _some(ids: Sequence[str]) -> list[str]:
    more = [f"and {len(ids) - _SHOWN} more"] if len(ids) > _SHOWN else []
    return [*ids[:_SHOWN], *more]


def noes(view: CliView, answer: list[Refusal]) -> Shown:
    """What a person said no to."""
    lines = [_no(view, one) for one in answer] or ["You said no to nothing so far."]
    return Shown(data={"items": answer}, lines=lines)


def _no(view: CliView, one: Refusal) -> str:
    tried = f"; {one.tries} tried to bring it back, {view.out.text(one.tried_by)} last" if one.tries else ""
    over = f"; lifted by {view.out.text(one.lifted_by or '')}" if one.lifted_at else ""
    return f"no {one.number}: {one.cause} {when(one.at)}, {one.source}{tried}{over}"


def proof(_: CliView, answer: Proof) -> Shown:
    """The ways back, a line each."""

    def lines() -> Iterator[str]:
        told: dict[str, list[str]] = {}
        for one in answer.ways:
            told.setdefault(f"{one.result:8} {one.who} ({one.code}): ", []).append(one.way)
        yield from (head + ", ".join(ways) for head, ways in told.items())
        yield from (f"{active} says it now." for active in answer.active)
        if answer.note:
            yield answer.note
        yield (
            "You said no to it, and that counts."
            if answer.standing
            else "You never said no to this, or took it back."
        )
        if answer.forgotten:
            yield f"It stays forgotten: {len(answer.ways)} ways back were tried, and none works."

    back = sum(one.result == "back" for one in answer.ways)
    said = f"It is not forgotten: {back} of {len(answer.ways)} ways back work."
    failed = None if answer.forgotten else Failure("not_forgotten", said, "`lamina forget ID` takes it out.")
    return Shown(data=answer, lines=lines(), failure=failed)


def answered(view: CliView, answer: AnswerReceipt) -> Shown:
    """What one answer was made of."""
    return Shown(data=answer, lines=_receipt(view, answer))


def _receipt(view: CliView, answer: AnswerReceipt) -> Iterator[str]:
    yield f"{answer.id}  {when(answer.at)}  {answer.op} for {view.out.text(answer.actor)}"
    yield f"asked: {view.out.text(answer.question)}"
    yield f"shown: {len(answer.shown)}"
    yield from (f"  {view.out.text(one)}" for one in answer.shown)
    if answer.left_out:
        yield f"found and left out: {len(answer.left_out)}"
        yield from (f"  {view.out.text(one)}: {why}" for one, why in [*answer.left_out.items()][:_SHOWN])
    yield f"policy: {answer.policy}"
    yield f"digest: {answer.digest}"
    if answer.replay:
        yield f"asked again: {answer.replay}"


def accesses(view: CliView, answer: list[AnswerReceipt]) -> Shown:
    """Who was told of a memory."""
    wanted = view.request.memory_id
    lines = [
        f"{one.id}  {when(one.at)}  {one.op} for {view.out.text(one.actor)}: "
        f"{'shown' if wanted in one.shown else 'left out'}"
        for one in answer
    ]
    return Shown(data={"items": answer}, lines=lines or ["No answer that is kept names it."])


_CHANGED = (
    "Somebody or something changed what was recorded; everything still answers. Compare with a backup"
    " (`lamina restore-backup`), or accept the store as it is: `lamina audit reseal`."
)
_FILES_CHANGED = (
    "The store is as it was sealed; files beside it were changed. `lamina doctor --fix` writes them again."
)


def audit(view: CliView, answer: AuditReport) -> Shown:
    """Whether the log of every change is whole."""
    data = plain(answer) | {"intact": answer.intact}
    mark = view.out.style("note", "yellow")
    told = [f"{mark} {one.seq}: {view.out.text(one.detail)}" for one in answer.notes]
    if answer.intact:
        whole = f"The audit is intact: {answer.records} records."
        if answer.proof is not None:
            steps, mark = len(answer.proof["steps"]), answer.proof["mark"]
            whole += f"\nThe story of {answer.proof['memory_id']} holds: {steps} steps; its mark is {mark}."
        return Shown(data=data, lines=[*map(view.out.text, whole.split("\n")), *told])
    failure = Failure(
        code="audit_findings",
        message=f"The audit has {len(answer.findings)} findings in {answer.records} records.",
        hint=_FILES_CHANGED if answer.is_only_of_files else _CHANGED,
    )
    return Shown(data=data, lines=[*_findings(view.out, answer), *told], failure=failure)


def _findings(out: Output, report: AuditReport) -> Iterator[str]:
    for finding in report.findings:
        place = "" if finding.seq is None else f" {finding.seq}"
        yield f"{out.style(finding.what, 'red')}{place}: {out.text(finding.detail)}"


GOVERNANCE: Mapping[str, Renderer] = {
    "verify_audit": audit,
    "undo": undone,
    "noes": noes,
    "prove_forgotten": proof,
    "receipt": answered,
    "answers_with": accesses,
}
