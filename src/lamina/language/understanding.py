"""What a person does with each part of a message: rules that exclude, a model, then act, ask or leave."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from lamina.errors import LaminaError
from lamina.language.clauses import UNSAID
from lamina.language.examples import Example, told_sort
from lamina.language.features import Seen, features, named
from lamina.language.framing import asks_anywhere, has_sign, is_played, opens_with, phrases_of
from lamina.language.hearing import Hearing, Sentence
from lamina.language.sorts import LEFT, Reader, Sort, Sorter, Wholes, sorter
from lamina.language.view import PAUSE, Span
from lamina.records import dataclass

#: A message of more sentences than this is a paste: only rules look for commands in it.
SENTENCES = 24
#: And so is one that is longer than this.
LONGEST = 2400
#: How many clauses of a long sentence are looked at one by one.
_CLAUSES = 16
#: The thresholds of statements that begin with their speaker, and of those about somebody else, the past,
#: what may be, or in fun.
OWN, APART = "lasting own", "lasting apart"
#: The threshold of one short statement that is the whole message: "I live in Oslo." is what it says.
PLAIN = "lasting plain"
_PLAIN_LONGEST, _PLAIN_LETTER = 60, 20  #: characters, and of a writing whose characters say more
_APART = frozenset({"sign others early", "sign past early", "sign perhaps early", "sign joke"})
#: The threshold of a wish that does not say that it is for always, nor to whom it matters.
ONCE = "set once"
#: What a sentence or a message may be as a whole, so that its clauses are no word of the speaker.
_FRAMES = (Sort.TASK, Sort.QUESTION, Sort.HYPOTHETICAL, Sort.QUOTE)
#: What is always about something that is known, and how near to it a sentence comes that may mean it.
_OF_KNOWN, _LEANS = (Sort.CORRECT, Sort.FORGET), 5000
#: What a clause is that asks for something beside a statement of its speaker, and in how many it may stand.
_ASKS, _ASKED_IN = (Sort.TASK, Sort.QUESTION, Sort.SET, Sort.PASSING, Sort.CHAT), 2
#: What is to be done to the words that follow: they are no statement.
_REWORKS = re.compile(
    r"\b(?:translat|proofread|grammar|rewrite|rephrase|reword|edit|correct|fix|spell|say)|แปล|ตรวจ|เกลา|แก้|พิสูจน์อักษร"
    r"|翻译|润色|改写|校对|纠错|修改|语法|病句|造句|接龙|怎么说"
)
#: How long a greeting is that stands before a statement.
_GREETING = 14
#: How much of a sentence says whose words follow: "he said that …".
_OPENING = 24
#: How far a frame may be ahead of everything that asks for something before no clause in it counts.
_FRAMED = 1500
#: How much clearer a clause has to be than a sentence: what makes it something else may stand beside it.
_CLEARER = 1200
#: A sentence longer than this may have one clause that counts.
LONG = 60
#: How much clearer a message has to be as a whole where none of its sentences asks for something.
_AS_A_WHOLE = 600
#: How sure it must be that a question without "always" sets something.
_ASKED_TO_SET = 3000
#: So few words without "always" are about the answer at hand, unless it is as sure.
_BRIEF = 2
_CLAUSE = re.compile(rf"[,、{PAUSE}]|(?<= )[-–—]+(?= )")
_EDGES = f" \t\n\v,，、;；:：-—–{PAUSE}"
_END = "。．.!！?？"
#: What stands between plain quotation marks, which may as well be apostrophes.
_QUOTED = re.compile(r"(?<![a-z0-9])'[^'\n]{8,}'(?![a-z])")
_FENCE = re.compile(r"^ ?(?:```|~~~)[^\n]*", re.MULTILINE)
_LETTER = re.compile(r"[^\W_]")
_DENSE = re.compile("[\u0e01-\u0e2e\u3400-\u9fff]")


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
        self._pieces: set[Span] = set()  # of statements that are kept
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
        scores = {sort: int(score) for sort, score in zip(Sort, found, strict=True)}
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

    def parts(self) -> list[_Part]:
        """The sentences of the message; a long one whose clause counts is that clause."""
        if is_paste(self.hearing):
            return []
        sentences = [one for one in self.hearing.sentences if _has_words(self.hearing, one)]
        self._read([(one.start, one.end) for one in sentences])
        parts = [part for one in sentences for part in self._told(one)]
        return self._together(parts) or parts

    def _together(self, parts: Sequence[_Part]) -> list[_Part]:
        """All of a message, where it asks for something and no sentence of it does by itself: "Mental note
        for us both. The landlord is called Nowicki."."""
        if len(parts) < 2 or any(self.act(one) is not Act.LEAVE for one in parts):
            return []
        whole = self.part(parts[0].start, parts[-1].end)
        clear = whole.margin(whole.sort) >= self._limits.get(self.limit(whole), 0) + _AS_A_WHOLE
        return [whole] if clear and self.act(whole) is Act.ACT else []

    def _told(self, sentence: Sentence) -> list[_Part]:
        whole = self.part(sentence.start, sentence.end)
        if led := self._led(whole):
            return led
        if self.act(whole) is Act.ACT or self._is_made_of_statements(whole):
            return self._with_facts(whole) or self._apart(whole)
        if whole.is_frame or sentence.end - sentence.start <= LONG:
            return [whole]
        spans = list(windows(self.hearing, sentence))
        self._read(spans)
        clauses = [self.part(*span) for span in spans]
        sure = [one for one in clauses if one.sort not in LEFT and self.act(one) is Act.ACT]
        return [max(sure, key=lambda one: (one.margin(one.sort), one.end - one.start), default=whole)]

    def _led(self, whole: _Part) -> list[_Part]:
        """What a person tells of themselves beside what they ask for in the same sentence, and that:
        "I'm diabetic, can you plan a dinner?"."""
        cuts = [found.span() for found in _CLAUSE.finditer(self.hearing.said, whole.start, whole.end)]
        start = self._greeted(whole, cuts)
        cuts = [one for one in cuts if one[0] > start]
        splits = [((start, low), (high, whole.end)) for low, high in cuts[-_ASKED_IN:]]
        if whole.sort in (Sort.LASTING, *LEFT):  # `帮我看看发票，我开五金店`
            splits += [((high, whole.end), (start, low)) for low, high in cuts[:1]]
        beside = [
            (told, asked)
            for span, ask in splits
            if self._may_ask(*ask) and (told := self.part(*span)).sort is Sort.LASTING
            if (asked := self.part(*ask)).sort in _ASKS and asked.margin(Sort.LASTING) <= -_FRAMED
            if (self._is_behind(told, asked) if asked.start < told.start else self.act(told) is Act.ACT)
        ]
        if not beside:
            return []
        told, asked = max(beside, key=lambda one: one[0].margin(Sort.LASTING))
        self._pieces.add((told.start, told.end))
        return sorted([*self._apart(told), asked], key=lambda one: one.start)

    def _is_behind(self, part: _Part, asked: _Part) -> bool:
        """Whether a part is its speaker's word behind what they ask for, and not what that is about."""
        said = self.hearing.said[part.start : part.end]
        other = (
            UNSAID in said
            or asks_anywhere(said)
            or _REWORKS.search(self.hearing.said, asked.start, asked.end)
        )
        clear = part.margin(Sort.LASTING) >= self._limits.get(self.limit(part), 0) + _CLEARER
        task = asked.sort is Sort.TASK and asked.scores[Sort.TASK] - asked.scores[Sort.QUOTE] >= _FRAMED
        own = task and self.hearing.cue("speakers").match(said.lstrip()) is not None
        return own and clear and not (other or self.in_fun)

    def _is_made_of_statements(self, whole: _Part) -> bool:
        """Whether a sentence that is none clearly enough is made of two, one of which is clear."""
        cut = _CLAUSE.search(self.hearing.said, whole.start, whole.end)
        if cut is None or whole.sort is not Sort.LASTING or self._is_excluded(whole):
            return False
        parts = [self.part(whole.start, cut.start()), self.part(cut.end(), whole.end)]
        clear = any(self.act(one) is Act.ACT for one in parts)
        return clear and all(one.sort is Sort.LASTING and one.margin(one.sort) >= 0 for one in parts)

    def _with_facts(self, whole: _Part) -> list[_Part]:
        """A way to answer, and what its speaker tells of themselves behind it."""
        said = self.hearing.said
        joints = phrases_of("joints").finditer(said, whole.start, whole.end)
        for found in joints if whole.sort is Sort.SET else ():
            if self.hearing.cue("speakers").match(said, found.end(), whole.end):
                told = self.part(found.end(), whole.end)
                if told.sort is Sort.LASTING and self.act(told) is Act.ACT:
                    span = (whole.start, found.start())
                    self._pieces.update((span, (told.start, told.end)))
                    return [_Part(*span, whole.scores, features(self.hearing, *span)), *self._apart(told)]
        return []

    def _greeted(self, whole: _Part, cuts: Sequence[Span]) -> int:
        """Where a sentence begins once a greeting is passed over."""
        low, high = cuts[0] if cuts else (whole.end, whole.end)
        short = high < whole.end and low - whole.start <= _GREETING
        return high if short and self.part(whole.start, low).sort is Sort.CHAT else whole.start

    def _may_ask(self, start: int, end: int) -> bool:
        """Whether a clause has a word that asks for something, so that reading it may be worth the while."""
        said = self.hearing.said[start:end]
        return has_sign("make", said) or asks_anywhere(said) or phrases_of("begs").search(said) is not None

    def _apart(self, part: _Part) -> list[_Part]:
        """A statement that is kept, as those it is made of, where each can stand by itself."""
        said, cuts = self.hearing.said, [part.start]
        if part.sort is not Sort.LASTING or phrases_of("sensitive").search(said, part.start, part.end):
            return [part]  # what waits for its person's word waits as a whole
        for found in phrases_of("joints").finditer(said, part.start, part.end):
            if found.end() < part.end and phrases_of("opens").match(said, found.end(), part.end):
                cuts += [found.start(), found.end()]
        spans = list(zip(cuts[::2], [*cuts[1::2], part.end], strict=True))
        if len(spans) < 2:
            return [part]
        self._read(spans)
        made: list[Span] = []
        others = False  # what has no speaker of its own goes on with the one who was named last
        for low, high in spans:
            piece = self.part(low, high)
            own = self.hearing.cue("speakers").match(said, low) is not None
            alone = piece.margin(Sort.LASTING) >= 0 and (own or not others)
            others = (alone and phrases_of("kin").search(said, low, high) is not None) or (others and not own)
            made = [*made, (low, high)] if alone or not made else [*made[:-1], (made[-1][0], high)]
        if len(made) < 2:
            return [part]
        self._pieces.update(made)
        return [_Part(*span, part.scores, features(self.hearing, *span)) for span in made]

    def act(self, part: _Part) -> Act:
        """What a part comes to: the rules may exclude it, the thresholds decide."""
        sort, margin = part.sort, part.margin(part.sort)
        if (part.start, part.end) in self._pieces:
            return Act.ACT
        if sort in LEFT or self._is_excluded(part):
            return Act.LEAVE
        limits = self._limits
        more = 0 if self._is_whole(part) else _CLEARER
        if margin >= limits.get(self.limit(part), 0) + more:
            return Act.ACT
        return Act.ASK if margin >= limits.get(f"ask {sort}", 1 << 30) else Act.LEAVE

    def _is_whole(self, part: _Part) -> bool:
        """Whether a part is a sentence of its own, and no clause that was taken out of one."""
        sentence = self.hearing.sentence_at(part.start)
        return part.start <= sentence.start and part.end >= sentence.end

    @property
    def _limits(self) -> Mapping[str, int]:
        return {} if self._second is None else self._second.thresholds

    def limit(self, part: _Part) -> str:
        """The name of the threshold for a part: who it is about, and whether it is for always, count."""
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

    def _is_excluded(self, part: _Part) -> bool:
        """Quoted, supposed, reported, played or asked: none of it is the speaker's own statement."""
        hearing, sentence = self.hearing, self.hearing.sentence_at(part.start)
        said = hearing.said[part.start : part.end]
        marked = sentence.marked and part.end >= sentence.end
        # What is asked after a statement leaves it what it is: "I live in Leeds, where can I swim?"
        end = part.end if part.start <= sentence.start else sentence.end
        asked = marked or asks_anywhere(hearing.said[sentence.start : end])
        doubtful = part.margin(part.sort) < _ASKED_TO_SET
        match part.sort:
            case Sort.LASTING:
                quoted = UNSAID in said or _QUOTED.search(said) is not None
                unmeant = (
                    self._played or self._unmeant or phrases_of("never_forgets").search(said) is not None
                )
                return quoted or asked or unmeant
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
            case Sort.REMEMBER:
                return doubtful and (asked or self.in_fun)
            case Sort.FORGET:  # whoever says what holds instead puts something right
                amends = hearing.cue("amends").search(said)
                return doubtful and amends is not None and len(said) > amends.end() - amends.start()
            case Sort.TEMPORARY:
                passing = doubtful and (asked or self._unmeant)
                return passing or not hearing.is_spoken(sentence, part.start + 1)
        return False

    @property
    def in_fun(self) -> bool:
        """Whether the message is played, said in fun, or says itself that it asks for nothing."""
        return self._played or self._unmeant or self._joking

    def _otherwise(self, part: _Part) -> Sort | None:
        """The best of the sorts that stand by themselves, where it is clear enough for one."""
        sorts = [one for one in Sort if one not in LEFT and one not in _OF_KNOWN]
        clear = [one for one in sorts if part.margin(one) >= self._limits.get(one, 0)]
        return max(clear, key=lambda one: part.scores[one], default=None)

    def _leaning(self, part: _Part) -> Sort | None:
        """Which of the sorts that are about something known it comes near, where the rules allow it."""
        sort = max(_OF_KNOWN, key=lambda one: part.scores[one])
        if self._played or "unsaid" in part.seen.signs:
            return None
        sentence = self.hearing.sentence_at(part.start)
        dense = _DENSE.search(self.hearing.said, part.start, part.end) is not None
        early = min(part.end, part.start + (_OPENING // 3 if dense else _OPENING))
        if self.is_clear(part) and self.hearing.is_spoken(sentence, early):
            return sort  # "could you drop that?"; "…, I mix them up when I type"
        asks = sentence.marked or asks_anywhere(self.hearing.said[sentence.start : sentence.end])
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
            own="own" in part.seen.signs or (part.start, part.end) in self._pieces,
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
_TOLD_OF, _AS_LIKELY = (Sort.PASSING, Sort.THIRD), 600
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
    part = listener.part(sentence.start, sentence.end)
    best, own = part.sort, max(score for one, score in part.scores.items() if one not in LEFT)
    ahead = part.scores[best] - part.scores[sort]
    margin = own - max(part.scores[one] for one in LEFT)
    asked = sentence.marked and margin < _ASKED
    return Doubt(
        clear=margin >= _ASKED,
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
    return max(scores.values()) - max(scores[one] for one in _OF_KNOWN) <= _LEANS


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
    parts = [part for one in every for part in _beside(listener, one, taken)]
    heard = [listener.understood(one, explain=explain) for one in parts]
    if any(one.is_frame for one in every):  # "put these in a table: …" is about what stands beside it
        lines = "\n" in hearing.said.strip()
        heard = [
            replace(one, act=Act.LEAVE) if _is_material(one, lines=lines) or _is_once(hearing, one) else one
            for one in heard
        ]
    return list(_joined(hearing, heard))


def _is_material(part: Understood, *, lines: bool) -> bool:
    """Whether a part, beside a task or a question, is what that is about, and nothing of the speaker.

    In a message of several `lines` orders are those of the text that stands there: a README, a play.
    """
    if part.sort in (Sort.SET, Sort.REMEMBER) and lines:
        return True
    told = part.sort in (Sort.LASTING, Sort.TEMPORARY)
    return not part.own and (told or (part.sort is Sort.REMEMBER and part.margin < _ASKED_TO_SET))


def _is_once(hearing: Hearing, part: Understood) -> bool:
    """Whether a way to answer, beside a task or a question, is meant for that: it does not say "always"."""
    said = hearing.said[slice(*part.span)]
    return part.sort is Sort.SET and not (hearing.cue("lasts").search(said) or has_sign("tells", said))


def _beside(listener: Listener, part: _Part, taken: Sequence[Span]) -> list[_Part]:
    """What of a part rules made no command of: all of it, or what its speaker tells after the command."""
    hearing = listener.hearing
    if not _overlaps(hearing.span(part.start, part.end), taken):
        return [part]
    cuts = [found.end() for found in phrases_of("joints").finditer(hearing.said, part.start, part.end)]
    rest = [listener.part(at, part.end) for at in cuts if not _overlaps(hearing.span(at, part.end), taken)]
    return [one for one in rest[:1] if one.sort is Sort.LASTING and listener.act(one) is Act.ACT]


def _overlaps(span: Span, taken: Sequence[Span]) -> bool:
    return any(low < span[1] and span[0] < high for low, high in taken)


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


def windows(hearing: Hearing, sentence: Sentence) -> Iterator[Span]:
    """Every clause of a sentence, and every two that follow one another."""
    cuts = [found.span() for found in _CLAUSE.finditer(hearing.said, sentence.start, sentence.end)]
    starts = [sentence.start, *(end for _, end in cuts)][:_CLAUSES]
    ends = [*(start for start, _ in cuts), sentence.end][: len(starts)]
    if len(starts) < 2:
        return
    for size in (1, 2):
        for at in range(len(starts) - size + 1):
            if _LETTER.search(hearing.said, starts[at], ends[at + size - 1]):
                yield starts[at], ends[at + size - 1]
