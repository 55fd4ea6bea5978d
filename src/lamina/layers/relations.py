"""Which memories are about the same thing: said by somebody, or found when they were written (IS-2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from lamina.errors import Denied, InvalidInput, NotFound
from lamina.language.secrets.privacy import check_name
from lamina.model import RELATED, HistoryOp, Memory, Query, State, Trust, canonical, plain
from lamina.read.recall import allowed_query
from lamina.records import dataclass
from lamina.storage.database import Row, Transaction
from lamina.storage.memories import Edges as Edges
from lamina.storage.memories import Memories, moment
from lamina.text.normalise import well_formed
from lamina.write.commit import readable
from lamina.write.details import fraction, whole_number
from lamina.write.store import Caller
from lamina.write.unit_of_work import UnitOfWork

Work = Callable[[UnitOfWork, Sequence[Memory]], None]

_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
#: Of the edges at one memory, so many of the strongest are looked at.
_EDGES = 64
#: How many memories one look at the neighbourhood of another comes to at most.
_MOST = 500
_PAGE = 500
FORMATS = ("json", "dot")
_LABEL = 60  #: characters of a memory's words that a picture shows


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """An edge: two memories belong together, as somebody said or as was found when one was written."""

    from_id: str
    to_id: str
    type: str
    strength: float  #: 0 to 1
    explicit: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A memory in a graph."""

    id: str
    text: str
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Memories and the edges between them, each in the order of its ids."""

    nodes: tuple[Node, ...]
    edges: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations of a caller's memories; an edge exists for whoever may read both of its ends."""

    caller: Caller

    def link(self, from_id: str, to_id: str, type: str = RELATED, strength: float = 1.0) -> Relation:
        """Say that two memories belong together; said again, it is as said last."""
        edge = Relation(
            from_id=from_id,
            to_id=to_id,
            type=checked_type(type),
            strength=fraction(strength, "strength"),
            explicit=True,
            created_at=self.caller.store.now(),
        )
        if from_id == to_id:
            raise InvalidInput("A memory is not linked to itself.", code="relation_invalid")

        def work(unit: UnitOfWork, ends: Sequence[Memory]) -> None:
            edges = Edges(unit.transaction)
            edges.put(from_id, to_id, edge.type, edge.strength, edge.created_at)
            for shelf in {one.shelf for one in ends}:
                edges.note_linked(shelf)

        self._change(edge, "linked", work)
        return edge

    def unlink(self, from_id: str, to_id: str, type: str = RELATED) -> Relation:
        """Take an edge away, said or found, whichever way round it is; NotFound where there is none."""
        edge = Relation(
            from_id=from_id,
            to_id=to_id,
            type=checked_type(type),
            strength=0.0,
            explicit=True,
            created_at=self.caller.store.now(),
        )

        def work(unit: UnitOfWork, _: Sequence[Memory]) -> None:
            if not Edges(unit.transaction).drop(from_id, to_id, edge.type):
                raise NotFound("These two are not linked so.", hint="`lamina relations ID` shows its edges.")

        self._change(edge, "unlinked", work)
        return edge

    def _change(self, edge: Relation, code: str, work: Work) -> None:
        caller = self.caller
        for one in (edge.from_id, edge.to_id):
            well_formed(one, "memory id", 4000)
        caller.store.sync()

        def whole(unit: UnitOfWork) -> Denied | None:
            ends = [readable(unit, one, State.ACTIVE) for one in (edge.from_id, edge.to_id)]
            if objection := _objection(unit, ends[0]):
                unit.record_refusal(ends[0].shelf, objection.code, edge.type)
                return objection
            work(unit, ends)
            decision = {"code": code, "to": edge.to_id, "type": edge.type, "strength": edge.strength}
            unit.record(HistoryOp.LINK, ends[0], ends[0].text, decision)
            return None

        if denied := caller.store.act(caller.scope, whole):
            raise denied

    def of(self, memory_id: str, depth: int = 1) -> Graph:
        """What a memory is linked to, and what that is, as many steps away as `depth` says."""
        steps = whole_number(depth, "depth", 1, 5)
        well_formed(memory_id, "memory id", 4000)
        store = self.caller.store
        store.sync()

        def work(tx: Transaction) -> Graph:
            first = readable(
                UnitOfWork(tx, store.ruleset, self.caller.scope, store.now()), memory_id, State.ACTIVE
            )
            known, edges, border = {first.id: first}, dict[tuple[str, str, str], Relation](), [first.id]
            for _ in range(steps):
                found = [_relation(row[1:]) for row in Edges(tx).touching(border, _EDGES)]
                fresh = self._seen(tx, {end for one in found for end in _ends(one)} - known.keys())
                border = sorted(fresh)[: _MOST - len(known)]
                known |= {one: fresh[one] for one in border}
                edges |= {(*_ends(one), one.type): one for one in found if known.keys() >= set(_ends(one))}
            return _graph(known, edges.values())

        return store.database.read(work)

    def graph(self) -> Graph:
        """Every edge between memories that the caller may read, with both ends."""
        store, names = self.caller.store, self.caller.scope.shelves()
        store.sync()

        def work(tx: Transaction) -> Graph:
            rows = [Edges(tx).between(f"{name}:", f"{name};") for name in names]
            edges = [_relation(row) for some in rows for row in some]
            known = self._seen(tx, {end for one in edges for end in _ends(one)})
            edges = [one for one in edges if known.keys() >= set(_ends(one))]
            ends = {end for one in edges for end in _ends(one)}
            return _graph({one: known[one] for one in ends}, edges)

        return store.database.read(work)

    def _seen(self, transaction: Transaction, ids: Iterable[str]) -> dict[str, Memory]:
        """Those that the caller may read, and that stand."""
        query, now = (
            allowed_query(self.caller, Query(scope=self.caller.scope, text="")),
            self.caller.store.now(),
        )
        memories, found, wanted = Memories(transaction), dict[str, Memory](), sorted(ids)
        for start in range(0, len(wanted), _PAGE):
            found |= memories.load(memories.readable_ids(query, wanted[start : start + _PAGE], now))
        return found


