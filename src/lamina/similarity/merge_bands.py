"""When two memories become one: said twice, or in the bands of closeness, with the values compared first.

A neighbour that says the same is merged with; one that gives another value is replaced; anything else stands
beside the new one. Pure: who may change what is decided where it is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache

from lamina.config import Config
from lamina.errors import ConfigError
from lamina.late import late, read_rules, regex
from lamina.model import Deny, Layer, Memory
from lamina.records import dataclass
from lamina.similarity.compare import Comparison, StatementRelation
from lamina.text.normalise import folded
from lamina.text.terms import query_terms

with late():
    import difflib

TOP_K, FALLBACK_K = 5, 3
RECENT = timedelta(days=90)
_NUMBER = regex(r"\d{1,18}")
_SHORTEST = 3  #: letters of a shared word that tells something; Thai and Chinese words are cut by meaning
_FORGET_ONE = "If they do say the same, forget one of them."


@dataclass(frozen=True, slots=True)
class Bands:
    """From which closeness on something is merged: at once, after a check, or only with further signs."""

    auto: float = 0.85
    check: float = 0.60
    fallback: float | None = 0.30  #: None, and nothing below `check` is merged

    def __post_init__(self) -> None:
        lowest = self.check if self.fallback is None else self.fallback
        if not 0 <= lowest <= self.check <= self.auto <= 1:
            raise ConfigError(
                "The merge thresholds must rise: 0 <= merge_fallback <= merge_check <= merge_auto <= 1.",
                code="bands_invalid",
            )


@dataclass(frozen=True, slots=True)
class MergeBands:
    """The bands in force, and what is done within them."""

    bands: Bands = Bands()
    strict: Bands = Bands(0.92, 0.75, None)
    mode: str = "recreate"
    on_write: bool = False

    def bands_for(self, layer: Layer) -> Bands:
        return self.strict if layer is Layer.USER_MODEL else self.bands


@cache
def _tables() -> Mapping[str, Mapping[str, float]]:
    return read_rules("lamina.similarity", "bands.toml")


def measured(embedder_id: str | None) -> str:
    """The table that holds for an encoder; `words` where nobody has measured it, or there is none."""
    return embedder_id if embedder_id and embedder_id in _tables() else "words"


def merging(config: Config, embedder_id: str | None) -> MergeBands:
    """The bands for an encoder, with the settings' own thresholds where they have any."""
    if config.merge_mode not in ("recreate", "update"):
        said = f"`merge_mode` is recreate or update, not {config.merge_mode!r:.40}."
        raise ConfigError(said, code="merge_mode_invalid")
    asked = {"auto": config.merge_auto, "check": config.merge_check, "fallback": config.merge_fallback}
    own = {name: value for name, value in asked.items() if value >= 0}
    strict = _tables()["strict"]
    return MergeBands(
        Bands(**{**_tables()[measured(embedder_id)], **own}),
        Bands(strict["auto"], strict["check"], None),
        config.merge_mode,
        config.merge_on_write,
    )


@dataclass(frozen=True, slots=True)
class Near:
    """A memory close to a new statement."""

    memory: Memory
    found: Comparison


@dataclass(frozen=True, slots=True)
class Merge:
    """Both say the same: one memory is enough."""

    memory: Memory
    band: str  #: auto, check or fallback
    closeness: float


@dataclass(frozen=True, slots=True)
class Update:
    """The new statement gives another value for the same thing."""

    memory: Memory
    band: str
    closeness: float


