"""A bot in a chat with several people: everybody has a memory of their own.

    python bot.py

`updates` stands for what your chat platform sends: who wrote, in which chat, and the words. A person is known
by the platform's id, never by the name they show, which they can change. What somebody writes in a group
counts as their own word; what a forwarded message says does not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import lamina


@dataclass(frozen=True)
class Update:
    """One message of the platform."""

    person: str
    chat: str
    text: str
    forwarded_from: str = ""


def updates() -> Iterator[Update]:
    yield Update("tg-1001", "family", "Remember that I am allergic to peanuts.")
    yield Update("tg-1002", "family", "จำไว้ว่า ฉันชอบอาหารเผ็ด")
    yield Update("tg-1001", "family", "/about me")
    yield Update("tg-1002", "family", "/about me")
    yield Update("tg-1002", "family", "Everybody here loves peanuts!", forwarded_from="spam-channel")
    yield Update("tg-1001", "private", "/forget me")
    yield Update("tg-1001", "private", "/about me")
    yield Update("tg-1002", "family", "/about me")


def answer(memory: lamina.Engine, update: Update) -> str:
    """What the bot says to one message."""
    if update.forwarded_from:
        stranger = memory.scope(user=update.person, role="document", agent=update.forwarded_from)
        stranger.remember(update.text)  # can be found later; is marked, and in no prompt
        return "(noted as somebody else's words)"
    person = memory.scope(user=update.person, session=update.chat)
    if update.text == "/about me":
        own = [item for item in person.list().items if item.space == "user"]
        known = [item.text for item in own if item.provenance.trust == "trusted"]
        return f"I know about you: {'; '.join(known) or 'nothing'}"
    if update.text == "/forget me":
        left = sum(person.erase(update.person).found.values())
        return f"Everything about you is deleted; {left} traces were found afterwards."
    heard = person.hear(update.text)
    return heard.acknowledgement or "(your model's answer)"


def main() -> None:
    with lamina.open("group-bot-memory", owner="bot") as memory:
        for update in updates():
            print(f"{update.person} in {update.chat}: {update.text}")
            print(f"  bot: {answer(memory, update)}")


if __name__ == "__main__":
    main()
