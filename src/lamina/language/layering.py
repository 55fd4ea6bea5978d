"""Which layer a statement speaks for, the procedure in it, and what it says of somebody's expertise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from lamina.late import read_rules
from lamina.model import Layer
from lamina.records import dataclass

_LOOKED_AT = 2_000  #: characters; a rule is about how a text begins
#: How sure what is learnt is, by who said it.
CONFIDENCE = {"human": 0.95, "mother": 0.90, "correction": 0.85, "reference": 0.80, "auto": 0.60}
_REFERENCE = re.compile(r"https?://|\bdoi:|\brfc ?\d|\bisbn\b|#\d+\b|\.(?:md|pdf|html?)\b", re.I)
_CONCEPT = "memory:"
_ORDER = ("episodic", "procedural", "user_model")
_NUMBERED = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+", re.M)
_COMMAS = re.compile(r"\s*(?:,(?! )|, (?:and )?|、|，)\s*")


def suggested(text: str) -> str:
    """The layer that the wording speaks for: user_model, procedural, episodic; empty for none."""
    view = text[:_LOOKED_AT]
    return next((layer for layer in _ORDER if any(one.search(view) for one in _rules().layers[layer])), "")


def procedure_in(text: str) -> tuple[str, tuple[str, ...]] | None:
    """What to do when, as one statement says it: the trigger and its steps; None for no procedure."""
    view = text[:_LOOKED_AT].strip()
    for shape in _rules().procedures:
        if found := shape.match(view):
            said = _NUMBERED.sub("\n", found["steps"])
            steps = [part.strip(" .。,，") for part in _rules().splits.split(said)]
            if len(steps) == 1:
                steps = [part.strip(" .。") for part in _COMMAS.split(steps[0])]
            kept = tuple(step for step in steps if step)
            return (found["trigger"].strip(), kept) if kept else None
    return None


def correction_in(text: str) -> tuple[str, tuple[str, ...]] | None:
    """The procedure that a correction teaches: "no, that is wrong. When …, first …, then …"."""
    found = _rules().corrections.match(text[:_LOOKED_AT])
    return procedure_in(text[found.end() :]) if found else None


@dataclass(frozen=True, slots=True)
class Expertise:
    """What somebody says they know, and how sure that is."""

    topic: str
    level: str
    confidence: float


def expertise_in(text: str) -> list[Expertise]:
    """What a message says of its speaker's expertise, each topic once."""
    found: dict[str, Expertise] = {}
    for level, confidence, shapes in _rules().expertise:
        for shape in shapes:
            for match in shape.finditer(text[:_LOOKED_AT]):
                topic = match["topic"].strip(".-").lower()
                found.setdefault(topic, Expertise(topic, level, confidence))
    return list(found.values())


@dataclass(frozen=True)
class _Rules:
    layers: dict[str, list[re.Pattern[str]]]
    procedures: list[re.Pattern[str]]
    splits: re.Pattern[str]
    corrections: re.Pattern[str]
    expertise: list[tuple[str, float, list[re.Pattern[str]]]]


@cache
def _rules() -> _Rules:
    data = read_rules("lamina.language", "layering.toml")
    return _Rules(
        layers={
            name: [re.compile(one, re.I | re.S) for one in shapes] for name, shapes in data["layer"].items()
        },
        procedures=[re.compile(one, re.I | re.S) for one in data["procedure"]["shapes"]],
        splits=re.compile(data["procedure"]["splits"], re.I),
        corrections=re.compile(data["procedure"]["corrections"], re.I),
        expertise=[
            (one["level"], one["confidence"], [re.compile(shape, re.I) for shape in one["shapes"]])
            for one in data["expertise"]
        ],
    )


def confidence_of(origin: str | None, source: str | None) -> float:
    """How sure something learnt is: a person's word most, what was merely extracted least."""
    if origin in CONFIDENCE:
        return CONFIDENCE[origin]
    if source and _REFERENCE.search(source):
        return CONFIDENCE["reference"]
    return CONFIDENCE["auto"]


def layer_asked(layer: str | None, concepts: Sequence[str]) -> Layer | None:
    """The layer a caller names, outright or by a `memory:…` concept; None where nothing is named."""
    if layer and layer != "auto":
        return Layer(layer)
    named = [one.removeprefix(_CONCEPT) for one in concepts if one.startswith(_CONCEPT)]
    return next((Layer(one) for one in named if one in set(Layer)), None)
