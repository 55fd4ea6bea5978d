"""A chatbot with a memory, in the terminal; the model is yours to put in.

python bot.py            talk to it; an empty line ends it
python bot.py --script   play the conversation below
"""

import sys
from collections.abc import Iterator

import lamina

SCRIPT = [
    "Remember that I am allergic to peanuts.",
    "จำไว้ว่า ฉันชอบคำตอบสั้น ๆ",
    "我住在清迈。",
    "What shall I cook tonight?",
    "Forget that I am allergic to peanuts.",
]


def model(memory: str, message: str) -> str:
    """Call your language model here: `memory` belongs into the system prompt."""
    known = memory.count("\n- ")
    return f"(Your model answers here. Facts that it is told for {message!r}: {known})"


def messages() -> Iterator[str]:
    if "--script" in sys.argv:
        for message in SCRIPT:
            print(f"> {message}")
            yield message
        return
    while message := input("> "):
        yield message


def main() -> None:
    with lamina.open("chatbot-memory", owner="you") as memory:
        you = memory.scope(session="chat")
        for message in messages():
            with you.turn(message) as turn:
                if turn.heard.acknowledgement:  # a wish was carried out: say so
                    print(turn.heard.acknowledgement)
                else:
                    turn.reply = model(turn.summary, message)
                    print(turn.reply)
            if not turn.done():  # something was asked for and is not on disk
                print("Not done:", "; ".join(turn.missing()))


if __name__ == "__main__":
    main()
