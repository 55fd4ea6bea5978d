"""Values of a sort in what somebody says, a day, a time, a number, and which stand against each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from lamina.language.phrases import LATIN
from lamina.language.rulebook import Rulebook
from lamina.language.view import Span, View, view_of
from lamina.records import dataclass
from lamina.text.terms import is_stop_word

#: A longer text, said or known, is no statement that one corrects with another.
LONGEST = 1000
WORD = rf"[{LATIN}]+(?:['.&/-][{LATIN}]+)*"
RUN = re.compile(rf"{WORD}|[\u0e01-\u0e4e]+|[\u3400-\u9fff]+")
IS_LATIN = re.compile(rf"[{LATIN}]")
#: What a number is of, behind it: a word, the first letters of a Thai one, a Chinese measure.
_UNIT = re.compile(r"[ \v]?([a-z]+|[\u0e01-\u0e4e]{2,3}|[\u3400-\u9fff%])")
#: What a day, a month or a time may begin with: it holds for the new one too, where that has none.
_LEADS = re.compile(r"วันที่ ?|วัน|เดือน|凌晨|早上|上午|中午|下午|傍晚|晚上")
#: The number of a day, and the month that may stand beside it.
_DAY = re.compile(r"[0-9]{1,2}(?:st|nd|rd|th)?(?!月)(?![0-9])")
_MONTH = re.compile(r"[0-9]{1,2}月|[A-Za-z]{3,}|คม|ยน|พันธ์")
#: A number by itself says nothing: "a Pixel 9, not an iPhone 11" is more than another number.
_NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Clash:
    """The one value of a text that stands against one of a memory."""

    value: str = ""  #: as typed; empty where there is none
    text: str = ""  #: the memory with it instead
    number: bool = False  #: it is a number, and no day or time
    beside: bool = False  #: the same word stands beside both
    unit: bool = False  #: both are of the same thing: "6 years", "7 years"
    other_unit: bool = False  #: they are of different things: "two kids", "7 years"
    bare: bool = False  #: the new one is of nothing that is named
    both: bool = False  #: the text names the old one as well

    @property
    def differs(self) -> bool:
        return bool(self.value)

    @property
    def same_thing(self) -> bool:
        """Whether the new value is one of the very thing that the old one is of."""
        return self.differs and (not self.number or self.unit or self.beside)


def clash(said: str, known: str, book: Rulebook) -> Clash:
    """The value of a text that stands against one of a memory; neither is long."""
    if max(len(said), len(known)) > LONGEST:
        return Clash()
    new, old = view_of(said), view_of(known)
    ours, theirs = values(new, book), values(old, book)
    for sort, spans in ours.items():
        others = theirs.get(sort, [])
        if len(others) > 1 and len(spans) == 1:  # "three cats" stands against "two cats and a dog"
            others = [one for one in others if _is_of_one(new, spans[0], old, one, book)]
        if len(others) != 1:
            continue
        known_value = _plain(old.text[slice(*others[0])])
        typed = {_plain(new.text[start:end]): (start, end) for start, end in spans}
        fresh = [
            one
            for folded, one in typed.items()
            if folded != known_value
            and not _is_denied(new, one, book)
            and (sort == _NUMBER or folded.isascii() == known_value.isascii())
        ]
        if len(fresh) == 1:  # "at 4:15, not 3:45" names both
            units = _unit(new, fresh[0], book), _unit(old, others[0], book)
            value = _completed(new.slice(*fresh[0]), old.slice(*others[0]))
            return Clash(
                value=value,
                text=value.join(between(old, others)),
                number=sort == _NUMBER,
                beside=bool(_beside(old, others[0]) & _beside(new, fresh[0])),
                unit=bool(units[0]) and units[0] == units[1],
                other_unit=bool(units[0] and units[1]) and units[0] != units[1],
                bare=not units[0] and not _before(new, fresh[0]),
                both=known_value in typed,
            )
    return Clash()


@lru_cache(maxsize=512)  # what is said is held against all that is known, and that against each next turn
def values(view: View, book: Rulebook) -> Mapping[str, Sequence[Span]]:
    """Where a text has values, by their sort; of two that overlap the longer."""
    found = sorted(
        (match.start() - match.end(), match.start(), match.end(), str(rule["sort"]))
        for rule in book.of("sort")
        for match in rule.regex.finditer(view.text)
    )
    taken: list[Span] = []
    out: dict[str, list[Span]] = {}
    for _, start, end, sort in found:
        if start < end and all(end <= low or start >= high for low, high in taken):
            taken.append((start, end))
            out.setdefault(sort, []).append((start, end))
    return out


def without_values(text: str, book: Rulebook) -> str:
    """A text without its values."""
    view = view_of(text)
    spans = sorted(span for spans in values(view, book).values() for span in spans)
    return " ".join(between(view, spans))


def between(view: View, spans: Sequence[Span]) -> Iterator[str]:
    """What stands before, between and after these places, as typed."""
    at = 0
    for start, end in spans:
        yield view.slice(at, start)
        at = end
    yield view.slice(at, len(view.text))


def _is_denied(view: View, span: Span, book: Rulebook) -> bool:
    """Whether a value is one that does not hold: "8, not half seven"."""
    return book.any_ending("cue", "denies").search(view.text[: span[0]].rstrip(" \v")) is not None


def _plain(value: str) -> str:
    """A value without what only surrounds it: "วันพุธ" is "พุธ"."""
    return _LEADS.sub("", value).strip()


def _completed(new: str, old: str) -> str:
    """A value as the memory has it: "the 15th" instead of "the 8th of May" is the 15th of May."""
    days = _DAY.findall(new)
    if len(days) == 1 and not _MONTH.search(new) and _MONTH.search(old) and (places := [*_DAY.finditer(old)]):
        new = f"{old[: places[-1].start()]}{days[0]}{old[places[-1].end() :]}"
    lead = _LEADS.match(old)
    return f"{lead[0]}{new}" if lead and not _LEADS.match(new) else new


def _is_of_one(new: View, span: Span, old: View, other: Span, book: Rulebook) -> bool:
    unit = _unit(new, span, book)
    return bool(_beside(old, other) & _beside(new, span)) or (unit != "" and unit == _unit(old, other, book))


def _unit(view: View, span: Span, book: Rulebook) -> str:
    """What a value is of, as far as the word behind it says; empty where none does."""
    found = _UNIT.match(view.text, span[1])
    if found is None or is_stop_word(found[1]):
        return ""
    cues = (book.any_of("cue", does) for does in ("small", "tails", "amends"))
    small = (one.match(view.text, found.start(1)) for one in cues)
    return "" if any(one and one.end() > one.start() for one in small) else found[1].removesuffix("s")


def _before(view: View, span: Span) -> str:
    """The word of an alphabet before a value, where it names something: "Pixel" of "Pixel 9"."""
    before = RUN.findall(view.text[: span[0]].rstrip())
    word = before[-1] if before and view.text[: span[0]].rstrip().endswith(before[-1]) else ""
    return word if IS_LATIN.match(word) and not is_stop_word(word) else ""


def _beside(view: View, span: Span) -> set[str]:
    """The word before a value and the one behind it."""
    before, after = RUN.findall(view.text[: span[0]]), RUN.findall(view.text[span[1] :])
    near = {before[-1][-3:] if before else "", after[0][:8] if after and IS_LATIN.match(after[0]) else ""}
    return {one for one in near if one and not is_stop_word(one)}
