"""An agent's loop with memory and no model: what the user asks to be kept is proven before a step is done.

Run it with `python examples/agent_loop.py [FOLDER]`.
"""

import sys
import tempfile
from pathlib import Path

import lamina

MESSAGES = [
    "Remember that I am allergic to peanuts.",
    "จำไว้ว่า ฉันชอบคำตอบสั้น ๆ",
    "记住我住在清迈。",
    "What shall I cook tonight?",
    "Forget that I am allergic to peanuts.",
]


def planned(task: str, summary: str) -> str:
    """What a model would do: here it only says how much it was told."""
    known = summary.count("\n- ")
    return f"I know {known} things that may matter for: {task}"


def run(folder: Path) -> None:
    with lamina.open(folder) as memory:
        user = memory.scope(session="dinner")
        for message in MESSAGES:
            print(f"> {message}")
            with user.turn(message) as turn:
                if turn.heard.acknowledgement:
                    print(turn.heard.acknowledgement)
                if turn.may_use("web_fetch"):
                    turn.reply = planned(message, turn.summary)
                    print(turn.reply)
            if not turn.done():
                sys.exit(f"Not done: {'; '.join(turn.missing())}")
        print((folder / "PROFILE.md").read_text("utf-8").partition("## Preferences")[2].strip())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            run(Path(scratch) / "notes")
