"""Policy, agents and audit: what is kept, who may do what, and the proof of what was done."""

from __future__ import annotations

from typing import Any

from starlette.responses import PlainTextResponse, Response

from lamina.doors.cli.plain_view import plain_lines
from lamina.errors import LaminaError
from lamina.model import Right, plain
from lamina.studio.screens.ask import agents_of
from lamina.studio.visit import StudioPage, Visit

_EVENTS = 200


def policy(visit: Visit) -> StudioPage:
    """The policy in plain words."""
    return _policy(visit, "", "", "")


def would_keep(visit: Visit) -> StudioPage:
    """What the policy would do with a sentence; it may be a secret, so it is in no address."""
    return _policy(visit, visit.field("text"), visit.field("agent").strip(), visit.field("key").strip())


def _policy(visit: Visit, text: str, agent: str, key: str) -> StudioPage:
    data: dict[str, Any] = {"policy": visit.ask("policy"), "trial": None, "problem": None}
    if text:
        try:
            data["trial"] = visit.ask("would_keep", text=text, agent=agent or None, key=key or None)
        except LaminaError as error:
            data["problem"] = f"{error.message} {error.hint}"
    more = {
        "text": text,
        "agent": agent,
        "key": key,
        "agents": agents_of(visit),
        "file": visit.engine.config.policy,
    }
    return StudioPage(template="policy.html", title="policy", data=data, more=more)


def agents(visit: Visit) -> StudioPage:
    """Who may do what, and what each of them wrote."""
    return _agents(visit, made=None)


def _agents(visit: Visit, made: Any) -> StudioPage:
    _, facets = visit.counted({"states": ("active", "superseded", "archived", "soft_deleted")})
    data = {
        "tokens": visit.ask("tokens") if visit.may(Right.ADMIN) else (),
        "wrote": facets.get("by", {}),
    }
    server = f"{visit.request.url.scheme}://{visit.request.url.netloc}"
    more = {"made": made, "server": server, "may_admin": visit.may(Right.ADMIN)}
    return StudioPage(template="agents.html", title="agents", data=data, more=more)


def make_token(visit: Visit) -> StudioPage:
    """A new token; its text is on this page and on no other."""
    rights = visit.fields("right") or ("read",)
    made = visit.ask(
        "new_token",
        label=visit.field("label"),
        agent=visit.field("agent") or None,
        rights=tuple(Right(one) for one in rights if one in tuple(Right)),
    )
    return _agents(visit, made=made)


def revoke(visit: Visit) -> Response:
    """From now on the token is refused."""
    visit.ask("end_token", token_id=visit.path("id"))
    visit.tell(visit.words("did.revoke"))
    return visit.back_to("/agents")


def audit(visit: Visit) -> StudioPage:
    """The newest records, narrowed; the state of the chain is checked when somebody asks."""
    return _audit(visit, report=None)


def _audit(visit: Visit, report: Any) -> StudioPage:
    before = visit.query("before")
    wanted = {name: visit.query(name) for name in ("actor", "op", "memory_id")}
    page = visit.ask("audit", before=int(before) if before.isdecimal() else 0, **wanted)
    return StudioPage(
        template="audit.html", title="audit", data={"page": page, "report": report}, more={"wanted": wanted}
    )


def verify(visit: Visit) -> StudioPage:
    """Every record of the chain, its anchor and its files."""
    return _audit(visit, report=visit.ask("verify_audit"))


def trace(visit: Visit) -> Response:
    """The newest events in the plain view."""
    events = visit.ask("trace", last=_EVENTS)
    lines = [line for event in reversed(events) for line in (*plain_lines(plain(event)), "")]
    return PlainTextResponse("\n".join(lines))
