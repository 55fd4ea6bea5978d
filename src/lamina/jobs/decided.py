"""The decisions of a workspace: which are kept where, which are new, and what each of them overrules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from lamina.encoders.port import LaterReader
from lamina.errors import LaminaError
from lamina.jobs.conversations import Encoder, Noted
from lamina.jobs.desk import Desk
from lamina.language.rulebook import Rulebook
from lamina.language.statements import KEPT, Said, denies, headline
from lamina.records import dataclass
from lamina.similarity.subjects import Like, Matter, changed_by
from lamina.text.decision_entries import (
    NOT_SAID,
    Decision,
    DecisionFile,
    Status,
    decision_id,
    in_force,
    superseded,
)
from lamina.text.terms import query_terms

DAY_FILES = "memory/####-##-##.md"
RECENT_FILES = "memory/recent/*.md"
EVERYWHERE = (DAY_FILES, RECENT_FILES, "memory/projects/*.md", "memory/archive/*.md")
MOST_IN_A_FILE = 300

_TITLE = 80
_PROSE = 300
_READ = 16  #: so many, the likest of the earlier ones, are read together with a new one
_SAME = 0.7  #: of all words of two decisions, when one has none that the other lacks


@dataclass(frozen=True, slots=True)
class Kept:
    """A decision and the file that holds it."""

    path: str
    decision: Decision


def kept_decisions(files: Desk, patterns: Sequence[str] = EVERYWHERE) -> list[Kept]:
    """Every decision of the workspace's files, once for each file that has it."""
    found = []
    for pattern in patterns:
        for name in files.names(pattern):
            found += [Kept(name, one) for one in DecisionFile.parse(files.read(name) or b"").decisions]
    return found


def day_of(decision: Decision, zone: ZoneInfo) -> date:
    """The day a decision was made on, where the person is; one without a time is of the day it names."""
    has_time = len(decision.date) > len("2026-03-06")
    return (decision.at.astimezone(zone) if has_time else decision.at).date()


def new_decisions(
    noted: Iterable[Noted],
    known: Iterable[Decision],
    zone: ZoneInfo,
    book: Rulebook,
    reader: Encoder | None = None,
) -> list[Decision]:
    """What was settled that no known decision says, each with what it overrules among those before it."""
    active = [one for one in in_force(known) if one.status is Status.ACTIVE]
    ids = {one.id for one in known}
    found: list[Decision] = []
    for each in sorted(noted, key=lambda one: (one.at, one.conversation.session_id)):
        if each.statement.said not in KEPT:
            continue
        new = told_as(each, zone, book)
        if new.id in ids or any(_same(new, one, book) for one in active):
            continue
        said, before = each.statement, [matter_of(one) for one in active]
        matter = replace(matter_of(new, overrules=said.overrules), talk=each.talk)
        match = changed_by(matter, before, likes_of(reader, matter, before))
        if not said.is_sure and (match is None or not match.is_sure):
            continue
        if match is not None and match.is_sure:
            new = replace(new, supersedes=(active.pop(match.at).id,))
        elif match is not None:
            new = replace(new, doubts=(active[match.at].id,))
        found.append(new)
        active.append(new)
        ids.add(new.id)
    return found


def told_as(noted: Noted, zone: ZoneInfo, book: Rulebook) -> Decision:
    """A statement as an entry."""
    said, at = noted.statement, noted.at.astimezone(zone)
    title = _shortened(headline(said.text, said.why, book=book).rstrip("。．."), _TITLE)
    return Decision(
        id=decision_id(at.date(), said.text),
        title=title,
        date=at.isoformat(timespec="seconds"),
        session_id=noted.conversation.session_id,
        session_path=noted.conversation.path,
        message_range=noted.message_range,
        conclusion=said.text,
        why=_shortened(said.why, _PROSE) or NOT_SAID,
        finding=_shortened(said.context, _PROSE) or NOT_SAID,
        impact=_shortened(said.impact, _PROSE) or NOT_SAID,
        confidence=said.confidence,
        extra=(("kind", "rule"),) if said.said is Said.RULE else (),
    )


