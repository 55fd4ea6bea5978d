"""The engine: an open memory, and everybody's way to their own part of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import copy
from datetime import timedelta
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Unpack

from lamina.errors import Unauthenticated
from lamina.late import late
from lamina.scoped import ScopedMemory
from lamina.storage.database import place_of
from lamina.storage.memories import moment
from lamina.storage.small_tables import LOOKED_AFTER, PURGE, Operations, Properties
from lamina.write.reindex import rebuild
from lamina.write.store import Parts, Store, Who

with late():
    from lamina.lifecycle import fading, purge, tokens
    from lamina.read import status

if TYPE_CHECKING:
    from lamina.model import Token
    from lamina.read.status import StoreStatus

#: How often episodes are looked after where no job does it.
EPISODES_EVERY = timedelta(hours=6)
#: Stores of other tenants that stay open; beyond, the one unused for longest is closed.
MOST_OPEN = 64


class Engine(Store):
    """An open memory. Safe to share between threads; close it, or use it in a `with` statement."""

    def __init__(self, parts: Parts) -> None:
        self.tenants: Tenants | None = None  #: the others, for a server that serves everybody
        self.closing = ExitStack()  #: what ends with it
        super().__init__(parts)
        self._take_up()

    def _take_up(self) -> None:
        """What is due when a store is opened; what does it is loaded only where something is."""
        looked, begun = self.database.read(
            lambda tx: (Properties(tx).number(LOOKED_AFTER), bool(Operations(tx).of(PURGE)))
        )
        if not looked or abs(self.now() - moment(looked)) >= EPISODES_EVERY:  # also by a clock set back
            fading.catch_up(self)
        if begun:
            purge.finish_purges(self)

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, and those of other tenants that were opened beside it."""
        if self.tenants is not None:
            self.tenants.close()
        super().close()
        self.closing.close()

    def recognise(self, presented: str) -> tuple[Engine, Token]:
        """The token behind a presented text, and the memory of its tenant; Unauthenticated for any other.

        A store is opened for somebody who was recognised in it, and for nobody else.
        """
        tenant = tokens.tenant_named(presented, self.config.tenant)
        if tenant == self.config.tenant:
            return self, tokens.authenticate(self, presented)
        if self.tenants is None:
            raise Unauthenticated(
                "This token is not accepted.", hint="Whoever runs the server makes one: lamina token create."
            )
        token = tokens.authenticate(self.tenants.glance(tenant), presented)
        return self.tenants.engine(tenant), token

    def of(self, tenant: str) -> Engine:
        """The memory of a tenant, for whom somebody was recognised."""
        return self if self.tenants is None or tenant == self.config.tenant else self.tenants.engine(tenant)

    def scope(self, **who: Unpack[Who]) -> ScopedMemory:
        """The memory of one user as one caller sees it.

        The role says who speaks: the user, unless an agent is named. It decides the authority of everything
        remembered through the result, and nothing in a text can change it. Raises InvalidInput for a field
        that there is not, or that is given and empty.
        """
        return ScopedMemory(self, self.scope_of(**who))

    if not TYPE_CHECKING:  # who checks types is told by the checker

        def __getattr__(self, name: str) -> NoReturn:
            verb = (
                f" Ask somebody's part of it: `memory.scope().{name}(…)`."
                if hasattr(ScopedMemory, name)
                else ""
            )
            raise AttributeError(f"An open memory has no {name!r}.{verb}", name=name, obj=self)

    def not_older_than(self, revision: str) -> Engine:
        """The same memory, which reads from no replica before it has what another process wrote.

        `revision` is what that one's was, or the header `X-Lamina-Revision` of an answer.
        """
        place_of(revision)
        view = copy(self)
        view.since = revision
        return view

    def status(self) -> StoreStatus:
        """Figures about the store, and lines of the workspace's files that are not used."""
        return status.status_of(self)

    def rebuild(self) -> int:
        """Rebuild everything that is derived from rows and files; returns how many memories were indexed."""
        self.sync()
        count = rebuild(self.database, self.ruleset.encoder)
        if self.library is not None:
            self.library.index(self.now(), full=True)
        self.indexed()
        self.mirror.catch_up(all_records=True)
        return count

    def indexed(self) -> None:
        """After documents were indexed: edited learnings are taken in, episodes past their time reduced."""
        fading.after_indexing(self)


class Tenants:
    """The stores of other tenants that a server has open, each since one of its tokens first asked for it."""

    def __init__(
        self,
        glance: Callable[[str], Store],
        open_one: Callable[[str], Engine],
        names: Callable[[], list[str]],
        most: int = MOST_OPEN,
    ) -> None:
        """`glance` looks into a tenant's store without opening it; `names` says which tenants there are."""
        self.glance, self._open_one, self.names, self._most = glance, open_one, names, most
        self._engines: OrderedDict[str, Engine] = OrderedDict()  #: the one used last stands last
        self._left: list[Engine] = []  #: no longer kept, but somebody may still be answered out of them
        self._opening: dict[str, threading.Lock] = {}
        self._mutex = threading.Lock()
        self._next = ""  #: whose turn it is among those that are not open

    def engine(self, tenant: str) -> Engine:
        """A tenant's store, opened now if it is not; what is wrong with one stands in nobody else's way."""
        with self._mutex:
            turn = self._opening.setdefault(tenant, threading.Lock())
        with turn:
            if (found := self._engines.get(tenant)) is None:
                found = self._open_one(tenant)
            with self._mutex:
                self._engines[tenant] = found
                self._engines.move_to_end(tenant)
                while len(self._engines) > self._most:
                    self._left.append(self._engines.popitem(last=False)[1])
        return found

    def open_now(self) -> list[Engine]:
        """Those that are open; what was left since the last time is closed."""
        with self._mutex:
            left, self._left = self._left, []
            found = list(self._engines.values())
        for one in left:
            one.close()
        return found

    def some(self, count: int) -> Iterator[Store]:
        """A glance at so many tenants, at each in turn from one time to the next; it opens none of them."""
        for name in islice(sorted(self.names(), key=lambda one: (one <= self._next, one)), count):
            self._next = name
            yield self.glance(name)

    def close(self) -> None:
        """Close them all."""
        for one in [*self.open_now(), *self._left]:
            one.close()
        self._engines.clear()
