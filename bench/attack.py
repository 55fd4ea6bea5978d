"""What a server goes through that is attacked, and what somebody who asks properly notices of it.

    python -m bench.attack [--seconds 6] [--only "slow headers" …]

`lamina serve` runs as a process of its own with 256 descriptors, on the loopback alone. Each attack lasts so
many seconds; meanwhile one caller recalls and asks `/readyz`, again and again. The table says how often
that caller was not answered, for how long it waited at most, and what the server held of memory, descriptors
and log.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

DESCRIPTORS = 256
_HELD = 400  #: connections that an attack holds, where it holds any
_LINGER = struct.pack("ii", 1, 0)  #: closing resets the connection
_CODE = (
    f"import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, ({DESCRIPTORS}, {DESCRIPTORS}));"
    "from lamina.__main__ import main; sys.exit(main())"
)


@dataclass
class Server:
    """A server under attack, and what it held meanwhile."""

    process: subprocess.Popen[str]
    port: int
    token: str
    log: list[str]
    most: float = 0.0
    descriptors: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def look(self) -> None:
        self.most = max(self.most, self.held())
        with contextlib.suppress(OSError):
            self.descriptors = max(
                self.descriptors, len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))
            )

    def held(self) -> float:
        """MB of memory, now."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def head(self, path: str = "/v1/recall", *more: str, token: str | None = None) -> bytes:
        lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", "Content-Type: application/json"]
        lines += [f"Authorization: Bearer {token or self.token}", *more]
        return "\r\n".join(lines).encode()


@dataclass
class Polite:
    """Somebody who asks properly all the while."""

    server: Server
    waits: list[float] = field(default_factory=list)
    failed: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.over.wait(0.15):
            for path, body in (("/readyz", None), ("/v1/recall", b'{"query": "tea"}')):
                headers = {"Authorization": f"Bearer {self.server.token}", "Content-Type": "application/json"}
                begun = time.monotonic()
                try:
                    with urlopen(Request(f"{self.server.url}{path}", body, headers), timeout=20) as answer:
                        answer.read()
                except OSError as error:
                    self.failed += 1
                    sys.stderr.write(f"{path}: {error}\n")
                self.waits.append(time.monotonic() - begun)
                self.server.look()


Attack = Callable[[Server, float], Coroutine[None, None, int]]
ATTACKS: dict[str, Attack] = {}


def attack(name: str) -> Callable[[Attack], Attack]:
    def add(made: Attack) -> Attack:
        ATTACKS[name] = made
        return made

    return add


async def _connected(server: Server) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.wait_for(asyncio.open_connection("127.0.0.1", server.port), 10)


async def _crowd(count: int, one: Callable[[int], Awaitable[int]]) -> int:
    """Many at once; how often they did what they do. One who is let go is done."""

    async def each(number: int) -> int:
        try:
            return await one(number)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            return 1

    return sum(await asyncio.gather(*map(each, range(count))))


async def _drip(server: Server, seconds: float, first: bytes, byte: bytes, count: int = _HELD) -> int:
    """Connections that begin so and then send a byte now and then, until they are let go."""
    until = time.monotonic() + seconds

    async def one(_: int) -> int:
        writer = (await _connected(server))[1]
        try:
            writer.write(first)
            while time.monotonic() < until:
                writer.write(byte)
                await writer.drain()
                await asyncio.sleep(0.5)
        finally:
            writer.close()
        return 1

    return await _crowd(count, one)


async def _again(seconds: float, callers: int, act: Callable[[random.Random], Awaitable[None]]) -> int:
    """A few who do something over and over; how often it was done."""
    until = time.monotonic() + seconds

    async def one(number: int) -> int:
        chance, count = random.Random(number), 0
        while time.monotonic() < until:
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                await act(chance)
            count += 1
        return count

    return await _crowd(callers, one)


async def _send(server: Server, data: Sequence[bytes], *, reset: bool = False) -> None:
    """Send it, and read the answer, or break off."""
    reader, writer = await _connected(server)
    try:
        for part in data:
            writer.write(part)
            await asyncio.wait_for(writer.drain(), 10)
        if reset:
            own: socket.socket = writer.get_extra_info("socket")
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
        else:
            await asyncio.wait_for(reader.read(4096), 10)
    finally:
        writer.transport.abort()


@attack("slow headers")
async def slow_headers(server: Server, seconds: float) -> int:
    return await _drip(server, seconds, b"GET /livez HTTP/1.1\r\nX-Long: ", b"x")


@attack("slow bodies")
async def slow_bodies(server: Server, seconds: float) -> int:
    return await _drip(server, seconds, server.head("/v1/recall", "Content-Length: 60000", "\r\n"), b" ")


@attack("idle connections")
async def idle(server: Server, seconds: float) -> int:
    return await _drip(server, seconds, b"", b"")


@attack("1,000 connections at 256 descriptors")
async def thousand(server: Server, seconds: float) -> int:
    return await _drip(server, seconds, b"POST /v1/recall HTTP/1.1\r\nHost: x\r\n", b"", 1000)


