"""What a person said no to stays no: kept as keyed marks of a field and its value, never as words.

A no is made when a person rejects what was guessed of them. Whoever brings the same value for the same field
again is refused, and nobody is asked a second time; the person's own new word lifts it.
"""

from __future__ import annotations

import hmac

from lamina.model import Deny, Draft, Layer, Role, Space, canonical, iso
from lamina.policy.consent import same_value
from lamina.storage.small_tables import Properties
from lamina.write.unit_of_work import UnitOfWork

_PREFIX = "no:"
_PERSONS = (Role.USER, Role.ADMIN)


def refused_before(unit: UnitOfWork, draft: Draft) -> Deny | None:
    """The objection to what the person said no to; their own word is not asked for it."""
    if Properties(unit.transaction).get(_name(unit, draft)) is None:
        return None
    return Deny(
        "refused_stays",
        "The person said no to this before.",
        "Do not propose it again; the person can still say it themselves.",
    )


def refuse(unit: UnitOfWork, draft: Draft, source: str) -> None:
    """Keep that the person said no to this; `source` is the proposal they rejected."""
    told = {"at": iso(unit.now), "by": unit.scope.actor, "source": source}
    Properties(unit.transaction).set(_name(unit, draft), canonical(told))


def lift(unit: UnitOfWork, draft: Draft) -> None:
    """The person says it themselves: an earlier no to it is over, and the audit says so."""
    about = draft.key is not None or draft.layer is Layer.PROCEDURAL
    if not about or draft.scope.role not in _PERSONS:
        return
    name = _name(unit, draft)
    if Properties(unit.transaction).get(name) is not None:
        Properties(unit.transaction).drop(name)
        unit.record_act("lift_no", draft.scope.shelf(Space.USER) or "", "said by the person")


def _name(unit: UnitOfWork, draft: Draft) -> str:
    told = f"{_field(unit, draft)}\0{same_value(draft.text)}".encode()
    mark = hmac.digest(unit.ruleset.sealer.subkey("no"), told, "sha256").hex()
    return f"{_PREFIX}{draft.scope.owner(Space.USER)}:{mark}"


def _field(unit: UnitOfWork, draft: Draft) -> str:
    """Keys of one field are one; a procedure or a statement is itself, whatever key it waited under."""
    if draft.layer is Layer.PROCEDURAL:
        return "procedure"
    statement = draft.layer is Layer.SEMANTIC and (draft.key or "learning.").startswith("learning.")
    return "statement" if statement else unit.ruleset.fields.name_of(draft.key)
