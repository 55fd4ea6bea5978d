"""What a caller asks of the rules themselves: is a tool allowed, is this a secret, what is in force."""

from __future__ import annotations

from lamina.language.secrets.privacy import redacted
from lamina.text.normalise import well_formed
from lamina.write.allowance import commit_allow, load_allowed
from lamina.write.caller import Caller
from lamina.write.unit_of_work import UnitOfWork


def allow(caller: Caller, *fingerprints: str) -> None:
    """Say that what a refusal names by these fingerprints is not a secret; only the person can."""
    store, scope = caller.store, caller.scope

    def work(unit: UnitOfWork) -> None:
        for one in fingerprints:
            commit_allow(unit, scope, one)

    store.act(scope, work)
    store.database.read(lambda tx: load_allowed(tx, store.ruleset))


def may_use(caller: Caller, tool: str) -> bool:
    """Whether the administrator's policy lets an agent use a tool; a refusal is audited."""
    name = well_formed(tool, "tool", 200)
    if caller.store.guardrails.allows(name):
        return True
    told = redacted(name)
    caller.store.act(caller.scope, lambda unit: unit.record_act("policy_block", "policy", told))
    return False


def is_prohibited(caller: Caller, what: str) -> bool:
    """Whether the administrator's policy prohibits something by name, such as `secrets_exfiltration`."""
    return caller.store.guardrails.prohibits(well_formed(what, "name", 200))
