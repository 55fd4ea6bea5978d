"""What a memory says once somebody put it right, so that nothing else of it is lost.

A value that stands against one of the same thing is changed in the memory's own words; a whole sentence about
the same takes the place of one that says nothing else; all other words are joined to the clause they are
about: `my rent is 850 a month → it went up, 920 now`. The newest word of a clause stands last in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lamina.language.amend import (
    Correction,
    amended,
    bare,
    corrections,
    is_beside_the_point,
    telling,
    weight,
    without_cues,
    words_of,
)
from lamina.language.rulebook import Rulebook
from lamina.language.values import clash, without_values
from lamina.language.view import view_of
from lamina.records import dataclass

#: Stands between what was said first and what holds now.
ARROW = " → "
#: Where a memory parts into statements of their own.
_PARTS = re.compile(
    r"(?:, | )and (?=i\b|i'|my\b|we\b|our\b)|, (?=i\b|i'|my\b|we\b|our\b|\w+ (?:is|are)\b)|[;；，] ?|、而"
    r"| และ|และ(?=ผม|ฉัน|เรา|หนู)",
    re.IGNORECASE,
)
_END = re.compile("[;；] ?")
#: What says nothing at the end of a word.
_AFTER = re.compile(
    r"[,，]? ?(?:\b(?:lol|lmao|haha\w*|btw|by the way|sorry)|555+|哈哈+)[!.！。 ]*\Z", re.IGNORECASE
)
_CLAUSE = re.compile("[,，;；\n]|(?<=[ก-๎]) (?=[ก-๎])")
_WORD = re.compile("[A-Za-z]{4,}")
#: Names nothing, in a wish ("you needn't keep it") as in a statement ("I can't walk far").
_NOT = frozenset({"ไม่"})
_THAI = re.compile("(?<=[ก-๎]) (?=[ก-๎])")
#: What a speaker does or has; what is called something may be their cat.
_DOES = re.compile("[养有住喜爱会做开用吃喝每]|มี|เลี้ยง|ทำงาน|อยู่|ชอบ|พัก|กิน|ใช้|เรียน")
#: Words for somebody who was named before.
_OF_ANOTHER = re.compile(
    r"\b(?:he|she|him|her|his|hers|they|them|it|its)\b|[她他它牠祂]|เขา(?!ใจ)|มัน", re.IGNORECASE
)
#: A statement that says itself whose it is.
_OWN = re.compile(r"(?:i|i'm|my|we|our)\b", re.IGNORECASE)
#: So much may be said beside a new value before some of it would be lost with it.
_LITTLE = 1.0
#: How much of a memory a sentence says again that takes its place.
_AGAIN = 0.5
#: Words of a value that takes another's place.
_FEW = 4
_LINK = re.compile(r"(?<![a-z])(?:in|on|at|with|for|as|by|near|from|to|under|behind)(?![a-z])")
_NAME = re.compile(r"(?<![\w])[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_CALLED = re.compile(
    r"(叫|姓|名字是|ชื่อ)([\u3400-\u9fff]{1,4}|[\u0e01-\u0e4e]{2,16}|[A-Za-z]{2,20})(?=\Z|[ ,，。])"
)
#: The first words of a text, by which it is seen whether two begin alike.
_FIRST = re.compile(r"[^\W_\u0e01-\u9fff][\w-]*|[\u0e01-\u0e4e]{3}|[\u3400-\u9fff]{2}")


@dataclass(frozen=True, slots=True)
class Saying:
    """One statement of a memory, as typed, and the newest word about it."""

    text: str
    newest: str = ""
    before: str = ""  #: what stands between it and the clause before

    def __str__(self) -> str:
        return f"{self.text}{ARROW}{self.newest}" if self.newest else self.text


def clauses_of(text: str) -> list[Saying]:
    """The statements of a memory; the newest word about one is no statement of its own."""
    found: list[Saying] = []
    head, arrow, tail = text.partition(ARROW)
    at, gap = 0, ""
    for cut in _PARTS.finditer(head):
        found.append(Saying(head[at : cut.start()], before=gap))
        at, gap = cut.end(), cut[0]
    found.append(Saying(head[at:], before=gap))
    if arrow:
        end = _END.search(tail)
        found[-1] = replace(found[-1], newest=tail[: end.start()] if end else tail)
        if end and tail[end.end() :].strip():
            first, *others = clauses_of(tail[end.end() :])
            found += [replace(first, before=end[0]), *others]
    return [one for one in found if one.text.strip()]


def put_together(clauses: Sequence[Saying]) -> str:
    """The memory that is made of some clauses."""
    text = ""
    for at, one in enumerate(clauses):
        wide = not one.text[:1].isascii()
        closes = bool(at and clauses[at - 1].newest)
        gap = ("；" if wide else "; ") if closes and not _END.fullmatch(one.before) else one.before
        text += (gap if at else "") + str(one)
    return text.strip()


def becomes(said: str, known: str, book: Rulebook, first: Correction | None = None) -> str:
    """What a memory says once somebody put it right with these words; nothing else of it is lost.

    `first`: what is wrong and what is right, where somebody said so in a command.
    """
    clauses, readings = clauses_of(known), _readings(said, book, first)
    if not any(one.newest for one in clauses) and (changed := _in_place(said, known, book, readings)):
        return changed
    at = about_clause(said, clauses, book)
    own = clauses[at]
    if changed := _in_place(said, own.newest or own.text, book, readings):
        own = replace(own, newest=changed) if own.newest else replace(own, text=changed)
    else:
        told = _AFTER.sub("", without_cues(said, book, ends=False)).strip(" 。.!！\n")
        told = _END.sub(", " if said.isascii() else "，", " ".join(told.split())).replace(ARROW, " - ")
        own = replace(own, newest=f"{own.newest}{ARROW}{told}" if own.newest else told)
    return put_together([*clauses[:at], own, *clauses[at + 1 :]])


def without_part(text: str, words: set[str], book: Rulebook) -> str:
    """What stays of a memory without the one statement that has these words; empty where that is all of it,
    or the rest would not say of whom it is."""
    clauses = [one for each in clauses_of(text) for one in _phrases(each)]
    named = [bool((words - _NOT) & words_of(str(one), book)) for one in clauses]
    rest = [one for one, yes in zip(clauses, named, strict=True) if not yes]
    if len(clauses) < 2 or sum(named) != 1 or (named[0] and _OF_ANOTHER.search(str(rest[0]))):
        return ""
    if named[0] and not book.any_of("cue", "speakers").match(view_of(rest[0].text).text):
        speaker = book.any_of("cue", "speakers").match(view_of(clauses[0].text).text)
        if speaker is None or not _DOES.match(view_of(rest[0].text).text):
            return rest[0].text if _OWN.match(rest[0].text) and len(rest) == 1 else ""
        rest[0] = replace(rest[0], text=clauses[0].text[: speaker.end()] + rest[0].text)
    return put_together(rest)


def _phrases(clause: Saying) -> list[Saying]:
    """A Thai clause as its phrases, which stand between blanks."""
    if clause.newest:
        return [clause]
    first, *others = _THAI.split(clause.text)
    return [replace(clause, text=first), *(Saying(one, before=" ") for one in others)]


def about_clause(said: str, clauses: Sequence[Saying], book: Rulebook) -> int:
    """The clause that words are about: by what they share, by another value of its sort, else the last."""
    words = telling(said, book)

    def speaks(at: int) -> tuple[float, int]:
        text = str(clauses[at])
        found = clash(said, text, book)
        return weight(words & words_of(text, book)) + found.differs + found.same_thing, at

    return max(range(len(clauses)), key=speaks)


def in_place(said: str, known: str, book: Rulebook) -> str:
    """The memory with what is said in the place of what it says; empty where that cannot be told."""
    return _in_place(said, known, book, _readings(said, book, None))


def _readings(said: str, book: Rulebook, first: Correction | None) -> list[Correction]:
    given = [first] if first is not None and first.old and first.value else []
    return [*given, *corrections(said, book, asked=True), Correction(said)]


def _in_place(said: str, known: str, book: Rulebook, readings: Sequence[Correction]) -> str:
    """The memory with another value in its own words, or said anew; empty where that would lose something."""
    folded = view_of(said).text
    denies = book.any_of("cue", "denies").search(folded) is not None
    if not denies and book.any_of("cue", "adds").search(folded):
        return ""
    for reading in readings:
        change = amended(reading, known, book, asked=True)
        if change is None or not change.text or "\n" in change.text:
            continue
        if reading.named and is_beside_the_point(reading, known, book):
            continue
        named = reading.named or denies
        lost = telling(without_values(said, book), book) - telling(f"{known} {change.text}", book)
        own = _is_own(change.text, known)
        if (named or weight(lost) <= _LITTLE) if own else _says_again(change.text, known, book):
            return change.text
    value = bare(said, book)
    return _another_value(said, known, book) or _named_anew(value, known, book)


def _another_value(said: str, known: str, book: Rulebook) -> str:
    """The memory with the one value that is said instead of its own, and nothing else: "920 now"."""
    found = clash(said, known, book)
    if not found.same_thing and (not found.bare or found.other_unit):
        return ""
    plain = book.any_of("cue", "moves").sub(" ", view_of(without_values(bare(said, book), book)).text)
    words = telling(plain, book)
    own = any(book.any_of("cue", does).match(view_of(said).text) for does in ("things", "speakers"))
    lost = weight(words - telling(known, book))
    little = _LITTLE if found.same_thing and not own else 0.0
    named = _NAME.search(without_values(said, book)[1:]) is not None
    return found.text if lost <= little and not named and (found.same_thing or not words) else ""


def _is_own(text: str, known: str) -> bool:
    """Whether a text is a memory in which one place differs, within one clause of it."""
    pairs = [*zip(text, known, strict=False)]
    front = next((at for at, (a, b) in enumerate(pairs) if a != b), len(pairs))
    pairs = [*zip(text[front:][::-1], known[front:][::-1], strict=False)]
    back = next((at for at, (a, b) in enumerate(pairs) if a != b), len(pairs))
    lost, new = known[front : len(known) - back], text[front : len(text) - back]
    again = {*_WORD.findall(new)} & {*_WORD.findall(known[:front] + known[len(known) - back :])}
    whole = _PARTS.search(lost.strip()) or _CLAUSE.search(new.strip())
    return 2 * len(lost) <= len(known) + 2 and not whole and not again


def _says_again(text: str, known: str, book: Rulebook) -> bool:
    """Whether a whole sentence begins as a memory does, and says again all that this is about."""
    own = telling(without_values(known, book), book)
    again = weight(own & telling(text, book))
    mine, theirs = ([*_FIRST.findall(bare(one, book))] for one in (text, known))
    alike = bool(mine) and mine[:1] == theirs[:1]
    return alike and len(clauses_of(known)) == 1 and again >= _AGAIN * weight(own)


def _named_anew(value: str, known: str, book: Rulebook) -> str:
    """The memory with a short value that is a name or a place, where one of its sort stands in it once."""
    if not value or len(value.split()) > _FEW or len(clauses_of(known)) > 1:
        return ""
    if link := _LINK.match(view_of(value).text):
        places = [one for one in _LINK.finditer(view_of(known).text) if one[0] == link[0]]
        return known[: places[0].start()] + value if len(places) == 1 and known.isascii() else ""
    called, fresh = _CALLED.search(known), _CALLED.search(value)
    if called and fresh and called[1] == fresh[1] and not telling(fresh[2], book) & telling(known, book):
        return known[: called.start(2)] + fresh[2] + known[called.end(2) :]
    names = [one for one in _NAME.finditer(known) if one.start() > 0]
    if len(names) != 1 or not _NAME.fullmatch(value) or value.startswith(names[0][0]):
        return ""
    return known[: names[0].start()] + value + known[names[0].end() :]
