"""Whether a short answer settles something, by what stands around it: a linear model, in whole numbers.

"Ninety days." says nothing by itself. It weighs what the head makes of it and of its neighbours in the
message, what rules see, and what the encoder makes of it together with the question, and of the reply to it.
`python -m tools.decisions --context` trains it after the head.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.language.decision_head import KINDS, Reading
from lamina.language.sorts import MIDWAY, Wholes
from lamina.late import files

SORTS = ("settles", "task", "none")
#: What is looked for anywhere in a unit.
WITHIN = (
    *(
        "complains",
        "discusses",
        "recalls",
        "learns",
        "remains",
        "doubts",
        "declines",
        "overrules",
        "approves",
    ),
    *("requests", "acts", "continues"),
)
#: What may be known of a sentence beside what it says.
SIGNS = (
    *("asked", "asked_back", "asked_short", "tiny", "short", "middle", "long", "number", "ruled"),
    *WITHIN,
    *("leads_in", "needs_subject", "adds", "assents"),
    *("theirs", "supposes", "quoted", "asserted", "echoed", "picks", "to_settle", "owned", "mine", "due"),
)
#: Readings: of the sentence, or of a short answer; of the one before and of the one behind it in the message.
READ = 4
WIDTH = 384  #: numbers that the encoder has for a text on the whole
STEP = 1 << 20  #: steps per unit of a score
_UNIT = 100  #: steps per unit of what is weighed
_LEAST = 0.001


class Around(NamedTuple):
    """A sentence and what stands around it."""

    readings: tuple[Reading | None, ...]
    signs: frozenset[str]
    both: Wholes | None = None  #: what the encoder makes of it together with what was said before it
    answer: Wholes | None = None  #: and of the beginning of the answer


def settles(around: Around) -> float:
    """How likely a sentence settles something where it stands."""
    weights = _models()["letters" if around.both is None else "encoder"]
    sums = features(around) @ weights[:-1] + weights[-1]
    powers = [math.exp(int(one - sums.max()) / STEP) for one in sums]
    return round(powers[SORTS.index("settles")] / sum(powers), 4)


def features(around: Around) -> Wholes:
    """What is weighed, in whole numbers."""
    signs = (_UNIT * (name in around.signs) for name in SIGNS)
    found = [*(number for one in around.readings for number in _logarithms(one)), *signs]
    halves = () if around.both is None else (around.both, around.answer)
    parts = [np.zeros(WIDTH, dtype=np.int64) if one is None else one[:WIDTH] for one in halves]
    return np.concatenate([np.array(found, dtype=np.int64), *(part * _UNIT // MIDWAY for part in parts)])


def _logarithms(reading: Reading | None) -> list[int]:
    """How far each share is from an even one; nothing where there is no sentence."""
    if reading is None:
        return [0] * len(KINDS)
    return [round(_UNIT * math.log((share + _LEAST) * len(KINDS))) for share in reading.shares]


@cache
def _models() -> dict[str, NDArray[np.int64]]:
    card = json.loads(files("lamina.language").joinpath("data/decision_context.json").read_bytes())
    return {name: np.array(weights, dtype=np.int64) for name, weights in card.items()}
