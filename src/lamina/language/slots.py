"""What a request is about: the words to keep, the way to answer, and what surrounds them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import accumulate

from lamina.language.amend import telling, weight
from lamina.language.command import WISH
from lamina.language.framing import phrases_of
from lamina.language.hearing import Hearing
from lamina.language.rulebook import Rulebook, packaged
from lamina.language.settings import meaning
from lamina.language.sorts import Sort, sorter
from lamina.language.understanding import sentence_of, words
from lamina.language.view import PAUSE, Span, view_of

#: How many words before or after what is to be kept may be the request for it.
_REQUEST = 14
#: What is left must say something.
_LEAST = 4
_BREAK = re.compile(rf"[,、:{PAUSE}]+ ?|(?<= )[-–—]+ |(?<=[ก-๎])ว่า ?|(?<= )that |(?<= )")
_EDGES = f" ,、:-–—.!?{PAUSE}"
#: How far into a request the word that points back may stand.
_REACH = 24
#: A shorter request that explains this much of what the best one does is taken for the whole.
_NEARLY = 0.65
_SIGN = re.compile(rf"(?:[,、:{PAUSE}\-–—]+|ว่า|that) ?\Z")
#: A word, or so many characters of a writing without spaces, that says something; how much each has to speak
#: against a request.
_CONTENT, _DENSE, _AGAINST = re.compile(r"[a-z]{4,}|[ก-๎]{6,}|[\u3400-\u9fff]{3,}"), 6, 10_000
#: What stands before what is to be kept, and nothing else.
_NAMES = re.compile(r"(?::|ว่า|\bthat) ?\Z")
_WITHIN = re.compile(f"[,、{PAUSE}]")
_CLAUSES = re.compile(r"[,，、。.;；!?！？\n]|(?<=[ก-๎]) (?=[ก-๎])")
_BREAKS = re.compile("[,;、]")
_NOT = re.compile(
    r"(?:[别不勿甭没]|ไม่|อย่า|\bnot|n't|\bno (?:need|point|reason)(?: (?:in|to))?|\bstop) ?[^,]{0,3}\Z"
)
_TELLING = re.compile(r"[0-9\x00]")
#: From this weight on, the words beside a pointer name something: beside one at a thing, and at a manner.
_NAMED = {"that": 1.5, "thus": 0.5}
_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][a-z]")


def kept_words(hearing: Hearing, span: Span) -> str:
    """What somebody asks to be kept, without the request; the whole where the two cannot be told apart."""
    start, end = span
    said = hearing.said[start:end]
    weighs = sorter().told(said, Sort.REMEMBER)
    mean = sum(weighs) // max(1, len(weighs))
    sums = [0, *accumulate(one - max(mean, 0) for one in weighs)]
    found: list[tuple[int, int, Span]] = []
    for at in _cuts(said):
        for request, rest in (((0, at), (at, len(said))), ((at, len(said)), (0, at))):
            gain = sums[request[1]] - sums[request[0]]
            if _holds_more(said, request, rest):
                continue
            if gain > 0 and _may_go(hearing, start, request) and _says(said[slice(*rest)]):
                found.append((gain, request[1] - request[0], (start + rest[0], start + rest[1])))
    most = max((gain for gain, _, _ in found), default=0)
    # To lose some of what was to be kept is worse than to keep some of the request with it.
    near = [(size, rest) for gain, size, rest in found if gain >= most * _NEARLY]
    told = [(size, rest) for _, size, rest in found if _is_told(hearing, start, rest)]
    signed = [one for one in near if _is_signed(hearing, start, one[1])]
    _, cut = min(told or signed or near, default=(0, span))
    lost = (0, cut[0] - start) if cut[0] > start else (cut[1] - start, len(said))
    named = _NAMES.search(said[: cut[0] - start]) is not None
    return words(hearing, *(span if not named and _tells(said, lost, weighs) else cut))


def _holds_more(said: str, request: Span, rest: Span) -> bool:
    """Whether a request would take a whole clause along that is longer than what is left of it: "the deed is
    in the chest, do remember, we all forget"."""
    asked = said[slice(*request)].strip(_EDGES)
    return rest[1] - rest[0] < request[1] - request[0] and _WITHIN.search(asked) is not None


