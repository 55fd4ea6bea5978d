"""What a person forgets, purges or rejects does not come back: by no verb, no file, no job, no adapter."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lamina.engine import Engine
from lamina.errors import Denied, LaminaError
from lamina.imports.bring_in import import_files
from lamina.integrations.langgraph.store import Store as GraphStore
from lamina.layers.insights import keep
from lamina.lifecycle.export import export
from lamina.lifecycle.purge import purge
from lamina.model import Outcome, Role, State
from lamina.policy.consent import same_value
from lamina.scoped import ScopedMemory
from lamina.storage.memories import Memories
from tests.backends import Place, a_place

DATA = Path(__file__).parents[2] / "packages/lamina-govern/src/lamina_govern/data/statements.toml"
STATEMENTS: list[dict[str, Any]] = tomllib.loads(DATA.read_text("utf-8"))["statement"]
SAID = {"en": STATEMENTS[0], "th": STATEMENTS[10], "zh": STATEMENTS[15], "zh-hant": STATEMENTS[20]}
CYRILLIC = str.maketrans("aeopc", "аеорс")


def _agent(engine: Engine, session: str | None = "s2") -> ScopedMemory:
    return engine.scope(agent="planner", speaks_for=False, session=session, project="p")


def _put(text: Any) -> Callable[[Engine, str], None]:
    def way(engine: Engine, said: str) -> None:
        GraphStore(_agent(engine)).put(("notes",), "one", text(said))

    return way


def _revise(engine: Engine, said: str) -> None:
    planner = _agent(engine)
    planner.revise(planner.remember("Something that nobody minds at all").ids[0], said)


def _restore_all(engine: Engine, said: str) -> None:
    planner, known = _agent(engine), engine.database.read(lambda tx: _every(tx, engine))
    for one in known:
        if one.state is not State.ACTIVE:
            try:
                planner.restore(one.id)
            except LaminaError:
                continue


def _supersede(engine: Engine, said: str) -> None:
    planner = _agent(engine)
    planner.learn("Something that nobody minds at all")
    planner.learn(said, resolution="supersede")


def _insight(engine: Engine, said: str) -> None:
    job = engine.scope(role="system", via="job")
    keep(job, [{"summary": said, "importance": 3}], "job")


def _propose_twice(engine: Engine, said: str) -> None:
    for session in ("a", "b", "c"):
        _agent(engine, session).propose(said, "goal.this", 1.0, importance=5)


WAYS: dict[str, Callable[[Engine, str], Any]] = {
    "the same words": lambda e, s: _agent(e).remember(s),
    "shouted": lambda e, s: _agent(e).remember(s.upper()),
    "look-alike letters": lambda e, s: _agent(e).remember(s.translate(CYRILLIC)),
    "invisible letters": lambda e, s: _agent(e).remember("\u200b".join(s)),
    "other blanks": lambda e, s: _agent(e).remember(s.replace(" ", " \u00a0 ")),
    "full width": lambda e, s: _agent(e).remember(
        "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in s)
    ),
    "in quotes": lambda e, s: _agent(e).remember(f"“{s}”"),
    "as another kind": lambda e, s: _agent(e).remember(s, kind="instruction"),
    "with a tag and a category": lambda e, s: _agent(e).remember(s, tags=["x"], importance=5, pin=True),
    "under a key": lambda e, s: _agent(e).remember(s, key="fact.one"),
    "under another key": lambda e, s: _agent(e).remember(s, key="user.goal.x"),
    "in the session": lambda e, s: _agent(e).remember(s, space="session"),
    "in the project": lambda e, s: _agent(e).remember(s, space="project"),
    "without a session": lambda e, s: _agent(e, None).remember(s),
    "by another agent": lambda e, s: e.scope(agent="writer").remember(s),
    "many at once": lambda e, s: _agent(e).remember_many([{"text": "Tea is at four"}, {"text": s}]),
    "inside a long text": lambda e, s: _agent(e).remember(f"Notes of the day. {s}. The weather was fine."),
    "in a list": lambda e, s: _agent(e).remember(f"- rain\n- {s}\n- wind"),
    "as JSON": lambda e, s: _agent(e).remember(json.dumps({"fact": s}, ensure_ascii=False)),
    "revised into it": _revise,
    "restored": _restore_all,
    "learnt": lambda e, s: _agent(e).learn(s),
    "learnt in place of another": _supersede,
    "learnt as a question": lambda e, s: _agent(e).learn(s, resolution="ask"),
    "as a procedure": lambda e, s: _agent(e).learn_procedure("planning a visit", [s]),
    "as an episode": lambda e, s: _agent(e).record_episode(s),
    "in the user model": lambda e, s: _agent(e).update_user_model({"notes": [s]}),
    "proposed three times": _propose_twice,
    "in a reply": lambda e, s: _agent(e).answer(f"As you know: {s}."),
    "as a message of an agent": lambda e, s: _agent(e).hear(s),
    "a tool's result in a turn": lambda e, s: _agent(e).answer("Done.", [{"name": "crm", "result": s}]),
    "said by a tool": lambda e, s: e.scope(role="tool", agent="crm").remember(s),
    "said by a document": lambda e, s: e.scope(role="document", agent="wiki").remember(s),
    "LangGraph's store, a text": _put(lambda s: {"text": s}),
    "LangGraph's store, an object": _put(lambda s: {"about": {"user": [s]}}),
    "an insight of a job": _insight,
    "system": lambda e, s: e.scope(role="system", via="job").remember(s),
}


def _every(tx: Any, engine: Engine) -> list[Any]:
    ids = [
        row[0] for row in tx.all("same_words", text="", telling=0, owner="ana", first="ana,", beyond="ana-")
    ]
    return list(Memories(tx).load(ids).values())


def back(place: Place, said: str) -> list[str]:
    """What holds the words in the tables, and is active or waits."""
    wanted, found = same_value(said), []
    for row in place.tables()["memory"]:
        values = json.loads(row)
        if {"active", "pending"} & {one for one in values if isinstance(one, str)}:
            found += [one for one in values if isinstance(one, str) and wanted in same_value(one)]
    return found


def _forgotten(engine: Engine, said: str) -> None:
    ana = engine.scope()
    ana.forget(ana.remember(said).ids[0])


def _purged(engine: Engine, said: str) -> None:
    ana = engine.scope()
    purge(ana, ana.remember(said).ids[0], now=True)


def _rejected(engine: Engine, said: str) -> None:
    _agent(engine).remember(said, key="fact.one")
    engine.scope().reject("fact.one")


def _taken_out(engine: Engine, said: str) -> None:
    ana = engine.scope()
    ana.remember(said, key="fact.one")
    ana.forget("fact.one")


NOES = {"forgotten": _forgotten, "purged": _purged, "rejected": _rejected, "a key": _taken_out}


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("no", NOES)
def test_no_way_brings_it_back(workspace: Place, no: str, language: str) -> None:
    said = SAID[language]["said"]
    engine = workspace.open()
    NOES[no](engine, said)
    assert back(workspace, said) == []
    came: list[str] = []
    for name, way in WAYS.items():
        with suppress(Denied):
            way(engine, said)
        if back(workspace, said):
            came.append(name)
            break
    assert came == []
    assert said not in engine.scope(agent="planner").context(said[: len(said) // 2]).text
    assert engine.scope().remember(said).decision is Outcome.ADMITTED  # the person's own word is always taken
    assert engine.verify_audit().findings == ()


#: Without a no there is nothing to restore.
_HELD_ANYWAY = {"restored"}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_works_where_nobody_said_no(
    way: str, tmp_path: Path, lamina_home: Path, request: Any
) -> None:
    for place in a_place(request, tmp_path, lamina_home, "sqlite"):
        engine = place.open()
        said = "The kettle of Maria Lindqvist stands on the second shelf"
        WAYS[way](engine, said)
        assert bool(back(place, said)) is (way not in _HELD_ANYWAY)


@pytest.mark.parametrize("number", range(len(STATEMENTS)))
def test_what_is_near_is_asked_once_and_other_values_come_in(
    number: int, tmp_path: Path, lamina_home: Path, request: Any
) -> None:
    one = STATEMENTS[number]
    for place in a_place(request, tmp_path, lamina_home, "sqlite"):
        engine = place.open()
        _forgotten(engine, one["said"])
        planner = _agent(engine)
        codes = [planner.remember(text).code for text in (*one["repeats"], *one["repeats"])]
        assert set(codes) <= {"refused_stays", "pending"}
        assert codes.count("pending") <= 1
        for text in (*one["changed"], *one["denies"], *one["beside"]):
            assert planner.remember(text).decision is Outcome.ADMITTED, text


def test_a_yes_to_what_was_near_lifts_the_no_and_a_no_closes_it(engine: Engine, place: Place) -> None:
    ana, planner = engine.scope(), _agent(engine)
    said = "My therapist is Dr Okafor on Elm Street in Graz"
    near = "The therapist of Ana: Dr Okafor, Elm Street, Graz, second floor, ring twice"
    _forgotten(engine, said)
    held = planner.remember("Her therapist Okafor practises on Elm Street in Graz")
    if held.decision is Outcome.HELD:
        assert planner.remember(near).code == "refused_stays"  # asked once
        ana.reject()
        assert ana.pending() == []
    assert planner.remember(said).code == "refused_stays"


def test_the_person_says_writes_confirms_or_restores_it(place: Place) -> None:
    engine = place.open()
    ana, planner = engine.scope(session="s1"), _agent(engine)
    said = SAID["en"]["said"]
    first = ana.remember(said)
    ana.forget(first.ids[0])
    assert planner.restore(first.ids[0]).decision is Outcome.DENIED
    ana.hear(f"Did you really forget that {said}?")  # a question is no new word
    assert planner.remember(said).code == "refused_stays"
    assert ana.restore(first.ids[0]).code == "restored"
    assert [one.op for one in place.audit()].count("lift_no") == 1
    ana.forget(first.ids[0])
    assert ana.remember(said).decision is Outcome.ADMITTED
    assert [one.op for one in place.audit()].count("lift_no") == 2
    assert engine.verify_audit().findings == ()


def test_an_agents_own_forgetting_is_no_no(engine: Engine) -> None:
    planner = _agent(engine)
    one = planner.remember("The build takes nine minutes")
    planner.forget(one.ids[0])
    assert planner.remember("The build takes nine minutes").decision is Outcome.ADMITTED


def test_what_says_nothing_closes_nothing(engine: Engine) -> None:
    ana, planner = engine.scope(session="s1"), _agent(engine)
    for said in ("ok", "!!!", ".*", "%", "_", "the", "yes"):
        ana.forget(ana.remember(said).ids[0])
    for said in ("Okay, the kettle is on", "yes", "Use .* in the pattern", "100 % of the tests pass"):
        assert planner.answer(said).receipts[0].decision is Outcome.ADMITTED, said


def test_everybody_elses_memory_is_untouched(engine: Engine) -> None:
    said = SAID["en"]["said"]
    _forgotten(engine, said)
    assert engine.scope(user="bob", agent="planner").remember(said).decision is Outcome.ADMITTED
    assert engine.scope(user="bob").remember(said).decision is not Outcome.DENIED


def test_an_old_transcript_leaves_it_out_and_a_flag_lets_it_in(place: Place, tmp_path: Path) -> None:
    engine, said = place.open(), SAID["en"]["said"]
    ana = engine.scope()
    _forgotten(engine, said)
    lines = [
        {"role": "user", "content": said, "session_id": "old", "id": "1"},
        {"role": "assistant", "content": f"Noted: {said}.", "session_id": "old", "id": "2"},
        {"role": "user", "content": "The meeting is on Monday at nine", "session_id": "old", "id": "3"},
    ]
    file = tmp_path / "old.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    planned = import_files(ana, [file], format="jsonl", dry_run=True)
    report = import_files(ana, [file], format="jsonl")
    assert (planned.new, planned.refused) == (report.new, report.refused)
    assert report.refused == {"refused_stays": 2}
    assert report.new == 1
    assert back(place, said) == []
    again = import_files(ana, [file], format="jsonl", bring_back=True)
    assert (again.new, again.known) == (2, 1)
    assert back(place, said) != []


def test_an_export_made_before_does_not_bring_it_back(place: Place, tmp_path: Path) -> None:
    engine, said = place.open(), SAID["zh"]["said"]
    ana = engine.scope(session="s1")
    one = ana.remember(said)
    ana.remember("The meeting is on Monday at nine")
    folder = Path(export(ana, tmp_path / "out").folder)
    purge(ana, one.ids[0], now=True)
    report = import_files(ana, [folder])
    assert report.refused["refused_stays"] == 1
    assert back(place, said) == []
    assert import_files(ana, [folder], bring_back=True).refused["refused_stays"] == 0
    assert back(place, said) != []


def test_hundreds_of_noes_are_each_still_one(engine: Engine) -> None:
    ana, planner = engine.scope(), _agent(engine)
    texts = [
        f"My locker number {number} is in hall {chr(65 + number % 7)} of the station" for number in range(300)
    ]
    for receipt in ana.remember_many([{"text": one} for one in texts]):
        ana.forget(receipt.ids[0])
    receipts = planner.remember_many([{"text": one} for one in texts])
    assert {one.code for one in receipts} == {"refused_stays"}
    assert planner.remember("My locker number 999 is in hall C of the station").decision is Outcome.ADMITTED


def test_the_marks_say_nothing_to_whoever_reads_the_tables(place: Place) -> None:
    engine = place.open()
    _purged(engine, "Zanzibar nights were cold for Okafor")
    rows = str([place.tables()[name] for name in ("refusal", "refusal_mark")]).casefold()
    assert not [word for word in ("zanzibar", "okafor", "night", "cold") if word in rows]


def test_a_refused_role_is_told_without_the_words(engine: Engine) -> None:
    said = SAID["en"]["said"]
    _forgotten(engine, said)
    planner = _agent(engine)
    receipt = planner.remember(said)
    assert (receipt.decision, receipt.code) == (Outcome.DENIED, "refused_stays")
    assert "Maria" not in str(receipt)
    assert "Maria" not in str([one.data for one in engine.scope().trace(100) if one.type == "memory_denied"])
    assert planner.scope.role is Role.AGENT
