"""A LangGraph store whose items are memories: a put is a write like any other and may be refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from lamina.errors import Conflict, Denied, InvalidInput, LaminaError, NotFound
from lamina.model import Deny, Draft, Memory, Outcome, Receipt, Space, quoted, unquoted
from lamina.scoped import ScopedMemory
from lamina.storage.database import Transaction
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.text.normalise import well_formed
from lamina.write.details import chosen, draft_of
from lamina.write.request import Request, Verb

_ITEM = "item:"
_MAX_PLACE = 1500  #: what fits into the key of an index
_RANKED = 1000
_TRIES = 100  #: each failed one means that somebody else's succeeded
_ORDERED = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
_EQUAL = {"$eq": eq, "$ne": ne}


class Store(BaseStore):
    """Items of one caller's space. Each is a memory: gates, history, audit, undo and erasure apply to it.

    A value is a JSON object; `{"text": "…"}` is kept as that text, to be found and read like everything else.
    What the owner of the memory changes or forgets, the store changes and forgets.
    """

    supports_ttl = False

    def __init__(self, mind: ScopedMemory, *, space: str = "user") -> None:
        self._mind = mind
        self._space = chosen(Space, space, "space")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The answers in order, from before the batch; of several puts to one key the last counts.

        When the gates object to any put, Denied names the objection and no put of the batch is carried out.
        """
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        results = self._mind.engine.database.read(lambda tx: [self._answer(tx, op) for op in asked])
        for number, op in enumerate(asked):
            if isinstance(op, SearchOp):
                results[number] = self._searched(op, results[number])
        self._put({_place(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)})
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    # Reading.

    def _answer(self, tx: Transaction, op: Op) -> Any:
        match op:
            case GetOp():
                place = _place(op.namespace, op.key)
                return next((_item(*one) for one in self._between(tx, place, f"{place}!")), None)
            case SearchOp():
                return self._under(tx, op.namespace_prefix)
            case ListNamespacesOp():
                return _listed(op, {_names(place)[0] for place, _ in self._under(tx, ())})
            case PutOp():
                return None
            case _:
                raise InvalidInput(f"{type(op).__name__} is not an operation.", code="operation_unknown")

    def _under(self, tx: Transaction, prefix: tuple[str, ...]) -> list[tuple[str, Memory]]:
        """Everything in a namespace and below it, what changed last first."""
        start = _ITEM + "/".join(map(quoted, prefix))
        found = self._between(tx, start, f"{start};" if prefix else "item;")  # `;` follows `:`
        return [one for one in found if _names(one[0])[0][: len(prefix)] == prefix]

    def _between(self, tx: Transaction, first: str, last: str) -> list[tuple[str, Memory]]:
        name = self._mind.scope.shelf(self._space)
        shelf = TextIndex(tx).shelf(name) if name else None
        if shelf is None:
            return []
        return Memories(tx).placed(shelf[0], first, last, self._mind.engine.now())

    def _searched(self, op: SearchOp, found: Sequence[tuple[str, Memory]]) -> list[SearchItem]:
        wanted = op.filter or {}
        chosen = [(p, m) for p, m in found if all(_fits(_value(m.text).get(k), v) for k, v in wanted.items())]
        scores: dict[str, float] = {}
        if op.query and chosen:
            hits = self._mind.recall(op.query, k=_RANKED, spaces=[self._space], across_phases=False).hits
            scores = {hit.id: hit.score for hit in hits}
            chosen.sort(key=lambda one: -scores.get(one[1].id, 0.0))
        page = chosen[op.offset : op.offset + op.limit]
        return [SearchItem(**_fields(place, m), score=scores.get(m.id)) for place, m in page]

    # Writing.

    def _put(self, puts: Mapping[str, PutOp]) -> None:
        drafts = {place: self._draft(place, op) for place, op in puts.items() if op.value is not None}
        for place, draft in drafts.items():
            self._refuse(draft, self._spoken(puts[place]))
        for place in puts:
            self._settle(place, drafts.get(place))

    def _draft(self, place: str, op: PutOp) -> Draft:
        engine = self._mind.engine
        text = _text(op.value or {})
        limit = engine.config.max_text_chars
        details: Any = {"space": self._space}
        draft = draft_of(self._mind.scope, text, details, engine.now(), limit, engine.ruleset.rules)
        return replace(draft, place=place)

    @staticmethod
    def _spoken(op: PutOp) -> str:
        """A put as a person would read it: JSON's escapes must not hide anything from the gates."""
        return "\n".join([*op.namespace, op.key, *_lines("", op.value)])

    def _refuse(self, draft: Draft, spoken: str) -> None:
        engine = self._mind.engine
        for view in (draft, replace(draft, text=spoken)):
            if isinstance(objection := engine.judge(view), Deny):
                request = Request(
                    verb=Verb.REMEMBER, scope=draft.scope, at=engine.now(), draft=view, decision=objection
                )
                raise _denied(engine.carry_out(request))

    def _settle(self, place: str, draft: Draft | None) -> None:
        """Make an item say this, or nothing; whoever else writes to it takes turns with us."""
        for _ in range(_TRIES):
            read = self._mind.engine.database.read
            old = next((memory for _, memory in read(lambda tx: self._between(tx, place, f"{place}!"))), None)
            try:
                if self._done(old, draft):
                    return
            except (Conflict, NotFound) as error:
                if error.code not in ("revision_mismatch", "not_found"):
                    raise
        raise Conflict("Others keep changing this item.", code="item_contended", retryable=True)

    def _done(self, old: Memory | None, draft: Draft | None) -> bool:
        engine, scope = self._mind.engine, self._mind.scope
        if draft is None:
            receipt = self._mind.forget(old.id) if old else None
        elif old is None or old.text != draft.text:
            verb, expect = (Verb.REVISE, old.revision) if old else (Verb.REMEMBER, None)
            receipt = engine.carry_out(
                Request(
                    verb=verb,
                    scope=scope,
                    at=engine.now(),
                    draft=draft,
                    decision=engine.judge(draft),
                    memory_id=old.id if old else "",
                    expect=expect,
                )
            )
        else:
            receipt = None
        if receipt is not None and receipt.decision is Outcome.DENIED:
            raise _denied(receipt)
        # Known already, where nothing was: somebody was faster, and may have said something else.
        return receipt is None or receipt.decision is not Outcome.UNCHANGED


