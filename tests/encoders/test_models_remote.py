"""Embeddings over HTTP, from a server on this machine that behaves as servers do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from lamina.config import Config
from lamina.encoders.remote import Endpoint, RemoteEncoder
from lamina.errors import ConfigError, Unauthenticated, Unavailable
from lamina.opening import open_embedder

Answer = tuple[int, Any]
KEY = "-".join(["made", "up", "key"])


class Server:
    """Answers with what it is told to, and keeps what it was asked."""

    def __init__(self, url: str, asked: list[dict[str, Any]], keys: list[str | None]) -> None:
        self.url, self.asked, self.keys = url, asked, keys


def vectors(body: dict[str, Any]) -> Answer:
    rows = [
        {"index": number, "embedding": [float(len(text)), 1.0, 0.0]}
        for number, text in enumerate(body["input"])
    ]
    return 200, {"data": rows[::-1]}


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Answer]) -> Iterator[Server]:
    asked: list[dict[str, Any]] = []
    keys: list[str | None] = []

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            keys.append(self.headers["Authorization"])
            status, content = answer(body)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            if status == 307:
                self.send_header("Location", content["to"])
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nothing: a test has no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}/v1", asked, keys)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def encoder(url: str, pauses: list[float] | None = None, **settings: Any) -> RemoteEncoder:
    endpoint = Endpoint(url=url, model="tiny", key_variable="TINY_KEY", **settings)
    return RemoteEncoder(endpoint, {"TINY_KEY": KEY}, (pauses if pauses is not None else []).append)


def test_texts_are_asked_for_in_batches_and_come_back_in_their_order():
    with serving(vectors) as server:
        found = encoder(server.url, batch=2).embed(["a", "ภาษาไทย", "中文", "", "four"])
    assert [len(body["input"]) for body in server.asked] == [2, 2, 1]
    assert found.dtype == np.float32
    assert np.allclose(found[:, 0] / found[:, 1], [1, 7, 2, 1, 4])
    assert np.allclose(np.linalg.norm(found, axis=1), 1)


def test_the_key_comes_from_the_environment_and_is_in_no_id():
    with serving(vectors) as server:
        remote = encoder(server.url)
        assert remote.embedder_id == "remote-127.0.0.1-tiny-3"
    assert server.keys == [f"Bearer {KEY}"]


def test_a_busy_server_is_asked_again_with_growing_pauses():
    answers = iter([(429, {}), (503, {})])
    pauses: list[float] = []
    with serving(lambda body: next(answers, None) or vectors(body)) as server:
        assert encoder(server.url, pauses).embed(["a"]).shape == (1, 3)
    assert pauses == [0.5, 1.0]


def test_a_server_that_stays_busy_is_given_up_on():
    pauses: list[float] = []
    with serving(lambda _: (500, {})) as server, pytest.raises(Unavailable) as error:
        encoder(server.url, pauses, attempts=3).embed(["a"])
    assert error.value.retryable
    assert len(pauses) == 2


def test_a_refused_key_says_which_variable_to_set_and_not_the_key():
    with serving(lambda _: (401, {})) as server, pytest.raises(Unauthenticated) as error:
        encoder(server.url).embed(["a"])
    assert "TINY_KEY" in str(error.value)
    assert KEY not in str(error.value)
    assert len(server.asked) == 1


def test_a_redirect_takes_neither_key_nor_texts_elsewhere():
    with (
        serving(vectors) as other,
        serving(lambda _: (307, {"to": f"{other.url}/embeddings"})) as server,
        pytest.raises(Unavailable),
    ):
        encoder(server.url).embed(["a secret plan"])
    assert len(server.asked) == 1
    assert other.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": ["x"]}]},
        {"error": "no such model"},
        b"<html>",
        {"data": [{"index": 0, "embedding": [float("nan")]}]},
    ],
)
def test_an_answer_that_is_no_list_of_embeddings_is_an_error_at_once(answer: Any):
    pauses: list[float] = []
    with serving(lambda _: (200, answer)) as server, pytest.raises(Unavailable) as error:
        encoder(server.url, pauses).embed(["a"])
    assert error.value.code == "encoder_unavailable"
    assert pauses == []


def test_a_server_that_is_not_there_is_said_to_be_out_of_reach():
    with serving(vectors) as server:
        gone = server.url
    with pytest.raises(Unavailable) as error:
        encoder(gone, attempts=2, timeout_s=2).embed(["a"])
    assert "could not be reached" in str(error.value)


@pytest.mark.parametrize(
    "url", ["ftp://host/v1", "file:///etc/passwd", "https://", f"https://user:{KEY}@host/v1"]
)
def test_an_address_that_is_no_plain_web_address_is_refused(url: str):
    with pytest.raises(ConfigError) as error:
        encoder(url)
    assert KEY not in str(error.value)


def test_the_settings_choose_the_encoder():
    with serving(vectors) as server:
        config = Config(embedder=server.url, embedder_model="tiny", embedder_key="TINY_KEY")
        chosen = open_embedder(config, {"TINY_KEY": KEY})
        assert chosen is not None
        assert chosen.embed(["สวัสดี"]).shape == (1, 3)
        assert chosen.reach("สวัสดี") == 1.0
    assert server.keys[0] == f"Bearer {KEY}"
    assert open_embedder(Config(embedder="none"), {}) is None
    for wrong in ("", "magic", "onnx:", "http://127.0.0.1/v1"):
        with pytest.raises(ConfigError):
            open_embedder(Config(embedder=wrong), {})
