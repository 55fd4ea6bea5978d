"""What people say, judged by what comes of it: is it kept, is it found later, is nothing else changed?

    python -m bench.talk [--data DIR] [--list NAME] [--language en] [--agent A] [--mistakes]
    python -m bench.talk --why           where it was lost: not kept, not found, asked …
    python -m bench.talk --beside        ordinary talk beside a full memory: does it change anything in it?

The lists in `bench/data/talk` were written by hands that saw neither the rules nor the training data; `fresh`
and `aside` by hands that wrote some of the data after it. Nobody trains on them. Each row has a workspace of
its own. Session one hears what the person said before and the sentence itself, session two is asked a
question in other words.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import lamina

DATA = Path(__file__).parent / "data" / "talk"
KINDS = ("remember", "self_fact", "set", "forget", "correct", "temporary", "none")
ENTRY = re.compile(r"^\s*[-*]\s+key:", re.M)
Row = Mapping[str, Any]


def main() -> None:
    """Play the rows and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--list", dest="lists", action="append", metavar="test|odd|fresh|aside|pairs")
    parser.add_argument("--language", action="append", choices=["en", "th", "zh"])
    parser.add_argument("--agent", help="the sentences reach Lamina through this agent's connection")
    parser.add_argument("--mistakes", action="store_true", help="show every row that did not come out right")
    parser.add_argument("--beside", action="store_true", help="only ordinary talk, beside a full memory")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--why", action="store_true", help="where it was lost, by kind, with the rows")
    asked = parser.parse_args()
    languages = asked.language or ["en", "th", "zh"]
    for name in asked.lists or ["test", "odd", "pairs"]:
        rows = [row for row in _rows(asked.data / f"{name}.jsonl") if row["lang"] in languages]
        rows = [row for row in rows if not asked.kind or row["label"] in asked.kind]
        if asked.beside:
            _print_beside(name, rows, languages)
            continue
        if asked.why and name != "pairs":
            _print_losses(rows, [_came_of(row, asked.agent) for row in rows])
            continue
        marks = judged(name, rows, asked.agent)
        _print(name, [row for row in rows if row["id"] in marks], marks, languages)
        if asked.mistakes:
            wrong = [row for row in rows if row["id"] in marks and not marks[row["id"]]]
            print(*(f"  {row['id']} {row.get('text') or row['question']}" for row in wrong), sep="\n")


def judged(name: str, rows: Sequence[Row], agent: str | None = None) -> dict[str, float]:
    """What each row came to, from 0 to 1, by its id."""
    return _found(rows) if name == "pairs" else {row["id"]: _came_of(row, agent).mark for row in rows}


def shares(name: str) -> dict[str, float]:
    """The share of each kind of a list that came out right, in percent."""
    rows = _rows(DATA / f"{name}.jsonl")
    marks = judged(name, rows)
    kinds: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row["id"] in marks:
            kinds[row.get("label") or row["kind"]].append(marks[row["id"]])
    return {kind: 100 * sum(each) / len(each) for kind, each in kinds.items()}


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _print(name: str, rows: Sequence[Row], marks: Mapping[str, float], languages: Sequence[str]) -> None:
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        kind = row.get("label") or row["kind"]
        for column in (row["lang"], "all"):
            cells[kind, column].append(marks[row["id"]])
            cells["all" if kind != "none" else "none", column] += [marks[row["id"]]] * (kind != "none")
    print(f"\n{name:14}" + "".join(f"{column:>8}" for column in [*languages, "all"]) + f"{'rows':>7}")
    for kind in dict.fromkeys([row.get("label") or row["kind"] for row in rows] + ["all"]):
        shares = [cells[kind, column] for column in [*languages, "all"]]
        told = "".join(f"{100 * sum(cell) / len(cell):8.1f}" if cell else f"{'-':>8}" for cell in shares)
        print(f"{kind:14}{told}{len(shares[-1]):7}")


# What is said.


