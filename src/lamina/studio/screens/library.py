"""Layers, decisions, documents and time: what is known by its role, its file and its date."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from lamina.errors import LaminaError, NotFound
from lamina.model import Outcome
from lamina.operations.catalogue import OPERATIONS
from lamina.studio.visit import StudioPage, Visit

_LINES = 200
_EPISODES, _PROCEDURES = 30, 30
_BEGINNING = "1970-01-01"
#: The operation that takes back all that one of these wrote, where this version has it.
UNDO, UNDONE_BY = "undo", ("session", "agent", "source")
#: Fields of the form, and where each stands in the model of a user.
_PREFERENCES = ("language", "responseLength", "responseStyle", "codeStyle")


def layers(visit: Visit) -> StudioPage:
    """The model of the person as a form, procedures with their steps, episodes in their order."""
    data = {
        "model": visit.ask("user_model"),
        "procedures": visit.ask("find_procedures", limit=_PROCEDURES),
        "episodes": visit.ask("find_episodes", limit=_EPISODES),
    }
    return StudioPage(template="layers.html", title="layers", data=data, more={"preferences": _PREFERENCES})


def save_model(visit: Visit) -> Response:
    """What was changed in the form; what was left empty stays as it is."""
    known = visit.ask("user_model")
    updates: dict[str, Any] = {}
    for name in ("name", "timezone"):
        if (value := visit.field(name).strip()) and value != known.get(name):
            updates[name] = value
    chosen = {name: visit.field(name).strip() for name in _PREFERENCES}
    changed = {n: v for n, v in chosen.items() if v and v != known["preferences"].get(n)}
    if changed:
        updates["preferences"] = changed
    if note := visit.field("note").strip():
        updates["notes"] = [note]
    receipts = visit.ask("update_user_model", updates=updates) if updates else []
    denied = [one for one in receipts if one.decision is Outcome.DENIED]
    for one in denied:
        visit.tell(" ".join(one.warnings) or one.code, sort="problem")
    if len(receipts) > len(denied):
        visit.tell(visit.words("did.saved"))
    return visit.back_to("/layers")


def decisions(visit: Visit) -> StudioPage:
    """Decisions in force and overruled, and the files as a tree."""
    data: dict[str, Any] = {"found": None, "tree": None}
    try:
        data["found"] = visit.ask("decisions")
        data["tree"] = visit.ask("document_tree")
    except NotFound:  # a store without a workspace, or somebody else's
        pass
    return StudioPage(template="decisions.html", title="decisions", data=data)


def supersede(visit: Visit) -> Response:
    """One decision no longer counts, another does."""
    visit.ask(
        "supersede_decision",
        decision_id=visit.path("id"),
        by=visit.field("by"),
        because=visit.field("because"),
    )
    visit.tell(visit.words("did.supersede"))
    return visit.back_to("/decisions")


def document(visit: Visit) -> StudioPage:
    """Some lines of a file, as it is now and without its secrets."""
    start = int(visit.query("start")) if visit.query("start").isdecimal() else 1
    found = visit.ask("lines", path=visit.path("path"), start=max(1, start), lines=_LINES)
    return StudioPage(
        template="document.html",
        title="document",
        data={"document": found},
        more={"start": start, "step": _LINES},
    )


def undo(visit: Visit) -> StudioPage:
    """Everything that a session, an agent or a source wrote: first what would go; once said, it goes."""
    what, name = visit.field("what"), visit.field("name").strip()
    if UNDO not in OPERATIONS or what not in UNDONE_BY or not name:
        raise NotFound("There is no such page.", code="page_unknown")
    dry = not visit.field("really")
    report = visit.ask(UNDO, dry_run=dry, **{what: name})
    return _time(visit, {"report": report, "what": what, "name": name, "is_dry": dry})


def time(visit: Visit) -> StudioPage:
    """What the store held on a date, or what is different between two."""
    return _time(visit, None)


def _time(visit: Visit, undone: Mapping[str, Any] | None) -> StudioPage:
    now = visit.engine.now()
    before = visit.query("before", f"{now - timedelta(days=7):%Y-%m-%d}")
    after = visit.query("after")
    whole = visit.query("show") == "all"
    data: dict[str, Any] = {"difference": None, "problem": None}
    try:
        first = _BEGINNING if whole else before
        until = _end(before) if whole else (_end(after) if after else None)
        data["difference"] = visit.ask_once("difference", before=first, after=until)
    except LaminaError as error:
        data["problem"] = f"{error.message} {error.hint}"
    return StudioPage(
        template="time.html",
        title="time",
        data=data,
        more={
            "before": before,
            "after": after,
            "whole": whole,
            "may_undo": UNDO in OPERATIONS,
            "undone": undone,
            "undone_by": UNDONE_BY,
        },
    )


def _end(day: str) -> str:
    """The end of a day that is named, in the time that the list is asked for."""
    try:
        at = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)
    except ValueError:
        return day
    return at.isoformat()
