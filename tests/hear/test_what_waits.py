"""What waits for a person's word is one question at the end of a session, not one with every turn."""

from __future__ import annotations

import pytest

from lamina.engine import Engine
from lamina.scoped import ScopedMemory


def guess(ana: ScopedMemory) -> None:
    ana.propose("dark", "editor.theme", 0.9)
    ana.propose("vim", "editor.name", 0.9)


def test_nothing_is_asked_where_nothing_waits(ana: ScopedMemory) -> None:
    assert ana.ask_what_waits() == ""


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("all", {"editor.theme", "editor.name"}),
        ("ทั้งหมด", {"editor.theme", "editor.name"}),
        ("全部", {"editor.theme", "editor.name"}),
        ("the second one", {"editor.name"}),
        ("ข้อแรก", {"editor.theme"}),
        ("第二", {"editor.name"}),
    ],
)
def test_one_answer_in_whatever_session_follows_decides(engine: Engine, answer: str, kept: set[str]) -> None:
    ana = engine.scope(session="monday")
    guess(ana)
    asked = ana.ask_what_waits()
    assert "1. editor.theme → dark" in asked
    assert "2. editor.name → vim" in asked
    later = engine.scope(session="tuesday")
    assert later.hear(answer).acknowledgement
    assert later.resolve(["editor.theme", "editor.name"]).keys() == kept
    assert {one.key for one in later.pending()} == {"editor.theme", "editor.name"} - kept


@pytest.mark.parametrize("answer", ["none", "ไม่เอา", "都不要"])
def test_a_no_drops_all_that_was_asked_about(ana: ScopedMemory, answer: str) -> None:
    guess(ana)
    ana.ask_what_waits()
    ana.hear(answer)
    assert ana.pending() == []
    assert ana.resolve(["editor.theme", "editor.name"]) == {}


def test_something_else_said_next_decides_nothing(ana: ScopedMemory) -> None:
    guess(ana)
    ana.ask_what_waits()
    ana.hear("What is the weather like in Oslo?")
    assert len(ana.pending()) == 2
    ana.hear("all")
    assert len(ana.pending()) == 2