def checked_type(name: str) -> str:
    """The name of a sort of edge, or InvalidInput."""
    if not isinstance(name, str) or not _TYPE.fullmatch(name):
        raise InvalidInput(
            "This is not a type of a relation.",
            code="relation_invalid",
            hint="Use up to 64 letters, digits, _ and -, such as caused_by.",
        )
    return check_name(name)


def _objection(unit: UnitOfWork, memory: Memory) -> Denied | None:
    if unit.scope.trust is Trust.UNTRUSTED:
        return Denied("A tool or a document links nothing.", code="trust_deny_change")
    if not unit.ruleset.policy.may_write(unit.scope.role, memory.space):
        return Denied(
            f"This caller does not write to the {memory.space} space.", code="write_space_disallowed"
        )
    return None


def _relation(row: Row) -> Relation:
    names = ("from_id", "to_id", "type", "strength")
    told = dict(zip(names, row, strict=False))
    return Relation(**told, explicit=bool(row[4]), created_at=moment(row[5]))


def _ends(edge: Relation) -> tuple[str, str]:
    return edge.from_id, edge.to_id


def _graph(known: dict[str, Memory], edges: Iterable[Relation]) -> Graph:
    nodes = [
        Node(id=one.id, text=f"{one.key}: {one.text}" if one.key else one.text, category=one.topic)
        for _, one in sorted(known.items())
    ]
    return Graph(nodes=tuple(nodes), edges=tuple(sorted(edges, key=lambda one: (*_ends(one), one.type))))


def exported(graph: Graph, form: str) -> str:
    """The graph as JSON, or as DOT for Graphviz; the same bytes for the same graph."""
    if form not in FORMATS:
        hint = f"Choose one of: {', '.join(FORMATS)}."
        raise InvalidInput(f"{form!r:.40} is not a format.", code="format_invalid", hint=hint)
    return f"{canonical(plain(graph))}\n" if form == "json" else _dot(graph)


def _dot(graph: Graph) -> str:
    lines = ["digraph memories {", "  node [shape=box];"]
    lines += [f"  {_quoted(one.id)} [label={_quoted(_short(one.text))}];" for one in graph.nodes]
    for edge in graph.edges:
        style = "solid" if edge.explicit else "dashed"
        label = _quoted(f"{edge.type} {edge.strength:.2f}")
        ends = f"{_quoted(edge.from_id)} -> {_quoted(edge.to_id)}"
        lines.append(f"  {ends} [label={label}, style={style}];")
    return "\n".join([*lines, "}", ""])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"


def _quoted(text: str) -> str:
    """A string of DOT: Graphviz takes what follows a backslash for a command, so that is doubled first."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
