"""Sessions and phases as rows: what is kept until a session ends, and what stood when a phase did."""

from __future__ import annotations

from datetime import datetime

from lamina.model import Layer, Phase, contract_kind
from lamina.policy.phases import Standing
from lamina.records import dataclass
from lamina.storage.database import Row, Transaction
from lamina.storage.ledger import lane_of
from lamina.storage.memories import Memories, from_micros, micros, moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation of one user."""

    name: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None


class Sessions:
    """The sessions of one tenant inside one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    def get(self, user: str, name: str) -> Session | None:
        row = self._tx.one("session_by_name", user=user, name=name)
        if row is None:
            return None
        started, last, ended = row
        return Session(
            name=name, started_at=moment(started), last_at=moment(last), ended_at=from_micros(ended)
        )

    def touch(self, user: str, name: str, now: datetime) -> None:
        """The session is in use; one that had ended begins anew."""
        self._tx.run("touch_session", user=user, name=name, now=micros(now))

    def end(self, user: str, name: str, now: datetime) -> None:
        self._tx.run("end_session", user=user, name=name, now=micros(now))

    def keep(self, shelf: int, now: datetime, until: datetime) -> None:
        """What is kept until the session's end lives on, unless the session was over already."""
        rows = self._tx.all("sealed_lapsing", shelf=shelf, now=micros(now))
        if rows:
            Memories(self._tx).set_ends({row[0]: micros(until) for row in rows}, rows)

    def lapsing(self, shelf: int) -> list[str]:
        """Ids of what goes when the session of this shelf ends."""
        return [row[0] for row in self._tx.all("session_lapsing", shelf=shelf)]

    def lapsed(self, shelf: int, now: datetime) -> list[str]:
        """Ids of active memories on a shelf whose time is up."""
        return [row[0] for row in self._tx.all("lapsed_on", shelf=shelf, now=micros(now))]


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
