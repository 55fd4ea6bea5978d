"""Learning: which layer, which file, how sure, and what happens when it contradicts what is known."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bench.pairs import decisions
from lamina.encoders.static import StaticEncoder
from lamina.engine import Engine
from lamina.language.layering import expertise_in, procedure_in, suggested
from lamina.model import Layer, Outcome, State
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock
from lamina.text.learning_page import slug_of
from tests.backends import Place

#: Rules alone: what the trained model hears is test_understanding.py.
UNDERSTANDING = False


@pytest.fixture
def ana(workspace: Place) -> ScopedMemory:
    return workspace.open().scope()


def written(workspace: Place) -> list[Path]:
    assert workspace.folder is not None
    return sorted((workspace.folder / "memory" / "learnings").glob("*"))


def test_without_a_layer_it_is_knowledge_with_a_file_of_its_own(workspace: Place, ana: ScopedMemory) -> None:
    learnt = ana.layers.learn(
        "Git worktrees keep branches apart", concepts=["git", "safety"], source="Oracle Learn"
    )
    assert learnt.layer is Layer.SEMANTIC
    assert learnt.file == "memory/learnings/2026-01-01_git-worktrees-keep-branches-apart.md"
    text = written(workspace)[0].read_text("utf-8")
    assert "title: Git worktrees keep branches apart\ntags: [git, safety]\ncreated: 2026-01-01\n" in text
    assert (
        "# Git worktrees keep branches apart\n\nGit worktrees keep branches apart\n\n---\n*Added via Oracle"
        in text
    )
    hits = ana.recall("worktrees").hits
    assert [hit.id for hit in hits] == list(learnt.receipt.ids)
    assert hits[0].source.path == learnt.file


def test_a_learning_is_found_once_though_its_file_is_a_document_too(
    workspace: Place, ana: ScopedMemory
) -> None:
    ana.layers.learn("Zebras graze at the reservoir")
    assert ana.engine.library is not None
    ana.engine.library.index(ana.engine.now(), full=True)
    ana.engine.library.sync(ana.engine.now())
    assert len(ana.recall("zebras reservoir").hits) == 1
    assert len(ana.engine.library.status().documents) <= 1
    assert ana.engine.library.status().passages == 0


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("ห้าม deploy วันศุกร์!", "ห้าม-deploy-วันศุกร์"),
        ("不要在星期五部署。", "不要在星期五部署"),
        ("../../etc/passwd: read?", "etc-passwd-read"),
        ("🎉🎉", "entry"),
        ("x" * 80, "x" * 50),
    ],
)
def test_file_names_are_readable_in_every_script(title: str, slug: str) -> None:
    assert slug_of(title) == slug


def test_titles_that_meet_do_not_collide(workspace: Place, ana: ScopedMemory) -> None:
    for text in ("备份\n每晚运行", "备份\n保存在大阪", "备份\n由小梅负责"):
        ana.layers.learn(text)
    assert [path.name for path in written(workspace)] == [
        "2026-01-01_备份-2.md",
        "2026-01-01_备份-3.md",
        "2026-01-01_备份.md",
    ]


def test_the_file_follows_its_memory(workspace: Place, ana: ScopedMemory) -> None:
    known = ana.layers.learn("The cache is in Redis").receipt.ids[0]
    ana.revise(known, "The cache is in Valkey")
    assert "Valkey" in written(workspace)[0].read_text("utf-8")
    ana.forget(known)
    assert written(workspace) == []
    ana.restore(known)
    assert "Valkey" in written(workspace)[0].read_text("utf-8")


def test_what_a_person_wrote_into_the_file_is_kept_and_taken_over(
    workspace: Place, ana: ScopedMemory
) -> None:
    known = ana.layers.learn("The cache is in Redis").receipt.ids[0]
    file = written(workspace)[0]
    file.write_text(
        file.read_text("utf-8").replace("\n\nThe cache is in Redis\n\n", "\n\nThe cache is in Osaka\n\n"),
        "utf-8",
    )
    edited = file.read_text("utf-8")
    ana.engine.rebuild()
    assert ana.get(known).text == "The cache is in Osaka"
    assert file.read_text("utf-8") == edited
    ana.forget(known)
    assert file.read_text("utf-8") == edited


def test_a_crash_between_store_and_file_is_mended_at_the_next_start(
    workspace: Place, ana: ScopedMemory
) -> None:
    ana.engine.aftermath.learnings = None  # the process dies right after its commit
    ana.layers.learn("The cache is in Redis")
    assert written(workspace) == []
    workspace.close()
    workspace.open()
    assert "Redis" in written(workspace)[0].read_text("utf-8")


def test_what_others_learn_is_in_no_file_of_the_owners(workspace: Place, ana: ScopedMemory) -> None:
    ben = ana.engine.scope(user="ben")
    assert ben.layers.learn("Ben keeps bees").file is None
    assert written(workspace) == []
    assert not ana.recall("bees").hits


@pytest.mark.parametrize(
    ("text", "layer"),
    [
        ("When deploying, you should ask which environment", "procedural"),
        ("เมื่อ user ถาม deploy ให้แสดง checklist ก่อน", "procedural"),
        ("当用户询问部署时，应该先显示清单", "procedural"),
        ("The user prefers short answers", "user_model"),
        ("ผู้ใช้ชอบคำตอบสั้น", "user_model"),
        ("用户喜欢简短的回答", "user_model"),
        ("Yesterday we moved the server", "episodic"),
        ("เมื่อวานเราย้ายเซิร์ฟเวอร์", "episodic"),
        ("昨天我们迁移了服务器", "episodic"),
        ("Redis listens on port 6379", ""),
        ("เซิร์ฟเวอร์อยู่ที่โอซาก้า", ""),
        ("服务器位于大阪", ""),
    ],
)
def test_the_wording_suggests_a_layer(text: str, layer: str) -> None:
    assert suggested(text) == layer


def test_a_suggestion_is_only_followed_where_it_was_asked_for(workspace: Place, ana: ScopedMemory) -> None:
    plain = ana.layers.learn("When deploying, you should ask which environment")
    assert (plain.layer, plain.suggested) == (Layer.SEMANTIC, Layer.PROCEDURAL)
    assert len(written(workspace)) == 1
    auto = ana.layers.learn(
        "When deploying Docker -> ask which environment; show the checklist", layer="auto"
    )
    assert auto.layer is Layer.PROCEDURAL
    assert ana.get(auto.receipt.ids[0]).meta["procedure"] == ["ask which environment", "show the checklist"]
    named = ana.layers.learn("ชอบ bullet points", concepts=["memory:user_model"])
    assert named.layer is Layer.USER_MODEL
    assert ana.layers.user_model.get()["notes"] == ["ชอบ bullet points"]
    assert (
        ana.layers.learn(
            "When deploying, you should wait", layer="semantic", concepts=["memory:episodic"]
        ).layer
        == "semantic"
    )
    assert len(written(workspace)) == 2


@pytest.mark.parametrize(
    ("text", "trigger", "steps"),
    [
        ("When the build fails, read the log and then fix it", "the build fails", ("read the log", "fix it")),
        ("เมื่อ deploy ให้ถาม environment → แสดง checklist", "deploy", ("ถาม environment", "แสดง checklist")),
        ("当用户要求退款时，先核对订单，然后通知财务", "用户要求退款", ("先核对订单", "通知财务")),
    ],
)
def test_a_sentence_becomes_a_procedure(text: str, trigger: str, steps: tuple[str, ...]) -> None:
    assert procedure_in(text) == (trigger, steps)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I know Docker very well, no need to explain the basics", [("docker", "expert")]),
        ("ฉันรู้เรื่อง Docker ดีแล้ว ไม่ต้องอธิบายพื้นฐาน", [("docker", "expert")]),
        ("我很熟悉Docker，不用解释基础", [("docker", "expert")]),
        ("I'm new to kubernetes", [("kubernetes", "novice")]),
        ("เพิ่งเริ่มใช้ Kubernetes", [("kubernetes", "novice")]),
        ("我没用过Kubernetes", [("kubernetes", "novice")]),
        ("Docker is down again", []),
    ],
)
def test_expertise_is_heard_in_three_languages(text: str, found: list[tuple[str, str]]) -> None:
    assert [(one.topic, one.level) for one in expertise_in(text)] == found


def test_expertise_heard_in_a_conversation_waits_for_the_persons_word(ana: ScopedMemory) -> None:
    ana.hear("I know Docker very well, no need to explain the basics")
    assert ana.layers.user_model.get()["expertise"] == {}
    ana.confirm("user.expertise.docker")
    assert ana.layers.user_model.get()["expertise"] == {"docker": "expert"}
    assert [one.file for one in ana.keyed() if one.key == "user.expertise.docker"] == [None]


def test_a_correction_that_teaches_a_procedure_waits_for_the_persons_word(ana: ScopedMemory) -> None:
    ana.hear("No, that's wrong. When deploying Docker, first ask which environment, then show the checklist")
    assert ana.layers.procedures.find("deploy docker") == []
    ana.confirm()
    assert ana.layers.procedures.find("deploying docker")[0].source == "correction"


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("The standup is at 9:30", "The standup is at 10:00"),
        ("อานาชอบกาแฟ", "อานาไม่ชอบกาแฟ"),
        ("生产环境启用了缓存", "生产环境禁用了缓存"),
    ],
)
def test_a_contradiction_is_kept_and_named(ana: ScopedMemory, known: str, new: str) -> None:
    first = ana.layers.learn(known).receipt.ids[0]
    learnt = ana.layers.learn(new)
    assert learnt.receipt.decision is Outcome.ADMITTED
    assert learnt.warning is not None
    told = learnt.warning.to_plain()
    assert (told["type"], told["existingId"], told["existingContent"]) == (
        "potential_contradiction",
        first,
        known,
    )
    assert "message" in told
    assert 0 < told["similarity"] <= 1
    assert len(ana.recall(known).hits) == 2


def test_nothing_contradicts_itself_and_nothing_is_learnt_twice(workspace: Place, ana: ScopedMemory) -> None:
    first = ana.layers.learn("ห้าม deploy วันศุกร์", concepts=["deploy"])
    assert first.warning is None
    again = ana.layers.learn("ห้าม  deploy วันศุกร์!")
    assert (again.warning, again.receipt.ids) == (None, first.receipt.ids)
    assert ana.layers.learn("Bananas are yellow").warning is None
    assert len(written(workspace)) == 2


def test_a_contradiction_can_wait_for_the_person(ana: ScopedMemory) -> None:
    old = ana.layers.learn("The standup is at 9:30").receipt.ids[0]
    held = ana.layers.learn("The standup is at 10:00", resolution="ask")
    assert held.receipt.decision is Outcome.HELD
    assert [hit.text for hit in ana.recall("standup")] == ["The standup is at 9:30"]
    ana.confirm(ana.pending()[0].key)
    assert [hit.text for hit in ana.recall("standup")] == ["The standup is at 10:00"]
    assert ana.get(old).state is State.SUPERSEDED


def test_what_is_superseded_was_known_then(ana: ScopedMemory, workspace: Place) -> None:
    clock: ManualClock = workspace.clock
    ana.layers.learn("The standup is at 9:30")
    before = clock.now()
    clock.advance(days=3)
    learnt = ana.layers.learn("The standup is at 10:00", resolution="supersede", reason="new office")
    assert learnt.receipt.code == "superseded"
    assert [hit.text for hit in ana.recall("standup")] == ["The standup is at 10:00"]
    assert [hit.text for hit in ana.recall("standup", as_of=before)] == ["The standup is at 9:30"]
    old = ana.get(ana.recall("standup", as_of=before).hits[0].id)
    assert old.valid_until == clock.now()
    assert ana.history(learnt.receipt.ids[0])[0].decision["reason"] == "new office"
    assert len(written(workspace)) == 1


def test_both_are_kept_each_in_its_own_time(ana: ScopedMemory, workspace: Place) -> None:
    now = workspace.clock.now()
    ana.layers.learn("The office is in Taipei", valid_until=now + timedelta(days=30))
    move = now + timedelta(days=30)
    ana.layers.learn("The office is in Osaka", resolution="keep", valid_from=move)
    assert [hit.text for hit in ana.recall("office")] == ["The office is in Taipei"]
    workspace.clock.advance(days=31)
    assert [hit.text for hit in ana.recall("office")] == ["The office is in Osaka"]


def test_as_of_sees_old_words_and_what_was_forgotten_since(ana: ScopedMemory, workspace: Place) -> None:
    known = ana.remember("Mali lives in Bangkok").ids[0]
    then = workspace.clock.now()
    workspace.clock.advance(days=1)
    ana.revise(known, "Mali lives in Osaka")
    ana.forget(known)
    workspace.clock.advance(days=1)
    assert not ana.recall("Mali").hits
    assert [hit.text for hit in ana.recall("Mali", as_of=then)] == ["Mali lives in Bangkok"]
    assert not ana.engine.scope(user="ben").recall("Mali", as_of=then).hits


def test_an_agent_cannot_supersede_what_the_person_said(ana: ScopedMemory) -> None:
    ana.layers.learn("The standup is at 9:30")
    agent = ana.engine.scope(agent="planner")
    learnt = agent.layers.learn("The standup is at 11:00", resolution="supersede", origin="human")
    assert learnt.warning is not None
    assert len(ana.recall("standup").hits) == 2
    assert ana.get(learnt.receipt.ids[0]).confidence == 0.6


def test_pairs_are_told_apart_as_well_as_we_say() -> None:
    for embedder in (StaticEncoder(), None):
        held_out = decisions(embedder, held_out=True)
        assert held_out["contradiction"].precision >= 0.85
        assert held_out["contradiction"].recall >= 0.95
        assert held_out["merge"].precision >= 0.95
        assert held_out["merge"].recall >= 0.9
        assert held_out["memories"].precision >= 0.98
        assert held_out["memories"].recall >= 0.75
        assert held_out["update"].precision >= 0.88
        assert held_out["update"].recall >= 0.95


def test_a_rebuilt_index_keeps_every_layer(workspace: Place, ana: ScopedMemory) -> None:
    ana.layers.procedures.learn("deploy Docker", ["ask"])
    ana.layers.episodes.record("Moved the zebra server")
    ana.layers.learn("Redis listens on port 6379")
    engine: Engine = ana.engine
    engine.rebuild()
    for layer, asked in (
        ("procedural", "deploy docker"),
        ("episodic", "zebra server"),
        ("semantic", "redis port"),
    ):
        assert [hit.layer for hit in ana.recall(asked, layers=[layer])] == [layer]


def test_a_new_value_takes_the_place_of_all_that_it_contradicts(ana: ScopedMemory) -> None:
    """R-8: Monday, Tuesday and Wednesday stood above Friday, which was learnt to supersede them."""
    for days in (("Monday", "Tuesday", "Wednesday", "Friday"), ("周一", "周二", "周三", "周五")):
        said = "The team meeting is on {}" if days[0].isascii() else "小组会议在{}举行"
        old = [ana.layers.learn(said.format(day)).receipt.ids[0] for day in days[:3]]
        new = ana.layers.learn(said.format(days[3]), resolution="supersede").receipt.ids[0]

        assert [ana.get(one).superseded_by for one in old] == [new] * 3
        assert ana.get(new).supersedes == old[2]  # the newest of them
        question = "When is the team meeting?" if days[0].isascii() else "小组会议在什么时候？"
        found = [hit.text for hit in ana.recall(question).hits]
        assert found[0] == said.format(days[3])
        assert not {said.format(day) for day in days[:3]} & set(found)


def test_only_reading_counts_as_an_access(ana: ScopedMemory) -> None:
    """R-7: thirteen times `learn` and no search gave the first an access count of 5."""
    first = ana.layers.learn("The build server is called Heron").receipt.ids[0]
    for number in range(12):
        ana.layers.learn(f"The build server number {number} runs on port 80{number:02}")
    ana.engine.apply_reads()
    assert ana.get(first).access_count == 0

    ana.search("build server Heron")
    ana.recall("build server Heron")
    ana.engine.apply_reads()
    assert ana.get(first).access_count == 2
