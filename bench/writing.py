"""How many generated memories are written as they should be at once, by language.

    python -m bench.writing [FILE]

FILE has a memory a line: `{"source", "kind", "language", "text"}`. The one that comes with the tests was
written by a language model under the rules of docs/guides/writing.md, from the conversations of
tests/data/fortnight and tests/goldens, and is frozen; those from `holdout` are on invented topics, written
when the rules were done. `spoilt` are the same statements with a pronoun for their subject, of which none
may pass.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lamina.model import Kind
from lamina.policy.writing import Pass, checked

DATA = Path(__file__).parents[1] / "tests" / "data" / "written.jsonl"
#: A subject, and the pronoun that spoils it.
SPOILS = (
    ("The user", "He"),
    ("The team", "They"),
    ("the user", "him"),
    ("ผู้ใช้", "เขา"),
    ("ทีม", "พวกเรา"),
    ("用户", "他"),
    ("团队", "我们"),
    ("使用者", "她"),
    ("團隊", "我們"),
)

Written = Mapping[str, str]


def read(path: Path = DATA) -> list[Written]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def results(memories: Iterable[Written]) -> Counter[tuple[str, str]]:
    """Language and what became of it, to how many."""
    return Counter((one["language"], checked(one["text"], Kind(one["kind"])).status) for one in memories)


def first_pass(memories: Iterable[Written]) -> dict[str, float]:
    """The share by language."""
    counts, total = results(memories), Counter[str]()
    for (language, _), count in counts.items():
        total[language] += count
    return {name: counts[name, Pass.status] / total[name] for name in sorted(total)}


def spoilt(memories: Iterable[Written]) -> Iterator[Written]:
    """Statements that must not pass."""
    for one in memories:
        for subject, pronoun in SPOILS:
            if subject in one["text"] and one["kind"] != Kind.EPISODE:
                yield {**one, "text": one["text"].replace(subject, pronoun)}


def main() -> None:
    memories = read(Path(sys.argv[1])) if len(sys.argv) > 1 else read()
    counts = results(memories)
    for language, share in first_pass(memories).items():
        mine = [(count, status) for (name, status), count in sorted(counts.items()) if name == language]
        told = ", ".join(f"{count} {status}" for count, status in mine)
        print(f"{language:8} {share:6.1%} pass at first sight ({told})")
    bad = list(spoilt(memories))
    passed = sum(count for (_, status), count in results(bad).items() if status == Pass.status)
    print(f"spoilt   {passed} of {len(bad)} pass")


if __name__ == "__main__":
    main()
