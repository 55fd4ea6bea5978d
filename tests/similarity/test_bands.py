"""The bands of merging: values first, then closeness, and in the lowest band further signs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lamina.config import Config
from lamina.encoders.static import StaticEncoder
from lamina.errors import ConfigError
from lamina.model import Authority, Kind, Layer, Memory, Provenance, Role, Space
from lamina.similarity.compare import Comparison, StatementRelation
from lamina.similarity.merge_bands import Bands, Merge, Near, Update, banded, differing, measured, merging

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BANDS = Bands()


def near(
    closeness: float, relation: str = "same", text: str = "Ana keeps bees", days: int = 1, number: int = 1
) -> Near:
    at = NOW - timedelta(days=days)
    memory = Memory(
        id=f"user:ana:semantic:{number}",
        space=Space.USER,
        owner="ana",
        layer=Layer.SEMANTIC,
        kind=Kind.FACT,
        text=text,
        authority=Authority.USER_ASSERTED,
        created_at=at,
        updated_at=at,
        provenance=Provenance(actor="ana", role=Role.USER, via="python"),
    )
    return Near(memory, Comparison(StatementRelation(relation), closeness, closeness, ""))


@pytest.mark.parametrize(
    ("closeness", "band"),
    [(0.85, "auto"), (0.84, "check"), (0.6, "check"), (0.59, "fallback"), (0.3, "fallback")],
)
def test_closeness_names_the_band(closeness: float, band: str) -> None:
    found = banded("Ana keeps many bees", [near(closeness)], BANDS, NOW)
    assert isinstance(found, Merge)
    assert (found.band, found.closeness) == (band, closeness)
    assert banded("Ana keeps many bees", [near(0.29)], BANDS, NOW) is None


@pytest.mark.parametrize("relation", ["changed", "contradiction"])
@pytest.mark.parametrize("closeness", [0.99, 0.7, 0.4])
def test_another_value_is_an_update_however_close_it_is(relation: str, closeness: float) -> None:
    assert isinstance(banded("Ana keeps 3 bees", [near(closeness, relation)], BANDS, NOW), Update)


def test_the_closest_that_is_about_the_same_decides_and_equals_go_by_id() -> None:
    far, other = near(0.7, number=3), near(0.95, "unrelated", number=1)
    twins = [near(0.9, number=5), near(0.9, "changed", number=2)]
    assert banded("x", [far, other], BANDS, NOW) == Merge(far.memory, "check", 0.7)
    assert banded("x", [far, *twins], BANDS, NOW) == Update(twins[1].memory, "auto", 0.9)


@pytest.mark.parametrize(
    ("said", "known", "days", "merged"),
    [
        ("Ana has bees", "Bees of Ana", 1, True),
        ("Ana has bees", "Bees of Ana", 91, False),  # nobody has spoken of it for a quarter
        ("at 9", "by 10", 1, True),  # a number next to it
        ("at 9", "by 12", 1, False),
        ("it is so", "is it on", 1, False),
        ("อานาเลี้ยงผึ้ง", "ผึ้งของอานา", 1, True),
        ("安娜养蜜蜂", "蜜蜂是安娜的", 1, True),
        ("9" * 5000, "8", 1, False),
    ],
)
def test_the_lowest_band_needs_something_recent_in_common(
    said: str, known: str, days: int, merged: bool
) -> None:
    assert isinstance(banded(said, [near(0.5, text=known, days=days)], BANDS, NOW), Merge) is merged


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("Ana used to keep bees", "Ana keeps bees"),
        ("Ana keeps bees", "Ana wants to keep bees"),
        ("Ana only keeps bees", "Ana keeps bees"),
        ("อานาเคยเลี้ยงผึ้ง", "อานาเลี้ยงผึ้ง"),
        ("安娜以前养蜜蜂", "安娜养蜜蜂"),
        ("安娜可能養蜜蜂", "安娜養蜜蜂"),
    ],
)
def test_what_one_of_two_limits_or_doubts_is_not_merged(said: str, known: str) -> None:
    one, other = near(0.95, text=said), near(0.95, text=known, number=2)
    assert banded(said, [other], BANDS, NOW) is None
    assert differing(one.memory, other.memory, other.found) is not None
    assert differing(one.memory, one.memory, one.found) is None


def test_what_is_said_of_a_person_has_stricter_bands_and_no_fallback() -> None:
    rules = merging(Config(), None)
    strict = rules.bands_for(Layer.USER_MODEL)
    assert (strict.auto, strict.check, strict.fallback) == (0.92, 0.75, None)
    assert banded("Ana keeps bees", [near(0.74)], strict, NOW) is None
    assert isinstance(banded("Ana keeps bees", [near(0.76)], strict, NOW), Merge)


def test_thresholds_belong_to_an_encoder_and_an_unmeasured_one_is_not_asked() -> None:
    assert measured(StaticEncoder().embedder_id) != "words"
    assert measured("text-embedding-9") == measured(None) == "words"
    assert merging(Config(merge_auto=0.95, merge_fallback=0.0), None).bands == Bands(0.95, 0.6, 0.0)


@pytest.mark.parametrize(
    "wrong", [{"merge_auto": 0.2}, {"merge_check": 0.9}, {"merge_fallback": 0.7}, {"merge_auto": 2.0}]
)
def test_thresholds_that_do_not_rise_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError) as caught:
        merging(Config(**wrong), None)
    assert caught.value.code == "bands_invalid"
