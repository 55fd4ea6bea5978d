"""A store of 0.1 or 0.2 is upgraded where it is: everything is found, nothing is lost, the audit holds.

`tests/data/store-0.1.tar.xz` and `store-0.2.tar.xz` were made by these versions (schema 14, 21): a workspace
and the home with its key. In that of 0.2 something was purged, too: "The locker is number seven."
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import lamina
from lamina.engine import Engine
from lamina.testing import ManualClock

MADE = Path(__file__).parents[1] / "data"


def opened(version: str, folder: Path) -> Engine:
    with tarfile.open(MADE / f"store-{version}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    clock = ManualClock()
    clock.advance(days=2)
    environment = {"LAMINA_HOME": str(folder / "home")}
    return lamina.open(folder / "workspace", owner="ana", clock=clock, environment=environment)


@pytest.fixture(params=["0.1", "0.2"])
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    with opened(request.param, tmp_path) as engine:
        yield engine


def test_everything_is_still_known_in_three_languages_and_to_its_owner_alone(upgraded: Engine) -> None:
    ana, bob = upgraded.scope(), upgraded.scope(user="bob")
    assert {one.text for one in ana.list().items if one.space == "user"} == {
        "Deliveries take four days.",
        "friendly and short",
        "อานาชอบทำงานตอนเช้าที่ร้านกาแฟริมแม่น้ำ",
        "安娜每週三晚上學書法。",
        "I am allergic to peanuts",
    }
    assert ana.recall("how long do deliveries take?").hits[0].text == "Deliveries take four days."
    assert ana.recall("书法").hits[0].text == "安娜每週三晚上學書法。"
    assert [hit.text for hit in bob.recall("quay")] == ["Bob moors at the third quay."]
    assert not [hit for hit in ana.recall("quay") if "Bob" in hit.text]


def test_history_settings_what_waits_and_what_is_forgotten_come_along(upgraded: Engine) -> None:
    ana = upgraded.scope()
    steps = [step.new_text for step in ana.history("user:ana:semantic:1")]
    assert steps == ["Deliveries take five days.", "Deliveries take four days."]
    assert ana.resolve(["response.style"])["response.style"].value == "friendly and short"
    assert [one.text for one in ana.pending()] == ["Ana wants tables"]
    assert ana.restore("user:ana:semantic:4").decision == "admitted"
    assert ana.get("user:ana:semantic:4").text == "The umbrella stand is in the hall."


def test_the_audit_of_0_1_says_from_when_on_the_whole_story_is_sealed_and_that_of_0_2_is_sealed(
    tmp_path: Path,
) -> None:
    for version, told in (("0.1", ["story_sealed"]), ("0.2", [])):
        with opened(version, tmp_path / version) as engine:
            report = engine.verify_audit()
            assert report.intact
            assert [note.what for note in report.notes] == told
            engine.scope().remember("The kiln is fired on Thursdays.")
            assert engine.verify_audit().intact


def test_what_was_forgotten_or_purged_with_0_2_stays_so(tmp_path: Path) -> None:
    with opened("0.2", tmp_path) as engine:
        agent = engine.scope(agent="planner")
        for text in ("The locker is number seven.", "The umbrella stand is in the hall."):
            assert agent.remember(text).code == "refused_stays"
