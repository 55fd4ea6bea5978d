"""What people settle, ask to be remembered, promise, leave open and have learned, sentence by sentence.

Only the person's own assertions count: nothing quoted, asked, reported, supposed, doubted or taken back as a
joke. An agent's proposal is found apart from these; it counts when the person agrees to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from enum import StrEnum
from typing import NamedTuple

from lamina.language.clauses import UNSAID
from lamina.language.decision_context import settles
from lamina.language.decision_head import Features, features
from lamina.language.due import due_in
from lamina.language.hearing import Sentence
from lamina.language.message import (
    AFTER,
    ALONE,
    EDGES,
    ENDS,
    LEAD_IN_SIZE,
    LEAST_SIZE,
    NEVER,
    PIECES,
    SURE,
    Between,
    Message,
    Unit,
    asks,
    size_of,
)
from lamina.language.owners import owner_in
from lamina.language.rulebook import Rule, Rulebook, rulebook
from lamina.language.signal import low_signal
from lamina.language.sorts import Reader
from lamina.language.view import PAUSE, view_of
from lamina.records import dataclass
from lamina.text.terms import query_terms

_LONGEST_OFFER = 160
_LEAD_IN = re.compile(rf"[:\n{PAUSE}]")
_PICKS = re.compile(r"(?<![a-z])(?:then[.!]?\Z|it is(?![a-z])|go with |take )|就|งั้น|เอา")
_IS_GOING = re.compile(r"['’]s (?:going|to)\Z")
_MINE = re.compile(r"(?<![a-z'])i(?:'ll|'m| will| am| have to| need to)(?![a-z])|我|ผม|ฉัน|หนู")


class Said(StrEnum):
    """What sort of statement it is."""

    DECISION = "decides"
    RULE = "rules"
    ARCHITECTURE = "restructures"
    REMEMBER = "remembers"
    ACTION = "acts"
    OPEN = "remains"
    LESSON = "learns"
    NEXT = "continues"


#: What is worth keeping for good; the first that applies to a sentence is what it is.
KEPT = (Said.REMEMBER, Said.RULE, Said.ARCHITECTURE, Said.DECISION)
_OTHERS = (Said.ACTION, Said.LESSON, Said.NEXT)
_VERY_SURE, _QUITE_SURE = 0.9, 0.8
_MOST_LEADS = 4
_AFTER_REASON = re.compile(r"[\s,，:：;；。.]*(?:so |therefore |所以|เลย|จึง|ดังนั้น)?")
#: How likely something is settled where it stands: enough whatever the head says, and too little for it.
_LIKELY, _UNLIKELY = 0.65, 0.05
_TASK = 0.45  #: how sure the head has to be of a task
_BY_RULE = 0.95  #: how sure a rule is beside the head
_OFFERED = 0.7  #: how sure it is that something was meant that only lies in what an agent said
_CONTEXT_SIZE = 15  #: what is shorter tells nothing of what a decision is about


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement in the words it was made in."""

    said: Said
    text: str
    rule: str  #: the name of the rule that found it
    confidence: float = 1.0
    why: str = ""
    context: str = ""  #: what the same person said right before
    impact: str = ""
    overrules: bool = False  #: it takes something back that was settled before
    is_sure: bool = True  #: else it settles something only where it changes what was settled before
    owner: str = ""  #: of an action; `me` for the speaker, `you` for the agent
    due: date | None = None


def statements(
    text: str,
    today: date,
    *,
    book: Rulebook | None = None,
    reader: Reader | None = None,
    between: Between = ALONE,
) -> list[Statement]:
    """What a person says in a message, in order; never raises, linear in the text.

    A reader that the head was trained beside says more surely what a sentence does, and so does what an agent
    said before and after it.
    """
    turn = Message(text, book or rulebook(), reader, between)
    if turn.book.any_of("statement", "jokes").search(turn.open) or turn.only_assents():
        return []
    found: list[Statement] = []
    last: _Settled | None = None  # the last one, while what follows it may belong to it
    after = "question" if asks(between.before) else ""  # what was said right before
    for at, unit in enumerate(turn.units):
        new = _settled(turn, at, after)
        after = turn.leads_to(unit)
        if new is not None and last is not None and _belongs(turn, new, last):
            last = _joined(last, new)
            found[-1:] = [last.statement]
        elif new is not None:
            found.append(new.statement)
            last = new
        else:
            found = _without_complaint(found, last)
            others = [one for number in unit.numbers for one in _others(turn, number, today)]
            is_vague = all(one.said is Said.NEXT for one in others)
            others = (_promised(turn, unit, today) or others) if is_vague else others
            found += [one for one in others if one.said is not Said.ACTION or not turn.is_private(unit)]
            last = None
    found = _without_complaint(found, last)
    return list({one.text: one for one in reversed(found)}.values())[::-1]


