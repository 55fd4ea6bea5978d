"""A week with an agent, told in a workspace of its own: every line comes from a call that was really made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lamina.clock import SystemClock
from lamina.config import load_config
from lamina.doors.cli.call import STATE_DIR, Call
from lamina.doors.cli.fortnight import live_a_fortnight
from lamina.doors.cli.output import Output
from lamina.engine import Engine
from lamina.errors import Conflict, LaminaError
from lamina.model import Outcome, Receipt
from lamina.scoped import ScopedMemory
from lamina.workspace.layout import create_workspace

OWNER = "ana"
DEFAULT = Path("demo/workspace")
DATABASE = f"{STATE_DIR}/memory.db"
PROFILE = "PROFILE.md"

_KEY, _TONE, _NEW_TONE = "response.style", "friendly and short", "friendly, short, with one example"
_EXPERTISE = "I know Docker very well."
_CORRECTION = "No. When deploying, first ask which environment, then show the checklist."
_TASK = "deploying the web shop"
_KNOWN, _NEWER = "The web shop runs on port 8080.", "The web shop runs on port 9090."
_WHY = "the load balancer took 8080"
_EPISODE, _TOPIC = "Moved the web shop to the new server; checkout failed once and was fixed.", "checkout"
_FACTS = (
    ("Ana is lactose intolerant and drinks oat milk.", "which milk should I buy?"),
    ("อานาชอบทำงานตอนเช้าที่ร้านกาแฟริมแม่น้ำ", "ร้านกาแฟ"),
    ("安娜每週三晚上學書法。", "書法"),
)
_CONFIDENTIAL = "The password of the router is hunter2-Blue42"


class Tour:
    """What happens in the week, as it is told."""

    def __init__(self, out: Output, root: Path) -> None:
        self.out = out
        self.root = root
        self.lines: list[str] = []

    def day(self, name: str, title: str) -> None:
        self.lines += ["", self.out.style(f"{name}: {title}", "bold")]

    def typed(self, command: str) -> None:
        """What to type for the same."""
        self.lines.append(f"   $ lamina {self.out.text(command)}")

    def say(self, line: str) -> None:
        """What the memory did."""
        self.lines.append(f"     -> {self.out.text(line, '        ')}")

    def receipt(self, receipt: Receipt, where: str) -> None:
        told = receipt.acknowledgement or ("Kept." if receipt.decision is Outcome.ADMITTED else "Known.")
        self.say(f"{told}  {receipt.ids[0]}  ({receipt.code}, in {where})")

    def profile_line(self) -> None:
        """The line of the owner's file that the key stands in."""
        for number, line in enumerate((self.root / PROFILE).read_text("utf-8").splitlines(), 1):
            if f"key:{_KEY} " in line:
                self.say(f"{PROFILE}:{number}: {line}")


def take_the_tour(call: Call, folder: Path | None) -> int:
    """A week with an agent in two minutes, in a workspace of its own."""
    root = (folder or call.given.workspace or DEFAULT).expanduser().absolute()
    _check_place(root)
    is_new = not (root / STATE_DIR).is_dir()
    root.parent.mkdir(parents=True, exist_ok=True)
    tour = Tour(call.out, root)
    tour.lines.append(f"A week with an agent in {call.out.text(str(root))}; everything really happens.")
    tour.day("Before", "a workspace, files that are yours to read and to edit")
    created = create_workspace(root, OWNER)
    tour.typed("init")
    tour.say(f"made {', '.join(created)}" if created else "it is here already, and stays as it is")
    # Settings as flags: a tour never reaches a store that the environment names.
    store = f"sqlite:///{root / DATABASE}"
    settings = {"store": store, "tenant": "default", "owner": OWNER}
    placed = replace(call, given=replace(call.given, workspace=root, settings=settings))
    if is_new:
        count = live_a_fortnight(placed, root, call.given.at or SystemClock().now())
        tour.say(
            f"two weeks before it are there to look at: {count} things said, learned, asked and forgotten"
        )
    with placed.engine() as engine:
        _tell(tour, engine, engine.scope(via="cli"))
    near = call.out.text(_near(root))
    tour.lines += [
        "",
        f"Yours to try: lamina -w {near} me",
        f"See it in a browser: lamina -w {near} serve --open",
    ]
    return call.answer({"workspace": str(root), "lines": tour.lines}, tour.lines)


def _check_place(root: Path) -> None:
    """The tour writes about Ana, so it keeps out of everybody else's workspace."""
    if (root / STATE_DIR).is_dir() and (owner := load_config(root, {}, {}).config.owner) != OWNER:
        raise Conflict(
            f"{root} is the workspace of {owner}, and the tour needs one of its own.",
            code="workspace_exists",
            hint="Name a folder that does not exist yet.",
        )


def _near(root: Path) -> str:
    """The folder as one would type it here."""
    return str(root.relative_to(Path.cwd())) if root.is_relative_to(Path.cwd()) else str(root)


def _tell(tour: Tour, engine: Engine, memory: ScopedMemory) -> None:
    _monday(tour, memory)
    _tuesday(tour, memory)
    _wednesday(tour, memory)
    _thursday(tour, memory)
    ids = _friday(tour, memory)
    _saturday(tour, memory, ids[0])
    _sunday(tour, engine, memory)


def _monday(tour: Tour, memory: ScopedMemory) -> None:
    tour.day("Monday", "who Ana is (the user model)")
    tour.typed(f'remember "{_TONE}" --key {_KEY}')
    tone = memory.remember(_TONE, key=_KEY)
    tour.receipt(tone, PROFILE)
    tour.typed(f'revise {tone.ids[0]} "{_NEW_TONE}"')
    memory.revise(tone.ids[0], _NEW_TONE)
    tour.profile_line()
    tour.say(f"the history keeps: {memory.history(tone.ids[0])[-1].old_text}")
    _heard(tour, memory, _EXPERTISE)
    tour.typed("user-model get")
    model = memory.layers.user_model.get()
    skills = ", ".join(f"{topic} ({level})" for topic, level in model["expertise"].items())
    tour.say(f"expertise: {skills}; style: {memory.resolve([_KEY])[_KEY].value}")


