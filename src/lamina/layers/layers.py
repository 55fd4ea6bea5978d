"""The five layers as one caller sees them: what is learnt finds its layer and meets what is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

from lamina.errors import InvalidInput
from lamina.language.layering import confidence_of, layer_asked, procedure_in, suggested
from lamina.layers.episodes import Episodes
from lamina.layers.procedures import Procedures
from lamina.layers.user_model import UserModel
from lamina.layers.writing import drafted, kept
from lamina.model import Deny, Draft, Kind, Layer, Memory, Outcome, Receipt, Space
from lamina.read.recall import find_in, narrowed
from lamina.read.shelves import loaded
from lamina.read.snapshot import look
from lamina.records import dataclass
from lamina.retrieval.alike import compared
from lamina.similarity.compare import StatementRelation
from lamina.text.normalise import well_formed
from lamina.write.aftermath import free_name
from lamina.write.commit import commit_succession, replace_too
from lamina.write.details import Narrowing, chosen, time_of
from lamina.write.guesses import Guess, conclude, stage, unnamed
from lamina.write.store import Caller
from lamina.write.unit_of_work import UnitOfWork
from lamina.write.verbs import waiting

#: What may be done about a contradiction: keep both and say so, ask the person, let the new one take over.
RESOLUTIONS = ("warn", "ask", "supersede", "keep")
_CANDIDATES = 12


class Lesson(TypedDict, total=False):
    """Everything `learn` takes beside the text."""

    layer: str | None
    origin: str | None
    source: str | None
    concepts: Iterable[str]
    project: str | None
    resolution: str
    reason: str
    valid_from: datetime | None
    valid_until: datetime | None
    derived_from: Iterable[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A statement that is known already and does not go with a new one."""

    id: str
    text: str
    similarity: float
    why: str

    def to_plain(self) -> dict[str, Any]:
        """In the shape of the document."""
        message = f"This may contradict what is known ({self.why}, similarity={self.similarity:.2f})."
        return {
            "type": "potential_contradiction",
            "existingId": self.id,
            "existingContent": self.text[:200],
            "similarity": self.similarity,
            "message": message,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What became of something to learn."""

    receipt: Receipt
    layer: Layer
    file: str | None = None
    warning: Warned | None = None
    suggested: Layer | None = None  #: the layer its wording speaks for, where nobody named one


@dataclass(frozen=True, slots=True)
class Layers:
    """Made by `ScopedMemory.layers`."""

    caller: Caller

    @property
    def user_model(self) -> UserModel:
        return UserModel(self.caller)

    @property
    def procedures(self) -> Procedures:
        return Procedures(self.caller)

    @property
    def episodes(self) -> Episodes:
        return Episodes(self.caller)

    @property
    def acts(self) -> bool:
        """Whether the caller is given procedures unasked: a person, or an agent that plans or acts."""
        return self.caller.acts

    def learn(self, text: str, **lesson: Unpack[Lesson]) -> Learned:
        """Keep something for good, in the layer it belongs to.

        That is the layer named, else that of a `memory:…` concept, else the semantic one with its file. What
        the wording speaks for is only suggested, and followed where the layer is `auto`.
        """
        said = well_formed(text, "text", self.caller.store.config.max_text_chars)
        concepts = [well_formed(one, "concept", 128) for one in lesson.get("concepts") or ()]
        named = lesson.get("layer")
        if named and named != "auto":
            chosen(Layer, named, "layer")
        hint = suggested(said)
        guess = Layer(hint) if hint else None
        target = layer_asked(named, concepts) or (guess if named == "auto" else None) or Layer.SEMANTIC
        told, made_of = None if named and named != "auto" else guess, tuple(lesson.get("derived_from") or ())
        match target:
            case Layer.USER_MODEL:
                receipt = self.user_model.update({"notes": [said]})[0]
            case Layer.PROCEDURAL:
                trigger, steps = procedure_in(said) or (said.strip().partition("\n")[0][:500], (said,))
                origin = "correction" if lesson.get("origin") == "correction" else "explicit"
                receipt = self.procedures.learn(trigger, steps, origin, derived_from=made_of)
            case Layer.EPISODIC:
                topics = [one for one in concepts if ":" not in one]
                receipt = self.episodes.record(said, topics=topics, derived_from=made_of)
            case _:
                return replace(self._semantic(said, concepts, lesson, target), suggested=told)
        return Learned(receipt=receipt, layer=target, suggested=told)

    def _semantic(self, text: str, concepts: list[str], lesson: Lesson, layer: Layer) -> Learned:
        how = lesson.get("resolution") or "warn"
        if how not in RESOLUTIONS:
            hint = f"Choose one of: {', '.join(RESOLUTIONS)}."
            raise InvalidInput(f"{how!r:.40} is not a resolution.", code="resolution_invalid", hint=hint)
        draft = self._draft(text, concepts, lesson, layer)
        decision, store = self.caller.store.judge(draft), self.caller.store
        if isinstance(decision, Deny):
            return Learned(receipt=kept(self.caller, draft), layer=layer)
        twin, against = self._beside(text)
        warning = against[0] if against else None
        if twin is not None:
            known = Receipt(decision=Outcome.UNCHANGED, code="same", ids=(twin.id,), revision=twin.revision)
            return Learned(receipt=known, layer=layer, file=twin.file)
        if warning is not None and how == "ask":
            return Learned(receipt=self._asked(draft, warning), layer=layer, warning=warning)
        if store.root is not None and draft.scope.user == store.config.owner and layer is Layer.SEMANTIC:
            draft = replace(draft, file=free_name(store.root, text, f"{store.now():%Y-%m-%d}"))
        receipt = None
        if warning is not None and how == "supersede":
            until, old, *others = draft.valid_from, *(one.id for one in against)

            def succeed(unit: UnitOfWork) -> Receipt:
                done = commit_succession(unit, old, draft, decision.passed, until)
                return done if done.decision is Outcome.DENIED else replace_too(unit, done, others, until)

            receipt = store.act(draft.scope, succeed)
        if receipt is None or receipt.decision is Outcome.DENIED:  # not the caller's to replace: both stand
            receipt = kept(self.caller, draft)
        written = loaded(self.caller, receipt.ids[:1])
        return Learned(
            receipt=receipt, layer=layer, file=written[0].file if written else None, warning=warning
        )

    def _draft(self, text: str, concepts: list[str], lesson: Lesson, layer: Layer) -> Draft:
        origin, source = lesson.get("origin"), lesson.get("source")
        kind = Kind.CORRECTION if origin == "correction" else Kind.FACT
        details = {
            "layer": layer,
            "kind": kind,
            "tags": concepts,
            "reference": source,
            "confidence": confidence_of(self._origin(origin), source),
            "reason": lesson.get("reason") or None,
            "derived_from": lesson.get("derived_from") or (),
        }
        meta = {"source": source, "origin": origin, "project": lesson.get("project")}
        window = {
            name: None if (at := lesson.get(name)) is None else time_of(at, name)
            for name in ("valid_from", "valid_until")
        }
        return drafted(self.caller, text, details, meta={k: v for k, v in meta.items() if v}, **window)

    def _origin(self, origin: str | None) -> str | None:
        """A person's own word is a person's, said or not; whoever speaks as an agent is no person."""
        if self.caller.scope.agent is None and origin is None and self.caller.scope.role == "user":
            return "human"
        return None if origin in ("human", "mother") and self.caller.scope.agent is not None else origin

    def _beside(self, text: str) -> tuple[Memory | None, list[Warned]]:
        """What is known that says the same, and all that does not go with it, the newest first.

        It is asked before anything is kept, and by nobody who reads: it counts as no access.
        """
        query, _ = narrowed(
            self.caller,
            self.caller.in_session,
            text[:2000],
            Narrowing(k=_CANDIDATES, layers=[Layer.SEMANTIC], spaces=[Space.USER]),
        )
        answer = look(self.caller, lambda snapshot: find_in(snapshot, query, related=False))
        known = [answer.memories[hit.id] for hit in answer.found.hits]
        found = compared(self.caller.store.ruleset.encoder, text, [one.text for one in known])
        for memory, one in zip(known, found, strict=True):
            if one.relation is StatementRelation.SAME and one.similarity == 1.0 and one.closeness == 1.0:
                return memory, []
        against = [pair for pair in zip(known, found, strict=True) if pair[1].conflicts]
        against.sort(key=lambda pair: -pair[0].tick)
        return None, [
            Warned(id=old.id, text=old.text, similarity=c.closeness, why=c.why) for old, c in against
        ]

    def _asked(self, draft: Draft, warning: Warned) -> Receipt:
        """The new statement waits for the person; until then what was known stands."""
        guess = Guess(
            key=f"learning.{warning.id.rpartition(':')[2]}",
            value=draft.text,
            confidence=draft.confidence,
            reason=f"contradicts {warning.id}",
            layer=Layer.SEMANTIC,
            kind=draft.kind,
            meta={**draft.meta, "tags": list(draft.tags), "replaces": warning.id},
        )
        return self.caller.store.act(self.caller.scope, lambda unit: stage(unit, guess))

    def settle(self, memory: Memory) -> Receipt:
        """The person agreed to a procedure or a statement that waited."""
        meta = memory.meta
        if memory.layer is Layer.PROCEDURAL:
            return self.procedures.learn(meta["trigger"], meta["procedure"], meta["source"])
        lesson = Lesson(
            source=meta.get("source"),
            origin=meta.get("origin"),
            concepts=meta.get("tags", ()),
            resolution="supersede",
            reason="confirmed",
        )
        return self.learn(memory.text, **lesson).receipt


def confirm(caller: Caller, key: str | None = None, *, reason: str = "", channel: str = "") -> list[Receipt]:
    """Keep what was guessed, under its key; without a key, the newest guess. Only the person can.

    `channel` is by what way they said so, this caller's door unless given. In a chat, what is sensitive
    needs its key: a bare yes raises Denied.
    """
    memory, by, layers = waiting(caller, key), channel or caller.scope.via, Layers(caller)
    if not caller.store.ruleset.fields.may_agree(memory.key, by, named=key is not None):
        raise unnamed(memory)
    if memory.layer is not Layer.USER_MODEL:
        receipt = layers.settle(memory)
    else:
        receipt = layers.user_model.agreed(memory, reason or "confirmed")
        if receipt.decision is Outcome.DENIED:
            return [receipt]
    caller.store.act(caller.scope, lambda unit: conclude(unit, memory, receipt.ids[0], by))
    return [receipt]
