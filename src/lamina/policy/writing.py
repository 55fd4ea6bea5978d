"""How a memory is written that nobody said word for word: short, in the third person, clear by itself.

For insights, summaries, extracted and consolidated facts. What a person said in their own words is theirs
and never comes here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any

from lamina.language.pronouns import Pronoun, pronouns, without_quotations
from lamina.late import read_rules
from lamina.model import Kind
from lamina.records import dataclass
from lamina.text.normalise import INVISIBLE, Language, language_of

LONGEST = 280  #: characters of a generated memory
MOST_SENTENCES = 2
#: What tells of something that happened; every other kind states what holds.
_HAPPENED = (Kind.EPISODE, Kind.EXECUTION)
_LANGUAGES: tuple[Language, ...] = ("en", "th", "zh-Hans")

_BULLET = re.compile(r"\A(?:[-*•]|\d{1,2}[.)])\s+")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "ʼ": "'"})
_WRAPPED = re.compile(r"\A(?:\"([^\"]+)\"|'([^']+)'|「([^」]+)」|『([^』]+)』|“([^”]+)”)\Z")
_WORD = re.compile(r"[^\W_]")
# A dot after a single letter or a title ends no sentence, nor does one inside a number or a name.
_END = re.compile(
    r"(?<!\b[A-Za-z])(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)(?<!\bvs)(?<!\betc)(?<!\bNo)[.!?]+[\"')]*(?=\s|\Z)"
    r"|[。！？]+[」』”]*"
)
_ASKS = re.compile(r"[?？]+[\"'」』”)]*(?=\s|\Z)")
_LOUD = re.compile(r"!+")
_LOUD_WIDE = re.compile(r"！+")
_CAPITAL = re.compile(r"\b[A-Z][\w'-]*")
_DETERMINED = re.compile(r"\b(?:the|an?|this|that|every|each|some) (?=[a-z])", re.I)
_PLURAL = re.compile(r"\b[a-z]+(?<![sui'])s\b|\b(?:and|people|team|family|children|everyone|staff)\b", re.I)
_SENTENCE_START = re.compile(r"(?:\A|[.!?] )\Z")


@dataclass(frozen=True, slots=True)
class Pass:
    """As it should be."""

    text: str
    status = "pass"


@dataclass(frozen=True, slots=True)
class Repaired:
    """Put right without changing what it says; `what` names each repair."""

    text: str
    what: tuple[str, ...]
    status = "repaired"


@dataclass(frozen=True, slots=True)
class Held:
    """Not clear by itself and not to be put right for sure: only a person may let it stand."""

    text: str
    why: str
    status = "held"


@dataclass(frozen=True, slots=True)
class Rejected:
    """No memory can be made of it."""

    why: str
    status = "rejected"


Checked = Pass | Repaired | Held | Rejected


def checked(
    text: str, kind: Kind, *, subject: str | None = None, language: Language | None = None
) -> Checked:
    """Whether a generated memory may be kept: as it is, put right, on a person's word only, or not at all.

    `kind` is what it would be: an `episode` (or `execution`) is told in the past; every other states
    something in the third person, without pronouns and without `today`. Both have at most two sentences and
    280 characters. `subject` is who `I` is, where that is certain: a name, or "" for the user whose name is
    not known; None where it is not certain, and then `I` is held. `language` is the text's own unless given.

    Keep `.text` of Pass and Repaired. Never raises; the same text always comes to the same result.
    """
    spoken = language or language_of(text)
    plain = _tidied(text, spoken)
    what = [] if plain == text else ["normalised"]
    calm = _calmed(plain)
    what += [] if calm == plain else ["tone"]
    happened = kind in _HAPPENED
    named = calm if happened else _in_third_person(calm, spoken, subject)
    what += [] if named == calm else ["pronoun"]
    short = _shortened(named, spoken)
    if not _WORD.search(short):
        return Rejected("too_long" if _WORD.search(named) else "empty")
    if _ASKS.search(short):
        return Rejected("question")
    what += [] if short == named else ["trimmed"]
    if why := _fault(short, spoken, happened=happened):
        return Held(short, why)
    return Repaired(short, tuple(what)) if what else Pass(short)


def _tidied(text: str, language: Language) -> str:
    plain = unicodedata.normalize("NFC", INVISIBLE.sub("", text[: 4 * LONGEST]))
    plain = " ".join(_BULLET.sub("", plain.strip()).split())
    if language in ("en", "th"):
        plain = plain.translate(_QUOTES)
    wrapped = _WRAPPED.match(plain)
    return next(filter(None, wrapped.groups()), "").strip() if wrapped else plain


def _calmed(text: str) -> str:
    calm = _LOUD_WIDE.sub("。", _LOUD.sub(".", text)) if _LOUD.search(text) or "！" in text else text
    for shape in _shapes("tone", "drops"):
        calm = shape.sub("", calm)
    return calm if calm == text else f"{calm[:1].upper()}{calm[1:]}".strip()


def _shortened(text: str, language: Language) -> str:
    """The first two sentences that fit; empty where not even the first one does."""
    ends = [found.end() for found in _END.finditer(text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    fit = [end for end in ends[:MOST_SENTENCES] if end <= LONGEST]
    if not fit and language == "th":  # a blank ends a clause in Thai, and no other sign ends a sentence
        fit = [found.start() for found in re.finditer(" ", text[: LONGEST + 1])][-1:]
    return text[: fit[-1]].rstrip() if fit else ""


def _says(section: str, name: str, said: str) -> bool:
    return any(shape.search(said) for shape in _shapes(section, name))


def _fault(text: str, language: Language, *, happened: bool) -> str:
    """The first thing that is wrong and was not put right; empty for nothing."""
    said = without_quotations(text)
    if _says("tone", "loaded", said):
        return "tone"
    if happened:
        return _not_over(said, language)
    if left := [one for name in _LANGUAGES for one in pronouns(text, name)]:  # a text may mix them
        return f"pronoun:{left[0].word.lower()}"
    if _says("self_contained", "openings", said):
        return "not_self_contained"
    return "relative_time" if _says("self_contained", "relative", said) else ""


def _not_over(said: str, language: Language) -> str:
    """What was settled may lie ahead; what happened may not."""
    told = [found.start() for one in _shapes("tense", "settled") if (found := one.search(said))]
    ahead = [found.start() for one in _shapes("tense", "future") if (found := one.search(said))]
    if ahead and min(ahead) < min(told, default=len(said)):
        return "future"
    words = re.findall(r"[a-z']+", said.lower()) if language == "en" else []
    return "tense" if language == "en" and not any(map(_is_past, words)) else ""


def _is_past(word: str) -> bool:
    regular = len(word) > 3 and word.endswith("ed") and not word.endswith("eed")
    return regular or word in _words("tense", "past") or word in _words("tense", "either")


def _in_third_person(text: str, language: Language, subject: str | None) -> str:
    """With a name for the speaker, and for `he`, `she` and `their` where they can be nobody else's."""
    name = _data()["subject"][language] if subject == "" else subject
    if language != "en":
        return text if name is None else _plain(text, name, language)
    text = text if name is None else _english(text, name)
    for one in reversed([one for one in pronouns(text, "en") if one.who in ("person", "many")]):
        if owner := _antecedent(text, one, name):
            text = _put(text, one, owner)
    return text


