"""From what a layer wants kept to a receipt: the gates, the transaction and the files, as for any memory.

What was generated is checked before it is kept, and how often it passes is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from lamina.model import Draft, Kind, Receipt
from lamina.policy.writing import Checked, Pass, checked
from lamina.records import dataclass
from lamina.storage.small_tables import Count
from lamina.write.details import draft_of
from lamina.write.request import Request, Verb
from lamina.write.store import Caller


def drafted(caller: Caller, text: str, details: Any, **more: Any) -> Draft:
    """A checked draft of the caller's; `more` is what only the engine may add."""
    store = caller.store
    limit = store.config.max_text_chars
    return replace(draft_of(caller.scope, text, details, store.now(), limit, store.ruleset.rules), **more)


def kept(caller: Caller, draft: Draft) -> Receipt:
    """What became of a draft: the gates are asked, and it is stored where it lives."""
    store = caller.store
    request = Request(
        verb=Verb.REMEMBER, scope=draft.scope, at=store.now(), draft=draft, decision=store.judge(draft)
    )
    return store.carry_out(request)


#: The node under which `stats` counts what was written; the operation is the kind.
NODE = "writing"


def written(caller: Caller, text: str, kind: Kind, *, subject: str | None = None) -> Checked:
    """What the rules of writing make of a generated memory, counted for its user; see `checked`."""
    result = checked(text, kind, subject=subject)
    caller.store.tally.note(caller.scope, caller.store.now(), NODE, kind.value, status=result.status)
    return result


@dataclass(frozen=True, slots=True)
class Rate:
    """Of so many generated memories of a kind, how many were as they should be at once."""

    kind: str
    passed: int
    written: int

    @property
    def share(self) -> float:
        return self.passed / self.written


def rates(counts: Iterable[Count]) -> list[Rate]:
    """How well each kind was written, by the counts of `stats`; kinds in order."""
    found: dict[str, tuple[int, int]] = {}
    for one in counts:
        if one.node == NODE:
            passed, total = found.get(one.op, (0, 0))
            found[one.op] = (passed + one.count * (one.status == Pass.status), total + one.count)
    return [Rate(kind, passed, total) for kind, (passed, total) in sorted(found.items())]
