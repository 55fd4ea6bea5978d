"""How well lasting facts are found in long messages: `python -m bench.facts`.

Reads tests/data/long_turns.jsonl and prints precision and recall by language: of the messages that the rules
were made with, and of those written `after` them in words they were not made for. The rules were never
changed for the latter; they found 23 % of an earlier such set, which is now among the former.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lamina.language.durable import durable

FILE = Path(__file__).parents[1] / "tests" / "data" / "long_turns.jsonl"
CANDIDATES = 5


@dataclass(frozen=True)
class LongTurn:
    """A message, and a piece of each of its lasting statements."""

    language: str
    text: str
    facts: tuple[str, ...]
    after: bool  #: written after the rules were, and never used to change them


def turns() -> list[LongTurn]:
    lines = map(json.loads, FILE.read_text("utf-8").splitlines())
    return [
        LongTurn(one["language"], one["text"], tuple(one["facts"]), one.get("after", False)) for one in lines
    ]


def figures(chosen: Iterable[LongTurn]) -> tuple[float, float, int]:
    """Precision, recall and how many facts there are."""
    hits = found = wanted = 0
    for turn in chosen:
        texts = [one.text for one in durable(turn.text, CANDIDATES)]
        hits += sum(any(fact in text for text in texts) for fact in turn.facts)
        found += len(texts)
        wanted += len(turn.facts)
    return hits / found if found else 1.0, hits / wanted if wanted else 1.0, wanted


def main() -> None:
    for language in ("en", "th", "zh"):
        for after in (False, True):
            some = [one for one in turns() if one.language == language and one.after is after]
            precision, recall, count = figures(some)
            part = "held out" if after else "tuned on"
            print(f"{language} {part}  precision {precision:.3f}  recall {recall:.3f}  ({count} facts)")


if __name__ == "__main__":
    main()
