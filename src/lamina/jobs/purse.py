"""What a tenant's jobs may spend on a language model in a day; in the store, so no restart refills it."""

from __future__ import annotations

import json
from datetime import datetime

from lamina.errors import Unavailable
from lamina.jobs.schedule import zone_of
from lamina.jobs.writer import Cost
from lamina.model import canonical
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.small_tables import Marks
from lamina.write.store import Store

_JOB, _SUBJECT = "writer", "day"


@dataclass(frozen=True, slots=True)
class DayPurse:
    """The day is that of the setting `timezone`. A request is counted before it is made."""

    store: Store

    def take(self) -> None:
        config = self.store.config

        def work(transaction: Transaction) -> None:
            calls, tokens = _spent(transaction, self._day())
            if calls >= config.writer_daily_calls or tokens >= config.writer_daily_tokens:
                raise Unavailable(
                    "The language model was asked as much today as the settings allow.",
                    code="writer_day_limit",
                    hint="It is asked again tomorrow; see `writer_daily_calls` and `writer_daily_tokens`.",
                )
            _put(transaction, self._day(), calls + 1, tokens)

        self.store.database.write(work)

    def pay(self, cost: Cost) -> None:
        def work(transaction: Transaction) -> None:
            calls, tokens = _spent(transaction, self._day())
            _put(transaction, self._day(), calls, tokens + cost.input_tokens + cost.output_tokens)

        self.store.database.write(work)

    def _day(self) -> datetime:
        now = self.store.now().astimezone(zone_of(self.store.config.timezone))
        return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _spent(transaction: Transaction, day: datetime) -> tuple[int, int]:
    known = Marks(transaction, _JOB).since(day).get(_SUBJECT)
    calls, tokens = (0, 0) if known is None else json.loads(known.note)
    return int(calls), int(tokens)


def _put(transaction: Transaction, day: datetime, calls: int, tokens: int) -> None:
    Marks(transaction, _JOB).put(_SUBJECT, day, canonical([calls, tokens]))
