"""The plain view of a trace (GC-10)."""

from __future__ import annotations

from lamina.doors.cli.plain_view import plain_lines


def test_a_trace_is_one_key_and_value_a_line() -> None:
    event = {
        "type": "memory_recall",
        "policy": {"short_term": 2, "on": True, "phase": None},
        "none": {},
        "recalled": [{"id": "user:ana:semantic:1", "text": "จำ\nไว้\t"}, {"id": "user:ana:semantic:2"}],
    }

    assert list(plain_lines(event)) == [
        "policy.on: true",
        "policy.phase: null",
        "policy.short_term: 2",
        "recalled.count: 2",
        "recalled.1.id: user:ana:semantic:1",
        "recalled.1.text: จำ\\nไว้\\t",
        "recalled.2.id: user:ana:semantic:2",
        "type: memory_recall",
    ]
