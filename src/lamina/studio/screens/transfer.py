"""Import, export, jobs, and the end: what comes in, what goes out, what runs by itself, and erasing all."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.responses import Response, StreamingResponse

from lamina.errors import InvalidInput, LaminaError
from lamina.model import Right
from lamina.studio.visit import StudioPage, Visit

_STAGED = "import"


def transfer(visit: Visit) -> StudioPage:
    """Everything that comes in, goes out or runs by itself."""
    return _page(visit)


def _page(visit: Visit, **more: Any) -> StudioPage:
    data = {"jobs": visit.ask("jobs")}
    shown = {
        "imported": None,
        "staged": None,
        "problem": None,
        "job_report": None,
        "erased": None,
        "may_admin": visit.may(Right.ADMIN),
        "may_erase": visit.may(Right.CONSENT),
        **more,
    }
    return StudioPage(template="transfer.html", title="transfer", data=data, more=shown)


def bring_in(visit: Visit) -> StudioPage:
    """First what would come in; the same file is taken when the person says so."""
    name, data = visit.files.get("file", ("", b""))
    if not data and visit.field("staged"):
        name, data = visit.session.staged.pop(_STAGED, ("", b""))
    if not data:
        return _page(visit, problem=visit.words("no_file"))
    dry = not visit.field("staged")
    try:
        report = _imported(visit, name, data, dry)
    except LaminaError as error:
        return _page(visit, problem=f"{error.message} {error.hint}")
    if dry:
        visit.session.staged[_STAGED] = (name, data)
    return _page(visit, imported=report, staged=name if dry else None)


def _imported(visit: Visit, name: str, data: bytes, dry: bool) -> Any:
    """The file as the importer reads it: from a folder of its own, under its own name."""
    own = Path(name.replace("\\", "/")).name or "import.json"
    if own in (".", "..") or "\0" in own:
        raise InvalidInput("This file name cannot be used.", code="name_invalid")
    with TemporaryDirectory(prefix="lamina-import-") as folder:
        place = Path(folder) / own[-120:]
        place.write_bytes(data)
        return visit.ask("bring_in", paths=(place,), dry_run=dry)


def export(visit: Visit) -> Response:
    """Everything known about the person, an object a line."""
    lines = visit.memory.export_lines()
    name = f"lamina-{visit.engine.now():%Y-%m-%d}.jsonl"
    return StreamingResponse(
        lines,
        media_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def run_job(visit: Visit) -> StudioPage:
    """A job, now; its report on the page."""
    dry = visit.field("dry") == "1"
    report = visit.ask("run_job", name=visit.path("name"), dry_run=dry)
    return _page(visit, job_report=report)


def erase(visit: Visit) -> StudioPage:
    """Everything of the person's, for good, once they have written their name."""
    if visit.field("confirm").strip() != visit.session.user:
        return _page(visit, problem=visit.words("erase_name"))
    return _page(visit, erased=visit.ask("erase", user=visit.session.user))
