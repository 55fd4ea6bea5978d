"""What a person does with each part of a message: rules that exclude, a model, then act, ask or leave."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import groupby

import numpy as np

from lamina.errors import LaminaError
from lamina.language.clauses import UNSAID
from lamina.language.context import Clause, in_message
from lamina.language.examples import Example, told_sort
from lamina.language.features import Seen, features, named
from lamina.language.framing import asks_anywhere, has_sign, is_played, opens_with, phrases_of
from lamina.language.hearing import Hearing, Sentence, clauses_in
from lamina.language.sorts import LEFT, Reader, Sort, Sorter, Wholes, sorter
from lamina.language.view import PAUSE, Span
from lamina.records import dataclass

#: A message of more sentences than this is a paste: only rules look for commands in it.
SENTENCES = 24
#: And so is one that is longer than this.
LONGEST = 2400
#: The thresholds of statements that begin with their speaker, and of those about somebody else, the past,
#: what may be, or in fun.
OWN, APART = "lasting own", "lasting apart"
#: The threshold of one short statement that is the whole message: "I live in Oslo." is what it says.
PLAIN = "lasting plain"
_PLAIN_LONGEST, _PLAIN_LETTER = 60, 20  #: characters, and of a writing whose characters say more
#: What is kept of a message is a sentence or two, and never all of a long one.
LONGEST_PART = 160
#: What a sentence may ask for as a whole, and how much clearer that has to be than in its parts.
_WISHES = (Sort.REMEMBER, Sort.SET, Sort.TEMPORARY)
_AS_A_WHOLE = 600
#: What is to be done to the words that follow, and how near before them it stands.
_REACH = 32
_REWORKS = re.compile(
    r"\b(?:translat|proofread|grammar|rewrite|rephrase|reword|spell ?check)|แปล|ตรวจ|เกลา"
    r"|แก้คำ|พิสูจน์อักษร|翻译|润色|改写|校对|纠错|语法|病句|造句|接龙|怎么说"
)
#: What another statement may begin with, beside its own words.
_JOINS = re.compile(r"(?:and|plus|also|but) |และ|而且|另外|还有")
#: The signs of a statement that is plain by itself ("I'm allergic to shrimp"), and how clear it has to be.
_PLAINLY, _BY_ITSELF = frozenset({"own", "sign lasting"}), 2500
#: What is to be done with the figures that follow.
_DIGIT = re.compile("[0-9]")
_COUNTS = re.compile(r"\b(?:calculat|work out|add up|convert)|คำนวณ|คิดเลข|แปลงหน่วย|计算|算一?下|换算")
#: What asks for something at once.
_ASKS = (Sort.TASK, Sort.QUESTION)
#: What may name whom a statement behind it is about.
_NAMES_WHOM = (Sort.PASSING, Sort.THIRD, Sort.LASTING)
_APART = frozenset({"sign others early", "sign past early", "sign perhaps early", "sign joke"})
#: The threshold of a wish that does not say that it is for always, nor to whom it matters.
ONCE = "set once"
#: What a stretch may be as a whole, so that nothing in it is its speaker's word, and how far that is ahead.
_FRAMES, _FRAMED = (Sort.TASK, Sort.QUESTION, Sort.HYPOTHETICAL, Sort.QUOTE), 1500
#: What is always about something that is known, and how near to it a sentence comes that may mean it.
_OF_KNOWN, _LEANS = (Sort.CORRECT, Sort.FORGET), 5000
#: How much of a sentence says whose words follow: "he said that …".
_OPENING = 24
#: How sure it must be that a question without "always" sets something.
_ASKED_TO_SET = 3000
#: So few words without "always" are about the answer at hand, unless it is as sure.
_BRIEF = 2
_EDGES = f" \t\n\v,，、;；:：-—–{PAUSE}"
_END = "。．.!！?？"
#: What stands between plain quotation marks, which may as well be apostrophes.
_QUOTED = re.compile(r"(?<![a-z0-9])'[^'\n]{8,}'(?![a-z])")
_FENCE = re.compile(r"^ ?(?:```|~~~)[^\n]*", re.MULTILINE)
_LETTER = re.compile(r"[^\W_]")
_DENSE = re.compile("[\u0e01-\u0e2e\u3400-\u9fff]")
_CHARACTER = re.compile("[\u3400-\u9fff]")


class Act(StrEnum):
    """What is done about it."""

    ACT = "act"
    ASK = "ask"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """One part of a message, as somebody means it."""

    sort: Sort
    act: Act
    text: str  #: as typed
    margin: int  #: how far it is ahead of what would be left alone, in thousandths of a logit
    timed: bool  #: it may be meant for a time
    passes: bool = False  #: it is told in passing, and as likely to be meant for a time
    own: bool = False  #: it begins as a statement about its speaker does
    wishes: bool = True  #: it is rather a way to answer than something that is so
    otherwise: Sort | None = None  #: what it is where nothing is known that it could be about
    leans: Sort | None = None  #: what it may well mean, where something is known that it is about
    because: tuple[str, ...] = ()  #: what speaks most for it
    span: Span  #: where it stands in the view
    typed: Span  #: and in the message


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of the view with its scores."""

    start: int
    end: int
    scores: dict[Sort, int]
    seen: Seen
    among: bool = False  #: it stands beside others, and they were weighed in

    @property
    def sort(self) -> Sort:
        return max(self.scores, key=lambda sort: self.scores[sort])

    def margin(self, sort: Sort) -> int:
        return self.scores[sort] - max(self.scores[one] for one in LEFT)

    @property
    def is_frame(self) -> bool:
        """Whether it is clearly a task, a question or a quotation, and not what it is made of."""
        asks = max(score for sort, score in self.scores.items() if sort not in LEFT)
        return max(self.scores[one] for one in _FRAMES) - asks >= _FRAMED


