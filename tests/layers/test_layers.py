"""The five layers: what each promises, the document's success criteria, and the faults of its first code."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lamina.engine import Engine
from lamina.errors import Denied, InvalidInput, NotFound
from lamina.language.layering import confidence_of
from lamina.lifecycle.fading import expire_episodes
from lamina.model import Layer, Outcome, State
from lamina.ranking.decay import decay
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock
from lamina.text.accounts import united
from tests.backends import Place, a_place


@pytest.fixture(params=("sqlite", "workspace_on_postgres"))
def place(request: pytest.FixtureRequest, tmp_path: Path, lamina_home: Path) -> Iterator[Place]:
    """On both databases, each with a workspace."""
    yield from a_place(request, tmp_path, lamina_home, request.param)


STEPS = ["ถาม environment ก่อน", "ตรวจ docker-compose.yml", "รัน docker compose up -d --build"]


def test_a_user_model_has_defaults_until_something_is_known(ana: ScopedMemory) -> None:
    model = ana.layers.user_model.get()
    assert model["userId"] == "ana"
    assert model["preferences"] == {"language": "th", "responseLength": "auto", "responseStyle": "casual"}
    assert (model["timezone"], model["notes"], model["expertise"], model["confidence"]) == (
        "Asia/Bangkok",
        [],
        {},
        0,
    )


def test_an_update_is_merged_and_leaves_the_rest_alone(ana: ScopedMemory) -> None:
    model = ana.layers.user_model
    model.update({"expertise": {"docker": "expert"}, "preferences": {"responseLength": "concise"}})
    model.update({"expertise": {"การถ่ายภาพ": "novice"}, "preferences": {"language": "en"}})
    found = model.get()
    assert found["expertise"] == {"docker": "expert", "การถ่ายภาพ": "novice"}
    assert found["preferences"] == {"language": "en", "responseLength": "concise", "responseStyle": "casual"}
    assert found["confidence"] == 0.95


def test_a_list_grows_and_never_loses_an_item(ana: ScopedMemory) -> None:
    model = ana.layers.user_model
    model.update({"notes": ["ชอบ bullet points"], "commonTopics": ["docker"]})
    model.update({"notes": ["使用繁體中文", "ชอบ  bullet points"], "commonTopics": ["Docker", "nanoclaw"]})
    assert model.get()["notes"] == ["ชอบ bullet points", "使用繁體中文"]
    assert model.get()["commonTopics"] == ["docker", "nanoclaw"]


def test_c_and_its_relatives_are_topics_of_their_own_and_one_item_can_be_removed(ana: ScopedMemory) -> None:
    """L-2."""
    model = ana.layers.user_model
    levels = {"C": "expert", "C++": "advanced", "C#": "novice", "แมว C＋": "novice", "node.js": "expert"}
    model.update({"expertise": levels, "notes": ["ชอบชา", "喝茶"], "timezone": "Asia/Taipei"})
    found = {"c": "expert", "c++": "advanced", "c#": "novice", "แมว_c+": "novice", "node.js": "expert"}
    assert model.get()["expertise"] == found
    model.update({"expertise": {"c#": "expert"}})
    assert model.get()["expertise"] == {**found, "c#": "expert"}

    (receipt,) = model.remove("expertise.C++")
    model.remove("notes.ชอบชา")
    model.remove("timezone")
    left = model.get()
    assert "c++" not in left["expertise"]
    assert (left["expertise"]["c"], left["notes"], left["timezone"]) == ("expert", ["喝茶"], "Asia/Bangkok")
    ana.restore(receipt.ids[0])
    assert model.get()["expertise"]["c++"] == "advanced"
    with pytest.raises(NotFound):
        model.remove("expertise.cobol")
    with pytest.raises(InvalidInput, match=r"expertise\.docker"):
        model.remove("mood")


def test_a_reset_forgets_the_model_and_can_be_undone(ana: ScopedMemory) -> None:
    model = ana.layers.user_model
    model.update({"timezone": "Asia/Taipei", "preferences": {"language": "zh"}})
    kept = next(one for one in ana.keyed() if one.key == "user.timezone")
    assert model.reset() == 2
    assert model.get()["timezone"] == "Asia/Bangkok"
    ana.restore(kept.id)
    assert model.get()["timezone"] == "Asia/Taipei"


def test_a_user_model_is_its_users_alone_and_in_no_file_of_the_workspace(workspace: Place) -> None:
    engine = workspace.open()
    ana, ben = engine.scope(), engine.scope(user="ben")
    ana.layers.user_model.update({"expertise": {"docker": "expert"}, "notes": ["Ana snores"]})
    assert ben.layers.user_model.get()["expertise"] == {}
    assert not ben.recall("snores").hits
    found = [
        path for path, data in workspace.files().items() if b"snores" in data and ".lamina" not in path.parts
    ]
    assert found == []


def test_every_update_of_the_model_is_in_the_history(ana: ScopedMemory) -> None:
    ana.layers.user_model.update({"expertise": {"docker": "novice"}})
    ana.layers.user_model.update({"expertise": {"docker": "expert"}})
    known = next(one for one in ana.keyed() if one.key == "user.expertise.docker")
    assert known.supersedes is not None
    assert [step.old_text for step in ana.history(known.id)] == ["novice"]


def test_what_an_agent_says_against_the_persons_word_waits_for_theirs(engine: Engine) -> None:
    ana, agent = engine.scope(), engine.scope(agent="planner")
    ana.layers.user_model.update({"expertise": {"docker": "novice"}})
    receipt = agent.layers.user_model.update({"expertise": {"docker": "expert"}})[0]
    assert receipt.decision is Outcome.HELD
    assert ana.layers.user_model.get()["expertise"] == {"docker": "novice"}
    ana.confirm("user.expertise.docker")
    assert ana.layers.user_model.get()["expertise"] == {"docker": "expert"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"expertise": {"docker": "god"}},
        {"notes": "one"},
        {"activeHours": {"start": 9}},
        {"mood": "good"},
        {"expertise": {"🐍": "expert"}},  # L-2, like those below
        {"timezone": "Mars/Phobos"},
        {"timezone": "../UTC"},
        {"preferences": {"language": "fr"}},
        ["a"],
    ],
)
def test_an_update_that_cannot_be_understood_changes_nothing(ana: ScopedMemory, wrong: object) -> None:
    with pytest.raises(InvalidInput):
        ana.layers.user_model.update(wrong)
    assert ana.layers.user_model.get()["known"] == []


def test_a_procedure_is_found_by_its_task_and_counted_when_used(ana: ScopedMemory) -> None:
    learnt = ana.layers.procedures.learn("user ถามเรื่อง deploy Docker", STEPS, "repeated_pattern")
    found = ana.layers.procedures.find("ช่วย deploy docker หน่อย")
    assert [one.id for one in found] == list(learnt.ids)
    assert found[0].steps == tuple(STEPS)
    ana.layers.procedures.used(learnt.ids[0])
    again = ana.layers.procedures.used(learnt.ids[0], "failed")
    assert (again.success_count, again.failure_count) == (1, 1)
    assert again.last_used is not None


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        ("deploy Docker", "when the user asks to deploy Docker", True),
        ("เมื่อลูกค้าขอคืนเงิน", "ลูกค้าขอคืนเงิน", True),
        ("客户要求退款", "当客户要求退款时", True),
        ("deploy to staging", "deploy to production", False),
        ("เปิดเซิร์ฟเวอร์", "ปิดเซิร์ฟเวอร์", False),
        ("备份数据库", "恢复数据库", False),
    ],
)
def test_procedures_for_one_task_are_one_and_for_two_are_two(
    ana: ScopedMemory, one: str, other: str, merged: bool
) -> None:
    first = ana.layers.procedures.learn(one, ["look", "act"])
    second = ana.layers.procedures.learn(other, ["look", "think", "act"])
    assert (second.code == "merged", first.ids == second.ids) == (merged, merged)
    if merged:
        known = ana.layers.procedures.find(one)[0]
        assert known.steps == ("look", "think", "act")
        assert known.success_count == 1


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (["a", "c"], ["a", "b", "c"], ("a", "b", "c")),
        (["b"], ["a", "b"], ("a", "b")),
        (["a"], ["b"], ("a", "b")),
        (["a", "b"], ["A", "x"], ("a", "x", "b")),
    ],
)
def test_steps_are_united_in_their_order(one: list[str], other: list[str], both: tuple[str, ...]) -> None:
    assert united(one, other) == both


def test_procedures_found_by_their_place_are_those_met_on_the_way(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = engine.scope(project="shop")
    things = ("deploy the shop", "ส่งรายงานลูกค้า", "备份数据库")
    ana.remember_many({"text": f"{thing}, {number} times"} for thing in things for number in range(60))
    for thing in things:
        for word in ("today", "urgent", "night"):
            ana.layers.procedures.learn(f"{thing} {word}", [f"ask about {word}", "do it"])
    ana.layers.procedures.learn("deploy the shop together", ["tell the team"], space="project")
    gone = ana.layers.procedures.learn("deploy the shop never", ["stop"]).ids[0]
    ana.forget(gone)

    def found() -> list[list[tuple[str, float]]]:
        asked = [*things, "urgent", "nothing of the kind"]
        hits = [ana.recall(one, k=20, layers=[Layer.PROCEDURAL]) for one in asked]
        return [[(hit.id, hit.score) for hit in one] for one in hits]

    by_place = found()
    monkeypatch.setattr("lamina.retrieval.hits._FEW", -1)  # more than that: as if there were too many
    assert by_place == found()
    assert all(len(one) > 2 for one in by_place)  # where nothing fits, guesses
    assert gone not in {one for hits in by_place for one, _ in hits}


def test_an_agent_cannot_rewrite_a_persons_procedure(engine: Engine) -> None:
    ana, agent = engine.scope(), engine.scope(agent="planner")
    first = ana.layers.procedures.learn("deploy Docker", ["ask", "deploy"])
    agent.layers.procedures.learn("deploy docker", ["deploy at once"])
    assert ana.get(first.ids[0]).meta["procedure"] == ["ask", "deploy"]


def test_a_proposed_procedure_counts_once_the_person_agrees(ana: ScopedMemory) -> None:
    held = ana.layers.procedures.propose("release notes", ["collect", "write"], "correction", "inferred")
    assert held.decision is Outcome.HELD
    assert ana.layers.procedures.find("release notes") == []
    ana.confirm(ana.pending()[0].key)
    assert ana.layers.procedures.find("release notes")[0].source == "correction"


def test_69_days_unread_is_a_half_of_recency_and_a_quarter_of_score(clock: ManualClock) -> None:
    now = clock.now()
    found = decay(Layer.SEMANTIC, now - timedelta(days=69.3147), 0, now)
    assert found.recency == pytest.approx(0.5, abs=1e-3)
    assert found.access == 0.5
    assert found.score == pytest.approx(0.25, abs=1e-3)
    assert decay(Layer.SEMANTIC, now, 10, now).score == 1.0
    assert decay(Layer.PROCEDURAL, now - timedelta(days=138.6), 10, now).recency == pytest.approx(
        0.5, abs=1e-3
    )
    assert decay(Layer.USER_MODEL, now - timedelta(days=900), 0, now).score == 1.0


@pytest.mark.parametrize(
    ("origin", "source", "sure"),
    [
        ("human", None, 0.95),
        ("mother", None, 0.90),
        ("correction", None, 0.85),
        (None, "https://x.org", 0.80),
        (None, None, 0.60),
        ("volt", "a chat", 0.60),
    ],
)
def test_confidence_follows_from_the_origin(origin: str | None, source: str | None, sure: float) -> None:
    assert confidence_of(origin, source) == sure


def test_hits_are_counted_off_the_response_path(engine: Engine, place: Place, clock: ManualClock) -> None:
    ana = engine.scope()
    known = ana.remember("The staging server is in Osaka").ids[0]
    before = place.tables()
    for _ in range(3):
        assert ana.recall("staging server").hits
    assert place.tables() == before
    assert engine.apply_reads() == 1
    memory = ana.get(known)
    assert (memory.access_count, memory.last_accessed_at, memory.revision) == (3, clock.now(), 1)


def test_a_process_that_only_reads_counts_when_it_ends(place: Place) -> None:
    place.open().scope().remember("The staging server is in Osaka")
    place.close()
    place.open().scope().recall("staging")
    place.close()
    assert place.open().scope().get("user:ana:semantic:1").access_count == 1


def test_decay_is_as_of_the_moment_of_reading(place: Place, engine: Engine, clock: ManualClock) -> None:
    ana = engine.scope()
    known = ana.remember("Ana plays chess").ids[0]
    assert ana.get(known).decay_score == 0.5
    before = place.tables()
    clock.advance(days=69.3147)
    assert ana.get(known).decay_score == pytest.approx(0.25, abs=1e-3)
    assert ana.loaded([known])[0].decay_score == ana.explain(known).memory.decay_score
    whole = ana.query("chess", returns="full").bullets[0].metadata
    assert whole is not None
    assert whole["decay_score"] == ana.get(known).decay_score
    assert place.tables() == before
    engine.reads.note([known] * 10, clock.now())
    engine.apply_reads()
    assert ana.get(known).decay_score == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("settings", [{"recall_fusion": "rrf"}, {"recall_decay": "plain"}, {}])
def test_a_recall_ranks_by_the_decay_of_the_moment(place: Place, settings: dict[str, str]) -> None:
    """What a store gave whose scores had all just been brought up to date: P-1."""
    engine, clock = place.open(embedder="none", **settings), place.clock
    ana = engine.scope()
    learnt = [
        ana.layers.procedures.learn("brew the tea", ["heat the water"]).ids[0],
        ana.layers.episodes.record("brew the tea at noon").ids[0],
    ]
    for number, days in enumerate((30, 3, 0, 25, 11)):
        learnt += ana.remember(f"brew the tea for guest {number}").ids
        engine.reads.note([learnt[-1]] * (number % 3), clock.now())
        clock.advance(days=days)
    engine.apply_reads()
    clock.advance(days=7)
    hits = ana.recall("brew the tea", k=20).hits
    assert {hit.id for hit in hits} == set(learnt)
    floor = 0.0 if settings else 0.85
    for hit in hits:
        known = ana.get(hit.id)
        score = decay(known.layer, known.updated_at, known.access_count, clock.now()).score
        assert hit.adjustments["*decay"] == round(floor + (1 - floor) * score, 6)
    equals = [hit for hit in hits if "guest" in hit.text]
    assert equals == sorted(equals, key=lambda hit: (-hit.adjustments["*decay"], hit.id))


def test_opening_a_store_after_six_hours_reduces_old_episodes(place: Place, clock: ManualClock) -> None:
    ana = place.open().scope()
    happened = ana.layers.episodes.record("We moved the server to Osaka over three long nights").ids[0]
    place.close()
    clock.advance(days=91)
    ana = place.open().scope()
    assert ana.get(happened).meta["archived"]


def test_an_episode_lives_90_days_and_a_hit_gives_it_at_least_30_more(
    engine: Engine, clock: ManualClock
) -> None:
    ana = engine.scope()
    known = ana.layers.episodes.record("เราแก้บั๊กตัวตัดคำ", topics=["thai-nlp"], outcome="success").ids[0]
    start = clock.now()
    assert ana.get(known).expires_at == start + timedelta(days=90)
    clock.advance(days=10)
    assert ana.layers.episodes.find("thai-nlp")[0].id == known
    engine.apply_reads()
    assert ana.get(known).expires_at == start + timedelta(days=90)
    clock.advance(days=79)
    for _ in range(5):
        ana.layers.episodes.find("บั๊กตัวตัดคำ")
    engine.apply_reads()
    assert ana.get(known).expires_at == start + timedelta(days=119)


def test_an_expired_episode_is_one_line_for_good_and_its_text_in_no_index(
    engine: Engine, clock: ManualClock
) -> None:
    ana = engine.scope()
    text = (
        "Implemented the smart chunker for bilingual text. " + "Then the zebra regression was bisected. " * 6
    )
    known = ana.layers.episodes.record(text, topics=["chunker"], outcome="success").ids[0]
    clock.advance(days=91)
    assert not ana.recall("zebra regression").hits
    assert expire_episodes(engine) == 1
    memory = ana.get(known)
    assert len(memory.text) < 200
    assert "\n" not in memory.text
    assert (memory.state, memory.expires_at) == (State.ACTIVE, None)
    assert ana.recall("smart chunker").hits[0].id == known
    clock.advance(days=4000)
    assert expire_episodes(engine) == 0
    assert ana.layers.episodes.find("smart chunker")[0].archived


def test_without_a_topic_the_most_recent_episode_comes_first(engine: Engine, clock: ManualClock) -> None:
    ana, other = engine.scope(user="u1"), engine.scope(user="u10")
    for number in (1, 2, 3):
        ana.layers.episodes.record(f"Day {number}")
        clock.advance(days=1)
    other.layers.episodes.record("Somebody else's day")
    assert [one.summary for one in ana.layers.episodes.find(limit=2)] == ["Day 3", "Day 2"]
    assert [one.summary for one in other.layers.episodes.find()] == ["Somebody else's day"]
    assert "Somebody else's day" not in [one.summary for one in ana.layers.episodes.find("somebody")]


def test_the_same_thing_may_happen_twice(ana: ScopedMemory) -> None:
    for _ in range(2):
        ana.layers.episodes.record("Deployed the site")
    assert len(ana.layers.episodes.find()) == 2


def test_a_secret_is_in_no_layer(ana: ScopedMemory) -> None:
    secret = "the password of the router is hunter2-Blue42"
    assert ana.layers.procedures.learn(secret, ["log in"]).decision is Outcome.DENIED
    assert ana.layers.episodes.record(secret).decision is Outcome.DENIED
    assert ana.layers.user_model.update({"notes": [secret]})[0].decision is Outcome.DENIED
    assert ana.layers.learn(secret).receipt.decision is Outcome.DENIED


def test_only_the_person_resets_what_the_person_said(engine: Engine) -> None:
    engine.scope().layers.user_model.update({"timezone": "Asia/Taipei"})
    with pytest.raises(Denied):
        engine.scope(agent="planner").layers.user_model.reset()


def test_a_procedure_that_was_remembered_as_it_is_does_not_keep_another_from_being_learnt(
    ana: ScopedMemory,
) -> None:
    ana.remember("1. Pull. 2. Build the wheel.", layer="procedural", kind="procedure")
    assert ana.layers.procedures.learn("deploy the site", ["pull", "restart"]).decision == "admitted"
