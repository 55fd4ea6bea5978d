"""Candidates become hits: each keeps its rank and score in every retriever, and every adjustment by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta

from lamina.late import regex
from lamina.ranking.question import Manner, Question
from lamina.ranking.timing import Timing, says_when, told_of
from lamina.records import dataclass

#: The constant of reciprocal rank fusion.
K = 60
#: Naming a key or an id beats any wording.
EXACT = 2.0
#: What a relation to what was asked about adds, at its strongest.
RELATION = 0.05
#: Of a decayed memory's score this much is never lost.
DECAY_FLOOR = 0.85
SUPERSEDED = 0.3
#: What a time in the question is worth to what is from that time, and "latest" to the newest.
PERIOD, LATEST = 0.3, 0.1
#: The same where a question asks for nothing but what was then.
THEN = 2.0
#: A question seldom answers one, and an answer to "when" says when.
ASKING, DATED = 0.95, 1.1
PINNED, IMPORTANCE = 1.02, 0.005
#: What was only made out about a person comes behind what was said.
INSIGHT = 0.6
#: What it is worth to a turn that the one before it asked what is asked.
ANSWERS = 0.2
#: How much of the boosts below counts outside the form of the documents.
MILD = 0.1
_MIDDLING = 3
_SHORT = timedelta(days=31)  #: a text that names a longer time tells of more than a time
#: A text that ends with a question, whatever note in brackets follows.
_ASKS = regex(r"[?\uff1f]\s*(?:\[[^\]]*\]\s*)?$")


@dataclass(slots=True, kw_only=True)
class Traits:
    """What ranking looks at in a thing that was found."""

    text: str
    at: datetime
    layer: str = "semantic"
    decay: float = 1.0
    importance: int = _MIDDLING
    pinned: bool = False
    superseded: bool = False
    insight: bool = False  #: nobody said it: a model made it out
    relation: float = 0.0
    answers: float = 0.0  #: how far the turn before it asked what is asked


@dataclass(slots=True)
class Fused:
    """A candidate with what each retriever made of it."""

    id: str
    score: float = 0.0
    ranks: dict[str, int] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    adjustments: dict[str, float] = field(default_factory=dict)  #: `+near` is added, `*layer` multiplied
    share: float = 0.0  #: how much of the question its words say
    place: tuple[int, ...] = ()  #: its shelf and slot; empty where it was named and not found
    confidence: float = 0.0  #: how sure it is that this answers the question
    uncertainty: str = "high"  #: the same in a word


def asks(text: str) -> bool:
    """Whether a text ends with a question."""
    return ("?" in text or "\uff1f" in text) and _ASKS.search(text) is not None


def boost(layer: str, manner: Manner) -> float:
    """What a layer counts for a question asked in this manner."""
    match layer:
        case "procedural":
            return 1.2 if manner in (Manner.HOW_TO, Manner.RECALL) else 1.1
        case "episodic":
            return 1.1
        case "user_model":
            return 0.5
        case _:
            return 1.0


def ranks_by(found: Iterable[Fused], retriever: str) -> dict[str, int]:
    """The ranks of those that a retriever found, the best first; equals by id."""
    having = [one for one in found if one.scores.get(retriever, 0.0) > 0.0]
    having.sort(key=lambda one: (-one.scores[retriever], one.id))
    return {one.id: rank for rank, one in enumerate(having, 1)}


def reciprocal(found: Sequence[Fused], traits: Mapping[str, Traits], manner: Manner) -> None:
    """Scores as the documents define them: for each retriever, boost · 1/(K + rank) · decay is added."""
    for one in found:
        trait = traits[one.id]
        insight = INSIGHT if trait.insight else 1.0
        weight = boost(trait.layer, manner) * trait.decay * insight
        one.score = round(sum(weight / (K + rank) for rank in one.ranks.values()), 6)
        one.adjustments = {"*layer": boost(trait.layer, manner), "*decay": trait.decay}
        one.adjustments |= {"*insight": insight} if trait.insight else {}


def adjust(one: Fused, trait: Traits, question: Question, added: Mapping[str, float], plain: bool) -> None:
    """Put a candidate's own qualities into its score; `plain` decay multiplies without a floor."""
    timing = question.timing
    then = 0.0 if timing.period is None else _of_then(trait, timing)
    extra = dict(added)
    if "exact" in one.ranks:
        extra["exact"] = EXACT
    if trait.relation:
        extra["relation"] = RELATION * trait.relation
    if timing.bare and then == 1.0:
        extra["then"] = THEN
    factors = {
        "layer": 1.0 + MILD * (boost(trait.layer, question.manner) - 1.0),
        "decay": trait.decay if plain else DECAY_FLOOR + (1.0 - DECAY_FLOOR) * trait.decay,
        "importance": 1.0 + IMPORTANCE * (trait.importance - _MIDDLING),
    }
    if trait.pinned:
        factors["pinned"] = PINNED
    if trait.superseded:
        factors["superseded"] = SUPERSEDED
    if trait.insight:
        factors["insight"] = INSIGHT
    if then:
        factors["period"] = 1.0 + PERIOD * then
    if asks(trait.text):
        factors["asking"] = ASKING
    if trait.answers:
        factors["answers"] = 1.0 + ANSWERS * trait.answers
    if timing.when and says_when(trait.text):
        factors["dated"] = DATED
    _apply(one, extra, factors)


def _of_then(trait: Traits, timing: Timing) -> float:
    """How near a text is to the time that is asked about: by when it was said, or by the time it names."""
    period = timing.period
    if period is None:
        return 0.0
    named = told_of(trait.text, trait.at)
    if named is not None and named.end - named.start <= max(period.end - period.start, _SHORT):
        return 1.0 if period.meets(named) else 0.5 * period.nearness(trait.at)
    return 0.0 if timing.ahead else period.nearness(trait.at)


def newest_first(found: Sequence[Fused], traits: Mapping[str, Traits]) -> None:
    """Where the latest is asked for, the newer of what matches well comes before the older."""
    best = max((one.score for one in found), default=0.0)
    good = [one for one in found if one.score >= best / 2]
    good.sort(key=lambda one: (traits[one.id].at, one.id))
    for place, one in enumerate(good):
        _apply(one, {}, {"latest": 1.0 + LATEST * place / max(1, len(good) - 1)})


def _apply(one: Fused, added: Mapping[str, float], factors: Mapping[str, float]) -> None:
    score = one.score
    for name, value in added.items():
        if value:
            one.adjustments[f"+{name}"] = round(value, 6)
            score += value
    for name, value in factors.items():
        if value != 1.0:
            one.adjustments[f"*{name}"] = round(value, 6)
            score *= value
    one.score = round(score, 6)
