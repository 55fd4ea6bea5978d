"""How much processor time a command takes from nothing, beside what Python and numpy take by themselves.

`python -m bench.start [--runs N]`: the least of N runs each, in one table. Bytecode is written and used, as
on any machine where Lamina was used before.
"""

from __future__ import annotations

import argparse
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
        return {
            name: min(_seconds(words, environment) for _ in range(runs)) for name, words in commands.items()
        }


def _seconds(words: Sequence[str], environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, env=dict(environment), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
