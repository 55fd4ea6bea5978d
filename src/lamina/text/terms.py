"""Text into search terms: one analyser for the index and for queries, the same on every machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import chain

import Stemmer

from lamina.late import regex
from lamina.text.normalise import unaccented, visible

#: Goes up with every change of what `terms` returns or an index holds; one of another version is rebuilt.
ANALYSER_VERSION: int = 3

#: Longest term, in characters; a longer one keeps its head and ends in a digest of the whole.
TERM_LIMIT = 64
_TERM_HEAD = 47

#: A longer chain of words is a blob or a long address: its parts are terms, the whole is not.
_COMPOUND_LIMIT = 256

#: More groups of digits in one word than this, and it is a hash.
_DIGIT_GROUPS = 2

#: What follows an apostrophe is an ending (`they'll`) up to this length, and a word (`o'brien`) beyond.
_ELISION = 3

# Scripts written without blanks are cut into n-grams: a dictionary would tie the index to its version.
# Two characters tell as much in Chinese as three do in Thai, where vowels and tones are characters too.
_CJK = "\u3005\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
_CJK += "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_UNSPACED = "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
_UNSPACED += "\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"  # Lao, Burmese, Khmer
_EMOJI = "\u203c\u2049\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_FLAG_LETTER = "\U0001f1e6-\U0001f1ff"
_SKIN_TONES = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")

# Marks belong to the word they stand on, and `\w` does not hold them: Latin and Cyrillic accents, Hebrew
# points, Arabic vowels, and the Indic blocks, which are letters and marks throughout but for the danda.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff"
    "\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f"
)
_LETTER = rf"(?:[^\W_]|[{_MARKS}])"

_RUN = regex(
    rf"(?P<cjk>[{_CJK}]+)|(?P<hangul>[{_HANGUL}]+)|(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<emoji>[{_FLAG_LETTER}]{{2}}|[{_EMOJI}])"
    rf"|(?P<words>[^{_CJK}{_HANGUL}{_UNSPACED}{_EMOJI}]+)"
)

# Quotes and dashes that a word processor made of ASCII ones. A dash parts words, a hyphen joins them.
_TYPOGRAPHY = str.maketrans(
    {
        "‘": "'",
        "’": "'",
        "ʼ": "'",
        "“": " ",
        "”": " ",
        "–": " ",
        "—": " ",
        "‐": "-",
        "‑": "-",
    }
)

# Words joined without a blank: paths, versions, addresses, identifiers, `don't`, `rock-and-roll`.
_COMPOUND = regex(rf"{_LETTER}+(?:(?:_+|://|::|->|[-./\\:@+'~]){_LETTER}+)*(?:\+\+(?!\w)|\#(?!\w))?")
_EDGES = ".,;:!?()[]{}\"'*`<>|"  # in no term; off before the cache, so that it holds fewer spellings
_SEGMENT_BORDER = regex(r"://|::|->|[/\\:@~]")
_WORD = regex(rf"{_LETTER}+(?:'{_LETTER}+)*")
_THOUSANDS = regex(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])")
_VERSION = regex(r"v\d+\.\d")
_HUMP = regex(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")

_STOP_WORDS = """
a about after again all am an and any are arent as at be because been before being but by can cant could
couldnt did didnt do does doesnt doing dont down during each for from further had hadnt has hasnt have
havent having he hed her here hers herself hes him himself his how i id if ill im in into is isnt it its
itself ive just me more most my myself no nor not now of off on once only or other our ours ourselves out
over own s same she shes should shouldnt so some such t than that thats the their theirs them themselves
then there these they theyd theyll theyre theyve this those through to too under until up very was wasnt we
wed were werent weve what whats when where which while who whom whos why will with wont would wouldnt you
youd youll your youre yours yourself yourselves youve
"""

#: How to cut a run of a script into terms.
Cut = Callable[[str], Iterable[str]]


def terms(text: str) -> list[str]:
    """What to index: every term in the order of occurrence, repeated as often as it occurs.

    Whatever `query_terms` makes of a word, or of a stretch inside a Chinese or (from two characters on) Thai
    run, is among the terms of each text that holds it. A word with accents is there without them too.
    Linear in the text.
    """
    return analysed(text, _index_pairs, _index_triples, _both_terms)


def query_terms(text: str) -> list[str]:
    """What to look for: each term once, in order and without accents; English stop words only if there is
    nothing else. A word that has accents is none of those, whatever it looks like without: mẹ is a mother.
    """
    found = dict.fromkeys(analysed(text, _query_pairs, _query_triples, _plain_terms))
    foreign = frozenset(map(unaccented, spelt_terms(text)))
    return [term for term in found if term not in _STOPPED or term in foreign] or list(found)


def spelt_terms(text: str) -> list[str]:
    """The words of a text that have accents, as an index holds them beside the same words without."""
    found = [] if text.isascii() else analysed(text, _nothing, _nothing)
    return [term for term in found if term != unaccented(term)]


def is_stop_word(term: str) -> bool:
    """Whether a term is a word of English that says nothing by itself."""
    return term in _STOPPED


def sequence(text: str) -> Sequence[str]:
    """The terms of a text one after the other, as a question would name them: what stands near what."""
    return _known_sequence(text) if len(text) <= _KEPT_TEXT else _lately(text)


def _sequence(text: str) -> tuple[str, ...]:
    return tuple(analysed(text, _index_pairs, _query_triples, _plain_terms))


def term_set(text: str) -> frozenset[str]:
    """The different terms of a text, each as `sequence` names it."""
    return _known_set(text) if len(text) <= _KEPT_TEXT else frozenset(_lately(text))


#: What is found is looked at more than once, and often found again. Of longer texts the last few are kept.
_KEPT_TEXT = 2000
_lately = lru_cache(maxsize=4)(_sequence)
_known_sequence = lru_cache(maxsize=8192)(_sequence)
_known_set = lru_cache(maxsize=8192)(lambda text: frozenset(_known_sequence(text)))


def analysed(text: str, pairs: Cut, triples: Cut, words: Cut | None = None) -> list[str]:
    """The terms of a text, with the caller's way to cut the runs of Chinese and of Thai characters, and words
    that have letters beyond ASCII; these are else taken as they are spelt."""
    if text.isascii():
        return list(chain.from_iterable(map(_CHUNKS.__getitem__, text.split())))
    out: list[str] = []
    for chunk in visible(text).translate(_TYPOGRAPHY).split():
        known = chunk.isascii()
        out += _CHUNKS[chunk] if known else _mixed_terms(chunk, pairs, triples, words or _chunk_terms)
    return out


def _mixed_terms(chunk: str, pairs: Cut, triples: Cut, words: Cut) -> list[str]:
    """The terms of a chunk that may hold several scripts."""
    out: list[str] = []
    for run in _RUN.finditer(chunk):
        part = run[0]
        match run.lastgroup:
            case "words":
                out += words(part)
            case "unspaced":
                out += triples(part)
            case "emoji":
                out += () if part in _SKIN_TONES else (part,)
            case _:
                out += pairs(part)
    return out


def _plain_terms(part: str) -> Iterable[str]:
    return _chunk_terms(unaccented(part))


def _both_terms(part: str) -> Iterable[str]:
    spelt = _chunk_terms(part)
    plain = unaccented(part)
    if plain == part:
        return spelt
    return (*_chunk_terms(plain), *(term for term in spelt if term != unaccented(term)))


def _nothing(_: str) -> Iterable[str]:
    return ()


def _index_pairs(run: str) -> Iterable[str]:
    cut = [gram for at in range(len(run) - 1) for gram in (run[at], run[at : at + 2])]
    return [*cut, run[-1]]


def _query_pairs(run: str) -> Iterable[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _index_triples(run: str) -> Iterable[str]:
    cut = [gram for at in range(len(run) - 2) for gram in (run[at : at + 2], run[at : at + 3])]
    return [*cut, run[-2:]]


def _query_triples(run: str) -> Iterable[str]:
    return [run[at : at + 3] for at in range(len(run) - 2)] or [run]


def _chunk_terms(chunk: str) -> tuple[str, ...]:
    """The terms of what stands between two blanks."""
    if chunk.isalpha() and chunk.isascii():
        return tuple(_word_terms(chunk))
    if "," in chunk:
        chunk = _THOUSANDS.sub(_without_commas, chunk)
    out: list[str] = []
    for compound in _COMPOUND.findall(chunk):
        words = _WORD.findall(compound)
        out += _word_terms(compound) if words == [compound] else _compound_terms(compound, words)
    return tuple(out)


class _Chunks(dict[str, tuple[str, ...]]):
    """The terms of ASCII chunks that were met lately; looking up a known one is cheap."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        if len(chunk) > TERM_LIMIT:
            return _chunk_terms(chunk)
        if len(self) >= _MOST_CHUNKS:
            self.clear()
        found = self[chunk] = _chunk_terms(chunk.strip(_EDGES))
        return found