def _denied(receipt: Receipt) -> LaminaError:
    why, *hint = receipt.warnings or ("The policy does not keep this.",)
    return Denied(why, code=receipt.code, hint=" ".join(hint))


def _place(namespace: tuple[str, ...], key: str) -> str:
    if not namespace:
        raise InvalidInput("An item needs a namespace.", code="namespace_empty")
    if not key or "\0" in key:
        raise InvalidInput("An item needs a key, without NUL.", code="item_key_invalid")
    try:
        place = f"{_ITEM}{'/'.join(map(quoted, namespace))}:{quoted(key)}"
    except UnicodeEncodeError:
        raise InvalidInput("A namespace or key is not valid Unicode.", code="item_key_invalid") from None
    if len(place) > _MAX_PLACE:
        raise InvalidInput(
            "The namespace and key are too long together.",
            code="item_key_invalid",
            hint=f"Use at most {_MAX_PLACE} letters and digits, a third of it in other scripts.",
        )
    return place


def _names(place: str) -> tuple[tuple[str, ...], str]:
    labels, _, key = place.removeprefix(_ITEM).partition(":")
    return tuple(map(unquoted, labels.split("/"))), unquoted(key)


def _text(value: Mapping[str, Any]) -> str:
    if value.keys() == {"text"} and _plain(value["text"]):
        return str(value["text"])
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "The value of an item is not JSON.",
            code="item_value_invalid",
            hint="Use a dict of texts, numbers, lists and dicts.",
        ) from error


def _plain(text: Any) -> bool:
    try:
        return _value(well_formed(text)) == {"text": text}
    except InvalidInput:
        return False


def _value(text: str) -> dict[str, Any]:
    """The value that a memory's words stand for; words of a person are a text."""
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
    return {"text": text}


def _lines(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _lines(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _lines(path, inner)
    else:
        yield f"{path}: {value}"


def _fields(place: str, memory: Memory) -> dict[str, Any]:
    namespace, key = _names(place)
    times = {"created_at": memory.created_at, "updated_at": memory.updated_at}
    return {"namespace": namespace, "key": key, "value": _value(memory.text), **times}


def _item(place: str, memory: Memory) -> Item:
    return Item(**_fields(place, memory))


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a value is what a filter asks for: equal, within it, or in the relation it names."""
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_compares(value, sign, other) for sign, other in wanted.items())
        return isinstance(value, Mapping) and all(_fits(value.get(k), v) for k, v in wanted.items())
    if isinstance(wanted, list | tuple):
        same = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same and all(map(_fits, value, wanted))
    return bool(value == wanted)


def _compares(value: Any, sign: str, other: Any) -> bool:
    if sign in _EQUAL:
        return bool(_EQUAL[sign](value, other))
    if sign not in _ORDERED:
        known = ", ".join([*_EQUAL, *_ORDERED])
        raise InvalidInput(f"{sign!r:.40} is not a relation.", code="filter_invalid", hint=f"Use {known}.")
    try:
        return bool(_ORDERED[sign](float(value), float(other)))
    except (TypeError, ValueError):
        return False  # what is no number is neither more nor less


def _listed(op: ListNamespacesOp, namespaces: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    conditions = op.match_conditions or ()
    found = {one[: op.max_depth] for one in namespaces if all(_matches(c, one) for c in conditions)}
    return sorted(found)[op.offset : op.offset + op.limit]


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    size = len(condition.path)
    part = namespace[:size] if condition.match_type == "prefix" else namespace[-size:]
    return len(part) == size and all(p in ("*", n) for p, n in zip(condition.path, part, strict=True))
