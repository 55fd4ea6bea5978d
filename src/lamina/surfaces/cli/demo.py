"""A tour of Lamina on a workspace of its own: every line it prints comes from a call that was really made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument

from lamina.errors import Conflict, LaminaError
from lamina.model import Receipt
from lamina.surfaces.cli.call import STATE_DIR, Call, call_of
from lamina.surfaces.cli.commands import Commands
from lamina.surfaces.cli.output import Output

if TYPE_CHECKING:
    from lamina.engine.engine import Engine
    from lamina.engine.mind import Mind

commands = Commands()

OWNER = "ana"
DEFAULT = Path("demo/workspace")
DATABASE = f"{STATE_DIR}/memory.db"
PROFILE = "PROFILE.md"

_FACTS = (
    ("Ana is lactose intolerant and drinks oat milk.", "which milk should I buy?"),
    ("อานาชอบทำงานตอนเช้าที่ร้านกาแฟริมแม่น้ำ", "ร้านกาแฟ"),
    ("安娜每週三晚上學書法。", "書法"),
)
_KEY, _TONE, _NEW_TONE = "response.style", "friendly and short", "friendly, short, with one example"
_CONFIDENTIAL = "The password of the router is hunter2-Blue42"


class Tour:
    """What happens on the way, as it is told."""

    def __init__(self, out: Output, root: Path) -> None:
        self.out = out
        self.root = root
        self.lines: list[str] = []
        self.steps = 0

    def step(self, title: str) -> None:
        self.steps += 1
        self.lines += ["", self.out.style(f"{self.steps}. {title}", "bold")]

    def typed(self, command: str) -> None:
        """What to type for the same."""
        self.lines.append(f"   $ lamina {self.out.text(command)}")

    def say(self, line: str) -> None:
        self.lines.append(f"   {self.out.text(line, '   ')}")

    def receipt(self, receipt: Receipt, where: str) -> None:
        self.say(f"{receipt.acknowledgement}  {receipt.ids[0]}  ({receipt.decision}, in {where})")

    def profile_line(self) -> None:
        """The line of the owner's file that the key stands in."""
        for number, line in enumerate((self.root / PROFILE).read_text("utf-8").splitlines(), 1):
            if f"key:{_KEY} " in line:
                self.say(f"{PROFILE}:{number}: {line}")


@commands.add("demo")
def demo(
    ctx: typer.Context,
    folder: Annotated[
        Path | None, Argument(metavar="DIR", readable=False, help="Where; by default demo/workspace.")
    ] = None,
) -> int:
    """A short tour of everything, in a workspace of its own."""
    call = call_of(ctx)
    root = (folder or call.given.workspace or DEFAULT).expanduser().absolute()
    _check_place(call, root)
    root.parent.mkdir(parents=True, exist_ok=True)
    tour = Tour(call.out, root)
    tour.lines.append(f"A tour of Lamina in {call.out.text(str(root))}. Everything below really happens.")
    tour.step("A workspace: files that are yours to read and to edit")
    created = call.doors.create_workspace(root, OWNER)
    tour.typed("init")
    tour.say(f"made {', '.join(created)}" if created else "it is here already, and stays as it is")
    # Settings as flags: a tour never reaches a store that the environment names.
    store = f"sqlite:///{root / DATABASE}"
    settings = {"store": store, "tenant": "default", "owner": OWNER}
    placed = replace(call, given=replace(call.given, workspace=root, settings=settings))
    with placed.engine() as engine:
        _go_round(tour, engine, engine.scope(via="cli"))
    tour.lines += ["", f"Yours to try: lamina -w {call.out.text(_near(root))} status"]
    return call.answer({"workspace": str(root), "lines": tour.lines}, tour.lines)


def _check_place(call: Call, root: Path) -> None:
    """The tour writes about Ana, so it keeps out of everybody else's workspace."""
    if (root / STATE_DIR).is_dir() and (owner := call.doors.load_config(root, {}, {}).config.owner) != OWNER:
        raise Conflict(
            f"{root} is the workspace of {owner}, and the tour needs one of its own.",
            code="workspace_exists",
            hint="Name a folder that does not exist yet.",
        )