def _row(scores: Mapping[Sort, int]) -> Wholes:
    return np.array([scores[sort] for sort in Sort], dtype=np.int64)


def _by_sort(row: Wholes) -> dict[Sort, int]:
    return {sort: int(score) for sort, score in zip(Sort, row, strict=True)}


def _id_of(reader: Reader | None) -> str:
    """Which encoder reads; empty for none, and for one whose files cannot be read."""
    try:
        return "" if reader is None else reader.embedder_id
    except LaminaError:
        return ""


def is_paste(hearing: Hearing) -> bool:
    """Whether a message is too long to be what somebody says to their memory."""
    return len(hearing.said) > LONGEST or len(hearing.sentences) > SENTENCES


def ends_of(text: str) -> str:
    """What of a message says what it is: all of it, or how a paste begins, and the paragraph after it.

    What follows the last blank line, or the last fence, is its person's; in a fence nothing is.
    """
    if len(text) <= 2 * LONGEST:
        return text
    fences = [found.end() for found in _FENCE.finditer(text)]
    after = text.rfind("\n\n") if not fences else fences[-1] if len(fences) % 2 == 0 else -1
    head = text[:LONGEST] + "\n```" * (sum(end <= LONGEST for end in fences) % 2)
    is_short = after >= 0 and len(text) - after <= LONGEST
    return f"{head}\n\n{text[after:].lstrip()}" if is_short else head