def _plain(text: str, name: str, language: Language) -> str:
    """Thai and Chinese words have no endings: the name stands where the pronoun stood."""
    for one in reversed([one for one in pronouns(text, language) if one.who == "first"]):
        text = f"{text[: one.start]}{name}{text[one.end :]}"
    return text


def _english(text: str, name: str) -> str:
    """With the name for the first person, its verbs in the third; as it was where that is not sure."""
    doing, second = _grammar()
    speakers = {one.start for one in pronouns(text, "en") if one.word == "I"}
    out, done = list[str](), 0
    for found in doing.finditer(text):
        if found.start() not in speakers:
            continue
        short, adverbs, verb = found["short"], found["adverbs"], _third(found)
        rest = text[found.end() : _sentence_end(text, found.end())]
        if verb is None or text[: found.start()].lower().endswith("and ") or second.search(rest):
            return text
        whole = f"{name} {verb}{adverbs} {found['verb']}" if short else f"{name}{adverbs} {verb}"
        out += (text[done : found.start()], _opened(text, found.start(), whole))
        done = found.end()
    text = "".join((*out, text[done:]))
    for one in reversed([one for one in pronouns(text, "en") if one.who == "first" and one.word != "I"]):
        text = _put(text, one, name)
    return text


def _third(found: re.Match[str]) -> str | None:
    """What somebody does as it goes with a name; None where that cannot be told."""
    verb, known = found["verb"], _data()["agreement"]["short" if found["short"] else "becomes"]
    if found["short"] or verb in known or verb in _words("tense", "either"):
        irregular: str | None = known.get(found["short"] or verb)
        return irregular
    if verb in _words("agreement", "modals") or _is_past(verb):
        return verb
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|x|z|ch|sh|o)$", verb) else f"{verb}s"