def _near(root: Path) -> str:
    """The folder as one would type it here."""
    return str(root.relative_to(Path.cwd())) if root.is_relative_to(Path.cwd()) else str(root)


def _go_round(tour: Tour, engine: Engine, mind: Mind) -> None:
    ids = _remember_facts(tour, mind)
    tone = _remember_tone(tour, mind)
    _recall_facts(tour, mind)
    _revise_tone(tour, mind, tone)
    _refuse(tour, mind)
    _forget_and_restore(tour, mind, ids[0])
    _explain(tour, mind, tone)
    _prove(tour, engine)


def _remember_facts(tour: Tour, mind: Mind) -> list[str]:
    tour.step("Remember, in any language")
    ids = []
    for fact, _ in _FACTS:
        tour.typed(f'remember "{fact}"')
        receipt = mind.remember(fact)
        tour.receipt(receipt, DATABASE)
        ids.append(receipt.ids[0])
    return ids


def _remember_tone(tour: Tour, mind: Mind) -> str:
    tour.step(f"A preference has a key, one value, and a line in {PROFILE}")
    tour.typed(f'remember "{_TONE}" --key {_KEY}')
    receipt = mind.remember(_TONE, key=_KEY)
    tour.receipt(receipt, PROFILE)
    tour.profile_line()
    return receipt.ids[0]


def _recall_facts(tour: Tour, mind: Mind) -> None:
    tour.step("Recall, with the reasons")
    for _, question in _FACTS:
        tour.typed(f'recall "{question}" --explain')
        for hit in mind.recall(question, k=1):
            tour.say(f"{hit.text}  ({'; '.join(hit.reasons)})")


def _revise_tone(tour: Tour, mind: Mind, memory_id: str) -> None:
    tour.step("Revise: new words, the old ones stay in the history")
    tour.typed(f'revise {memory_id} "{_NEW_TONE}"')
    tour.receipt(mind.revise(memory_id, _NEW_TONE), PROFILE)
    tour.profile_line()
    before = mind.history(memory_id)[-1].old_text
    tour.say(f"history keeps: {before}")


def _refuse(tour: Tour, mind: Mind) -> None:
    tour.step("A secret is refused: it is neither stored nor logged")
    tour.typed('remember "The password of the router is …"')
    receipt = mind.remember(_CONFIDENTIAL)
    tour.say(f"{receipt.acknowledgement} {' '.join(receipt.warnings)}  ({receipt.code})")


def _forget_and_restore(tour: Tour, mind: Mind, memory_id: str) -> None:
    fact, question = _FACTS[0]
    tour.step("Forget, and take it back")
    tour.typed(f"forget {memory_id} --yes")
    said = mind.forget(memory_id, reason="a step of the tour").acknowledgement
    tour.say(f"{said}  (recall finds it: {_finds(mind, question, fact)})")
    tour.typed(f"restore {memory_id}")
    said = mind.restore(memory_id).acknowledgement
    tour.say(f"{said}  (recall finds it: {_finds(mind, question, fact)})")


def _finds(mind: Mind, question: str, fact: str) -> str:
    return "yes" if any(hit.text == fact for hit in mind.recall(question)) else "no"


def _explain(tour: Tour, mind: Mind, memory_id: str) -> None:
    tour.step("Explain: what was decided, when and why")
    tour.typed(f"explain {memory_id}")
    for line in mind.explain(memory_id).lines:
        tour.say(line)


def _prove(tour: Tour, engine: Engine) -> None:
    tour.step("Prove it: every change is a link of a sealed chain")
    tour.typed("audit verify")
    report = engine.verify_audit()
    if not report.intact:
        raise LaminaError(f"The audit has {len(report.findings)} findings here.", code="audit_findings")
    tour.say(f"intact, {report.records} records; the lines are in {STATE_DIR}/runs/main/memory_audit.jsonl")
