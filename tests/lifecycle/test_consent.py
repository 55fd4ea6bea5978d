"""Nothing sensitive about a person changes without their consent, and what they decided can be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamina.engine import Engine
from lamina.errors import ConfigError, Denied, NotFound
from lamina.lifecycle.consent import lapse_guesses, proposals
from lamina.model import Authority, Outcome
from lamina.policy.consent import Care, load_fields
from lamina.scoped import ScopedMemory
from tests.backends import Place

#: Rules alone: what the trained model hears is test_understanding.py.
UNDERSTANDING = False

SENSITIVE = {
    "user.name": "Ada",
    "user.pronouns": "she/her",
    "user.city": "กรุงเทพฯ",
    "response.language": "zh-Hant",
    "user.age": "41",
    "user.income_band": "high",
    "name": "小花",
    "language": "th",
}


@pytest.fixture
def engine(place: Place) -> Engine:
    return place.open()


@pytest.fixture
def ana(engine: Engine) -> ScopedMemory:
    return engine.scope(user="ana", session="s1")


@pytest.fixture
def planner(engine: Engine) -> ScopedMemory:
    return engine.scope(user="ana", agent="planner", speaks_for=False, session="s1")


def told(mind: ScopedMemory, memory_id: str) -> list[str]:
    """Each step in the life of a proposal, with the channel of the last."""
    steps = mind.history(memory_id)
    return [":".join(str(one.decision[k]) for k in ("code", "channel") if k in one.decision) for one in steps]


def weight(mind: ScopedMemory, key: str) -> Authority:
    return next(one.authority for one in mind.keyed() if one.key == key)


def test_an_agent_sets_nothing_sensitive_of_its_user(
    planner: ScopedMemory, ana: ScopedMemory, place: Place
) -> None:
    for key, value in SENSITIVE.items():
        receipt = planner.remember(value, key=key)
        assert (receipt.decision, receipt.code) == (Outcome.HELD, "pending"), key
        assert key in receipt.warnings[0]
        assert planner.remember(value, key=key, space="session").decision is Outcome.HELD
    assert ana.resolve() == {}
    assert ana.layers.user_model.get()["known"] == []
    assert sorted(one.key for one in ana.pending()) == sorted(SENSITIVE)
    if place.folder is not None:
        assert "Ada" not in place.profile.read_text("utf-8")


def test_no_other_way_leads_around_consent(planner: ScopedMemory, ana: ScopedMemory) -> None:
    planner.layers.user_model.update({"name": "Bob", "preferences": {"language": "en"}})
    planner.hear("my name is Bob")
    planner.hear("remember that my name is Bob")
    planner.remember_many([{"text": "Bob", "key": "user.preferred_name"}])
    planner.propose("Bob", "name", 1.0, importance=5)
    planner.propose("Bob", "name", 1.0, importance=5)
    for one in [*ana.pending()]:
        ana.reject(one.key)
        with pytest.raises(NotFound):
            planner.restore(one.id)
    known = ana.layers.user_model.get()
    assert "name" not in known
    assert known["known"] == []
    assert ana.resolve() == {}


@pytest.mark.parametrize(
    "said",
    [
        "remember my name is Ada",
        "จำไว้ว่า ฉันชื่อ เอด้า",
        "记住我的名字是小花",
        "記住我的名字是小花",
        "from now on answer in Thai",
    ],
)
def test_what_a_person_says_of_themselves_is_their_consent(ana: ScopedMemory, said: str) -> None:
    receipt = ana.hear(said).receipts[0]
    assert receipt.decision is Outcome.ADMITTED
    assert ana.pending() == []


def test_only_the_person_agrees_and_the_channel_is_recorded(
    planner: ScopedMemory, ana: ScopedMemory, place: Place
) -> None:
    held = planner.remember("Ada", key="user.name").ids[0]
    for verb in (planner.confirm, planner.reject):
        with pytest.raises(Denied, match="Only the person"):
            verb("user.name")
    assert ana.confirm("user.name", channel="cli")[0].code == "confirmed"
    assert ana.layers.user_model.get()["name"] == "Ada"
    assert weight(ana, "user.name") is Authority.USER_ASSERTED
    assert told(ana, held) == ["staged", "confirmed:cli"]
    decided = [one for one in place.audit() if one.op == "promote_pending"]
    assert [(one.reason, one.actor) for one in decided] == [("confirmed:cli", "user:ana")]
    assert planner.remember("Ada", key="user.name").decision is Outcome.UNCHANGED
    planner.remember("Bob", key="user.name")
    ana.reject("user.name")
    assert ana.layers.user_model.get()["name"] == "Ada"
    assert [one.status for one in proposals(ana, decided=True)] == ["approved", "denied"]


@pytest.mark.parametrize("bare", ["yes, keep it", "ใช่ จำไว้", "对，记住", "confirm memory all"])
def test_a_bare_yes_in_a_chat_is_no_consent_to_what_is_sensitive(
    planner: ScopedMemory, ana: ScopedMemory, bare: str
) -> None:
    planner.remember("th", key="response.language")
    heard = ana.hear(bare)
    assert [(one.decision, one.code) for one in heard.receipts[:1]] == [(Outcome.DENIED, "consent_unnamed")]
    assert heard.acknowledgement
    assert "response.language" not in ana.resolve()


@pytest.mark.parametrize(
    ("key", "named"),
    [
        ("user.name", "yes, remember my name"),
        ("user.name", "confirm my name"),
        ("user.name", "ใช่ จำชื่อฉัน"),
        ("name", "是的，记住我的名字"),
        ("user.name", "確認我的名字"),
        ("response.language", "yes, remember my language"),
        ("response.language", "confirm memory response.language"),
    ],
)
def test_a_yes_that_names_the_field_is_consent(
    planner: ScopedMemory, ana: ScopedMemory, key: str, named: str
) -> None:
    held = planner.remember("th", key=key).ids[0]
    assert planner.hear(named).receipts[0].decision is not Outcome.ADMITTED  # an agent says it in vain
    assert ana.hear(named).receipts[0].code == "confirmed"
    assert ana.resolve([key])[key].value == "th"
    assert told(ana, held)[-1] == "confirmed:chat"


def test_a_benign_field_holds_once_two_turns_say_the_same(ana: ScopedMemory, place: Place) -> None:
    said, page = "I prefer answers in a friendly tone", place.folder and place.profile.read_text("utf-8")
    first = [one for one in ana.hear(said).receipts if one.code == "pending"]
    assert len(first) == 1
    assert ana.resolve() == {}
    guess = ana.pending()[0]
    again = ana.propose(guess.text, "response.tone", 0.9)  # the same turn says it once
    assert (again.decision, len(ana.pending()[0].meta["signals"])) == (Outcome.HELD, 1)

    place.close()
    ana = place.open().scope(user="ana", session="s1")
    assert "corroborated" in [one.code for one in ana.hear(f"{said}, really").receipts]
    assert ana.resolve(["response.tone"])["response.tone"].value == guess.text
    assert weight(ana, "response.tone") is Authority.AI_INFERRED
    assert ana.pending() == []
    assert told(ana, guess.id) == ["staged", "signal", "confirmed:signals"]
    if place.folder is not None:
        assert place.profile.read_text("utf-8") == page  # nobody agreed to it
    ana.hear("remember response.tone = formal")
    assert ana.resolve(["response.tone"])["response.tone"].value == "formal"


def test_a_contradicting_signal_starts_anew(ana: ScopedMemory) -> None:
    for number, value in enumerate(["friendly", "formal", "friendly"]):
        ana.hear(f"turn {number}")
        assert ana.propose(value, "response.tone", 0.9).decision is Outcome.HELD
    assert [one.status for one in proposals(ana, decided=True)] == ["replaced", "replaced", "proposed"]
    assert [one.signals for one in proposals(ana)] == [1]


def test_an_agent_that_repeats_itself_without_a_turn_of_the_person_is_one_signal(engine: Engine) -> None:
    for session in ("s1", "s2", "s3"):
        agent = engine.scope(user="ana", agent="planner", speaks_for=False, session=session)
        agent.hear("I prefer answers in a friendly tone")  # its own words are no turn of the person
        assert agent.propose("friendly", "response.tone", 0.9).decision is Outcome.HELD


def test_what_the_person_said_is_not_overruled_by_any_number_of_signals(ana: ScopedMemory) -> None:
    ana.remember("formal", key="response.tone")
    for number in range(3):
        ana.hear(f"turn {number}")
        assert ana.propose("friendly", "response.tone", 0.99, importance=5).decision is Outcome.HELD
    assert ana.resolve(["response.tone"])["response.tone"].value == "formal"


def test_a_sure_insight_needs_no_second_signal_and_an_unsure_one_does(ana: ScopedMemory) -> None:
    assert ana.propose("run a marathon", "user.goal.marathon", 0.8, importance=2).decision is Outcome.HELD
    assert ana.propose("learn Thai", "user.goal.thai", 0.79, importance=5).decision is Outcome.HELD
    assert ana.propose("ย้ายบ้าน", "user.goal.move", 0.8, importance=3).decision is Outcome.ADMITTED
    assert ana.propose("Ada", "user.name", 1.0, importance=5).decision is Outcome.HELD
    assert list(ana.resolve()) == ["user.goal.move"]


def test_a_proposal_waits_seven_days_and_then_expires(
    ana: ScopedMemory, planner: ScopedMemory, place: Place
) -> None:
    held = planner.remember("Ada", key="user.name").ids[0]
    place.clock.advance(days=6)
    assert [(one.days_left, one.status) for one in proposals(ana)] == [(1, "proposed")]
    place.clock.advance(days=1)
    assert proposals(ana) == []
    assert [one.status for one in proposals(ana, decided=True)] == ["expired"]
    assert told(ana, held) == ["staged"]  # reading writes nothing
    assert lapse_guesses(place.engines[-1]) == 1
    assert lapse_guesses(place.engines[-1]) == 0
    assert told(ana, held) == ["staged", "expired"]
    assert [one.op for one in place.audit()][-1] == "expire_pending"
    assert [one.status for one in proposals(ana, decided=True)] == ["expired"]


def test_a_file_of_settings_says_what_is_sensitive(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "fields.toml"
    file.write_text('[sensitive]\ndiet = ["user.diet"]\n[benign]\ntone = []\n', "utf-8")
    engine = place.open(consent_fields=str(file))
    planner = engine.scope(user="ana", agent="planner", speaks_for=False)
    assert planner.remember("vegan", key="user.diet").decision is Outcome.HELD
    assert planner.remember("Ada", key="user.name").decision is Outcome.HELD
    assert engine.ruleset.fields.care("response.tone") is Care.ORDINARY


@pytest.mark.parametrize("text", ["[secret]", "[sensitive]\nname = 3", "[named]\ncity = '('", "["])
def test_a_file_of_fields_that_cannot_be_used_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_fields(text, "fields.toml")
    assert caught.value.code == "consent_invalid"
