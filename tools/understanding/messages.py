"""Messages of several parts, each part marked: what a clause is worth in its message is learnt from them."""

from __future__ import annotations

import json
import lzma
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from lamina.language.hearing import Hearing, clauses_in, hear
from lamina.language.rulebook import rulebook
from lamina.language.sorts import Sort
from lamina.language.understanding import words
from tools.understanding.rows import DATA, LANGUAGES, Row, apart

#: How many messages that stand one after another in a file are kept together when data is split.
_TOGETHER = 30
#: What ends a part by itself; elsewhere a blank stands between two.
_ENDS = re.compile(r"[\s,.!?;:，。！？；：、…~～—)）”\"」』]\Z")

#: Sentences said in one breath: how many messages of them for each language of a fold, what stands between,
#: what is said beside, and the share of those in which something is told, or told or asked.
JOINED = 60
_BETWEEN = {"en": (", ", ". ", " "), "th": (" ",), "zh": ("，", " ", "。")}
_BESIDE = (Sort.PASSING, Sort.THIRD, Sort.TASK, Sort.QUESTION, Sort.CHAT)
_ASKS = (Sort.REMEMBER, Sort.SET, Sort.FORGET, Sort.CORRECT, Sort.TEMPORARY)
_TELLS, _TELLS_OR_ASKS = 0.4, 0.65


class Message(NamedTuple):
    """What somebody says at once, cut where its sort changes."""

    language: str
    writer: str
    parts: tuple[tuple[Sort, str], ...]

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.parts)


def gather(folder: Path, judges: Sequence[str], known: Sequence[Message] = ()) -> list[Message]:
    """Messages that are known, and those of `mixed.<language>.txt`: blocks with an empty line between them, a
    line for each part, its sort, a tab and its words; those too like a text that judges are left out."""
    found, told = [*known], {one.text for one in known}
    for language in LANGUAGES:
        blocks = re.split(r"\n\s*\n", (folder / f"mixed.{language}.txt").read_text("utf-8").strip())
        first = len({one.writer for one in known if one.language == language}) * _TOGETHER
        for number, block in enumerate(blocks, first):
            lines = [line.partition("\t") for line in block.split("\n")]
            parts = [
                (Sort(sort.strip()), text.replace("\\n", "\n")) for sort, _, text in lines if text.strip()
            ]
            made = Message(language, f"{language}M/{number // _TOGETHER}", tuple(_spaced(parts)))
            if len(parts) > 1 and made.text not in told:
                found.append(made)
    rows = [Row(one.language, Sort.CHAT, str(at), one.text) for at, one in enumerate(found)]
    return [found[int(row.topic)] for row in apart(rows, judges)]


def _spaced(parts: Sequence[tuple[Sort, str]]) -> Iterator[tuple[Sort, str]]:
    for at, (sort, text) in enumerate(parts):
        last = at + 1 == len(parts) or parts[at + 1][1][:1].isspace()
        yield sort, text if last or _ENDS.search(text) else f"{text} "


def write(messages: Iterable[Message]) -> None:
    """Keep them in the tree, a file for each language; the same messages give the same bytes."""
    messages = list(messages)
    for language in LANGUAGES:
        own = [[one.writer, one.parts] for one in messages if one.language == language]
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in own)
        (DATA / f"messages.{language}.jsonl.xz").write_bytes(lzma.compress(lines.encode(), preset=9))


def read() -> list[Message]:
    """The messages in the tree."""
    found = []
    for language in LANGUAGES:
        with lzma.open(DATA / f"messages.{language}.jsonl.xz", "rt", encoding="utf-8") as file:
            for writer, parts in map(json.loads, file):
                found.append(Message(language, writer, tuple((Sort(sort), text) for sort, text in parts)))
    return found


def as_message(row: Row) -> Message:
    """A sentence as a message of one part."""
    return Message(row.language, row.writer, ((row.sort, row.text),))


def in_one_breath(rows: Sequence[Row], seed: int) -> Iterator[Message]:
    """Sentences by several writers, said one after another. Who writes messages writes hard ones; what is
    clear by itself stays what it is, whatever stands beside it."""
    chance = random.Random(seed)
    for language, between in _BETWEEN.items():
        own = [row for row in rows if row.language == language]
        own = [row for row in own if not is_part(row) and not has_clauses(hear(row.text, rulebook()))]
        beside = [row for row in own if row.sort in _BESIDE]
        told = [row for row in own if row.sort is Sort.LASTING]
        asks = [row for row in own if row.sort in _ASKS]
        for _ in range(JOINED):
            said = chance.sample(beside, chance.choice((1, 2)))
            kind = chance.random()
            said.append(chance.choice(told if kind < _TELLS else asks if kind < _TELLS_OR_ASKS else beside))
            chance.shuffle(said)
            gap = chance.choice(between)
            texts = [row.text.strip().rstrip(".。!！") for row in said]
            ends = [gap] * (len(said) - 1) + [""]
            parts = zip((row.sort for row in said), map(str.__add__, texts, ends), strict=True)
            yield Message(language, f"{language}J", tuple(parts))


def is_part(row: Row) -> bool:
    """Whether a row is a part of a message."""
    return row.writer[2:4] == "M/"


def has_clauses(hearing: Hearing) -> bool:
    """Whether what is said has several clauses."""
    return sum(len(clauses_in(hearing, one)) for one in hearing.sentences) > 1


def rows_of(message: Message) -> Iterator[Row]:
    """The parts as sentences of their sort, and the clauses of those that have several."""
    for sort, text in message.parts:
        yield Row(message.language, sort, "", " ".join(text.split()), message.writer)
    hearing = hear(message.text, rulebook())
    for (low, high), sort in sorts_in(hearing, message):
        said = words(hearing, low, high)
        if not any(said in text for _, text in message.parts if len(said) * 1.3 >= len(text)):
            yield Row(message.language, sort, "", said, message.writer)


def sorts_in(hearing: Hearing, message: Message) -> Iterator[tuple[tuple[int, int], Sort]]:
    """The clauses of a message, each with the sort of the part that has most of it."""
    ends = list(accumulate(len(text) for _, text in message.parts))
    starts = [0, *ends[:-1]]
    for sentence in hearing.sentences:
        for low, high in clauses_in(hearing, sentence):
            start, end = hearing.span(low, high)
            shared = [min(end, last) - max(start, first) for first, last in zip(starts, ends, strict=True)]
            yield (low, high), message.parts[shared.index(max(shared))][0]
