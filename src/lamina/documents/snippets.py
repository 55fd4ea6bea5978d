"""The part of a text that shows why it was found."""

from __future__ import annotations

from collections.abc import Iterator

from lamina.late import regex
from lamina.text.terms import query_terms, terms

LONGEST = 700  #: characters
_STEP = 120  #: a longer line is looked at in parts
_CUT = "…"
_PART = regex(rf"[^\n]{{1,{_STEP}}}(?:\n|(?<=[\s。！？；，])|$)|[^\n]{{1,{_STEP}}}|\n")


def snippet(text: str, question: str, longest: int = LONGEST) -> str:
    """At most so many characters of a text, in one piece, where most of the question's terms are."""
    if len(text) <= longest:
        return text
    asked = set(query_terms(question))
    parts = [(start, end, asked & set(terms(text[start:end]))) for start, end in _parts(text)]
    best, most = (0, parts[0][1]), -1
    room = longest - 2 * len(_CUT)
    for at, (start, _, _) in enumerate(parts):
        end, seen = start, set[str]()
        for _, until, matched in parts[at:]:
            if until - start > room:
                break
            end, seen = until, seen | matched
        if len(seen) > most:
            best, most = (start, end), len(seen)
    start, end = best
    shown = text[start:end].strip("\n")
    return f"{_CUT if start else ''}{shown}{_CUT if end < len(text) else ''}"


def _parts(text: str) -> Iterator[tuple[int, int]]:
    for part in _PART.finditer(text):
        yield part.span()
