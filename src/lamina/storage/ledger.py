"""What keeps the seal over the whole story in step with the rows, inside the transaction that changes them.

Each lane (a person with their sessions, a project, the system, the store itself) has one short row: how many
rows each sealed table has of it, and the sum of what the key makes of each of them. Whoever changes, deletes,
inserts, moves or puts back a row without the key leaves a sum that no longer fits, however the store is used
afterwards: what goes is taken off the sum as it is found, not as it should have been (docs/decisions/0024).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Protocol

from lamina.model import canonical
from lamina.records import dataclass
from lamina.storage.rows import selected

Row = tuple[Any, ...]

#: The sealed tables, in the order of their sums; a new one comes at the end. `lane` is the sum of all lanes.
TABLES = (
    "memory",
    "history",
    "audit",
    "relation",
    "shelf",
    "phase",
    "event",
    "refusal",
    "refusal_mark",
    "token",
    "lane",
)
#: The lane of what belongs to nobody: tokens, policy, and what the audit says of itself.
STORE = "store"
#: How many chains, beside that of the store itself, a store has that many write to at the same time.
CHAINS = 512
_TOPS = "lanes:"  #: how the rows begin that hold the sum of the lanes of one chain
_SPACES = ("user", "session", "project", "system")
_WIDTH, _COUNT = 32, 8  #: bytes of a sum and of a count
_SIZE = _COUNT + _WIDTH
_MODULUS = 1 << 8 * _WIDTH
_KEPT = 1000  #: lanes of which a process remembers what their rows say
LAST = "\U0010ffff"  #: behind every text

#: By table, the place in its row of what its lane follows from.
_LANE_AT = {"memory": 0, "history": 0, "relation": 0, "shelf": 1, "event": 0}
#: Columns of numbers that Python may know as whole ones.
_FRACTIONS = {"memory": "confidence", "relation": "strength"}


class Sealing(Protocol):
    """What only whoever has the key can do."""

    def element(self, text: str) -> tuple[int, str]:
        """What the key makes of a row: a number to add to a sum, and a seal to keep beside it."""
        ...

    def shut(self, name: str, content: bytes) -> bytes:
        """Content that only `opened` can read; the same content and name give the same."""
        ...

    def opened(self, name: str, body: bytes) -> bytes | None:
        """What was shut under a name; None where it was altered."""
        ...


class Rows(Protocol):
    """As much of a transaction as is needed here."""

    tenant: str
    kept: dict[str, Any]

    def all(self, name: str, /, **values: Any) -> list[Row]: ...

    def many(self, name: str, /, rows: Sequence[Mapping[str, Any]]) -> None: ...


@lru_cache(maxsize=2048)  # each row of a memory asks
def lane_of(name: str) -> str:
    """Whose lane a shelf, a memory or the subject of an act belongs to, by its name."""
    space, _, rest = name.partition(":")
    if not rest or space not in _SPACES:
        return STORE
    owner = rest.partition(":")[0]
    return f"user:{owner.partition(',')[0]}" if space in ("user", "session") else f"{space}:{owner}"


def lanes_of(*names: str | None) -> list[str]:
    """The lanes of shelves and memories, each once."""
    return sorted({lane_of(one) for one in names if one})


def top_of(chain: int) -> str:
    """The row that holds the sum of the lanes of a chain."""
    return f"{_TOPS}{chain}" if chain else STORE


def is_top(name: str) -> bool:
    """Whether a row holds the sum of others and belongs to nobody itself."""
    return name == STORE or name.startswith(_TOPS)


@dataclass(frozen=True, slots=True)
class LaneOrder:
    """Who has to wait for whom: the chains of a store, and those that a transaction is alone on."""

    chains: int = 0  #: beside the store's own; 0 where everything is in that one
    held: frozenset[int] | None = None  #: None for all

    def chain(self, lane: str) -> int:
        """The chain that a lane is in; a store has few of these and any number of those."""
        return 1 + zlib.crc32(lane.encode()) % self.chains if self.chains and lane != STORE else 0


class OtherLane(Exception):
    """A change turned out to touch a lane that it did not say it would."""


class Sums:
    """Of one lane, by table: how many rows, and the sum of what the key makes of them."""

    def __init__(self, content: bytes = b"") -> None:
        self._content = content.ljust(_SIZE * len(TABLES), b"\0")
        self._changed: dict[int, tuple[int, int]] = {}  #: by table, count and total where they are not that

    def add(self, table: str, element: int, sign: int = 1) -> None:
        count, total = self.of(table)
        self._changed[_AT[table]] = count + sign, (total + sign * element) % _MODULUS

    def packed(self) -> bytes:
        content = bytearray(self._content)
        for at, (count, total) in self._changed.items():
            packed = count.to_bytes(_COUNT, "big", signed=True) + total.to_bytes(_WIDTH, "big")
            content[at * _SIZE : (at + 1) * _SIZE] = packed
        return bytes(content)

    def of(self, table: str) -> tuple[int, int]:
        """How many rows, and their sum."""
        at = _AT[table]
        if (known := self._changed.get(at)) is not None:
            return known
        part = self._content[at * _SIZE : (at + 1) * _SIZE]
        return int.from_bytes(part[:_COUNT], "big", signed=True), int.from_bytes(part[_COUNT:], "big")


_AT = {table: at for at, table in enumerate(TABLES)}


@cache
def sealed_columns(sql: str) -> tuple[str, ...]:
    """The columns that a query of sealed rows gives; the seal itself is none of them."""
    return tuple(name for name in selected(sql) if name not in ("seal", "linked"))


def lane_of_row(table: str, row: Row) -> str | None:
    """Whose lane a row belongs to; None for one that is under no seal, such as a shelf of documents."""
    if table in ("token", "lane"):
        return STORE
    if table in ("refusal", "refusal_mark"):
        return f"user:{row[0]}"
    name = row[_LANE_AT[table]]
    if table == "shelf" and str(name).partition(":")[0] not in _SPACES:
        return None
    return lane_of(str(name))


class Ledger:
    """The sums of the lanes that one transaction touches."""

    def __init__(
        self, transaction: Rows, queries: Mapping[str, str], sealing: Sealing | None, order: LaneOrder
    ) -> None:
        self._tx = transaction
        self.order = order
        self._queries = queries
        self._sealing = sealing
        #: What the rows of lanes say that were last written, and what the key makes of them.
        self._kept: dict[str, tuple[bytes, bytes, int]] = transaction.kept.setdefault("lanes", {})
        self._bodies: dict[str, bytes | None] = {}  #: as they were when they were first looked at
        self._sums: dict[str, Sums] = {}
        self.waiting: dict[str, Callable[[], None]] = {}  #: what is written at the end of a piece of work

    def row(self, table: str, values: Mapping[str, Any]) -> Row:
        """A row in the order of its sealed columns; what is not given is nothing."""
        get = values.get
        return tuple([get(name) for name in sealed_columns(self._queries[f"sealed_{table}"])])

    def named(self, table: str, row: Row) -> dict[str, Any]:
        """The sealed columns of a row by their names."""
        return dict(zip(sealed_columns(self._queries[f"sealed_{table}"]), row, strict=False))

    def changed(self, table: str, row: Row, values: Mapping[str, Any]) -> Row:
        """A sealed row with some of its columns changed."""
        names = sealed_columns(self._queries[f"sealed_{table}"])
        return tuple(values.get(name, value) for name, value in zip(names, row, strict=True))

    def put(self, table: str, row: Row, lane: str | None = None, sign: int = 1) -> str:
        """A row is there from now on; its seal."""
        element, seal = self.element_of(table, row)
        self.add(table, row, element, lane, sign)
        return seal

    def take(self, table: str, rows: Sequence[Row], lane: str | None = None) -> None:
        """Rows go, as they were found."""
        for row in rows:
            self.put(table, row, lane, -1)

    def element_of(self, table: str, row: Row) -> tuple[int, str]:
        """What the key makes of a row, and the seal to keep beside it; nothing where there is no key.

        A step gets its number when it is written, and its seal before: the number is no part of what is
        sealed, but a factor of what is added.
        """
        if self._sealing is None:
            return 0, ""
        if table != "history":
            return self._sealing.element(row_text(self._tx.tenant, table, row, self._queries))
        number = row[1]
        text = row_text(self._tx.tenant, table, (row[0], None, *row[2:]), self._queries)
        element, seal = self._sealing.element(text)
        return element * (2 * number + 1 if isinstance(number, int) else 0), seal

    def add(self, table: str, row: Row, element: int, lane: str | None = None, sign: int = 1) -> None:
        """Count a row of which it is known what the key makes of it."""
        name = lane or lane_of_row(table, row)
        if name is not None and self._sealing is not None:
            self._of(name).add(table, element, sign)

    def chain(self, lane: str) -> int:
        """The chain of a lane that is written to; OtherLane where the transaction is not alone on it."""
        chain = self.order.chain(lane)
        if self.order.held is not None and chain not in self.order.held:
            raise OtherLane
        return chain

    def top(self, lane: str) -> str:
        """The row that the row of a lane is summed up in."""
        return top_of(self.order.chain(lane))

    def meet(self, lane: str, body: bytes | None, top: bytes | None) -> None:
        """The rows of a lane and of its chain, where another query read them along; it saves asking."""
        for name, value in ((lane, body), (self.top(lane), top)):
            self._bodies.setdefault(name, None if value is None else bytes(value))

    def _of(self, lane: str) -> Sums:
        if (known := self._sums.get(lane)) is not None:
            return known
        top = lane if lane.startswith(_TOPS) else top_of(self.chain(lane))
        if lane not in self._bodies or top not in self._bodies:
            found = {name: bytes(body) for name, body in self._tx.all("lane_bodies", name=lane, top=top)}
            for name in (lane, top):
                self._bodies.setdefault(name, found.get(name))
        body, written = self._bodies[lane], self._kept.get(lane)
        known = Sums(written[1]) if written and written[0] == body else opened_sums(self._sealing, lane, body)
        self._sums[lane] = known or Sums()
        return self._sums[lane]

    def begin(self) -> None:
        """Know nothing yet: what was done before in this transaction is in the store, or was undone."""
        self._bodies, self._sums, self.waiting = {}, {}, {}

    def replace(self, sums: Mapping[str, Sums]) -> None:
        """Begin anew with what was counted, in the place of all that was sealed."""
        self._sums = {STORE: Sums(), **sums}
        self._bodies = dict.fromkeys([*self._sums, *map(top_of, range(self.order.chains + 1))])

    def spread(self, lanes: Sequence[tuple[str, bytes]], order: LaneOrder) -> None:
        """From now on lanes are summed up by their chains.

        What does not fit the sum of all stays a difference in there.
        """
        self.order = order
        for name, body in lanes:
            if not is_top(name):
                element = self.element_of("lane", (name, body.hex()))[0]
                self._of(STORE).add("lane", element, -1)
                self._of(self.top(name)).add("lane", element)

    def flush(self) -> None:
        """Write what waits for the end, the sums that changed, and their sum."""
        while self.waiting:
            self.waiting.popitem()[1]()
        if self._sealing is None or not self._sums:
            return
        rows = list[dict[str, Any]]()
        for name, sums in sorted(one for one in self._sums.items() if not is_top(one[0])):
            top, before, known = self._of(self.top(name)), self._bodies[name], self._kept.get(name)
            if before is not None:
                same = known[2] if known and known[0] == before else None
                top.add("lane", same or self.element_of("lane", (name, before.hex()))[0], -1)
            top.add("lane", self._shut(name, sums, rows))
        for name, sums in sorted(one for one in self._sums.items() if is_top(one[0])):
            self._shut(name, sums, rows)
        self._tx.many("put_lane", rows)
        self._bodies |= {row["name"]: row["body"] for row in rows}
        self._sums = {}

    def _shut(self, name: str, sums: Sums, rows: list[dict[str, Any]]) -> int:
        """Put a lane's new row to those to be written; what the key makes of it."""
        content = sums.packed()
        after = b"" if self._sealing is None else self._sealing.shut(name, content)
        rows.append({"name": name, "body": after})
        if len(self._kept) > _KEPT:
            self._kept.clear()
        element = 0 if is_top(name) else self.element_of("lane", (name, after.hex()))[0]
        self._kept[name] = (after, content, element)
        return self._kept[name][2]


def row_text(tenant: str, table: str, row: Row, queries: Mapping[str, str]) -> str:
    """A row as the key sees it, the same whether it comes from a program or from either database."""
    values = list(row)
    if (name := _FRACTIONS.get(table)) is not None:
        at = sealed_columns(queries[f"sealed_{table}"]).index(name)
        values[at] = float(values[at]) if isinstance(values[at], int) else values[at]
    try:
        return canonical([table, tenant, *values])
    except (TypeError, ValueError):  # bytes, which no column of ours holds
        return canonical([table, tenant, *map(repr, values)])


def opened_sums(sealing: Sealing | None, lane: str, body: bytes | None) -> Sums | None:
    """The sums in a lane's row; None where it is missing or was altered."""
    content = None if sealing is None or body is None else sealing.opened(lane, body)
    return None if content is None else Sums(content)
