"""How a terminal shows what was found for a question, and what became of a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from lamina.documents.settings import Citations
from lamina.doors.cli.exits import DENIED, Failure, refusal_of
from lamina.doors.cli.view import CliView, Shown, worded
from lamina.late import late
from lamina.model import Heard, Hit, Outcome, Receipt, Recollection, Related
from lamina.operations.operation import Field
from lamina.records import dataclass

with late():
    from lamina.language import acknowledge
    from lamina.text import normalise

if TYPE_CHECKING:
    from lamina.doors.cli.output import Output

#: How sure a hit is, by its uncertainty.
_SURE = {"low": "likely", "medium": "perhaps", "high": "unsure"}
#: Where nothing is sure, so many are shown at most, and none that is half as near as the nearest.
_NEAREST, _HALF = 3, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallView:
    """How hits are shown."""

    all: Annotated[bool, Field("Show also what hardly answers the question.")] = False
    explain: Annotated[bool, Field("Say why each hit is there.")] = False
    citations: Annotated[
        Citations, Field("Name the lines of documents (auto, on), or only their ids (off).")
    ] = Citations.AUTO


def recollection(view: CliView, answer: Recollection) -> Shown:
    """Hits that may answer, best first; where none is sure, the nearest."""
    notes = () if answer.hits else ("Nothing was found for that.",)
    if answer.hits and all(hit.uncertainty == "high" for hit in answer):
        notes = ("Nothing is sure to answer that; this comes nearest.",)
    return Shown(data=answer, lines=_recollected(view, answer), notes=notes)


def _recollected(view: CliView, found: Recollection) -> Iterator[str]:
    cited = view.options["citations"] is not Citations.OFF
    hits = found.hits if view.options["all"] else may_answer(found.hits)
    for number, hit in enumerate(hits, 1):
        yield from _hit(view.out, number, hit, view.options["explain"], cited=cited)
    if others := len(found.hits) - len(hits):
        yield view.out.style(
            f"Not shown: {others} (weaker, or the same again). --all shows everything.", "dim"
        )
    if found.left_out:
        yield view.out.style(f"{found.left_out} more did not fit the budget.", "dim")
    yield from related_lines(view.out, found.related)


def may_answer(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The hits that a person wants to read, each wording once."""
    once: dict[str, Hit] = {}
    for hit in hits:
        once.setdefault(hit.text, hit)
    if sure := [hit for hit in once.values() if hit.uncertainty != "high"]:
        return sure
    least = _HALF * max((hit.confidence for hit in hits), default=0.0)
    return [hit for hit in once.values() if hit.confidence >= least][:_NEAREST]


def related_lines(out: Output, related: Sequence[Related]) -> Iterator[str]:
    """What is linked to an answer, as `recall` and `query` show it."""
    for one in related:
        yield f"~ {out.text(one.text, '  ')}  {out.style(f'{one.id}  {one.type} {one.to}', 'dim')}"


def _hit(out: Output, number: int, hit: Hit, explain: bool, *, cited: bool) -> Iterator[str]:
    head = f"{number}. "
    indent = " " * len(head)
    yield f"{head}{out.text(worded(hit.key, hit.text), indent)}"
    lines = f"{hit.source.path}#L{hit.source.start_line}-L{hit.source.end_line}"
    place = lines if cited and hit.source.start_line else hit.id
    said = f"{place}  {hit.at:%Y-%m-%d}  {hit.source.status or hit.kind}"
    yield indent + out.style(f"{said}  {_SURE[hit.uncertainty]} ({hit.confidence:.0%})", "dim")
    if explain:
        ranks = ", ".join(f"{name} {rank}" for name, rank in hit.ranks.items())
        where = hit.source.path or f"{hit.source.actor} through {hit.source.via}"
        yield f"{indent}why: {'; '.join(hit.reasons)} (rank: {ranks}; score {hit.score:.4f}); from {where}"
        found = ", ".join(f"{name} {value:.4f}" for name, value in hit.scores.items())
        changed = ", ".join(f"{name} {value:.4f}" for name, value in hit.adjustments.items())
        yield f"{indent}scores: {found}; adjusted: {changed or 'nothing'}"


def heard(view: CliView, answer: Heard) -> Shown:
    """What became of a turn."""
    kept = [one for each in answer.receipts for one in each.ids if ":short_term:" not in one]
    said = answer.acknowledgement
    if not said and kept and all(one.startswith("session:") for one in kept):
        said = acknowledge.acknowledge("for_now", normalise.language_of(view.request.text))
    lines = [said] if said else []
    for part in answer.understood:
        lines.append(f"{part.outcome}: {view.out.text(part.would or part.text)}")
        lines.append(view.out.style(f"  {part.sort}: {view.out.text(part.why)}", "dim"))
    for one in answer.receipts:
        # That the turn itself is kept, or is passing talk beside what was kept, goes unsaid.
        if one.ids and not all(":short_term:" in each for each in one.ids):
            waits = "waits for your yes: " if one.decision is Outcome.HELD else ""
            lines.append(view.out.style(waits + ", ".join(one.ids), "dim"))
    denied = [one for one in answer.receipts if one.decision is Outcome.DENIED]
    if denied and not lines:
        lines.append(view.out.style(_not_kept(view, denied[0]), "dim"))
    return Shown(data=answer, lines=lines, failure=_undone(answer))


def _not_kept(view: CliView, denied: Receipt) -> str:
    """Why nothing of a message is kept: ordinary talk in its own language, anything else by its reason."""
    if denied.code == "write_policy_context":
        return acknowledge.acknowledge("passing", normalise.language_of(view.request.text))
    why = refusal_of(denied)
    return f"{why.message}{'' if why.message.endswith('。') else ' '}{why.hint}".rstrip()


def _undone(answer: Heard) -> Failure | None:
    """The first command that was refused or asked back: then what was said was not done, or not all of it."""
    refused = [one for one in answer.receipts[: answer.asked] if one.decision is Outcome.DENIED]
    if not refused:
        return None
    why, *hints = refused[0].warnings or ("Nothing was changed.",)
    said = bool(answer.acknowledgement)
    return Failure(refused[0].code, why, " ".join(hints), DENIED, said)
