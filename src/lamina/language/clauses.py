"""What a speaker asserts: the view of a text without its quotations, questions, reports and suppositions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lamina.language.phrases import LATIN
from lamina.language.rulebook import Rule, Rulebook
from lamina.language.view import PAUSE, View, view_of
from lamina.late import regex
from lamina.records import dataclass

#: Stands in the place of each character that is not asserted. No rule knows it, and no word goes across it.
UNSAID = "\x00"

#: How far before a match its negation may stand, and around it what makes an exception of it.
_REACH = 80

# A dot in `node.js` and a question mark in an address end no sentence.
_SENTENCE = regex(rf"((?:[^.!?。;\n]|\.(?=[{LATIN}])|[!?](?=[{LATIN}=&]))+)([.!?。;\n]*)")
_CLAUSE = regex(rf"[^,、:\n{PAUSE}()（）—–]+")
_CLAUSE_END = regex(rf"[,、:;.!?。\n{PAUSE}()（）—–{UNSAID}]")
_APOSTROPHE = str.maketrans("’ʼ", "''")
_SCRIPTS = {
    "en": regex("[a-z]"),
    "th": regex("[\u0e01-\u0e4e]"),
    "zh": regex("[\u3400-\u9fff]"),
}


@dataclass(frozen=True, slots=True)
class Speech:
    """A text as rules see it."""

    view: View
    said: str  #: the folded text, character for character, with a filler where nothing is asserted
    book: Rulebook  #: the rules of the languages whose letters occur

    def matches(self, rule: Rule) -> Iterator[re.Match[str]]:
        """Where a rule applies, exceptions left out; negation is not looked at."""
        for found in rule.regex.finditer(self.said):
            low, high = max(0, found.start() - _REACH), found.end() + _REACH
            if not rule.is_exception(found, self.said, low, high):
                yield found

    def asserts(self, rule: Rule) -> re.Match[str] | None:
        """The first place where a rule applies and nothing before it in its clause denies it."""
        for found in self.matches(rule):
            if rule["negatable"] is False or not self.denied(found.start()):
                return found
        return None

    def denied(self, at: int) -> bool:
        """Whether the clause that leads up to this place has a negation in it."""
        before = self.said[max(0, at - _REACH) : at]
        breaks = [*_CLAUSE_END.finditer(before), *self.book.any_of("cue", "contrasts").finditer(before)]
        clause = before[max((found.end() for found in breaks), default=0) :]
        return bool(self.book.any_of("cue", "negates").search(clause))


def listen(text: str, book: Rulebook) -> Speech:
    """What is asserted in a text; never raises, in time linear in the text."""
    view = view_of(text)
    book = book.speaking(languages_of(view))
    said = without_quotations(view.text, book)
    return Speech(view, _SENTENCE.sub(lambda sentence: _asserted(sentence, book), said), book)


def languages_of(view: View) -> frozenset[str]:
    """The languages whose letters occur."""
    return frozenset(name for name, script in _SCRIPTS.items() if script.search(view.text))


def without_quotations(said: str, book: Rulebook) -> str:
    """The text with a filler for its quotations."""
    return book.any_of("cue", "quotes").sub(filler, said).translate(_APOSTROPHE)


def filler(unsaid: re.Match[str]) -> str:
    return UNSAID * len(unsaid[0])


def _asserted(sentence: re.Match[str], book: Rulebook) -> str:
    """One sentence with the end marks that follow it, and a filler for what its speaker does not assert."""
    body, marks = _unasked(sentence, book), sentence[2]
    body = _without(body, _reported(body, book))
    return _without(body, _supposed(body, book)) + marks


def _unasked(sentence: re.Match[str], book: Rulebook) -> str:
    """One sentence without its end marks, and a filler for what it asks."""
    body, marks = sentence.groups()
    start = _question_start(body, "?" in marks, book)
    if start is not None:
        return str(body[:start] + UNSAID * (len(body) - start))
    return _CLAUSE.sub(lambda clause: filler(clause) if _asks(clause[0], book) else clause[0], body)


def only_asks(text: str, book: Rulebook) -> bool:
    """Whether a text is made of questions alone, with a mark or without; never raises, linear in the text."""
    view = view_of(text)
    book = book.speaking(languages_of(view))
    said = without_quotations(view.text, book)
    rest = _SENTENCE.sub(lambda sentence: _unasked(sentence, book), said)
    return any(map(str.isalnum, said)) and not any(map(str.isalnum, rest))


def _question_start(body: str, marked: bool, book: Rulebook) -> int | None:
    """Where the question in a sentence begins; what comes before it in other clauses is still asserted."""
    clauses = list(_CLAUSE.finditer(body))
    if clauses and book.any_of("cue", "asks_tag").fullmatch(clauses[-1][0].strip()):
        return 0
    for clause in clauses:
        opening = clause[0].lstrip()
        if book.any_of("cue", "asks_open").match(opening):
            return clause.start()
        if marked and (book.any_of("cue", "asks_with_mark").match(opening) or _asks(opening, book)):
            return clause.start()
    return 0 if marked else None


def _asks(clause: str, book: Rulebook) -> bool:
    return bool(book.any_of("cue", "asks_in").search(clause))


def _reported(body: str, book: Rulebook) -> Iterator[tuple[int, int]]:
    """What somebody else said is theirs; what the speaker says to have said stands."""
    done = 0
    for report in book.any_of("cue", "reports").finditer(body):
        before = body[max(done, report.start() - _REACH) : report.start()]
        if report.start() >= done and not book.any_of("cue", "reports_self").search(before):
            pause = body.find(PAUSE, report.end())
            done = pause if pause >= 0 else len(body)
            yield report.end(), done


def _supposed(body: str, book: Rulebook) -> Iterator[tuple[int, int]]:
    done = 0
    for supposition in book.any_of("cue", "supposes").finditer(body):
        if supposition.start() >= done:
            end = _CLAUSE_END.search(body, supposition.end())
            done = end.start() if end else len(body)
            yield supposition.start(), done


def _without(body: str, unsaid: Iterable[tuple[int, int]]) -> str:
    out: list[str] = []
    done = 0
    for start, end in unsaid:
        out += (body[done:start], UNSAID * (end - start))
        done = end
    return "".join((*out, body[done:]))
