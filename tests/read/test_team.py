"""A team of agents on one memory: what changed, who may reach what, and one query for all of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lamina import Denied, InvalidInput, LaminaError, NotFound
from lamina.errors import ConfigError
from lamina.model import plain
from lamina.policy.categories import load_categories
from lamina.text.tokens import count_tokens

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place

#: The document's own file, word for word.
CATEGORIES = """
categories:
  system:
    - name: profile
      context: all
    - name: event
      context: rag
      rag_length: 30
    - name: activity
      context: rag
      rag_length: 50
  custom: []
allowlists:
  supervisor: [profile, goals, preferences, event, activity, relationships, tasks]
  planner:    [goals, tasks, projects]
  stylist:    [preferences, tone, style]
  researcher: [knowledge, interests, history]
  executor:   [tasks, recent_activity, constraints]
"""


def team(place: Place, tmp_path: Path, text: str = CATEGORIES) -> Engine:
    file = tmp_path / "categories.yaml"
    file.write_text(text, "utf-8")
    return place.open(categories=str(file))


def texts(found: Any) -> list[str]:
    return [one.text for one in found]


# --- what changed -------------------------------------------------------------------------------------


def test_a_delta_says_what_changed_since_the_cursor_and_survives_a_restart(place: Place) -> None:
    ana = place.open().scope(user="ana")
    kept = ana.remember("Ana ships the first version in May", importance=4).ids[0]
    gone = ana.remember("Ana drinks oolong", importance=1).ids[0]
    first = ana.changes()
    assert (first.revision, first.more) == (2, 0)
    assert first.text.splitlines()[0] == "Memory updates since rev 0:"

    ana.revise(kept, "Ana ships the first version in June")
    ana.forget(gone)
    ana.remember("dark", key="ui.theme")
    ana.remember("light", key="ui.theme")
    place.close()
    ana = place.open().scope(user="ana")

    delta = ana.changes(first.cursor)
    assert {(one.event, one.memory_id) for one in delta.changes} == {
        ("updated", kept),
        ("updated", "user:ana:profile:2"),
        ("soft_deleted", gone),
    }
    assert "- ↑updated: [uncategorised] Ana ships the first version in June\n" in f"{delta.text}\n"
    assert gone in delta.text
    assert "oolong" not in delta.text  # what was forgotten is in no prompt
    assert "dark" not in delta.text  # it came and went
    after = ana.changes(delta.cursor)
    assert (after.changes, after.text, after.revision) == ((), "", delta.revision)

    ana.restore(gone)
    assert [one.event for one in ana.changes(delta.cursor).changes] == ["restored"]


def test_a_delta_has_three_lines_by_importance_and_no_fourth(engine: Engine) -> None:
    ana = engine.scope(user="ana")
    for number in range(1, 6):
        ana.remember(f"Fact number {number} about the garden", importance=number)
    delta = ana.changes()
    assert [one.importance for one in delta.changes] == [5, 4, 3]
    assert delta.more == 2
    assert delta.text.splitlines() == [  # S-1: the document's own wording, three bullets at most
        "Memory updates since rev 0:",
        *(f"- +created: [uncategorised] Fact number {n} about the garden (imp={n})" for n in (5, 4, 3)),
    ]


def test_the_header_is_the_documents_and_its_revision_the_threads(place: Place, tmp_path: Path) -> None:
    """S-1."""
    engine = team(place, tmp_path)
    ana, thread = engine.scope(user="ana"), engine.scope(user="ana", session="s1")
    notes = ("Ana is lactose intolerant", "Ana is lactose intolerant, says Ana")
    two = [ana.remember(one, category="knowledge").ids[0] for one in notes]
    assert ana.changes().revision == 2
    assert thread.changes().revision == 0  # nothing was changed in it yet
    cursor = ana.changes().cursor
    assert ana.merge(two).code == "merged"
    line = ana.changes(cursor).text.splitlines()[1]
    assert line.startswith("- ↔merged: Combined 2 notes: Ana is lactose intolerant")
    thread.remember("Ship v1 by Sep", category="goals")
    thread.remember("Ana likes a dry tone", category="tone")
    assert thread.changes().revision == 2
    assert engine.scope(user="ana", session="s2").changes().revision == 0

    planner = engine.scope(user="ana", session="s1", agent="planner")
    first = planner.changes()
    assert first.revision == 1  # of the other change it may not even know that it was
    thread.remember("Ana likes long sentences", category="style")
    thread.remember("Ship v2 by Dec", category="goals")
    found = planner.query("ship", changes_since=first.cursor)
    assert found.delta is not None
    assert found.delta.revision == 2
    assert found.delta.text.splitlines()[0] == "Memory updates since rev 1:"
    assert texts(found.delta.changes) == ["Ship v2 by Dec"]
    assert planner.query("ship").delta is None


@pytest.mark.parametrize(
    ("said", "head", "mark"),
    [
        ("แพรวชอบชาเขียวหมายเลข", "ความจำที่เปลี่ยนไปตั้งแต่ครั้งที่ 0:", "- +เพิ่มใหม่: "),
        ("安娜喜歡綠茶和圖書館", "自第 0 版以來的記憶更新：", "- +新增: "),
        ("安娜喜欢绿茶和图书馆", "自第 0 版以来的记忆更新：", "- +新增: "),
    ],
)
def test_a_delta_speaks_the_language_of_what_changed(engine: Engine, said: str, head: str, mark: str) -> None:
    ana = engine.scope(user="ana")
    for number in range(4):
        ana.remember(f"{said}{number}")
    lines = ana.changes().text.splitlines()
    assert lines[0] == head
    assert len(lines) == 4
    assert all(line.startswith(mark) for line in lines[1:])


def test_recall_and_context_carry_the_delta_where_it_is_asked_for(engine: Engine) -> None:
    ana = engine.scope(user="ana")
    cursor = ana.changes().cursor
    ana.remember("Ana keeps bees", category="knowledge")
    found = ana.recall("bees", changes_since=cursor)
    assert found.delta is not None
    assert [one.event for one in found.delta.changes] == ["created"]
    assert ana.recall("bees").delta is None
    made = ana.context("honey", changes_since=cursor)
    assert "Memory updates since rev 0:" in made.text
    assert made.delta is not None
    assert "Memory updates" not in ana.context("honey", changes_since=made.delta.cursor).text


def test_a_cursor_is_good_for_its_own_shelves_only_and_cannot_be_made_up(engine: Engine) -> None:
    ana = engine.scope(user="ana")
    ana.remember("Ana keeps bees")
    cursor = ana.changes().cursor
    for wrong in ("1", "x" * 64, cursor[:-4] + "AAA=", "ไม่ใช่"):
        with pytest.raises(InvalidInput) as refused:
            ana.changes(wrong)
        assert refused.value.code == "cursor_invalid"
    with pytest.raises(InvalidInput):
        engine.scope(user="bob").changes(cursor)


def test_what_a_session_changed_is_told_in_that_session_and_the_profile_everywhere(engine: Engine) -> None:
    one, two = (engine.scope(user="ana", session=name) for name in ("s1", "s2"))
    one.remember("the blue folder is open", space="session")
    one.remember("Ana keeps bees")
    engine.scope(user="bob").remember("Bob keeps wasps")
    assert sorted(texts(one.changes().changes)) == ["Ana keeps bees", "the blue folder is open"]
    assert texts(two.changes().changes) == ["Ana keeps bees"]


# --- categories and allowlists ------------------------------------------------------------------------


def test_an_agent_reaches_its_categories_through_no_verb_any_other(place: Place, tmp_path: Path) -> None:
    engine = team(place, tmp_path)
    ana = engine.scope(user="ana")
    goal = ana.remember("Ship the CANARY-GOAL in May", category="goals").ids[0]
    fact = ana.remember("The CANARY-FACT is lactose", category="knowledge").ids[0]
    tone = ana.remember("CANARY-TONE", key="response.tone").ids[0]
    planner, nobody = engine.scope(user="ana", agent="planner"), engine.scope(user="ana", agent="stranger")

    def everything(mind: ScopedMemory) -> str:
        said = [mind.recall("CANARY goal fact lactose tone"), mind.resolve(), mind.context("CANARY lactose")]
        said += [
            mind.list(),
            mind.keyed(),
            mind.latest(),
            mind.pending(),
            mind.trace(1000),
            mind.changes(),
            mind.stats(),
        ]
        said += [mind.query("CANARY lactose"), mind.recall(fact), mind.recall("response.tone")]
        return str(plain(said))

    assert "CANARY-GOAL" in everything(planner)
    for word in ("CANARY-FACT", "CANARY-TONE", fact, tone):
        assert word not in everything(planner)
    assert "CANARY" not in everything(nobody)
    assert "CANARY-FACT" in everything(ana)
    assert planner.stats().memories == {"goals": {"active": 1}}
    assert planner.changes().revision == 1  # a count of all would count what it does not see

    refused: list[Any] = [
        lambda: planner.get(fact),
        lambda: planner.history(fact),
        lambda: planner.explain(fact),
        lambda: planner.revise(fact, "x"),
        lambda: planner.forget(fact),
        lambda: planner.restore(fact),
        lambda: planner.promote(fact, "project"),
        lambda: planner.why_not("lactose", fact),
        lambda: planner.forget("response.tone"),
    ]
    for attempt in refused:
        with pytest.raises(NotFound) as error:
            attempt()
        assert "CANARY" not in str(error.value)
    assert planner.get(goal).text == "Ship the CANARY-GOAL in May"


def test_an_agent_writes_to_its_own_categories_only(place: Place, tmp_path: Path) -> None:
    engine = team(place, tmp_path)
    planner = engine.scope(user="ana", agent="planner")
    stylist = engine.scope(user="ana", agent="stylist")  # neither plans nor acts
    tried = [(planner, {"category": "tone"}), (planner, {}), (stylist, {"layer": "procedural"})]
    for agent, details in tried:
        receipt = agent.remember("write the plan anew", **details)
        assert (receipt.decision, receipt.code) == ("denied", "category_disallowed")
    assert planner.remember("write it", category="taks").code == "category_unknown"
    assert planner.remember("write the plan anew", category="tasks").decision == "admitted"
    engine.scope(user="ana").remember("the same words", category="knowledge")
    hidden = planner.remember("the same words", category="tasks")
    assert (hidden.code, hidden.ids) == ("category_disallowed", ())
    assert engine.scope(user="ana").remember("anything", category="knowledge").decision == "admitted"


def test_procedures_reach_the_agents_that_plan_or_act(place: Place, tmp_path: Path) -> None:
    engine = team(place, tmp_path)  # S-4: the document's own lists, in which no agent has procedures by name
    engine.scope(user="ana").remember("1. Pull. 2. Build the wheel.", layer="procedural", kind="procedure")
    executor, stylist = (engine.scope(user="ana", agent=name) for name in ("executor", "stylist"))
    assert len(executor.query("how to build the wheel", categories=["procedural"]).bullets) == 1
    assert stylist.query("how to build the wheel").bullets == ()
    with pytest.raises(Denied):
        stylist.query("how to build the wheel", categories=["procedural"])


PEOPLE = """
allowlists:
  planner: [tasks, goals]
