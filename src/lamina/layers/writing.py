"""Generated memories are checked before they are kept, and how often they pass is counted."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.model import Kind
from lamina.policy.writing import Checked, Pass, checked
from lamina.records import dataclass
from lamina.storage.operational import Count
from lamina.write.caller import Caller

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