def _shortened(text: str, limit: int) -> str:
    """The text, cut at a word where it is too long."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    return f"{cut.rpartition(' ')[0] if ' ' in cut[limit // 2 :] else cut}…"


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(query_terms(text))


def _same(new: Decision, old: Decision, book: Rulebook) -> bool:
    """Whether both say the same; a word more on one side is let pass, a word replaced or a denial is not."""
    one, other = _words(new.conclusion), _words(old.conclusion)
    if not one or (one - other and other - one) or len(one & other) < _SAME * len(one | other):
        return False
    return denies(new.conclusion, book=book) == denies(old.conclusion, book=book)


def matter_of(one: Decision, *, overrules: bool = False) -> Matter:
    """An entry as it is compared with others."""
    around = " ".join(said for said in (one.why, one.finding, one.impact) if said != NOT_SAID)
    return Matter(text=one.conclusion, around=around, overrules=overrules, session=one.session_id)


def likes_of(reader: Encoder | None, new: Matter, before: Sequence[Matter]) -> list[Like]:
    """How like each of the earlier ones is in meaning; nothing without an encoder."""
    if reader is None or not before:
        return []
    try:
        texts, later = [one.text for one in before], _told(new)
        mine = reader.embed([new.text, later, new.talk or later])
        theirs = zip(reader.embed(texts), reader.embed([_told(one) for one in before]), strict=True)
        numbers = [
            [round(float(each), 4) for each in (*mine[:2] @ one, whole @ mine[0], whole @ mine[2])]
            for one, whole in theirs
        ]
        likes = [Like(*each) for each in numbers]
        if isinstance(reader, LaterReader):
            best = sorted(range(len(likes)), key=lambda at: -likes[at].told)[:_READ]
            read = reader.changes(f"{new.text} {new.around}".strip(), [texts[at] for at in best])
            known = dict(zip(best, read, strict=True))
            likes = [one._replace(changes=known.get(at, min(read))) for at, one in enumerate(likes)]
    except LaminaError:  # an encoder that is damaged; the words do
        return []
    return likes


def _told(one: Matter) -> str:
    return f"{one.around} {one.text}".strip()


def keep(files: Desk, new: Sequence[Decision], zone: ZoneInfo) -> None:
    """Adds decisions to the file of their day, or past 300 of them to further files in `memory/recent`."""
    days: dict[date, list[Decision]] = {}
    for one in new:
        days.setdefault(day_of(one, zone), []).append(one)
    for day, decisions in sorted(days.items()):
        left, volume = decisions, 1
        while left:
            name = f"memory/{day}.md" if volume == 1 else f"memory/recent/{day}-decisions-{volume}.md"
            room = MOST_IN_A_FILE - len(DecisionFile.parse(files.read(name) or b"").decisions)
            part, left = left[: max(room, 0)], left[max(room, 0) :]
            if part:
                title = f"# {day}\n" if volume == 1 else f"# {day}, decisions ({volume})\n"
                files.change(name, lambda old, title=title, part=part: _added(old or title.encode(), part))  # type: ignore[misc]
            volume += 1


def _added(data: bytes, decisions: Iterable[Decision]) -> bytes:
    return DecisionFile.parse(data).add(*decisions).to_bytes()


def settle(files: Desk, kept: Sequence[Kept]) -> list[str]:
    """Says in each section what the others make of it: the other half of every `supersedes`.

    Returns the ids that were marked. A run that was cut off between two files is completed by the next.
    """
    meant = {one.id: one for one in in_force(each.decision for each in kept)}
    marked = []
    for name, old in ((each.path, each.decision) for each in kept):
        now = meant[old.id]
        if old.status is Status.ACTIVE and now.status is Status.SUPERSEDED:
            files.change(name, lambda data, now=now: _marked(data or b"", now))  # type: ignore[misc]
            marked.append(old.id)
        elif old.status is Status.ACTIVE and now.doubted_by != old.doubted_by:
            files.change(name, lambda data, now=now: _doubted(data or b"", now))  # type: ignore[misc]
            marked.append(old.id)
    return marked


def _doubted(data: bytes, now: Decision) -> bytes:
    file = DecisionFile.parse(data)
    old = file.get(now.id)
    if old is None or old.status is not Status.ACTIVE:
        return data  # somebody changed it in the meantime
    return file.revise(replace(old, doubted_by=now.doubted_by)).to_bytes()


def _marked(data: bytes, now: Decision) -> bytes:
    file = DecisionFile.parse(data)
    old = file.get(now.id)
    if old is None or old.status is not Status.ACTIVE:
        return data  # somebody changed it in the meantime
    told = superseded(old, by=now.superseded_by, at=now.superseded_at, because=now.superseded_because)
    return file.revise(told).to_bytes()


def supersede(files: Desk, old: str, new: str, because: str, at: datetime) -> Decision:
    """Marks an old decision as overruled by a new one, in both sections, on a person's word.

    Both are there. Raises Conflict (`decision_state`) for one that is no longer active.
    """
    found = {each.decision.id: each for each in kept_decisions(files)}
    former, latter = found[old], found[new]
    day = at.isoformat(timespec="seconds")
    told = superseded(former.decision, by=new, at=day, because=because or latter.decision.conclusion)
    if old not in latter.decision.supersedes:
        both = replace(latter.decision, supersedes=(*latter.decision.supersedes, old))
        files.change(latter.path, lambda data: DecisionFile.parse(data or b"").revise(both).to_bytes())
    files.change(former.path, lambda data: _marked(data or b"", told))
    return told
