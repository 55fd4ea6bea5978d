"""One memory: its words, its life, why it is there, what it is linked to; changed, forgotten, purged."""

from __future__ import annotations

from typing import Any

from starlette.responses import PlainTextResponse, Response

from lamina.doors.cli.plain_view import plain_lines
from lamina.errors import Conflict, LaminaError, NotFound
from lamina.layers.relations import Graph
from lamina.model import Outcome, Receipt, Right, State, plain
from lamina.operations.catalogue import OPERATIONS
from lamina.studio.screens.memories import ACTS
from lamina.studio.visit import StudioPage, Visit

#: The operation that tells which answers used a memory, where this version has one.
USES = "answers_with"


def path_of(memory_id: str) -> str:
    return f"/memory/{memory_id}"


def memory(visit: Visit) -> StudioPage:
    """Everything about one memory."""
    return _page(visit, visit.path("id"))


def _page(visit: Visit, memory_id: str, **more: Any) -> StudioPage:
    told = visit.ask("explain", memory_id=memory_id)
    is_active = told.memory.state is State.ACTIVE
    graph = visit.ask("relations", memory_id=memory_id, depth=1) if is_active else Graph(nodes=(), edges=())
    uses = visit.ask(USES, memory_id=memory_id) if USES in OPERATIONS else None
    data = {
        "memory": told.memory,
        "history": told.history,
        "lines": told.lines,
        "graph": graph,
        "uses": uses,
    }
    shown = {
        "editing": visit.query("edit") == "1",
        "typed": None,
        "problem": None,
        "receipt": None,
        "may_purge": visit.may(Right.CONSENT),
        "gone": not is_active,
        **more,
    }
    return StudioPage(template="memory.html", title="one_memory", data=data, more=shown)


def revise(visit: Visit) -> StudioPage | Response:
    """New words; where somebody was faster both versions are shown, and what was typed stays."""
    memory_id, text = visit.path("id"), visit.field("text")
    expect = int(visit.field("revision", "0")) if visit.field("revision", "0").isdecimal() else 0
    try:
        receipt: Receipt = visit.ask(
            "revise", memory_id=memory_id, text=text, expect=expect or None, reason=visit.field("reason")
        )
    except Conflict as error:
        if error.code != "revision_mismatch":
            raise
        now = visit.ask("get", memory_id=memory_id)
        return StudioPage(
            template="conflict.html",
            title="conflict",
            data={"memory": now},
            more={"typed": text, "expected": expect},
            status=409,
        )
    except LaminaError as error:
        return _page(visit, memory_id, editing=True, typed=text, problem=f"{error.message} {error.hint}")
    if receipt.decision is Outcome.DENIED:
        why = " ".join(receipt.warnings) or receipt.code
        return _page(visit, memory_id, editing=True, typed=text, problem=why)
    visit.tell(visit.words("did.revise"))
    return visit.back_to(path_of(receipt.ids[0] if receipt.ids else memory_id))


def act(visit: Visit) -> StudioPage | Response:
    """Forget, restore, pin, unpin: each is taken back by its opposite."""
    memory_id, what = visit.path("id"), visit.path("act")
    if what not in ACTS:
        raise NotFound("There is no such page.", code="page_unknown")
    receipt: Receipt = visit.ask(what, memory_id=memory_id, reason=visit.field("reason"))
    if receipt.decision is Outcome.DENIED:
        visit.tell(" ".join(receipt.warnings) or receipt.code, sort="problem")
    else:
        undo = f"{path_of(memory_id)}/{ACTS[what]}"
        visit.tell(visit.words(f"did.{what}", count=1), undo=undo)
    return visit.back_to(path_of(memory_id))


def promote(visit: Visit) -> Response:
    """To a wider space, if the policy has a way."""
    memory_id = visit.path("id")
    receipt: Receipt = visit.ask("promote", memory_id=memory_id, to=visit.field("to"))
    done = receipt.decision is not Outcome.DENIED
    told = visit.words("did.promote") if done else " ".join(receipt.warnings) or receipt.code
    visit.tell(told, sort="done" if done else "problem")
    return visit.back_to(path_of(receipt.ids[0] if done and receipt.ids else memory_id))


def purge(visit: Visit) -> StudioPage:
    """For good, with the receipt of every place that was looked at."""
    receipts = visit.ask("purge", memory_id=visit.path("id"), now=True)
    return StudioPage(template="purged.html", title="purged", data={"receipts": receipts})


def raw(visit: Visit) -> Response:
    """The record, one `key: value` a line, as it is kept (GC-10)."""
    found = plain(visit.ask("get", memory_id=visit.path("id")))
    return PlainTextResponse("\n".join(plain_lines(found)) + "\n")
