"""Writers on the network keep to the form, the limits and temperature 0; the server is our own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lamina.config import Config
from lamina.errors import ConfigError, Unavailable
from lamina.jobs.writer import Asking, Budgeted, Writer, misfit, prompt_text
from lamina.opening import open_writer
from lamina.testing import ScriptedWriter

SCHEMA = {
    "type": "object",
    "required": ["colour"],
    "properties": {
        "colour": {"type": "string", "maxLength": 9},
        "shades": {"type": "array", "maxItems": 2, "items": {"type": "integer"}},
    },
}
ASKING = Asking(prompt="summary-2", material="What colour?", schema=SCHEMA, max_tokens=77, timeout_s=5)


def openai_answer(value: dict[str, Any]) -> dict[str, Any]:
    function = {"name": "final_result", "arguments": json.dumps(value)}
    call = {"id": "c1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37},
    }


def anthropic_answer(value: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "c1", "name": "final_result", "input": value}],
        "stop_sequence": None,
        "usage": {"input_tokens": 30, "output_tokens": 7},
    }


@contextmanager
def a_server(status: int, body: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Answers every POST with this; gives its URL and what it was sent."""
    seen: list[dict[str, Any]] = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({**sent, "_path": self.path})
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def writer_at(url: str, protocol: str) -> Writer:
    pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")
    config = Config(writer=f"{protocol}:{url}", writer_model="m", writer_key="TEST_KEY")
    found = open_writer(config, {"TEST_KEY": "k-123"})
    assert found is not None
    return found


@pytest.mark.filterwarnings("ignore")  # of the client library, at its own closing
@pytest.mark.parametrize(("protocol", "answer"), [("openai", openai_answer), ("anthropic", anthropic_answer)])
def test_a_writer_asks_once_at_temperature_zero_within_its_limits(protocol: str, answer: Any) -> None:
    with a_server(200, answer({"colour": "green"})) as (url, seen):
        budgeted = Budgeted(writer_at(url, protocol))
        assert budgeted.write(ASKING).value == {"colour": "green"}
    assert len(seen) == 1
    assert seen[0]["temperature"] == 0
    assert seen[0].get("max_tokens", seen[0].get("max_completion_tokens")) == 77
    assert prompt_text("summary-2")[:40] in json.dumps(seen[0], ensure_ascii=False)
    assert (budgeted.cost.calls, budgeted.cost.input_tokens, budgeted.cost.output_tokens) == (1, 30, 7)


@pytest.mark.filterwarnings("ignore")  # of the client library, at its own closing
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_refusal_is_unavailable_and_holds_no_key(protocol: str) -> None:
    refusal = {"error": {"message": "bad key k-123", "type": "auth"}}
    with a_server(401, refusal) as (url, _), pytest.raises(Unavailable) as caught:
        writer_at(url, protocol).write(ASKING)
    assert caught.value.code == "writer_unavailable"
    assert "k-123" not in str(caught.value)


def test_a_key_that_is_missing_and_a_writer_that_is_unknown_are_said() -> None:
    assert open_writer(Config(), {}) is None
    with pytest.raises(ConfigError) as unknown:
        open_writer(Config(writer="parrot:http://x", writer_model="m"), {})
    assert unknown.value.code == "writer_unknown"
    pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")
    config = Config(writer="openai:http://127.0.0.1:1", writer_model="m", writer_key="NO_SUCH")
    writer = open_writer(config, {})
    assert writer is not None
    with pytest.raises(ConfigError) as keyless:
        writer.write(ASKING)
    assert keyless.value.code == "writer_key_missing"


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"colour": 3},
        {"colour": "far too long for it"},
        {"colour": "x", "more": 1},
        {"colour": "x", "shades": [1, 2, 3]},
        {"colour": "x", "shades": [True]},
        {"colour": None},
    ],
)
def test_an_answer_of_another_form_is_refused(value: Any) -> None:
    assert misfit(value, SCHEMA)
    with pytest.raises(Unavailable) as caught:
        Budgeted(ScriptedWriter([value])).write(ASKING)
    assert caught.value.code == "writer_misfit"


def test_a_run_may_ask_only_so_often() -> None:
    budgeted = Budgeted(ScriptedWriter([{"colour": "x"}] * 3), max_calls=2)
    for _ in range(2):
        budgeted.write(ASKING)
    with pytest.raises(Unavailable) as caught:
        budgeted.write(ASKING)
    assert caught.value.code == "writer_limit"
