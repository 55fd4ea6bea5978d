"""daily-wrap-up: the day that is over, in six sections, for its person to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from hashlib import sha256
from itertools import count

from lamina.imports.turn import Speaker
from lamina.jobs.conversations import Conversation, Noted, conversations, noted
from lamina.jobs.decided import day_of, kept_decisions, new_decisions
from lamina.jobs.job import Task
from lamina.jobs.turns import turns_between
from lamina.language.secrets.privacy import find_secrets
from lamina.language.signal import low_signal
from lamina.language.statements import KEPT, Said
from lamina.text.decision_entries import Decision, Status, in_force, plain_line
from lamina.write.caller import caller_of

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
_LONG = 12  #: turns; a conversation as long as this is worth a line even if nothing came of it
_SEAL = "<!-- lamina: "


@dataclass(frozen=True, slots=True)
class Day:
    """What is known of one day."""

    date: date
    conversations: tuple[Conversation, ...]
    decisions: tuple[Decision, ...]
    noted: tuple[Noted, ...]


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
    book = task.store.ruleset.rules
    found = [one for talk in talks for one in noted(talk, task.zone, book)]
    kept = [each.decision for each in kept_decisions(task.files)]
    known = [*kept, *new_decisions(found, kept, task.zone, book)]
    decided = [one for one in in_force(known) if day_of(one, task.zone) == day]
    return Day(day, tuple(talks), tuple(decided), tuple(found))


def sections(day: Day) -> list[list[str]]:
    """The lines of the six sections, from what was said and nothing else."""
    actions = _of(day, Said.ACTION)
    soon = [one for one in actions if one.statement.due in (None, day.date + timedelta(days=1))]
    return [
        [_decided(one) for one in day.decisions],
        [_task(one) for one in actions],
        [_talk(one, day) for one in day.conversations if _matters(one, day)],
        [_line(one) for one in _of(day, Said.LESSON)],
        [_line(one) for one in _of(day, Said.OPEN)] + list(_unanswered(day)),
        [_task(one) for one in soon] + [_line(one) for one in _of(day, Said.NEXT)],
    ]


def _of(day: Day, said: Said) -> list[Noted]:
    """The statements of one sort, each wording once."""
    found = {one.statement.text: one for one in reversed(day.noted) if one.statement.said is said}
    return sorted(found.values(), key=lambda one: (one.at, one.message_range))


def _decided(one: Decision) -> str:
    overruled = f", {one.status}" if one.status is not Status.ACTIVE else ""
    replaces = f"; replaces {', '.join(one.supersedes)}" if one.supersedes else ""
    return f"- {one.conclusion} ({one.id}{overruled}{replaces})"


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
    said = [one for one in day.noted if one.conversation is talk and one.statement.said in KEPT]
    topics = (_topic(turn.text) for turn in talk.turns if turn.role is Speaker.USER)
    topic = said[0].statement.text if said else next(filter(None, topics), "nothing that may be written")
    return f"- {_link(talk)} {len(talk.turns)} turns: {topic}"


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
        yield _sealed("\n".join(out))


def _volume_of(heading: str, parts: Sequence[Sequence[tuple[str, str]]]) -> int:
    return next(n for n, part in enumerate(parts, 1) if any(name == heading for name, _ in part))


def _sealed(text: str) -> str:
    return f"{text}{_SEAL}{sha256(text.encode()).hexdigest()[:16]} -->\n"


def _write(task: Task, day: date, texts: Sequence[str]) -> None:
    for number in count(1):
        name = f"second-brain/summaries/{day}-wrapup{f'-{number}' if number > 1 else ''}.md"
        before = task.files.read(name)
        if number > len(texts) and before is None:
            return
        if before is not None and not _is_ours(before):
            task.notes.append(f"{name} was changed by hand and stays as it is.")
            continue
        text = texts[number - 1] if number <= len(texts) else _sealed(f"# Wrap-up {day} ({number})\n\n")
        task.files.change(name, lambda old, text=text: text.encode() if _is_ours(old or b"") else old or b"")  # type: ignore[misc]


def _is_ours(data: bytes) -> bool:
    """Whether a summary is exactly as a run left it."""
    text = data.decode(errors="replace")
    return not data or text == _sealed(text.rpartition(_SEAL)[0])
