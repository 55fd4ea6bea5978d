"""Candidates become hits: each keeps its rank and score in every retriever, and every adjustment by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from functools import lru_cache

from lamina.late import late, regex
from lamina.model import Authority, Kind, Layer, Memory
from lamina.ranking.question import Manner, Question
from lamina.ranking.timing import Timing, says_when, told_of
from lamina.records import dataclass

with late():  # only what a conversation holds is looked at so
    from lamina.language import framing, view

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
#: A turn that is one question and tells nothing of who asks is no answer, however like one it is.
ONLY_ASKS = 0.2
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
_MORE = regex(r"[.!?\u3002\uff01\uff1f\n]\s*\S")
#: Who asks what was asked wants a question.
_WHAT_WAS_ASKED = regex(r"(?i)\bask(?:ed|s)?\b|\bquestions?\b|ถาม|问|問")
#: Who asks for "a bag for my Sony A7" tells what they own.
_TELLS = regex(r"(?i)\b(?:i|me|my|mine|we|us|our|ours)\b|ผม|ฉัน|หนู|เรา|ดิฉัน|เค้า|我|咱|俺")
_TURNS = (Layer.WORKING, Layer.EPISODIC)


@dataclass(slots=True)
class Fused:
    """A candidate with what each retriever made of it."""

    id: str
    memory: Memory
    score: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)
    share: float = 0.0  #: how much of the question its words say
    place: tuple[int, ...] = ()  #: its shelf and slot; empty where it was named and not found
    ranks: dict[str, int] = field(default_factory=dict)
    adjustments: dict[str, float] = field(default_factory=dict)  #: `+near` is added, `*layer` multiplied
    relation: float = 0.0  #: how strongly it is linked to another that matches well
    answers: float = 0.0  #: how far the turn before it asked what is asked
    confidence: float = 0.0  #: how sure it is that this answers the question
    uncertainty: str = "high"  #: the same in a word

    @property
    def text(self) -> str:
        """What it says, with its key before it."""
        memory = self.memory
        return f"{memory.key}: {memory.text}" if memory.key else memory.text


def asks(text: str) -> bool:
    """Whether a text ends with a question."""
    return ("?" in text or "\uff1f" in text) and _ASKS.search(text) is not None


def only_asks(memory: Memory, question: str) -> bool:
    """Whether a turn of a conversation is one question that tells nothing of its speaker, and no such thing
    is looked for."""
    text = memory.text
    if memory.layer not in _TURNS or _MORE.search(text) or _TELLS.search(text):
        return False
    if _WHAT_WAS_ASKED.search(question):
        return False
    return asks(text) or framing.is_asked(view.view_of(text).text)


@lru_cache(maxsize=64)
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


def ranked_by(found: Iterable[Fused], retriever: str) -> list[Fused]:
    """Those that a retriever found, the best first; equals by id."""
    having = [one for one in found if retriever in one.scores]
    having.sort(key=lambda one: (-one.scores[retriever], one.id))
    return having


def reciprocal(one: Fused, decay: float, manner: Manner) -> None:
    """The score as the documents define it: for each retriever, boost · 1/(K + rank) · decay is added."""
    layer, made_out = boost(one.memory.layer, manner), _made_out(one.memory)
    weight = layer * decay * (INSIGHT if made_out else 1.0)
    one.score = round(sum(weight / (K + rank) for rank in one.ranks.values()), 6)
    one.adjustments = {"*layer": layer, "*decay": decay, **({"*insight": INSIGHT} if made_out else {})}


_INSIGHT, _INFERRED = Kind.INSIGHT, Authority.AI_INFERRED  # asked of every candidate


def _made_out(memory: Memory) -> bool:
    """Whether nobody said it, and a model made it out."""
    return memory.kind is _INSIGHT and memory.authority is _INFERRED


def adjust(one: Fused, decay: float, question: Question, added: Mapping[str, float], plain: bool) -> None:
    """Put a candidate's own qualities into its score; `plain` decay multiplies without a floor.

    Every recall does this to dozens: what changes nothing is not noted.
    """
    memory, timing, text, extra = one.memory, question.timing, one.text, added
    then = 0.0 if timing.period is None else _of_then(one, timing)
    if one.relation or timing.bare or "exact" in one.ranks:
        told = {"exact": EXACT if "exact" in one.ranks else 0.0, "relation": RELATION * one.relation}
        extra = {**added, **told, "then": THEN if timing.bare and then == 1.0 else 0.0}
    factors: dict[str, float] = {}
    if (layer := boost(memory.layer, question.manner)) != 1.0:
        factors["*layer"] = 1.0 + MILD * (layer - 1.0)
    factors["*decay"] = decay if plain else DECAY_FLOOR + (1.0 - DECAY_FLOOR) * decay
    if memory.importance != _MIDDLING:
        factors["*importance"] = 1.0 + IMPORTANCE * (memory.importance - _MIDDLING)
    if memory.pinned:
        factors["*pinned"] = PINNED
    if memory.superseded_by is not None:
        factors["*superseded"] = SUPERSEDED
    if _made_out(memory):
        factors["*insight"] = INSIGHT
    if then:
        factors["*period"] = 1.0 + PERIOD * then
    if only_asks(memory, question.text):
        factors["*asking"] = ONLY_ASKS
    elif asks(text):
        factors["*asking"] = ASKING
    if one.answers:
        factors["*answers"] = 1.0 + ANSWERS * one.answers
    if timing.when and says_when(text):
        factors["*dated"] = DATED
    _apply(one, extra, factors)


def _of_then(one: Fused, timing: Timing) -> float:
    """How near a text is to the time that is asked about: by when it was said, or by the time it names."""
    period, at = timing.period, one.memory.said_at
    if period is None:
        return 0.0
    named = told_of(one.text, at)
    if named is not None and named.end - named.start <= max(period.end - period.start, _SHORT):
        return 1.0 if period.meets(named) else 0.5 * period.nearness(at)
    return 0.0 if timing.ahead else period.nearness(at)


def newest_first(found: Sequence[Fused]) -> None:
    """Where the latest is asked for, the newer of what matches well comes before the older."""
    best = max((one.score for one in found), default=0.0)
    good = [one for one in found if one.score >= best / 2]
    good.sort(key=lambda one: (one.memory.said_at, one.id))
    for place, one in enumerate(good):
        _apply(one, {}, {"*latest": 1.0 + LATEST * place / max(1, len(good) - 1)})


def _apply(one: Fused, added: Mapping[str, float], factors: Mapping[str, float]) -> None:
    score, noted = one.score, one.adjustments
    for name, value in added.items():
        if value:
            noted[f"+{name}"] = value
            score += value
    for name, value in factors.items():
        if value != 1.0:
            noted[name] = value
            score *= value
    one.score = round(score, 6)