def _heard(tour: Tour, memory: ScopedMemory, said: str) -> None:
    """What Ana says in passing is a guess until she agrees."""
    tour.typed(f'hear "{said}"')
    held = {one.ids[0] for one in memory.hear(said).receipts if one.decision is Outcome.HELD}
    if not held:
        tour.say("nothing new: it is known from the last tour")
    for waiting in [one for one in memory.pending() if one.id in held]:
        tour.say(f"a guess, waiting for her yes: {waiting.key} = {' / '.join(waiting.text.splitlines())}")
        tour.typed(f"pending confirm {waiting.key}")
        for receipt in memory.confirm(waiting.key):
            tour.receipt(receipt, memory.get(receipt.ids[0]).file or DATABASE)


def _tuesday(tour: Tour, memory: ScopedMemory) -> None:
    tour.day("Tuesday", "a correction becomes a procedure")
    _heard(tour, memory, _CORRECTION)
    tour.typed(f'procedure find "{_TASK}"')
    for found in memory.layers.procedures.find(_TASK, 1):
        tour.say(f"{found.trigger}: {'; then '.join(found.steps)}  ({found.source})")


def _wednesday(tour: Tour, memory: ScopedMemory) -> None:
    tour.day("Wednesday", "something learned, then contradicted")
    if _finds(memory, _NEWER, _NEWER) == "no":
        _learn(tour, memory, _KNOWN, "warn")
    _learn(tour, memory, _NEWER, "supersede")
    tour.typed('recall "web shop port"')
    for hit in memory.recall("web shop port", k=1, layers=["semantic"]):
        tour.say(hit.text)


def _learn(tour: Tour, memory: ScopedMemory, text: str, resolution: str) -> None:
    more = f' --resolution {resolution} --reason "{_WHY}"' if resolution == "supersede" else ""
    tour.typed(f'learn "{text}"{more}')
    learnt = memory.layers.learn(text, resolution=resolution, reason=_WHY if more else "")
    if learnt.warning is not None:
        tour.say(f'does not go with what is known: "{learnt.warning.text}" ({learnt.warning.why})')
        tour.say(f"the old one is {memory.get(learnt.warning.id).state} and stays in the history")
    tour.receipt(learnt.receipt, learnt.file or DATABASE)


def _thursday(tour: Tour, memory: ScopedMemory) -> None:
    tour.day("Thursday", "what happened (an episode)")
    if not any(one.summary == _EPISODE for one in memory.layers.episodes.find(_TOPIC)):
        tour.typed(f'episode record "{_EPISODE}" --outcome partial')
        tour.receipt(memory.layers.episodes.record(_EPISODE, outcome="partial"), DATABASE)
    tour.typed(f'episode find "{_TOPIC}"')
    for one in memory.layers.episodes.find(_TOPIC, 1):
        tour.say(f"{one.at:%Y-%m-%d} {one.outcome}: {one.summary}")


def _friday(tour: Tour, memory: ScopedMemory) -> Sequence[str]:
    tour.day("Friday", "remembered and found in any language, and a secret refused")
    ids = []
    for fact, question in _FACTS:
        tour.typed(f'remember "{fact}"')
        receipt = memory.remember(fact)
        tour.receipt(receipt, DATABASE)
        ids.append(receipt.ids[0])
        tour.typed(f'recall "{question}" --explain')
        for hit in memory.recall(question, k=1):
            tour.say(f"{hit.text}  ({'; '.join(hit.reasons)})")
    tour.typed('remember "The password of the router is …"')
    receipt = memory.remember(_CONFIDENTIAL)
    tour.say(f"{receipt.acknowledgement} {' '.join(receipt.warnings)}  ({receipt.code})")
    return ids


def _saturday(tour: Tour, memory: ScopedMemory, memory_id: str) -> None:
    fact, question = _FACTS[0]
    tour.day("Saturday", "forgotten, taken back, explained")
    tour.typed(f"forget {memory_id} --yes")
    said = memory.forget(memory_id, reason="a step of the tour").acknowledgement
    tour.say(f"{said}  (recall finds it: {_finds(memory, question, fact)})")
    tour.typed(f"restore {memory_id}")
    said = memory.restore(memory_id).acknowledgement
    tour.say(f"{said}  (recall finds it: {_finds(memory, question, fact)})")
    tour.typed(f"explain {memory_id}")
    for line in memory.explain(memory_id).lines:
        tour.say(line)


def _finds(memory: ScopedMemory, question: str, fact: str) -> str:
    return "yes" if any(hit.text == fact for hit in memory.recall(question)) else "no"


def _sunday(tour: Tour, engine: Engine, memory: ScopedMemory) -> None:
    tour.day("Sunday", "what the agent is told before it acts, and the proof")
    tour.typed(f'context "{_TASK}" --explain')
    block = memory.context(_TASK)
    tour.lines += [f"     {tour.out.text(line)}" for line in block.text.splitlines()]
    parts = ", ".join(f"{name} {count}" for name, count in block.parts.items())
    tour.say(f"{block.tokens} tokens: {parts}")
    tour.typed("audit verify")
    report = engine.verify_audit()
    if not report.intact:
        raise LaminaError(f"The audit has {len(report.findings)} findings here.", code="audit_findings")
    tour.say(f"intact, {report.records} records; the lines are in {STATE_DIR}/runs/main/memory_audit.jsonl")
