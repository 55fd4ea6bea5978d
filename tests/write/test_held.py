"""A key that an agent sets waits for its person; what the person says themselves is in force at once."""

from __future__ import annotations

import pytest

from lamina.engine import Engine
from lamina.lifecycle.consent import proposals
from lamina.model import Authority, Outcome
from lamina.scoped import ScopedMemory
from lamina.text.entries import EntryFile
from tests.backends import Place

#: Benign, ordinary and sensitive ones, in three languages.
KEYS = {
    "response.tone": "friendly",
    "response.style": "ตารางสั้นๆ",
    "favourite.food": "ต้มยำ",
    "user.goal.marathon": "跑完馬拉松",
    "goal.move": "ย้ายบ้าน",
    "response.verbosity": "concise",
    "user.timezone": "UTC",
    "user.expertise.docker": "expert",
    "code.style": "tabs",
    "最喜欢的茶": "龙井",
    "name": "Ada",
}


@pytest.fixture
def ana(engine: Engine) -> ScopedMemory:
    return engine.scope(session="s1")


@pytest.fixture
def planner(engine: Engine) -> ScopedMemory:
    return engine.scope(agent="planner", speaks_for=False, session="s1")


def _untouched(place: Place, ana: ScopedMemory) -> None:
    assert ana.resolve() == {}
    assert ana.keyed() == []
    if place.folder is not None:
        for name in ("PROFILE.md", "SESSION.md"):
            assert EntryFile.parse((place.folder / name).read_bytes()).entries == ()


@pytest.mark.parametrize("space", ["user", "session", "project"])
def test_every_key_of_an_agent_waits_and_the_agent_is_told_so(
    place: Place, ana: ScopedMemory, planner: ScopedMemory, space: str
) -> None:
    for key, value in KEYS.items():
        receipt = planner.remember(value, key=key, space=space)
        assert (receipt.decision, receipt.code) == (Outcome.HELD, "pending"), key
        assert key in receipt.acknowledgement
        assert receipt.warnings == (receipt.acknowledgement,)
    assert "waits for their yes or no" in planner.remember("formal", key="response.tone").acknowledgement
    assert sorted(one.key or "" for one in ana.pending()) == sorted(KEYS)
    _untouched(place, ana)
    for text in KEYS.values():
        assert text not in [hit.text for hit in ana.recall(text).hits]


def test_no_verb_of_an_agent_goes_around_that(place: Place, ana: ScopedMemory, planner: ScopedMemory) -> None:
    planner.remember_many([{"text": "friendly", "key": "response.tone"}])
    planner.layers.user_model.update(
        {"expertise": {"docker": "expert"}, "notes": ["likes tea"], "preferences": {"responseStyle": "dry"}}
    )
    planner.layers.learn("always answers in verse", layer="user_model")
    for said in ("remember favourite.food = tea", "จำไว้ว่า favourite.food = ชา", "记住 favourite.drink = 茶"):
        heard = planner.hear(said)
        assert heard.receipts[0].decision is Outcome.HELD, said
        assert heard.acknowledgement == heard.receipts[0].acknowledgement != ""
        assert "?" not in heard.acknowledgement  # it says that it waits; it asks the agent nothing
    planner.hear("Remember that Ana flies on Friday")
    _untouched(place, ana)
    assert ana.layers.user_model.get()["known"] == []


def test_what_an_agent_remembers_without_a_key_is_kept_at_once(
    ana: ScopedMemory, planner: ScopedMemory
) -> None:
    assert planner.remember("Ana seems to like trains").decision is Outcome.ADMITTED
    assert ana.recall("trains").hits[0].text == "Ana seems to like trains"


def test_what_the_person_says_is_in_force_at_once(place: Place, ana: ScopedMemory) -> None:
    for key, value in KEYS.items():
        assert ana.remember(value, key=key).decision is Outcome.ADMITTED
    assert ana.hear("remember favourite.drink = 茶").receipts[0].decision is Outcome.ADMITTED
    assert ana.pending() == []
    assert {key: one.value for key, one in ana.resolve().items()} == {**KEYS, "favourite.drink": "茶"}
    if place.folder is not None:
        assert "source:user_explicit" in place.profile.read_text("utf-8")