def banded(text: str, near: Iterable[Near], bands: Bands, now: datetime) -> Merge | Update | None:
    """What becomes of a statement beside its neighbours of the same category; None keeps it by itself.

    The closest that is not about something else decides, equals by id. Another value is never merged, nor is
    what one of the two limits or doubts: "used to live in Bangkok" says something else.
    """
    closest = sorted(near, key=lambda one: (-one.found.closeness, one.memory.id))[:TOP_K]
    lowest, looked = bands.check if bands.fallback is None else bands.fallback, 0
    for one in closest:
        close, memory = one.found.closeness, one.memory
        if one.found.relation is StatementRelation.UNRELATED or close < lowest:
            continue
        band = "auto" if close >= bands.auto else "check" if close >= bands.check else "fallback"
        if one.found.conflicts:
            return Update(memory, band, close)
        if limits(text) != limits(memory.text):
            continue
        looked += band == "fallback"
        if band != "fallback" or (looked <= FALLBACK_K and _signs(text, memory, now)):
            return Merge(memory, band, close)
    return None


def _signs(text: str, memory: Memory, now: datetime) -> bool:
    """What a merge in the lowest band needs: something recent, and a word or number in common."""
    return now - memory.updated_at <= RECENT and in_common(text, memory.text)


def in_common(one: str, other: str) -> bool:
    """A word, or a number that is the same or next to the other's."""
    if any(
        len(word) >= _SHORTEST or not word.isascii()
        for word in set(query_terms(one)) & set(query_terms(other))
    ):
        return True
    numbers = [{int(found) for found in _NUMBER.findall(text)} for text in (one, other)]
    return any(abs(mine - theirs) <= 1 for mine in numbers[0] for theirs in numbers[1])


def differing(one: Memory, other: Memory, found: Comparison) -> Deny | None:
    """Why two memories do not become one; None where they say the same."""
    said = f"{one.id} and {other.id}: {found.why}."
    if found.conflicts:
        return Deny("values_differ", said, "Revise or forget the one that no longer holds.")
    if found.relation is StatementRelation.UNRELATED:
        return Deny("not_alike", said, _FORGET_ONE)
    if limits(one.text) != limits(other.text):
        return Deny("not_alike", f"One of {one.id} and {other.id} limits what the other says.", _FORGET_ONE)
    return None


_LONGEST = 2_000
_UNIT = regex(
    r"[a-z]*\d[a-z\d]*(?:[.,:/-]\d+)*%?|[a-z]+|[^\W_]|[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]"
    r"|[^\w\s.,;:!?'\"()…。，、！？；：「」『』（）]"
)


def said_twice(one: str, other: str) -> bool:
    """Whether nothing is lost if only one of the two is kept, whichever it is; symmetric.

    One phrase may stand elsewhere ("every day the …"); of single words the order is part of what is said.
    """
    mine, theirs = _units(one), _units(other)
    runs: tuple[list[tuple[str, ...]], list[tuple[str, ...]]] = ([], [])
    for what, a, b, c, d in difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if what != "equal":
            runs[0].append(tuple(mine[a:b]))
            runs[1].append(tuple(theirs[c:d]))
    moved = [run for run in runs[0] if len(run) > 1 and run in runs[1]][:1]
    return all(_says_nothing(run) for side in runs for run in side if run not in moved)


def _says_nothing(run: tuple[str, ...]) -> bool:
    joined = "".join(f" {unit} " if unit.isascii() else unit for unit in run)
    return all(_empty().fullmatch(piece) for piece in joined.split())


def _units(text: str) -> list[str]:
    """Words as they are, since an ending may be a tense; characters of scripts without blanks; symbols."""
    return _UNIT.findall(folded(text[:_LONGEST]))


def limits(text: str) -> frozenset[str]:
    """The words of a statement that limit, date or doubt what the rest says."""
    return frozenset(_limits().findall(folded(text[:_LONGEST])))


@cache
def _empty() -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(map(re.escape, _listed('empty')))})+")


@cache
def _limits() -> re.Pattern[str]:
    words = (rf"\b{word}\b" if word.isascii() else word for word in _listed("limits"))
    return re.compile("|".join(words))


def _listed(name: str) -> list[str]:
    """The words of a list as texts are looked at, the longest first."""
    words = read_rules("lamina.similarity", "doubles.toml")[name]
    return sorted({folded(word) for word in words}, key=lambda word: (-len(word), word))
