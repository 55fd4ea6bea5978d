"""What people settle, ask to be remembered, promise, leave open and have learned, sentence by sentence.

Only the person's own assertions count: nothing quoted, asked, reported, supposed, doubted or taken back as a
joke. An agent's proposal is found apart from these; it counts when the person agrees to it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from lamina.language.clauses import UNSAID, Speech, languages_of, listen, without_quotations
from lamina.language.due import due_in
from lamina.language.hearing import Sentence, sentences_of
from lamina.language.rulebook import Rule, Rulebook, rulebook
from lamina.language.signal import low_signal
from lamina.language.view import PAUSE, View, view_of

#: An answer longer than this says more than yes.
_LONGEST_ASSENT = 60
_OPENING = re.compile(rf"[\s{PAUSE},.!:~-]*")
_EDGES = " \t\n\v,，、;；:：-—–"
_ENDS = "。．.!！?？"
_LEAD_IN = re.compile(rf"[:\n{PAUSE}]")
_PIECES = re.compile(r"[^\s\x00]")


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
    owner: str = ""  #: of an action; `me` for the speaker, `you` for the agent
    due: date | None = None


class _Turn:
    """A message as statements are looked for in it."""

    def __init__(self, text: str, book: Rulebook) -> None:
        self.view: View = view_of(text)
        self.speech: Speech = listen(text, book)
        self.book = book.speaking(languages_of(self.view))
        self.open = without_quotations(self.view.text, self.book)  #: questions and doubts are still in it
        sentences = sentences_of(self.open)
        self._asserted: dict[str, dict[int, list[tuple[Rule, re.Match[str]]]]] = {}
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

    def words(self, start: int, end: int) -> str:
        """What was typed there, on one line."""
        return " ".join(self.view.slice(start, end).split()).strip(_EDGES)

    def whole(self, sentence: Sentence) -> str:
        """A sentence with its end mark."""
        end = sentence.end
        if end < len(self.open) and self.view.slice(end, end + 1) in _ENDS:
            end += 1
        return self.words(sentence.start, end)


def statements(text: str, today: date, *, book: Rulebook | None = None) -> list[Statement]:
    """What a person says in a message, in order; never raises, linear in the text."""
    turn = _Turn(text, book or rulebook())
    if turn.book.any_of("statement", "jokes").search(turn.open):
        return []
    found: list[Statement] = []
    for number, sentence in enumerate(turn.sentences):
        kept = _kept(turn, number)
        found += [kept] if kept is not None else _others(turn, number, sentence, today)
    return list({one.text: one for one in reversed(found)}.values())[::-1]


def _kept(turn: _Turn, number: int) -> Statement | None:
    sentence = turn.sentences[number]
    doubted = sentence.marked or turn.holds("doubts", sentence)
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
    sentence = turn.sentences[number]
    lead_ins = list(_LEAD_IN.finditer(turn.open, sentence.start, found.start()))
    start = lead_ins[-1].end() if lead_ins else sentence.start
    if said is Said.REMEMBER:
        rest = turn.words(found.end(), sentence.end)
        if not _PIECES.search(rest.strip(_ENDS)):  # "We move to LanceDB. Remember this."
            before = turn.sentences[number - 1] if number else Sentence(start, found.start(), False)
            return _told(turn, number, said, rule, before) if before.start < before.end else None
        start = found.end()
    return _told(turn, number, said, rule, Sentence(start, sentence.end, sentence.marked))


def _told(turn: _Turn, number: int, said: Said, rule: Rule, part: Sentence) -> Statement | None:
    because = turn.book.any_of("statement", "because").search(turn.open, part.start + 1, part.end)
    text = turn.words(part.start, because.start()) if because else turn.whole(part)
    if len(text.strip(_ENDS)) < 2:
        return None
    before, after = turn.sentences[:number][-1:], turn.sentences[number + 1 : number + 2]
    why = turn.words(because.end(), part.end) if because else ""
    impact = ""
    for following in after:
        opens = turn.book.any_of("statement", "because").match(turn.open, _first(turn, following))
        if not why and opens:
            why = turn.words(opens.end(), following.end)
        elif turn.book.any_of("statement", "implies").match(turn.open, _first(turn, following)):
            impact = turn.whole(following)
    said_before = [
        one
        for one in before
        if not part.start <= one.start < part.end and not low_signal(turn.words(one.start, one.end))
    ]
    return Statement(
        said=said,
        text=text,
        rule=rule.name,
        confidence=float(rule["confidence"] or 1.0),
        why=why,
        impact=impact,
        context=" ".join(turn.whole(one) for one in said_before),
        overrules=turn.holds("overrules", part) is not None,
    )


def _first(turn: _Turn, sentence: Sentence) -> int:
    opening = _OPENING.match(turn.open, sentence.start)
    return opening.end() if opening else sentence.start


def _others(turn: _Turn, number: int, sentence: Sentence, today: date) -> Iterator[Statement]:
    due = due_in(turn.open[sentence.start : sentence.end], today)
    if turn.holds("remains", sentence):
        yield Statement(said=Said.OPEN, text=turn.whole(sentence), rule="remains", due=due)
        return
    doubted = turn.holds("doubts", sentence)
    for said in _OTHERS:
        for rule, found in turn.asserted(said, number):
            if not doubted and (due is not None or not rule["dated"]):
                owner = _owner(turn, found)
                yield Statement(said=said, text=turn.whole(sentence), rule=rule.name, owner=owner, due=due)
                return


def _owner(turn: _Turn, found: re.Match[str]) -> str:
    for name in found.re.groupindex:
        if found[name]:
            owner = turn.words(found.start(name), found.end(name))
            return name if name in ("me", "you") else owner
    return ""


def proposal(text: str, *, book: Rulebook | None = None) -> Statement | None:
    """The last thing an agent's message proposes, None when it proposes nothing."""
    turn = _Turn(text, book or rulebook())
    for sentence in reversed(turn.sentences):
        for rule in turn.book.of("statement", "proposes"):
            for found in rule.regex.finditer(turn.open, sentence.start, sentence.end):
                if rule.is_exception(found, turn.open, sentence.start, sentence.end):
                    continue
                return Statement(
                    said=Said.DECISION,
                    text=turn.whole(sentence),
                    rule=rule.name,
                    confidence=float(rule["confidence"] or 1.0),
                    overrules=turn.holds("overrules", sentence) is not None,
                )
    return None


def assents(text: str, *, book: Rulebook | None = None) -> bool:
    """Whether a short answer agrees and does nothing else: no condition, no question, no other wish."""
    turn = _Turn(text, book or rulebook())
    said = turn.open.strip()
    if len(said) > _LONGEST_ASSENT or "?" in said or UNSAID in said:
        return False
    opening = _OPENING.match(turn.open)
    agrees = turn.book.any_of("statement", "assents").match(turn.open, opening.end() if opening else 0)
    if agrees is None or turn.book.any_of("statement", "doubts").search(turn.open):
        return False
    return turn.book.any_of("statement", "declines").search(turn.open, agrees.end()) is None


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