def test_a_line_that_a_person_leaves_in_a_file_is_theirs_whatever_its_source(workspace: Place) -> None:
    engine = workspace.open()
    wanted = {"favourite.food": "ต้มยำ", "user.name": "Ada"}
    lines = [f"- key:{key} | value:{value} | source:user_inferred\n" for key, value in wanted.items()]
    workspace.profile.write_text("".join(lines), "utf-8")
    ana = engine.scope()
    assert {key: one.value for key, one in ana.resolve().items()} == wanted
    assert {one.authority for one in ana.keyed()} == {Authority.AI_INFERRED}
    assert ana.pending() == []


def test_an_agent_cannot_reword_a_key_by_revising(
    place: Place, ana: ScopedMemory, planner: ScopedMemory
) -> None:
    for number in range(2):
        ana.hear(f"turn {number}")
        planner.remember("friendly", key="response.tone")
    kept = next(one for one in ana.keyed() if one.key == "response.tone")
    assert kept.authority is Authority.AI_INFERRED
    assert planner.revise(kept.id, "rude").decision is Outcome.HELD
    assert ana.resolve(["response.tone"])["response.tone"].value == "friendly"


def test_a_benign_key_of_an_agent_holds_once_two_turns_of_the_person_saw_it(
    place: Place, ana: ScopedMemory, planner: ScopedMemory
) -> None:
    for _ in range(3):  # outside of any turn, and then often in one: that is one turn
        assert planner.remember("friendly", key="response.tone", importance=5).decision is Outcome.HELD
    ana.hear("Which train do I take?")
    for _ in range(3):
        assert planner.remember("friendly", key="response.tone").decision is Outcome.HELD
    assert [one.signals for one in proposals(ana)] == [1]
    ana.hear("And back?")
    second = planner.remember("friendly", key="response.tone")
    assert (second.decision, second.code) == (Outcome.ADMITTED, "corroborated")
    assert "waits" not in second.acknowledgement
    assert ana.resolve(["response.tone"])["response.tone"].value == "friendly"
    if place.folder is not None:
        assert EntryFile.parse(place.profile.read_bytes()).entries == ()  # nobody agreed to it
    for number in range(3):
        ana.hear(f"turn {number}")
        assert planner.remember("tea", key="favourite.drink").decision is Outcome.HELD  # only a yes will do
        assert planner.remember("dry", key="response.style", space="session").decision is Outcome.HELD


def test_a_yes_is_to_what_was_asked_where_and_for_how_long(
    ana: ScopedMemory, planner: ScopedMemory, engine: Engine
) -> None:
    planner.remember("draft 2", key="task.file", space="session", ttl="session_end")
    planner.remember("eu-west", key="deploy.region", space="project", tags=["cloud"])
    planner.remember("tea", key="favourite.drink", ttl="7d")
    person = engine.scope()  # in another session, or in none
    for key in ("task.file", "deploy.region", "favourite.drink"):
        assert person.confirm(key)[0].code == "confirmed"
    found = {key: (one.value, one.provenance.scope) for key, one in ana.resolve().items()}
    assert found == {
        "task.file": ("draft 2", "session"),
        "deploy.region": ("eu-west", "project"),
        "favourite.drink": ("tea", "profile"),
    }
    assert engine.scope(session="s2").resolve(["task.file"]) == {}
    kept = {one.key: one for one in ana.keyed()}
    assert (kept["task.file"].ttl, kept["favourite.drink"].ttl) == ("session_end", "7d")
    assert kept["task.file"].authority is Authority.USER_ASSERTED


def test_what_is_past_its_time_is_in_nobodys_way(
    place: Place, ana: ScopedMemory, planner: ScopedMemory
) -> None:
    ana.remember("formal", key="response.tone", ttl="1h")
    ana.remember("tea", key="favourite.drink", ttl="1h")
    place.clock.advance(hours=2)
    for key in ("response.tone", "favourite.drink"):
        assert planner.remember("tea", key=key).decision is Outcome.HELD
    for number in range(2):
        ana.hear(f"turn {number}")
        planner.remember("tea", key="response.tone")
    ana.confirm("favourite.drink")
    assert ana.resolve(["favourite.drink"])["favourite.drink"].value == "tea"


def test_what_is_so_already_is_not_asked(ana: ScopedMemory, planner: ScopedMemory) -> None:
    ana.remember("tea", key="favourite.drink")
    for space in ("user", "session"):
        assert planner.remember("tea", key="favourite.drink", space=space).decision is Outcome.UNCHANGED
    assert proposals(ana) == []
