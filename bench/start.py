"""How much processor time a command takes from nothing, beside what Python and numpy take by themselves.

The MCP server is measured up to its first answer; beside it stands a server of the SDK with one tool.

`python -m bench.start [--runs N]`: the least of N runs each, in one table. Bytecode is written and used, as
on any machine where Lamina was used before.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    least = least_seconds(runs)
    numpy = least["python -c 'import numpy'"]
    print(f"{'processor time, least of ' + str(runs):32} {'seconds':>8} {'of numpy':>9}")
    for name, seconds in least.items():
        print(f"{name:32} {seconds:8.2f} {seconds / numpy:9.1f}")


def least_seconds(runs: int) -> dict[str, float]:
    """The least processor time of each command."""
    lamina = [sys.executable, "-m", "lamina"]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LAMINA_HOME": f"{folder}/home"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        place = [*lamina, "-w", str(Path(folder) / "notes")]
        _seconds([*place, "init", "--owner", "ana"], environment)
        for text in ("Ana drinks oat milk.", "安娜每週三晚上學書法。", "อานาชอบทำงานตอนเช้า"):
            _seconds([*place, "remember", text], environment)
        commands: Mapping[str, Sequence[str]] = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
            "lamina --version": [*lamina, "--version"],
            "lamina --help": [*lamina, "--help"],
            "lamina recall": [*place, "recall", "which milk should I buy?"],
            "lamina hear": [*place, "hear", "I walked along the river today."],
            "lamina context": [*place, "context", "plan breakfast"],
        }
        servers = {
            "a server of the MCP SDK": [sys.executable, "-c", _OF_THE_SDK],
            "lamina mcp, first answer": [*place, "mcp"],
        }
        found = {
            name: min(_seconds(words, environment) for _ in range(runs)) for name, words in commands.items()
        }
        return found | {
            name: min(_first_answer(words, environment) for _ in range(runs))
            for name, words in servers.items()
        }


_OF_THE_SDK = """
from mcp.server import MCPServer
server = MCPServer("least")
@server.tool()
def add(a: int, b: int) -> int: return a + b
server.run("stdio")
"""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def _first_answer(words: Sequence[str], environment: Mapping[str, str]) -> float:
    """What a server over stdio has taken when it has said hello."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, env=dict(environment), **pipes) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(json.dumps(_HELLO).encode() + b"\n")
        server.stdin.flush()
        assert b"serverInfo" in server.stdout.readline()
        return sum(_times(server.pid))


def _times(process: int) -> tuple[float, float]:
    """The processor time of a running process, its own and the system's for it."""
    stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    tick = os.sysconf("SC_CLK_TCK")
    return int(stat[11]) / tick, int(stat[12]) / tick


def _seconds(words: Sequence[str], environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, env=dict(environment), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
