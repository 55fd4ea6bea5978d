"""How things are done here: learnt, merged when alike, found by the task at hand, counted when used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lamina.errors import InvalidInput
from lamina.language.layering import CONFIDENCE
from lamina.layers.writing import drafted, kept
from lamina.model import Deny, Draft, Kind, Layer, Memory, Outcome, Receipt, Space, State, iso
from lamina.read.shelves import newest, procedures_for
from lamina.read.snapshot import look
from lamina.records import dataclass
from lamina.retrieval.alike import compared
from lamina.similarity.compare import SAME, same_task
from lamina.text.accounts import (
    Origin,
    Procedure,
    Result,
    corrected,
    procedure_of,
    trusted,
    united,
    worded,
)
from lamina.text.normalise import folded, well_formed
from lamina.write.commit import annotate, commit_denial, forbidden, readable, reword
from lamina.write.details import chosen, origins_of
from lamina.write.guesses import Guess, stage, waiting_for
from lamina.write.noes import kept_out, lift
from lamina.write.origins import traced
from lamina.write.store import Caller
from lamina.write.unit_of_work import UnitOfWork

MOST_STEPS = 50
#: How many procedures of a shelf a new one is compared with, the newest first.
_COMPARED = 500


@dataclass(frozen=True, slots=True)
class Procedures:
    """The procedures within a caller's reach."""

    caller: Caller

    def find(self, task: str, limit: int = 3) -> list[Procedure]:
        """Those that fit a task, best first; for no task, the newest."""
        if not task.strip():
            return [procedure_of(one) for one in self._all()[:limit]]
        return look(self.caller, lambda snapshot: procedures_for(snapshot, task, limit))

    def learn(
        self,
        trigger: str,
        steps: Sequence[str],
        source: str = "explicit",
        space: str = "user",
        derived_from: Sequence[str] = (),
    ) -> Receipt:
        """Keep a procedure; one whose trigger means the same is extended instead: code `merged`."""
        draft = replace(self._draft(trigger, steps, source, space), origins=origins_of(derived_from))
        twin = None if isinstance(self.caller.store.judge(draft), Deny) else self._twin(draft)
        if twin is not None:
            receipt = self.caller.store.act(self.caller.scope, lambda unit: _merge(unit, twin, draft))
            if receipt is not None:
                return receipt
        return kept(self.caller, draft)

    def propose(self, trigger: str, steps: Sequence[str], source: str, reason: str) -> Receipt:
        """Put a procedure that was seen and not taught before the person; it counts once they confirm it."""
        draft = self._draft(trigger, steps, source, Space.USER)
        store, decision = self.caller.store, self.caller.store.judge(draft)
        if isinstance(decision, Deny):
            return Receipt(decision=Outcome.DENIED, code=decision.code)
        guess = Guess(
            key=f"procedure.{draft.place.partition(':')[2]}",
            value=draft.text,
            confidence=draft.confidence,
            reason=reason,
            layer=Layer.PROCEDURAL,
            kind=Kind.PROCEDURE,
            meta=dict(draft.meta),
        )
        return store.act(self.caller.scope, lambda unit: stage(unit, guess))

    def used(self, memory_id: str, outcome: str = "success") -> Procedure:
        """Note that a procedure was followed and how it went."""
        how = chosen(Result, outcome, "outcome")

        def work(unit: UnitOfWork) -> Memory:
            old = readable(unit, memory_id, State.ACTIVE)
            if old.layer is not Layer.PROCEDURAL:
                raise InvalidInput(f"{memory_id} is not a procedure.", code="layer_invalid")
            count = {Result.SUCCESS: "success_count", Result.FAILED: "failure_count"}.get(how)
            meta = {**old.meta, "last_used": iso(unit.now), "taught": old.meta.get("taught", old.confidence)}
            if count:
                meta[count] = int(meta.get(count, 0)) + 1
            tried = (int(meta.get(name, 0)) for name in ("success_count", "failure_count"))
            now = replace(old, confidence=trusted(float(meta["taught"]), *tried))
            return annotate(unit, now, meta, {"code": "used", "outcome": how.value})

        return procedure_of(self.caller.store.act(self.caller.scope, work))

    def _all(self) -> list[Memory]:
        return newest(self.caller, Layer.PROCEDURAL, _COMPARED, (Space.USER, Space.PROJECT))

    def _draft(self, trigger: str, steps: Sequence[str], source: str, space: str) -> Draft:
        when = " ".join(well_formed(trigger, "trigger", 500).split())
        if isinstance(steps, str) or not 1 <= len(steps) <= MOST_STEPS:
            hint = f"Give 1 to {MOST_STEPS} steps."
            raise InvalidInput("A procedure has a list of steps.", code="procedure_invalid", hint=hint)
        todo = tuple(dict.fromkeys(" ".join(well_formed(one, "step", 1000).split()) for one in steps))
        origin = chosen(Origin, source, "source")
        sure = CONFIDENCE["correction" if origin is Origin.CORRECTION else "auto"]
        if origin is Origin.EXPLICIT:
            sure = CONFIDENCE["human" if self.caller.scope.agent is None else "mother"]
        details = {"kind": Kind.PROCEDURE, "layer": Layer.PROCEDURAL, "space": space, "confidence": sure}
        meta = {"trigger": when, "procedure": list(todo), "source": origin.value, "success_count": 0}
        return drafted(self.caller, worded(when, todo), details, place=f"procedure:{_mark(when)}", meta=meta)

    def _twin(self, draft: Draft) -> Memory | None:
        """The procedure for the same task, if there is one on the same shelf."""
        name = draft.scope.shelf(draft.space)
        known = [one for one in self._all() if one.shelf == name and "trigger" in one.meta]
        triggers = [str(one.meta["trigger"]) for one in known]
        found = compared(self.caller.store.ruleset.encoder, str(draft.meta["trigger"]), triggers)
        alike = [(one.similarity, memory) for one, memory in zip(found, known, strict=True) if same_task(one)]
        return max(alike, key=lambda pair: (pair[0], pair[1].id))[1] if alike else None


