"""Of what was found, what says something: no empty word, no bare question, nothing twice, no echo."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from lamina.language.clauses import only_asks
from lamina.language.commands import commands
from lamina.language.rulebook import Rulebook
from lamina.language.signal import low_signal
from lamina.model import Hit, Layer, Role, Space
from lamina.ranking.question import weighed
from lamina.text.normalise import dedup_key, folded

#: Thai and Chinese are compared by pieces of a few characters: of an echo, so much may be new at its seams.
_SEAMS = 1 / 3
_PIECE = re.compile("[\u0e01-\u0e4e\u3040-\U0003ffff]")
_PAUSE = re.compile(r"[,.!?;:]+(?:\s+|$)|[，。！？；：、\n]+")
_EDGE = re.compile("\\s+|[\u0e01-\u0e4e\u3400-\u9fff]")  #: after which a word may begin
_LONGEST = 24  #: characters of an assent before or after what is said


def telling(hits: Sequence[Hit], task: str, told: Iterable[str], book: Rulebook) -> list[Hit]:
    """The hits that say something beside a task and what is told already, in their order.

    The task itself is left out, and what is told. Of a conversation, so is what only asks, what only says to
    remember what is told, and what an agent said where it repeats the task, somebody's words or another's.
    """
    told = [*told]
    seen, kept = {same(one) for one in (task, *told)}, []
    for hit in hits:
        if same(hit.text) in seen or low_signal(hit.text, book=book):
            continue
        if _is_talk(hit) and (only_asks(hit.text, book) or _is_obeyed(hit.text, seen, book)):
            continue
        seen.add(same(hit.text))
        kept.append(hit)
    asked = set(weighed(task))
    known = [asked, *(asked | weighed(one).keys() for one in told)]
    known += [asked | weighed(hit.text).keys() for hit in kept if not _is_reply(hit)]
    chosen = []
    for hit in kept:
        if _is_reply(hit):
            if any(_adds_nothing(hit.text, one, book) for one in known):
                continue
            known.append(asked | weighed(hit.text).keys())
        chosen.append(hit)
    return chosen


def same(text: str) -> str:
    """What two texts have in common that say the same in the same words."""
    return dedup_key("", folded(text))


def _is_talk(hit: Hit) -> bool:
    return hit.layer is Layer.WORKING or hit.space is Space.SESSION


def _is_reply(hit: Hit) -> bool:
    return _is_talk(hit) and (hit.source.actor or "").startswith(f"{Role.AGENT}:")


def _is_obeyed(text: str, seen: Collection[str], book: Rulebook) -> bool:
    """Whether a text is a command and nothing else, and what it wanted kept is told."""
    asked = commands(text, book=book)
    rest = text
    for one in reversed(asked):
        rest = rest[: one.span[0]] + rest[one.span[1] :]
    kept = all(same(one.value or one.text) in seen for one in asked)
    return bool(asked) and kept and low_signal(rest, book=book)


def _adds_nothing(text: str, known: Collection[str], book: Rulebook) -> bool:
    """Whether all words of a text are known, but for greetings, thanks and assent."""
    words = weighed(" ".join(_said(text, book)))
    new = {word: weight for word, weight in words.items() if word not in known}
    if not all(_PIECE.match(word) for word in new):
        return False
    return sum(new.values()) <= _SEAMS * sum(words.values())


def _said(text: str, book: Rulebook) -> Iterator[str]:
    """The clauses of a text without an assent, a greeting or a polite word before or after what they say."""
    for clause in _PAUSE.split(text):
        first, last = 0, len(clause)
        edges = [0, *(found.end() for found in _EDGE.finditer(clause)), len(clause)]
        for at in edges:
            first = at if 0 < at <= _LONGEST and low_signal(clause[:at], book=book) else first
        for at in reversed(edges):
            last = at if first < at and len(clause) - at <= _LONGEST and _empty(clause[at:], book) else last
        yield clause[first:last]


def _empty(text: str, book: Rulebook) -> bool:
    return bool(text) and low_signal(text, book=book)
