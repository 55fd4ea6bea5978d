"""daily-wrap-up: the day that is over, in six sections, for its person to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date, datetime, time, timedelta
from itertools import count

from lamina.imports.turn import Speaker
from lamina.jobs.conversations import Conversation, Noted, conversations, encoder_of, noted
from lamina.jobs.decided import day_of, kept_decisions, new_decisions
from lamina.jobs.job import Task
from lamina.jobs.summaries import line_for
from lamina.jobs.turns import turns_between
from lamina.language.secrets.privacy import find_secrets
from lamina.language.signal import low_signal
from lamina.language.statements import KEPT, Said, headline
from lamina.records import dataclass
from lamina.text.decision_entries import NOT_SAID, Decision, Status, in_force, plain_line
from lamina.text.sealed_page import sealed, unsealed
from lamina.write.store import caller_of

MAY_WRITE = ("second-brain/summaries/*.md",)
SECTIONS = (
    "Decisions made today",
    "Action items",
    "Important conversations",
    "Technical notes / debugging lessons",
    "Open loops",
    "Tomorrow next steps",
)
MOST_LINES = 1_500

_TOPIC = 100
_TOLD = 3  #: of what a conversation settled, how much its line tells
_MOST_NEXT = 12  #: tasks; who reads more of them does none
_BACK = timedelta(days=14)  #: how far open tasks are looked for
_LONG = 12  #: turns; a conversation as long as this is worth a line even if nothing came of it


@dataclass(frozen=True, slots=True)
class Day:
    """What is known of one day."""

    date: date
    conversations: tuple[Conversation, ...]
    decisions: tuple[Decision, ...]
    noted: tuple[Noted, ...]
    titles: Mapping[str, str] = field(default_factory=dict)  #: of every decision that is known, by id
    earlier: tuple[Noted, ...] = ()  #: tasks of the days before that have a day of their own to come


def daily_wrap_up(task: Task) -> None:
    """Writes the summary of each day that ended in its stretch; a day on which nobody spoke gets none.

    Only files in `second-brain/summaries` are written. The same day gives the same bytes; a summary that a
    person has changed since is left as they want it, and the run says so.
    """
    first, last = (at.astimezone(task.zone).date() for at in (task.since, task.slot_at))
    for number in range(max((last - first).days, 1)):
        task.check()
        day = last - timedelta(days=number + 1)
        if (told := read_day(task, day)).conversations:
            _write(task, day, list(volumes(day, sections(told))))


def read_day(task: Task, day: date) -> Day:
    """The conversations of a day where the person is, and what came of them."""
    start, end = (datetime.combine(day + timedelta(days=n), time(), task.zone) for n in (0, 1))
    talks = conversations(turns_between(caller_of(task.store, via="job"), start, end))
    book, reader = task.store.ruleset.rules, encoder_of(task.store)
    found = [one for talk in talks for one in noted(talk, task.zone, book, reader)]
    kept = [each.decision for each in kept_decisions(task.files)]
    known = [*kept, *new_decisions(found, kept, task.zone, book, reader)]
    decided = [one for one in in_force(known) if day_of(one, task.zone) == day]
    titles = {one.id: one.title for one in known}
    return Day(day, tuple(talks), tuple(decided), tuple(found), titles, _earlier(task, start))


def _earlier(task: Task, start: datetime) -> tuple[Noted, ...]:
    """The tasks of the days before that are due on this day or later."""
    book, reader, found = task.store.ruleset.rules, encoder_of(task.store), list[Noted]()
    for talk in conversations(turns_between(caller_of(task.store, via="job"), start - _BACK, start)):
        task.check()
        found += [one for one in noted(talk, task.zone, book, reader) if one.statement.said is Said.ACTION]
    return tuple(one for one in found if one.statement.due is not None and one.statement.due >= start.date())


def sections(day: Day) -> list[list[str]]:
    """The lines of the six sections, from what was said and nothing else."""
    actions = _of(day, Said.ACTION)
    return [
        [_decided(one, day.titles) for one in day.decisions],
        [_task(one) for one in actions],
        [_talk(one, day) for one in day.conversations if _matters(one, day)],
        [_line(one) for one in _of(day, Said.LESSON)],
        [_line(one) for one in _of(day, Said.OPEN)] + list(_unanswered(day)),
        [_task(one) for one in _next(day)] + [_line(one) for one in _of(day, Said.NEXT)],
    ]


def _next(day: Day) -> list[Noted]:
    """The tasks that are open: of this day and of the days before it, the most urgent first.

    One that was due before this day is taken for done, or for the person to bring up again.
    """
    known = {one.statement.text: one for one in (*_of(day, Said.ACTION), *day.earlier)}
    still = [one for one in known.values() if one.statement.due is None or one.statement.due >= day.date]
    return sorted(still, key=lambda one: (one.statement.due or date.max, one.at, one.message_range))[
        :_MOST_NEXT
    ]


def _of(day: Day, said: Said) -> list[Noted]:
    """The statements of one sort, each wording once."""
    found = {one.statement.text: one for one in reversed(day.noted) if one.statement.said is said}
    return sorted(found.values(), key=lambda one: (one.at, one.message_range))


def _decided(one: Decision, titles: Mapping[str, str]) -> str:
    """A decision with its reason and, in words, what it changes; its id is there and not shown."""
    overruled = f" ({one.status})" if one.status is not Status.ACTIVE else ""
    why = [f"why: {one.why}"] if one.why != NOT_SAID and one.why not in line_for(one) else []
    replaces = [f"replaces: {titles.get(name, name)}" for name in one.supersedes]
    doubts = [f"may replace: {titles.get(name, name)}" for name in one.doubts]
    told = "; ".join([*why, *replaces, *doubts])
    return f"- {line_for(one)}{overruled}{f' – {told}' if told else ''} <!-- {one.id} -->"


def _task(one: Noted) -> str:
    said = one.statement
    parts = [f"owner: {said.owner}" if said.owner else "", f"due: {said.due}" if said.due else ""]
    told = ", ".join(part for part in parts if part)
    return f"- [ ] {said.text}{f' ({told})' if told else ''} {_link(one.conversation)}"


def _line(one: Noted) -> str:
    return f"- {one.statement.text} {_link(one.conversation)}"


def _link(talk: Conversation) -> str:
    return f"[[{talk.path}]]"


def _matters(talk: Conversation, day: Day) -> bool:
    return len(talk.turns) >= _LONG or any(one.conversation is talk for one in day.noted)


def _talk(talk: Conversation, day: Day) -> str:
    said = [one for one in day.noted if one.conversation is talk]
    settled = [headline(one.statement.text, one.statement.why) for one in said if one.statement.said in KEPT]
    tasks = sum(one.statement.said is Said.ACTION for one in said)
    topics = (_topic(turn.text) for turn in talk.turns if turn.role is Speaker.USER)
    topic = " ".join(settled[:_TOLD]) or next(filter(None, topics), "nothing that may be written")
    counted = f", {tasks} {'task' if tasks == 1 else 'tasks'}" if tasks else ""
    turns = "1 turn" if len(talk.turns) == 1 else f"{len(talk.turns)} turns"
    return f"- {topic} ({turns}{counted}) {_link(talk)}"


def _topic(text: str) -> str:
    if low_signal(text) or find_secrets(text):
        return ""
    line = plain_line(text)
    return line if len(line) <= _TOPIC else f"{line[: _TOPIC - 1].rstrip()}…"


def _unanswered(day: Day) -> Iterator[str]:
    """Conversations that end in a question of the person."""
    for talk in day.conversations:
        last = talk.turns[-1]
        asks = last.role is Speaker.USER and last.text.rstrip().endswith(("?", "？"))
        if asks and (topic := _topic(last.text)):
            yield f"- No answer yet: {topic} {_link(talk)}"


def volumes(day: date, lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """The summary as files of at most 1,500 lines; the first has all six headings."""
    body: list[tuple[str, str]] = []  # heading, line
    for heading, told in zip(SECTIONS, lines, strict=True):
        body += [(heading, line) for line in told or ["- none"]]
    head = len(SECTIONS) * 3 + 4
    room = MOST_LINES - head
    parts = [body[at : at + room] for at in range(0, len(body), room)]
    for number, part in enumerate(parts, 1):
        title = f"# Wrap-up {day}" + (f" ({number} of {len(parts)})" if len(parts) > 1 else "")
        out = [title, ""]
        for heading in SECTIONS:
            inside = [line for name, line in part if name == heading]
            if inside or number == 1:
                out += [f"## {heading}", *(inside or [f"- see volume {_volume_of(heading, parts)}"]), ""]
        yield sealed("\n".join(out))


def _volume_of(heading: str, parts: Sequence[Sequence[tuple[str, str]]]) -> int:
    return next(n for n, part in enumerate(parts, 1) if any(name == heading for name, _ in part))


def _write(task: Task, day: date, texts: Sequence[str]) -> None:
    for number in count(1):
        name = f"second-brain/summaries/{day}-wrapup{f'-{number}' if number > 1 else ''}.md"
        before = task.files.read(name)
        if number > len(texts) and before is None:
            return
        if before is not None and not _is_ours(before):
            task.notes.append(f"{name} was changed by hand and stays as it is.")
            continue
        text = texts[number - 1] if number <= len(texts) else sealed(f"# Wrap-up {day} ({number})\n\n")
        task.files.change(name, lambda old, text=text: text.encode() if _is_ours(old or b"") else old or b"")  # type: ignore[misc]


def _is_ours(data: bytes) -> bool:
    """Whether a summary is exactly as a run left it."""
    return not data or unsealed(data) is not None
