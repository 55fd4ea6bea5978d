"""How many secrets the detector finds, how often it cries wolf, and how fast it is.

    python -m bench.detector [PATH ...] [--json OUT]

Recall and precision are on the corpora of `bench/secret_corpus.py` and `bench/secret_held_out.py`. A secret
counts as found when at least half of it would be redacted; a text without one counts against precision when
anything in it is found. False alarms are counted over the lines of the prose at the paths, and of the
documentation that the installed packages bring with them; every alarm there counts, also one for a made-up
password in an example. Times are processor time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import secret_corpus, secret_held_out
from bench.corpus import Corpus
from bench.secret_corpus import SEED, Sample
from lamina.language.secrets.privacy import SecretFinding, find_secrets

#: What the rules were worked on with, what was set aside for a first check, and what another hand wrote.
CORPORA: dict[str, Callable[[int], list[Sample]]] = {
    "tuning": lambda seed: secret_corpus.corpus("tuning", seed),
    "held_out": lambda seed: secret_corpus.corpus("held_out", seed),
    "second_hand": secret_held_out.corpus,
}
PROSE = (".md", ".rst", ".txt")
LONGEST_LINE = 4000


@dataclass(frozen=True, slots=True)
class Score:
    """Right and all answers about one kind of text, and what went wrong."""

    right: int
    every: int
    wrong: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """One corpus: recall over the texts with secrets, precision over all texts that were flagged."""

    kinds: dict[tuple[bool, str], Score]

    @property
    def recall(self) -> float:
        found = [score for (secret, _), score in self.kinds.items() if secret]
        return sum(score.right for score in found) / sum(score.every for score in found)

    @property
    def precision(self) -> float:
        found = sum(score.right for (secret, _), score in self.kinds.items() if secret)
        false = sum(score.every - score.right for (secret, _), score in self.kinds.items() if not secret)
        return found / (found + false)

    @property
    def wrong(self) -> list[Sample]:
        return [sample for score in self.kinds.values() for sample in score.wrong]


def is_found(sample: Sample, hits: Sequence[SecretFinding]) -> bool:
    """Whether at least half of every secret in the text would be redacted."""
    for secret in sample.secrets:
        start = sample.text.find(secret)
        covered = sum(max(0, min(hit.end, start + len(secret)) - max(hit.start, start)) for hit in hits)
        if not hits or covered * 2 < len(secret):
            return False
    return True


def measure(name: str, seed: int = SEED) -> Result:
    """The detector's score on one of the generated corpora."""
    groups: dict[tuple[bool, str], list[tuple[Sample, bool]]] = {}
    for sample in CORPORA[name](seed):
        hits = find_secrets(sample.text)
        right = is_found(sample, hits) if sample.secrets else not hits
        groups.setdefault((bool(sample.secrets), sample.kind), []).append((sample, right))
    return Result(
        {
            kind: Score(
                sum(right for _, right in answers),
                len(answers),
                tuple(sample for sample, right in answers if not right),
            )
            for kind, answers in groups.items()
        }
    )


def lines(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Every different line of the prose at the paths; what is not UTF-8 is skipped."""
    seen: set[str] = set()
    for root in paths:
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.suffix not in PROSE or not path.is_file():
                continue
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            for line in text.split("\n"):
                if line.strip() and len(line) <= LONGEST_LINE and line not in seen:
                    seen.add(line)
                    yield path, line


def alarms(paths: Iterable[Path]) -> tuple[int, list[tuple[Path, list[str]]]]:
    """How many lines there are, and in which of them something was found."""
    count = 0
    found = []
    for path, line in lines(paths):
        count += 1
        if hits := find_secrets(line):
            found.append((path, sorted({hit.rule for hit in hits})))
    return count, found


def speed() -> dict[str, float]:
    """Milliseconds for a text of 2,048 characters, and ordinary texts a second."""
    made = Corpus()
    sentences = [made.sentence() for _ in range(4000)]
    talk = [sample.text for make in CORPORA.values() for sample in make(SEED)]
    mixed = [text for pair in zip(sentences, talk, strict=False) for text in pair]
    long = [" ".join(mixed[at : at + 60])[:2048] for at in range(0, len(mixed) - 60, 7)]
    plain = ["\n".join(sentences[at : at + 40])[:2048] for at in range(0, len(sentences) - 40, 9)]
    for text in (*long[:50], *plain[:50]):
        find_secrets(text)  # patterns are compiled when first needed
    took = sorted(_milliseconds(text) for text in plain)
    dense = sorted(_milliseconds(text) for text in long)
    start = time.thread_time()
    for text in sentences:
        find_secrets(text)
    return {
        "p50_ms_2kb": statistics.median(took),
        "p99_ms_2kb": took[len(took) * 99 // 100],
        "p99_ms_2kb_half_secrets": dense[len(dense) * 99 // 100],
        "texts_per_second": len(sentences) / (time.thread_time() - start),
    }


def _milliseconds(text: str) -> float:
    took = []
    for _ in range(3):
        start = time.thread_time()
        find_secrets(text)
        took.append(time.thread_time() - start)
    return 1000 * min(took)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.detector", description=str(__doc__).partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders of prose")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args(arguments)
    figures: dict[str, object] = {}
    for name in CORPORA:
        result = measure(name)
        print(f"{name}: recall {result.recall:.4f}, precision {result.precision:.4f}")
        for (secret, kind), score in sorted(result.kinds.items(), reverse=True):
            print(f"  {'with' if secret else 'without'} secret · {kind:20} {score.right:4} of {score.every}")
        figures[name] = {"recall": result.recall, "precision": result.precision}
    places = {"packages": [Path(sysconfig.get_path("purelib"))]}
    if options.paths:
        places["paths"] = options.paths
    for name, paths in places.items():
        count, found = alarms(paths)
        rate = 1000 * len(found) / max(count, 1)
        print(f"{name}: {len(found)} alarms in {count:,} lines, {rate:.3f} per 1,000")
        for path, rules in found[:40]:
            print(f"  {path}: {', '.join(rules)}")
        figures[name] = {"lines": count, "alarms": len(found), "per_1000": rate}
    figures["speed"] = fast = speed()
    print(", ".join(f"{name} {value:,.3f}" for name, value in fast.items()))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