def _mark(trigger: str) -> str:
    return folded(trigger)[:80].replace(" ", "_").strip("_.-") or "x"


def _merge(unit: UnitOfWork, twin: Memory, draft: Draft) -> Receipt | None:
    """Steps united in order, counts added; None where the caller may not change what is there."""
    old = unit.memories.get(twin.id)
    if old is None or old.state is not State.ACTIVE or forbidden(unit, old):
        return None
    draft = traced(unit, draft)
    if (objection := kept_out(unit, draft)) is not None:
        return commit_denial(unit, draft, objection)
    if (waits := waiting_for(unit, draft)) is not None:
        return waits
    lift(unit, draft)
    is_correction = draft.meta["source"] == Origin.CORRECTION.value
    join = corrected if is_correction else united
    steps = join(old.meta["procedure"], draft.meta["procedure"])
    counts: Mapping[str, Any] = {"success_count": int(old.meta.get("success_count", 0)) + 1}
    taught = float(old.meta.get("taught", old.confidence))
    if is_correction:  # what was tried was another procedure
        counts = {"success_count": 0, "failure_count": 0}
    meta = {**old.meta, "procedure": list(steps), **counts, "taught": max(taught, draft.confidence)}
    tried = (int(meta.get(name, 0)) for name in ("success_count", "failure_count"))
    sure = trusted(meta["taught"], *tried)
    text = worded(str(old.meta["trigger"]), steps)
    new = replace(old, text=text, meta=meta, confidence=sure)
    decision = {"code": "merged", "also": draft.meta["trigger"], "rule": f"similarity>{SAME}"}
    saved = reword(unit, old, new, unit.memories.place(old.id)[2], decision)
    return Receipt(decision=Outcome.ADMITTED, code="merged", ids=(saved.id,), revision=saved.revision)
