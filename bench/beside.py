"""Lamina beside what people use today, in one table: `python -m bench.beside [--few]`.

Two questions. Is what was said found again when somebody asks in other words? (`bench/data/talk/pairs.jsonl`:
210 statements of three people in English, Thai and Chinese, and questions for them that other hands wrote;
the first hit counts.) And do forgetting, trust and separation hold? (The checks of `packages/lamina-govern`.)

The others are used as their documentation shows, without a language model or a server: a notes file that is
searched for the words of the question, SQLite's FTS5 ranked by bm25, and LangGraph's InMemoryStore, which
gives items back in no order where it has no embedding model. A dash says that a system has no such thing.
"""

from __future__ import annotations

import argparse
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import lamina
from bench.talk import DATA, Row, _all_in, _rows

sys.path.insert(0, str(Path(__file__).parents[1] / "packages" / "lamina-govern" / "src"))
from lamina_govern.checks import run
from lamina_govern.systems import lamina as governed
from lamina_govern.systems import langgraph, plain

#: What a question is answered with, best first.
Search = Callable[[str], Sequence[str]]
Opened = Callable[[Sequence[str]], AbstractContextManager[Search]]
NAMES = ("Lamina", "LangGraph InMemoryStore", "SQLite FTS5", "a notes file")
LANGUAGES = {"en": "English", "th": "Thai", "zh": "Chinese"}


def main() -> None:
    """Print the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--few", action="store_true", help="one statement in five of the checks")
    few = parser.parse_args().few
    print(f"| what | {' | '.join(NAMES)} |\n|---|{'---|' * len(NAMES)}", flush=True)
    for what, cells in (*found(), *held(few)):
        print(f"| {what} | {' | '.join(cells)} |", flush=True)


def found() -> Iterator[tuple[str, list[str]]]:
    """How many questions in other words the first hit answers, by the language of the question."""
    rows = [row for row in _rows(DATA / "pairs.jsonl") if row["kind"] not in ("unanswerable", "multi")]
    marks = [_marks(rows, opened) for opened in (in_lamina, in_fts5, in_notes)]
    for language, name in LANGUAGES.items():
        asked = [row["id"] for row in rows if row["kind"] != "fact" and row["qlang"].startswith(language)]
        ours, fts5, notes = (_share(sum(mark[one] for one in asked) / len(asked)) for mark in marks)
        yield f"a question in other words is answered first, {name} ({len(asked)})", [ours, "–", fts5, notes]


def _marks(rows: Sequence[Row], opened: Opened) -> dict[str, bool]:
    marks = {}
    for person in sorted({row["person"] for row in rows}):
        theirs = [row for row in rows if row["person"] == person]
        with opened([row["fact"] for row in theirs if row["kind"] == "fact"]) as search:
            for row in theirs:
                if row["kind"] != "fact":
                    texts = search(row["question"])
                    marks[row["id"]] = bool(texts) and _all_in(texts[0], row["must"])
    return marks


@contextmanager
def in_lamina(facts: Sequence[str]) -> Iterator[Search]:
    with tempfile.TemporaryDirectory() as folder, lamina.open(folder, owner="ana") as memory:
        ana = memory.scope()
        for fact in facts:
            ana.remember(fact)
        yield lambda question: [hit.text for hit in ana.recall(question, k=5).hits]


@contextmanager
def in_fts5(facts: Sequence[str]) -> Iterator[Search]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE note USING fts5(text)")
    db.executemany("INSERT INTO note VALUES (?)", [(fact,) for fact in facts])

    def search(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        query = "SELECT text FROM note WHERE note MATCH ? ORDER BY bm25(note) LIMIT 5"
        return [text for (text,) in db.execute(query, (words,))]

    yield search
    db.close()


@contextmanager
def in_notes(facts: Sequence[str]) -> Iterator[Search]:
    def search(question: str) -> list[str]:
        words = {word.casefold() for word in re.findall(r"\w+", question)}
        return sorted(facts, key=lambda fact: -sum(word in fact.casefold() for word in words))[:5]

    yield search


def held(few: bool) -> Iterator[tuple[str, list[str]]]:
    """What the checks of lamina-govern say, as shares."""
    columns = [list(run(system.fresh, few=few)) for system in (governed, langgraph, plain)]
    for ours, graph, listed in zip(*columns, strict=True):
        shares = [_share(one.held / one.cases) if one.control else "–" for one in (ours, graph, listed)]
        yield f"{ours.check} ({ours.cases})", [shares[0], shares[1], "–", shares[2]]


def _share(part: float) -> str:
    return f"{100 * part:.0f} %"


if __name__ == "__main__":
    main()