@dataclass(frozen=True, slots=True)
class _Settled:
    """A statement that is kept, and how sure the head is of its unit."""

    statement: Statement
    unit: Unit
    share: float
    is_complaint: bool = False


def _without_complaint(found: list[Statement], last: _Settled | None) -> list[Statement]:
    """What was found without its end, where that only says what is wrong and nothing was done about it."""
    is_idle = last is not None and last.is_complaint and last.share < _VERY_SURE and not last.statement.why
    return found[:-1] if is_idle else found


def _settled(turn: Message, at: int, after: str) -> _Settled | None:
    """What a unit settles: a rule or the head says so, and the head does not speak against a rule.

    `after` is what was said right before in the same message: a complaint, a report, or nothing.
    """
    unit = turn.units[at]
    usual = turn.sure * AFTER.get(after, 1.0)
    close = turn.closest(unit, usual)
    reading, share, end = close.reading, close.share, close.unit.sentence
    for number in unit.numbers:
        kept = _kept(turn, number)
        if kept is not None and kept.said is Said.REMEMBER:
            return _Settled(kept, unit, 1.0)
        if kept and not turn.is_theirs(unit) and not turn.speaks_against(unit):
            overrules = kept.overrules or (reading is not None and reading.settled == "changes")
            return _Settled(replace(kept, overrules=overrules), unit, max(share, _BY_RULE))
    if reading is None or reading.kind == "task":
        return None
    likely = close.share if turn.between == ALONE else settles(turn.around(at))
    is_likely = turn.between != ALONE and likely >= _LIKELY and close.least < NEVER
    is_sure = is_likely or (close.lacks <= 0 and likely >= _UNLIKELY)
    if not is_sure and not ((after or end != unit.sentence) and turn.is_likely(share, close.least)):
        return None
    said = Said.RULE if reading.settled == "rule" else Said.DECISION
    part, before = turn.settling_part(unit), ""
    whole = turn.reading(unit)
    if (
        turn.is_clause(end, unit)
        and whole
        and (whole.settles < usual or turn.is_complaint(turn.words(unit.start, end.start)))
    ):
        part, before = end, turn.words(unit.main.start, end.start).removesuffix(" so").strip(EDGES)
    told = _told(turn, unit.numbers[-1], said, _Found("decision head", _confidence(share)), part)
    if told is None:
        return None
    told = replace(told, why=told.why or before)
    is_complaint = turn.is_complaint(told.text)
    if is_complaint and not is_sure:
        return None
    told = replace(told, overrules=told.overrules or reading.settled == "changes", is_sure=is_sure)
    return _Settled(told, unit, share, is_complaint)


def _confidence(share: float) -> float:
    return 0.85 if share >= _VERY_SURE else 0.8 if share >= _QUITE_SURE else 0.7


def _belongs(turn: Message, new: _Settled, last: _Settled) -> bool:
    """Whether what is settled next only says more of what was settled right before it."""
    if new.statement.is_sure != last.statement.is_sure:
        return False
    if new.statement.said is Said.REMEMBER or last.statement.said is Said.REMEMBER or turn.adds(new.unit):
        return False
    needs = turn.book.any_of("statement", "needs_subject").match(turn.open, turn.first_word(new.unit.start))
    is_short = new.unit.is_short and not any(map(str.isdigit, new.statement.text))
    is_changed = new.statement.overrules and not last.statement.overrules and new.share > last.share
    return (
        is_changed
        or last.is_complaint
        or new.is_complaint
        or new.share < _VERY_SURE
        or needs is not None
        or is_short
    )


def _joined(first: _Settled, second: _Settled) -> _Settled:
    """One of two: what was said before a decision is its reason or context, what follows its consequence."""
    one, other = first.statement, second.statement
    overrules = one.overrules or other.overrules
    if first.is_complaint and not second.is_complaint:
        told = replace(other, why=other.why or one.text, context=one.context, overrules=overrules)
        return replace(second, statement=told)
    if second.is_complaint:
        return replace(first, statement=replace(one, why=one.why or other.text, overrules=overrules))
    if second.share > first.share and not one.impact:
        return replace(second, statement=replace(other, context=one.text, overrules=overrules))
    impact = one.impact if other.text in one.impact else f"{one.impact} {other.text}".strip()
    return replace(first, statement=replace(one, impact=impact, overrules=overrules))