projects:
  atlas:
    ana: [tasks, goals, knowledge, uncategorised]
    bob: [tasks]
"""


def test_a_projects_people_reach_their_categories_in_it_and_all_of_their_own(
    place: Place, tmp_path: Path
) -> None:
    engine = team(place, tmp_path, PEOPLE)

    def of(name: str, **more: Any) -> ScopedMemory:
        return engine.scope(user=name, project="atlas", **more)

    ana, bob, eve = of("ana"), of("bob"), of("eve")
    task = ana.remember("The CANARY-TASK is due", category="tasks", space="project").ids[0]
    fact = ana.remember("The CANARY-FACT is lactose", category="knowledge", space="project").ids[0]
    keyed = ana.remember("CANARY-KEY", key="plan.colour", category="goals", space="project").ids[0]
    own = bob.remember("Bob knows OWN-FACT of lactose", category="knowledge").ids[0]

    def everything(mind: ScopedMemory) -> str:
        said = [mind.recall("CANARY task fact lactose", k=50), mind.resolve(), mind.context("CANARY lactose")]
        said += [mind.list(), mind.changes(), mind.trace(), mind.stats(), mind.query("CANARY lactose fact")]
        return str([plain(one) for one in said])

    assert all(one in everything(ana) for one in ("CANARY-TASK", "CANARY-FACT", "CANARY-KEY"))
    for mind, seen in (
        (bob, ("CANARY-TASK", "OWN-FACT")),
        (eve, ()),
        (of("bob", agent="planner"), ("CANARY-TASK",)),
    ):
        told = everything(mind)
        marks = ("CANARY-TASK", "CANARY-FACT", "CANARY-KEY", "OWN-FACT")
        assert {one for one in marks if one in told} == {*seen}
        assert fact not in told
        assert keyed not in told
    assert bob.get(task).text
    assert bob.get(own).text
    for verb in (bob.get, bob.history, bob.explain, bob.forget, lambda one: bob.revise(one, "x"), bob.pin):
        with pytest.raises(NotFound):
            verb(fact)
    assert ana.changes().revision == 3  # as many as she may know of
    assert of("bob", role="admin").get(fact).text
    assert engine.scope(user="bob", project="other").recall("lactose").hits


def test_a_projects_people_write_to_their_categories_in_it_only(place: Place, tmp_path: Path) -> None:
    engine = team(place, tmp_path, PEOPLE)
    bob = engine.scope(user="bob", project="atlas")
    assert bob.remember("Write the plan", category="tasks", space="project").decision == "admitted"
    refused = bob.remember("The plan is secret", category="knowledge", space="project")
    assert (refused.decision, refused.code) == ("denied", "category_disallowed")
    mine = bob.remember("The plan is long", category="knowledge")
    assert mine.decision == "admitted"
    moved = bob.promote(mine.ids[0], "project", reason="all should know")
    assert (moved.decision, moved.code) == ("denied", "category_disallowed")
    engine.scope(user="ana", project="atlas").remember(
        "red", key="plan.colour", category="goals", space="project"
    )
    taken = bob.remember("blue", key="plan.colour", category="tasks", space="project")
    assert (taken.decision, taken.code) == ("denied", "category_disallowed")
    with pytest.raises(ConfigError, match="not a category"):
        load_categories("projects: {atlas: {bob: [nonsense]}}", "c.yaml")
    for wrong in ("projects: [a]", "projects: {atlas: [a]}", "projects: {atlas: {bob: tasks}}"):
        with pytest.raises(ConfigError):
            load_categories(wrong, "c.yaml")


def test_a_category_with_the_mode_all_is_in_every_context_and_rag_length_cuts(
    place: Place, tmp_path: Path
) -> None:
    short = CATEGORIES.replace("rag_length: 30", "rag_length: 2")
    ana = team(place, tmp_path, short).scope(user="ana")
    ana.remember("Ana was born in Lisbon", category="profile")
    for number in range(4):
        ana.remember(f"The harvest festival number {number}", category="event")
    made = ana.context("the harvest festival")
    assert "Ana was born in Lisbon" in made.text
    assert made.text.count("harvest festival") == 2
    assert "Lisbon" not in ana.context("the harvest festival", budget_tokens=5).text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("allowlists: {planner: [gaols]}", "Did you mean `goals`?"),
        ("categories: {system: [{name: profiel}]}", "Did you mean `profile`?"),
        ("categories: {system: [{name: profile, context: some}]}", "`all` or `rag`"),
        ("categories: {custom: [{name: x, rag_length: -2}]}", "rag_length"),
        ("categories: {custom: [{nome: x}]}", "a `name`"),
        ("allowlists: {planner: goals}", "list of categories"),
        ("allowlist: {}", "`allowlists`"),
        ("[", "cannot be read"),
    ],
)
def test_a_categories_file_with_a_mistake_is_an_error_at_the_start(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_categories(text, "team.yaml")
    assert refused.value.code == "categories_invalid"
    assert said in str(refused.value)


# --- memory.query -------------------------------------------------------------------------------------


def test_memory_query_narrows_by_every_filter_in_the_store(place: Place) -> None:
    engine = place.open()
    ana = engine.scope(user="ana")
    old = ana.remember("the deployment plan of spring", category="tasks", importance=2).ids[0]
    place.clock.advance(days=40)
    bot = engine.scope(user="ana", agent="planner", run="r7")
    new = bot.remember("the deployment plan of summer", category="tasks", importance=4, pin=True).ids[0]
    ana.remember("the deployment song", category="knowledge")

    def ids(**filters: Any) -> list[str]:
        found = ana.query("deployment plan", categories=["tasks"], filters=filters)
        return sorted(one.id for one in found.bullets)

    both = sorted([old, new])
    assert ids() == ids(user_id="ana") == ids(importance_min=1, importance_max=5) == both
    assert ids(agent_id="planner") == ids(run_id="r7") == ids(actor_id="agent:planner") == [new]
    assert ids(role="assistant") == ids(pinned=True) == ids(importance_min=3) == [new]
    assert ids(updated_after=plain(place.clock.now() - timedelta(days=1))) == [new]
    assert ids(role="user") == ids(pinned=False) == ids(importance_max=2) == [old]
    assert ids(updated_before=plain(place.clock.now())[:10]) == [old]
    assert ids(agent_id="planner", importance_max=2) == []
    # S-2: the keys of 6.1 as the document writes them; a bare name is a person.
    assert ids(category="tasks") == both
    assert ids(category="knowledge") == []  # both hold, and nothing is widened
    assert [one.category for one in ana.query("deployment", filters={"category": "knowledge"}).bullets] == [
        "knowledge"
    ]
    assert ids(actor_id="ana") == ids(actor_id="user:ana") == [old]
    assert ids(actor_id="planner") == []


def test_who_asks_for_the_whole_scale_gets_what_rules_put_above_it(engine: Engine) -> None:
    """S-2: the document's own request says `importance_max: 5`, and what is always to be done weighs 6."""
    ana = engine.scope(user="ana")
    always = ana.remember("Always run the linter before a commit").ids[0]
    assert ana.get(always).importance > 5
    for most in (5, 6, 7):
        found = ana.query("linter before a commit", filters={"importance_min": 1, "importance_max": most})
        assert [one.id for one in found.bullets] == [always]
    assert ana.query("linter before a commit", filters={"importance_max": 4}).bullets == ()


