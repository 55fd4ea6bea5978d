"""Phases as rows, and what stood on a shelf at the end of each."""

from __future__ import annotations

from lamina.model import Layer, Phase, contract_kind
from lamina.policy.phases import Standing
from lamina.storage.database import Row, Transaction
from lamina.storage.ledger import lane_of
from lamina.storage.memories import micros, moment


class Phases:
    """The phases of one tenant's shelves inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def start(self, shelf: int, phase: Phase) -> None:
        """From now on the shelf is in this phase."""
        values = {
            "shelf": shelf,
            "number": phase.number,
            "name": phase.name,
            "reason": phase.reason,
            "started_tick": phase.started_tick,
            "started_at": micros(phase.started_at),
        }
        ledger = self._tx.ledger
        for old in self._tx.all("sealed_shelf_of", number=shelf):
            ledger.take("shelf", [old])
            ledger.put("shelf", ledger.changed("shelf", old, {"phase": phase.number}))
            ledger.put("phase", ledger.row("phase", values), lane_of(old[1]))
        self._tx.run("add_phase", **values)
        self._tx.run("enter_phase", shelf=shelf, number=phase.number)

    def get(self, shelf: int, number: int) -> Phase | None:
        """One whose name or reason is damaged is still the phase that the shelf is in."""
        found = self._tx.each(_phase, "phase_by_number", shelf=shelf, number=number)
        if not found and self._tx.damage.has("phase", f"{shelf} {number}"):
            return Phase(number=number, name=None, reason="unknown", started_tick=0, started_at=moment(0))
        return found[0] if found else None

    def of(self, shelf: int) -> list[Phase]:
        """Those that are kept, oldest first."""
        return self._tx.each(_phase, "phases_of", shelf=shelf)

    def keep(self, shelf: int, newest: int, most: int) -> None:
        """Let go of the oldest, so that at most so many are kept."""
        gone = self._tx.all("drop_phases", shelf=shelf, upto=newest - most)
        for known in self._tx.all("sealed_shelf_of", number=shelf) if gone else ():
            self._tx.ledger.take("phase", gone, lane_of(known[1]))

    def standing(self, shelf: int, tick: int) -> list[Standing]:
        """What was active on the shelf when its clock reached a tick."""
        rows = self._tx.all("standing_before", shelf=shelf, tick=tick)
        return [Standing(one, contract_kind(Layer(layer)), identity) for one, layer, identity in rows]


def _phase(row: Row) -> Phase:
    number, name, reason, tick, at = row
    return Phase(number=number, name=name, reason=reason, started_tick=tick, started_at=moment(at))
