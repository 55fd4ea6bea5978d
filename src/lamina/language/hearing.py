"""Where in a message a command may stand, and what keeps one that stands there from being meant."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice

from lamina.language.clauses import UNSAID, filler, languages_of, without_quotations
from lamina.language.framing import phrases_of, without_pasted
from lamina.language.rulebook import Rule, Rulebook, packaged
from lamina.language.view import PAUSE, View, view_of
from lamina.records import dataclass

#: So many clauses of a sentence are looked at; the last one holds the rest.
CLAUSES = 32
#: A clause has at least so many letters, by its writing; what is shorter stands with the next one.
_LEAST, _LEAST_DENSE = 5, 3
_ONE_WORD = 20  #: and so many, where it is one word of English
_LETTER = re.compile(r"[^\W_]")
_DENSE = re.compile("[\u0e01-\u0e2e\u3400-\u9fff]")
#: How far an ending of a sentence is looked for.
_TAIL = 80
#: Longer messages are not kept.
_SHORT = 2000
#: How many words such as "please" may stand before a command.
_LEADS = 6
#: How many places are looked at where a command may begin: 64 KB of prose have half of that.
_STARTS = 4000

_FENCE = re.compile(r"(?:\A|(?<=\n))[ ]?(```|~~~)[\s\S]*?(?:\1|\Z)")
# A dot in `node.js`, after a title and in an address ends no sentence.
_STOP = re.compile(
    r"[!?](?![0-9a-z=&])[!?]*|。[!?]*|[;\n]"
    r"|(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)(?<!\bprof)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)"
    # nor does one in a Thai abbreviation such as `พ.ศ.`, and one before a Thai letter.
    r"(?<![\s\v.][\u0e01-\u0e2e])(?<![\s\v.][\u0e01-\u0e2e]{2})(?<![\s\v.][\u0e01-\u0e2e]{3})"
    r"(?<!\A[\u0e01-\u0e2e])(?<!\A[\u0e01-\u0e2e]{2})(?<!\A[\u0e01-\u0e2e]{3})\.(?![0-9a-z\u0e01-\u0e4e])"
)
_BULLET = re.compile(
    r"(?:[ \v*•·+–—~-]|\[[ x]?\]|[0-9]{1,3}[.)]|\([0-9a-z]{1,3}\)|[a-z]\)"
    r"|[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]){0,12}"
)
_LISTED = re.compile(r"[ ]?(?:[*•·+–-] ?|[0-9]{1,3}[.)] ?|\([0-9a-z]{1,3}\) ?)(?=\S)")
# A blank between scripts is a pause as well, or just a blank: it ends nothing unless a command follows.
_BREAK = re.compile(
    rf"[,、{PAUSE}(（—–]|(?<= )-(?= )"
    r"|(?<=[0-9a-z.)\x00]) (?=[\u0e01-\u0e4e\u4e00-\u9fff])|(?<=[\u0e01-\u0e4e\u4e00-\u9fff]) (?=[a-z])"
)
_COLON = re.compile(r":(?= ?\S)")
_WORD = re.compile(r"[^\W_]")
_BLANKS = re.compile(rf"[ ,{PAUSE}]{{0,4}}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of the view up to its stop."""

    start: int
    end: int  #: before the stop
    marked: bool  #: the stop is a question mark


@dataclass(frozen=True, slots=True)
class Start:
    """A place where a command may begin."""

    at: int
    cut: int  #: where what stands before it ends
    kind: str  #: of a `sentence`, of a `clause`, or after a `join` such as "and"
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Opening:
    """What stands at a start before a command, and what that says about it."""

    at: int  #: where the command itself begins
    cues: frozenset[str]
    qualifiers: tuple[tuple[Rule, re.Match[str]], ...]