def test_memory_query_gives_bullets_or_all_within_a_budget_and_a_threshold(engine: Engine) -> None:
    ana = engine.scope(user="ana")
    ana.remember("Ana fixes bicycles on Sunday", category="tasks")
    ana.remember("On Sunday Ana fixes the long wooden fence behind the house of her aunt", category="tasks")
    found = ana.query("fixes bicycles Sunday")
    assert found.bullets[0].text == "[tasks] Ana fixes bicycles on Sunday"
    size = count_tokens(found.bullets[0].text)
    tight = ana.query("fixes bicycles Sunday", budget_tokens=size)
    assert (len(tight.bullets), tight.tokens, tight.left_out) == (1, size, 1)
    assert ana.query("fixes bicycles Sunday", budget_tokens=size - 1).bullets == ()
    assert len(ana.query("fixes bicycles Sunday", top_k=1).bullets) == 1
    close = ana.query("fixes bicycles Sunday", threshold=0.9).bullets
    assert [one.text for one in close] == ["[tasks] Ana fixes bicycles on Sunday"]
    full = ana.query("fixes bicycles Sunday", returns="full", top_k=1).bullets[0]
    assert full.text == "Ana fixes bicycles on Sunday"
    assert full.metadata is not None
    assert full.metadata["importance"] == ana.get(full.id).importance