def _sentence_end(text: str, at: int) -> int:
    found = _END.search(text, at)
    return found.end() if found else len(text)


def _antecedent(text: str, pronoun: Pronoun, name: str | None) -> str:
    """Whom `he`, `she` or `they` stands for, where only one person is named before it; else nothing."""
    before = without_quotations(text[: pronoun.start])
    named = (name, "the user", "user")
    known = [one for one in named if one and re.search(rf"\b{re.escape(one)}\b", before, re.I)]
    if not known:
        return ""
    rest = re.sub(rf"\b(?:the )?{re.escape(known[0])}(?:'s [\w-]+| [\w-]+)?", "\x00", before, flags=re.I)
    owned = re.search(rf"\b{re.escape(known[0])}'s ", before, re.I)
    others = _CAPITAL.search(rest) or _DETERMINED.search(rest) or owned
    if others or (pronoun.who == "many" and _PLURAL.search(rest)):
        return ""
    return known[0] if known[0] != "user" else "the user"


def _put(text: str, pronoun: Pronoun, name: str) -> str:
    """The name in a pronoun's place, as an owner where that was one; unchanged where it is not sure."""
    word, after = pronoun.word.lower(), text[pronoun.end :]
    if after.startswith("'") or word in _words("agreement", "stays"):
        return text
    if word == "her" and not re.match(r"[.,;]|\Z", after):  # "gave her tea" has two readings
        return text
    owner = "'s" if word in _words("agreement", "owners") else ""
    return f"{text[: pronoun.start]}{_opened(text, pronoun.start, name)}{owner}{after}"


def _opened(text: str, at: int, words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}" if _SENTENCE_START.search(text[:at]) else words


@cache
def _data() -> dict[str, Any]:
    return read_rules("lamina.policy", "writing.toml")


@cache
def _shapes(section: str, name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one, re.I) for one in _data()[section][name])


@cache
def _words(section: str, name: str) -> frozenset[str]:
    return frozenset(_data()[section][name].split())


@cache
def _grammar() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The speaker with what they do, and a second verb that would have to follow."""
    adverbs, verbs = ("|".join(_data()["agreement"][name].split()) for name in ("adverbs", "verbs"))
    doing = rf"\bI(?P<short>'(?:m|ve|ll|d))?(?P<adverbs>(?: (?:{adverbs}))*) (?P<verb>[a-z]+(?:'t)?)\b"
    return re.compile(doing), re.compile(rf"\b(?:and|or|but|then) (?:(?:{adverbs}) )*(?:{verbs})\b")