@attack("a flood of bad tokens")
async def bad_tokens(server: Server, seconds: float) -> int:
    async def act(chance: random.Random) -> None:
        token = f"lam_{chance.randbytes(24).hex()}"
        await _send(server, [server.head("/v1/recall", "Content-Length: 2", "\r\n{}", token=token)])

    return await _again(seconds, 16, act)


@attack("giant bodies")
async def giant(server: Server, seconds: float) -> int:
    async def act(chance: random.Random) -> None:
        chunk = b"100000\r\n" + b"x" * 2**20 + b"\r\n"
        if chance.random() < 0.5:
            await _send(
                server, [server.head("/v1/memories", "Content-Length: 9999999999", "\r\n"), *[chunk] * 8]
            )
        else:
            head = server.head("/v1/memories", "Transfer-Encoding: chunked", "\r\n")
            await _send(server, [head, *[chunk] * 64])

    return await _again(seconds, 4, act)


@attack("deep bodies")
async def deep(server: Server, seconds: float) -> int:
    async def act(chance: random.Random) -> None:
        depth = chance.choice((100, 1000, 50_000))
        open_, close = chance.choice((("[", "]"), ('{"a":', "}")))
        body = f'{{"query": {open_ * depth}1{close * depth}}}'.encode()
        await _send(server, [server.head("/v1/recall", f"Content-Length: {len(body)}", "\r\n"), body])

    return await _again(seconds, 4, act)


@attack("disconnects")
async def disconnects(server: Server, seconds: float) -> int:
    async def act(chance: random.Random) -> None:
        body = json.dumps({"query": "tea " * chance.randint(1, 200)}).encode()
        whole = server.head("/v1/recall", f"Content-Length: {len(body)}", "\r\n") + body
        await _send(server, [whole[: chance.randint(1, len(whole))]], reset=True)
        await asyncio.sleep(0.05)

    return await _again(seconds, 8, act)


@attack("answers that nobody reads")
async def unread(server: Server, seconds: float) -> int:
    ask = f"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    return await _drip(
        server, seconds, f"{ask}Authorization: Bearer {server.token}\r\n\r\n".encode() * 20, b"", 50
    )


@attack("endless headers and broken requests")
async def garbage(server: Server, seconds: float) -> int:
    async def act(chance: random.Random) -> None:
        sent = chance.choice(
            (
                b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
                b"GET /livez HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
                chance.randbytes(5000),
                server.head("/v1/recall", "Content-Length: -1", "\r\n"),
                server.head("/v1/recall", "Content-Length: 5", "Transfer-Encoding: chunked", "\r\n0\r\n\r\n"),
                server.head("/v1/recall", "Transfer-Encoding: chunked", "\r\nzz\r\n"),
            )
        )
        await _send(server, [sent])

    return await _again(seconds, 8, act)


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    """A server with few descriptors, and its log."""
    environment = {**os.environ, "LAMINA_HOME": str(folder / "home")}
    command = [sys.executable, "-c", _CODE, "-w", str(folder / "memory")]

    def told(*words: str) -> str:
        ran = subprocess.run([*command, *words], check=True, capture_output=True, text=True, env=environment)
        return ran.stdout

    told("init", "--owner", "ana")
    told("remember", "Ana likes green tea")
    token = json.loads(told("token", "create", "attacked", "--json"))["data"]["text"]
    process = subprocess.Popen(
        [*command, "serve", "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stderr is not None
        line = next(
            found for one in process.stderr if (found := re.search(r"http://127\.0\.0\.1:(\d+)", one))
        )
        log: list[str] = []
        threading.Thread(target=lambda: log.extend(process.stderr or ()), daemon=True).start()
        yield Server(process, int(line[1]), token, log)
    finally:
        process.terminate()
        process.wait(30)


def under(server: Server, name: str, seconds: float) -> str:
    """A row of the table."""
    polite, before, lines = Polite(server), server.held(), len(server.log)
    server.most, server.descriptors = before, 0
    caller = threading.Thread(target=polite.run)
    caller.start()
    while not polite.waits:  # what the first of them costs is no attack's
        time.sleep(0.1)
    done = asyncio.run(ATTACKS[name](server, seconds))
    polite.over.set()
    caller.join()
    waits = sorted(polite.waits)
    told = sum(map(len, server.log[lines:])) / 1024
    return (
        f"| {name} | {done:,} | {len(waits)} | {polite.failed} | {1e3 * waits[len(waits) // 2]:.0f} |"
        f" {1e3 * waits[-1]:.0f} | {before:.0f} → {server.most:.0f} | {server.descriptors} | {told:.1f} |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.attack", description=__doc__)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--only", nargs="*", choices=list(ATTACKS), default=list(ATTACKS))
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    say = sys.stdout.write
    say(
        "| attack | acts | asked properly | not answered | p50 ms | longest ms | memory MB | descriptors |"
        " log KB |\n"
    )
    say("|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
    with tempfile.TemporaryDirectory(prefix="lamina-attack-") as folder, served(Path(folder)) as server:
        for name in options.only:
            say(under(server, name, options.seconds) + "\n")
            sys.stdout.flush()
        say(f"Afterwards it holds {server.held():.0f} MB.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
