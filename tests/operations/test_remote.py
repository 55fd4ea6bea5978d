"""What is the remote memory's own: an address, a token, connections, and servers that are none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina.doors.client.transport import Transport
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token, revoke_token
from lamina.testing import ManualClock
from tests.operations.serving import serving


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with lamina.open(tmp_path / "w", owner="ana", clock=ManualClock()) as engine:
        yield engine


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    with serving(engine) as url:
        yield url


class Stranger(BaseHTTPRequestHandler):
    """Something that answers, and is no Lamina; a test says what it says."""

    said: bytes = b"<html>hello</html>"
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.said)))
        self.end_headers()
        self.wfile.write(self.said)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    def saying(status: int, said: bytes) -> Any:
        monkeypatch.setattr(Stranger, "said", said)
        monkeypatch.setattr(Stranger, "status", status)
        return lamina.connect(f"http://127.0.0.1:{server.server_port}", "lam_a_b").scope()

    try:
        yield saying
    finally:
        server.shutdown()
        thread.join(30)
        server.server_close()


def refusal(ask: Any) -> tuple[str, str]:
    with pytest.raises(lamina.LaminaError) as error:
        ask()
    return type(error.value).__name__, error.value.code


def test_what_is_no_address_and_no_token_is_said_at_once() -> None:
    for address in ("", "notes", "ftp://x", "http://", "http://ana:secret@x", "http://x?token=1"):
        assert refusal(lambda to=address: lamina.connect(to, "lam_a_b")) == ("ConfigError", "url_invalid")
    for token in ("", "two words", "lam_a\n_b", "lam_é"):
        assert refusal(lambda text=token: lamina.connect("http://x", text)) == (
            "ConfigError",
            "token_invalid",
        )


def test_a_server_that_is_not_there_can_be_tried_again() -> None:
    memory = lamina.connect("http://127.0.0.1:9", "lam_a_b").scope()
    with pytest.raises(lamina.Unavailable) as error:
        memory.recall("milk")
    assert (error.value.code, error.value.retryable) == ("server_unreachable", True)


@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        (200, b"<html>hello</html>", "server_unknown"),
        (502, b"<html>bad gateway</html>", "server_unknown"),
        (302, b"", "server_unknown"),
        (404, b'{"error": "nothing here"}', "server_unknown"),
        (200, b"[]", "answer_unknown"),
        (200, b'{"items": [{"text": 5}]}', "answer_unknown"),
        (200, b"", "answer_unknown"),
    ],
)
def test_what_is_no_lamina_is_not_believed(stranger: Any, status: int, said: bytes, code: str) -> None:
    memory = stranger(status, said)
    assert refusal(lambda: memory.history("user:ana:semantic:1")) == ("Unavailable", code)


def test_a_token_alone_says_who_is_asking(engine: Engine, url: str) -> None:
    token, text = create_token(engine, "test", user="bob", rights=("read", "write"))  # type: ignore[arg-type]
    with lamina.connect(f"{url}/", text) as remote:
        assert refusal(lambda: remote.scope(user="ana").recall("tea")) == ("NotFound", "user_other")
        for who in ({"role": "admin"}, {"agent": "x", "tenant": "y"}):
            assert refusal(lambda said=who: remote.scope(**said)) == ("InvalidInput", "who_by_token")
        for name in ("two\nlines", "\ud800", 5):
            assert refusal(lambda said=name: remote.scope(session=said)) == ("InvalidInput", "name_invalid")
        bob = remote.scope(session="คุย")
        assert bob.remember("We talk about tea", space="session").ids[0].startswith("session:bob,")
        assert refusal(lambda: remote.scope(session="two words").trace()) == ("InvalidInput", "name_invalid")
        assert refusal(lambda: bob.verify_audit()) == ("Denied", "right_missing")
        revoke_token(engine, token.id)
        assert refusal(lambda: bob.recall("tea")) == ("Unauthenticated", "unauthenticated")


def test_odd_ids_and_texts_are_errors_and_no_accidents(engine: Engine, url: str) -> None:
    with lamina.connect(url, create_token(engine, "test")[1]) as remote:
        ana = remote.scope()
        for odd in ("a/b", "../x", "x?y=1", "x#y", "%2e%2e", "\ud800", "ก", "\x00", " "):
            assert refusal(lambda one=odd: ana.get(one))[0] == "NotFound"
        assert refusal(lambda: ana.get("")) == ("InvalidInput", "field_missing")
        assert refusal(lambda: ana.remember("\ud800"))[0] == "InvalidInput"
        assert refusal(lambda: ana.resolve(["\ud800"]))[0] == "InvalidInput"
        assert refusal(lambda: ana.remember("x", idempotency_key="a\nb"))[0] == "InvalidInput"
        assert ana.resolve(["a&b=c"]) == {}


def test_there_are_the_verbs_of_the_catalogue_and_no_others(engine: Engine, url: str) -> None:
    with lamina.connect(url, create_token(engine, "test")[1]) as remote:
        ana = remote.scope()
        assert {"remember", "recall", "read_document", "proposals", "create_token"} <= set(dir(ana))
        assert "Remember one thing" in (ana.remember.__doc__ or "")
        for name in ("export", "import_files", "remember_many", "engine", "_x"):
            with pytest.raises(AttributeError):
                getattr(ana, name)


def test_threads_share_it_and_connections_are_kept(engine: Engine, url: str) -> None:
    with lamina.connect(url, create_token(engine, "test")[1]) as remote:
        ana = remote.scope()
        with ThreadPoolExecutor(4) as pool:
            receipts = list(pool.map(lambda n: ana.remember(f"Tea number {n}"), range(12)))
        assert len({one.ids for one in receipts}) == 12
        transport: Transport = remote._transport
        kept = len(transport._idle)
        assert 1 <= kept <= 4
        ana.recall("tea")
        assert len(transport._idle) == kept
    assert transport._idle == []
    assert len(ana.recall("tea", k=20)) == 12  # it opens another where it is needed
    remote.close()


def test_a_memory_to_be_awaited_says_so_and_lets_the_loop_go_on(engine: Engine, url: str) -> None:
    text = create_token(engine, "test")[1]

    async def main() -> list[int]:
        with pytest.raises(RuntimeError):
            lamina.aconnect(url, text).scope()
        async with lamina.aconnect(url, text) as there:
            ana = there.scope()
            await asyncio.gather(*(ana.remember(f"Tea number {n}") for n in range(5)))
            with pytest.raises(lamina.NotFound):
                await ana.get("user:ana:semantic:99")
            with pytest.raises(AttributeError):
                ana.nothing  # noqa: B018 asking for it is the point
            return [len(await ana.recall("tea", k=20))]

    assert asyncio.run(main()) == [5]
