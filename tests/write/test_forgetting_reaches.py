"""Forgetting takes what came of a memory, says what, and agents read what is active and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamina.engine import Engine
from lamina.errors import Denied, NotFound
from lamina.jobs.run import run_job
from lamina.lifecycle.export import lines_of
from lamina.lifecycle.purge import purge
from lamina.model import Outcome, State
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock
from tests.backends import Place

SAID = "My sister Maria lives in Hanoi"


def _active(ana: ScopedMemory, word: str) -> list[str]:
    found = ana.list(limit=500).items
    return sorted(one.id for one in found if word in one.text)


@pytest.mark.parametrize("command", ["remember that {}", "Please remember: {}"])
def test_the_turn_it_was_said_in_goes_with_it_and_comes_back_with_it(engine: Engine, command: str) -> None:
    ana = engine.scope(session="s1")
    heard = ana.hear(command.format(SAID))
    note = next(one for one in heard.receipts if ":short_term:" not in one.ids[0]).ids[0]
    ana.hear("The weather is fine today")
    gone = ana.forget(note)
    assert gone.code == "forgotten"
    assert gone.ids[0] == note
    assert len(gone.ids) > 1
    assert _active(ana, "Hanoi") == []
    assert "Hanoi" not in engine.scope(agent="planner", session="s1").context("Hanoi").text
    assert ana.list(limit=500).items  # the weather is still there
    back = ana.restore(note)
    assert set(back.ids) == set(gone.ids)
    assert _active(ana, "Hanoi") == sorted(gone.ids)


def test_what_was_made_of_a_turn_goes_with_it_and_what_says_more_is_named(engine: Engine) -> None:
    ana = engine.scope(session="s1")
    heard = ana.hear("My name is Ada Lovelace and I live in Hue")
    ids = [one.ids[0] for one in heard.receipts if one.decision is Outcome.ADMITTED]
    beside = ana.remember("Ada Lovelace and Byron: My name is Ada Lovelace and I live in Hue, she wrote").ids[
        0
    ]
    turn = next(one for one in ids if ":short_term:" in one)
    gone = ana.forget(turn)
    assert set(ids) <= set(gone.ids)
    assert beside not in gone.ids
    assert any(beside in one for one in gone.warnings)
    assert ana.get(beside).state is State.ACTIVE


@pytest.mark.parametrize("first", ["user", "project"])
def test_what_one_told_ones_project_goes_with_it_and_comes_back_with_it(place: Place, first: str) -> None:
    engine = place.open()
    ana, bob = (engine.scope(user=name, project="p", session="s1") for name in ("ana", "bob"))
    planner = engine.scope(user="ana", agent="planner", project="p")
    mine = {space: ana.remember(SAID, space=space).ids[0] for space in ("user", "project")}
    bobs = bob.remember(f"Bob notes: {SAID}.", space="project").ids[0]
    gone = ana.forget(mine[first])
    assert set(gone.ids) == set(mine.values())
    assert "Hanoi" not in "".join(hit.text for hit in planner.recall("Hanoi") if hit.id != bobs)
    assert bob.get(bobs).state is State.ACTIVE
    assert set(ana.restore(mine[first]).ids) == set(mine.values())
    assert {one.memory_id for one in purge(ana, mine[first], now=True)} == set(mine.values())
    assert engine.verify_audit().findings == ()


def test_what_was_made_of_it_alone_goes_with_it_however_far(place: Place) -> None:
    """What says of itself that it was made of something else, too, stays, and is named."""
    engine = place.open()
    ana, planner = engine.scope(session="s1"), engine.scope(agent="planner", session="s1")
    one = ana.remember(SAID).ids[0]
    chain = [one]
    for text in ("A visit to Vietnam needs a visa", "Visa forms take ten days", "Start in June, then"):
        chain += planner.remember(text, derived_from=chain[-1:]).ids
    other = ana.remember("The boat is called Petrel").ids[0]
    both = planner.remember("A trip by sea would do", derived_from=[one, other]).ids[0]
    gone = ana.forget(one)
    assert set(gone.ids) == set(chain)
    assert any(both in warning for warning in gone.warnings)
    assert {ana.get(each).state for each in (other, both)} == {State.ACTIVE}
    assert set(ana.restore(one).ids) == set(chain)
    assert {receipt.memory_id for receipt in purge(ana, one, now=True)} == set(chain)
    assert engine.verify_audit().findings == ()


def test_what_was_made_of_a_sources_texts_is_undone_with_them(engine: Engine) -> None:
    ana, planner = engine.scope(), engine.scope(agent="planner")
    web = engine.scope(role="tool", agent="web").remember("Hotel Aurora has a pool").ids[0]
    made = planner.remember("One can swim at the place in question", derived_from=[web]).ids[0]
    assert set(ana.undo(source="web", for_good=True).memories) == {web, made}
    with pytest.raises(NotFound):
        ana.get(made)


@pytest.mark.parametrize("where", [{"tags": [SAID]}, {"reason": SAID}, {"reference": SAID}])
def test_what_an_agent_keeps_beside_a_text_is_named(place: Place, where: dict[str, object]) -> None:
    engine = place.open()
    ana, planner = engine.scope(session="s1"), engine.scope(agent="planner", session="s1")
    one = ana.remember(SAID).ids[0]
    beside = planner.remember("The kettle is on", **where).ids[0]  # type: ignore[arg-type]
    assert any(beside in warning for warning in ana.forget(one).warnings)
    assert [receipt.same_words for receipt in purge(ana, one, now=True)] == [(beside,)]


def test_an_agents_forgetting_takes_one(engine: Engine) -> None:
    planner = engine.scope(agent="planner", session="s1")
    planner.answer("The build takes nine minutes")
    one = planner.remember("The build takes nine minutes")
    assert planner.forget(one.ids[0]).ids == one.ids


def test_a_summary_is_made_anew_without_it(place: Place) -> None:
    engine = place.open()
    ana = engine.scope(session="s1")
    first = ana.hear(SAID)
    for number in range(25):
        ana.hear(f"The lamp number {number} is in room {number + 100}")
    summaries = [one for one in ana.list(limit=500).items if "summary_of" in one.meta]
    assert summaries
    ana.remember(SAID)
    note = next(one.id for one in ana.list(limit=500).items if one.text == SAID and one.space == "user")
    ana.forget(note)
    again = [one for one in ana.list(limit=500).items if "summary_of" in one.meta]
    assert len(again) == len(summaries)
    assert "Hanoi" not in "".join(one.text for one in again)
    assert first.receipts[0].ids[0] not in again[0].meta["summary_of"]
    assert engine.verify_audit().findings == ()


def test_a_purge_takes_the_words_out_of_every_row(place: Place) -> None:
    engine = place.open()
    ana = engine.scope(session="s1")
    heard = ana.hear(f"remember that {SAID}")
    note = next(one for one in heard.receipts if ":short_term:" not in one.ids[0]).ids[0]
    receipts = purge(ana, note, now=True)
    assert len(receipts) > 1
    assert all(one.clean for one in receipts)
    words = [row for rows in place.tables().values() for row in rows if "Hanoi" in row]
    assert words == []
    assert engine.scope(agent="planner").remember(SAID).code == "refused_stays"
    assert engine.verify_audit().findings == ()


def test_an_agent_reads_what_is_active_and_nothing_else(place: Place, clock: ManualClock) -> None:
    engine = place.open()
    ana, planner = engine.scope(session="s1"), engine.scope(agent="planner", session="s1")
    one, two = ana.remember(SAID).ids[0], ana.remember("The boat is called Petrel").ids[0]
    ana.revise(two, "The boat is called Kittiwake")
    clock.advance(seconds=60)
    then = clock.now()
    clock.advance(seconds=60)
    ana.forget(one)
    for read in (planner.get, planner.history, planner.explain):
        with pytest.raises(NotFound):
            read(one)
    assert ana.get(one).text == SAID
    assert ana.history(one)[0].new_text == SAID
    assert "Hanoi" not in str(planner.trace(200))
    assert "Hanoi" in str(ana.trace(200))
    assert "petrel" not in str(planner.trace(200)).casefold()  # nor in the words that it had before
    assert not [hit for hit in planner.recall("Where does Maria live?", as_of=then) if hit.id == one]
    assert [hit.id for hit in ana.recall("Where does Maria live?", as_of=then)][:1] == [one]
    assert "Hanoi" not in "".join(lines_of(planner))
    assert "Petrel" not in "".join(lines_of(planner))
    assert "Hanoi" in "".join(lines_of(ana))
    assert [step.new_text for step in planner.history(two)] == [None, "The boat is called Kittiwake"]
    with pytest.raises(Denied):
        planner.list(states=["soft_deleted"])


def test_a_person_reaches_what_was_said_in_another_session_of_theirs(engine: Engine) -> None:
    first, now = engine.scope(session="monday"), engine.scope(session="friday")
    turn = first.hear("The weather is fine today").receipts[0].ids[0]
    assert now.get(turn).text == "The weather is fine today"
    assert now.forget(turn).code == "forgotten"
    with pytest.raises(NotFound):
        engine.scope(user="bob", session="monday").get(turn)
    other = first.hear("The kettle is on").receipts[0].ids[0]
    with pytest.raises(NotFound):
        engine.scope(agent="planner", session="friday").get(other)


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("The launch budget is 5000 crowns", "delete the launch budget from memory"),
        ("发布预算是五千克朗", "把发布预算从记忆里删掉"),
        ("งบเปิดตัวสินค้าคือ 5000 โครน", "ลืมเรื่องงบเปิดตัวสินค้า"),
    ],
)
def test_a_spoken_wish_reaches_the_project_and_only_ones_own(engine: Engine, said: str, wish: str) -> None:
    ana, bob = (engine.scope(user=name, project="p", session="s1") for name in ("ana", "bob"))
    one = ana.remember(said, space="project").ids[0]
    assert [receipt.code for receipt in bob.hear(wish).receipts][:1] == ["not_yours"]
    assert ana.get(one).state is State.ACTIVE
    assert [receipt.code for receipt in ana.hear(wish).receipts][:1] == ["forgotten"]
    assert engine.scope(agent="planner", project="p").remember(said).code == "refused_stays"


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        (
            "My cousin Ferelith sold the orchard near Dunmore",
            "stop remembering that Ferelith sold the orchard",
        ),
        ("พี่สาวของฉันชื่อเกวลินเลิกกับสามีเมื่อปีที่แล้วที่ลำปาง", "ลบเรื่องเกวลินออกจากความจำ"),
        ("我的表姐方若琳去年在大理卖掉了果园还债", "把方若琳的事从记忆里删掉"),
    ],
)
def test_a_spoken_wish_finds_the_projects_memory_beside_others_of_ones_own(
    engine: Engine, said: str, wish: str
) -> None:
    ana = engine.scope(project="p", session="s1")
    one = ana.remember(said, space="project").ids[0]
    own = [ana.remember(text).ids[0] for text in ("The kettle is on", "I like green tea")]
    assert [receipt.code for receipt in ana.hear(wish).receipts][:1] == ["forgotten"]
    assert ana.get(one).state is State.SOFT_DELETED
    assert {ana.get(each).state for each in own} == {State.ACTIVE}


def test_a_wish_that_names_little_of_the_projects_memory_takes_it_and_nothing_else(engine: Engine) -> None:
    ana = engine.scope(project="p", session="s1")
    one = ana.remember("My cousin Ferelith sold the orchard near Dunmore", space="project").ids[0]
    others = [ana.remember(text).ids[0] for text in ("The kettle is on", "I like green tea")]
    done = ana.hear("wipe the bit about Ferelith").receipts[0]
    assert (done.code, done.ids[0]) == ("forgotten", one)
    assert {ana.get(each).state for each in others} == {State.ACTIVE}


def test_a_learning_file_goes_with_its_memory(workspace: Place) -> None:
    engine = workspace.open()
    ana = engine.scope(session="s1")
    learned = ana.learn(SAID)
    assert learned.file is not None
    assert workspace.folder is not None
    turn = ana.hear(SAID).receipts[0].ids[0]
    ana.forget(turn)
    assert not (Path(workspace.folder) / learned.file).exists()


def test_what_comes_back_by_itself_goes_by_itself_from_then_on(engine: Engine) -> None:
    ana = engine.scope(session="s")
    first = ana.remember("The boat is moored at pier nine.").ids[0]
    twin = ana.remember("The boat is moored at pier nine.", space="session").ids[0]
    assert ana.forget(first).ids == (first, twin)
    ana.restore(twin)
    ana.forget(twin)
    assert ana.restore(first).ids == (first,)


def test_a_rule_from_above_does_not_go_with_a_persons_own_words(engine: Engine) -> None:
    above = engine.scope(role="system").remember("Refunds need two signatures.").ids[0]
    ana = engine.scope(session="s")
    own = ana.remember("Refunds need two signatures.", space="session").ids[0]
    assert ana.forget(own).ids == (own,)
    assert engine.scope(role="system").get(above).state is State.ACTIVE


DECIDED = {
    "en": ("We decided that parcels go with Kerry because they come every day.", "Kerry"),
    "th": ("ตกลงว่าเราจะส่งพัสดุกับเคอรี่เพราะเขามารับทุกวัน", "เคอรี่"),
    "zh-hant": ("我們決定包裹改由黑貓宅急便送，因為他們每天來收。", "黑貓"),
    "zh-hans": ("我们决定包裹改由顺丰快递送，因为他们每天来收。", "顺丰"),
}


@pytest.mark.parametrize("language", DECIDED)
def test_files_that_jobs_made_of_a_turn_follow(workspace: Place, language: str) -> None:
    said, name = DECIDED[language]
    engine = workspace.open()
    ana = engine.scope(session="s1")
    turn = ana.hear(said).receipts[0].ids[0]
    ana.hear("We decided that invoices are sent on Fridays.")
    workspace.clock.advance(hours=1)
    run_job(engine, "micro-sync", engine.now())
    workspace.clock.advance(hours=30)
    run_job(engine, "daily-wrap-up", engine.now())
    run_job(engine, "weekly-compound", engine.now())
    assert workspace.folder is not None
    root = Path(workspace.folder)
    hand = root / "memory/notes.md"
    hand.write_text(f"- my own line about {name}\n", "utf-8")

    def telling(what: str) -> set[str]:
        files = [one for one in root.rglob("*.md") if ".lamina" not in one.parts]
        return {one.relative_to(root).as_posix() for one in files if what in one.read_text("utf-8")}

    made = telling(name) - {"memory/notes.md"}
    assert len(made) == 4, made  # the day, its summary, the week, MEMORY.md
    invoices = telling("Fridays")
    receipt = ana.forget(turn)
    assert telling(name) == {"memory/notes.md"}
    assert telling("Fridays") == invoices
    assert all(any(one in told for told in receipt.warnings) for one in made)
    run_job(engine, "micro-sync", engine.now())
    run_job(engine, "daily-wrap-up", engine.now())
    assert telling(name) == {"memory/notes.md"}
