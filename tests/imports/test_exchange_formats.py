"""OMI, COGX, basic-memory and the assistants' own memories: in, out and in again, under the gates."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina.imports.bring_in import import_files
from lamina.layers.relations import Relations
from lamina.testing import ManualClock

SECRET = "-".join(["hunter2", "Blue"])
WORDS = ["Ana drinks green tea", "อนาอยู่ที่เชียงใหม่", "安娜住在里斯本"]


@pytest.fixture
def mind(tmp_path: Path) -> Iterator[Any]:
    with lamina.open(tmp_path / "w", owner="ana", clock=ManualClock()) as engine:
        yield engine.scope()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Any]:
    with lamina.open(tmp_path / "other", owner="ana", clock=ManualClock()) as engine:
        yield engine.scope()


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def texts(mind: Any) -> list[str]:
    return sorted(one.text for one in mind.list(spaces=["user"], limit=100).items)


def write_lines(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


ENVELOPE = {
    "format": "open-memory-interchange",
    "version": "0.1",
    "serialization": "jsonl",
    "subject": {"id": "user-123", "type": "person", "label": "Ana"},
    "generated_at": "2026-06-06T09:00:00Z",
    "generator": "example-tool/1.4",
}


def omi_record(number: int, content: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"01JZ0WFR4K2Q6N7S8T9V0ABCD{number}",
        "content": content,
        "type": "semantic",
        "created": "2026-01-01T09:02:11Z",
        "confidence": 0.96,
        "lang": "en",
        "tags": ["communication", "preference"],
        "source": {"platform": "example-chat", "ref": "session-882", "method": "extracted"},
        "valid_from": "2026-01-01",
        "relations": [{"type": "supports", "target": "01JZ"}],
        "ext": {"org.example.integrity": {"sha256": "abc"}},
        **more,
    }


def test_an_omi_record_comes_in_and_goes_out_as_it_was(mind: Any, other: Any, tmp_path: Path) -> None:
    records = [omi_record(number, text) for number, text in enumerate(WORDS)]
    streamed = write_lines(tmp_path / "in" / "mine.omi.jsonl", ENVELOPE, *records)
    whole = tmp_path / "whole.omi.json"
    whole.write_text(json.dumps({**ENVELOPE, "serialization": "json", "memories": records}), "utf-8")

    first = import_files(mind, [streamed])
    again = import_files(mind, [streamed, whole])  # the two forms of one model
    assert (dict(first.files), first.new) == ({"omi": 1}, 3)
    assert (again.new, again.known, again.unchanged) == (0, 3, 1)
    assert texts(mind) == sorted(WORDS)
    (hit,) = mind.recall(WORDS[0], k=1).hits
    kept = mind.get(hit.id)
    assert (hit.trust, kept.tags, kept.confidence) == ("untrusted", ("communication", "preference"), 0.96)

    done = mind.export(tmp_path / "out", "omi")
    head, *out = lines(tmp_path / "out" / "memories.omi.jsonl")
    assert (head["format"], head["version"], head["subject"]["id"]) == (ENVELOPE["format"], "0.1", "ana")
    for before, after in zip(records, sorted(out, key=lambda one: str(one["id"])), strict=True):
        assert after["ext"].pop("lamina")["id"].startswith("user:ana:")
        assert after == before
    assert done.left_out == {"history lines": 3}
    assert import_files(other, [tmp_path / "out"]).new == 3
    other.export(tmp_path / "again", "omi")
    _, *back = lines(tmp_path / "again" / "memories.omi.jsonl")
    for one in back:
        one["ext"].pop("lamina")
    assert sorted(back, key=lambda one: str(one["id"])) == records


def test_ours_goes_out_as_omi_with_everything_that_it_can_carry(mind: Any, tmp_path: Path) -> None:
    one = mind.remember(WORDS[0], tags=["drink"], confidence=0.9).ids[0]
    two = mind.remember(WORDS[1]).ids[0]
    mind.forget(mind.remember("Nobody needs this").ids[0])
    Relations(mind).link(one, two)
    done = mind.export(tmp_path / "out", "omi")
    _, *out = lines(tmp_path / "out" / "memories.omi.jsonl")
    assert [record["content"] for record in out] == WORDS[:2]
    assert out[0]["relations"] == [{"type": "related_to", "target": two}]
    assert (out[0]["tags"], out[0]["confidence"], out[0]["source"]["method"]) == (["drink"], 0.9, "stated")
    assert out[0]["ext"]["lamina"]["authority"] == "user_asserted"
    assert done.left_out["memories soft_deleted"] == 1
    assert "Nobody needs this" not in (tmp_path / "out" / "memories.omi.jsonl").read_text("utf-8")


def cogx(folder: Path) -> Path:
    base = {"external_system": "mem0", "created_at": "2026-01-02T10:00:00Z", "scope": {"user_id": "ana"}}
    write_lines(
        folder / "memories.jsonl",
        {
            **base,
            "kind": "memory",
            "external_id": "m1",
            "content": WORDS[0],
            "categories": ["drink"],
            "metadata": {"score": 1},
        },
    )
    write_lines(
        folder / "entities.jsonl",
        {
            **base,
            "kind": "entity",
            "external_id": "e1",
            "name": "Ana",
            "entity_type": "person",
            "description": "a sailor",
        },
        {**base, "kind": "entity", "external_id": "e2", "name": "Lisbon"},
    )
    write_lines(
        folder / "facts.jsonl",
        {
            **base,
            "kind": "fact",
            "external_id": "f1",
            "subject_ref": "e1",
            "predicate": "lives_in",
            "object_ref": "e2",
            "valid_at": "2026-01-01T00:00:00Z",
            "confidence": 0.8,
        },
    )
    write_lines(
        folder / "memory_blocks.jsonl",
        {**base, "kind": "memory_block", "external_id": "b1", "label": "human", "value": "Likes boats"},
    )
    write_lines(
        folder / "episodes.jsonl",
        {
            **base,
            "kind": "episode",
            "external_id": "s1",
            "turns": [
                {"role": "user", "content": WORDS[2], "occurred_at": "2026-01-03T10:00:00Z"},
                {"role": "assistant", "content": "Noted."},
            ],
        },
    )
    write_lines(folder / "nodes.jsonl", {"id": "n1", "type": "EntityType"})
    (folder / "manifest.json").write_text('{"cogx_version": "0.1", "source_system": "mem0"}', "utf-8")
    return folder


def test_a_cogx_archive_comes_in_by_its_kinds_and_goes_out_again(mind: Any, tmp_path: Path) -> None:
    folder = cogx(tmp_path / "archive")
    report = import_files(mind, [folder])
    assert dict(report.files) == {"cogx": 5}
    assert (report.new, dict(report.skipped)) == (6, {"no_text": 1})
    facts = ["Ana (person): a sailor", "Ana lives in Lisbon", WORDS[0], "human: Likes boats"]
    assert set(facts) <= set(texts(mind))
    assert import_files(mind, [folder]).new == 0
    mind.export(tmp_path / "out", "cogx")
    for name, number in (("memories.jsonl", 0), ("facts.jsonl", 0), ("memory_blocks.jsonl", 0)):
        assert lines(folder / name)[number] in lines(tmp_path / "out" / name)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert (manifest["cogx_version"], manifest["source_system"]) == ("0.1", "lamina")
    (folder / "manifest.json").write_text('{"cogx_version": "1.0"}', "utf-8")
    write_lines(folder / "memories.jsonl", {"kind": "memory", "external_id": "m9", "content": "newer"})
    assert import_files(mind, [folder]).skipped["import_unreadable"] == 1


def test_ours_as_cogx_is_what_cognees_own_reader_takes(mind: Any, tmp_path: Path) -> None:
    ids = [mind.remember(text).ids[0] for text in WORDS]
    Relations(mind).link(ids[0], ids[2])
    mind.export(tmp_path / "out", "cogx")
    (fact,) = lines(tmp_path / "out" / "facts.jsonl")
    assert (fact["subject_ref"], fact["predicate"], fact["object_ref"]) == (ids[0], "related_to", ids[2])
    needed = {"kind", "external_system", "external_id", "scope", "created_at", "content", "categories"}
    assert all(needed <= one.keys() for one in lines(tmp_path / "out" / "memories.jsonl"))
    migration = pytest.importorskip("cognee.modules.migration.cogx", reason="pip install cognee, elsewhere")
    assert migration.read_manifest(tmp_path / "out").counts == {"memory": 3, "fact": 1}
    read = list(migration.read_archive(tmp_path / "out"))
    assert sorted(one.content for one in read if one.kind == "memory") == sorted(WORDS)


NOTE = """---
title: Coffee Brewing Methods
type: note
tags: [coffee, brewing]
permalink: coffee-brewing-methods
modified: 2026-01-05T10:00:00Z
---

