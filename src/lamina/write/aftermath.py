"""What follows a commit: the audit's files, those of what was learnt, counts, and whoever listens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from lamina.errors import LaminaError
from lamina.storage.database import Database
from lamina.write.audit_files import Mirror
from lamina.write.learning_files import Learnings
from lamina.write.parts import Parts
from lamina.write.settled_files import take_out
from lamina.write.tally import Answered, Reads, Tally
from lamina.write.unit_of_work import UnitOfWork

_log = logging.getLogger("lamina.engine")

Event = dict[str, Any]


class Aftermath:
    """Shared by every view of a store and by all its threads."""

    def __init__(self, parts: Parts) -> None:
        root, database = parts.root, parts.database
        self._root = root
        self._database: Database = database
        self.mirror = Mirror(root, database, parts.ruleset.sealer, parts.anchor)
        self.learnings = None if root is None else Learnings(root, database)
        self.tally, self.reads, self.answers = Tally(), Reads(), Answered()
        self.listeners: list[Callable[[Event], None]] = []

    def follow(self, units: Sequence[UnitOfWork]) -> list[str]:
        """Bring the files up to date with what was committed, count it, and tell it.

        Returns the files of jobs out of which something that was forgotten was taken.
        """
        self.mirror.follow(units)
        if self.learnings is not None and any(unit.filed for unit in units):
            self.learnings.follow()
        for unit in units:
            self.tally.follow(unit)
        if self.listeners:
            self.publish([event for unit in units for _, event in unit.told])
        gone = [one for unit in units for one in unit.forgotten_turns]
        return take_out(self._root, gone) if self._root is not None and gone else []

    def publish(self, events: Sequence[Event]) -> None:
        """Tell whoever listens; a listener that raises is not called again."""
        for listener in tuple(self.listeners):
            try:
                for event in events:
                    listener(event)
            except Exception:  # noqa: BLE001 a listener's fault is not the memory's
                self.leave(listener)

    def leave(self, listener: Callable[[Event], None]) -> None:
        self.listeners[:] = [one for one in self.listeners if one is not listener]

    def close(self) -> None:
        """What waits to be counted is counted now."""
        if self._database.read_only:
            return
        try:
            self.reads.store(self._database)
            self.answers.store(self._database)
        except LaminaError as error:  # an answer is worth more than its count
            _log.warning("What was found could not be counted: %s", error.code)
        if self.tally.written:
            with suppress(LaminaError):  # they are counts; what was acknowledged is stored already
                self.tally.store(self._database)
        self.mirror.settle()