def test_memory_query_finds_a_rare_category_among_many(place: Place, tmp_path: Path) -> None:
    """However little it fits the question; what was forgotten or is out of reach is not met that way."""
    engine = team(place, tmp_path)
    ana = engine.scope(user="ana")
    ana.remember_many({"text": f"the harbour of town {n}", "category": "knowledge"} for n in range(300))
    kept = [ana.remember(f"a harbour trip {n}", category="goals").ids[0] for n in range(3)]
    ana.forget(kept[0])

    def ids(mind: ScopedMemory, *categories: str) -> set[str]:
        found = mind.query("the harbour of town", categories=list(categories), top_k=64, budget_tokens=9999)
        return {one.id for one in found.bullets}

    assert ids(ana, "goals") == ids(engine.scope(user="ana", agent="planner")) == set(kept[1:])
    assert len(ids(ana, "goals", "knowledge")) == 64
    assert ids(engine.scope(user="ana", agent="stylist")) == set()


def test_memory_query_refuses_by_name_and_widens_nothing(place: Place, tmp_path: Path) -> None:
    engine = team(place, tmp_path)
    engine.scope(user="ana").remember("Ana likes a dry tone", category="tone")
    planner = engine.scope(user="ana", agent="planner")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"categories": ["tone"]}, "category_disallowed"),
        ({"categories": ["goals", "tnoe"]}, "category_unknown"),
        ({"agent": "stylist"}, "agent_mismatch"),
        ({"filters": {"user_id": "bob"}}, "user_mismatch"),
        ({"filters": {"tenant": "x"}}, "filter_invalid"),
        ({"filters": {"pinned": 1}}, "filter_invalid"),
        ({"filters": {"category": "tone"}}, "category_disallowed"),
        ({"filters": {"category": "tnoe"}}, "category_unknown"),
        ({"filters": {"category": ["tone"]}}, "text_type"),
        ({"filters": {"role": "king"}}, "role_invalid"),
        ({"filters": {"importance_min": 9}}, "importance_invalid"),
        ({"filters": {"updated_after": "soon"}}, "time_invalid"),
        ({"returns": "all"}, "return_invalid"),
        ({"top_k": 0}, "top_k_invalid"),
        ({"threshold": 2}, "threshold_invalid"),
    ]
    for asked, code in wrong:
        with pytest.raises(LaminaError) as refused:
            planner.query("a dry tone", **asked)
        assert refused.value.code == code
    assert planner.query("a dry tone", agent="planner", categories=["goals"]).bullets == ()
    with pytest.raises(Denied, match="'tone'"):
        planner.recall("a dry tone", categories=["tone"])