def _came_of(row: Row, agent: str | None) -> _Seen:
    with (
        tempfile.TemporaryDirectory(prefix="talk-") as folder,
        lamina.open(folder, owner="ana") as memory,
    ):
        owner = memory.scope(session="one")
        owner.start_session("one")
        speaker = owner if agent is None else memory.scope(agent=agent, session="one")
        for said in row["before"]:
            speaker.hear(said)
        files = [Path(folder) / "PROFILE.md", Path(folder) / "SESSION.md"]
        before = [_read(path) for path in files]
        kept = _says(owner, row["before"], before[0], row["gone"]) if row["before"] else True
        said = speaker.hear(row["text"])
        later = memory.scope(session="two")
        hits = [hit.text for hit in later.recall(row["question"]).hits] if row["question"] else []
        after = [_read(path) for path in files]
        new = [line for text in after for line in _entries(text)]
        new = [line for line in new if line not in [each for text in before for each in _entries(text)]]
        waiting = [f"{one.key} {one.text}" for one in owner.pending()]
        asked = any(one.code == "several_meant" for one in said.receipts)
        known = [hit.text for hit in later.recall(row["text"]).hits]
        return _Seen(row, hits, _entries(after[0]), new, waiting, kept, before == after, (asked, known))


class _Seen:
    """What came of one row."""

    def __init__(self, row: Row, *seen: Any) -> None:
        self.row = row
        (
            self.hits,
            self.profile,
            self.new,
            self.waiting,
            self.kept,
            self.unchanged,
            (self.asked, self.known),
        ) = seen
        self.mark = JUDGES[row["label"]](self)

    def fits(self, text: str) -> bool:
        options = self.row["any_of"]
        return all(_has(text, one) for one in self.row["must"]) and (
            not options or any(_has(text, one) for one in options)
        )

    def names_gone(self, text: str) -> bool:
        return any(_has(text, one) for one in self.row["gone"])


def _kept(seen: _Seen) -> float:
    if any(map(seen.fits, seen.hits)):
        return 1.0
    return 0.5 if seen.row["label"] == "self_fact" and any(map(seen.fits, seen.waiting)) else 0.0


def _set(seen: _Seen) -> float:
    return float(any(_has(line, one) for line in seen.new for one in seen.row["any_of"]))


def _temporary(seen: _Seen) -> float:
    ends = [line for line in seen.new if not re.search(r"\|\s*ttl:\s*(none)?\s*(\||$)", line)]
    return float(any(_has(line, one) for line in ends for one in seen.row["any_of"]))


def _forgotten(seen: _Seen) -> float:
    """Only where it had been kept: what was never there cannot be forgotten."""
    return float(seen.kept and not any(map(seen.names_gone, [*seen.hits, *seen.profile])))


def _corrected(seen: _Seen) -> float:
    stale = [one for one in [*seen.hits[:3], *seen.profile] if seen.names_gone(one) and not seen.fits(one)]
    return float(bool(seen.hits) and seen.fits(seen.hits[0]) and not stale)


def _left_alone(seen: _Seen) -> float:
    return float(seen.unchanged and not seen.waiting and not any(map(seen.names_gone, seen.hits)))


JUDGES: Mapping[str, Callable[[_Seen], float]] = {
    "remember": _kept,
    "self_fact": _kept,
    "set": _set,
    "forget": _forgotten,
    "correct": _corrected,
    "temporary": _temporary,
    "none": _left_alone,
}


def _loss(seen: _Seen) -> str:
    """At which stage something was lost."""
    label, waits = seen.row["label"], any(map(seen.fits, seen.waiting))
    there = any(map(seen.fits, [*seen.known, *seen.profile]))
    if label in ("forget", "correct") and not seen.kept:
        return "what was said before was not kept"
    if seen.asked:
        return "asked back"
    if label in ("remember", "self_fact"):
        return (
            "waits"
            if waits
            else "kept, the question does not find it"
            if there
            else "another piece is kept"
            if not seen.unchanged
            else "not kept"
        )
    if label == "forget":
        return "something else changed" if not seen.unchanged else "nothing happened"
    if label == "correct":
        stale = any(seen.names_gone(one) and not seen.fits(one) for one in [*seen.hits[:3], *seen.profile])
        if there:
            return "kept beside the old one" if stale else "changed, the question does not find it first"
        return "something else changed" if not seen.unchanged else "nothing happened"
    if label in ("set", "temporary"):
        fits = any(_has(line, one) for line in seen.new for one in seen.row["any_of"])
        return "no end" if fits else "another value" if seen.new else "nothing happened"
    return "waits" if seen.waiting else "kept" if not seen.unchanged else "found later"


