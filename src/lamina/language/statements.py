"""What people settle, ask to be remembered, promise, leave open and have learned, sentence by sentence.

Only the person's own assertions count: nothing quoted, asked, reported, supposed, doubted or taken back as a
joke. An agent's proposal is found apart from these; it counts when the person agrees to it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from lamina.errors import LaminaError
from lamina.language.clauses import UNSAID, Speech, languages_of, listen, without_quotations
from lamina.language.decision_head import KINDS, LONGEST, Features, Reading, features, knows, read
from lamina.language.due import due_in
from lamina.language.hearing import Sentence, sentences_of
from lamina.language.owners import owner_in
from lamina.language.rulebook import Rule, Rulebook, rulebook
from lamina.language.signal import low_signal
from lamina.language.sorts import Reader, Wholes, sorter
from lamina.language.view import PAUSE, View, view_of
from lamina.records import dataclass
from lamina.text.terms import query_terms

#: An answer longer than this says more than yes.
_LONGEST_ASSENT = 60
_LONGEST_OFFER = 160
_OPENING = re.compile(rf"[\s{PAUSE},.!:~-]*")
_EDGES = " \t\n\v,，、;；:：-—–"
_ENDS = "。．.!！?？"
_LEAD_IN = re.compile(rf"[:\n{PAUSE}]")
_BREAK = re.compile(
    r"(?<=[\u0e01-\u0e4e])[ \v]+(?=[\u0e01-\u0e4e])|(?<![a-z])so (?=we|the|it|our|from|i'm)|,(?:所以|因此|那)"
)
_PICKS = re.compile(r"(?<![a-z])(?:then[.!]?\Z|it is(?![a-z])|go with |take )|就|งั้น|เอา")
_PIECES = re.compile(r"[^\s\x00]")
_QUESTION = re.compile(r"(?:[?？]|(?:ไหม|มั้ย|ล่ะ|หรือยัง|หรือเปล่า|เท่าไหร่|ยังไงดี)(?:ครับ|คะ|ค่ะ|นะ)*)\Z")
_CLAUSE_BREAK = re.compile(rf"[,:;{PAUSE}]|(?<![a-z])so (?=we|i|the|it)")
_OURS = re.compile(
    r"(?<![a-z])(?:and|so|but) (?:we|i)(?![a-z])|我们?(?:就|都|也)?(?:同意|答应|收下|要)|เรา(?:ก็|เลย)"
)
_MINE = re.compile(r"(?<![a-z'])i(?:'ll|'m| will| am| have to| need to)(?![a-z])|我|ผม|ฉัน|หนู")
_SOME_DAY = date(2026, 3, 4)  #: whether a day is named at all does not depend on today


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
SURE = 0.62  #: how sure the head has to be that something is settled, by letters and signs alone
_SURE_READING = 0.85  #: the same beside its encoder, where both say so or neither
_MAYBE = 0.5  #: beside its encoder what is as sure as this counts where it changes a decision in force
_VERY_SURE, _QUITE_SURE = 0.9, 0.8
#: Of that: what follows a complaint is mostly what is done about it, what follows a report what follows, and
#: what follows an agent's question the answer; what an agent asks back about was mostly no answer yet.
_AFTER = {"complaint": 0.7, "report": 0.9, "question": 0.7}
_ASKED_BACK = 1.1
_LED = 0.92  #: of that: what "OK," or "Settled then:" leads to
_SURE_AGAINST_SIGNS = 0.97  #: where a word speaks against it
_SURE_IN_DOUBT = 0.88  #: the same for a sentence with a word of doubt in it
_MOST_LEADS = 4
_AFTER_REASON = re.compile(r"[\s,，:：;；。.]*(?:so |therefore |所以|เลย|จึง|ดังนั้น)?")
_BY_RULE = 0.95  #: how sure a rule is beside the head
_NEVER = 2.0
_UNSETTLED = ("remains", "discusses", "learns", "recalls")
_AGAINST = 0.3  #: below this the head speaks against what a rule found
_OFFERED = 0.7  #: how sure it is that something was meant that only lies in what an agent said
_TASK = 0.45  #: how sure the head has to be of a task
_NOT_OURS = ("private", "reports_others", "asks", "none", "proposes")
_LEAD_IN_SIZE = 26  #: a sentence shorter than this leads in to the next, in letters of an alphabet
_SHORT_SIZE = 30
_CONTEXT_SIZE = 15  #: what is shorter tells nothing of what a decision is about
_LEAST_SIZE = 10  #: what is shorter says nothing without its reason
#: What the head is told of beside the words: which rules apply.
_CUES = (*(Said), "doubts", "overrules")


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


class Between(NamedTuple):
    """What an agent said right before and right after a message."""

    before: str = ""
    after: str = ""


_ALONE = Between()


class _Unit(NamedTuple):
    """Sentences that are read together: short ones that lead in, and the one they lead to."""

    numbers: range
    sentence: Sentence  #: all of it
    main: Sentence  #: the last one
    is_short: bool

    @property
    def start(self) -> int:
        return self.sentence.start

    @property
    def end(self) -> int:
        return self.sentence.end


class _Close(NamedTuple):
    """A unit or an end of it, what the head makes of it, and how sure it has to be."""

    unit: _Unit
    reading: Reading | None
    least: float

    @property
    def share(self) -> float:
        return 0.0 if self.reading is None else self.reading.settles

    @property
    def lacks(self) -> float:
        """How much it is less sure than it has to be."""
        return self.least - self.share


class _Turn:
    """A message as statements are looked for in it."""

    def __init__(self, text: str, book: Rulebook, reader: Reader | None = None) -> None:
        self.view: View = view_of(text)
        self._reader = reader
        self.asked_back = False  #: an agent asked what is meant
        self.speech: Speech = listen(text, book)
        self.book = book.speaking(languages_of(self.view))
        self.open = without_quotations(self.view.text, self.book)  #: questions and doubts are still in it
        sentences = sentences_of(self.open)
        self._asserted: dict[str, dict[int, list[tuple[Rule, re.Match[str]]]]] = {}
        self._readings: dict[tuple[int, int], Reading] = {}
        self.sentences = [one for one in sentences if _PIECES.search(self.open, one.start, one.end)]

    def holds(self, does: str, sentence: Sentence) -> re.Match[str] | None:
        return self.book.any_of("statement", does).search(self.open, sentence.start, sentence.end)

    def asserted(self, does: str, number: int) -> list[tuple[Rule, re.Match[str]]]:
        """Where the rules of one sort apply in a sentence as something the speaker asserts."""
        if does not in self._asserted:
            places: dict[int, list[tuple[Rule, re.Match[str]]]] = {}
            self._asserted[does] = places
            for rule in self.book.of("statement", does):
                for found in self.speech.matches(rule):
                    at = bisect_right(self.sentences, found.start(), key=lambda each: each.start) - 1
                    inside = at >= 0 and found.end() <= self.sentences[at].end
                    if inside and (rule["negatable"] is False or not self.speech.denied(found.start())):
                        places.setdefault(at, []).append((rule, found))
        return self._asserted[does].get(number, [])

    def supposed(self, sentence: Sentence, at: int) -> bool:
        return bool(self.book.any_of("cue", "supposes").search(self.open, sentence.start, at))

    def units(self) -> Iterator[_Unit]:
        """The sentences of the message, short ones together with what they lead in to."""
        first = 0
        for number, main in enumerate(self.sentences):
            size = _size(self.open[main.start : main.end])
            follows = self.sentences[number + 1 : number + 2]
            if size < _LEAD_IN_SIZE and follows and not main.marked and not self.is_apart(*follows):
                continue
            start = self.sentences[first].start
            whole = Sentence(start, main.end, main.marked)
            yield _Unit(range(first, number + 1), whole, main, size < _SHORT_SIZE)
            first = number + 1

    def is_apart(self, following: Sentence) -> bool:
        """Whether a sentence is a further thing or a task, to which a short one before it does not lead."""
        if self.book.any_of("statement", "adds").match(self.open, self.first_word(following.start)):
            return True
        read = self.reading(_Unit(range(0), following, following, is_short=True))
        return read is not None and read.kind == "task" and read.share("task") >= SURE

    def reading(self, unit: _Unit) -> Reading | None:
        """What the head makes of a unit; None for a question and for what is too long to be a sentence."""
        start, end = unit.start, unit.end
        if unit.main.marked or end - start > LONGEST:
            return None
        if (start, end) not in self._readings:
            typed, said = self.view.slice(start, end), self.open[start:end]
            halfway = self._halfway(self.words(start, end))
            self._readings[start, end] = read(typed, said, self.cues(start, end), halfway)
        return self._readings[start, end]

    def _halfway(self, text: str) -> Wholes | None:
        """What the encoder makes of a stretch; None without the one that the head knows."""
        model = sorter().read
        if self._reader is None or model is None or model.finders is None:
            return None
        try:
            if knows(self._reader.embedder_id):
                rows = self._reader.midway([bare(text)], model.finders)
                return np.asarray(rows[0], dtype=np.int64)
        except LaminaError:  # an encoder that is damaged; letters and signs do
            pass
        self._reader = None
        return None

    def is_asserted(self, unit: _Unit) -> bool:
        """Whether most of it is what the speaker says, and not quoted, reported, asked or supposed."""
        said = [char for char in self.speech.said[unit.start : unit.end] if not char.isspace()]
        return sum(char != UNSAID for char in said) * 2 > len(said)

    @property
    def sure(self) -> float:
        """How sure the head has to be that something is settled."""
        usual = SURE if self._reader is None else _SURE_READING
        return usual * (_ASKED_BACK if self.asked_back else 1.0)

    def is_quoted(self, unit: _Unit) -> bool:
        """Whether most of it are words of others."""
        said = [char for char in self.open[unit.start : unit.end] if not char.isspace()]
        return sum(char == UNSAID for char in said) * 2 > len(said)

    def closest(self, unit: _Unit, usual: float) -> _Close:
        """A unit as the head reads it, or the first of its ends that settles something where it does not."""
        whole = self._close(unit, usual)
        complains = self.holds("complains", unit.sentence) is not None
        if self._reader is None or (whole.lacks <= 0 and not complains):
            return whole
        ends = [self._close(unit._replace(sentence=end, main=end), usual) for end in self.ends(unit)]
        return min([whole, *ends], key=lambda one: one.lacks)

    def _close(self, unit: _Unit, usual: float) -> _Close:
        reading = self.reading(unit)
        least = _NEVER if reading is None else self.least(unit, reading, usual)
        return _Close(unit, reading, least)

    def ends(self, unit: _Unit) -> Iterator[Sentence]:
        """The last sentence of a unit, the same without its first word, and its last clauses."""
        main = unit.main
        if main.start > unit.start:
            yield main
        led = self.book.any_of("statement", "leads_in").match(self.open, self.first_word(main.start))
        if led and _size(self.open[led.end() : main.end]) >= _LEAST_SIZE:
            yield Sentence(led.end(), main.end, main.marked)
        for at in self._breaks(unit)[-2:]:
            if _size(self.open[at : main.end]) >= _LEAD_IN_SIZE:
                yield Sentence(at, main.end, main.marked)

    def _breaks(self, unit: _Unit) -> list[int]:
        return [one.end() for one in _BREAK.finditer(self.open, unit.main.start, unit.main.end)]

    def is_clause(self, end: Sentence, unit: _Unit) -> bool:
        """Whether an end is a clause of a sentence that says something else before it."""
        return end.start in self._breaks(unit)

    def least(self, unit: _Unit, reading: Reading, usual: float) -> float:
        """How sure the head has to be; more than sure where nothing it says could count."""
        holds = self.book.any_of
        supposes = holds("cue", "supposes").search(self.open, unit.start, unit.end)
        is_nothing = self.is_quoted(unit) or any(self.holds(one, unit.sentence) for one in _UNSETTLED)
        if is_nothing or (supposes and reading.settled != "rule"):
            return _NEVER
        if not (self.is_asserted(unit) or self.is_remedy(unit, reading)):
            return _NEVER if self._reader is None else _SURE_AGAINST_SIGNS
        if self.is_theirs(unit):
            return _NEVER if self._reader is None else _SURE_AGAINST_SIGNS
        if supposes or self.holds("doubts", unit.sentence):
            return _SURE_IN_DOUBT
        if holds("statement", "leads_in").match(self.open, self.first_word(unit.main.start)):
            usual *= _LED
        turns_down = unit.is_short and holds("statement", "declines").search(self.open, unit.start, unit.end)
        return max(usual, _QUITE_SURE) if turns_down else usual

    def is_likely(self, share: float, least: float) -> bool:
        """Whether it may settle something, and would if it changed what was settled before."""
        return self._reader is not None and share >= _MAYBE and least < _NEVER and share < least

    def speaks_against(self, unit: _Unit) -> bool:
        """Whether the head makes something else of what a rule found."""
        reading = self.reading(unit)
        if reading is None:
            return False
        if self._reader is None:
            return reading.settles < _AGAINST and reading.kind in _NOT_OURS
        return reading.settles < (self.sure if UNSAID in self.open[unit.start : unit.end] else _AGAINST)

    def leads_to(self, unit: _Unit) -> str:
        """What a unit is to the next: a complaint, a report, or nothing."""
        if unit.main.marked:
            return ""
        if self.holds("complains", unit.sentence):
            return "complaint"
        reading = self.reading(unit) if self._reader is not None else None
        told = reading is not None and reading.settles < _AGAINST and reading.kind in ("none", "lesson")
        return "report" if told else ""

    def is_private(self, unit: _Unit) -> bool:
        """Whether it is about somebody's evening, and nobody's task."""
        reading = self.reading(unit)
        return reading is not None and reading.kind == "private"

    def is_remedy(self, unit: _Unit, reading: Reading) -> bool:
        """Whether it is what is done about a complaint that somebody else made."""
        is_sure = reading.settled == "changes" and reading.settles >= _VERY_SURE
        return is_sure and bool(self.holds("complains", unit.sentence)) and "?" not in self.view.original

    def is_theirs(self, unit: _Unit) -> bool:
        """Whether it is about what others settle, and not about what we make of it."""
        theirs = self.book.any_of("statement", "theirs").match(self.open, self.first_word(unit.main.start))
        return theirs is not None and not _OURS.search(self.open, theirs.end(), unit.end)

    def settling_part(self, unit: _Unit) -> Sentence:
        """The sentence that settles something, from the first of those before it that does so by itself."""
        for number in unit.numbers[:-1]:
            one = self.sentences[number]
            alone = self.reading(_Unit(range(number, number + 1), one, one, is_short=True))
            if alone is not None and alone.settles >= SURE and alone.kind in KINDS[:3]:
                return Sentence(one.start, unit.end, marked=False)
        main = self.reading(_Unit(unit.numbers[-1:], unit.main, unit.main, is_short=True))
        return unit.main if main is not None and main.settles >= _AGAINST else unit.sentence

    def adds(self, unit: _Unit) -> bool:
        """Whether it begins as something further does: "And …", "另外"."""
        return bool(self.book.any_of("statement", "adds").match(self.open, self.first_word(unit.start)))

    def reasoned(self, part: Sentence) -> tuple[str, str]:
        """What a sentence says without its reason, and the reason: behind it, or in front of it."""
        because = self.book.any_of("statement", "because").search(self.open, part.start, part.end)
        if because is None:
            return self.whole(part), self.complaint(part)
        if _size(self.open[part.start : because.start()]) >= _LEAST_SIZE:
            return self.words(part.start, because.start()), self.words(because.end(), part.end)
        end = _CLAUSE_BREAK.search(self.open, because.end(), part.end)
        if end is None or _size(self.open[end.end() : part.end]) < _LEAST_SIZE:
            return self.whole(part), ""
        rest = Sentence(end.end(), part.end, part.marked)
        return self.whole(rest), self.words(because.end(), end.start())

    def complaint(self, part: Sentence) -> str:
        """What was wrong, as the clause or the sentence right before a decision says it."""
        pattern = self.book.any_of("statement", "complains")
        clause = _CLAUSE_BREAK.search(self.open, part.start + 1, part.end)
        is_told = clause and _PIECES.search(self.open, clause.end(), part.end)
        if clause and is_told and pattern.search(self.open, part.start, clause.start() + 1):
            return self.words(part.start, clause.start())
        before = [one for one in self.sentences if one.end <= part.start][-1:]
        found = [one for one in before if not one.marked and pattern.search(self.open, one.start, one.end)]
        return "".join(self.whole(one) for one in found)

    def is_complaint(self, text: str) -> bool:
        """Whether a text says what was wrong."""
        return bool(self.book.any_of("statement", "complains").search(view_of(text).text))

    def first_word(self, at: int) -> int:
        opening = _OPENING.match(self.open, at)
        return opening.end() if opening else at

    def assents(self) -> bool:
        """Whether the message agrees and does nothing else."""
        said = self.open.strip()
        if len(said) > _LONGEST_ASSENT or "?" in said or UNSAID in said:
            return False
        agrees = self.book.any_of("statement", "assents").match(self.open, self.first_word(0))
        if agrees is None or self.book.any_of("statement", "doubts").search(self.open):
            return False
        return self.book.any_of("statement", "declines").search(self.open, agrees.end()) is None

    def offer(self, sentence: Sentence, rule: str, confidence: float, *, is_whole: bool) -> Statement:
        """What a sentence proposes; with what stands before it, where it makes no sense without."""
        is_whole = is_whole and _size(self.open[sentence.start : sentence.end]) >= _LEAD_IN_SIZE
        is_whole = is_whole or _size(self.open) > _LONGEST_OFFER
        part = sentence if is_whole else Sentence(self.sentences[0].start, sentence.end, marked=False)
        return Statement(
            said=Said.DECISION,
            text=self.whole(part),
            rule=rule,
            confidence=confidence,
            overrules=self.holds("overrules", part) is not None,
        )

    def only_assents(self) -> bool:
        """Whether the message is nothing but agreement, so short that nothing else fits in."""
        if _size(self.open) >= _SHORT_SIZE or not self.assents():
            return False
        rest = self.book.any_of("statement", "approves").sub("", self.open)
        agrees = self.book.any_of("statement", "assents").match(rest, self.first_word(0))
        return _size(rest[agrees.end() if agrees else 0 :].strip(_EDGES + _ENDS)) < _LEAST_SIZE

    def cues(self, start: int, end: int) -> Iterator[str]:
        """What rules see in a stretch, for the head."""
        part = self.open[start:end]
        yield from (f"q{does}" for does in _CUES if self.book.any_of("statement", does).search(part))
        if due_in(part, _SOME_DAY) is not None:
            yield "due"
        if UNSAID in part:
            yield "quoted"

    def words(self, start: int, end: int) -> str:
        """What was typed there, on one line."""
        return " ".join(self.view.slice(start, end).split()).strip(_EDGES)

    def whole(self, sentence: Sentence) -> str:
        """A sentence with its end mark."""
        end = sentence.end
        if end < len(self.open) and self.view.slice(end, end + 1) in _ENDS:
            end += 1
        return self.words(sentence.start, end)


def _size(text: str) -> int:
    """The length of a text as if it were written with an alphabet."""
    return sum(1 if char.isascii() else 2 for char in text.strip())


def bare(text: str) -> str:
    """A sentence as the encoder reads it, without its end mark."""
    return text.rstrip(_EDGES + "。．.!！")


def asks(text: str) -> bool:
    """Whether a message ends with a question."""
    return _QUESTION.search(text.rstrip()) is not None


def features_of(text: str, *, book: Rulebook | None = None) -> Features:
    """What the head learns from a text that is one sentence, or a few that belong together."""
    turn = _Turn(text, book or rulebook())
    return features(turn.view.original, turn.open, turn.cues(0, len(turn.open)))


def statements(
    text: str,
    today: date,
    *,
    book: Rulebook | None = None,
    reader: Reader | None = None,
    between: Between = _ALONE,
) -> list[Statement]:
    """What a person says in a message, in order; never raises, linear in the text.

    A reader that the head was trained beside says more surely what a sentence does, and so does what an agent
    said before and after it.
    """
    turn = _Turn(text, book or rulebook(), reader)
    turn.asked_back = asks(between.after)
    if turn.book.any_of("statement", "jokes").search(turn.open) or turn.only_assents():
        return []
    found: list[Statement] = []
    last: _Settled | None = None  # the last one, while what follows it may belong to it
    after = "question" if asks(between.before) else ""  # what was said right before
    for unit in turn.units():
        new = _settled(turn, unit, after)
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
    unit: _Unit
    share: float
    is_complaint: bool = False


def _without_complaint(found: list[Statement], last: _Settled | None) -> list[Statement]:
    """What was found without its end, where that only says what is wrong and nothing was done about it."""
    is_idle = last is not None and last.is_complaint and last.share < _VERY_SURE and not last.statement.why
    return found[:-1] if is_idle else found


def _settled(turn: _Turn, unit: _Unit, after: str) -> _Settled | None:
    """What a unit settles: a rule or the head says so, and the head does not speak against a rule.

    `after` is what was said right before in the same message: a complaint, a report, or nothing.
    """
    usual = turn.sure * _AFTER.get(after, 1.0)
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
    is_sure = close.lacks <= 0
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
        part, before = end, turn.words(unit.main.start, end.start).removesuffix(" so").strip(_EDGES)
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


def _belongs(turn: _Turn, new: _Settled, last: _Settled) -> bool:
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


def _promised(turn: _Turn, unit: _Unit, today: date) -> list[Statement]:
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


def _kept(turn: _Turn, number: int) -> Statement | None:
    sentence = turn.sentences[number]
    doubted = sentence.marked or any(turn.holds(one, sentence) for one in ("doubts", "recalls"))
    for said in KEPT:
        if doubted and said is not Said.REMEMBER:
            break
        for rule, found in turn.asserted(said, number):
            if said is not Said.REMEMBER and turn.supposed(sentence, found.start()):
                continue
            if (statement := _statement(turn, number, said, (rule, found))) is not None:
                return statement
    return None


def _statement(turn: _Turn, number: int, said: Said, match: tuple[Rule, re.Match[str]]) -> Statement | None:
    rule, found = match
    by = _Found(rule.name, float(rule["confidence"] or 1.0))
    sentence = turn.sentences[number]
    lead_ins = list(_LEAD_IN.finditer(turn.open, sentence.start, found.start()))
    start = lead_ins[-1].end() if lead_ins else sentence.start
    if said is Said.REMEMBER:
        rest = turn.words(found.end(), sentence.end)
        if not _PIECES.search(rest.strip(_ENDS)):  # "We move to LanceDB. Remember this."
            before = turn.sentences[number - 1] if number else Sentence(start, found.start(), False)
            return _told(turn, number, said, by, before) if before.start < before.end else None
        start = found.end()
    return _told(turn, number, said, by, Sentence(start, sentence.end, sentence.marked))


class _Found(NamedTuple):
    """What found a statement, and how sure it is."""

    rule: str
    confidence: float


def _told(turn: _Turn, number: int, said: Said, by: _Found, part: Sentence) -> Statement | None:
    text, why = turn.reasoned(part)
    if len(text.strip(_ENDS)) < 2:
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
    long = [one for one in said_before if _size(turn.open[one.start : one.end]) >= _CONTEXT_SIZE][-1:]
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


def _others(turn: _Turn, number: int, today: date) -> Iterator[Statement]:
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


def _owner(turn: _Turn, found: re.Match[str]) -> str:
    for name in found.re.groupindex:
        if found[name]:
            owner = turn.words(found.start(name), found.end(name))
            return name if name in ("me", "you") else owner
    return ""


def agreed(text: str, answer: str, *, book: Rulebook | None = None) -> Statement | None:
    """The last thing an agent's message proposes, when the answer agrees to it and does nothing else.

    What is only offered ("how about", "Postgres is the safer pick") takes an answer that says so: "do that";
    what only lies in what was said takes one that also names it, or says that it is to be done.
    """
    reply = _Turn(answer, book or rulebook())
    if not reply.assents():
        return None
    turn, approves = _Turn(text, book or rulebook()), reply.book.any_of("statement", "approves")
    approved = approves.search(reply.open) is not None
    for does in ("proposes", "offers") if approved else ("proposes",):
        for sentence in reversed(turn.sentences):
            for rule in turn.book.of("statement", does):
                found = rule.regex.search(turn.open, sentence.start, sentence.end)
                if found and not rule.is_exception(found, turn.open, sentence.start, sentence.end):
                    return turn.offer(
                        sentence, rule.name, float(rule["confidence"] or 1.0), is_whole=does == "proposes"
                    )
    named = _named(turn, reply)
    told = [one for one in turn.sentences if not one.marked][-1:]
    for sentence in named or (told if approved else []):
        return turn.offer(sentence, "named" if named else "approved", _OFFERED, is_whole=bool(named))
    return None


def _named(turn: _Turn, reply: _Turn) -> list[Sentence]:
    """The last sentence with something in it that the answer names."""
    words = set(query_terms(reply.open)) if _PICKS.search(reply.open) else set()
    found = [one for one in turn.sentences if words & set(query_terms(turn.open[one.start : one.end]))]
    return [one for one in found if not one.marked][-1:]


def headline(text: str, why: str = "", *, book: Rulebook | None = None) -> str:
    """What was settled, without "OK," and "Settled then:", and without a reason in front of it."""
    turn = _Turn(text, book or rulebook())
    at, end = turn.first_word(0), len(turn.open)
    leads = turn.book.any_of("statement", "leads_in")
    for _ in range(_MOST_LEADS):
        found = leads.match(turn.open, at)
        if found is None or _size(turn.open[found.end() :]) < _LEAST_SIZE:
            break
        at = turn.first_word(found.end())
    if why and turn.words(at, end).startswith(why):
        behind = turn.view.original.find(why) + len(why)
        rest = _AFTER_REASON.sub("", turn.view.original[behind:], count=1)
        needs_subject = turn.book.any_of("statement", "needs_subject").match(view_of(rest).text)
        if _size(rest) >= _LEAD_IN_SIZE and not needs_subject:
            return _capitalised(" ".join(rest.split()))
    return _capitalised(turn.words(at, end)) or " ".join(text.split())


def _capitalised(text: str) -> str:
    bare = text.strip(_EDGES)
    return bare[:1].upper() + bare[1:]


def denies(text: str, *, book: Rulebook | None = None) -> bool:
    """Whether a sentence says that something is not so."""
    turn = _Turn(text, book or rulebook())
    return turn.book.any_of("cue", "negates").search(turn.open) is not None


def asserts(text: str, quote: str, *, book: Rulebook | None = None) -> bool:
    """Whether a quote stands in a message to the letter, as what its speaker says without doubt."""
    turn, at = _Turn(text, book or rulebook()), text.find(quote)
    if at < 0 or not quote:
        return False
    places, end = zip(turn.view.starts, turn.speech.said, strict=True), at + len(quote)
    said = [char for place, char in places if at <= place < end]
    doubted = turn.book.any_of("statement", "doubts").search(view_of(quote).text)
    joking = turn.book.any_of("statement", "jokes").search(turn.open)
    return bool(said) and UNSAID not in said and not doubted and not joking
