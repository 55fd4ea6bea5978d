"""What speaks for a decision: how often and in how many conversations it was used, links to it, its age."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from lamina.imports.turn import Speaker
from lamina.jobs.decided import DAY_FILES, RECENT_FILES
from lamina.jobs.job import Task
from lamina.jobs.turns import turns_between
from lamina.language.secrets.privacy import find_secrets
from lamina.model import Trust
from lamina.records import dataclass
from lamina.storage.memories import Memories
from lamina.text.decision_entries import Decision, DecisionFile, Status, in_force, same_conclusion
from lamina.text.entries import Severity
from lamina.text.terms import query_terms
from lamina.write.store import caller_of

WINDOW = timedelta(days=28)  #: what counts as recent, for candidates and for use
STALE = timedelta(days=180)
_DATED = re.compile(r"(\d{4}-\d{2}-\d{2})")
_COMMON = 50  #: a word in more titles than this says nothing about one of them
_TURN_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Known:
    """A decision, where it is written, and what it has to show for itself."""

    decision: Decision
    path: str
    uses: int  #: messages of the person that come back to it
    questions: int  #: conversations in which they did
    links: int  #: other decisions and summaries that name it
    age_days: int
    is_trusted: bool

    @property
    def score(self) -> float:
        """From 0 to 1; what is sure, used, asked for from many sides, new and linked comes first."""
        return round(
            0.40 * self.decision.confidence
            + 0.20 * min(1, self.uses / 3)
            + 0.15 * min(1, self.questions / 3)
            + 0.15 * max(0, 1 - self.age_days / 365)
            + 0.10 * min(1, self.links / 2),
            4,
        )

    @property
    def is_active(self) -> bool:
        return self.decision.status is Status.ACTIVE

    @property
    def is_stale(self) -> bool:
        return self.age_days >= STALE.days and not self.uses and not self.links

    def __str__(self) -> str:
        return (
            f"score {self.score:.2f}: confidence {self.decision.confidence:g}, used {self.uses} times in "
            f"{self.questions} conversations, {self.links} links, {self.age_days} days old"
        )


def known_decisions(task: Task, extra_paths: Iterable[str]) -> dict[str, Known]:
    """The decisions of the last four weeks and those in further files, by id, with what speaks for each."""
    first = _day(task, task.until - WINDOW)
    recent = [*task.files.names(DAY_FILES), *task.files.names(RECENT_FILES)]
    paths = {path for path in recent if _date_in(path) >= first} | set(extra_paths)
    places: dict[str, tuple[Decision, str]] = {}
    for path in sorted(paths):
        file = DecisionFile.parse(task.files.read(path) or b"")
        errors = [one for one in file.problems if one.severity is Severity.ERROR]
        task.notes += [f"{path}:{one.line}: {one.message}" for one in errors]
        for one in file.decisions:
            if one.id not in places or one.rank > places[one.id][0].rank:
                places[one.id] = one, path
    decisions = in_force(one for one, _ in places.values())
    uses, questions = _used(task, decisions)
    links = _linked(task, decisions, first)
    doubted = _untrusted(task, decisions)
    return {
        one.id: Known(
            one,
            places[one.id][1],
            uses[one.id],
            questions[one.id],
            links[one.id],
            max(0, (task.until - one.at).days),
            one.id not in doubted,
        )
        for one in decisions
    }


def exclusive_pairs(known: Sequence[Known]) -> list[tuple[Known, Known, str]]:
    """Decisions that cannot both stand, the one that gives way second, and why; from the oldest pair on.

    Two decisions are about the same thing when their titles begin alike and differ later in one word or so:
    what a sentence is about comes before what it says of it. The newer one stands, unless it is clearly less
    sure.
    """
    titles = {one.decision.id: query_terms(one.decision.title) for one in known}
    by_id = {one.decision.id: one for one in known}
    pairs = []
    for first, second in sorted(_near(titles)):
        old, new = sorted((by_id[first], by_id[second]), key=lambda one: (one.decision.at, one.decision.id))
        if same_conclusion(old.decision, new.decision):
            pairs.append((new, old, f"says the same as {new.decision.id}"))
        elif new.decision.confidence >= old.decision.confidence - 0.2:
            pairs.append((new, old, f"{new.decision.id} is newer and says: {new.decision.conclusion[:120]}"))
        else:
            why = f"{old.decision.id} is surer ({old.decision.confidence:g})"
            pairs.append((old, new, f"{why} and says: {old.decision.conclusion[:120]}"))
    return pairs


def _near(titles: Mapping[str, list[str]]) -> set[tuple[str, str]]:
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for name, words in sorted(titles.items()):
        for word in words:
            holders[word].append(name)
    shared: Counter[tuple[str, str]] = Counter()
    for names in holders.values():
        if len(names) <= _COMMON:
            shared.update((one, other) for at, one in enumerate(names) for other in names[at + 1 :])
    return {(one, other) for one, other in shared if _same_thing(titles[one], titles[other])}


def _same_thing(one: list[str], other: list[str]) -> bool:
    words, others = set(one), set(other)
    pairs = enumerate(zip(one, other, strict=False))
    alike = next((at for at, (word, its) in pairs if word != its), min(len(one), len(other)))
    differ = max(len(words - others), len(others - words))
    begins_alike = alike >= 2 and 2 * alike >= max(len(one), len(other))
    return one == other or (begins_alike and differ <= max(1, len(words | others) // 6))


def _used(task: Task, decisions: Sequence[Decision]) -> tuple[Counter[str], Counter[str]]:
    titles = {one.id: frozenset(query_terms(one.title)) for one in decisions}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for name, words in titles.items():
        for word in words:
            holders[word].append(name)
    origins = {one.id: one.session_id for one in decisions}
    uses: Counter[str] = Counter()
    sessions: defaultdict[str, set[str]] = defaultdict(set)
    for turn in turns_between(caller_of(task.store, via="job"), task.until - WINDOW, task.until):
        task.check()
        if turn.role is not Speaker.USER:
            continue
        shared = Counter(
            name for word in set(query_terms(turn.text[:_TURN_CHARS])) for name in holders.get(word, ())
        )
        for name, count in shared.items():
            if turn.session_id != origins[name] and count >= max(2, 0.5 * len(titles[name])):
                uses[name] += 1
                sessions[name].add(turn.session_id)
    return uses, Counter({name: len(found) for name, found in sessions.items()})


def _linked(task: Task, decisions: Sequence[Decision], first: str) -> Counter[str]:
    links: Counter[str] = Counter()
    for one in decisions:
        named = {other for text in (*one.refs, one.why, one.finding) for other in _ids_in(text)}
        links.update(named - {one.id})
    for path in task.files.names("second-brain/summaries/*.md"):
        if _date_in(path) >= first:
            text = (task.files.read(path) or b"").decode("utf-8", errors="replace")
            links.update(set(_ids_in(text)))
    return links


def _ids_in(text: str) -> list[str]:
    return [one.rstrip(".,;:)]") for one in re.findall(r"DECISION-[0-9]{8}-[^\s()\[\],]{1,100}", text)]


def _untrusted(task: Task, decisions: Sequence[Decision]) -> set[str]:
    """Those that came from a tool, a page or somebody else, and those that hold a secret."""
    found = task.store.database.read(
        lambda tx: {one.id: Memories(tx).get(one.message_range) for one in decisions}
    )
    return {
        one.id
        for one in decisions
        if dict(one.extra).get("trust", "trusted") != "trusted"
        or ((source := found[one.id]) is not None and source.provenance.trust is not Trust.TRUSTED)
        or find_secrets(f"{one.title}\n{one.conclusion}")
    }


def _date_in(path: str) -> str:
    """The day in a file's name; one without is always recent."""
    found = _DATED.search(path)
    return found[1] if found else "9999"


def _day(task: Task, at: datetime) -> str:
    return f"{at.astimezone(task.zone):%Y-%m-%d}"
