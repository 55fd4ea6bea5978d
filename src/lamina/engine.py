"""The engine: an open memory, and everybody's way to their own part of it."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from lamina.late import late
from lamina.lifecycle.fading import after_indexing, catch_up
from lamina.lifecycle.purge import finish_purges
from lamina.scoped import ScopedMemory
from lamina.write.parts import Parts, Who
from lamina.write.reindex import reindex
from lamina.write.store import Store

with late():
    from lamina.read import status

if TYPE_CHECKING:
    from lamina.read.status import Status


class Engine(Store):
    """An open memory. Safe to share between threads; close it, or use it in a `with` statement."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        catch_up(self)
        finish_purges(self)

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def scope(self, **who: Unpack[Who]) -> ScopedMemory:
        """The memory of one user as one caller sees it.

        The role says who speaks: the user, unless an agent is named. It decides the authority of everything
        remembered through the result, and nothing in a text can change it. Raises InvalidInput for a field
        that there is not, or that is given and empty.
        """
        return ScopedMemory(self, self.scope_of(**who))

    def status(self) -> Status:
        """Figures about the store, and lines of the workspace's files that are not used."""
        return status.status_of(self)

    def rebuild(self) -> int:
        """Rebuild everything that is derived from rows and files; returns how many memories were indexed."""
        self.sync()
        count = self.database.write(lambda tx: reindex(tx, self.ruleset.encoder))
        if self.library is not None:
            self.library.index(self.now(), full=True)
        self.indexed()
        self.mirror.catch_up(all_records=True)
        return count

    def indexed(self) -> None:
        """After documents were indexed: edited learnings are taken in, episodes past their time reduced."""
        after_indexing(self)
