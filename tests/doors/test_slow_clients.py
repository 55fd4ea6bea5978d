"""Clients that only hold connections: they are let go, and whoever asks properly is answered."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import socket
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.types import Receive, Scope, Send

import lamina
from lamina.doors.http.connections import Connection, Patience
from lamina.lifecycle.tokens import create_token
from tests.operations.serving import serving


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The address of a server that is in a hurry."""
    monkeypatch.setattr(Connection, "patience", Patience(head_s=0.2, unread_s=0.2, connections=20))
    with lamina.open(tmp_path / "memory", owner="ana") as engine, serving(engine) as url:
        yield url


@pytest.fixture
def token(hasty: str, tmp_path: Path) -> str:
    """What opens it."""
    assert hasty
    with lamina.open(tmp_path / "memory", owner="ana") as engine:
        return create_token(engine, "mine")[1]


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as one:
        yield one


def is_closed(one: socket.socket) -> bool:
    """Whether the other side ends it, which is waited for."""
    try:
        while one.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.parametrize("sent", [b"", b"GET /livez HTTP/1.1\r\nHost: 127", b"GET /livez HTTP/1.1\r\n"])
def test_headers_that_do_not_arrive_end_the_connection(hasty: str, sent: bytes) -> None:
    with connected(hasty) as one:
        one.sendall(sent)
        assert is_closed(one)


def test_as_it_is_served_half_a_request_is_held_for_ten_seconds(tmp_path: Path) -> None:
    """With the patience that everybody has, not with one of the test's own."""
    with lamina.open(tmp_path / "memory", owner="ana") as engine, serving(engine) as url, ExitStack() as held:
        ones = [held.enter_context(connected(url)) for _ in range(3)]
        began = monotonic()
        ones[1].sendall(b"GET /livez HTTP/1.1\r\nHost: 127")
        ones[2].sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert ones[2].recv(65536).startswith(b"HTTP/1.1 200")
        ones[2].sendall(b"GET /livez")
        assert all(is_closed(one) for one in ones)
        assert monotonic() - began > 5


def test_headers_of_a_second_request_have_as_little_time(hasty: str) -> None:
    with connected(hasty) as one:
        one.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert one.recv(65536).startswith(b"HTTP/1.1 200")
        one.sendall(b"GET /livez HTTP/1.1\r\nHo")
        assert is_closed(one)


def test_an_answer_that_nobody_reads_ends_the_connection(hasty: str, tmp_path: Path) -> None:
    ended = threading.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        gone = asyncio.ensure_future(receive())
        while not gone.done():
            await send({"type": "http.response.body", "body": b"x" * 2**20, "more_body": True})
            await asyncio.sleep(0)
        ended.set()

    with (
        lamina.open(tmp_path / "memory", owner="ana") as engine,
        serving(engine, endless) as url,
        connected(url) as one,
    ):
        one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert ended.wait(20)


def test_who_asks_is_answered_while_others_hold_more_connections_than_there_may_be(
    hasty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "patience", Patience(head_s=3600, connections=20))
    with ExitStack() as held:
        ones = [held.enter_context(connected(hasty)) for _ in range(100)]
        assert httpx.get(f"{hasty}/livez", timeout=60).status_code == 200
        assert all(is_closed(one) for one in ones[:50])  # and not for being slow


def test_who_sends_bodies_that_never_end_locks_out_nobody(
    hasty: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a token that is good: without one the body is not waited for."""
    monkeypatch.setattr(Connection, "patience", Patience(head_s=3600, connections=20))
    head = f"POST /v1/recall HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    with ExitStack() as held:
        ones = [held.enter_context(connected(hasty)) for _ in range(20)]
        for one in ones:
            one.sendall(head.encode() + b" ")
        good = {"headers": {"Authorization": f"Bearer {token}"}, "json": {"query": "tea"}, "timeout": 60}
        assert httpx.post(f"{hasty}/v1/recall", **good).status_code == 200
        for one in ones[5:]:
            one.sendall(b" ")  # who is not in the way may go on


def test_of_a_body_that_is_too_large_nothing_is_kept(hasty: str, token: str) -> None:
    """Not until garbage is collected, either: a hundred of them would be 200 MB."""
    good = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def giant() -> None:
        with suppress(httpx.TransportError):  # the answer may come before all of it is sent
            httpx.post(
                f"{hasty}/v1/recall", headers=good, content=(b"x" * 2**20 for _ in range(4)), timeout=20
            )

    giant()
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(8):
            giant()
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()
    assert grown < 8 * 2**20


def test_a_thousand_half_sent_requests_at_256_descriptors_lock_out_nobody(tmp_path: Path) -> None:
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))\n"
        "from lamina.doors.http.connections import Connection, Patience\n"
        "Connection.patience = Patience(head_s=3600)\n"  # so that only their number can make room
        "from lamina.__main__ import main; sys.argv = ['lamina', *sys.argv[1:]]; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, "-w", str(tmp_path / "memory")]
    subprocess.run([*command, "init", "--owner", "ana"], check=True, capture_output=True, timeout=60)
    server = subprocess.Popen(
        [*command, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    try:
        assert server.stderr is not None
        url = next(found[0] for line in server.stderr if (found := re.search(r"http://[\d.:]+", line)))
        with ExitStack() as held:
            for number in range(1000):
                one = held.enter_context(connected(url))
                with suppress(OSError):  # let go for somebody newer
                    one.sendall(b"POST /v1/recall HTTP/1.1\r\nHost: x\r\n")
                if number % 250 == 0:
                    assert httpx.get(f"{url}/readyz", timeout=30).status_code == 200
            assert httpx.get(f"{url}/readyz", timeout=30).status_code == 200
    finally:
        server.terminate()
        _, told = server.communicate(timeout=30)
    assert len(told) < 2000, told[:2000]
