"""How a memory fades, how sure it is by where it came from, and which layer it belongs to."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamina.model import Layer

#: What is forgotten of a memory's weight each day.
_FADING = {Layer.PROCEDURAL: 0.005}
_FADING_DAILY = 0.01
_UNUSED, _PER_USE = 0.5, 0.05
_DAY = timedelta(days=1)

EPISODE_LIFE = timedelta(days=90)
#: A hit lets an episode live at least this long from then on, however often it is hit.
EPISODE_RENEWED = timedelta(days=30)

#: How sure what is learnt is, by who said it.
CONFIDENCE = {"human": 0.95, "mother": 0.90, "correction": 0.85, "reference": 0.80, "auto": 0.60}
_REFERENCE = re.compile(r"https?://|\bdoi:|\brfc ?\d|\bisbn\b|#\d+\b|\.(?:md|pdf|html?)\b", re.I)
_CONCEPT = "memory:"


@dataclass(frozen=True, slots=True)
class Decay:
    """What is left of a memory's weight: the part its age took, and the part its use gives back."""

    recency: float  #: e^(-λ·days); a half after 69 days, after 139 for a procedure
    access: float  #: a half for what nobody ever found, 1 from the tenth time on

    @property
    def score(self) -> float:
        return round(self.recency * self.access, 6)


def decay(layer: Layer, updated_at: datetime, access_count: int, now: datetime) -> Decay:
    """The two factors of a memory's decay score; what is known about a person does not fade."""
    if layer is Layer.USER_MODEL:
        return Decay(1.0, 1.0)
    days = max(0.0, (now - updated_at) / _DAY)
    recency = math.exp(-_FADING.get(layer, _FADING_DAILY) * days)
    return Decay(recency, min(1.0, _UNUSED + _PER_USE * access_count))


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
