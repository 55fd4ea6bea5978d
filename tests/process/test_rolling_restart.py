"""Servers on one PostgreSQL are restarted in turn, and make an index anew, while people use them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg

import lamina

WAIT_S = 120.0  #: for a server to be up, on a machine that does other things
CLIENTS = 3


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


class Servers:
    """Two servers behind what a load balancer does: it asks each whether it is ready, and sends each request
    to one that last said yes. Nothing is sent twice."""

    def __init__(self, folder: Path, store: str, count: int) -> None:
        self.folder, self.store = folder, store
        self.ports = [free_port() for _ in range(count)]
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        self.ready: dict[int, bool] = dict.fromkeys(self.ports, False)
        self.over = threading.Event()

    def start(self, port: int) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LAMINA_")},
            "LAMINA_HOME": str(self.folder / f"home-{port}"),
            "LAMINA_AUDIT_KEY_FILE": str(self.folder / "audit.key"),
            "LAMINA_STORE": self.store,
            "LAMINA_OWNER": "ana",
            "LAMINA_EMBEDDER": "none",
            "LAMINA_UNDERSTANDING": "false",
            "LAMINA_DRAIN_SECONDS": "3",
        }
        self.running[port] = subprocess.Popen(
            [str(Path(sys.executable).parent / "lamina"), "serve", "--port", str(port)],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.until(lambda: self.ready[port])

    def restart(self, port: int) -> None:
        process = self.running[port]
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 0
        self.start(port)

    def until(self, reached: Callable[[], bool]) -> None:
        begun = time.monotonic()
        while not reached():
            assert time.monotonic() - begun < WAIT_S
            time.sleep(0.02)

    def watch(self) -> None:
        while not self.over.wait(0.05):
            for port in self.ports:
                try:
                    answer = httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=WAIT_S)
                    self.ready[port] = answer.status_code == 200
                except httpx.TransportError:
                    self.ready[port] = False

    def one(self, turn: int) -> int:
        """A port that is ready; there is always one."""
        up = [port for port in self.ports if self.ready[port]]
        return up[turn % len(up)]


@contextmanager
def serving(folder: Path, store: str, count: int = 2) -> Iterator[Servers]:
    servers = Servers(folder, store, count)
    watcher = threading.Thread(target=servers.watch)
    watcher.start()
    try:
        for port in servers.ports:
            servers.start(port)
        yield servers
    finally:
        servers.over.set()
        watcher.join()
        for process in servers.running.values():
            process.kill()
            process.wait()


def test_servers_are_restarted_in_turn_and_no_request_fails(tmp_path: Path, postgres_store: str) -> None:
    with lamina.open(postgres_store, owner="ana", audit_key_file=str(tmp_path / "audit.key")) as engine:
        token = engine.scope().create_token("laptop", rights=["read", "write"])[1]
    failed: list[object] = []
    written: list[str] = []
    asked = dict.fromkeys(range(CLIENTS), 0)
    with serving(tmp_path, postgres_store) as servers:

        def live(client: int) -> None:
            headers = {"Authorization": f"Bearer {token}"}
            with httpx.Client(headers=headers, timeout=WAIT_S) as http:
                while not servers.over.is_set():
                    asked[client] += 1
                    try:
                        url = f"http://127.0.0.1:{servers.one(asked[client])}/v1"
                        told = {"text": f"Client {client} counted {asked[client]} herons"}
                        made = http.post(f"{url}/memories", json=told)
                        found = http.post(f"{url}/recall", json={"query": "herons", "k": 1})
                        failed.extend(one.text for one in (made, found) if one.status_code not in (200, 201))
                        written.extend(made.json()["ids"])
                    except (httpx.HTTPError, KeyError, ZeroDivisionError) as error:
                        failed.append(error)

        clients = [threading.Thread(target=live, args=(one,)) for one in range(CLIENTS)]
        for one in clients:
            one.start()
        for port in servers.ports:
            some_more = len(written) + CLIENTS
            servers.until(lambda some_more=some_more: len(written) > some_more)  # type: ignore[misc]
            servers.restart(port)
        some_more = len(written) + CLIENTS
        servers.until(lambda: len(written) > some_more)
        servers.over.set()
        for one in clients:
            one.join()

    assert failed == []
    assert len(set(written)) == sum(asked.values())
    with lamina.open(postgres_store, owner="ana", audit_key_file=str(tmp_path / "audit.key")) as engine:
        assert set(written) <= set(ids_of(engine))
        assert engine.verify_audit().intact


def test_a_server_makes_the_index_anew_while_it_answers(tmp_path: Path, postgres_store: str) -> None:
    key, people = str(tmp_path / "audit.key"), [f"p{number}" for number in range(30)]
    with lamina.open(postgres_store, owner="ana", audit_key_file=key) as engine:
        token = engine.scope().create_token("service", agent="builder", acts_for=["*"], rights=["read"])[1]
        for who in people:
            engine.scope(user=who).remember(f"{who} saw a heron")
    with psycopg.connect(postgres_store, options="-c search_path=lamina") as server:
        server.execute("UPDATE property SET value = '0' WHERE name = 'analyser'")
        server.execute("DELETE FROM fresh")
    with serving(tmp_path, postgres_store, 1) as servers:
        url, states = f"http://127.0.0.1:{servers.ports[0]}", set[str]()
        while "ok" not in states:
            answer = httpx.get(f"{url}/readyz", timeout=WAIT_S)
            assert answer.status_code == 200, answer.text
            states.add(answer.json()["checks"]["index"])
            time.sleep(0.02)
        for who in people[-3:]:
            headers = {"Authorization": f"Bearer {token}", "X-Lamina-User": who}
            found = httpx.post(f"{url}/v1/recall", json={"query": "herons"}, headers=headers, timeout=WAIT_S)
            assert [hit["text"] for hit in found.json()["hits"]] == [f"{who} saw a heron"]
    with psycopg.connect(postgres_store, options="-c search_path=lamina") as server:
        assert server.execute("SELECT count(*) FROM posting").fetchone() != (0,)
    assert states - {"ok"} <= {f"renewing: {done} of 30 shelves" for done in range(20, 31)}


def ids_of(engine: lamina.Engine) -> Iterator[str]:
    """The ids of everything that is kept, page by page."""
    cursor: str | None = ""
    while cursor is not None:
        page = engine.scope().list(limit=100, cursor=cursor)
        yield from (one.id for one in page.items)
        cursor = page.cursor