def _tells(said: str, request: Span, weighs: Sequence[int]) -> bool:
    """Whether a stretch says something of its own: a word in it speaks clearly against a request."""
    mean = max(0, sum(weighs) // max(1, len(weighs)))
    for found in _CONTENT.finditer(said, *request):
        size = len(found[0]) if found[0].isascii() else _DENSE
        for at in range(found.start(), max(found.start() + 1, found.end() - size + 1)):
            if sum(weighs[at : at + size]) < (mean - _AGAINST) * size:
                return True
    return False


def _is_told(hearing: Hearing, start: int, rest: Span) -> bool:
    """Whether what is to be kept stands behind a colon: nothing says more clearly where a request ends."""
    return rest[0] > start and hearing.said[start : rest[0]].rstrip().endswith(":")


_SHORT_WORD = 400  #: characters; what is longer tells a story
_AROUND = " \t\n,.;:!?…—–-，。；：！？、\v"


def points_back(hearing: Hearing, span: Span) -> bool:
    """Whether a request names nothing itself, but points at what was said before it: "keep that figure"."""
    start, end = span
    cut = _BREAKS.search(hearing.said, start + 1, end)
    said = hearing.said[start : cut.start() if cut else end]
    if _TELLING.search(said) or _CAPITAL.search(hearing.view.slice(start, start + len(said))):
        return False
    if ":" in hearing.said[start:end]:
        return False
    found = phrases_of("that").search(said)
    return found is not None and found.start() <= _REACH


def said_before_it(hearing: Hearing, typed: Span) -> str:
    """The sentence before a request that only points at it, as typed; empty where it names something."""
    own = sentence_of(hearing, typed)
    at = hearing.sentences.index(own)
    before = hearing.sentences[at - 1] if at else None
    if before is None or before.marked or not points_back(hearing, (own.start, own.end)):
        return ""
    return words(hearing, before.start, before.end)


def _is_signed(hearing: Hearing, start: int, rest: Span) -> bool:
    """Whether a sign or a word such as "that" stands where what is to be kept begins or ends."""
    at = rest[0] if rest[0] > start else rest[1]
    return _SIGN.search(hearing.said[max(start, at - 5) : at]) is not None


def _says(rest: str) -> bool:
    """Whether enough is left to be kept."""
    return len(rest.strip(_EDGES)) >= (_LEAST if rest.isascii() else _LEAST // 2)


def _may_go(hearing: Hearing, start: int, span: Span) -> bool:
    """Whether a stretch is short and plain enough to be nothing but a request."""
    low, high = start + span[0], start + span[1]
    said, typed = hearing.said[low:high], hearing.view.slice(max(start, low - 2), high)
    short = len(said.split()) <= _REQUEST and len(said) <= 90
    return short and bool(said.strip()) and not _TELLING.search(said) and not _CAPITAL.search(typed)


def _cuts(said: str) -> Iterator[int]:
    """Where a request may end or begin: at a sign, or between the first or last words."""
    found = [one.end() for one in _BREAK.finditer(said, 1, len(said) - 1)]
    yield from dict.fromkeys([*found[:_REQUEST], *found[-_REQUEST:]])


def says_something(words: str, whole: str) -> bool:
    """Whether a request names what to keep: "remember this for me" does not."""
    if words != whole or _CAPITAL.search(words) or _TELLING.search(words):
        return True
    said = view_of(words).text
    weighs = sorter().told(said, Sort.REMEMBER)
    telling = sum(1 for one in weighs if one <= 0)
    return telling * 2 > len(weighs) or len(said) > 90


def names_nothing(text: str, pointer: str, book: Rulebook) -> bool:
    """Whether what is said beside a pointer ("keep that", "like this") names nothing: what it is about was
    said before."""
    said, beside = view_of(text).text, (book.any_of("cue", does) for does in ("lasts", "requests", "this"))
    found = phrases_of(pointer).search(said)
    if found is None or len(said) > _SHORT_WORD or book.any_of("cue", "negates").search(said):
        return False
    rest = f"{said[: found.start()]} {said[found.end() :]}"
    for pattern in beside:
        rest = pattern.sub(" ", rest)
    return not _TELLING.search(rest) and weight(telling(rest, book)) < _NAMED[pointer]


def ways(text: str, book: Rulebook) -> list[tuple[str, str]]:
    """The settings that a wish about answers comes to: a key and a value each.

    Where the rules know what is meant, their key and value; else the topic's key, and the person's words.
    """
    for piece in (text, *_CLAUSES.split(text)[:8]):
        if len(piece) <= 60 and (known := meaning(piece, book)):
            return [known]
    said = view_of(text).text
    for name, pattern in _topics().items():
        if pattern.search(said):
            return [(f"response.{name}", text)]
    return [(f"{WISH}{sha256(said.encode()).hexdigest()[:8]}", text)]


@cache
def _topics() -> dict[str, re.Pattern[str]]:
    data = tomllib.loads(packaged("manners"))
    return {name: re.compile("|".join(phrases)) for name, phrases in data["topics"].items()}


def apart_from_what_stays(text: str) -> tuple[str, str]:
    """A word to forget, and the clauses in it that say what is to stay: "…, but keep the rent one"."""
    clauses = [one for one in _CLAUSES.split(text) if one.strip()]
    stays = [one for one in clauses if _stays(view_of(one).text)]
    goes = [one for one in clauses if one not in stays]
    return (" ".join(goes), " ".join(stays)) if goes else (text, "")


def _stays(clause: str) -> bool:
    """Whether a clause says that something is to stay, and not that it is not to."""
    found = phrases_of("keeps").search(clause)
    return found is not None and not _NOT.search(clause[: found.start()])


def just_said(said: str) -> bool:
    """Whether folded words point at what was said a moment ago."""
    return phrases_of("just_said").search(said) is not None


def takes_nothing(text: str) -> bool:
    """Whether a sentence that sounds like a wish to forget is none: a courtesy, a vow, somebody else's."""
    return phrases_of("takes_nothing").search(view_of(text).text) is not None


def is_misheard(text: str) -> bool:
    """Whether somebody says that what they said before was no command."""
    return len(text) <= 160 and phrases_of("misheard").search(view_of(text).text) is not None


def taken_back(text: str) -> str | None:
    """What somebody says beside that they misspoke, as typed; None where they do not say so."""
    view = view_of(text)
    found = phrases_of("misspoke").search(view.text) if len(text) <= _SHORT_WORD else None
    return None if found is None else view.slice(found.end(), len(view.text)).strip(_AROUND)


def names_taken_back(text: str) -> bool:
    """Whether somebody says about what it was that they take back: "… what I said about the loan"."""
    found = phrases_of("misspoke").search(view_of(text).text)
    return found is not None and found[0].endswith(("said about", "ถอนคำพูดเรื่อง"))


@cache
def _called() -> dict[str, str]:
    return dict(tomllib.loads(packaged("manners"))["called"])


def name_of_key(key: str | None) -> str:
    """What people call the entry of a key; a note has no name."""
    return next((called for name, called in _called().items() if (key or "").startswith(name)), "")


def is_sensitive(text: str) -> bool:
    """Whether a statement about oneself is one that may do harm where others see it."""
    return phrases_of("sensitive").search(view_of(text).text) is not None
