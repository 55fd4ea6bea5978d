"""What a message puts right: what is wrong, what is right, and what a memory says once that is done."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from lamina.language.clauses import UNSAID
from lamina.language.hearing import Hearing, Sentence, hear
from lamina.language.phrases import LATIN
from lamina.language.rulebook import Rulebook, packaged
from lamina.language.values import IS_LATIN, LONGEST, RUN, WORD, Clash, between, clash, values, without_values
from lamina.language.view import PAUSE, View, view_of
from lamina.records import dataclass
from lamina.text.terms import query_terms

#: A message of more sentences than this tells something; a correction in it has to be said as a command.
_SENTENCES = 4
_CLAUSE = re.compile(
    rf"(?:[,、;!?。\n{PAUSE}()（）]|(?<![0-9])[:.]|[:.](?![0-9]))+|(?<= )[-–—]+(?= )|(?<= )(?:and|so|but) "
)
_TOKEN = re.compile(rf"{WORD}|[\u0e01-\u0e4e]|[\u3400-\u9fff]")
_EDGES = f" \t\n*~\"'“”‘’「」,，、.。!！?？;；:：-–—{PAUSE}"
#: Within a time or a number, a character before and after its sign.
_IN_A_NUMBER = re.compile("[0-9][:.][0-9]")
_RUN_ON = re.compile("[\u0e01-\u0e4e\u3400-\u9fff]")
#: Where two sentences part, these must not be what differs: "I live in" is something else than "I live with".
_LINKS = frozenset({"in", "on", "at", "with", "for", "as", "by", "near", "from", "of"})
_STRIPS = 6
#: So much may be said beside two values that stand against each other.
_LITTLE = 1.5
#: How much of a memory has to be said again before its value is taken for corrected.
_ALIKE = 0.3
#: From this much on one clause says all of the memory again.
_SAID_AGAIN = 0.6
#: What fits less than this much of what the best one does is not meant.
_CLEARLY = 0.9


@dataclass(frozen=True, slots=True)
class Correction:
    """One way to read a message that puts something right."""

    said: str  #: as typed
    old: str = ""  #: as typed, where the message says what is wrong
    value: str = ""  #: as typed, where it says what is right instead
    topic: bool = False  #: `old` may be what the value is of
    frame: str = ""  #: how a memory begins that has the old value, where `old` is not said

    @property
    def named(self) -> bool:
        """Whether the message says both what is right and what is wrong, or of what."""
        return bool(self.value)


@dataclass(frozen=True, slots=True)
class Amended:
    """What a memory would say after a correction, and how well the two fit; `text` is empty where that
    cannot be told."""

    text: str
    fit: float
    bare: bool = False  #: the message has a value and nothing that says of what


def corrections(text: str, book: Rulebook, *, asked: bool = False) -> list[Correction]:
    """The ways to read a message as a correction, the surest first; none where it does not sound like one.

    `asked`: somebody said that it is one. Never raises.
    """
    if len(text) > LONGEST:
        return []
    hearing = hear(text, book)
    spoken = [one for one in hearing.sentences if _is_spoken(hearing, one)]
    cues = [hearing.cue(does) for does in ("amends", "signals")]
    if len(spoken) > _SENTENCES or not spoken:
        return []
    found = [one for sentence in spoken for one in _named(hearing, sentence)]
    sounds = (cue.search(hearing.said, one.start, one.end) for one in spoken for cue in cues)
    quoted = any(UNSAID in hearing.said[one.start : one.end] for one in spoken)
    if asked or (not quoted and (any(sounds) or is_starred(hearing))):
        said = "\n".join(hearing.view.slice(one.start, one.end).strip() for one in spoken)
        found.append(Correction(said))
    return found


def _is_spoken(hearing: Hearing, sentence: Sentence) -> bool:
    said, end = hearing.said, sentence.end
    at = sentence.start + len(said[sentence.start : end]) - len(said[sentence.start : end].lstrip())
    if cue := hearing.cue("amends").match(said, at, end):
        at = cue.end()  # "I said it wrong" reports nothing
    if at >= end or not hearing.is_spoken(replace(sentence, start=at), end):
        return at >= end > sentence.start
    return bool(hearing.cue("requests").match(said, at, end)) or not hearing.asks(at, end, sentence)


def is_starred(hearing: Hearing) -> bool:
    """`*Thursday`, as people correct what they typed."""
    said = hearing.view.original.strip()
    return said.startswith("*") and said.count("*") == 1


def is_beside_the_point(correction: Correction, known: str, book: Rulebook) -> bool:
    """Whether another clause says more of what a memory is about than what a rule took for the value:
    "got promoted, not junior any more, senior buyer now"."""
    rest = words_of(known, book) - words_of(correction.old, book)
    clauses = _clauses(view_of(correction.said))
    apart = (one for one in clauses if correction.old not in one and correction.value not in one)
    return not words_of(correction.value, book) & rest and any(words_of(one, book) & rest for one in apart)


def _named(hearing: Hearing, sentence: Sentence) -> Iterator[Correction]:
    """What is wrong and what is right, where a rule finds both."""
    view, said = hearing.view, hearing.said
    for rule in hearing.book.of("correction"):
        found = rule.regex.search(said, sentence.start, sentence.end)
        if found is None or rule.is_exception(found, said, sentence.start, sentence.end):
            continue
        parts = {
            name.rpartition("_")[0]: view.slice(*found.span(name)).strip(_EDGES)
            for name in found.re.groupindex
            if found.start(name) >= 0
        }
        old, value = (without_cues(parts.get(name, ""), hearing.book) for name in ("old", "value"))
        frame = str(rule["frame"] or "")
        whole = not any(_cuts_a_number(said, *found.span(name)) for name in found.re.groupindex)
        if whole and words_of(value, hearing.book) and (old or frame):
            yield Correction(view.slice(sentence.start, sentence.end), old, value, bool(rule["topic"]), frame)


def _cuts_a_number(said: str, start: int, end: int) -> bool:
    """Whether a stretch ends or begins within something like 3:15."""
    return start >= 0 and any(_IN_A_NUMBER.match(said, max(0, at - 1)) is not None for at in (start - 1, end))


def amended(correction: Correction, known: str, book: Rulebook, *, asked: bool = False) -> Amended | None:
    """What a memory says after a correction; None where the correction is not about it."""
    if len(known) > LONGEST:
        return None
    if (both := _both_named(correction, known, book)) is not None:
        return both
    if not correction.named:
        return _restated(correction, known, book, asked)
    if correction.frame:
        return _framed(correction, known, book)
    about = _of_topic(correction, known, book) if correction.topic else None
    if about and (about.text or _begins_with(known, correction.old, book)):
        return about
    return _replaced(correction, known, book) or about


def _both_named(correction: Correction, known: str, book: Rulebook) -> Amended | None:
    """ "A Friday, not a Thursday", where the memory has the one that is wrong, and little else is said."""
    found = clash(correction.said, known, book)
    if not found.both or correction.frame or not (found.same_thing or found.bare):
        return None
    words, said = (words_of(without_values(text, book), book) for text in (known, correction.said))
    about = words & said
    if not about and weight(said) > _LITTLE:
        return None
    return Amended(found.text, 1.0 + weight(about) / max(1.0, weight(words)))


# What is wrong is named


def _framed(correction: Correction, known: str, book: Rulebook) -> Amended | None:
    """ "I moved to Kyoto" where it is known that "I live in Osaka"."""
    view, value = view_of(known), _value(correction.value, book)
    found = re.match(correction.frame, view.text)
    if found is None or view_of(value).text == view.text[found.end() :]:
        return None
    return Amended(view.slice(0, found.end()) + value, 1.0)


def _replaced(correction: Correction, known: str, book: Rulebook) -> Amended | None:
    view, value = view_of(known), _value(correction.value, book)
    for old, new in ((correction.old, value), (bare(correction.old, book), bare(value, book))):
        spans = _places(view, old)
        sorts = values(view_of(old), book).keys()
        if not spans or not new or view_of(new).text == view_of(old).text:
            continue
        if sorts ^ values(view_of(new), book).keys() and (sorts or correction.topic):
            continue  # "not Tuesday, that's the dialysis"; "move the oral to the 6th" is not about its name
        if correction.topic and not old.isascii() and _RUN_ON.match(view.text, spans[0][1]):
            continue  # what is named is only the first part of a word
        rest = words_of("\n".join(between(view, spans)), book)
        about = (words_of(correction.said, book) - words_of(old, book)) & rest
        fit = 1.0 + weight(about) / max(1.0, weight(rest))
        if _is_sentence(correction.value, rest, book):
            return Amended(_stripped(correction.value, book, ("amends",), ("amends",)), fit + 0.5)
        whole = not rest and weight(words_of(old, book)) >= 2 * weight(words_of(new, book))
        before, after = view.slice(0, spans[0][0]), view.slice(spans[0][1], len(view.text))
        return Amended("" if whole else before + _not_again(before, new) + after, fit)
    return None


def _not_again(before: str, value: str) -> str:
    """The value without words that stand before its place already: "called Mira" after "is called"."""
    for count in range(len(value) - 1, 0, -1) if _RUN_ON.match(value) else ():
        if before.endswith(value[:count]):
            return value[count:]
    words, said = value.split(" "), view_of(before).text.split()
    for count in range(min(len(words) - 1, len(said)), 0, -1):
        if view_of(" ".join(words[:count])).text.split() == said[-count:]:
            return " ".join(words[count:])
    return value


def _begins_with(known: str, topic: str, book: Rulebook) -> bool:
    """Whether a memory is about a thing that is named: "the office has …"."""
    view = view_of(topic)
    is_thing = book.any_of("cue", "things").match(view.text) is not None
    return is_thing and view_of(known).text.startswith(view.text)


def _is_sentence(value: str, rest: set[str], book: Rulebook) -> bool:
    """Whether what is right is said in a whole sentence, which says again what the memory is about."""
    text = view_of(value).text
    if book.any_of("cue", "heads").match(text) and not book.any_of("cue", "speakers").match(text):
        return False  # "she's called Mira" says less than the memory does
    speaks = book.any_of("cue", "speakers").match(text) and not book.any_of("cue", "heads").match(text)
    return bool(speaks or words_of(without_values(value, book), book) & rest)


def _value(said: str, book: Rulebook) -> str:
    """What is right, without the sentence it stands in: "her name is Mira" is about "Mira"."""
    value = _stripped(said, book, ("amends", "heads"), ("amends", "tails"))
    view = view_of(value)
    last = [one for one in book.any_of("cue", "is_to_be").finditer(view.text) if one.start() > 0]
    after = view.slice(last[-1].end(), len(view.text)).strip(_EDGES) if last else ""
    return after or value


def _of_topic(correction: Correction, known: str, book: Rulebook) -> Amended | None:
    """ "Change the deadline to Friday": what is named is what the value is of."""
    view, value = view_of(known), bare(correction.value, book)
    topic, words = words_of(correction.old, book), words_of(known, book)
    if not topic or weight(topic & words) < 0.6 * weight(topic) or values(view_of(correction.old), book):
        return None
    fit = 1.0 + weight(topic & words) / max(1.0, weight(words))
    found = clash(value, known, book)
    beside = words_of(value, book) - words_of(found.value, book)
    if found.differs and not beside - words:  # "8 Mill Rise" is not only a number
        return Amended(found.text, fit)
    spans = _places(view, correction.old) or _places(view, bare(correction.old, book))
    at = spans[-1][1] if spans else 0
    is_to_be = book.any_of("cue", "is_to_be").search(view.text, at)
    if is_to_be is None or (spans and view.text[at : is_to_be.start()].strip(f" {PAUSE}")):
        return Amended("", fit)
    head = view.slice(0, is_to_be.end())
    gap = " " if IS_LATIN.match(view_of(value).text) and is_to_be[0][-1:].isascii() else ""
    return Amended(f"{head}{gap}{value}", fit)


# It is said again


def _restated(correction: Correction, known: str, book: Rulebook, asked: bool) -> Amended | None:
    view = view_of(correction.said)
    clauses = [one for one in _clauses(view) if words_of(one, book)]
    denies = book.any_of("cue", "denies")
    positive = [one for one in clauses if not denies.search(view_of(one).text)]
    if not positive:
        return None
    words, said = words_of(known, book), set[str]().union(*(words_of(one, book) for one in clauses))
    if swapped := _clause_swapped(positive, known, book, said):
        return swapped
    tried = positive if not asked or len(positive) < len(clauses) else [correction.said]
    fit, text = max((_aligned(one, known, book, asked), one) for one in tried)
    if _ALIKE <= fit < _SAID_AGAIN and len(clauses) > 1:
        text = correction.said  # what is right may stand in another clause
    if asked and fit < _ALIKE:
        fit = weight(said & words) / max(1.0, min(weight(said), weight(words)))
        text = correction.said if len(clauses) > 1 else tried[0]
    text = without_cues(text, book)
    return Amended(text, fit) if fit >= _ALIKE and words_of(text, book) != words else None


def _clause_swapped(positive: Sequence[str], known: str, book: Rulebook, said: set[str]) -> Amended | None:
    """A clause that is a value and little else, where the memory has another of that sort."""
    words = words_of(known, book)
    for clause in reversed(positive):
        found = clash(clause, known, book)
        value = words_of(found.value, book)
        about = words_of(clause, book) - value
        if weight(about - words) > weight(about & words) or not _is_of_it(found, about, known, book):
            continue
        shared = (said - value) & words
        bare = not (said - value)
        if shared or bare or len(positive) == 1:
            fit = (weight(shared) + 1.0) / max(1.0, weight(words))
            return Amended(found.text, 1.0 + fit, bare=not shared)
    return None


def _is_of_it(found: Clash, about: set[str], known: str, book: Rulebook) -> bool:
    """Whether a value is one of what the memory has one of: of "two kids, Leo and Mia", "Leo is 7" is not."""
    if not found.differs or found.same_thing:
        return found.differs
    head = known[: _shared(found.text, known)].rstrip("0123456789")
    clause = _CLAUSE.split(head)[-1] if about else ""
    return not found.other_unit and about <= words_of(clause, book)


def _aligned(clause: str, known: str, book: Rulebook, asked: bool) -> float:
    """How much of a memory a clause says again, but for one place in which they differ."""
    one, other = _tokens(clause, book), _tokens(known, book)
    if not other or one == other:
        return 0.0
    front = _shared(one, other)
    back = _shared(one[front:][::-1], other[front:][::-1])
    mine, theirs = one[front : len(one) - back], other[front : len(other) - back]
    if not mine and not _inside_a_word(other, front, theirs):
        return 0.0
    if theirs and {mine[0] if mine else "", theirs[0]} & _LINKS:
        return 0.0
    same = other[:front] + other[len(other) - back :]
    if not front and weight_of(same) < max(1.0, 0.5 * weight_of(other)):
        return 0.0  # the same ending is not much: it may be that of a word
    if not asked and not weight({*same} - {*_gathering(other, book)} - _LINKS):
        return 0.0
    return weight_of(same) / weight_of(other)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many of the first words of two texts are the same."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(one), len(other)))


def _inside_a_word(tokens: Sequence[str], at: int, rest: Sequence[str]) -> bool:
    """Whether two Thai words differ only in that one is longer, by a letter or two."""
    return len(rest) <= 2 and all("\u0e01" <= one <= "\u0e4e" for one in [*tokens[at - 1 : at], *rest])


def _gathering(tokens: Sequence[str], book: Rulebook) -> list[str]:
    """The tokens that are verbs of which one may have several things."""
    gathers = book.any_of("cue", "gathers")
    text = "".join(f"{one} " if IS_LATIN.match(one) else one for one in tokens)
    return [one for found in gathers.finditer(text) for one in _TOKEN.findall(found[0])]


# Words


def _clauses(view: View) -> Iterator[str]:
    at = 0
    for cut in _CLAUSE.finditer(view.text):
        yield view.slice(at, cut.start()).strip(_EDGES)
        at = cut.end()
    yield view.slice(at, len(view.text)).strip(_EDGES)


def _tokens(text: str, book: Rulebook) -> list[str]:
    """The words of a text, one by one, without those that only surround what it says."""
    plain = view_of(text).text
    for does in ("amends", "small"):
        plain = book.any_of("cue", does).sub(lambda found: " " * len(found[0]), plain)
    return _TOKEN.findall(plain)


def words_of(text: str, book: Rulebook) -> set[str]:
    """What a text is about: words, pairs of Chinese and threes of Thai characters, and Chinese characters
    that are the name of a thing by themselves (`猫`, `茶`)."""
    return set(_words_of(text, book))


def telling(text: str, book: Rulebook) -> set[str]:
    """The words of a text that say what it is about."""
    return {one for one in words_of(text, book) if _tells(one)}


@lru_cache(maxsize=4096)
def _tells(word: str) -> bool:
    """Whether a word says what something is about: not "them", nor a number, nor one sign by itself where
    that does not name a thing."""
    if not word.isascii():
        return len(word) > 1 or word in things()
    return not word.isdigit() and len(query_terms(f"{word} \u4e00")) > 1


@cache
def things() -> frozenset[str]:
    """Characters that name a thing by themselves."""
    return frozenset(tomllib.loads(packaged("manners"))["things"]["characters"])


@lru_cache(maxsize=512)
def _words_of(text: str, book: Rulebook) -> frozenset[str]:
    out: set[str] = set()
    plain = view_of(text).text
    for does in ("amends", "small"):
        plain = book.any_of("cue", does).sub(" ", plain)
    for run in (found.removesuffix("'s") for found in RUN.findall(plain)):
        size = 3 if "\u0e01" <= run[0] <= "\u0e4e" else 2 if run[0] >= "\u3400" else len(run)
        out |= {run[at : at + size] for at in range(max(1, len(run) - size + 1))}
        out |= things() & set(run)
    return frozenset(out - _LINKS)


def weight(words: set[str]) -> float:
    return weight_of(list(words))


def weight_of(words: Sequence[str]) -> float:
    """A word of an alphabet weighs as much as two Chinese or four Thai characters."""
    return sum(1.0 if IS_LATIN.match(one) else 0.25 if one[0] <= "\u0e4e" else 0.5 for one in words)


def bare(text: str, book: Rulebook) -> str:
    """A value without the words before and after it that say nothing: "it's a lurcher" is "lurcher"."""
    edges = ("amends", "small", "is_to_be", "heads")
    return _stripped(text, book, edges, (*edges, "tails"))


def without_cues(text: str, book: Rulebook, *, ends: bool = True) -> str:
    """A text without the words at its edges that only say that it is a correction; or only before it."""
    return _stripped(text, book, ("amends",), ("amends",) if ends else ())


def _stripped(text: str, book: Rulebook, heads: Sequence[str], tails: Sequence[str]) -> str:
    """A text without what these cues find at its start and at its end; something is always left."""
    text = text.strip(_EDGES)
    for _ in range(_STRIPS):
        view = view_of(text)
        starts = (book.any_of("cue", does).match(view.text) for does in heads)
        start = max((one.end() for one in starts if one), default=0)
        ends = (book.any_ending("cue", does).search(view.text, start) for does in tails)
        end = min((one.start() for one in ends if one and one.start() > start), default=len(view.text))
        shorter = view.slice(start, end).strip(_EDGES)
        if not shorter or shorter == text:
            break
        text = shorter
    return text


def _places(view: View, words: str) -> list[tuple[int, int]]:
    """Where a text has these words, in any spelling that folds to the same; whole words of an alphabet."""
    wanted = view_of(words).text.strip()
    if not wanted:
        return []
    left = f"(?<![{LATIN}])" if IS_LATIN.match(wanted) else ""
    right = f"(?![{LATIN}])" if IS_LATIN.match(wanted[-1]) else ""
    return [found.span() for found in re.finditer(left + re.escape(wanted) + right, view.text)]


def best(found: Sequence[tuple[str, Amended]]) -> list[tuple[str, Amended]]:
    """Those that fit best; several where none fits clearly better than the rest."""
    most = max((one.fit for _, one in found), default=0.0)
    return [each for each in found if each[1].fit >= _CLEARLY * most]
