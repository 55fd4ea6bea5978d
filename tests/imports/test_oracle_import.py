"""A database of Oracle-v2 or JellyCore becomes memory here: every layer in its place, and once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from lamina.imports.bring_in import import_files
from lamina.model import Authority, Trust
from lamina.scoped import ScopedMemory

OLD = "id TEXT, type TEXT, source_file TEXT, concepts TEXT, created_at INTEGER, updated_at INTEGER"
NEW = (
    f"{OLD}, superseded_by TEXT, origin TEXT, project TEXT, is_private INTEGER, parent_id TEXT,"
    " memory_layer TEXT, confidence INTEGER, access_count INTEGER, last_accessed_at INTEGER,"
    " decay_score INTEGER, expires_at INTEGER"
)
AT = int(datetime(2025, 1, 3, 4, 5, tzinfo=UTC).timestamp() * 1000)
MODEL = {
    "userId": "default",
    "expertise": {"docker": "expert"},
    "notes": ["ชอบ กาแฟ ดำ"],
    "preferences": {"language": "th", "responseLength": "auto"},
    "mood": "good",
    "updatedAt": AT,
}
STEPS = {
    "trigger": "deploy Docker",
    "procedure": ["Ask which environment", "Show the checklist"],
    "source": "correction",
    "successCount": 4,
    "lastUsed": AT,
}
HAPPENED = {"userId": "ana", "summary": "修好了登入頁面", "topics": ["login"], "outcome": "success"}
FILE = "ψ/memory/learnings/2026-01-03_git.md"
MARKDOWN = (
    "---\ntitle: Never force push\ntags: [git]\n---\n\n# Never force push\n\n"
    "Never force push to main, ให้ถามก่อน เสมอ\n\n---\n*Added via Oracle Learn*\n"
)


def oracle(folder: Path, columns: str, rows: Mapping[str, tuple[str, Mapping[str, Any]]]) -> Path:
    """A database with these rows, each an id, its words and its columns; and the markdown beside it."""
    (folder / FILE).parent.mkdir(parents=True)
    (folder / FILE).write_text(MARKDOWN, "utf-8")
    (folder / "secret.md").write_text("Nobody asked for this file", "utf-8")
    path = folder / "oracle.db"
    database = apsw.Connection(str(path))
    database.execute(f"CREATE TABLE oracle_documents ({columns})")
    database.execute("CREATE VIRTUAL TABLE oracle_fts USING fts5(id UNINDEXED, content, concepts)")
    for name, (words, given) in rows.items():
        values = {"id": name, "type": "learning", "concepts": "[]", "created_at": AT, **given}
        marks = ", ".join("?" * len(values))
        insert = f"INSERT INTO oracle_documents ({', '.join(values)}) VALUES ({marks})"
        database.execute(insert, tuple(values.values()))
        database.execute("INSERT INTO oracle_fts VALUES (?, ?, '')", (name, words))
    database.close()
    return path


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    past, later = AT + 1000, AT + 100 * 365 * 86_400_000
    return oracle(
        tmp_path / "oracle",
        NEW,
        {
            "learning_git": (
                "never force push",
                {
                    "source_file": FILE,
                    "concepts": '["git", "memory:semantic"]',
                    "confidence": 90,
                    "access_count": 7,
                    "last_accessed_at": AT,
                    "decay_score": 80,
                    "memory_layer": "semantic",
                },
            ),
            "learning_thai": ("ทีม ใช้ ฐานข้อมูล LanceDB", {"source_file": "ψ/../secret.md", "confidence": 60}),
            "learning_old": ("We use Chroma", {"superseded_by": "learning_thai"}),
            "learning_git_1": ("a chunk of it", {"parent_id": "learning_git"}),
            "learning_none": ("", {}),
            "user_model_default": (
                json.dumps(MODEL, ensure_ascii=False),
                {
                    "memory_layer": "user_model",
                    "is_private": 1,
                    "concepts": '["memory:user_model"]',
                },
            ),
            "procedural_1": (json.dumps(STEPS), {"memory_layer": "procedural", "confidence": 85}),
            "episodic_1": (json.dumps(HAPPENED), {"memory_layer": "episodic", "expires_at": later}),
            "episodic_2": (json.dumps({**HAPPENED, "userId": "bob"}), {"memory_layer": "episodic"}),
            "episodic_3": (json.dumps(HAPPENED), {"memory_layer": "episodic", "expires_at": past}),
        },
    )


def test_every_layer_of_an_oracle_database_comes_in_once(ana: ScopedMemory, golden: Path) -> None:
    before = hashlib.sha256(golden.read_bytes()).hexdigest()
    planned = import_files(ana, [golden], dry_run=True)
    report = import_files(ana, [golden.parent], format="oracle")
    again = import_files(ana, [golden])

    skipped = {
        "superseded": 1,
        "part": 1,
        "no_text": 1,
        "user_model_invalid": 1,
        "other_user": 1,
        "expired": 1,
    }
    assert (planned.new, report.new, again.new) == (6, 6, 0)
    assert (planned.held, report.held, again.held) == (1, 1, 0)
    assert (report.files, report.skipped, report.refused) == ({"oracle": 1}, skipped, {})
    assert hashlib.sha256(golden.read_bytes()).hexdigest() == before

    (git,) = ana.loaded([ana.recall("force push", k=1).hits[0].id])
    assert git.text == "Never force push to main, ให้ถามก่อน เสมอ"
    assert (git.confidence, git.tags, git.access_count, git.file) == (0.9, ("git",), 7, None)
    assert (git.authority, git.provenance.trust) == (Authority.AI_INFERRED, Trust.TRUSTED)
    assert git.said_at == datetime(2025, 1, 3, 4, 5, tzinfo=UTC)
    assert ana.recall("LanceDB", k=1).hits[0].text == "ทีมใช้ฐานข้อมูล LanceDB"

    (found,) = ana.layers.procedures.find("deploy docker")
    assert (found.steps, found.source, found.success_count, found.confidence) == (
        ("Ask which environment", "Show the checklist"),
        "correction",
        4,
        0.85,
    )
    (episode,) = ana.layers.episodes.find("登入")
    assert (episode.summary, episode.topics, episode.outcome) == ("修好了登入頁面", ("login",), "success")
    model = ana.layers.user_model.get()
    assert (model["expertise"], model["notes"]) == ({"docker": "expert"}, ["ชอบกาแฟดำ"])
    assert "response.language" not in model["known"]  # an agent's guess at what only the person says
    assert [(one.key, one.text) for one in ana.pending()] == [("response.language", "th")]
    ana.confirm("response.language")
    assert "response.language" in ana.layers.user_model.get()["known"]


def test_a_model_that_is_imported_does_not_overrule_the_persons_own_word(
    ana: ScopedMemory, golden: Path
) -> None:
    ana.layers.user_model.update({"expertise": {"docker": "novice"}})
    report = import_files(ana, [golden])

    assert ana.layers.user_model.get()["expertise"] == {"docker": "novice"}
    assert sum(report.refused.values()) == 1


def test_a_database_from_before_the_layers_is_knowledge(ana: ScopedMemory, tmp_path: Path) -> None:
    path = oracle(tmp_path / "old", OLD, {"retro_1": ("We shipped on Friday", {"concepts": "not json"})})

    assert import_files(ana, [path]).new == 1
    (known,) = ana.loaded([ana.recall("shipped", k=1).hits[0].id])
    assert (known.text, known.layer, known.confidence, known.access_count) == (
        "We shipped on Friday",
        "semantic",
        1.0,
        0,
    )
