"""Plays somebody who has only the README: `python -m tools.newcomer [FOLDER]`.

In a fresh home it does what the README says, in its order, and writes down every command, how long it took
and what it printed, to `docs/ten-minutes.md`. FOLDER is a clone; without one, this repository is cloned. What
needs a person (a browser) is asked for over HTTP instead.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "ten-minutes.md"
PORT = "9100"
LONGEST = 24  #: lines of an answer that are shown
HEAD = """# Ten minutes, watched

A program played somebody who has a clone and the README, nothing else: a fresh home, no settings, no memory.
This is everything it typed, how long each command took, and what it printed. `python -m tools.newcomer` plays
it again.
"""


@dataclass(frozen=True)
class Step:
    """One command with what a person thinks before it."""

    thought: str
    command: str


STEPS = (
    Step("What is this thing called on my machine?", "lamina --version"),
    Step("I try it before I read on. It says that I have to begin somewhere.", "lamina recall tea || true"),
    Step("So I do what it says.", "lamina init --owner ana"),
    Step("I tell it something.", 'lamina hear "Remember that I am allergic to peanuts."'),
    Step("In my own language.", 'lamina hear "จำไว้ว่า ฉันชอบทำงานตอนเช้า"'),
    Step("I mention something in passing.", 'lamina hear "I live in Oslo."'),
    Step("Does it find that, in other words?", 'lamina recall "what must I not eat?"'),
    Step("What does it know about me?", "lamina me"),
    Step("Why is that there?", "lamina explain user:ana:profile:1"),
    Step("Can I see it as a file?", "cat PROFILE.md"),
    Step("Will it keep a password?", 'lamina remember "the password of the router is Tr0ub4dor&3" || true'),
    Step("What does that code mean?", "lamina explain privacy_deny_sensitive"),
    Step(
        "An agent wants to set something.",
        'lamina --agent planner remember "long answers" --key response.style',
    ),
    Step("What waits for me?", "lamina review"),
    Step("No.", "lamina pending reject response.style"),
    Step("Forget the peanuts.", 'lamina hear "Forget that I am allergic to peanuts."'),
    Step(
        "Will an agent bring it back?", 'lamina --agent planner remember "Ana is allergic to peanuts" || true'
    ),
    Step("A typing mistake.", "lamina recal peanuts || true"),
    Step("Connect my client; first only look.", "lamina install claude-code --dry-run | head -12"),
    Step("Is everything as it should be?", "lamina doctor"),
    Step("And nobody has changed anything?", "lamina audit verify"),
)


def main() -> None:
    """Play, and write the page."""
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch) / "lamina"
        if not clone.exists():
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        home = Path(scratch) / "home"
        (home / "notes").mkdir(parents=True)
        PAGE.write_text("".join(played(clone, home)), "utf-8")


def played(clone: Path, home: Path) -> Iterator[str]:
    """The page, piece by piece."""
    environment = {
        "HOME": str(home),
        "PATH": f"{clone / '.venv/bin'}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
    }
    environment |= {"BROWSER": "true"}  # a browser that does nothing: the link works once
    environment |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    started = time.monotonic()
    yield HEAD
    yield "\n## Two commands\n"
    yield from _served(clone, environment)
    yield "\n## My own memory\n"
    for step in STEPS:
        begun = time.monotonic()
        done = subprocess.run(
            ["sh", "-c", step.command],
            cwd=home / "notes",
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        print(f"{time.monotonic() - begun:5.1f} s  {done.returncode}  {step.command}", flush=True)
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        yield _shown(step, done.stdout + done.stderr, time.monotonic() - begun, home, clone)
    minutes, load = (time.monotonic() - started) / 60, os.getloadavg()[0]
    yield f"\nAll of it took {minutes:.1f} minutes on {os.cpu_count()} cores with a load of {load:.0f}.\n"


def _served(clone: Path, environment: dict[str, str]) -> Iterator[str]:
    """`make run`, until Studio answers."""
    begun = time.monotonic()
    command = ["make", "run", f"PORT={PORT}"]
    with subprocess.Popen(
        command,
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
    ) as server:
        try:
            lines, link = [], ""
            assert server.stdout is not None
            for line in server.stdout:
                lines.append(line)
                if found := re.search(r"http\S+code=\S+", line):
                    link = found[0]
                    break
            assert link, "".join(lines)
            taken = time.monotonic() - begun
            print(f"{taken:5.1f} s     make run", flush=True)
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            browser.addheaders = [("Accept", "text/html")]
            browser.open(link, timeout=60)
            page = browser.open(f"http://127.0.0.1:{PORT}/", timeout=60).read().decode()
            title = re.search(r"<title>(.*?)</title>", page)
            told = [one for one in lines if not one.startswith("WARNING")]
            first = Step("The first thing in the README.", "make run")
            yield _shown(first, "".join(told), taken, Path(environment["HOME"]), clone)
            yield f"\nThe page in the browser: *{title[1] if title else 'no title'}*. Ctrl+C ends it.\n"
        finally:
            os.killpg(server.pid, 15)


def _shown(step: Step, said: str, seconds: float, home: Path, clone: Path) -> str:
    for path, name in ((str(home), "~"), (str(clone), "~/lamina")):
        said = said.replace(path, name)
    lines = re.sub(r"code=\S+", "code=…", said).rstrip().splitlines()
    if len(lines) > LONGEST:
        lines = [*lines[: LONGEST // 2], f"… ({len(lines) - LONGEST} more lines)", *lines[-LONGEST // 2 :]]
    body = "\n".join(line.rstrip() for line in lines)
    return f"\n{step.thought} ({seconds:.1f} s)\n\n```text\n$ {step.command}\n{body}\n```\n"


if __name__ == "__main__":
    main()
