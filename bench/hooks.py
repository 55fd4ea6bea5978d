"""How much processor time a client's hook takes, from nothing, beside `python -c pass`.

`python -m bench.hooks [--runs N] [--memories N]`: the median and the 95th percentile of N runs each, in a
memory with that much in it. A prompt may take 0.7 s.
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
from statistics import median, quantiles

import lamina

LIMIT_S = 0.7
_TOPICS = ("the printer", "the budget", "งานแปล", "周报", "the garden", "deploys", "ร้านกาแฟ", "合同")


def main() -> None:
    """Measure and print; ends with 1 where a prompt takes more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--memories", type=int, default=500)
    asked = parser.parse_args()
    found = measured(asked.runs, asked.memories)
    print(f"{f'processor seconds, {asked.runs} runs, {asked.memories} memories':52} {'p50':>6} {'p95':>6}")
    for name, seconds in found.items():
        print(f"{name:52} {median(seconds):6.2f} {quantiles(seconds, n=20, method='inclusive')[-1]:6.2f}")
    sys.exit(median(found["hook prompt"]) > LIMIT_S)


def measured(runs: int, memories: int) -> dict[str, list[float]]:
    """The processor time of every run, by what was run."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LAMINA_HOME": f"{folder}/home"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        workspace, transcript = Path(folder) / "notes", Path(folder) / "s.jsonl"
        with lamina.open(workspace, owner="ana", environment=environment) as engine:
            said = [
                f"Note {n} about {_TOPICS[n % len(_TOPICS)]}: it was number {n * 7}" for n in range(memories)
            ]
            engine.scope().remember_many([{"text": text} for text in said])
        hook = [sys.executable, "-m", "lamina", "-w", str(workspace), "hook"]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
            **{f"hook {verb}": [*hook, verb, "--harness", "claude-code"] for verb in ("prompt", "stop")},
            "hook session-start": [*hook, "session-start", "--harness", "claude-code"],
        }
        found: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(runs + 1):
            with transcript.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(_line(number)) + "\n")
            for name, words in commands.items():
                prompt = f"What did we say about {_TOPICS[number % len(_TOPICS)]}?"
                told = {
                    "session_id": "s",
                    "transcript_path": str(transcript),
                    "cwd": folder,
                    "prompt": prompt,
                }
                found[name].append(_seconds(words, environment, json.dumps(told)))
        return {name: seconds[1:] for name, seconds in found.items()}  # the first writes bytecode


def _line(number: int) -> Mapping[str, object]:
    message = {"role": "user", "content": f"Let us walk along the river at {number % 12 + 1}."}
    return {"type": "user", "uuid": f"u{number}", "sessionId": "s", "isSidechain": False, "message": message}


def _seconds(words: Sequence[str], environment: Mapping[str, str], told: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        words, env=dict(environment), check=True, capture_output=True, input=told, encoding="utf-8"
    )
    if done.stderr:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
