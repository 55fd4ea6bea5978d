"""How long a connection may take, and how many there may be: who only holds them locks out nobody."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from lamina.records import dataclass

AT_A_TIME = 32  #: connections that are taken in before any of them is looked at
#: Descriptors for the store, its files and whatever else is open, and for what is taken in, looked at or not
#: closed yet: three turns of the loop.
_RESERVED = 64 + 3 * AT_A_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """What one connection may cost."""

    head_s: float = 10.0  #: until a request's line and headers are there
    unread_s: float = 30.0  #: that an answer may lie there without being read
    connections: int = 1000  #: at once; fewer where the process may not open that many files

    def most(self) -> int:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return self.connections if files < 0 else max(8, min(self.connections, files - _RESERVED))


class Connection(H11Protocol):
    """One client's connection: closed when it is too slow, or when it idles and others need the room."""

    patience = Patience()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._late: asyncio.TimerHandle | None = None
        self._since = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        super().connection_made(transport)
        if len(self.connections) > self.patience.most():
            self._make_room()
        self._due(self.patience.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._due(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_asking():
            self._due(None)
        elif self._late is None:  # of the next request the first bytes are here
            self._due(self.patience.head_s)

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[no-untyped-call,unused-ignore]
        self._due(self.patience.unread_s)

    def resume_writing(self) -> None:
        super().resume_writing()  # type: ignore[no-untyped-call,unused-ignore]
        self._due(None)

    def _is_asking(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _due(self, seconds: float | None) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late = None if seconds is None else self.loop.call_later(seconds, self._drop)

    def _drop(self) -> None:
        self.transport.abort()
        self.connections.discard(self)

    def _is_waited_for(self) -> bool:
        """Whether the next step is the client's: a request, or the rest of one."""
        return not self._is_asking() or self.cycle.more_body

    def _make_room(self) -> None:
        """Let go of who has been idle for longest, or else of whose body has not come for longest; where all
        are being answered, of the newcomer."""
        others = [one for one in self.connections if isinstance(one, Connection) and one is not self]
        waited = [one for one in others if one._is_waited_for()]
        min(waited, key=lambda one: (one._is_asking(), one._since), default=self)._drop()