def _promised(turn: Message, unit: Unit, today: date) -> list[Statement]:
    """The task that the head sees where no rule does."""
    reading = turn.reading(unit)
    unsure = any(turn.holds(one, unit.sentence) for one in ("doubts", "discusses"))
    if reading is None or unsure or not turn.is_asserted(unit):
        return []
    if reading.kind != "task" or reading.share("task") < _TASK:
        return []
    text, due = turn.whole(unit.main), due_in(turn.open[unit.start : unit.end], today)
    owner = owner_in(text)
    is_promise = reading.share("task") >= SURE and _MINE.search(turn.open, unit.start, unit.end)
    if due is None and (not owner or (owner == "me" and not is_promise)):
        return []
    return [Statement(said=Said.ACTION, text=text, rule="decision head", owner=owner, due=due)]


def _kept(turn: Message, number: int) -> Statement | None:
    sentence = turn.sentences[number]
    doubted = sentence.marked or any(turn.holds(one, sentence) for one in ("doubts", "recalls"))
    for said in KEPT:
        if doubted and said is not Said.REMEMBER:
            break
        for rule, found in turn.asserted(said, number):
            if said is not Said.REMEMBER and turn.supposed(sentence, found.start()):
                continue
            if (statement := _statement(turn, number, said, rule, found)) is not None:
                return statement
    return None


def _statement(turn: Message, number: int, said: Said, rule: Rule, found: re.Match[str]) -> Statement | None:
    by = _Found(rule.name, float(rule["confidence"] or 1.0))
    sentence = turn.sentences[number]
    lead_ins = list(_LEAD_IN.finditer(turn.open, sentence.start, found.start()))
    start = lead_ins[-1].end() if lead_ins else sentence.start
    if said is Said.REMEMBER:
        rest = turn.words(found.end(), sentence.end)
        if not PIECES.search(rest.strip(ENDS)):  # "We move to LanceDB. Remember this."
            before = turn.sentences[number - 1] if number else Sentence(start, found.start(), False)
            return _told(turn, number, said, by, before) if before.start < before.end else None
        start = found.end()
    return _told(turn, number, said, by, Sentence(start, sentence.end, sentence.marked))


class _Found(NamedTuple):
    """What found a statement, and how sure it is."""

    rule: str
    confidence: float


def _told(turn: Message, number: int, said: Said, by: _Found, part: Sentence) -> Statement | None:
    text, why = turn.reasoned(part)
    if len(text.strip(ENDS)) < 2:
        return None
    before, after = turn.sentences[:number], turn.sentences[number + 1 : number + 2]
    impact = ""
    for following in after:
        opens = turn.book.any_of("statement", "because").match(turn.open, turn.first_word(following.start))
        if not why and opens:
            why = turn.words(opens.end(), following.end)
        elif turn.book.any_of("statement", "implies").match(turn.open, turn.first_word(following.start)):
            impact = turn.whole(following)
    said_before = [
        one
        for one in before
        if not part.start <= one.start < part.end and not low_signal(turn.words(one.start, one.end))
    ]
    long = [one for one in said_before if size_of(turn.open[one.start : one.end]) >= _CONTEXT_SIZE][-1:]
    context = " ".join(turn.whole(one) for one in long if turn.whole(one) != why)
    return Statement(
        said=said,
        text=text,
        rule=by.rule,
        confidence=by.confidence,
        why=why,
        impact=impact,
        context=context,
        overrules=turn.holds("overrules", part) is not None,
    )


def _others(turn: Message, number: int, today: date) -> Iterator[Statement]:
    sentence = turn.sentences[number]
    due = due_in(turn.open[sentence.start : sentence.end], today)
    if turn.holds("remains", sentence):
        yield Statement(said=Said.OPEN, text=turn.whole(sentence), rule="remains", due=due)
        return
    asked = turn.whole(sentence)
    if turn.holds("requests", sentence) and (owner := owner_in(asked)) not in ("", "me"):
        yield Statement(said=Said.ACTION, text=asked, rule="requests", owner=owner, due=due)
        return
    doubted = turn.holds("doubts", sentence)
    for said in _OTHERS:
        for rule, found in turn.asserted(said, number):
            if not doubted and (due is not None or not rule["dated"]):
                owner = _owner(turn, found)
                if owner and due and due_in(owner.lower(), today) == due:  # "tomorrow" is nobody
                    owner = ""
                yield Statement(said=said, text=turn.whole(sentence), rule=rule.name, owner=owner, due=due)
                return


def _owner(turn: Message, found: re.Match[str]) -> str:
    for name in found.re.groupindex:
        if found[name]:
            owner = turn.words(found.start(name), found.end(name))
            return name if name in ("me", "you") else _IS_GOING.sub("", owner)
    return ""


