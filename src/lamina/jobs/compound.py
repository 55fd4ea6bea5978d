"""The weekly compound: decides what MEMORY.md is worth, item by item, and rewrites it within its limits.

It works out operations with evidence from the decisions and summaries of the last weeks, writes them down in
the week's archive, and then applies them to MEMORY.md, which must still be what they were worked out for. A
run that is cut off between the two is repeated from the start and finds its lines in the archive already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from typing import NamedTuple

from lamina.errors import Conflict
from lamina.jobs.evidence import WINDOW, Known, exclusive_pairs, known_decisions
from lamina.jobs.job import Task
from lamina.jobs.summaries import line_for, summaries
from lamina.records import dataclass
from lamina.text.decision_entries import Status
from lamina.text.memory_page import MEMORY, MemoryPage, PageItem, is_writable, item_of, left, source_of
from lamina.text.weekly_page import GONE, PageOperation, PageVerb, recorded, told_in, weekly_name

WORTH_IT = 0.40  #: the least score of what is promoted
LOYALTY = 0.05  #: how much better a new item must be than the one that makes room for it
_ATTEMPTS = 5
_QUARTER = 4


class _Saved(Exception):
    """Somebody saved MEMORY.md after the operations were worked out."""


def compound(task: Task) -> None:
    """Rewrite MEMORY.md, as the module says; raises Conflict when a person keeps saving it meanwhile."""
    archive = weekly_name(task.slot_at.astimezone(task.zone))
    past = task.files.read(archive)
    stale: list[PageOperation] = []
    for _ in range(_ATTEMPTS):
        before = task.files.read(MEMORY)
        plan = _planned(task, before or b"", past)
        told = [one for one in plan.operations if one.verb is not PageVerb.KEEP]
        _record(task, archive, told, stale)
        try:
            _rewrite(task, before, plan.page)
        except _Saved:
            stale = told
            continue
        task.notes += [*map(str, plan.operations), *plan.notes]
        return
    raise Conflict(f"{MEMORY} keeps changing.", code="file_changed", hint="Try again.", retryable=True)


def _record(task: Task, archive: str, told: Sequence[PageOperation], stale: Sequence[PageOperation]) -> None:
    if told or stale:
        task.files.change(archive, lambda old: recorded(old, archive, _today(task), told, stale))


def _rewrite(task: Task, before: bytes | None, page: bytes) -> None:
    def edit(now: bytes | None) -> bytes:
        if now != before:
            raise _Saved
        return page

    task.files.change(MEMORY, edit)


def _today(task: Task) -> str:
    return f"{task.until.astimezone(task.zone):%Y-%m-%d}"


@dataclass(slots=True)
class _Plan:
    """What is to be done, and MEMORY.md as it is afterwards."""

    operations: list[PageOperation]
    page: bytes
    notes: list[str]


def _planned(task: Task, before: bytes, past: bytes | None) -> _Plan:
    page = MemoryPage.parse(before, reclaim=task.agreed)
    known = known_decisions(task, [item.path for item in page.items])
    overruled = _overruled(task, known)
    worthy = [one for one in known.values() if _is_worthy(one) and one.decision.id not in overruled]
    worthy = [one for one in worthy if one.decision.id not in page.taken]
    shelf = _Shelf(page, known, len(page.items) if task.agreed else _allowed(page, past))
    there = {one.decision.id for one in worthy} | ({item.id for item in page.items} - overruled.keys())
    for item in page.items:
        if why := _why_out(item, known.get(item.id), overruled):
            by = overruled[item.id].by if item.id in overruled else ""
            shelf.retire(item, why, is_replaced=by in there)
        elif item.source != source_of(known[item.id].decision):
            shelf.rewrite(known[item.id])
    shelf.fit()
    shelf.fill(task, sorted(worthy, key=lambda one: (-one.score, one.decision.id)))
    told = {name for week in _weeks(task) for name in told_in(task.files.read(week), PageVerb.RESOLVE)}
    new = [name for name in overruled if name not in told]
    resolved = [
        PageOperation(PageVerb.RESOLVE, name, overruled[name].why, str(one), _item(one))
        for name in new
        for one in [known[name]]
    ]
    result = page.rewritten(shelf.items.values())
    return _Plan([*resolved, *shelf.operations()], result, [*shelf.notes, *_over(result)])


def _allowed(page: MemoryPage, past: bytes | None) -> int:
    """How many items may go: in all runs of a week a quarter of those at its start, and at least one."""
    here = {item.id for item in page.items}
    gone = {name for verb in GONE for name in told_in(past, verb)} - here
    come = set(told_in(past, PageVerb.PROMOTE)) & here
    return max(1, (len(here) - len(come) + len(gone)) // _QUARTER) - len(gone)


def _is_worthy(one: Known) -> bool:
    return one.is_active and one.is_trusted and not one.is_stale and one.score >= WORTH_IT


def _item(one: Known) -> PageItem:
    """A decision as a line of the page says it."""
    return item_of(one.decision, one.path, line_for(one.decision))


class _Overruled(NamedTuple):
    """Which decision another gave way to, and why and when."""

    by: str
    why: str


def _why_out(item: PageItem, one: Known | None, overruled: Mapping[str, _Overruled]) -> str:
    """Why an item has no place any more; empty when it has."""
    if one is None:
        return f"its decision is no longer in {item.path}"
    if not one.is_trusted:
        return "what it came from is not trusted"
    if item.id in overruled:
        return overruled[item.id].why
    if one.decision.status is Status.ARCHIVED:
        return "its decision was archived"
    return f"nobody came back to it in {one.age_days} days" if one.is_stale else ""


def _overruled(task: Task, known: Mapping[str, Known]) -> dict[str, _Overruled]:
    """The decisions that gave way to others, with reason and date."""
    found: dict[str, _Overruled] = {}
    for one in known.values():
        if one.decision.status is Status.SUPERSEDED:
            by, at = one.decision.superseded_by or "another", one.decision.superseded_at[:10]
            because = one.decision.superseded_because or "not said"
            why = f"superseded by {by} on {at or 'a day not said'}: {because}"
            found[one.decision.id] = _Overruled(by, why)
    standing = [one for one in known.values() if one.is_active and one.is_trusted]
    for winner, loser, why in exclusive_pairs(standing):
        by, name = winner.decision.id, loser.decision.id
        if by not in found and name not in found:
            found[name] = _Overruled(by, f"overruled on {_today(task)}: {why}")
    return found


def _weeks(task: Task) -> Iterator[str]:
    """The weekly files in which a decision of the window may have been told of."""
    for back in range(WINDOW.days // 7 + 2):
        yield weekly_name((task.slot_at - timedelta(weeks=back)).astimezone(task.zone))


@dataclass(slots=True)
class _Shelf:
    """The items that MEMORY.md is going to have, and why others go."""

    page: MemoryPage
    known: Mapping[str, Known]
    allowed: int  #: how many may go without a person's word
    items: dict[str, PageItem] = field(init=False)
    reasons: dict[str, tuple[PageVerb, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _free: tuple[int, int] = field(init=False)  #: lines and characters that are left

    def __post_init__(self) -> None:
        self.items = {}
        self._free = self.page.space()
        for item in self.page.items:
            self._put(item)

    def retire(self, item: PageItem, why: str, *, is_replaced: bool) -> None:
        """Let go of an item that is not in force any more; beyond a quarter only if nothing is lost by it."""
        one = self.known.get(item.id)
        is_unsafe = one is not None and not one.is_trusted
        if self.allowed <= 0 and not is_replaced and not is_unsafe:
            self.notes.append(f"{item.id} would go ({why}); more than a quarter goes only with --yes")
            return
        self.allowed -= not is_replaced
        self._take(item.id, PageVerb.ARCHIVE, why)

    def rewrite(self, one: Known) -> None:
        """Say what the decision says now."""
        item = _item(one)
        if is_writable(item):
            self._take(item.id, PageVerb.REWRITE, "its decision changed")
            self._put(item)

    def fit(self) -> None:
        """Let go of what there is no room for beside what a person wrote; the limits have no exception."""
        while self.items and min(self._free) < 0:
            self._take(self._weakest(self.items), PageVerb.DEMOTE, "no room is left beside what you wrote")
            self.allowed -= 1

    def fill(self, task: Task, worthy: Sequence[Known]) -> None:
        """Put in what is worth it, best first, until nothing changes any more."""
        here = {item.id: item.summary for item in self.page.items}
        said = here | summaries(task, [one.decision for one in worthy if one.decision.id not in here])
        ready = [(one, item_of(one.decision, one.path, said[one.decision.id])) for one in worthy]
        ready = [(one, item) for one, item in ready if is_writable(item)]
        changed = True
        while changed:
            task.check()
            waiting = [(one, item) for one, item in ready if item.id not in self.items]
            changed = sum(self._added(one, item) for one, item in waiting) > 0
        self.notes += [f"{item.id} waits for room: {one}" for one, item in ready if item.id not in self.items]

    def operations(self) -> list[PageOperation]:
        """What the shelf comes to, against the page as it was."""
        before = {item.id: item for item in self.page.items}
        found = []
        for name, item in sorted({**before, **self.items}.items()):
            told = str(self.known[name]) if name in self.known else ""
            verb, why = self.reasons.get(name, (PageVerb.KEEP, "still worth it"))
            if name not in before:
                verb, why = PageVerb.PROMOTE, "worth reading each time"
            elif name in self.items and verb is not PageVerb.REWRITE:
                verb, why = PageVerb.KEEP, "still worth it"
            found.append(PageOperation(verb, name, why, told, item))
        return found

    def _added(self, one: Known, item: PageItem) -> bool:
        """Put an item in, in the place of weaker ones if need be and allowed; whether it is in."""
        rest, out = dict(self.items), list[str]()
        lines, chars = self._free
        while min(lines - 1, chars - item.cost) < 0:
            weak = self._weakest(rest) if rest else None
            if weak is None or len(out) >= self.allowed or self._score(weak) + LOYALTY >= one.score:
                return False
            out.append(weak)
            lines, chars = lines + 1, chars + rest.pop(weak).cost
        for name in out:
            self._take(name, PageVerb.DEMOTE, f"made room for {item.id}")
        self.allowed -= len(out)
        self._put(item)
        return True

    def _put(self, item: PageItem) -> None:
        self.items[item.id] = item
        self._free = self._free[0] - 1, self._free[1] - item.cost

    def _take(self, name: str, verb: PageVerb, why: str) -> None:
        self._free = self._free[0] + 1, self._free[1] + self.items.pop(name).cost
        self.reasons[name] = verb, why

    def _weakest(self, items: Mapping[str, PageItem]) -> str:
        return min(items, key=lambda name: (self._score(name), name))

    def _score(self, name: str) -> float:
        return self.known[name].score if name in self.known else 0.0


def _over(page: bytes) -> Iterator[str]:
    lines, chars = left(page)
    if min(lines, chars) < 0:
        over = f"{max(0, -lines)} lines and {max(0, -chars)} characters over its limits"
        yield f"{MEMORY} is {over} by what a person wrote in it; no item of ours is left"
