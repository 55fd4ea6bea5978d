"""Cleans what the readers give and keeps each pair once."""

from __future__ import annotations

import gzip
import hashlib
import html
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from lamina.text.normalise import visible
from tools.encoder.fetch import archive, name_of
from tools.encoder.sources import Source

#: Longest text, in characters: beyond it the teacher would read only the beginning.
LONGEST = 900

_PLACEHOLDER = re.compile(
    r"%\d*\$?[-+#0-9.]*[a-zA-Z@]\b|%%|\$\{[^}]*\}|\{\{?[^{}]*\}?\}|\$[A-Za-z_]+\$?|</?[a-zA-Z][^>]*>|%[A-Z_]+%?|\\[nt]"
)
_MNEMONIC = re.compile(r"\(&?[_~&]?[A-Z]\)|[~_&](?=\w)")
_LETTERS = re.compile(r"[^\W\d_]")
_OWN = {
    "th": re.compile("[\u0e01-\u0e4e]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "en": re.compile("[A-Za-z]{2}"),
}

Row = tuple[str, str, str, str]  #: source, language, text, English


def clean(text: str) -> str:
    """Without mark-up, placeholders and keyboard marks."""
    text = html.unescape(text.replace("\\n", " "))
    text = _MNEMONIC.sub("", _PLACEHOLDER.sub(" ", text))
    return " ".join(text.split()).strip(" :.…·-–—*>|")


def build(sources: Iterable[Source], folder: Path, own: Path | None, out: Path) -> None:
    """Writes every pair of the sources, and those of the user's own file, to a table."""
    counts: Counter[tuple[str, str]] = Counter()
    seen: set[bytes] = set()
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        for row in _rows(sources, folder, own):
            key = hashlib.blake2b("\t".join(row[1:]).encode(), digest_size=12).digest()
            if key not in seen:
                seen.add(key)
                counts[row[:2]] += 1
                file.write(("\t".join(row) + "\n").encode())
    for (source, language), count in sorted(counts.items()):
        print(f"{source:24} {language:3} {count:8,}", file=sys.stderr)


def load(path: Path) -> list[Row]:
    """The rows of a table."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")) for line in file]  # type: ignore[misc]


def newest(folder: Path, sources: Iterable[Source]) -> Path:
    """The table of pairs in the work folder; built now if there is none."""
    found = sorted(folder.glob("pairs-*.tsv.gz"), key=lambda path: path.stat().st_mtime)
    if found:
        return found[-1]
    path = folder / "pairs-reading.tsv.gz"
    build(sources, folder, None, path.with_suffix(".part"))
    path.with_suffix(".part").rename(path)
    return path


def english_texts(rows: Iterable[Row]) -> list[list[str]]:
    """Each English text once, in groups by the source that brought it first."""
    groups: dict[str, dict[str, None]] = {}
    seen: set[str] = set()
    for source, _, _, english in rows:
        if english not in seen:
            seen.add(english)
            groups.setdefault(source, {})[english] = None
    return [list(group) for group in groups.values()]


def _rows(sources: Iterable[Source], folder: Path, own: Path | None) -> Iterator[Row]:
    for source in sources:
        print(f"reading {source.name}", file=sys.stderr, flush=True)
        archives = {name_of(package): archive(package, source.manager, folder) for package in source.packages}
        kept = [row for pair in source.read(archives) for row in _kept(source.name, *pair)]
        kept = list(dict.fromkeys(kept))
        if source.most is not None and len(kept) > source.most:
            kept = sorted(kept, key=_chance)[: source.most]
        yield from kept
    if own is not None:
        for number, line in enumerate(own.read_text(encoding="utf-8").splitlines(), 1):
            fields = [*line.split("\t"), ""][:3]
            if len(fields) != 3 or fields[0] not in _OWN or bool(fields[2]) == (fields[0] == "en"):
                raise SystemExit(
                    f"{own}:{number}: a line is language (en, th or zh), text and English, with tabs"
                )
            yield from _kept("own", *fields)


def _chance(row: Row) -> bytes:
    return hashlib.blake2b("\t".join(row).encode(), digest_size=8).digest()


def _kept(source: str, language: str, text: str, english: str) -> Iterator[Row]:
    text, english = clean(text)[:LONGEST], clean(english)[:LONGEST]
    if not _OWN[language].search(visible(text)):
        return
    if language == "en":
        yield source, language, text, text
    elif _OWN["en"].search(english) and not (_OWN["th"].search(english) or _OWN["zh"].search(english)):
        yield source, language, text, english
