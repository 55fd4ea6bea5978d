"""CrewAI's own memory on our storage: records are governed memories, found by its vectors, people apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import lamina

pytestmark = pytest.mark.filterwarnings("default")  # what a framework warns of is its own affair
pytest.importorskip("crewai", reason="pip install crewai, in an environment of its own: it pins mcp < 2")

SECRET = "-".join(["hunter2", "Blue"])
FACTS = ["The build takes ten minutes", "ลูกค้าชอบชาเขียว", "客戶在台北"]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[lamina.Engine]:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    with lamina.open(tmp_path / "w", owner="ana") as opened:
        yield opened


def embed(texts: list[str]) -> list[list[float]]:
    """Vectors of the letters in a text: the same words are near each other."""
    rows = []
    for text in texts:
        row = [0.0] * 64
        for one in (text[at : at + 2].casefold() for at in range(len(text))):
            row[int(hashlib.sha256(one.encode()).hexdigest(), 16) % 64] += 1.0
        rows.append(row)
    return rows


def storage(engine: lamina.Engine, user: str = "ana") -> Any:
    from lamina.integrations.crewai import LaminaStorage  # noqa: PLC0415 not everybody has it

    return LaminaStorage(engine.scope(user=user, agent="crew"))


def memory(engine: lamina.Engine, user: str = "ana") -> Any:
    from crewai.memory.unified_memory import Memory  # noqa: PLC0415 not everybody has it

    return Memory(storage=storage(engine, user), embedder=embed, llm="gpt-4o-mini")


def remember(own: Any, text: str, **more: Any) -> Any:
    given = {"scope": "/work", "categories": ["facts"], "importance": 0.7, "metadata": {"from": "test"}}
    return own.remember(text, **{**given, **more})


def test_crewais_memory_remembers_and_recalls_on_it(engine: lamina.Engine) -> None:
    from crewai.memory.storage.backend import StorageBackend  # noqa: PLC0415 not everybody has it

    assert isinstance(storage(engine), StorageBackend)
    own = memory(engine)
    for text in FACTS:
        record = remember(own, text)
        again = own.recall(text, depth="shallow", limit=1)[0].record
        assert (again.content, again.id) == (text, record.id)
        assert (again.scope, again.categories, again.importance) == ("/work", ["facts"], 0.7)
        assert engine.scope().recall(text).hits[0].text == text  # one memory, whoever asks
    assert own.list_categories() == {"facts": 3}
    assert own.list_scopes("/") == ["/work"]
    assert own.info("/work").record_count == 3
    changed = own.update(record.id, content="客戶在高雄", scope="/sales/asia")
    assert own.recall("客戶在高雄", depth="shallow", limit=1)[0].record.id == changed.id
    assert own.list_scopes("/sales") == ["/sales/asia"]
    assert own.forget(scope="/work") == 2
    assert [one.content for one in own.list_records()] == ["客戶在高雄"]
    own.reset()
    assert own.list_records() == []
    own.close()
    assert engine.verify_audit().findings == ()


def test_what_is_refused_raises_and_is_no_record(engine: lamina.Engine) -> None:
    own = memory(engine)
    with pytest.raises(lamina.Denied):
        remember(own, f"The wifi password is {SECRET}")
    with pytest.raises(lamina.Denied):
        remember(own, "Nothing of note", metadata={"note": f"the password is {SECRET}"})
    assert own.list_records() == []
    said = engine.scope().remember("My sister Maria lives in Hanoi")
    engine.scope().forget(said.ids[0])
    with pytest.raises(lamina.Denied) as waits:
        remember(own, "The sister Maria has a flat in Hanoi")
    assert "waits" in str(waits.value)
    assert own.list_records() == []


def test_what_the_person_forgot_is_no_record_any_more(engine: lamina.Engine) -> None:
    own = memory(engine)
    remember(own, "My sister Maria lives in Hanoi")
    (one,) = engine.scope().list(spaces=["user"]).items
    engine.scope().forget(one.id)
    assert own.recall("My sister Maria lives in Hanoi", depth="shallow") == []
    with pytest.raises(lamina.Denied):
        remember(own, "My sister Maria lives in Hanoi")


def test_people_have_records_of_their_own(engine: lamina.Engine) -> None:
    record = remember(memory(engine), FACTS[0])
    bob = storage(engine, "bob")
    assert bob.count() == 0
    assert bob.get_record(record.id) is None
    assert bob.delete(record_ids=[record.id]) == 0
    assert storage(engine).get_record(record.id).content == FACTS[0]


def test_records_are_filtered_and_deleted_by_what_they_are(engine: lamina.Engine) -> None:
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError  # noqa: PLC0415
    from crewai.memory.types import MemoryRecord  # noqa: PLC0415 not everybody has it

    own = storage(engine)
    rows = [
        MemoryRecord(
            id=f"r{number}",
            content=text,
            scope=f"/team/{number}",
            categories=[f"c{number}"],
            metadata={"n": number},
            created_at=datetime(2026, 1, number + 1),  # noqa: DTZ001 as CrewAI has them
            embedding=embed([text])[0],
        )
        for number, text in enumerate(FACTS)
    ]
    own.save(rows)
    own.save(rows)  # a retry
    assert own.count() == own.count("/team") == 3
    assert [one.id for one in own.list_records(limit=2)] == ["r2", "r1"]
    asked = embed([FACTS[1]])[0]
    assert [one.id for one, _ in own.search(asked, limit=1)] == ["r1"]
    assert own.search(asked, limit=1)[0][1] > 0.99
    assert [one.id for one, _ in own.search(asked, scope_prefix="/team/2")] == ["r2"]
    assert [one.id for one, _ in own.search(asked, categories=["c0"])] == ["r0"]
    assert [one.id for one, _ in own.search(asked, metadata_filter={"n": 2})] == ["r2"]
    assert own.search(asked, min_score=0.999, scope_prefix="/team/0") == []
    with pytest.raises(EmbeddingDimensionMismatchError):
        own.search([1.0, 0.0])
    assert own.delete(older_than=datetime(2026, 1, 2)) == 1  # noqa: DTZ001 as CrewAI has them
    assert own.delete(categories=["c1"], scope_prefix="/other") == 0
    assert own.delete(record_ids=["r1"]) == 1
    assert [one.id for one in own.list_records()] == ["r2"]