_MOST_CHUNKS = 131_072
_CHUNKS = _Chunks()


def _without_commas(number: re.Match[str]) -> str:
    return number[0].replace(",", "")


def _compound_terms(compound: str, words: Sequence[str]) -> list[str]:
    """The whole, its path segments, and its words, so that each of them finds it."""
    out: list[str] = []
    if len(compound) <= _COMPOUND_LIMIT:
        whole = compound.casefold().removesuffix("'s")
        out.append(_capped(whole))
        if _VERSION.match(whole):
            out.append(_capped(whole[1:]))
        segments = _SEGMENT_BORDER.split(whole)
        if len(segments) > 1:
            out += [_capped(segment) for segment in segments if not _WORD.fullmatch(segment)]
    for word in words:
        out += _word_terms(word)
    return out


def _word_terms(word: str) -> list[str]:
    if "'" in word:
        return _apostrophe_terms(word.casefold())
    if len(word) > TERM_LIMIT or not word.isascii():
        return [_stem(word.casefold())]
    whole = _stem(word.casefold())
    if word.isalpha() and (word.islower() or word.istitle()):
        return [whole]
    humps = _HUMP.findall(word)
    if len(humps) == 1 and word[-1] == "s" and word[:-1].isupper():
        return [whole, word[:-1].casefold()]
    # A hash or an id has digits all over; its pieces would only be noise.
    if len(humps) == 1 or sum(map(str.isdigit, humps)) > _DIGIT_GROUPS:
        return [whole]
    return [whole, *(_stem(hump.casefold()) for hump in humps if len(hump) > 1 or hump.isdigit())]


def _apostrophe_terms(word: str) -> list[str]:
    """`user's` is `user`, `don't` is `dont`, and `o'brien` is both `obrien` and `brien`."""
    pieces = word.split("'")
    if pieces[-1] == "s":
        pieces.pop()
    joined = _stem("".join(pieces))
    return [joined, _stem(pieces[-1])] if len(pieces) > 1 and len(pieces[-1]) > _ELISION else [joined]


@lru_cache(maxsize=32_768)
def _stem(word: str) -> str:
    if len(word) > TERM_LIMIT:
        return _capped(word)
    if not word.isalpha():
        return word
    # A stemmer may not be shared by threads, and a new one costs less than stemming a word.
    stem: str = Stemmer.Stemmer("english", 0).stemWord(word)
    return stem


def _capped(term: str) -> str:
    if len(term) <= TERM_LIMIT:
        return term
    return f"{term[:_TERM_HEAD]}~{sha256(term.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


_STOPPED = frozenset(map(_stem, _STOP_WORDS.split()))