@dataclass(frozen=True, slots=True)
class Hearing:
    """A message as commands are looked for in it."""

    view: View
    said: str  #: the folded text with a filler for what is quoted, fenced or handed over
    book: Rulebook
    sentences: tuple[Sentence, ...]

    def cue(self, does: str) -> re.Pattern[str]:
        return self.book.any_of("cue", does)

    def starts(self) -> Iterator[Start]:
        """Where a command may begin, from left to right within each sentence; nobody's prose has more."""
        return islice(self._starts(), _STARTS)

    def _starts(self) -> Iterator[Start]:
        for sentence in self.sentences:
            if not sentence.start < sentence.end:
                continue
            yield Start(self._skip(_BULLET, sentence.start), sentence.start, "sentence", sentence)
            commas = islice(_BREAK.finditer(self.said, sentence.start, sentence.end), _STARTS)
            breaks = [(found, "clause") for found in commas]
            joins = islice(self.cue("joins").finditer(self.said, sentence.start + 1, sentence.end), _STARTS)
            breaks += [(found, "join") for found in joins if found.end() > found.start()]
            breaks += [(found, "clause") for found in self._announced(sentence)]
            for found, kind in sorted(breaks, key=lambda each: each[0].start()):
                yield Start(self._skip(_BLANKS, found.end()), found.start(), kind, sentence)

    def _announced(self, sentence: Sentence) -> Iterator[re.Match[str]]:
        """The colon in "two things:", after which commands may follow."""
        found = _COLON.search(self.said, sentence.start, sentence.end)
        if found and self.book.any_ending("cue", "lists").search(self.said, sentence.start, found.end()):
            yield found

    def openings(self, start: Start) -> list[Opening]:
        """Where the command may begin once words such as "please" are passed over, longest first."""
        found = [Opening(start.at, frozenset(), ())]
        for _ in range(_LEADS):
            opening = self._further(found[-1])
            if opening is None or opening.at >= start.sentence.end:
                break
            found.append(opening)
        return found[::-1]

    def _further(self, before: Opening) -> Opening | None:
        qualified = self.book.any_of("qualifier").match(self.said, before.at)
        for rule in self.book.of("qualifier") if qualified else ():
            if found := rule.regex.match(self.said, before.at):
                at = self._skip(_BLANKS, found.end())
                return Opening(at, before.cues, (*before.qualifiers, (rule, found)))
        for does in ("lasts", "corrects", "requests", "agrees"):
            if (found := self.cue(does).match(self.said, before.at)) and found.end() > before.at:
                return Opening(self._skip(_BLANKS, found.end()), before.cues | {does}, before.qualifiers)
        found = self.cue("lead").match(self.said, before.at)
        if found is None or found.end() == before.at:
            return None
        return Opening(self._skip(_BLANKS, found.end()), before.cues, before.qualifiers)

    def is_spoken(self, sentence: Sentence, at: int) -> bool:
        """Whether the speaker says what stands here, and neither supposes, reports nor exemplifies it."""
        before = self.said[sentence.start : at]
        if self.cue("supposes").search(before) or self.cue("exemplifies").search(before):
            return False
        report = self.cue("reports").search(before)
        return report is None or bool(self.cue("reports_self").search(before[: report.start()]))

    def is_meant(self, start: Start, opening: Opening, end: int) -> bool:
        """Whether it is a request: no question, and nobody else's words."""
        breaks = [found.end() for found in _BREAK.finditer(self.said, opening.at, end)]
        if breaks and self.cue("reports_after").fullmatch(self.said[breaks[-1] : end].strip()):
            return False
        return "requests" in opening.cues or not self.asks(opening.at, end, start.sentence)

    def sentence_at(self, at: int) -> Sentence:
        return self.sentences[bisect_right(self.sentences, at, key=lambda each: each.start) - 1]

    def holds(self, rule: Rule, match: re.Match[str]) -> bool:
        """Whether what a rule finds is the speaker's: no exception, not denied, not asked, nobody else's."""
        sentence = self.sentence_at(match.start())
        near = max(sentence.start, match.start() - _TAIL)
        if rule.is_exception(match, self.said, near, match.end() + _TAIL):
            return False
        if self.cue("negates").search(self.said, near, match.start()):
            return False
        request = self.cue("requests").search(self.said, near, sentence.end)
        polite = request is not None and request.start() < match.start()
        return self.is_spoken(sentence, match.start()) and (
            polite or not self.asks(match.start(), sentence.end, sentence)
        )

    def asks(self, at: int, end: int, sentence: Sentence) -> bool:
        """Whether a command with its body is a question: by its mark, or by its last words."""
        if self.cue("requests_after").search(self.said, max(at, end - _TAIL), end):
            return False
        if sentence.marked and end == sentence.end:
            return True
        body = self.said[at:end].rstrip(f" {PAUSE}")
        return any(found.end() == len(body) for found in self.cue("asks_in").finditer(body))

    def body_end(self, at: int, sentence: Sentence, following: int) -> int:
        """Where the words of a command end: at the next one, at a question, or where the message turns."""
        end = min(sentence.end, following)
        if turn := self.cue("turns").search(self.said, at, end):
            end = turn.start()
        for found in _BREAK.finditer(self.said, at, end):
            clause = self._skip(_BLANKS, found.end())
            if sentence.marked and self.cue("asks_open").match(self.said, clause, end):
                return found.start()
        return end

    def listed(self, at: int) -> Iterator[tuple[int, int]]:
        """The items of the list that follows a line, if one does."""
        while at < len(self.said) and self.said[at] == "\n" and (item := _LISTED.match(self.said, at + 1)):
            end = self.said.find("\n", item.end())
            at = end if end >= 0 else len(self.said)
            yield item.end(), at

    def clause_before(self, start: Start) -> tuple[int, int] | None:
        """What was said right before a start: the rest of its sentence, or the sentence before it."""
        begin, end = self._skip(_BULLET, start.sentence.start), start.cut
        if begin >= end:
            number = bisect_left(self.sentences, start.sentence.start, key=lambda each: each.start) - 1
            before = self.sentences[number] if number >= 0 else None
            if before is None or before.marked or "\n" in self.said[before.end : start.sentence.start]:
                return None
            begin, end = self._skip(_BULLET, before.start), before.end
        return (begin, end) if begin < end else None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The same place in the message."""
        return self.view.starts[start], self.view.ends[max(start, end - 1)]

    def _skip(self, what: re.Pattern[str], at: int) -> int:
        found = what.match(self.said, at)
        return found.end() if found else at


#: Messages whose hearing is kept: what a session said lately is listened to again with every turn.
_HEARD = 64


def hear(text: str, book: Rulebook) -> Hearing:
    """A message as commands are looked for in it; never raises, in time linear in the text."""
    return _heard(text, book) if len(text) <= _SHORT else _heard_at_length(text, book)


@lru_cache(maxsize=_HEARD)
def _heard(text: str, book: Rulebook) -> Hearing:
    view = view_of(text)
    book = book.speaking(languages_of(view))
    said = without_quotations(_FENCE.sub(filler, view.text), book)
    said = _material().sub(_without_material, said)
    said = without_pasted(_without_what_is_handed_over(said, view, book))
    return Hearing(view, said, book, tuple(_behind_leads(said, one) for one in sentences_of(said)))


#: The one that is being talked about is asked for by every part of a turn.
_heard_at_length = lru_cache(maxsize=2)(_heard.__wrapped__)


@cache
def _material() -> re.Pattern[str]:
    shapes = tomllib.loads(packaged("manners"))["material"]["phrases"]
    return re.compile(rf"(?P<task>{'|'.join(shapes)})(?P<rest>[^\n]*)")


def _without_material(found: re.Match[str]) -> str:
    """ "Translate into French: …": what stands behind the colon is handed over."""
    return found["task"] + UNSAID * len(found["rest"])


def sentences_of(said: str) -> Iterator[Sentence]:
    """The sentences of a folded text, empty ones too."""
    at = 0
    for stop in _STOP.finditer(said):
        yield Sentence(at, stop.start(), "?" in stop[0])
        at = stop.end()
    yield Sentence(at, len(said), False)


def _behind_leads(said: str, sentence: Sentence) -> Sentence:
    """A sentence without what only leads in to it ("oh and", "by the way,"), and never without all of it."""
    at = sentence.start
    for _ in range(_LEADS):
        blank = at + (said[at : at + 1] in (" ", PAUSE))
        found = phrases_of("leads").match(said, blank, sentence.end)
        if found is None or not _WORD.search(said, found.end(), sentence.end):
            break
        at = found.end()
    return sentence if at == sentence.start else replace(sentence, start=at)


def _without_what_is_handed_over(said: str, view: View, book: Rulebook) -> str:
    """ "Translate this:" and a line break: the next block is material, unless the line asks for a list."""
    lines = [0, *(at + 1 for at, char in enumerate(said) if char == "\n"), len(said) + 1]
    out = list(said)
    number = 0
    while number < len(lines) - 2:
        line = said[lines[number] : lines[number + 1] - 1].rstrip()
        number += 1
        asked = book.any_of("cue", "lists").search(line) and not book.any_of("cue", "reports").search(line)
        if asked or not line.endswith(":"):
            continue
        start = lines[number]
        while number < len(lines) - 1:
            number += 1
            if lines[number] <= len(said) and view.slice(lines[number] - 1, lines[number]).count("\n") > 1:
                break
        end = min(lines[number] - 1, len(said))
        out[start:end] = UNSAID * (end - start)
    return "".join(out)


def clauses_in(hearing: Hearing, sentence: Sentence) -> list[tuple[int, int]]:
    """The stretches of a sentence that may mean something each, from left to right; none without letters."""
    said = hearing.said
    if not _LETTER.search(said, sentence.start, sentence.end):
        return []
    cuts = [found.span() for found in phrases_of("cuts").finditer(said, sentence.start, sentence.end)]
    pieces = list(
        zip(
            [sentence.start, *(high for _, high in cuts)],
            [*(low for low, _ in cuts), sentence.end],
            strict=True,
        )
    )
    if len(pieces) > CLAUSES:
        pieces = [*pieces[: CLAUSES - 1], (pieces[CLAUSES - 1][0], sentence.end)]
    return list(_long_enough(said, pieces))


def _long_enough(said: str, pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces, each that is too short together with the next one, the last with the one before."""
    last: tuple[int, int] | None = None
    low: int | None = None
    for start, end in pieces:
        low = start if low is None else low
        text = said[low:end]
        least = _LEAST_DENSE if _DENSE.search(text) else _LEAST
        letters = len(_LETTER.findall(text.replace(UNSAID, ""))) + text.count(UNSAID)
        if letters < least or (text.isascii() and len(text.split()) < 2 and letters < _ONE_WORD):
            continue
        if last is not None:
            yield last
        last, low = (low, end), None
    if last is not None:
        yield (last[0], pieces[-1][1]) if low is not None else last
    elif pieces:
        yield pieces[0][0], pieces[-1][1]
