"""The sentences a model is trained on: read, checked, and kept apart from lists that judge it."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lamina.language.sorts import Sort
from lamina.language.view import view_of

DATA = Path(__file__).parent / "data"
#: Two texts that share more than this much of their stretches of four characters are near-duplicates.
ALIKE = 0.6
#: The utterances that the rules are held to, and what sort the actions without one of their own are.
TABLE = Path(__file__).parents[2] / "tests" / "data" / "utterances.jsonl"
_ACTIONS = {"withhold": Sort.REJECT}
LANGUAGES = ("en", "th", "zh")
#: One in so many statements of a sort is told once more with its speaker named.
_EVERY = {Sort.LASTING: 1, Sort.PASSING: 2, Sort.CHAT: 5, Sort.CORRECT: 3, Sort.TEMPORARY: 3}
_SPEAKERS = {"th": ("ผม", "ฉัน", "หนู", "เรา", "ดิฉัน"), "zh": ("我",)}
_PRONOUN = re.compile("ผม|ฉัน|หนู|เรา|กู|ยาย|ลุง|ป้า|พี่|我|咱|俺|本人|你|您")
_HEAD = re.compile("[ก-ฮเ-ไ\u3400-\u9fff]")


class Row(NamedTuple):
    language: str
    sort: Sort
    topic: str
    text: str
    writer: str = ""  #: whose sentences are kept together when data is split


def is_held(file: str, fold: int) -> bool:
    """Whether a file is of the half that a run of the reader does not learn; none is in fold 0."""
    return fold > 0 and hashlib.sha256(file.encode()).digest()[0] % 2 == fold - 1


def gather(folders: Sequence[Path], known: Sequence[Row] = ()) -> list[Row]:
    """Rows that are known, and those of every file in some folders: JSON lines as in the tree, whose writer's
    name begins with the language, or TSV below them, whose folder's name does. A line break within a text of
    a TSV is written as two characters, a backslash and an n.
    """
    found = {view_of(row.text).text.strip(): row for row in known}
    for file in sorted(path for folder in folders for path in folder.glob("*.jsonl")):
        for sort, topic, text, writer in map(json.loads, file.read_text("utf-8").splitlines()):
            row = Row(writer[:2], Sort(sort), topic, text, writer)
            found.setdefault(view_of(row.text).text.strip(), row)
    for file in sorted(path for folder in folders for path in folder.rglob("*.tsv")):
        if file.name.startswith("decisions"):
            continue
        for line in file.read_text("utf-8").splitlines():
            fields = [field.strip() for field in line.split("\t")]
            if len(fields) < 3 or fields[0] not in set(Sort) or not fields[2]:
                continue
            writer = file.parent.name
            text = fields[2].replace("\\n", "\n")
            row = Row(writer[:2], Sort(fields[0]), fields[1], text, f"{writer}/{file.stem}")
            found.setdefault(view_of(row.text).text.strip(), row)
    for row in _table():
        found.setdefault(view_of(row.text).text.strip(), row)
    return list(found.values())


def _table() -> Iterator[Row]:
    """The rules' own utterances: each is of the sort of its first command, or asks for nothing."""
    for line in TABLE.read_text("utf-8").splitlines():
        row = json.loads(line)
        first = row["expect"][0] if row["expect"] else {}
        name = _ACTIONS.get(first.get("action", ""), first.get("action", Sort.CHAT))
        if first.get("lifetime") not in (None, "none") and name in (Sort.REMEMBER, Sort.SET):
            name = Sort.TEMPORARY
        yield Row(row["language"][:2], Sort(name), "", row["say"], f"table/{row['language']}")


def read() -> list[Row]:
    """The rows in the tree, or those of a folder that were gathered."""
    rows = []
    for language in LANGUAGES:
        with lzma.open(DATA / f"sentences.{language}.jsonl.xz", "rt", encoding="utf-8") as file:
            rows += [Row(language, Sort(sort), *rest) for sort, *rest in map(json.loads, file)]
    return rows


def with_speaker(rows: Sequence[Row]) -> Iterator[Row]:
    """Thai and Chinese statements once more, with the pronoun that their writers left out.

    Who writes lists leaves it out more often than who talks; the same share of what passes gets one, too.
    """
    left_out = [row for row in rows if row.sort in _EVERY and not _PRONOUN.search(row.text[:8])]
    for number, row in enumerate(left_out):
        spoken = _SPEAKERS.get(row.language, ())
        if spoken and number % _EVERY[row.sort] == 0 and _HEAD.match(row.text):
            yield row._replace(text=spoken[number % len(spoken)] + row.text)


def write(rows: Iterable[Row]) -> None:
    """Keep rows in the tree, a file for each language; the same rows give the same bytes."""
    rows = sorted(rows)
    for language in LANGUAGES:
        own = [list(row[1:]) for row in rows if row.language == language]
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in own)
        (DATA / f"sentences.{language}.jsonl.xz").write_bytes(lzma.compress(lines.encode(), preset=9))


def digest(rows: Iterable[Row]) -> str:
    lines = "\n".join(sorted("\t".join(row) for row in rows))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def grams(text: str) -> frozenset[str]:
    said = "".join(view_of(text).text.split())
    return frozenset(said[at : at + 4] for at in range(max(1, len(said) - 3)))


def judging(paths: Sequence[Path]) -> list[str]:
    """The texts of lists that judge: JSON lines with `text`, or TSV whose third column it is."""
    texts: list[str] = []
    for path in (file for one in paths for file in (sorted(one.rglob("*")) if one.is_dir() else [one])):
        if path.suffix == ".jsonl":
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
            texts += [
                row["text"] for row in rows if isinstance(row, dict) and isinstance(row.get("text"), str)
            ]
        elif path.suffix == ".tsv":
            lines = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
            texts += [line[2] for line in lines if len(line) > 2]
    return texts


def apart(rows: Sequence[Row], judges: Sequence[str]) -> list[Row]:
    """The rows without near-duplicates of texts that judge."""
    where: dict[str, list[int]] = {}
    sets = [grams(text) for text in judges]
    for number, one in enumerate(sets):
        for gram in one:
            where.setdefault(gram, []).append(number)
    kept = []
    for row in rows:
        own, shared = grams(row.text), dict[int, int]()
        for gram in own:
            for number in where.get(gram, ()):
                shared[number] = shared.get(number, 0) + 1
        if all(count <= ALIKE * (len(own) + len(sets[n]) - count) for n, count in shared.items()):
            kept.append(row)
    return kept
