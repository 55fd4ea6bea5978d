"""Memories: everything there is as a table, narrowed, searched, and changed many at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from lamina.errors import InvalidInput, LaminaError
from lamina.model import Memory, Outcome, Receipt
from lamina.studio.visit import StudioPage, Visit, address

PATH = "/memories"
#: A facet of the list, and the field of the operation that it narrows.
FACETS = {
    "state": "states",
    "kind": "kinds",
    "layer": "layers",
    "space": "spaces",
    "category": "categories",
    "by": "by",
    "tag": "tags",
}
_FOUND = 50
_MOST_AT_ONCE = 500
_SHOWN_VALUES = 8
#: What can be done with many at once, and what takes it back.
ACTS = {"forget": "restore", "restore": "forget", "pin": "unpin", "unpin": "pin"}


def memories(visit: Visit) -> StudioPage:
    """The table, or what a search finds of it; the address holds everything that narrows it."""
    wanted = _wanted(visit)
    question = visit.query("q")
    order = visit.query("order", "newest")
    is_part = visit.query("part") == "table"
    cursor: str | None = None
    if question:
        items = _found(visit, question, wanted)
    else:
        behind = visit.query("cursor") or None
        page = visit.ask("list", limit=_FOUND, cursor=behind, order=order, count=False, **wanted)
        items, cursor = page.items, page.cursor
    total, facets = (None, None) if is_part and question else visit.counted(wanted)
    data: dict[str, Any] = {
        "items": items,
        "total": len(items) if question else total,
        "facets": facets,
        "cursor": cursor,
    }
    more = {
        "question": question,
        "order": order,
        "chosen": {name: set(visit.queries(name)) for name in FACETS},
        "since": visit.query("since"),
        "until": visit.query("until"),
        "facet_names": tuple(FACETS),
        "shown_values": _SHOWN_VALUES,
        "link": lambda **changed: _link(visit, changed),
    }
    template = "memories_table.html" if is_part else "memories.html"
    return StudioPage(template=template, title="memories", data=data, more=more)


def _wanted(visit: Visit) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in FACETS.items():
        if values := visit.queries(name):
            found[field] = values[0] if field == "by" else values
    for name in ("since", "until"):
        if value := visit.query(name):
            found[name] = value
    return found


def _found(visit: Visit, question: str, wanted: Mapping[str, Any]) -> tuple[Memory, ...]:
    """What a search finds among what is active; a list of other states is looked through for the words."""
    if wanted.get("states", ("active",)) != ("active",):
        page = visit.ask("list", limit=_MOST_AT_ONCE, count=False, **wanted)
        return tuple(one for one in page.items if question.casefold() in one.text.casefold())[:_FOUND]
    narrowing = {name: value for name, value in wanted.items() if name not in ("by", "tags", "states")}
    hits = visit.ask("recall", query=question, k=_FOUND, across_phases=True, **narrowing).hits
    loaded = visit.memory.loaded([hit.id for hit in hits])
    by, tags = wanted.get("by"), set(wanted.get("tags", ()))
    return tuple(
        one
        for one in loaded
        if by in (None, one.provenance.actor, one.provenance.agent) and (not tags or tags & set(one.tags))
    )


def _link(visit: Visit, changed: Mapping[str, Any]) -> str:
    """This table narrowed otherwise: a facet's value is put on or taken off, the rest stays."""
    pairs = [
        (name, value)
        for name, value in visit.request.query_params.multi_items()
        if name not in ("cursor", "part", "lang")
    ]
    for name, value in changed.items():
        if name in FACETS and (name, value) in pairs:
            pairs.remove((name, value))
        else:
            single = name not in FACETS or name == "by"
            pairs = [pair for pair in pairs if not (single and pair[0] == name)] + [(name, value)]
    return address(PATH, pairs)


def bulk(visit: Visit) -> Response:
    """One act on everything that was ticked; what could not be done is told, the rest undone by a click."""
    act, ids = visit.field("act"), visit.fields("id")[:_MOST_AT_ONCE]
    if act not in ACTS:
        raise InvalidInput(f"{act!r:.40} cannot be done here.", code="act_unknown")
    done, failed = list[str](), list[str]()
    for memory_id in ids:
        try:
            receipt: Receipt = visit.ask(act, memory_id=memory_id, reason=visit.words("by_hand"))
        except LaminaError as error:  # one that another window has just changed is no reason to stop
            failed.append(f"{memory_id}: {error.message}")
            continue
        if receipt.decision is Outcome.DENIED:
            failed.append(f"{memory_id}: {' '.join(receipt.warnings)}")
        else:
            done.append(memory_id)
    back = visit.field("back", PATH)
    if done:
        visit.tell(
            visit.words(f"did.{act}", count=len(done)),
            undo=f"{PATH}/bulk",
            fields=[("act", ACTS[act]), ("back", back), *(("id", one) for one in done)],
        )
    for line in failed[:5]:
        visit.tell(line, sort="problem")
    if not ids:
        visit.tell(visit.words("nothing_chosen"), sort="problem")
    return visit.back_to(back)
