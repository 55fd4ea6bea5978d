"""Written fortnights of talk with a key of what is settled in them, and what becomes of them, day by day.

A line `# day time session` begins a conversation; `u` and `a` lines are what the person and the agent say,
two minutes apart. Below what was said is the key: `D name: words | match ; match | supersedes | stale` for
a decision (one string of each match is in its entry; `/` between those that do), `A name: words | match |
owner` for a task, `N name: words | why` for what settles nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from lamina.imports.turn import ImportedTurn, Speaker
from lamina.jobs.conversations import Encoder, Noted, conversations, noted
from lamina.jobs.decided import new_decisions
from lamina.language.rulebook import rulebook
from lamina.language.statements import Said
from lamina.text.decision_entries import Decision, Status, in_force

DATA = Path(__file__).parent / "fortnights"
_ZONE = ZoneInfo("UTC")
_SPEAKERS = {"u": Speaker.USER, "a": Speaker.ASSISTANT}


@dataclass
class Fortnight:
    """What was said, and the key."""

    name: str
    turns: list[ImportedTurn] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, Any]] = field(default_factory=list)
    none: list[dict[str, Any]] = field(default_factory=list)


def load(path: Path) -> Fortnight:
    """A fortnight from its file."""
    out, session, at = Fortnight(path.stem), "", datetime.min.replace(tzinfo=_ZONE)
    for line in filter(None, path.read_text("utf-8").splitlines()):
        mark, rest = line.split(" ", 1)
        if mark == "#":
            day, time, session = rest.split()
            at = datetime.fromisoformat(f"{day}T{time}:00+00:00")
        elif mark in _SPEAKERS:
            turn = ImportedTurn(
                source="fortnight",
                session_id=session,
                entry_id=str(len(out.turns)),
                path="",
                role=_SPEAKERS[mark],
                text=rest,
                at=at,
                message_range=str(len(out.turns)),
            )
            out.turns.append(turn)
            at += timedelta(minutes=2)
        else:
            _take(out, mark, rest, session)
    return out


def _take(out: Fortnight, mark: str, rest: str, session: str) -> None:
    name, told = rest.split(": ", 1)
    said, *parts = (part.strip() for part in told.split("|"))
    day = out.turns[-1].at
    assert day is not None
    row: dict[str, Any] = {"id": name, "date": str(day.date()), "session": session, "said": said}
    if mark == "D":
        match = [group.strip().split("/") for group in parts[0].split(";")]
        stale = [one for one in [*parts, "", ""][2].split("/") if one]
        by = {"match": match, "supersedes": parts[1] or None, "stale": stale, "script": "any"}
        out.decisions.append(row | by)
    elif mark == "A":
        out.actions.append(row | {"any_of": parts[0].split("/"), "owner": [*parts, ""][1] or None})
    elif mark == "N":
        out.none.append(row | {"why": parts[0]})


def write(one: Fortnight, folder: Path) -> None:
    """The fortnight as a transcript and a key in JSON."""
    rows = [
        {"role": str(turn.role), "content": turn.text, "at": f"{turn.at:%Y-%m-%dT%H:%M:%SZ}"}
        | {"session": turn.session_id}
        for turn in one.turns
    ]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / f"{one.name}.jsonl").write_text(lines, "utf-8")
    key = {"decisions": one.decisions, "actions": one.actions, "none": one.none}
    (folder / f"key.{one.name}.json").write_text(json.dumps(key, ensure_ascii=False, indent=1), "utf-8")


def replay(one: Fortnight, reader: Encoder | None = None) -> tuple[list[Decision], list[Noted]]:
    """What the jobs keep of it, day by day, and everything they note."""
    book, known, heard = rulebook(), list[Decision](), list[Noted]()
    days: dict[date, list[ImportedTurn]] = {}
    for turn in one.turns:
        assert turn.at is not None
        days.setdefault(turn.at.date(), []).append(turn)
    for _, turns in sorted(days.items()):
        found = [each for talk in conversations(turns) for each in noted(talk, _ZONE, book, reader)]
        known += new_decisions(found, known, _ZONE, book, reader)
        heard += found
    return in_force(known), heard


def judge(one: Fortnight, reader: Encoder | None = None, *, show: bool = False) -> None:
    """Print what was found, what was none, and which changes were linked or doubted."""
    entries, heard = replay(one, reader)
    used: dict[int, str] = {}
    found: dict[str, Decision] = {}
    for row in one.decisions:
        for at, entry in enumerate(entries):
            here = entry.date[:10] == row["date"] and entry.session_id == row["session"]
            if at not in used and here and _met(_text(entry), row["match"]):
                used[at], found[row["id"]] = row["id"], entry
                break
    others = [entry for at, entry in enumerate(entries) if at not in used]
    links = [(row["id"], row["supersedes"]) for row in one.decisions if row["supersedes"]]
    both = [(new, old) for new, old in links if new in found and old in found]
    linked = [pair for pair in both if found[pair[1]].superseded_by == found[pair[0]].id]
    doubted = [pair for pair in both if found[pair[0]].id in found[pair[1]].doubted_by]
    right = {found[old].id for _, old in linked} | {found[old].id for _, old in doubted}
    wrong = [
        each
        for each in entries
        if (each.status is Status.SUPERSEDED or each.doubted_by) and each.id not in right
    ]
    tasks = [each.statement for each in heard if each.statement.said in (Said.ACTION, Said.NEXT)]
    acts = [row for row in one.actions if any(_says(task.text, row) for task in tasks)]
    owned = [
        row
        for row in acts
        if any(_says(task.text, row) and (not row["owner"] or row["owner"] in task.owner) for task in tasks)
    ]
    extra = [task for task in tasks if not any(_says(task.text, row) for row in one.actions)]
    total, kinds = len(one.decisions), Counter(_kind(one, entry) for entry in others)
    print(
        f"{one.name:12s} recall {len(found)}/{total}, precision {len(used)}/{len(entries)} {dict(kinds)},"
        f" changes found {sum(new in found for new, _ in links)}/{len(links)}, both {len(both)},"
        f" linked {len(linked)}, doubted {len(doubted)}, wrongly changed {len(wrong)};"
        f" tasks {len(acts)}/{len(one.actions)}, owners {len(owned)}, others {len(extra)}"
    )
    if show:
        _show(one, found, others, [pair for pair in both if pair not in linked], wrong)
        for row in one.actions:
            if row not in acts:
                print("  task missed ", row["said"])
        for task in extra:
            print("  task extra  ", task.owner, "|", task.text)


def _show(
    one: Fortnight,
    found: dict[str, Decision],
    others: Sequence[Decision],
    unlinked: Sequence[tuple[str, str]],
    wrong: Sequence[Decision],
) -> None:
    for row in one.decisions:
        if row["id"] not in found:
            print("  missed   ", row["id"], row["said"])
    for entry in others:
        print("  extra    ", _kind(one, entry), entry.confidence, entry.conclusion)
    for new, old in unlinked:
        print("  unlinked ", found[new].conclusion, "<-", found[old].conclusion, found[new].doubts)
    for entry in wrong:
        print("  wrongly  ", entry.conclusion, "<-", entry.superseded_by, entry.doubted_by)


def _text(entry: Decision) -> str:
    return f"{entry.title} {entry.conclusion}".lower()


def _met(text: str, groups: Sequence[Sequence[str]]) -> bool:
    return all(any(one.lower() in text for one in group) for group in groups)


def _says(text: str, row: dict[str, Any]) -> bool:
    return any(one in text.lower() for one in row["any_of"])


def _kind(one: Fortnight, entry: Decision) -> str:
    for name, rows in (("second", one.decisions), ("action", one.actions), ("false", one.none)):
        if any(_near(row["said"], entry) for row in rows if row["session"] == entry.session_id):
            return name
    return "other"


def _near(said: str, entry: Decision) -> bool:
    short, words = squashed(said)[:16], squashed(entry.conclusion)
    return short in squashed(_text(entry)) or words[:16] in squashed(said)


def squashed(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


def fortnights(names: Sequence[str]) -> Iterator[Fortnight]:
    """Those of some names; all where none is named."""
    for path in sorted(DATA.glob("*.txt")):
        if not names or path.stem in names:
            yield load(path)
