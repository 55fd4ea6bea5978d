"""The table of ways back that `bench.ways` prints: it takes every way, and shows what comes back."""

from __future__ import annotations

import pytest

from bench import ways
from lamina.write import commit


def test_a_way_that_is_open_is_shown(
    lamina_home: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["--noes", "forgotten", "--languages", "th", "--doors", "adapters", "--no-control"]
    assert ways.main(asked) == 0
    assert "back: 0" in capsys.readouterr().out
    monkeypatch.setattr(commit, "kept_out", lambda *_: None)
    assert ways.main(asked) == 1
    assert "back: th forgotten adapters: LangGraph, a text" in capsys.readouterr().out
