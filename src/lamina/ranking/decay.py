"""How a memory fades with time and gains with use: a factor of its rank, by the formula of FL-5."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from lamina.model import Layer, Memory

#: What is forgotten of a memory's weight each day.
_FADING = {Layer.PROCEDURAL: 0.005}
_FADING_DAILY = 0.01
_UNUSED, _PER_USE = 0.5, 0.05
_DAY = timedelta(days=1)
_KNOWN = Layer.USER_MODEL

EPISODE_LIFE = timedelta(days=90)
#: A hit lets an episode live at least this long from then on, however often it is hit.
EPISODE_RENEWED = timedelta(days=30)


class Decay(NamedTuple):
    """What is left of a memory's weight: the part its age took, and the part its use gives back."""

    recency: float  #: e^(-λ·days); a half after 69 days, after 139 for a procedure
    access: float  #: a half for what nobody ever found, 1 from the tenth time on

    @property
    def score(self) -> float:
        return round(self.recency * self.access, 6)


def decay(layer: Layer, updated_at: datetime, access_count: int, now: datetime) -> Decay:
    """The two factors of a memory's decay score; what is known about a person does not fade."""
    if layer is _KNOWN:
        return Decay(1.0, 1.0)
    days = max(0.0, (now - updated_at) / _DAY)
    recency = math.exp(-_FADING.get(layer, _FADING_DAILY) * days)
    return Decay(recency, min(1.0, _UNUSED + _PER_USE * access_count))


def faded(memory: Memory, now: datetime) -> Memory:
    """A memory with its decay score at a moment: nothing has to be kept up to date for it."""
    score = decay(memory.layer, memory.updated_at, memory.access_count, now).score
    return replace(memory, decay_score=score)