def _print_losses(rows: Sequence[Row], found: Sequence[_Seen]) -> None:
    cells: dict[tuple[str, str], list[_Seen]] = defaultdict(list)
    for one in found:
        if one.mark < 1:
            cells[one.row["label"], _loss(one)].append(one)
    for (label, loss), lost in sorted(
        cells.items(), key=lambda cell: (KINDS.index(cell[0][0]), -len(cell[1]))
    ):
        count = sum(row["label"] == label for row in rows)
        print(f"\n{label:10} {len(lost):3} of {count:3}  {loss}")
        for one in lost:
            before = f" [{' / '.join(one.row['before'])}]" if one.row["before"] else ""
            print(f"  {one.row['id']}{before} {one.row['text']}")
            if one.new or one.asked:
                print(f"      -> {'; '.join(one.new)}")


def _says(owner: Any, said: Iterable[str], profile: str, gone: Iterable[str]) -> bool:
    texts = [hit.text for one in said for hit in owner.recall(one).hits] + _entries(profile)
    return all(any(_has(text, one) for text in texts) for one in gone)


def _read(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def _entries(text: str) -> list[str]:
    """The lines of a file that are entries, without their dates, which hold any number."""
    plain = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    return [line.partition(" | updated_at")[0] for line in plain.splitlines() if ENTRY.match(line)]


def _has(text: str, wanted: str) -> bool:
    """Whether a text has it; a short Latin word or a number only as a whole one."""
    text, wanted = (unicodedata.normalize("NFKC", one).casefold() for one in (text, wanted))
    if len(wanted) <= 3 and wanted.isascii() and wanted.isalnum():
        edge = r"\d" if wanted.isdigit() else "[a-z0-9]"
        return re.search(rf"(?<!{edge}){re.escape(wanted)}(?!{edge})", text) is not None
    return wanted in text


# Ordinary talk beside a full memory: the list's own statements are known, then its ordinary rows are said.


def _print_beside(name: str, rows: Sequence[Row], languages: Sequence[str]) -> None:
    for language in languages:
        own = [row for row in rows if row.get("lang") == language and "label" in row]
        facts = [row["text"] for row in own if row["label"] == "self_fact"]
        facts += [said for row in own if row["label"] in ("forget", "correct") for said in row["before"]]
        changed = list(_changed(facts, [row["text"] for row in own if row["label"] == "none"]))
        print(f"{name} {language}: beside {len(facts)} memories {len(changed)} ordinary messages change one")
        print(*(f"  {text}\n    {was} -> {now or 'forgotten'}" for text, was, now in changed), sep="\n")


def _changed(facts: Sequence[str], ordinary: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """The messages that change what is known, with the memory before and after."""
    with (
        tempfile.TemporaryDirectory(prefix="talk-") as folder,
        lamina.open(folder, owner="ana") as memory,
    ):
        scope = memory.scope(session="one")
        scope.start_session("one")
        for fact in facts:
            scope.remember(fact)
        known = _known(scope)
        for text in ordinary:
            scope.hear(text)
            now = _known(scope)
            yield from ((text, was, now.get(one, "")) for one, was in known.items() if now.get(one) != was)
            known = now


def _known(scope: Any) -> dict[str, str]:
    return {one.id: one.text for one in scope.list(limit=500).items if one.space == "user"}


# What is asked in other words.


def _found(rows: Sequence[Row]) -> dict[str, float]:
    """Whether the best hit has what the question asks for; of several, whether the first five have all."""
    marks: dict[str, float] = {}
    for person in sorted({row["person"] for row in rows}):
        theirs = [row for row in rows if row["person"] == person]
        with (
            tempfile.TemporaryDirectory(prefix="talk-") as folder,
            lamina.open(folder, owner="ana") as memory,
        ):
            scope = memory.scope(session="one")
            for row in theirs:
                if row["kind"] == "fact":
                    scope.remember(row["fact"])
            marks.update(_answers(scope, [row for row in theirs if row["kind"] != "fact"]))
    return marks


def _answers(scope: Any, questions: Sequence[Row]) -> Iterator[tuple[str, float]]:
    for row in questions:
        hits = scope.recall(row["question"], k=5).hits
        texts = [hit.text for hit in hits]
        if row["kind"] == "unanswerable":
            yield row["id"], float(not hits or hits[0].uncertainty == "high")
        elif row["kind"] == "multi":
            yield row["id"], float(all(any(_all_in(text, one) for text in texts) for one in row["all_of"]))
        else:
            yield row["id"], float(bool(texts) and _all_in(texts[0], row["must"]))


def _all_in(text: str, wanted: Iterable[str]) -> bool:
    return all(_has(text, one) for one in wanted)


if __name__ == "__main__":
    main()