def agreed(text: str, answer: str, *, book: Rulebook | None = None) -> Statement | None:
    """The last thing an agent's message proposes, when the answer agrees to it and does nothing else.

    What is only offered ("how about", "Postgres is the safer pick") takes an answer that says so: "do that";
    what only lies in what was said takes one that also names it, or says that it is to be done.
    """
    reply = Message(answer, book or rulebook())
    if not reply.assents():
        return None
    turn, approves = Message(text, book or rulebook()), reply.book.any_of("statement", "approves")
    approved = approves.search(reply.open) is not None
    for does in ("proposes", "offers") if approved else ("proposes",):
        for sentence in reversed(turn.sentences):
            for rule in turn.book.of("statement", does):
                found = rule.regex.search(turn.open, sentence.start, sentence.end)
                if found and not rule.is_exception(found, turn.open, sentence.start, sentence.end):
                    by = _Found(rule.name, float(rule["confidence"] or 1.0))
                    return _offer(turn, sentence, by, is_whole=does == "proposes")
    named = _named(turn, reply)
    told = [one for one in turn.sentences if not one.marked][-1:]
    for sentence in named or (told if approved else []):
        by = _Found("named" if named else "approved", _OFFERED)
        return _offer(turn, sentence, by, is_whole=bool(named))
    return None


def _offer(turn: Message, sentence: Sentence, by: _Found, *, is_whole: bool) -> Statement:
    """What a sentence proposes; with what stands before it, where it makes no sense without."""
    is_whole = is_whole and size_of(turn.open[sentence.start : sentence.end]) >= LEAD_IN_SIZE
    is_whole = is_whole or size_of(turn.open) > _LONGEST_OFFER
    part = sentence if is_whole else Sentence(turn.sentences[0].start, sentence.end, marked=False)
    return Statement(
        said=Said.DECISION,
        text=turn.whole(part),
        rule=by.rule,
        confidence=by.confidence,
        overrules=turn.holds("overrules", part) is not None,
    )


def _named(turn: Message, reply: Message) -> list[Sentence]:
    """The last sentence with something in it that the answer names."""
    words = set(query_terms(reply.open)) if _PICKS.search(reply.open) else set()
    found = [one for one in turn.sentences if words & set(query_terms(turn.open[one.start : one.end]))]
    return [one for one in found if not one.marked][-1:]


def headline(text: str, why: str = "", *, book: Rulebook | None = None) -> str:
    """What was settled, without "OK," and "Settled then:", and without a reason in front of it."""
    turn = Message(text, book or rulebook())
    at, end = turn.first_word(0), len(turn.open)
    leads = turn.book.any_of("statement", "leads_in")
    for _ in range(_MOST_LEADS):
        found = leads.match(turn.open, at)
        if found is None or size_of(turn.open[found.end() :]) < LEAST_SIZE:
            break
        at = turn.first_word(found.end())
    if why and turn.words(at, end).startswith(why):
        behind = turn.view.original.find(why) + len(why)
        rest = _AFTER_REASON.sub("", turn.view.original[behind:], count=1)
        needs_subject = turn.book.any_of("statement", "needs_subject").match(view_of(rest).text)
        if size_of(rest) >= LEAD_IN_SIZE and not needs_subject:
            return _capitalised(" ".join(rest.split()))
    return _capitalised(turn.words(at, end)) or " ".join(text.split())


def _capitalised(text: str) -> str:
    bare = text.strip(EDGES)
    return bare[:1].upper() + bare[1:]


def denies(text: str, *, book: Rulebook | None = None) -> bool:
    """Whether a sentence says that something is not so."""
    turn = Message(text, book or rulebook())
    return turn.book.any_of("cue", "negates").search(turn.open) is not None


def asserts(text: str, quote: str, *, book: Rulebook | None = None) -> bool:
    """Whether a quote stands in a message to the letter, as what its speaker says without doubt."""
    turn, at = Message(text, book or rulebook()), text.find(quote)
    if at < 0 or not quote:
        return False
    places, end = zip(turn.view.starts, turn.speech.said, strict=True), at + len(quote)
    said = [char for place, char in places if at <= place < end]
    doubted = turn.book.any_of("statement", "doubts").search(view_of(quote).text)
    joking = turn.book.any_of("statement", "jokes").search(turn.open)
    return bool(said) and UNSAID not in said and not doubted and not joking


def features_of(text: str, *, book: Rulebook | None = None) -> Features:
    """What the head learns from a text that is one sentence, or a few that belong together."""
    turn = Message(text, book or rulebook())
    return features(turn.view.original, turn.open, turn.cues(0, len(turn.open)))
