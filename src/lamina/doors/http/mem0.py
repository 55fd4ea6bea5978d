"""mem0's HTTP surface: an unmodified `mem0ai` client works with `host="…/compat/mem0"` and a token of ours.

What it asks for are the verbs that everybody asks for, under the same gates: what is held or refused is in no
answer as if it were stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request

from lamina.doors.http.caller import engine_of, memory_for
from lamina.doors.http.guard import MEM0
from lamina.errors import Denied, InvalidInput
from lamina.model import EVERYBODY, Memory, Outcome, Receipt, Right, Role, Token, quoted, unquoted
from lamina.scoped import ScopedMemory
from lamina.storage.shelf_contents import people
from lamina.write.details import whole_number

router = APIRouter(prefix=MEM0, include_in_schema=False)
Given = Annotated[dict[str, Any], Body()]

_ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
_MOST = 1000
_PAGE = 100


@router.get("/v1/ping/")
def ping(request: Request) -> dict[str, Any]:
    """Whose token it is."""
    token: Token = request.state.token
    return {
        "status": "ok",
        "org_id": "lamina",
        "project_id": "default",
        "user_email": quoted(token.user or token.agent or token.id),  # the npm client sends it in a header
    }


@router.post("/v3/memories/add/")
def add(request: Request, body: Given) -> dict[str, Any]:
    """Hear a conversation, or keep its messages as they are with `infer: false`."""
    memory = _memory(request, Right.WRITE, body)
    told = body.get("messages")
    said = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    if not said:
        raise InvalidInput("There are no messages.", code="messages_invalid", hint="Send `messages`, a list.")
    receipts: list[Receipt] = []
    for one in said:
        person, text = one.get("role", "user") == "user", str(one.get("content") or "")
        if not text.strip() or one.get("role") == "system":
            continue
        if body.get("infer") is False:
            agent = _as_agent(memory)
            receipts.append((memory if person else agent).remember(text))
        else:
            receipts += (memory.hear(text) if person else memory.answer(text)).receipts
    return {"results": [found for one in receipts for found in _results(memory, one)]}


def _as_agent(memory: ScopedMemory) -> ScopedMemory:
    scope = memory.scope
    return ScopedMemory(memory.engine, replace(scope, role=Role.AGENT, agent=scope.agent or "mem0"))


def _results(memory: ScopedMemory, receipt: Receipt) -> list[dict[str, Any]]:
    """What became of one thing, as mem0 says it; what waits or was refused is no result."""
    if receipt.decision not in (Outcome.ADMITTED, Outcome.UNCHANGED):
        return []
    kept = [one for one in receipt.ids if ":short_term:" not in one]
    event = "ADD" if receipt.decision is Outcome.ADMITTED else "NOOP"
    return [{"id": one.id, "memory": one.text, "event": event} for one in memory.loaded(kept)]


@router.post("/v3/memories/search/")
def search(request: Request, body: Given) -> dict[str, Any]:
    """What is known about a question; the score is the probability that it answers."""
    wanted = _filters(body)
    memory = _memory(request, Right.READ, wanted)
    hits = memory.recall(
        str(body.get("query") or ""), k=whole_number(body.get("top_k", 10), "k", 1, _MOST)
    ).hits
    sure = {hit.id: hit.confidence for hit in hits if hit.confidence >= float(body.get("threshold") or 0.0)}
    found = [one for one in memory.loaded([*sure]) if _fits(one, wanted)]
    return {"results": [{**_shown(memory, one), "score": round(sure[one.id], 4)} for one in found]}


@router.post("/v3/memories/")
def get_all(request: Request, body: Given, page: int = 1, page_size: int = _PAGE) -> dict[str, Any]:
    """Everything that is known, a page at a time."""
    wanted = _filters(body)
    memory = _memory(request, Right.READ, wanted)
    found = [one for one in _every(memory) if _fits(one, wanted)]
    size = min(max(page_size, 1), _MOST)
    shown = found[(max(page, 1) - 1) * size :][:size]
    after = f"?page={page + 1}&page_size={size}" if len(found) > page * size else None
    before = f"?page={page - 1}&page_size={size}" if page > 1 else None
    results = [_shown(memory, one) for one in shown]
    return {"count": len(found), "next": after, "previous": before, "results": results}


@router.get("/v1/memories/{memory_id}/")
def get(request: Request, memory_id: str) -> dict[str, Any]:
    """One memory."""
    memory = _owner(request, Right.READ, memory_id)
    return _shown(memory, memory.get(memory_id))


@router.put("/v1/memories/{memory_id}/")
def update(request: Request, memory_id: str, body: Given) -> dict[str, Any]:
    """A memory in other words."""
    memory = _owner(request, Right.WRITE, memory_id)
    if not isinstance(text := body.get("text"), str):
        raise InvalidInput("Only the text can be changed here.", code="text_type", hint="Send `text`.")
    receipt = memory.revise(memory_id, text)
    if receipt.decision in (Outcome.DENIED, Outcome.HELD):
        raise Denied(" ".join(receipt.warnings) or "This is not kept.", code=receipt.code)
    return _shown(memory, memory.get(memory_id))


@router.delete("/v1/memories/{memory_id}/")
def delete(request: Request, memory_id: str) -> dict[str, str]:
    """Forget a memory; its person can restore it."""
    _forget(_owner(request, Right.WRITE, memory_id), memory_id)
    return {"message": "Memory deleted successfully!"}


@router.delete("/v1/memories/")
def delete_all(request: Request) -> dict[str, str]:
    """Forget everything of an entity."""
    wanted = {name: request.query_params[name] for name in _ENTITIES if name in request.query_params}
    memory = _memory(request, Right.WRITE, wanted)
    for one in [one for one in _every(memory) if _fits(one, wanted)]:
        _forget(memory, one.id)
    return {"message": "Memories deleted successfully!"}


@router.get("/v1/memories/{memory_id}/history/")
def history(request: Request, memory_id: str) -> list[dict[str, Any]]:
    """Every step in the life of a memory."""
    steps = _owner(request, Right.READ, memory_id).history(memory_id)
    return [
        {
            "id": f"{memory_id}@{number}",
            "memory_id": memory_id,
            "old_memory": one.old_text,
            "new_memory": one.new_text,
            "event": "ADD" if one.old_text is None else "DELETE" if one.new_text is None else "UPDATE",
            "created_at": one.at,
        }
        for number, one in enumerate(steps, 1)
    ]


@router.get("/v1/entities/")
def entities(request: Request) -> dict[str, Any]:
    """The people that this token may speak of."""
    token: Token = request.state.token
    everybody = EVERYBODY in token.acts_for
    names = {*engine_of(request).database.read(people)} if everybody else {*token.acts_for}
    names |= {token.user} if token.user else set()
    return {"results": [{"type": "user", "name": name} for name in sorted(names)]}


@router.delete("/v1/entities/{sort}/{name}/")
@router.delete("/v2/entities/{sort}/{name}/")
def delete_entity(request: Request, sort: str, name: str) -> dict[str, str]:
    """Forget everything of a person, or all that an agent or a session wrote."""
    memory = _memory(request, Right.WRITE, {f"{sort}_id": name})
    for one in [one for one in _every(memory) if _fits(one, {f"{sort}_id": name})]:
        _forget(memory, one.id)
    return {"message": "Entity deleted successfully."}


@router.put("/v1/batch/")
def update_many(request: Request, body: Given) -> dict[str, str]:
    """Several memories in other words."""
    changes = [(str(one["memory_id"]), one) for one in _listed(body)]
    for memory_id, one in changes:
        update(request, memory_id, one)
    return {"message": f"Successfully updated {len(changes)} memories"}


@router.delete("/v1/batch/")
def delete_many(request: Request, body: Given) -> dict[str, str]:
    """Forget several memories."""
    ids = [str(one["memory_id"]) for one in _listed(body)]
    for one in ids:
        delete(request, one)
    return {"message": f"Successfully deleted {len(ids)} memories"}


def _forget(memory: ScopedMemory, memory_id: str) -> None:
    if (receipt := memory.forget(memory_id)).decision is Outcome.DENIED:
        raise Denied(" ".join(receipt.warnings) or "This is not forgotten.", code=receipt.code)


def _listed(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = body.get("memories")
    if not isinstance(found, list) or not all(isinstance(one, dict) and "memory_id" in one for one in found):
        raise InvalidInput("Each of `memories` needs its `memory_id`.", code="memories_invalid")
    return found


def _memory(request: Request, right: Right, named: Mapping[str, Any]) -> ScopedMemory:
    """The memory of whom a request names: the token's own user, or somebody whom it acts for."""
    user, agent, session = (named.get(name) for name in ("user_id", "agent_id", "run_id"))
    return memory_for(
        request,
        right,
        user=None if not user else str(user),
        agent=None if not agent else str(agent),
        session=None if session is None else str(session),
    )


