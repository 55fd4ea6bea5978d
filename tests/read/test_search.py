"""A search finds the right passage in three languages and says where it stands, when, and how sure it is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina import InvalidInput, NotFound
from lamina.documents.results import SearchResults
from lamina.scoped import ScopedMemory
from tests.backends import Place
from tests.documents.test_documents import write

SPEC = "second-brain/specs/ingest.md"
RECENT = "memory/2026-11-10.md"

#: A year of somebody's notes in English, Thai and Chinese; "now" is 16 November 2026.
FILES = {
    "MEMORY.md": "# Memory\n\n- Stack: PostgreSQL, FastAPI (see memory/projects/x.md)\n- 回答用繁體中文\n",
    "memory/2026-02-14.md": (
        "# 2026-02-14\n\n"
        "## Decision: drop ChromaDB for pgvector\n- id: DECISION-20260214-chroma\n- date: 2026-02-14\n"
        "- why: the index was corrupted twice by two writers\n- conclusion: vectors live in PostgreSQL\n"
        "- confidence: 0.9\n- status: active\n\n"
        "## Decision: 放棄 GraphQL 方案\n- id: DECISION-20260214-graphql\n- date: 2026-02-14\n"
        "- why: 快取控制太複雜，團隊維護成本過高\n- conclusion: 改用 REST\n- status: active\n\n"
        "## Decision: เลิกใช้เซิร์ฟเวอร์เดิม\n- id: DECISION-20260214-server\n- date: 2026-02-14\n"
        "- why: การตั้งค่าเซิร์ฟเวอร์เดิมซับซ้อนและค่าใช้จ่ายสูง\n- conclusion: ย้ายไปคลาวด์\n- status: active\n"
    ),
    "memory/2026-05-02.md": (
        "# 2026-05-02\n\n## Decision: deploy on Fridays\n- id: DECISION-20260502-friday\n- date: 2026-05-02\n"
        "- conclusion: we deploy every Friday evening\n- status: superseded\n"
    ),
    "memory/2026-11-10.md": (
        "# 2026-11-10\n\n## Decision: deploy on Tuesdays\n- id: DECISION-20261110-tuesday\n"
        "- date: 2026-11-10\n- why: nobody was there on Friday evening\n"
        "- conclusion: we deploy every Tuesday morning\n- status: active\n\n"
        "## 決定：新版首頁\n上週決定首頁改用深色主題。\n\n"
        "## การตัดสินใจ\nสัปดาห์ที่แล้วตกลงเลื่อนการเปิดตัวไปเดือนธันวาคม\n"
    ),
    "memory/2026-11-15.md": (
        "# 2026-11-15\n\nLunch with Bo; somebody mentioned ChromaDB stickers.\n今天有人提到 GraphQL 貼紙。\n"
        "มีคนพูดถึงเซิร์ฟเวอร์ในร้านกาแฟ\n"
    ),
    "memory/archive/weekly-2026-03.md": (
        "# Week 3\n\nWe gave up the mobile app because the app store review took five weeks.\n"
    ),
    SPEC: (
        "# Ingest pipeline\n\n## Stages\nThe ingest pipeline has four stages: fetch, clean, embed, publish."
        " The queue between them holds 5,000 items.\n\n"
        "## 擷取管線\n擷取管線分為四個階段：抓取、正規化、向量化、發布。佇列上限為五千筆。\n\n"
        "## ไปป์ไลน์นำเข้าข้อมูล\nไปป์ไลน์นำเข้าข้อมูลมีสี่ขั้นตอน คือ ดึงข้อมูล ปรับรูปแบบ ฝังเวกเตอร์ และเผยแพร่\n"
    ),
}


@pytest.fixture
def ana(workspace: Place) -> ScopedMemory:
    workspace.clock.at = datetime(2026, 11, 16, 9, tzinfo=UTC)
    engine = workspace.open(extra_paths="second-brain")
    for path, text in FILES.items():
        write(workspace, path, text)
    return engine.scope()


def first(found: SearchResults) -> tuple[str | None, str | None]:
    assert found.results, "nothing was found"
    return found.results[0].path, found.results[0].date


@pytest.mark.parametrize(
    ("question", "path", "date", "words"),
    [  # recent decisions
        ("What did we decide about deploying last week?", RECENT, "2026-11-10", "Tuesday"),
        ("上週首頁決定了什麼", RECENT, "2026-11-10", "深色主題"),
        ("สัปดาห์ที่แล้วตกลงเรื่องการเปิดตัวว่าอย่างไร", RECENT, "2026-11-10", "ธันวาคม"),
        # reasons across months: a nine-month-old decision beats a fresh unrelated mention
        ("why did we drop ChromaDB", "memory/2026-02-14.md", "2026-02-14", "corrupted twice"),
        ("為何放棄 GraphQL", "memory/2026-02-14.md", "2026-02-14", "快取控制"),
        ("为什么放弃GraphQL方案", "memory/2026-02-14.md", "2026-02-14", "快取控制"),
        ("ทำไมถึงเลิกใช้เซิร์ฟเวอร์เดิม", "memory/2026-02-14.md", "2026-02-14", "ค่าใช้จ่ายสูง"),
        # cold technical details
        ("how many stages does the ingest pipeline have", SPEC, None, "four stages"),
        ("擷取管線有幾個階段", SPEC, None, "四個階段"),
        ("ไปป์ไลน์นำเข้าข้อมูลมีกี่ขั้นตอน", SPEC, None, "สี่ขั้นตอน"),
    ],
)
def test_the_three_kinds_of_question_are_answered_with_their_source(
    ana: ScopedMemory, question: str, path: str, date: str | None, words: str
) -> None:
    found = ana.search(question)

    best = found.results[0]
    assert best.path == path
    assert words in best.snippet
    assert date is None or best.date == date
    assert best.citation == f"{path}#L{best.start_line}-L{best.end_line}"
    lines = FILES[path].splitlines()[(best.start_line or 0) - 1 : best.end_line]
    assert words in "\n".join(lines)
    assert 0 < best.confidence <= 1
    assert best.why
    assert len(found.results) <= 6
    assert not found.partial
    assert not found.stale


def test_memories_and_documents_are_one_list(ana: ScopedMemory) -> None:
    ana.remember("The ChromaDB container still runs on the old laptop")

    hits = ana.recall("ChromaDB container corrupted").hits

    assert {hit.id.partition(":")[0] for hit in hits} == {"user", "doc"}
    decision = next(hit for hit in hits if hit.source.path == "memory/2026-02-14.md")
    assert (decision.source.start_line, decision.source.end_line) == (3, 9)
    assert (decision.source.date, decision.source.status) == ("2026-02-14", "active")
    assert decision.kind == "decision"
    assert decision.trust == "untrusted"
    assert ana.search("ChromaDB", corpus="memories").searched == ("memories",)
    assert {one.source for one in ana.search("ChromaDB", corpus="documents").results} == {"document"}


def test_a_recall_that_is_narrowed_is_about_memories_alone(ana: ScopedMemory) -> None:
    assert ana.recall("ChromaDB").hits
    for narrowing in ({"layers": ["semantic"]}, {"kinds": ["decision"]}, {"trusted_only": True}):
        assert not ana.recall("ChromaDB", **narrowing).hits  # type: ignore[arg-type]
    assert not ana.recall("ChromaDB", spaces=["project"]).hits
    assert not ana.context("ChromaDB").text.count("ChromaDB")


def test_nobody_but_the_owner_finds_or_reads_a_document(ana: ScopedMemory, workspace: Place) -> None:
    ana.search("ChromaDB")
    bo = workspace.engines[-1].scope(user="bo")
    path = "memory/2026-02-14.md"
    for question in ("ChromaDB", f"doc:{path}#1", path, "DECISION-20260214-chroma"):
        assert ana.search(question).results
        assert not bo.search(question).results
        assert not bo.recall(question).hits
    with pytest.raises(NotFound):
        bo.read_document("memory/2026-02-14.md")


def test_what_is_cold_is_looked_at_when_what_is_warm_says_too_little(ana: ScopedMemory) -> None:
    assert ana.search("ChromaDB stickers lunch").searched == ("memories", "warm")
    assert ana.search("ingest pipeline queue").searched == ("memories", "warm", "cold")
    assert ana.search("mobile app store review").searched[-1] == "archive"


def test_a_search_widens_until_it_finds_and_says_where_it_had_to_look(
    ana: ScopedMemory, workspace: Place
) -> None:
    """R-3: words that stand in devlogs and research were "nothing", unless the question said "past"."""
    notes = {
        "second-brain/devlogs/2026-04.md": "# April\n\nPipeline backpressure fixed by a bounded queue.\n",
        "second-brain/research/retries.md": "# Retries\n\nExponential backoff needs jitter.\n指數退避。\n",
        "second-brain/devlogs/2026-05.md": "# May\n\nแก้ปัญหาหน่วยความจำรั่วในตัวเชื่อมต่อ\n",
    }
    for path, text in notes.items():
        write(workspace, path, text)

    for question, path in {
        "pipeline backpressure": "second-brain/devlogs/2026-04.md",
        "exponential backoff": "second-brain/research/retries.md",
        "指數退避": "second-brain/research/retries.md",
        "หน่วยความจำรั่ว": "second-brain/devlogs/2026-05.md",
    }.items():
        found = ana.search(question)
        assert first(found)[0] == path, question
        assert found.searched == ("memories", "warm", "cold", "archive")
        assert ana.recall(question).hits[0].source.path == path


def test_the_archive_is_looked_at_first_where_the_question_reaches_across_months(ana: ScopedMemory) -> None:
    archived = "memory/archive/weekly-2026-03.md"
    asked = {
        "why did we give up the mobile app": {},
        "who gave up the mobile app on January 5, 2026": {},
        "what does the archive say about the mobile app": {},
        "mobile app store review": {"archive": True},
    }
    for question, options in asked.items():
        found = ana.search(question, **options)  # type: ignore[arg-type]
        assert first(found) == (archived, "2026-01-12"), question
        assert found.searched == ("memories", "warm", "cold", "archive")


def test_a_search_that_is_out_of_time_says_what_it_left_out(ana: ScopedMemory) -> None:
    ana.search("ingest pipeline queue")  # the index is there

    found = ana.search("ingest pipeline queue", timeout_ms=0)

    assert (found.partial, found.cut) == (True, ("cold", "archive"))
    assert found.searched == ("memories", "warm")
    assert found.uncertainty == "high"


def test_a_search_writes_no_file_and_leaves_the_store_as_it_is(ana: ScopedMemory, workspace: Place) -> None:
    ana.search("ChromaDB")
    files, tables = workspace.files(), workspace.tables()
    ana.search("why did we drop ChromaDB", archive=True)
    ana.recall("ChromaDB")
    assert workspace.tables() == tables
    assert {path.name for path, data in workspace.files().items() if files.get(path) != data} <= {
        "memory.db",
        "memory.db-wal",
        "memory.db-shm",
    }


def test_the_first_result_does_not_depend_on_how_many_are_asked_for(ana: ScopedMemory) -> None:
    for question in ("deploy on Friday", "GraphQL", "เซิร์ฟเวอร์"):
        alone = ana.search(question, max_results=1, archive=True).results
        many = ana.search(question, max_results=8, archive=True).results
        assert alone == many[:1]


def test_an_index_that_is_behind_says_so(ana: ScopedMemory, workspace: Place) -> None:
    ana.search("ChromaDB")
    assert workspace.folder is not None
    for path in FILES:
        if path != "MEMORY.md":
            (workspace.folder / path).unlink()

    found = ana.search("ChromaDB")

    assert all("a guess" in " ".join(one.reasons) for one in found.results)  # what is gone is not shown
    assert found.stale
    assert (found.action, str(len(FILES) - 1) in str(found.warning)) == ("lamina index --yes", True)


def test_citations_are_for_documents_for_all_or_for_none(ana: ScopedMemory) -> None:
    ana.remember("ChromaDB had a green logo")
    cited = {
        mode: {one.source: one.citation for one in ana.search("ChromaDB", citations=mode).results}
        for mode in ("auto", "on", "off")
    }
    assert cited["auto"]["memory"] is None
    assert str(cited["auto"]["document"]).startswith("memory/2026-")
    assert str(cited["on"]["memory"]).startswith("user:ana:")
    assert set(cited["off"].values()) == {None}
    with pytest.raises(InvalidInput):
        ana.search("ChromaDB", citations="maybe")


def test_lines_are_read_from_the_file_as_it_is_now(ana: ScopedMemory, workspace: Place) -> None:
    found = ana.read_document("memory/2026-02-14.md", start=3, lines=2)
    assert found.text == "## Decision: drop ChromaDB for pgvector\n- id: DECISION-20260214-chroma"
    assert (found.start, found.total) == (3, FILES["memory/2026-02-14.md"].count("\n") + 1)
    write(workspace, "memory/2026-02-14.md", "one\npassword = hunter2-Zx81\n")
    assert "hunter2" not in ana.read_document("memory/2026-02-14.md").text
    for path in ("../secret.md", "/etc/passwd", "lamina.toml", "PROFILE.md"):
        with pytest.raises(NotFound):
            ana.read_document(path)


def test_a_superseded_decision_is_found_marked_and_below_what_took_its_place(ana: ScopedMemory) -> None:
    found = ana.search("on which day do we deploy")

    by_path = {one.path: one for one in reversed(found.results)}  # the best of each
    new, old = by_path[RECENT], by_path["memory/2026-05-02.md"]
    assert found.results.index(new) < found.results.index(old)
    assert (new.status, old.status) == ("active", "superseded")
    assert old.uncertainty != "low"
    assert "superseded" in old.why
