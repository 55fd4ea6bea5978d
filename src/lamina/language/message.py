"""A message as statements are looked for in it: its sentences, which of them are read together, what rules
and the head make of each, and what stands around it speaks for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from datetime import date
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from lamina.errors import LaminaError
from lamina.language.clauses import UNSAID, Speech, languages_of, listen, without_quotations
from lamina.language.decision_context import WITHIN, Around
from lamina.language.decision_head import KINDS, LONGEST, Reading, knows, read
from lamina.language.due import due_in
from lamina.language.hearing import Sentence, sentences_of
from lamina.language.owners import owner_in
from lamina.language.rulebook import Rule, Rulebook, rulebook
from lamina.language.sorts import Reader, Wholes, sorter
from lamina.language.view import PAUSE, View, view_of
from lamina.text.terms import query_terms

_LONGEST_ASSENT = 60
_OPENING = re.compile(rf"[\s{PAUSE},.!:~-]*")
EDGES = " \t\n\v,，、;；:：-—–"
ENDS = "。．.!！?？"
_BREAK = re.compile(
    r"(?<=[\u0e01-\u0e4e])[ \v]+(?=[\u0e01-\u0e4e])|(?<![a-z])so (?=we|the|it|our|from|i'm)|,(?:所以|因此|那)"
)
PIECES = re.compile(r"[^\s\x00]")
_QUESTION = re.compile(r"(?:[?？]|(?:ไหม|มั้ย|ล่ะ|หรือยัง|หรือเปล่า|เท่าไหร่|ยังไงดี)(?:ครับ|คะ|ค่ะ|นะ)*)\Z")
_CLAUSE_BREAK = re.compile(rf"[,:;{PAUSE}]|(?<![a-z])so (?=we|i|the|it)")
_OURS = re.compile(
    r"(?<![a-z])(?:and|so|but) (?:we|i)(?![a-z])|我们?(?:就|都|也)?(?:同意|答应|收下|要)|เรา(?:ก็|เลย)"
)
#: A question that asks what is to be settled, and not what is so.
_TO_SETTLE = re.compile(
    r"(?<![a-z])(?:should|shall|would you|do you want|do we want|which|what about|or|prefer|suggest|pick"
    r"|choose|rule|limit|put down|your call)(?![a-z])|ดี(?:คะ|ครับ|ค่ะ|ไหม|มั้ย)|เอา|อยาก|จะให้|ไหนดี|หรือ"
    r"|[要定设設选選哪]|希望|打算|还是|還是|建议|建議|上限|怎么|怎麼"
)
_SOME_DAY = date(2026, 3, 4)  #: whether a day is named at all does not depend on today

_NOT_OURS = ("private", "reports_others", "asks", "none", "proposes")
_SURE_READING = 0.85  #: the same as `SURE` beside its encoder, where both say so or neither
MAYBE = 0.5  #: beside its encoder what is as sure as this counts where it changes a decision in force
_VERY_SURE, _QUITE_SURE = 0.9, 0.8
#: Of that: what follows a complaint is mostly what is done about it, what follows a report what follows, and
#: what follows an agent's question the answer; what an agent asks back about was mostly no answer yet.
AFTER = {"complaint": 0.7, "report": 0.9, "question": 0.7}
_ASKED_BACK, _LED = 1.1, 0.92  #: the second of that: what "OK," or "Settled then:" leads to
_SURE_AGAINST_SIGNS = 0.97  #: where a word speaks against it
_SURE_IN_DOUBT = 0.88  #: the same for a sentence with a word of doubt in it
NEVER = 2.0
SURE = 0.62  #: how sure the head has to be that something is settled, by letters and signs alone
_UNSETTLED = ("remains", "discusses", "learns", "recalls")
_AGAINST = 0.3  #: below this the head speaks against it
LEAD_IN_SIZE = 26  #: a sentence shorter than this leads in to the next, in letters of an alphabet
_TINY, _SHORT_SIZE, _ANSWER, _MIDDLE, _LONG = 15, 30, 40, 60, 120
LEAST_SIZE = 10  #: what is shorter says nothing without its reason
_KEPT = ("remembers", "rules", "restructures", "decides")
#: What is looked for as the beginning of a unit.
_FIRST = ("leads_in", "needs_subject", "adds", "assents")
#: What the head is told of beside the words: which rules apply.
_CUES = (
    *("decides", "rules", "restructures", "remembers", "acts", "remains", "learns", "continues"),
    *("doubts", "overrules"),
)


class Between(NamedTuple):
    """What an agent said right before and right after a message."""

    before: str = ""
    after: str = ""


ALONE = Between()


class Unit(NamedTuple):
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


class Close(NamedTuple):
    """A unit or an end of it, what the head makes of it, and how sure it has to be."""

    unit: Unit
    reading: Reading | None
    least: float

    @property
    def share(self) -> float:
        return 0.0 if self.reading is None else self.reading.settles

    @property
    def lacks(self) -> float:
        """How much it is less sure than it has to be."""
        return self.least - self.share


class Message:
    """A message as statements are looked for in it."""

    def __init__(
        self, text: str, book: Rulebook, reader: Reader | None = None, between: Between = ALONE
    ) -> None:
        self.view: View = view_of(text)
        self.between = between
        self._reader = reader
        self.speech: Speech = listen(text, book)
        self.book = book.speaking(languages_of(self.view))
        self.open = without_quotations(self.view.text, self.book)  #: questions and doubts are still in it
        sentences = sentences_of(self.open)
        self._asserted: dict[str, dict[int, list[tuple[Rule, re.Match[str]]]]] = {}
        self._readings: dict[tuple[int, int], Reading] = {}
        self.sentences = [one for one in sentences if PIECES.search(self.open, one.start, one.end)]

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

    @cached_property
    def units(self) -> list[Unit]:
        """The sentences of the message, short ones together with what they lead in to."""
        first, found = 0, list[Unit]()
        for number, main in enumerate(self.sentences):
            size = size_of(self.open[main.start : main.end])
            follows = self.sentences[number + 1 : number + 2]
            if size < LEAD_IN_SIZE and follows and not main.marked and not self.is_apart(*follows):
                continue
            start = self.sentences[first].start
            whole = Sentence(start, main.end, main.marked)
            found.append(Unit(range(first, number + 1), whole, main, size < _SHORT_SIZE))
            first = number + 1
        return found

    def is_apart(self, following: Sentence) -> bool:
        """Whether a sentence is a further thing or a task, to which a short one before it does not lead."""
        if self.book.any_of("statement", "adds").match(self.open, self.first_word(following.start)):
            return True
        read = self.reading(Unit(range(0), following, following, is_short=True))
        return read is not None and read.kind == "task" and read.share("task") >= SURE

    def reading(self, unit: Unit) -> Reading | None:
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

    def is_asserted(self, unit: Unit) -> bool:
        """Whether most of it is what the speaker says, and not quoted, reported, asked or supposed."""
        said = [char for char in self.speech.said[unit.start : unit.end] if not char.isspace()]
        return sum(char != UNSAID for char in said) * 2 > len(said)

    def is_quoted(self, unit: Unit) -> bool:
        """Whether most of it are words of others."""
        said = [char for char in self.open[unit.start : unit.end] if not char.isspace()]
        return sum(char == UNSAID for char in said) * 2 > len(said)

    def around(self, at: int) -> Around:
        """The unit at a place and what stands around it."""
        near = [self.units[one] if 0 <= one < len(self.units) else None for one in (at, at - 1, at + 1)]
        own, *others = [None if one is None else self.reading(one) for one in near]
        signs = frozenset(self._signs(at))
        whose = (None, own) if "asked_short" in signs else (own, None)
        return Around((*whose, *others), signs, *self._together(at))

    def _together(self, at: int) -> tuple[Wholes | None, Wholes | None]:
        """What the encoder makes of a unit behind what was said before it, and of the answer."""
        unit, before = self.units[at], sentences_in(self.between.before)[-1:]
        if at:
            last = self.units[at - 1]
            before = [self.words(last.start, last.end)]
        both = self._halfway(" ".join([*before, self.words(unit.start, unit.end)]))
        answer = sentences_in(self.between.after)[:1]
        return both, self._halfway(answer[0]) if answer and both is not None else None

    def _signs(self, at: int) -> Iterator[str]:
        unit, between = self.units[at], self.between
        size = size_of(said := self.open[unit.start : unit.end])
        first, asked = self.first_word(unit.main.start), at == 0 and asks(between.before)
        statement, is_inside = self.book.any_of, (self.open, unit.start, unit.end)
        words, owner = set(query_terms(said)), owner_in(self.words(unit.start, unit.end))
        known = {
            "echoed": not words.isdisjoint(query_terms(between.after)),
            "picks": asked and not words.isdisjoint(query_terms(between.before)),
            "to_settle": asked and _TO_SETTLE.search(view_of(between.before).text),
            "owned": owner not in ("", "me"),
            "mine": owner == "me",
            "due": due_in(said, _SOME_DAY) is not None,
            "asked": asked,
            "asked_back": asks(between.after),
            "asked_short": asked and size < _ANSWER,
            "tiny": size < _TINY,
            "short": size < _SHORT_SIZE,
            "middle": size < _MIDDLE,
            "long": size > _LONG,
            "number": any(map(str.isdigit, said)),
            "ruled": any(self.asserted(does, one) for does in _KEPT for one in unit.numbers),
            "theirs": self.is_theirs(unit),
            "supposes": statement("cue", "supposes").search(*is_inside),
            "quoted": self.is_quoted(unit),
            "asserted": self.is_asserted(unit),
        }
        yield from (name for name, is_so in known.items() if is_so)
        yield from (one for one in WITHIN if statement("statement", one).search(*is_inside))
        yield from (one for one in _FIRST if statement("statement", one).match(self.open, first))

    def speaks_against(self, unit: Unit) -> bool:
        """Whether the head makes something else of what a rule found."""
        reading = self.reading(unit)
        if reading is None:
            return False
        if self._reader is None:
            return reading.settles < _AGAINST and reading.kind in _NOT_OURS
        return reading.settles < (self.sure if UNSAID in self.open[unit.start : unit.end] else _AGAINST)

    @property
    def sure(self) -> float:
        """How sure the head has to be that something is settled."""
        usual = SURE if self._reader is None else _SURE_READING
        return usual * (_ASKED_BACK if asks(self.between.after) else 1.0)

    def closest(self, unit: Unit, usual: float) -> Close:
        """A unit as the head reads it, or the first of its ends that settles something where it does not."""
        whole = self._close(unit, usual)
        complains = self.holds("complains", unit.sentence) is not None
        if self._reader is None or (whole.lacks <= 0 and not complains):
            return whole
        ends = [self._close(unit._replace(sentence=end, main=end), usual) for end in self.ends(unit)]
        return min([whole, *ends], key=lambda one: one.lacks)

    def _close(self, unit: Unit, usual: float) -> Close:
        reading = self.reading(unit)
        least = NEVER if reading is None else self.least(unit, reading, usual)
        return Close(unit, reading, least)

    def ends(self, unit: Unit) -> Iterator[Sentence]:
        """The last sentence of a unit, the same without its first word, and its last clauses."""
        main = unit.main
        if main.start > unit.start:
            yield main
        led = self.book.any_of("statement", "leads_in").match(self.open, self.first_word(main.start))
        if led and size_of(self.open[led.end() : main.end]) >= LEAST_SIZE:
            yield Sentence(led.end(), main.end, main.marked)
        for at in self._breaks(unit)[-2:]:
            if size_of(self.open[at : main.end]) >= LEAD_IN_SIZE:
                yield Sentence(at, main.end, main.marked)

    def _breaks(self, unit: Unit) -> list[int]:
        return [one.end() for one in _BREAK.finditer(self.open, unit.main.start, unit.main.end)]

    def is_clause(self, end: Sentence, unit: Unit) -> bool:
        """Whether an end is a clause of a sentence that says something else before it."""
        return end.start in self._breaks(unit)

    def least(self, unit: Unit, reading: Reading, usual: float) -> float:
        """How sure the head has to be; more than sure where nothing it says could count."""
        holds = self.book.any_of
        supposes = holds("cue", "supposes").search(self.open, unit.start, unit.end)
        is_nothing = self.is_quoted(unit) or any(self.holds(one, unit.sentence) for one in _UNSETTLED)
        if is_nothing or (supposes and reading.settled != "rule"):
            return NEVER
        if not (self.is_asserted(unit) or self.is_remedy(unit, reading)):
            return NEVER if self._reader is None else _SURE_AGAINST_SIGNS
        if self.is_theirs(unit):
            return NEVER if self._reader is None else _SURE_AGAINST_SIGNS
        if supposes or self.holds("doubts", unit.sentence):
            return _SURE_IN_DOUBT
        if holds("statement", "leads_in").match(self.open, self.first_word(unit.main.start)):
            usual *= _LED
        turns_down = unit.is_short and holds("statement", "declines").search(self.open, unit.start, unit.end)
        return max(usual, _QUITE_SURE) if turns_down else usual

    def is_likely(self, share: float, least: float) -> bool:
        """Whether it may settle something, and would if it changed what was settled before."""
        return self._reader is not None and share >= MAYBE and least < NEVER and share < least

    def leads_to(self, unit: Unit) -> str:
        """What a unit is to the next: a complaint, a report, or nothing."""
        if unit.main.marked:
            return ""
        if self.holds("complains", unit.sentence):
            return "complaint"
        reading = self.reading(unit) if self._reader is not None else None
        told = reading is not None and reading.settles < _AGAINST and reading.kind in ("none", "lesson")
        return "report" if told else ""

    def is_remedy(self, unit: Unit, reading: Reading) -> bool:
        """Whether it is what is done about a complaint that somebody else made."""
        is_sure = reading.settled == "changes" and reading.settles >= _VERY_SURE
        return is_sure and bool(self.holds("complains", unit.sentence)) and "?" not in self.view.original

    def is_private(self, unit: Unit) -> bool:
        """Whether it is about somebody's evening, and nobody's task."""
        reading = self.reading(unit)
        return reading is not None and reading.kind == "private"

    def is_theirs(self, unit: Unit) -> bool:
        """Whether it is about what others settle, and not about what we make of it."""
        theirs = self.book.any_of("statement", "theirs").match(self.open, self.first_word(unit.main.start))
        return theirs is not None and not _OURS.search(self.open, theirs.end(), unit.end)

    def settling_part(self, unit: Unit) -> Sentence:
        """The sentence that settles something, from the first of those before it that does so by itself."""
        for number in unit.numbers[:-1]:
            one = self.sentences[number]
            alone = self.reading(Unit(range(number, number + 1), one, one, is_short=True))
            if alone is not None and alone.settles >= SURE and alone.kind in KINDS[:3]:
                return Sentence(one.start, unit.end, marked=False)
        main = self.reading(Unit(unit.numbers[-1:], unit.main, unit.main, is_short=True))
        return unit.main if main is not None and main.settles >= _AGAINST else unit.sentence

    def adds(self, unit: Unit) -> bool:
        """Whether it begins as something further does: "And …", "另外"."""
        return bool(self.book.any_of("statement", "adds").match(self.open, self.first_word(unit.start)))

    def reasoned(self, part: Sentence) -> tuple[str, str]:
        """What a sentence says without its reason, and the reason: behind it, or in front of it."""
        because = self.book.any_of("statement", "because").search(self.open, part.start, part.end)
        if because is None:
            return self.whole(part), self.complaint(part)
        if size_of(self.open[part.start : because.start()]) >= LEAST_SIZE:
            return self.words(part.start, because.start()), self.words(because.end(), part.end)
        end = _CLAUSE_BREAK.search(self.open, because.end(), part.end)
        if end is None or size_of(self.open[end.end() : part.end]) < LEAST_SIZE:
            return self.whole(part), ""
        rest = Sentence(end.end(), part.end, part.marked)
        return self.whole(rest), self.words(because.end(), end.start())

    def complaint(self, part: Sentence) -> str:
        """What was wrong, as the clause or the sentence right before a decision says it."""
        pattern = self.book.any_of("statement", "complains")
        clause = _CLAUSE_BREAK.search(self.open, part.start + 1, part.end)
        is_told = clause and PIECES.search(self.open, clause.end(), part.end)
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

    def only_assents(self) -> bool:
        """Whether the message is nothing but agreement, so short that nothing else fits in."""
        if size_of(self.open) >= _SHORT_SIZE or not self.assents():
            return False
        rest = self.book.any_of("statement", "approves").sub("", self.open)
        agrees = self.book.any_of("statement", "assents").match(rest, self.first_word(0))
        return size_of(rest[agrees.end() if agrees else 0 :].strip(EDGES + ENDS)) < LEAST_SIZE

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
        return " ".join(self.view.slice(start, end).split()).strip(EDGES)

    def whole(self, sentence: Sentence) -> str:
        """A sentence with its end mark."""
        end = sentence.end
        if end < len(self.open) and self.view.slice(end, end + 1) in ENDS:
            end += 1
        return self.words(sentence.start, end)


def size_of(text: str) -> int:
    """The length of a text as if it were written with an alphabet."""
    return sum(1 if char.isascii() else 2 for char in text.strip())


@lru_cache(maxsize=256)
def sentences_in(text: str) -> list[str]:
    """The sentences of a message, with their end marks."""
    message = Message(text, rulebook())
    return [message.whole(one) for one in message.sentences]


def bare(text: str) -> str:
    """A sentence as the encoder reads it, without its end mark."""
    return text.rstrip(EDGES + "。．.!！")


def asks(text: str) -> bool:
    """Whether a message ends with a question."""
    return _QUESTION.search(text.rstrip()) is not None
