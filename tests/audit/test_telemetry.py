"""Spans for a host that uses OpenTelemetry: names of the conventions, and content only when asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import lamina


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    provider, made = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(made))
    trace.set_tracer_provider(provider)
    return made


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    exporter.clear()


def test_each_verb_is_a_span_without_content(spans: InMemorySpanExporter, tmp_path: Path) -> None:
    with lamina.open(tmp_path / "w", owner="ana") as memory:
        mind = memory.scope(agent="planner", session="s1")
        one = mind.remember("Ana drinks ชา 茶").ids[0]
        mind.remember("friendly", key="tone")
        mind.revise(one, "Ana drinks coffee")
        mind.recall("coffee")
        mind.forget(one)
        with pytest.raises(lamina.NotFound):
            mind.restore("user:ana:semantic:99")
    made = spans.get_finished_spans()
    assert [span.name for span in made] == [
        "create_memory",
        "upsert_memory",
        "update_memory",
        "search_memory",
        "delete_memory",
        "update_memory",
    ]
    assert made[0].attributes is not None
    assert made[0].attributes["gen_ai.memory.record.id"] == one
    assert made[0].attributes["gen_ai.agent.id"] == "planner"
    assert made[3].attributes is not None
    assert made[3].attributes["gen_ai.memory.record.count"] == 1
    assert made[5].attributes is not None
    assert made[5].attributes["error.type"] == "not_found"
    assert not any("coffee" in span.to_json() or "ชา" in span.to_json() for span in made)


def test_content_is_there_when_asked_for(spans: InMemorySpanExporter, tmp_path: Path) -> None:
    with lamina.open(tmp_path / "w", telemetry_content=True) as memory:
        memory.scope().recall("which milk?")
    (found,) = spans.get_finished_spans()
    assert found.attributes is not None
    assert found.attributes["gen_ai.memory.query.text"] == "which milk?"


def test_without_the_api_nothing_happens(
    spans: InMemorySpanExporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    with lamina.open(tmp_path / "w") as memory:
        memory.scope().remember("tea")
    assert spans.get_finished_spans() == ()
