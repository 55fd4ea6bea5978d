"""What a terminal shows of the answers to a person who looks after their memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lamina.doors.cli.view import CliView, Renderer, Shown, when, worded

if TYPE_CHECKING:
    from lamina.doors.cli.output import Output
    from lamina.layers.would_keep import WouldKeep
    from lamina.lifecycle.review import Review
    from lamina.read.difference import Difference
    from lamina.read.profile import Profile
    from lamina.read.records import AuditPage
    from lamina.read.tree import DocumentTree

_TITLES = {
    "person": "About you",
    "answers": "How you like answers",
    "limits": "What must be respected",
    "likes": "What you like",
    "decided": "What was decided",
    "ways": "How things are done",
    "facts": "Facts",
    "lately": "What happened recently",
}


def me(view: CliView, answer: Profile) -> Shown:
    """What is known about somebody, group by group."""
    return Shown(data=answer, lines=_me(view.out, answer))


def _me(out: Output, found: Profile) -> Iterator[str]:
    if not found.groups:
        yield 'Nothing is known about you yet. Try: lamina remember "I prefer short answers"'
    for group in found.groups:
        yield out.style(_TITLES[group.name], "bold")
        for one in group.items:
            words = out.text(worded(one.key, one.text), "    ")
            yield f"  {words}  {out.style(one.id, 'dim')}"
        if group.more:
            yield out.style(f"  and {group.more} more", "dim")
    if found.waiting:
        yield f"Waiting for your yes or no: {found.waiting} (lamina review)"


def review(view: CliView, answer: Review) -> Shown:
    """What waits, and what to type for a yes or a no."""
    return Shown(data=answer, lines=_review(view.out, answer))


def _review(out: Output, found: Review) -> Iterator[str]:
    if not found.items:
        yield "Nothing waits for you."
    for one in found.items:
        words = out.text(worded(one.key, one.text), "  ")
        yield f"{out.style(one.sort, 'bold')}  {words}"
        if one.other_text:
            yield f"  known: {out.text(one.other_text, '  ')}  {out.style(one.other_id, 'dim')}"
        left = "" if one.days_left is None else f", {one.days_left} days left"
        yield out.style(f"  {out.text(one.by)}, {when(one.at)}{left}  {out.text(one.why)}", "dim")
        if one.key:
            yield f"  lamina pending confirm {one.key}    lamina pending reject {one.key}"
        elif one.sort == "double":
            yield f"  lamina merge {one.other_id} {one.id}"
        else:
            yield f"  lamina forget {one.other_id}"
            yield f"  lamina relations link {one.other_id} {one.id} --type distinct"
    for no in found.refused:
        said = f"{no.tries} times somebody tried to bring back what you said no to, {no.tried_by} last"
        yield out.style(f"refused  {out.text(said)}  lamina lift {no.number}", "dim")


def would_keep(view: CliView, answer: WouldKeep) -> Shown:
    """What each gate says."""
    out, lines = view.out, list[str]()
    for gate in answer.gates:
        said = "passed" if gate.passed else "not asked" if gate.passed is None else gate.why
        lines.append(f"{gate.gate:13} {out.text(said)}")
    verdict, colour = {
        "admitted": ("It would be kept.", "green"),
        "held": ("It would wait for a yes.", "yellow"),
        "denied": ("It would not be kept.", "red"),
    }[answer.decision]
    lines.append(f"{out.style(verdict, colour)}  {answer.code}  {out.text(answer.why)}".rstrip())
    return Shown(data=answer, lines=lines)


def difference(view: CliView, answer: Difference) -> Shown:
    """What came, changed and went."""
    out, lines = view.out, [f"{answer.held_before} memories then, {answer.held_after} later"]
    for mark, changes in (("+", answer.came), ("~", answer.changed), ("-", answer.went)):
        for one in changes:
            words = " -> ".join(out.text(text, "  ") for text in (one.before, one.after) if text)
            lines.append(f"{mark} {worded(one.key, words)}  {out.style(one.id, 'dim')}")
    return Shown(data=answer, lines=lines)


def document_tree(view: CliView, answer: DocumentTree) -> Shown:
    """Files, a line each."""
    out = view.out
    lines = [
        f"{one.tier:8} {out.text(one.path)}" + (" (gone)" if one.is_gone else "") for one in answer.files
    ]
    lines += [f"unused: {out.text(one.file)}:{one.line} {out.text(one.message)}" for one in answer.unused]
    return Shown(data=answer, lines=lines or ["There are no documents yet."])


def audit(view: CliView, answer: AuditPage) -> Shown:
    """Records, newest first."""
    out = view.out
    lines = [
        f"{one.seq:6} {when(one.at)} {one.op} {out.text(one.actor)} {out.text(one.memory_id or '')}"
        for one in answer.records
    ]
    return Shown(data=answer, lines=[*lines, f"{answer.head} records in all"])


#: By operation.
PERSON: Mapping[str, Renderer] = {
    "me": me,
    "review": review,
    "would_keep": would_keep,
    "difference": difference,
    "document_tree": document_tree,
    "audit": audit,
}
