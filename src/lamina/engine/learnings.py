"""The written form of what is learnt: a markdown file for each, made from its memory and never its home.

A file's front matter has the mark `lamina: <id> <digest>`. The id says which memory it shows, so that whoever
indexes documents leaves it out (it would be found twice); the digest says that nobody has edited it since. A
file that somebody edited is never written over, and what they wrote is taken over by `take_in`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from lamina.engine.ledger import LEARNING, LEARNINGS
from lamina.errors import Conflict, LaminaError
from lamina.model import Memory, State
from lamina.storage.book import Operation, Operations
from lamina.storage.database import Database
from lamina.storage.memories import Memories
from lamina.workspace.files import read_file, remove_file, replace_file, stamp
from lamina_text.normal import visible

if TYPE_CHECKING:
    from lamina.engine.engine import Engine

MARK = re.compile(rb"\A---\r?\n(?:.*\r?\n)*?lamina: (\S+) ([0-9a-f]{16})\r?\n(?:.*\r?\n)*?---\r?\n")
_SLUG = 50
_UNNAMABLE = re.compile(r"[^\w\s\u0e00-\u0e7f-]|_")
_BODY = re.compile(r"\A---\n.*?\n---\n\n# [^\n]*\n\n(.*?)\n\n---\n\*Added via [^\n]*\*\n\Z", re.S)


def slug_of(title: str) -> str:
    """A readable file name in any script: the first fifty characters, words joined by hyphens."""
    words = _UNNAMABLE.sub(" ", visible(title)[: 4 * _SLUG].casefold()).split()
    return "-".join(words)[:_SLUG].strip("-") or "entry"


def free_name(root: Path, title: str, day: str) -> str:
    """A name that no file has: -2, -3 … where the title was learnt before on the same day."""
    stem, number = f"{LEARNINGS}{day}_{slug_of(title)}", 1
    while stamp(root, name := f"{stem}.md" if number == 1 else f"{stem}-{number}.md") is not None:
        number += 1
    return name


def rendered(memory: Memory) -> bytes:
    """The whole file of a memory."""
    source = str(memory.meta.get("source") or "Lamina learn")
    title = memory.text.strip().partition("\n")[0][:80]
    project = f"project: {_plain(str(memory.meta['project']))}\n" if memory.meta.get("project") else ""
    head = f"title: {_plain(title)}\ntags: [{', '.join(map(_plain, memory.tags))}]\n"
    head += f"created: {memory.created_at:%Y-%m-%d}\nsource: {_plain(source)}\n{project}"
    rest = f"# {title}\n\n{memory.text}\n\n---\n*Added via {_plain(source)}*\n"
    return f"---\n{head}lamina: {memory.id} {_digest(head + rest)}\n---\n\n{rest}".encode()


def _plain(text: str) -> str:
    """On one line, and read as text by whoever reads front matter."""
    line = " ".join(text.split())
    return (
        f'"{line}"'
        if re.search(r"[:#\[\],{}&*!|>'\"%@`]", line) and '"' not in line
        else line.replace('"', "'")
    )


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def untouched(data: bytes) -> bool:
    """Whether a file is exactly as it was written."""
    found = MARK.match(data)
    if found is None:
        return False
    line = b"lamina: %s %s\n" % (found[1], found[2])
    head, _, rest = data.removeprefix(b"---\n").replace(line, b"", 1).partition(b"---\n\n")
    return _digest((head + rest).decode("utf-8", "replace")).encode() == found[2]


class Learnings:
    """Keeps the files in step with the memories, also after a crash: what is still to do is in the outbox."""

    def __init__(self, root: Path, database: Database) -> None:
        self._root = root
        self._database = database

    def follow(self) -> None:
        """Do what the outbox says. The store has the truth, so what fails here is tried again later."""
        with suppress(LaminaError, OSError):
            for operation in self._database.read(lambda tx: Operations(tx).of(LEARNING)):
                self._bring_in_line(operation)
                self._end(operation.id)

    def _end(self, number: int) -> None:
        self._database.write(lambda tx: Operations(tx).end(number))

    def _bring_in_line(self, operation: Operation) -> None:
        memory = self._database.read(lambda tx: Memories(tx).get(operation.payload["id"]))
        before = read_file(self._root, operation.target)
        if before is not None and not untouched(before):
            return  # a person's words stay; `take_in` makes them the memory's
        if memory is None or memory.state is not State.ACTIVE or memory.file != operation.target:
            if before is not None:
                remove_file(self._root, operation.target, before)
        elif (data := rendered(memory)) != before:
            with suppress(Conflict):
                replace_file(self._root, operation.target, data, before)


def take_in(engine: Engine, names: Sequence[str]) -> int:
    """Make the memories say what a person wrote into these files; how many changed."""
    count = 0
    for name in names:
        data = read_file(engine.root, name) if engine.root else None
        found = MARK.match(data or b"")
        if data is None or found is None or untouched(data):
            continue
        body = _BODY.match(data.decode("utf-8", "replace"))
        mind = engine.scope(via="file")
        if body is not None and body[1].strip():
            receipt = mind.revise(found[1].decode(), body[1].strip(), reason="edited in its file")
            count += receipt.code == "allowed"
    return count
