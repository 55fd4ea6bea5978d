"""How long the pages of Studio take on a large memory.

    python -m bench.studio [--memories 100000] [--rounds 20]

A real server, a client that signed in, every page in turn; the time until the last byte is there, in
milliseconds, beside `/readyz` of the same server in the same run; and the processor time of client and server
together, which does not grow with what else the machine does.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from pathlib import Path

import httpx

import lamina
from bench.corpus import Corpus
from lamina.doors.http.app import create_app
from lamina.doors.http.server import listener_on, server_for
from lamina.studio.app import Studio

PAGES = (
    "/readyz",
    "/",
    "/memories",
    "/memories?q=harbour&kind=fact",
    "/memories?order=oldest&state=active",
    "/memory/user:ana:semantic:{last}",
    "/ask?q=where+is+the+harbour%3F",
    "/prompt?task=plan+the+week&agent=planner&budget=800",
    "/review",
    "/time?before=2026-01-01&show=all",
    "/layers",
    "/decisions",
    "/agents",
    "/audit",
    "/policy",
)
BROWSER = {"Accept": "text/html"}  # a program gets JSON
_BATCH = 2_000


def main() -> None:
    """Fill a memory, ask for every page, print a line for each."""
    parser = argparse.ArgumentParser(prog="bench.studio", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = {"LAMINA_HOME": str(Path(folder) / "home")}
        with lamina.open(Path(folder) / "w", owner="ana", embedder="static", environment=home) as engine:
            corpus, ana = Corpus(), engine.scope()
            for _ in range(0, options.memories, _BATCH):
                ana.remember_many({"text": corpus.sentence(), "kind": "fact"} for _ in range(_BATCH))
            studio = Studio(engine)
            with listener_on("127.0.0.1", 0) as listener:
                server = server_for(studio.around(create_app(engine)))
                thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
                thread.start()
                url = f"http://127.0.0.1:{listener.getsockname()[1]}"
                try:
                    measured(url, studio.link(url), options.memories, options.rounds)
                finally:
                    server.should_exit = True
                    thread.join(30)


def measured(url: str, link: str, memories: int, rounds: int) -> None:
    """Print p50 and p95 of every page."""
    with httpx.Client(base_url=url, follow_redirects=True, timeout=120, headers=BROWSER) as client:
        assert client.get(link).status_code == 200, "the link did not sign in"
        print(f"{memories:,} memories, {rounds} rounds; ms, p50 / p95; processor p50 / p95")
        for page in PAGES:
            path, times, worked = page.format(last=memories // 2), [], []
            for _ in range(rounds):
                began, work = time.perf_counter(), time.process_time()
                answer = client.get(path)
                times.append((time.perf_counter() - began) * 1000)
                worked.append((time.process_time() - work) * 1000)
            told = f"{quantiles(times)} {quantiles(worked)} {len(answer.content):8,} bytes"
            print(f"{path:52} {answer.status_code} {told}", flush=True)


def quantiles(times: list[float]) -> str:
    return f"{statistics.median(times):8.1f} / {sorted(times)[int(0.95 * len(times)) - 1]:8.1f}"


if __name__ == "__main__":
    main()