class Listener:
    """A message as a model hears it; `examples` are what the person said of earlier ones, and `reader` an
    encoder, where there is one."""

    def __init__(
        self,
        hearing: Hearing,
        examples: Sequence[Example] = (),
        reader: Reader | None = None,
        model: Sorter | None = None,
    ) -> None:
        self.hearing, self._examples = hearing, examples
        self._model, self._reader = model or sorter(), reader
        self._second = self._model.second(_id_of(reader))
        self._known: dict[Span, _Part] = {}
        self._midway: dict[Span, Wholes] = {}
        self._made: list[_Part] | None = None
        self._judged: list[_Part] | None = None
        self._played = is_played(hearing.said)
        self._unmeant = has_sign("unmeant", hearing.said)
        self._joking = has_sign("joke", hearing.said)

    def part(self, start: int, end: int) -> _Part:
        """A stretch with its scores, read once."""
        if (start, end) not in self._known:
            self._known[start, end] = self._scored(start, end)
        return self._known[start, end]

    def _scored(self, start: int, end: int) -> _Part:
        seen = features(self.hearing, start, end)
        found = self._model.first(seen.hashes)
        if (start, end) not in self._midway:
            self._read([(start, end)])
        if self._second is not None:
            found = self._second.scores(found, seen.signs, self._midway.get((start, end)))
        scores = _by_sort(found)
        if told := told_sort(self.hearing.view.slice(start, end), self._examples):
            scores |= {told: max(scores.values()) + _TOLD}
        return _Part(start, end, scores, seen)

    def _read(self, spans: Sequence[Span]) -> None:
        """Have the encoder read some stretches together; where it cannot, letters must do."""
        finders = None if self._second is None else self._second.finders
        if not spans or self._reader is None or finders is None:
            return
        try:
            rows = self._reader.midway([words(self.hearing, *span) for span in spans], finders)
        except LaminaError:
            self._reader, self._second = None, self._model.plain
            return
        self._midway.update(zip(spans, rows, strict=True))

    def parts_at(self, spans: Sequence[Span]) -> list[_Part]:
        """Stretches with their scores, read together."""
        self._read([one for one in spans if one not in self._midway])
        return [self.part(*one) for one in spans]

    def parts(self) -> list[_Part]:
        """What a message is made of: its sentences, or what stands beside one another in them; heard once."""
        if self._made is None:
            self._made = self._parts()
        return self._made

    def judged(self) -> list[_Part]:
        """The clauses of a message, each weighed among the others; none where it is one, or a paste."""
        if self._judged is None:
            beside, clauses = self._model.beside, [] if is_paste(self.hearing) else self.clauses()
            rows = [] if beside is None or len(clauses) < 2 else in_message(beside, clauses)
            self._judged = [
                _Part(one.start, one.end, self._told_anew(one, _by_sort(row)), one.seen, among=True)
                for one, row in zip(clauses, rows, strict=False)
            ]
        return self._judged

    def _parts(self) -> list[_Part]:
        each = self.judged()
        if not each:
            paste = is_paste(self.hearing)
            return [] if paste else self.parts_at([(one.start, one.end) for one in self._sentences()])
        runs = [list(run) for _, run in groupby(each, lambda one: (self._sentence_of(one), one.sort))]
        before = [None, *(run[-1] for run in runs)]
        parts = [part for last, run in zip(before, runs, strict=False) for part in self._told(last, run)]
        said = groupby(parts, self._sentence_of)
        parts = [one for _, each in said for one in self._as_asked(list(each))]
        return self._on_the_whole(parts)

    def _as_asked(self, parts: list[_Part]) -> list[_Part]:
        """The parts of a sentence; one that clearly asks for something is one part, but for what is asked
        at its end, and for what is told beside a way to answer."""
        sentence = self.hearing.sentence_at(parts[0].start)
        whole = self.part(sentence.start, sentence.end)
        asks = whole.sort in _WISHES and self.act(whole) is Act.ACT
        if not asks or sentence.end - sentence.start > LONGEST_PART:
            return self._on_the_whole(parts)
        acts = {one.sort for one in parts if self.act(one) is Act.ACT}
        tells = whole.sort is not Sort.REMEMBER and Sort.LASTING in acts
        # Behind a time a task is what is wished for: "Today only: swear as much as you like".
        ends = (Sort.QUESTION,) if whole.sort is Sort.TEMPORARY else _ASKS
        return parts if whole.sort in acts and (tells or parts[-1].sort in ends) else [whole]

    def _on_the_whole(self, parts: list[_Part]) -> list[_Part]:
        """A short sentence, or message, as one part, where it asks for something and no part of it does by
        itself: "Mental note for us both. The landlord is called Nowicki."."""
        start, end = parts[0].start, parts[-1].end
        if len(parts) < 2 or end - start > LONGEST_PART:
            return parts
        if any(self.act(one) is Act.ACT for one in parts if one.sort is not Sort.CORRECT):
            return parts
        whole = self.part(start, end)
        clear = whole.margin(whole.sort) >= self._least(whole) + _AS_A_WHOLE
        return [whole] if clear and whole.sort in _WISHES and self.act(whole) is Act.ACT else parts

    def clauses(self) -> list[Clause]:
        """The clauses of the message, each with its scores and those of its sentence."""
        found = [(one, clauses_in(self.hearing, one)) for one in self._sentences()]
        spans = [span for _, each in found for span in each]
        self._read(list(dict.fromkeys([*spans, *((one.start, one.end) for one, _ in found)])))
        return [self._clause(one, span) for one, each in found for span in each]

    def _sentences(self) -> list[Sentence]:
        return [one for one in self.hearing.sentences if _has_words(self.hearing, one)]

    def meant(self, typed: Span) -> _Part | None:
        """The clearest part that a stretch of the message has a share in, where parts stand among others."""
        near = [
            one for one in self.parts() if one.among and _meet(self.hearing.span(one.start, one.end), typed)
        ]
        return max(
            near, key=lambda one: max(one.margin(sort) for sort in Sort if sort not in LEFT), default=None
        )

    def wishes_gone(self, span: Span) -> bool:
        """Whether a clause in a stretch of the view wishes something forgotten; a single one may."""
        near = [one for one in self.judged() if _meet((one.start, one.end), span)]
        return not near or any(one.sort is Sort.FORGET for one in near)

    def _sentence_of(self, part: _Part) -> int:
        return self.hearing.sentence_at(part.start).start

    def _told_anew(self, clause: Clause, scores: dict[Sort, int]) -> dict[Sort, int]:
        """What is plainly told stays it, whatever stands beside it; and what puts something right is a
        statement of what holds now, where it is not clearly the former."""
        signs = clause.seen.signs
        plain = signs >= _PLAINLY and not signs & _APART and "unsaid" not in signs
        clear = plain and self.part(clause.start, clause.end).margin(Sort.LASTING) >= _BY_ITSELF
        if clear and self.hearing.is_spoken(clause.sentence, clause.start):
            return {**scores, Sort.LASTING: max(scores.values()) + _BY_ITSELF}
        best, told = max(scores, key=lambda sort: scores[sort]), scores[Sort.LASTING]
        others = max(score for sort, score in scores.items() if sort not in (*LEFT, *_OF_KNOWN, Sort.LASTING))
        limits = {} if self._model.beside is None else self._model.beside.thresholds
        clear = scores[best] - max(scores[one] for one in LEFT) >= limits.get(best, 0)
        if best is not Sort.CORRECT or clear or others > told:
            return scores
        return {**scores, Sort.CORRECT: told, Sort.LASTING: scores[best]}

    def _clause(self, sentence: Sentence, span: Span) -> Clause:
        alone, whole = self.part(*span), self.part(sentence.start, sentence.end)
        return Clause(*span, sentence, _row(alone.scores), _row(whole.scores), alone.seen)

    def _told(self, before: _Part | None, run: list[_Part]) -> list[_Part]:
        """Clauses of one sort that stand together, as what they say: several statements are several parts."""
        if run[0].sort is not Sort.LASTING:
            return [self._as_one(run)]
        said, made = self.hearing.said, [[run[0]]]
        near = before is not None and self._sentence_of(before) == self._sentence_of(run[0])
        if before is not None and near and self._goes_on(before, run[0]):
            made = [[replace(before, scores=run[0].scores), run[0]]]  # whose it is stands before it
        others = phrases_of("kin").search(said, made[0][0].start, run[0].end) is not None
        waits = phrases_of("sensitive").search(said, run[0].start, run[-1].end)  # as a whole
        for one in run[1:]:
            own = self._is_own(one)
            joins = _JOINS.match(said, one.start, one.end)
            opens = phrases_of("opens").match(said, joins.end() if joins else one.start, one.end)
            alone = opens and not waits and (own or not others)
            if (alone and self.part(one.start, one.end).margin(Sort.LASTING) >= 0) or (
                one.end - made[-1][0].start > LONGEST_PART
            ):
                made.append([one])
            else:
                made[-1].append(one)
            others = phrases_of("kin").search(said, one.start, one.end) is not None or (others and not own)
        clearest = max(run, key=lambda one: one.margin(one.sort)).scores
        return [replace(self._as_one(each), scores=clearest) for each in made]

    def _is_own(self, part: _Part) -> bool:
        at = self._behind_bridge(part.start, part.end)
        return self.hearing.cue("speakers").match(self.hearing.said, at) is not None

    def _goes_on(self, before: _Part, part: _Part) -> bool:
        """Whether a statement without a speaker stands behind somebody who may be meant."""
        kin = phrases_of("kin").search(self.hearing.said, before.start, before.end)
        short = part.end - before.start <= LONGEST_PART
        return kin is not None and short and before.sort in _NAMES_WHOM and not self._is_own(part)

    def _behind_bridge(self, start: int, end: int) -> int:
        """Where a statement begins that a word such as "because" ties to what stands before it."""
        found = phrases_of("bridges").match(self.hearing.said, start, end)
        return found.end() if found and found.end() < end else start

    def _as_one(self, run: Sequence[_Part]) -> _Part:
        """Clauses as one part, as clear as the clearest of them."""
        best = max(run, key=lambda one: one.margin(one.sort))
        start, end = run[0].start, run[-1].end
        if best.sort is Sort.LASTING:
            start = self._behind_bridge(start, end)
        same = (start, end) == (best.start, best.end)
        seen = best.seen if same else features(self.hearing, start, end)
        return _Part(start, end, best.scores, seen, among=True)

    def act(self, part: _Part) -> Act:
        """What a part comes to: the rules may exclude it, the thresholds decide."""
        sort, margin = part.sort, part.margin(part.sort)
        if sort in LEFT or self._is_excluded(part):
            return Act.LEAVE
        limits = self._limits
        if margin >= self._least(part):
            return Act.ACT
        return Act.ASK if margin >= limits.get(f"ask {sort}", 1 << 30) else Act.LEAVE

    def _least(self, part: _Part) -> int:
        """From which margin on something is done about a part."""
        beside = self._model.beside
        if part.sort is Sort.FORGET and self._is_plain(part):
            return 0  # it is all that is said: "Scratch that."
        limits = beside.thresholds if part.among and beside is not None else self._limits
        return limits.get(self.limit(part), 0)

    @property
    def _limits(self) -> Mapping[str, int]:
        return {} if self._second is None else self._second.thresholds

    def limit(self, part: _Part) -> str:
        """The name of the threshold for a part: who it is about, and whether it is for always, count."""
        if part.among:
            return part.sort
        signs = part.seen.signs
        if part.sort is Sort.LASTING:
            sentence = self.hearing.sentence_at(part.start)
            led = "own" not in signs and opens_with(
                "others", self.hearing.said[sentence.start : sentence.end]
            )
            if signs & _APART or led:
                return APART
            return part.sort if "own" not in signs else PLAIN if self._is_plain(part) else OWN
        if part.sort is Sort.SET:
            others = signs & {"sign others early", "sign cite early"}
            return part.sort if signs & {"sign tells", "cue lasts"} and not others else ONCE
        return part.sort

    def _is_plain(self, part: _Part) -> bool:
        """Whether a part is all that the message says, and short."""
        said = self.hearing.said[self.hearing.sentences[0].start :].strip(_EDGES + _END)
        longest = _PLAIN_LETTER if _DENSE.search(said) else _PLAIN_LONGEST
        return len(said) <= min(longest, part.end - part.start)

    def _is_excluded(self, part: _Part, sort: Sort | None = None) -> bool:
        """Quoted, supposed, reported, played or asked: none of it is the speaker's own statement."""
        hearing, sentence = self.hearing, self.hearing.sentence_at(part.start)
        said = hearing.said[part.start : part.end]
        marked = sentence.marked and part.end >= sentence.end
        # What is asked after a statement leaves it what it is: "I live in Leeds, where can I swim?"
        end = part.end if part.start <= sentence.start else sentence.end
        asked = marked or asks_anywhere(said if part.among else hearing.said[sentence.start : end])
        sort = sort or part.sort
        doubtful = part.margin(sort) < _ASKED_TO_SET
        match sort:
            case Sort.LASTING:
                quoted = UNSAID in said or _QUOTED.search(said) is not None
                unmeant = (
                    self._played or self._unmeant or phrases_of("never_forgets").search(said) is not None
                )
                return quoted or asked or unmeant or (part.among and self._is_material(part))
            case Sort.CORRECT:
                return marked
            case Sort.SET:  # "whenever you show me code" supposes nothing
                report = hearing.cue("reports").search(said)
                others = part.seen.signs & {"sign others early", "sign cite early"}
                reported = (
                    report is not None
                    and (doubtful or bool(others))
                    and not hearing.cue("reports_self").search(said[: report.start()])
                )
                brief = len(said.split()) <= _BRIEF and len(said) <= 8 * _BRIEF  # about one answer, as a rule
                once = (asked or brief) and not hearing.cue("lasts").search(said)
                return reported or (doubtful and (once or self._played or self._unmeant))
            case Sort.REMEMBER:  # what is decided stands among the decisions
                decides = hearing.book.any_of("statement", "decides").match(said.lstrip(_EDGES))
                asks = any(one.sort is Sort.REMEMBER for one in self.judged()[1:])
                return (decides is not None and not asks) or (doubtful and (asked or self.in_fun))
            case Sort.FORGET:  # whoever says what holds instead puts something right
                amends = hearing.cue("amends").search(said)
                return doubtful and amends is not None and len(said) > amends.end() - amends.start()
            case Sort.TEMPORARY:
                passing = doubtful and (asked or self._unmeant)
                return passing or not hearing.is_spoken(sentence, part.start + 1)
        return False

    def _is_material(self, part: _Part) -> bool:
        """Whether a statement stands where the words do that are to be translated or mended."""
        start = self.hearing.sentence_at(part.start).start
        cut = max(start, part.start - _REACH)
        said = self.hearing.said
        if _REWORKS.search(said, cut, part.start):
            return True
        counts = _DIGIT.search(said, part.start, part.end) is not None
        return counts and _COUNTS.search(said, cut, part.start) is not None

    @property
    def in_fun(self) -> bool:
        """Whether the message is played, said in fun, or says itself that it asks for nothing."""
        return self._played or self._unmeant or self._joking

    def _otherwise(self, part: _Part) -> Sort | None:
        """The best of the sorts that stand by themselves, where it is clear enough for one."""
        sorts = [one for one in Sort if one not in LEFT and one not in _OF_KNOWN]
        clear = [one for one in sorts if part.margin(one) >= self._limits.get(one, 0)]
        clear = [one for one in clear if not self._is_excluded(part, one)]
        return max(clear, key=lambda one: part.scores[one], default=None)

    def _leaning(self, part: _Part) -> Sort | None:
        """Which of the sorts that are about something known it comes near, where the rules allow it."""
        sort = max(_OF_KNOWN, key=lambda one: part.scores[one])
        pretends = self._played and part.sort is not Sort.FORGET  # "pretend I never told you" plays nothing
        if pretends or "unsaid" in part.seen.signs:
            return None
        sentence = self.hearing.sentence_at(part.start)
        dense = _CHARACTER.search(self.hearing.said, part.start, part.end) is not None
        early = min(part.end, part.start + (_OPENING // 3 if dense else _OPENING))
        if self.is_clear(part) and (self._played or self.hearing.is_spoken(sentence, early)):
            return sort  # "could you drop that?"; "…, I mix them up when I type"
        # A clause of its own stays what it is beside a question: "we moved to ten, what bus do I take?"
        marked = sentence.marked and part.end >= sentence.end
        asks = marked or asks_anywhere(self.hearing.said[part.start : part.end])
        spoken = self.hearing.is_spoken(sentence, part.end)
        return sort if spoken and not asks and is_near(part.scores) else None

    def is_clear(self, part: _Part) -> bool:
        """Whether it is clear that a part puts something right, or asks that something be forgotten."""
        return part.sort in _OF_KNOWN and self.act(part) is Act.ACT

    def understood(self, part: _Part, *, explain: bool) -> Understood:
        names = named(self.hearing, part.start, part.end) if explain else {}
        return Understood(
            sort=part.sort,
            act=self.act(part),
            text=words(self.hearing, part.start, part.end),
            margin=part.margin(part.sort),
            timed=part.scores[Sort.TEMPORARY] >= part.scores[part.sort] - _TIMED,
            passes=part.margin(Sort.TEMPORARY) >= -_AS_LIKELY
            and (part.sort in _TOLD_OF or (part.sort is Sort.TEMPORARY and not self._is_excluded(part))),
            leans=self._leaning(part),
            own="own" in part.seen.signs,
            wishes=part.scores[Sort.SET] >= max(part.scores[Sort.LASTING], part.scores[Sort.PASSING]),
            otherwise=self._otherwise(part),
            because=tuple(self._model.strongest(part.seen.hashes, part.sort, names)) if explain else (),
            span=(part.start, part.end),
            typed=self.hearing.span(part.start, part.end),
        )


#: What the person's own word about a sentence is worth, beside the model's.
_TOLD = 10_000
#: How far the model must be ahead before it is believed against a rule.
_VETO, _SWAP = 2500, 600
#: What is kept, or obeyed, by itself.
_KEPT = (Sort.REMEMBER, Sort.SET)
#: How near it may be to something meant for a time, where a time is named.
_TIMED = 2500
#: What passes or is about others, and how near it may be to what is meant for a time, with an end named.
_TOLD_OF, _AS_LIKELY = (Sort.PASSING, Sort.THIRD), 1000
#: And how far a question must sound like a request to remember.
_ASKED = 1000


@dataclass(frozen=True, slots=True)
class Doubt:
    """What the model says of a command that a rule found."""

    vetoed: bool  #: it is no command at all
    in_jest: bool  #: it is played or said in fun, whatever it names
    clear: bool  #: it is ahead of everything that asks for nothing
    instead: Sort | None  #: it is a command of another sort
    timed: bool  #: it may be meant for a time


def doubt(listener: Listener, span: Span, sort: Sort) -> Doubt:
    """Whether what a rule took for a command of this sort is one; `span` is in the message."""
    hearing = listener.hearing
    sentence = sentence_of(hearing, span)
    part = listener.meant(span) or listener.part(sentence.start, sentence.end)
    best, own = part.sort, max(score for one, score in part.scores.items() if one not in LEFT)
    ahead = part.scores[best] - part.scores[sort]
    margin = own - max(part.scores[one] for one in LEFT)
    alone = listener.part(sentence.start, sentence.end)
    asked = sentence.marked and margin < _ASKED and part.end >= sentence.end
    return Doubt(
        clear=min(margin, max(alone.margin(one) for one in Sort if one not in LEFT)) >= _ASKED,
        in_jest=sort in _KEPT and listener.in_fun and margin < _ASKED_TO_SET,
        vetoed=(sort is Sort.REMEMBER and (-margin >= _VETO or asked))
        # Words between quotation marks that shall be others are those of a text at hand.
        or (sort is Sort.CORRECT and -margin >= _VETO and "unsaid" in part.seen.signs),
        instead=best if best not in LEFT and best is not sort and ahead >= _SWAP else None,
        timed=part.scores[Sort.TEMPORARY] >= part.scores[best] - _TIMED,
    )


#: A message of more sentences, or longer, is looked at part by part.
_TOGETHER, _FEW = 240, 4


def is_near(scores: Mapping[Sort, int]) -> bool:
    """Whether a sentence may be about something that was said before."""
    return nearness(scores) >= -_LEANS


def nearness(scores: Mapping[Sort, int]) -> int:
    """How much speaks for it that a sentence is about something that was said before; 0 where most does."""
    return max(scores[one] for one in _OF_KNOWN) - max(scores.values())


def heard_whole(listener: Listener) -> _Part | None:
    """A short message as one stretch, with its scores: its sentences say together what it is about."""
    hearing = listener.hearing
    own = [one for one in hearing.sentences if _has_words(hearing, one)]
    if not own or len(own) > _FEW or own[-1].end - own[0].start > _TOGETHER:
        return None
    return listener.part(own[0].start, own[-1].end)


def said_around(hearing: Hearing, span: Span) -> str:
    """The sentence, as typed, in which a stretch of the message stands."""
    sentence = sentence_of(hearing, span)
    return words(hearing, sentence.start, sentence.end)


def sentence_of(hearing: Hearing, span: Span) -> Sentence:
    """The sentence in which the middle of a stretch of the message stands."""
    at = bisect_left(hearing.view.starts, (span[0] + span[1]) // 2)
    return hearing.sentence_at(min(at, max(0, len(hearing.said) - 1)))


def understand(listener: Listener, taken: Sequence[Span] = (), *, explain: bool = False) -> list[Understood]:
    """What each part of a message is, in order; `taken` are stretches of the text that rules made commands
    of; asked to `explain`, it says what speaks for each. Never raises; linear in the text.
    """
    hearing = listener.hearing
    every = listener.parts()
    parts = [one for one in every if not _overlaps(hearing.span(one.start, one.end), taken)]
    heard = [listener.understood(one, explain=explain) for one in parts]
    if len(every) > 1 and "\n" in hearing.said.strip():  # orders in a README, a play
        heard = [replace(one, act=Act.LEAVE) if one.sort in _KEPT else one for one in heard]
    return list(_joined(hearing, heard))


def _overlaps(span: Span, taken: Sequence[Span]) -> bool:
    return any(_meet(span, one) for one in taken)


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def asked_after(listener: Listener, typed: Span) -> int:
    """Where in the message, from a place on, something else is asked: what is to be kept ends there."""
    hearing = listener.hearing
    starts = [hearing.span(one.start, one.end)[0] for one in listener.parts() if one.sort in _ASKS]
    return min((at for at in starts if typed[0] < at), default=typed[1])


def _joined(hearing: Hearing, parts: Sequence[Understood]) -> Iterator[Understood]:
    """Statements that only go on with the one before stand with it: "I don't drive. Never learned."."""
    last: Understood | None = None
    for one in parts:
        if last is not None and _goes_on(hearing, last, one):
            span = (last.span[0], one.span[1])
            last = replace(last, span=span, typed=hearing.span(*span), text=words(hearing, *span))
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last


def _goes_on(hearing: Hearing, last: Understood, one: Understood) -> bool:
    """Whether a lasting statement without a subject of its own follows another."""
    said = hearing.said[one.span[0] : one.span[1]].lstrip(_EDGES)
    both = last.sort is one.sort is Sort.LASTING and last.act is not Act.LEAVE
    both = both and hearing.sentence_at(last.span[0]) != hearing.sentence_at(one.span[0])
    return both and not hearing.cue("speakers").match(said)


def words(hearing: Hearing, start: int, end: int) -> str:
    """What was typed there, on one line, with its full stop."""
    said = hearing.view
    if end < len(said.text) and said.slice(end, end + 1) in _END and said.slice(end, end + 1):
        end += 1
    return " ".join(said.slice(start, end).split()).strip(_EDGES)


def _has_words(hearing: Hearing, sentence: Sentence) -> bool:
    said = hearing.said[sentence.start : sentence.end]
    return bool(_LETTER.search(said.replace(UNSAID, "")))
