"""What is known about a person leaves as files and comes in again: checked, once, in the caller's name."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lamina
from lamina import Conflict, Denied, InvalidInput, State
from lamina.imports.bring_in import import_files
from lamina.imports.restore_export import bring_in
from lamina.layers.relations import Relations
from lamina.lifecycle.export import export, lines_of
from lamina.lifecycle.purge import purge
from lamina.model import HistoryOp
from lamina.testing import ManualClock

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place

CONTENT = (
    "text",
    "key",
    "kind",
    "space",
    "layer",
    "category",
    "tags",
    "importance",
    "priority",
    "confidence",
    "pinned",
    "state",
    "ttl",
    "purge_at",
)


def lived(engine: Engine) -> ScopedMemory:
    """A life with something in every state, in three languages."""
    mind = engine.scope()
    session = engine.scope(session="โต๊ะ 1".replace(" ", "-"))
    mind.remember("Ana is lactose intolerant", importance=5, pin=True, category="constraints", tags=["food"])
    mind.remember("อนาชอบกาแฟดำ", kind="preference", confidence=0.9)
    mind.remember("安娜住在里斯本", priority=70)
    mind.remember("friendly", key="response.tone")
    mind.remember("short and dry", key="response.tone")
    mind.forget(mind.remember("安娜喜歡喝茶").ids[0])
    mind.remember("kept for a week", ttl="7d")
    session.hear("I want to plan a trip to Kyoto")
    engine.scope(agent="planner").remember("Ana seems to like trains", category="preferences")
    mind.layers.episodes.record("Talked about the trip to Kyoto", topics=["trip"])
    return mind


def memories(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "memories.jsonl").read_text("utf-8").splitlines()]


def contents(folder: Path) -> list[str]:
    rows = ({name: one[name] for name in CONTENT} for one in memories(folder))
    return sorted(json.dumps(one, sort_keys=True, ensure_ascii=False) for one in rows)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Engine:
    """An empty memory of the same person on another machine."""
    return lamina.open(tmp_path / "elsewhere", owner="ana", clock=ManualClock())


def test_what_is_exported_comes_back_the_same_and_only_once(
    place: Place, elsewhere: Engine, tmp_path: Path
) -> None:
    mind = lived(place.open())
    export(mind, tmp_path / "one")

    with elsewhere:
        there = elsewhere.scope()
        first = bring_in(there, tmp_path / "one")
        again = bring_in(there, tmp_path / "one")
        export(there, tmp_path / "two")
        assert there.recall("กาแฟ").hits[0].text == "อนาชอบกาแฟดำ"
        assert elsewhere.verify_audit().findings == ()

    total = len(memories(tmp_path / "one"))
    assert (first.read, first.new, first.refused, first.differences) == (total, total, {}, [])
    assert (again.read, again.new, again.known) == (total, 0, total)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert {one["state"] for one in memories(tmp_path / "one")} >= {"active", "superseded", "soft_deleted"}
    one, two = ({memory["id"] for memory in memories(tmp_path / name)} for name in ("one", "two"))
    assert len(one & two) >= total - 2


def test_a_restore_into_an_empty_store_is_the_same_to_the_byte(tmp_path: Path) -> None:
    with lamina.open(f"sqlite:///{tmp_path}/one.db", owner="ana", clock=ManualClock()) as engine:
        mind = lived(engine)
        first, second, *_ = (one.id for one in mind.list(spaces=["user"]).items)
        mind.revise(first, "Talked about the long trip to Kyoto")
        Relations(mind).link(first, second)
        engine.scope(role="document", agent="web").remember("Kyoto has 1,600 temples")
        made = export(mind, tmp_path / "one")
    with lamina.open(f"sqlite:///{tmp_path}/two.db", owner="ana", clock=ManualClock()) as engine:
        there = engine.scope()
        report = bring_in(there, tmp_path / "one")
        assert report.restored == report.new == report.read
        assert export(there, tmp_path / "two").files == made.files
        assert engine.verify_audit().findings == ()
        assert [step.op for step in there.history(first)][:2] == [HistoryOp.ADD, HistoryOp.UPDATE]
        assert bring_in(there, tmp_path / "one").new == 0
        assert there.remember("Ana has a cat").ids[0] not in {one["id"] for one in memories(tmp_path / "one")}
    with lamina.open(tmp_path / "three", owner="ana", clock=ManualClock()) as engine:
        report = bring_in(engine.scope(), tmp_path / "one")  # where a value stands in a file
        assert report.restored == report.new - 1
        assert "short and dry" in (tmp_path / "three" / "PROFILE.md").read_text("utf-8")
    with lamina.open(f"sqlite:///{tmp_path}/four.db", owner="bo", clock=ManualClock()) as engine:
        report = bring_in(engine.scope(), tmp_path / "one")
        assert (report.restored, report.new) == (0, report.read)
        assert all("imported_from" in one.meta for one in engine.scope().list(spaces=["user"]).items)


def test_a_forged_export_of_ones_own_gets_no_weight_and_no_life(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with lamina.open(f"sqlite:///{tmp_path}/one.db", owner="ana", clock=ManualClock()) as engine:
        for text in ("Ana likes tea", "Ana likes milk", "Ana likes rum"):
            engine.scope().remember(text)
        export(engine.scope(), folder)
    one, two, three = memories(folder)
    one["authority"] = "system_imposed"
    two["owner"] = "bo"
    lives = (folder / "history.jsonl").read_text("utf-8").splitlines()
    lives[2] = lives[2].replace("Ana likes rum", "the password is hunter2secret99")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    for name, rows in (("memories.jsonl", map(json.dumps, (one, two, three))), ("history.jsonl", lives)):
        data = "".join(f"{row}\n" for row in rows).encode()
        (folder / name).write_bytes(data)
        manifest["files"][name]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with lamina.open(f"sqlite:///{tmp_path}/two.db", owner="ana", clock=ManualClock()) as engine:
        report = bring_in(engine.scope(), folder)
        assert (report.new, report.restored) == (3, 0)
        found = engine.scope().list(spaces=["user"]).items
        assert {(item.owner, str(item.authority)) for item in found} == {("ana", "user_asserted")}
        assert "hunter2secret99" not in "".join(lines_of(engine.scope()))


def test_the_same_memory_gives_the_same_bytes_each_time_and_on_both_databases(
    place: Place, tmp_path: Path
) -> None:
    mind = lived(place.open())
    made = export(mind, tmp_path / "one")
    export(mind, tmp_path / "two")
    for name in made.files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    if place.variant == "postgres":
        with lamina.open(f"sqlite:///{tmp_path}/other.db", owner="ana", clock=ManualClock()) as other:
            assert export(lived(other), tmp_path / "three").files == made.files
    last = list(lines_of(mind))[-1]
    assert json.loads(last)["counts"] == {"memory": len(memories(tmp_path / "one")), **_counts(made.counts)}
    page = (tmp_path / "one" / "memories.md").read_text("utf-8")
    assert "- **response.tone**: short and dry" in page
    assert "安娜喜歡喝茶" not in page


def _counts(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if not name.startswith("memories_")}


@pytest.mark.parametrize("damage", ["a byte", "a file is missing", "no manifest", "a file elsewhere"])
def test_a_damaged_export_is_refused_and_nothing_comes_in(
    elsewhere: Engine, tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "out"
    with lamina.open(tmp_path / "here", owner="ana", clock=ManualClock()) as engine:
        export(lived(engine), folder)
    memories_file, manifest = folder / "memories.jsonl", folder / "manifest.json"
    match damage:
        case "a byte":
            memories_file.write_bytes(memories_file.read_bytes().replace(b"lactose", b"lactosE"))
        case "a file is missing":
            (folder / "history.jsonl").unlink()
        case "no manifest":
            manifest.unlink()
        case _:
            told = manifest.read_text("utf-8").replace('"history.jsonl"', '"../here/x"')
            manifest.write_text(told, "utf-8")
    with elsewhere:
        with pytest.raises(InvalidInput) as refused:
            import_files(elsewhere.scope(), [folder], format="lamina")
        assert refused.value.code == "export_damaged"
        assert elsewhere.status().memories == {}


def test_nothing_in_an_export_says_who_speaks(elsewhere: Engine, tmp_path: Path) -> None:
    """An export of somebody else's comes in as the caller's own, an agent's word stays an agent's."""
    with lamina.open(tmp_path / "here", owner="bo", clock=ManualClock()) as engine:
        engine.scope().remember("Bo's boat is blue")
        engine.scope(agent="planner").remember("Bo seems to sail")
        engine.scope(role="tool").remember("The harbour closes at nine")
        engine.scope(role="admin").remember("Nobody sails at night", space="user")
        export(engine.scope(), tmp_path / "out")
    with elsewhere:
        with pytest.raises(Denied):
            bring_in(elsewhere.scope(agent="planner"), tmp_path / "out")
        mind = elsewhere.scope()
        report = import_files(mind, [tmp_path / "out"])
        assert (report.files, report.new) == ({"lamina": 1}, 4)
        found = mind.loaded([hit.id for hit in mind.recall("Bo boat sail harbour night", k=9)])
        assert {one.owner for one in found} == {"ana"}
        weights = {one.text: (one.authority, one.provenance.trust) for one in found}
        assert weights == {
            "Bo's boat is blue": ("user_asserted", "trusted"),
            "Bo seems to sail": ("ai_inferred", "trusted"),
            "The harbour closes at nine": ("ai_inferred", "untrusted"),
            "Nobody sails at night": ("user_asserted", "trusted"),
        }
        assert elsewhere.scope(user="bo").recall("boat").hits == ()


def test_what_is_here_with_other_words_stays_and_is_told(elsewhere: Engine, tmp_path: Path) -> None:
    with lamina.open(tmp_path / "here", owner="ana", clock=ManualClock()) as engine:
        export(lived(engine), tmp_path / "out")
    with elsewhere:
        mind = elsewhere.scope()
        mind.remember("formal", key="response.tone")
        mine = mind.remember("Ana has a cat").ids[0]
        report = bring_in(mind, tmp_path / "out")
        assert [one.text for one in mind.keyed()] == ["formal"]
        assert report.refused == {"differs": 1}
        assert "response.tone" in report.differences[0]
        assert mind.get(mine).text == "Ana has a cat"


def test_a_secret_in_a_forged_export_does_not_come_in(elsewhere: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with lamina.open(tmp_path / "here", owner="ana", clock=ManualClock()) as engine:
        engine.scope().remember("Ana likes tea")
        engine.scope().remember("Ana likes milk")
        export(engine.scope(), folder)
    (first, second), manifest = memories(folder), json.loads((folder / "manifest.json").read_text("utf-8"))
    forged = [{**first, "text": "my password is hunter2secret99"}, {**second, "state": "immortal"}, 7]
    data = "".join(json.dumps(one) + "\n" for one in forged).encode()
    (folder / "memories.jsonl").write_bytes(data)
    manifest["files"]["memories.jsonl"]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with elsewhere:
        report = bring_in(elsewhere.scope(), folder)
        assert report.refused == {"privacy_deny_sensitive": 1, "bad_line": 2}
        assert elsewhere.status().memories == {}


def test_an_export_never_writes_into_a_folder_that_is_in_use(ana: ScopedMemory, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(Conflict, match="not empty"):
        export(ana, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    shutil.rmtree(tmp_path / "out")


def test_an_agent_exports_what_it_may_reach(place: Place, tmp_path: Path) -> None:
    rules = tmp_path / "categories.toml"
    rules.write_text('[allowlists]\nplanner = ["tasks"]\n', "utf-8")
    engine = place.open(categories=str(rules))
    engine.scope().remember("The deployment starts at noon", category="tasks")
    engine.scope().remember("Ana is in love", category="relationships")
    export(engine.scope(agent="planner"), tmp_path / "out")
    assert [one["category"] for one in memories(tmp_path / "out")] == ["tasks"]
    assert "in love" not in (tmp_path / "out" / "history.jsonl").read_text("utf-8")
    assert engine.scope().get(memories(tmp_path / "out")[0]["id"]).state is State.ACTIVE


def test_what_was_purged_comes_in_again_only_under_another_id(ana: ScopedMemory, tmp_path: Path) -> None:
    one = ana.remember("安娜住在里斯本").ids[0]
    export(ana, tmp_path / "out")
    purge(ana, one, now=True)

    bring_in(ana, tmp_path / "out")
    assert ana.recall("里斯本").hits == ()  # what was purged stays out until its person says otherwise
    bring_in(ana, tmp_path / "out", bring_back=True)

    (hit,) = ana.recall("里斯本").hits
    assert (hit.text, hit.id == one) == ("安娜住在里斯本", False)
    assert ana.get(hit.id).meta["imported_from"] == one
    assert ana.engine.verify_audit().findings == ()


def test_relations_leave_with_their_memories_and_go_with_them(
    engine: Engine, elsewhere: Engine, ana: ScopedMemory, tmp_path: Path
) -> None:
    one, other = (ana.remember(text).ids[0] for text in ("อนาชอบกาแฟดำ", "The espresso machine is broken"))
    Relations(ana).link(one, other)
    export(ana, tmp_path / "out")
    told = json.loads((tmp_path / "out" / "relations.jsonl").read_text("utf-8").splitlines()[0])
    assert {told["from_id"], told["to_id"]} == {one, other}
    theirs = elsewhere.scope(user="mira")
    for _ in range(2):  # the second time nothing is new
        bring_in(theirs, tmp_path / "out")
        (edge,) = Relations(theirs).graph().edges
        assert [edge.from_id, edge.to_id] == [end.replace(":ana:", ":mira:") for end in (one, other)]
        assert edge.explicit
    assert len([step for step in theirs.history(edge.from_id) if step.op is HistoryOp.LINK]) == 1

    purge(ana, one, now=True)
    assert engine.database.read(lambda tx: tx.all("count_relations", id=other)) == [(0,)]
