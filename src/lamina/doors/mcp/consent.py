"""The person is asked before an agent sets what is theirs: a form in the client, where it can show one.

Whether a person saw the form is the client's to vouch for, as the protocol has it. So an answer counts only
from a client that its owner lets speak for them: one they started themselves (stdio), or a token with the
right `consent`; and from none where the setting `consent_elicitation` is off. Otherwise the proposal waits.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Annotated, Any

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field

from lamina.doors.mcp.identity import ToolCaller
from lamina.errors import LaminaError
from lamina.lifecycle.consent import answered, needs_consent
from lamina.model import Outcome, Receipt, Right
from lamina.scoped import ScopedMemory

#: The first version in which a tool asks by what it returns, so that no open connection is needed.
_ASKS_IN_ROUNDS = "2026-07-28"
#: On whose behalf the call being answered was made; a resolver has no other way to know its server.
CALLER: ContextVar[ToolCaller] = ContextVar("lamina_caller")


class Agreement(BaseModel):
    """What the person is asked for."""

    agree: Annotated[bool, Field(description="Keep this about me.")]


def _asked(ctx: Context[Any, Any], text: str, key: str | None, session: str) -> Elicit[Agreement] | None:
    if not key or not _can_ask(ctx):
        return None
    caller = CALLER.get()
    try:
        mind = caller.mind(Right.CONSENT, session)
    except LaminaError:
        return None  # this client may not speak for the person; the tool says what else is wrong
    if not caller.engine.config.consent_elicitation or not needs_consent(mind, text, key):
        return None
    agent = mind.scope.agent or "An agent"
    return Elicit(f"{agent} wants to keep this about you: {key} = {text:.200}. Do you agree?", Agreement)


def _can_ask(ctx: Context[Any, Any]) -> bool:
    declared = ctx.client_capabilities.elicitation if ctx.client_capabilities else None
    if declared is None or (declared.form is None and declared.url is not None):
        return False
    version = ctx.protocol_version
    rounds = version is not None and is_version_at_least(version, _ASKS_IN_ROUNDS)
    return rounds or ctx.session.can_send_request


#: A parameter of a tool: what the person answered; accepted without data where nobody was asked.
Asked = Annotated[ElicitationResult[Agreement], Resolve(_asked)]


def decided(mind: ScopedMemory, key: str, held: Receipt, answer: ElicitationResult[Agreement]) -> Receipt:
    """What becomes of a proposal that waits, once the person answered; it waits on where they did not."""
    said: Agreement | None = getattr(answer, "data", None)
    if held.decision is not Outcome.HELD or (said is None and answer.action != "decline"):
        return held
    agreed = said is not None and said.agree
    receipt = answered(mind, key, agreed=agreed)
    if agreed:
        return receipt
    why = ("The person said no.", "Do not ask again.")
    return Receipt(decision=Outcome.DENIED, code="consent_denied", ids=receipt.ids, warnings=why)