# Coffee Brewing Methods

Ana writes this down on Sundays.

## Observations
- [method] Pour over has more clarity than French press
- [technique] น้ำร้อน 96 องศา #brewing (personal experience)
- [ ] buy beans
- [a link](https://example.com)

## Relations
- relates_to [[Coffee Bean Origins]]
- "goes well with" [[Pastéis de Nata]] (breakfast)
"""


def test_notes_of_basic_memory_come_in_as_facts(mind: Any, tmp_path: Path) -> None:
    (tmp_path / "notes" / "drinks").mkdir(parents=True)
    (tmp_path / "notes" / "drinks" / "coffee.md").write_text(NOTE, "utf-8")
    (tmp_path / "notes" / "plain.md").write_text("# Plain\n\n安娜喜歡喝茶\n", "utf-8")
    report = import_files(mind, [tmp_path / "notes"], format="basic-memory")
    title = "Coffee Brewing Methods"
    assert texts(mind) == sorted(
        [
            f"{title}: Ana writes this down on Sundays.\n- [ ] buy beans\n- [a link](https://example.com)",
            f"{title}: Pour over has more clarity than French press",
            f"{title}: น้ำร้อน 96 องศา #brewing (personal experience)",
            f"{title} relates to Coffee Bean Origins",
            f"{title} goes well with Pastéis de Nata",
            "plain: 安娜喜歡喝茶",
        ]
    )
    assert dict(report.files) == {"basic-memory": 2}
    hit = mind.recall("Pour over or French press?").hits[0]
    assert mind.get(hit.id).tags == ("coffee", "brewing", "method")
    assert import_files(mind, [tmp_path / "notes" / "drinks" / "coffee.md"]).unchanged == 1


def test_what_claude_made_a_memory_of_comes_in_with_the_conversations(mind: Any, tmp_path: Path) -> None:
    page = "**Work context**\n\nAna builds boats.\n\n- Prefers short answers\n- 喜歡喝茶\n"
    memories = [
        {"conversations_memory": page, "project_memories": {"p1": "Uses SQLite"}, "account_uuid": "a"}
    ]
    talks = [
        {
            "uuid": "c1",
            "chat_messages": [
                {"uuid": "m1", "sender": "human", "text": WORDS[1], "created_at": "2026-01-01T10:00:00Z"}
            ],
        }
    ]
    export = tmp_path / "claude.zip"
    with zipfile.ZipFile(export, "w") as whole:
        whole.writestr("conversations.json", json.dumps(talks))
        whole.writestr("memories.json", json.dumps(memories))
    report = import_files(mind, [export])
    assert (dict(report.files), report.new) == ({"claude": 1}, 5)
    assert {"Ana builds boats.", "Prefers short answers", "喜歡喝茶", "Uses SQLite"} <= set(texts(mind))
    alone = tmp_path / "memories.json"
    alone.write_text(json.dumps(memories), "utf-8")
    assert (import_files(mind, [alone]).new, import_files(mind, [alone]).unchanged) == (0, 1)


@pytest.mark.parametrize("form", ["omi", "cogx", "basic-memory", "claude", "mem0", "memory-server"])
def test_what_was_forgotten_stays_forgotten_through_every_import(
    form: str, mind: Any, tmp_path: Path
) -> None:
    words = "My sister Maria lives in Hanoi"
    mind.forget(mind.remember(words).ids[0])
    file = tmp_path / "in" / ("note.md" if form == "basic-memory" else "x.jsonl")
    file.parent.mkdir()
    rows = {
        "omi": [ENVELOPE, omi_record(1, words), omi_record(2, f"The wifi password is {SECRET}")],
        "cogx": [{"kind": "memory", "external_id": "1", "content": words}],
        "claude": [{"conversations_memory": words, "project_memories": {}}],
        "mem0": [{"id": "1", "memory": words}],
        "memory-server": [
            {"type": "entity", "name": "Maria", "entityType": "sister", "observations": ["lives in Hanoi"]}
        ],
    }
    if form == "basic-memory":
        file.write_text("---\ntitle: My sister\npermalink: s\n---\n- [home] Maria lives in Hanoi\n", "utf-8")
    elif form == "omi":
        write_lines(file, *rows[form])
    else:
        file = file.with_suffix(".json") if form in ("claude", "mem0") else file
        file.write_text("".join(json.dumps(row) + "\n" for row in rows[form]), "utf-8")
    planned = import_files(mind, [file], format=form, dry_run=True)
    report = import_files(mind, [file], format=form)
    assert texts(mind) == []
    assert report.new == planned.new == 0
    assert report.refused["refused_stays"] == 1
    assert SECRET not in str(report)
    if form == "omi":
        assert report.refused["privacy_deny_sensitive"] == 1


def test_a_secret_beside_the_words_does_not_come_in(mind: Any, tmp_path: Path) -> None:
    record = omi_record(1, "Ana has a router", source={"note": f"the password is {SECRET}"})
    report = import_files(mind, [write_lines(tmp_path / "x.omi.jsonl", ENVELOPE, record)])
    assert (report.new, report.skipped["import_secret"]) == (0, 1)


def test_a_form_that_there_is_not_and_broken_files_are_said_to_be_so(mind: Any, tmp_path: Path) -> None:
    with pytest.raises(lamina.InvalidInput) as wrong:
        mind.export(tmp_path / "out", "xml")
    assert wrong.value.code == "format_invalid"
    assert not (tmp_path / "out").exists()
    broken = tmp_path / "b.omi.json"
    broken.write_text('{"format": "open-memory-interchange", "memories": [', "utf-8")
    assert import_files(mind, [broken]).skipped["import_unreadable"] == 1
    torn = write_lines(tmp_path / "t.omi.jsonl", ENVELOPE, {"id": "1"}, omi_record(1, WORDS[0]))
    torn.write_text(torn.read_text("utf-8") + "{broken\n", "utf-8")
    report = import_files(mind, [torn])
    assert (report.new, dict(report.skipped)) == (1, {"no_text": 1, "bad_line": 1})


def test_a_purge_names_the_exports_that_still_hold_it(mind: Any, tmp_path: Path) -> None:
    one = mind.remember(WORDS[0]).ids[0]
    mind.export(tmp_path / "omi", "omi")
    mind.export(tmp_path / "cogx", "cogx")
    (receipt,) = mind.purge(one, now=True, exports=False)
    assert {Path(folder).name for folder in receipt.exports} == {"omi", "cogx"}


def test_words_on_the_page_and_in_a_prompt_do_nothing(mind: Any, tmp_path: Path) -> None:
    mind.remember("Tea <script>alert(1)</script> and [click](javascript:alert(1)) ![x](javascript:y)")
    mind.remember("Ana drinks tea \u202eetihw\u202c with \u2066milk\u2069")
    mind.export(tmp_path / "out")
    page = (tmp_path / "out" / "memories.md").read_text("utf-8")
    assert "&lt;script&gt;" in page
    assert r"\[click\](javascript:alert(1))" in page
    assert "<script" not in page
    assert "[click](" not in page.replace(r"\[", "").replace(r"\]", "")
    told = mind.context("What does Ana drink?")
    for shown in (page, told.text):
        assert "\u202e" not in shown
        assert r"\u202eetihw\u202c with \u2066milk\u2069" in shown
    assert mind.receipt(told.answer).shown
