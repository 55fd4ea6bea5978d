"""Fits what counts for a new decision changing an earlier one, from written fortnights.

At each decision those stand that are truly in force then. What a fortnight's key has and nobody finds is put
in as it was said, so that a head that misses much does not hide what there is to learn about changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from lamina.jobs.conversations import Conversation, Encoder, Noted, conversations, messages, noted
from lamina.jobs.decided import likes_of, matter_of, told_as
from lamina.language.message import Message
from lamina.language.rulebook import rulebook
from lamina.language.statements import KEPT, Said, Statement
from lamina.similarity.subjects import WORTH, seen_in, signs_of
from lamina.text.decision_entries import Decision
from tools.decisions.context import groups
from tools.decisions.fortnight import ZONE, Fortnight, is_about, squashed

_PENALTY = 3.0
#: How likely the best has to be, and how much likelier than the next, to be changed; and to be in doubt.
_LINKS, _LEAD, _DOUBTS = 0.6, 3.0, 0.38
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """A new decision: what speaks for each of those in force, and which of them it changes."""

    fortnight: str
    signs: Array
    changed: int | None
    is_change: bool  #: whether it changes one at all; that may not have been found


def events(one: Fortnight, reader: Encoder) -> Iterator[Event]:
    """Every decision of a fortnight, found or not, in order; none for the first."""
    active: list[tuple[str, Decision]] = []
    for talk in conversations(one.turns):
        for noted_one, name in sorted(_settled(one, talk, reader), key=lambda each: each[0].at):
            new = told_as(noted_one, ZONE, rulebook())
            row = next((row for row in one.decisions if row["id"] == name), None)
            wanted = row["supersedes"] if row else None
            at = next((at for at, (other, _) in enumerate(active) if wanted and other == wanted), None)
            if active:
                said = noted_one.statement
                mine = replace(matter_of(new, overrules=said.overrules), talk=noted_one.talk)
                olds = [matter_of(other) for _, other in active]
                found = signs_of(mine, olds, likes_of(reader, mine, olds), seen_in(mine, olds))
                signs = np.array([list(each.values()) for each in found])
                yield Event(one.name, signs, at, wanted is not None)
            if at is not None:
                active.pop(at)
            active.append((name, new))


def _settled(one: Fortnight, talk: Conversation, reader: Encoder) -> Iterator[tuple[Noted, str]]:
    """What is found in a conversation, and what its key has beside that, each with its name in the key."""
    rows = [row for row in one.decisions if row["session"] == talk.session_id]
    met: set[str] = set()
    for found in noted(talk, ZONE, rulebook(), reader):
        if found.statement.said not in KEPT or not found.statement.is_sure:
            continue
        entry = told_as(found, ZONE, rulebook())
        row = next((row for row in rows if row["id"] not in met and is_about(entry, row)), None)
        if row is not None:
            met.add(row["id"])
            yield found, row["id"]
        elif not any(squashed(row["said"])[:16] in squashed(entry.conclusion) for row in rows):
            yield found, ""
    for row in rows:
        if row["id"] not in met:
            yield from ((each, row["id"]) for each in _unfound(talk, row["said"]))


def _unfound(talk: Conversation, words: str) -> Iterator[Noted]:
    for _, turn, between in messages(talk):
        if squashed(words) in squashed(turn.text):
            message = Message(turn.text, rulebook(), None, between)
            part = next(
                (one.main for one in message.units if squashed(words)[:12] in squashed(_text(message, one))),
                message.units[-1].main,
            )
            said = Statement(
                said=Said.DECISION,
                text=message.whole(part),
                rule="key",
                overrules=message.holds("overrules", part) is not None,
            )
            yield Noted(said, talk, (turn,))
            return


def _text(message: Message, unit: Any) -> str:
    return message.words(unit.start, unit.end)


def fit(some: Sequence[Event]) -> tuple[Array, float]:
    """The weight of each sign, and where it begins: one of those in force is changed, or none."""
    signs = np.concatenate([one.signs for one in some])
    mean, spread = signs.mean(axis=0), signs.std(axis=0) + 1e-6
    seen, sizes = (signs - mean) / spread, [len(one.signs) for one in some]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    whose = np.repeat(np.arange(len(some)), sizes)
    hits = np.array(
        [at + one.changed for at, one in zip(starts, some, strict=True) if one.changed is not None]
    )

    def loss(values: Array) -> tuple[float, Array]:
        scores = seen @ values[:-1] + values[-1]
        most = np.maximum(np.maximum.reduceat(scores, starts), 0)
        powers = np.exp(scores - most[whose])
        total = np.add.reduceat(powers, starts) + np.exp(-most)
        missed = powers / total[whose]
        missed[hits] -= 1
        value = (np.log(total) + most).sum() - scores[hits].sum()
        slope = np.concatenate([seen.T @ missed + _PENALTY * values[:-1], [missed.sum()]])
        return float(value + 0.5 * _PENALTY * (values[:-1] ** 2).sum()), slope

    found = minimize(loss, np.zeros(signs.shape[1] + 1), jac=True, method="L-BFGS-B").x
    worth = found[:-1] / spread
    return worth, float(found[-1] - mean @ worth)


def judge(some: Sequence[Event]) -> Iterator[str]:
    """What is linked and doubted, rightly and wrongly, by weights that did not learn the writer."""
    total: Counter[str] = Counter()
    for _, names in groups({one.fortnight for one in some}).items():
        worth, begins = fit([one for one in some if one.fortnight not in names])
        for one in some:
            if one.fortnight in names:
                total += _outcome(one, np.exp(np.minimum(one.signs @ worth + begins, 30.0)))
    changes = total["changes"]
    yield f"{len(some)} decisions, {changes} changes of one in force, likeliest is right {total['first']}"
    yield " ".join(
        f"{name} {total[name]}" for name in ("linked", "doubted", "wrongly linked", "wrongly doubted")
    )


def _outcome(one: Event, powers: Array) -> Counter[str]:
    best = int(powers.argmax())
    likely = powers[best] / (1 + powers.sum())
    is_right = best == one.changed
    found = Counter(changes=one.changed is not None, first=is_right)
    if likely >= _DOUBTS:
        is_linked = likely >= _LINKS and powers[best] >= _LEAD * max(np.delete(powers, best), default=0.0)
        found[f"{'' if is_right else 'wrongly '}{'linked' if is_linked else 'doubted'}"] += 1
    return found


def fit_and_judge(some: Iterator[Fortnight], reader: Encoder) -> None:
    """Print the weights as `similarity/subjects.py` has them, and what they are worth."""
    found = [event for one in some for event in events(one, reader)]
    print(*judge(found), sep="\n")
    worth, begins = fit(found)
    print(dict(zip(WORTH, (round(float(one), 3) for one in worth), strict=True)), round(begins, 3))
