"""Whether a text says again what another said, when all that is left of that one are the marks of its terms.

A statement is known by its terms, its numbers, the terms that tell it from others, and whether it denies. All
of it can be compared as hashes, so what a person took back can be recognised without being kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from lamina.language.secrets.views import plain
from lamina.late import regex
from lamina.records import dataclass
from lamina.similarity.compare import bared
from lamina.similarity.spellings import in_digits
from lamina.text.terms import is_stop_word, query_terms

#: So much of a statement in one sentence, with its numbers and what tells it apart, and it is near.
NEAR = 0.7
#: Sentences of one text that are looked at, and characters of each.
_MOST, _LONGEST = 400, 1_000
_FEW = 3  #: terms; of so few each counts
#: Quarters of words that two statements share.
_SOME, _MORE, _MANY = 12, 20, 24
_SHORT = 300  #: characters; a text no longer than this is read as one statement, too

_THAI, _HAN = "\u0e01-\u0e3a\u0e40-\u0e4e", "\u3400-\u9fff\uf900-\ufaff"
#: A side of opposites, a number, a run of a script without blanks, a letter with its sign, a word.
_RUN = regex(rf"¤\d+|\d+(?:[.,:/-]\d+)*%?|[{_HAN}]+|[{_THAI}]+|[a-z](?:\+\+|#)(?!\w)|[^\W\d_]\w*")
_PLAIN_RUN = regex(
    r"¤\d+|\d+(?:[.,:/-]\d+)*%?|[a-z](?:\+\+|#)(?!\w)|[a-z]\w*"
)  #: the same where all is ASCII
#: Who speaks is no part of what is said: the same statement has another subject when somebody repeats it.
_PERSONS = regex(
    "ข้าพเจ้า|กระผม|ดิฉัน|ฉัน|ผม|หนู|เธอ|พวกเรา|เรา|คุณ|เขา|我们|你们|他们|她们|咱们|我|你|您|他|她|它|咱"
)
_TITLE = "".join(rf"(?<!\b{one})" for one in ("Dr", "Mr", "Mrs", "Ms", "St", "No", "Prof"))
_SENTENCE = regex(rf"(?=[.!?;]){_TITLE}[.!?;]+(?=\s|$|[{_THAI}{_HAN}])|[。！？；…]+|[\r\n]+")
STOPS = ".!?;。！？；…"  #: a statement is the same without its stop, and read once
_CLAUSE = regex(r"[,:](?=\s)|,(?!\d)|(?<!\d),|[，、：]| - | – | — ")
_PARTED = regex('[.!?;。！？；…\r\n,:，、：–—"]| - ')  #: what has none of these is one statement
#: Signs between letters of a script without blanks part no words.
_SIGNS = rf"[ \t]*[^\w\s¤{_THAI}{_HAN}](?:[^\w¤{_THAI}{_HAN}])*"
_THREADED = regex(rf"(?<=[{_HAN}]){_SIGNS}(?=[{_HAN}])|(?<=[{_THAI}]){_SIGNS}(?=[{_THAI}])|_")
_QUOTED = regex(r'"((?:[^"\\]|\\.){2,})"')


@dataclass(frozen=True, slots=True)
class Telling:
    """One statement as it can be compared: its terms, those of them that tell it apart, its polarity."""

    terms: frozenset[str]
    telling: frozenset[str]
    numbers: frozenset[str]
    turned: bool

    def marked(self, mark: Callable[[str], str]) -> Telling:
        """The same with a mark in the place of each term."""
        terms, telling, numbers = (
            frozenset(map(mark, some)) for some in (self.terms, self.telling, self.numbers)
        )
        return Telling(terms, telling, numbers, self.turned)

    def share_in(self, other: Telling) -> float:
        """How much of this statement another text says, from 0 to 1; 0 where the polarity differs."""
        if self.turned is not other.turned or not self.terms:
            return 0.0
        return len(self.terms & other.terms) / len(self.terms)

    def within(self, other: Telling) -> bool:
        """Whether another says all of it, and where it names numbers, no others."""
        return self.share_in(other) == 1.0 and (not self.numbers or self.numbers == other.numbers)

    def near(self, other: Telling) -> bool:
        """Whether another says most of it, with its numbers and what tells it apart.

        Where most of the other's numbers are its own, it is another entry of the same form.
        """
        kept, counted = self.telling | self.numbers, 2 * len(self.numbers) >= len(other.numbers)
        return kept <= other.terms and self.share_in(other) >= NEAR and (counted or not self.numbers)


def statements(text: str, most: int = _MOST) -> list[str]:
    """The sentences of a text, each once; at most some hundred."""
    return list(dict.fromkeys(bare for part in _SENTENCE.split(text) if (bare := part.strip())))[:most]


@lru_cache(maxsize=64)  # what is being written is asked for by whoever guards it
def sentences(text: str) -> tuple[str, ...]:
    """Every part of a text in which something may be said again: its sentences, their clauses, what is in
    quotes, and the whole where that is short; at most some hundred."""
    bare = text.strip().rstrip(STOPS)
    if len(text) <= _SHORT and not _PARTED.search(bare):
        return (bare,) if bare else ()
    whole = statements(text)
    clauses = [clause for part in whole for clause in _CLAUSE.split(part)]
    quoted = [found.replace('\\"', '"') for found in _QUOTED.findall(text)]
    short = [bare] if len(text) <= _SHORT else []
    parts = (*short, *whole, *clauses, *quoted)
    return tuple(dict.fromkeys(bare for part in parts if (bare := part.strip())))[:_MOST]


def weight_of(term: str) -> int:
    """How much of a word a term is, in quarters: a Thai word has about four characters, a Chinese one two."""
    return 1 if "\u0e01" <= term[0] <= "\u0e4e" else 2 if "\u3400" <= term[0] <= "\ufaff" else 4


def made_of(shared: int, own: int, other: int) -> bool:
    """Whether what two statements share, in quarters of words, says that the one was made of the other.

    Who writes about the same thing shares its name, and little beside. Who repeats a claim shares so much
    that its part of the one and its part of the other come to a whole; of few words both have to be
    considerable, and so have many words where most of the one is something else.
    """
    if 2 * shared >= own and shared >= _MANY:
        return True
    enough = (shared >= _SOME or 5 * shared >= 2 * other) if 2 * shared >= own else shared >= _MORE
    return enough and shared * (own + other) >= own * other


def least_shared(own: int) -> int:
    """What shares less with a statement, this one was not made of, whatever it is."""
    return min((own + 1) // 2, _MORE)


def gathered(shared: int, own: int) -> bool:
    """Whether so much of a statement stands in a longer text, anywhere, that it was gathered there."""
    return shared >= _MANY and 4 * shared >= 3 * own


@lru_cache(maxsize=4096)
def telling_of(sentence: str) -> Telling:
    """What one sentence is known by."""
    if sentence.isascii():  # nothing of what the rest undoes
        said = seen = sentence[:_LONGEST].replace("_", " ")
    else:
        seen = in_digits(plain(_THREADED.sub(_untied, sentence[:_LONGEST])).text)
        said = _PERSONS.sub(" ", seen)
    bare, turned, _ = bared(said)
    if sentence.isascii():
        words: list[str] = _PLAIN_RUN.findall(bare)
        terms = [term for word in words for term in _term(word)]
        named = frozenset([*terms[-1:], *_named(seen, terms)])
        return Telling(
            frozenset(terms), named, frozenset(word for word in words if word[0].isdecimal()), bool(turned)
        )
    terms = []
    numbers: list[str] = []
    last: list[str] = []
    units: set[str] = set()  # a letter that follows a number, such as 元, says little by itself
    for part in _RUN.findall(bare):
        first = part[0]
        if first.isdecimal():
            cut = [part]
            numbers.append(part)
        elif first < "\u0e01":
            cut = _term(part)
        elif first <= "\u0e4e":
            cut = [part[at : at + 3] for at in range(len(part) - 2)] or [part]
        elif "\u3400" <= first <= "\u9fff" or "\uf900" <= first <= "\ufaff":
            units.update(part if len(part) == 1 and terms and terms[-1] in numbers else ())
            cut = [part[at : at + 2] for at in range(len(part) - 1)] or [part]
        else:
            cut = _term(part)
        terms += cut
        last = cut[-2:] or last
    if len(set(terms)) > _FEW:
        terms = [term for term in terms if term not in units]
        last = [term for term in last if term not in units]
    telling = frozenset([*last, *_named(seen, terms)])
    return Telling(frozenset(terms), telling, frozenset(numbers), bool(turned))


@lru_cache(maxsize=16_384)
def _term(word: str) -> list[str]:
    """The term of a word, as it is in the index; none of a word that says nothing."""
    if word[0] == "¤" or word[0].isdecimal() or word[-1] in "+#":
        return [word]
    if word.isascii():
        return [term for term in query_terms(word) if not is_stop_word(term)][:1]
    return query_terms(f"{word} \u4e00")[:-1][:1]


def _untied(sign: re.Match[str]) -> str:
    return " " if sign[0] == "_" else ""


def _named(text: str, terms: list[str]) -> Iterator[str]:
    """Terms that begin with a capital inside a sentence: names."""
    if text.isascii() and text[1:].lower() == text[1:]:
        return
    known = set(terms)
    for word in text.split()[1:]:
        if word[:1].isupper():
            yield from (term for term in query_terms(word.strip(".,;:!?'\"()")) if term in known)