def _owner(request: Request, right: Right, memory_id: str) -> ScopedMemory:
    """The memory that an id is of; another person's is not there."""
    space, _, rest = memory_id.partition(":")
    owner, _, session = rest.partition(":")[0].partition(",")
    named = {"user_id": unquoted(owner)} if space in ("user", "session") and owner else {}
    return _memory(request, right, {**named, **({"run_id": unquoted(session)} if session else {})})


def _filters(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a request narrows by: entities and categories, alone or under AND."""
    given = body.get("filters") or {name: body[name] for name in _ENTITIES if name in body}
    found: dict[str, Any] = {}
    parts = given.get("AND", [given]) if isinstance(given, Mapping) else [given]
    for part in parts:
        for name, value in part.items() if isinstance(part, Mapping) else [("", part)]:
            value = value.get("eq", value.get("in")) if isinstance(value, Mapping) else value
            if name not in (*_ENTITIES, "categories") or value is None:
                raise InvalidInput(
                    "This filter is not served here.",
                    code="filter_invalid",
                    hint=f"Use {', '.join(_ENTITIES)} or categories, alone or under AND.",
                )
            if value != "*":
                found[name] = value
    return found


def _fits(memory: Memory, wanted: Mapping[str, Any]) -> bool:
    categories, origin = wanted.get("categories"), memory.provenance
    named = [categories] if isinstance(categories, str) else categories
    return (
        (named is None or memory.category in named)
        and wanted.get("agent_id") in (None, origin.agent)
        and wanted.get("run_id") in (None, origin.session_id)
    )


def _every(memory: ScopedMemory) -> list[Memory]:
    """Everything that lasts, newest first; the window of a conversation is not a memory to mem0."""
    page = memory.list(limit=_PAGE)
    found = [*page.items]
    while page.cursor and len(found) < _MOST:
        page = memory.list(limit=_PAGE, cursor=page.cursor)
        found += page.items
    return [one for one in found if ":short_term:" not in one.id]


def _shown(memory: ScopedMemory, one: Memory) -> dict[str, Any]:
    return {
        "id": one.id,
        "memory": one.text,
        "user_id": memory.scope.user,
        "agent_id": one.provenance.agent,
        "run_id": one.provenance.session_id,
        "metadata": one.meta or None,
        "categories": [one.category] if one.category else [],
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }
