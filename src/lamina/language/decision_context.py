"""What a sentence does, by what stands around it: a linear model, trained, in whole numbers.

It weighs what the head makes of the sentence and of its neighbours in the message, what rules see, where it
stands, and what the encoder makes of it together with what was said right before, and of the answer to it.
`python -m tools.decisions` trains it after the head.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.language.decision_head import KINDS, Reading
from lamina.language.sorts import Wholes
from lamina.late import files

SORTS = ("settles", "task", "none")
#: What may be known of a sentence beside what it says.
SIGNS = (
    *("opens", "unanswered", "asked", "asked_back", "asked_short", "further", "ends", "alone", "goes_on"),
    *("turn0", "turn1", "turn2", "turn3", "tiny", "short", "middle", "long", "number", "ruled"),
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
    *("requests", "acts", "continues", "leads_in", "needs_subject", "adds", "assents"),
    *("theirs", "supposes", "quoted", "asserted", "echoed", "picks", "to_settle", "owned", "mine", "due"),
)
#: Readings: of the sentence, or of a short answer; of the one before and of the one behind it in the message.
READ = 4
WIDTH = 384  #: numbers that the encoder has for a text on the whole
STEP = 1 << 20  #: steps per unit of a score
SURE = 0.62  #: how sure the head has to be that something is settled, by letters and signs alone
_SURE_ALONE = 0.85  #: the same beside its encoder
_AGAINST, _IN_DOUBT = {"theirs", "doubts", "supposes"}, 0.6  #: what speaks against it, and what is left of it
_UNIT = 100  #: steps per unit of what is weighed
_LEAST = 0.001
_MIDWAY = 64  #: steps per unit of what an encoder makes of a text


class Around(NamedTuple):
    """A sentence and what stands around it."""

    readings: tuple[Reading | None, ...]
    signs: frozenset[str]
    is_alone: bool  #: no agent said anything before or after it
    both: Wholes | None = None  #: what the encoder makes of it together with what was said before it
    answer: Wholes | None = None  #: and of the beginning of the answer


class Seen(NamedTuple):
    """How likely a sentence settles something, and hands something out, where it stands."""

    settles: float
    task: float


def seen_in(around: Around) -> Seen:
    """What a sentence does where it stands; what stands alone is as the head reads it."""
    has_encoder = around.both is not None
    if around.is_alone:
        return _alone(around, _SURE_ALONE if has_encoder else SURE)
    weights = _models()["encoder" if has_encoder else "letters"]
    sums = features(around) @ weights[:-1] + weights[-1]
    powers = [math.exp(int(one - sums.max()) / STEP) for one in sums]
    settles, task, _ = (round(one / sum(powers), 4) for one in powers)
    return Seen(settles, task)


def _alone(around: Around, sure: float) -> Seen:
    reading = next((one for one in around.readings if one is not None), None)
    if reading is None:
        return Seen(0.0, 0.0)
    against = not around.signs.isdisjoint(_AGAINST) or "asserted" not in around.signs
    share = reading.settles * (_IN_DOUBT if against else 1.0)
    far = share / sure if share < sure else 1 + (share - sure) / (1 - sure)
    return Seen(round(far / 2, 4), reading.share("task"))


def features(around: Around) -> Wholes:
    """What is weighed, in whole numbers."""
    found = [number for one in around.readings for number in _logarithms(one)]
    found += [_UNIT * (name in around.signs) for name in SIGNS]
    if around.both is None:
        return np.array(found, dtype=np.int64)
    nothing = np.zeros(WIDTH, dtype=np.int64)
    parts = [nothing if one is None else one[:WIDTH] for one in (around.both, around.answer)]
    return np.concatenate([np.array(found, dtype=np.int64), *(part * _UNIT // _MIDWAY for part in parts)])


def _logarithms(reading: Reading | None) -> list[int]:
    """How far each share is from an even one; nothing where there is no sentence."""
    if reading is None:
        return [0] * len(KINDS)
    return [round(_UNIT * math.log((share + _LEAST) * len(KINDS))) for share in reading.shares]


@cache
def _models() -> dict[str, NDArray[np.int64]]:
    card = json.loads(files("lamina.language").joinpath("data/decision_context.json").read_bytes())
    return {name: np.array(weights, dtype=np.int64) for name, weights in card.items()}