# --- counts -------------------------------------------------------------------------------------------


def test_what_was_done_is_counted_and_so_is_the_share_of_turns_with_a_query(place: Place) -> None:
    engine = place.open(understanding=False)
    ana = engine.scope(user="ana", session="s1")
    engine.scope(user="bob").remember("Bob keeps wasps")
    for number in range(4):
        ana.hear(f"My plan number {number} is to plant a tree.")
        if number == 2:
            ana.query("which tree")
            ana.query("which plan")
    place.close()
    found = place.open().scope(user="ana", session="s1").stats(by="hour")
    counted = {(one.node, one.op): one.count for one in found.counts}
    assert (found.turns, found.turns_with_query, found.query_share) == (4, 1, 0.25)
    assert counted["hotpath", "query"] == 2
    assert counted["hotpath", "classify"] == 4
    assert counted["hotpath", "create"] >= 4
    assert place.engines[-1].scope(user="carl").stats().counts == ()


def test_reading_alone_writes_nothing_not_even_counts(place: Place) -> None:
    place.open().scope(user="ana").remember("Ana keeps bees")
    place.close()
    before = place.tables()
    ana = place.open().scope(user="ana")
    for _ in range(70):
        ana.recall("bees")
    ana.query("bees")
    ana.changes()
    place.close()
    assert place.tables()["operational"] == before["operational"]
