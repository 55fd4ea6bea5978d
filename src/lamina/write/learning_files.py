"""The written form of what is learnt: a markdown file for each, made from its memory and never its home.

A file that somebody edited is never written over, and what they wrote is taken over by `take_in`.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from lamina.errors import Conflict, LaminaError
from lamina.model import State
from lamina.storage.database import Database
from lamina.storage.memories import Memories
from lamina.storage.small_tables import Operation, Operations
from lamina.text.learning_page import rendered, slug_of, untouched
from lamina.workspace.files import read_file, remove_file, replace_file, stamp
from lamina.write.unit_of_work import LEARNING, LEARNINGS


def free_name(root: Path, title: str, day: str) -> str:
    """A name that no file has: -2, -3 … where the title was learnt before on the same day."""
    stem, number = f"{LEARNINGS}{day}_{slug_of(title)}", 1
    while stamp(root, name := f"{stem}.md" if number == 1 else f"{stem}-{number}.md") is not None:
        number += 1
    return name


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
        if before is not None and not untouched(before.decode("utf-8", "replace")):
            return  # a person's words stay; `take_in` makes them the memory's
        if memory is None or memory.state is not State.ACTIVE or memory.file != operation.target:
            if before is not None:
                remove_file(self._root, operation.target, before)
        elif (data := rendered(memory)) != before:
            with suppress(Conflict):
                replace_file(self._root, operation.target, data, before)
