"""A person's no to a guess stays: the same value is refused, asked of nobody, and counts for nothing."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import lamina
from lamina.engine import Engine
from lamina.imports.bring_in import import_files
from lamina.lifecycle.consent import needs_consent, proposals
from lamina.lifecycle.erase import erase
from lamina.lifecycle.export import export
from lamina.lifecycle.purge import purge
from lamina.model import Authority, Outcome
from lamina.policy.consent import same_value
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock
from tests.backends import Place

#: Rules alone: what the trained model hears is test_understanding.py.
UNDERSTANDING = False

#: A value, and other spellings of it.
SAME = [
    ("friendly", "Friendly"),
    ("friendly", " FRIENDLY! "),
    ("friendly", "ｆｒｉｅｎｄｌｙ"),
    ("friendly", "frien\u200bdly"),
    ("friendly", "friеndlу"),
    ("friendly and short", "friendly,  and   short."),
    ("friendly", "“friendly”"),
    ("เป็นกันเอง", "เป็น กันเอง"),
    ("เป็นกันเอง", "เป็น\u200bกันเอง"),
    ("น้ำ", "นํ้า"),
    ("เเนะนำ", "แนะนำ"),
    ("簡短", "简短"),
    ("簡短", "簡 短。"),
    ("龙井茶", "龍井茶！"),
    ("๗ โมง", "7 โมง"),
    ("node.js", "NodeJS"),
]
OTHER = [
    ("friendly", "formal"),
    ("C", "C++"),
    ("C", "C#"),
    ("5", "-5"),
    ("1.5", "15"),
    ("5", "5%"),
    ("not friendly", "friendly"),
    ("简短", "详细"),
    ("ชา", "ชาเย็น"),
    ("3:30", "330"),
    (".NET", "net"),
    ("!!!", "???"),
]


@pytest.fixture
def ana(engine: Engine) -> ScopedMemory:
    return engine.scope(user="ana", session="s1")


@pytest.fixture
def planner(engine: Engine) -> ScopedMemory:
    return engine.scope(user="ana", agent="planner", speaks_for=False, session="s1")


@pytest.mark.parametrize(("one", "other"), SAME)
def test_another_spelling_is_the_same_value(one: str, other: str) -> None:
    assert same_value(one) == same_value(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_value_is_another(one: str, other: str) -> None:
    assert same_value(one) != same_value(other)


@pytest.mark.parametrize("key", ["response.tone", "favourite.food", "user.name", "user.goal.x", "note.abc"])
def test_a_rejected_value_is_refused_and_not_asked_again(place: Place, key: str) -> None:
    engine = place.open()
    ana = engine.scope(user="ana", session="s1")
    planner = engine.scope(user="ana", agent="planner", speaks_for=False, session="s1")
    planner.remember("Friendly", key=key)
    ana.reject(key)
    place.close()
    engine = place.open()  # a restart later
    ana = engine.scope(user="ana", session="s2")
    other = engine.scope(user="ana", agent="writer", session="s2")
    for value in ("Friendly", "friendly", " ＦＲＩＥＮＤＬＹ ", "friendly."):
        for receipt in (
            other.remember(value, key=key),
            other.remember(value, key=key, space="session"),
            other.remember_many([{"text": value, "key": key.upper()}])[0],
            other.propose(value, key, 1.0, importance=5),
            ana.propose(value, key, 1.0, "inferred:test"),
        ):
            assert (receipt.decision, receipt.code, receipt.ids) == (Outcome.DENIED, "refused_stays", ())
            assert "said no" in receipt.warnings[0]
    assert ana.pending() == []
    assert ana.resolve() == {}
    assert [one.status for one in proposals(ana, decided=True)] == ["denied"]
    assert "riendly" not in str([event.data for event in ana.trace(200) if event.type == "memory_denied"])
    assert other.remember("formal", key=key).decision is Outcome.HELD  # another value is a new question
    assert engine.scope(user="bob", agent="x").remember("friendly", key=key).decision is Outcome.HELD
    assert engine.verify_audit().findings == ()


def test_another_key_of_the_same_field_does_not_help(ana: ScopedMemory, planner: ScopedMemory) -> None:
    planner.remember("Bob", key="user.name")
    ana.reject("user.name")
    for key in ("name", "user.preferred_name", "preferred_name"):
        assert planner.remember("bob", key=key).code == "refused_stays"
    assert planner.layers.user_model.update({"name": "BOB"})[0].code == "refused_stays"


def test_signals_after_a_no_bring_nothing_into_force(ana: ScopedMemory, planner: ScopedMemory) -> None:
    said = "I prefer answers in a friendly tone"
    guess = next(one for one in ana.hear(said).receipts if one.code == "pending")
    key = ana.get(guess.ids[0]).key
    ana.reject(key)
    for number in range(4):
        heard = ana.hear(f"{said}, {number}")
        assert "refused_stays" in [one.code for one in heard.receipts]
        assert heard.acknowledgement == ""  # nobody is asked
        assert planner.remember(ana.get(guess.ids[0]).text, key=key or "").code == "refused_stays"
    assert ana.pending() == []
    assert ana.resolve() == {}


@pytest.mark.parametrize("how", ["remember", "say", "file"])
def test_the_person_can_still_say_it_and_that_lifts_the_no(workspace: Place, how: str) -> None:
    engine = workspace.open()
    ana, planner = engine.scope(session="s1"), engine.scope(agent="planner", speaks_for=False, session="s1")
    planner.remember("friendly", key="response.tone")
    ana.reject("response.tone")
    if how == "remember":
        assert ana.remember("friendly", key="response.tone").decision is Outcome.ADMITTED
    elif how == "say":
        assert ana.hear("remember response.tone = friendly").receipts[0].decision is Outcome.ADMITTED
    else:
        workspace.profile.write_text("- key:response.tone | value:friendly\n", "utf-8")
    assert ana.resolve(["response.tone"])["response.tone"].value == "friendly"
    assert [one.op for one in workspace.audit()].count("lift_no") == 1
    ana.remember("formal", key="response.tone")
    assert planner.remember("friendly", key="response.tone").code == "conflict_authority"  # and no old no


def test_another_value_said_by_the_person_lifts_nothing(ana: ScopedMemory, planner: ScopedMemory) -> None:
    planner.remember("friendly", key="response.tone")
    ana.reject("response.tone")
    ana.remember("formal", key="response.tone")
    assert planner.remember("friendly", key="response.tone").code == "refused_stays"


def test_a_form_is_not_shown_for_what_was_refused(ana: ScopedMemory, planner: ScopedMemory) -> None:
    assert needs_consent(planner, "Bob", "User.Name")
    planner.remember("Bob", key="user.name")
    ana.reject("user.name")
    assert not needs_consent(planner, "bob", "user.name")
    assert needs_consent(planner, "Bert", "user.name")


def test_a_procedure_and_a_statement_that_were_refused_do_not_come_in_by_another_verb(
    ana: ScopedMemory, planner: ScopedMemory
) -> None:
    lesson = ("deploying", ["ask first", "then push"])
    guess = ana.layers.procedures.propose(*lesson, "correction", "inferred:correction")
    ana.reject(ana.get(guess.ids[0]).key)
    assert ana.layers.procedures.propose(*lesson, "correction", "inferred:correction").code == "refused_stays"
    assert planner.layers.procedures.learn(*lesson).code == "refused_stays"
    assert ana.layers.procedures.find("deploying") == []
    assert ana.layers.procedures.learn(*lesson).decision is Outcome.ADMITTED

    ana.layers.learn("The office is in Bangkok on the fifth floor")
    asked = planner.layers.learn("The office is in Bangkok on the sixth floor", resolution="ask")
    if asked.receipt.decision is Outcome.HELD:
        ana.reject(ana.get(asked.receipt.ids[0]).key)
        again = planner.layers.learn("the office is in Bangkok on the sixth floor")
        assert again.receipt.code == "refused_stays"
    assert asked.receipt.decision is Outcome.HELD


def _proposed(folder: Path, value: str, *, decide: str = "") -> Path:
    """An export of somebody to whom an agent proposed a tone."""
    with lamina.open(folder / "there", owner="ana", clock=ManualClock()) as engine:
        engine.scope(agent="planner", speaks_for=False).remember(value, key="response.tone")
        if decide:
            getattr(engine.scope(), decide)("response.tone")
        return Path(export(engine.scope(), folder / "out").folder)


@pytest.mark.parametrize("decide", ["", "confirm"])
def test_an_import_does_not_bring_back_what_was_refused(place: Place, tmp_path: Path, decide: str) -> None:
    folder = _proposed(tmp_path, "Friendly", decide=decide)
    engine = place.open()
    ana, planner = engine.scope(), engine.scope(agent="planner", speaks_for=False)
    planner.remember("friendly", key="response.tone")
    ana.reject("response.tone")
    report = import_files(ana, [folder])
    assert report.refused["refused_stays"] == 1
    assert ana.pending() == []
    assert ana.resolve() == {}


def test_a_no_comes_along_with_an_export(place: Place, tmp_path: Path) -> None:
    folder = _proposed(tmp_path, "Friendly", decide="reject")
    engine = place.open()
    import_files(engine.scope(), [folder])
    assert (
        engine.scope(agent="planner", speaks_for=False).remember("friendly", key="response.tone").code
        == "refused_stays"
    )


@pytest.mark.parametrize("empty", [True, False])
def test_what_was_forgotten_stays_so_where_an_export_or_what_was_rescued_comes_in(
    place: Place, tmp_path: Path, empty: bool
) -> None:
    with lamina.open(tmp_path / "there", owner="ana", clock=ManualClock()) as there:
        me, planner = there.scope(), there.scope(agent="planner", speaks_for=False)
        me.forget(me.remember("My sister Maria lives in Hanoi").ids[0])
        planner.forget(planner.remember("The lift works again").ids[0])
        me.forget(me.remember("The boat is called Petrel").ids[0])
        me.remember("The boat is called Petrel")  # they changed their mind
        folder = Path(export(me, tmp_path / "out").folder)
    engine = place.open()
    ana, agent = engine.scope(), engine.scope(agent="planner", speaks_for=False)
    if not empty:
        ana.remember("The kettle is on")
    import_files(ana, [folder])
    assert [no.cause for no in ana.noes()] == ["forgotten"]
    assert agent.remember("My sister Maria lives in Hanoi").code == "refused_stays"
    assert agent.remember("The lift works again").decision is Outcome.ADMITTED
    assert [hit.text for hit in agent.recall("Petrel")][:1] == ["The boat is called Petrel"]


def test_what_agents_knew_comes_with_an_export_as_their_word_and_what_is_sensitive_waits(
    place: Place, tmp_path: Path
) -> None:
    with lamina.open(tmp_path / "there", owner="ana", clock=ManualClock()) as there:
        there.scope().remember("friendly", key="response.tone")
        there.scope().remember("Ada", key="user.name")
        folder = Path(export(there.scope(), tmp_path / "out").folder)
    rows = [json.loads(line) for line in (folder / "memories.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        row["provenance"] |= {"role": "agent", "agent": "planner"}
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "memories.jsonl").write_text(text, "utf-8")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["files"]["memories.jsonl"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    ana = place.open().scope()
    planned, report = import_files(ana, [folder], dry_run=True), import_files(ana, [folder])
    assert (planned.new, planned.held) == (report.new, report.held) == (1, 1)
    assert [one.key for one in ana.pending()] == ["user.name"]
    assert [(one.key, one.authority, one.file) for one in ana.keyed()] == [
        ("response.tone", Authority.AI_INFERRED, None)
    ]


def test_only_a_keyed_hash_is_kept_a_purge_leaves_it_and_an_erasure_takes_it(place: Place) -> None:
    engine = place.open()
    ana, planner = engine.scope(), engine.scope(agent="planner", speaks_for=False)
    planner.remember("zanzibar nights", key="favourite.place")
    guess = ana.pending()[0].id
    ana.reject("favourite.place")
    kept = [*place.tables()["refusal"], *place.tables()["refusal_mark"]]
    assert len(place.tables()["refusal"]) == 1
    assert not [row for row in kept if "zanzibar" in row.casefold() or "nights" in row.casefold()]
    purge(ana, guess, now=True)
    assert planner.remember("Zanzibar nights", key="favourite.place").code == "refused_stays"
    assert erase(engine.scope(role="admin"), "ana").clean
    assert place.tables()["refusal"] == place.tables()["refusal_mark"] == []
