"""The small language that phrases of rules are written in, and what it means as a regular expression.

A phrase is matched as it is written, except for
  (a|b)   one of these
  [a|b]   one of these or none; the blank beside it goes with it
  …       up to twenty characters of the same clause
  @name@  one of the alternatives of that name in [parts]
  {name}  what the person said there is taken out: in commands and qualifiers only
A blank is one blank in English and an optional one in Thai and Chinese, which are written without.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count

from lamina.language.view import PAUSE
from lamina.late import regex
from lamina.text.normalise import folded

#: What would make another word of an English one that it stands next to; Thai and Chinese may do so.
LATIN = "0-9a-z_\u00df-\u024f"

_CLOSING = {"(": ")", "[": "]"}
_OPTIONAL_BLANK = f"[ {PAUSE}]?"
_TOKEN = regex(
    r"@(?P<part>\w+)@|\{(?P<capture>\w+)\}|(?P<sign>[()|\[\]])|(?P<gap>…)|(?P<blank>\s+)"
    r"|(?P<words>[^@(){}|\[\]…\s]+)"
)
_GAP = rf"[^,、:;.!?。\n{PAUSE}\x00]{{1,20}}?"

_SENTENCE_END = f".!?。;:\n{PAUSE}"
_CLAUSE_END = f"{_SENTENCE_END},、(（[•*>—–"
#: Where a rule may ask to stand. A colon introduces: what follows it is a sentence of its own.
STARTS = {
    "sentence": rf"(?:\A|(?<=[{re.escape(_SENTENCE_END)}])|(?<=[.!?。;:] )|(?<=\n[-*•] ))",
    "clause": rf"(?:\A ?|(?<=[{re.escape(_CLAUSE_END)}])|(?<=[-.!?。;:,、)*•>—–] ))",
}


def expression(phrase: str, language: str, parts: Mapping[str, str]) -> str:
    """The phrase as a regular expression on the folded view; raises ValueError with what is wrong."""
    tokens = list(_TOKEN.finditer(phrase))
    if sum(len(token[0]) for token in tokens) != len(phrase):
        raise ValueError("there is a single @ or brace in it")
    blank = " " if language == "en" else _OPTIONAL_BLANK
    out = [_written(token, blank, language, parts) for token in tokens]
    for start, end in _brackets(tokens):
        out[start], out[end] = ("(?:", ")") if tokens[start][0] == "(" else ("(?:", ")?")
        if tokens[start][0] == "(" or language != "en":
            continue
        after = end + 1 < len(tokens) and tokens[end + 1]["blank"]
        if start == 0 or tokens[start - 1]["blank"] or tokens[start - 1][0] in ("(", "[", "|"):
            # Without the word there is one blank less; "yes[,] keep it" has its blank anyway.
            if after:
                out[start], out[end], out[end + 1] = f"(?:{out[start]}", f"){blank})?", ""
            elif start and out[start - 1] == blank:
                out[start - 1], out[start], out[end] = "", f"(?:{blank}(?:", "))?"
    return "".join(out)


def _written(token: re.Match[str], blank: str, language: str, parts: Mapping[str, str]) -> str:
    if token["part"]:
        return with_parts(token[0], language, parts)
    if token["capture"]:
        return f"\x01{token['capture']}\x01"
    if token["words"]:
        return re.escape(folded(token[0]))
    return blank if token["blank"] else _GAP if token["gap"] else token[0]


def _brackets(tokens: Sequence[re.Match[str]]) -> list[tuple[int, int]]:
    """Where each pair of brackets stands, by its first; raises ValueError for one without the other."""
    pairs: list[tuple[int, int]] = []
    waiting: list[int] = []
    for at, token in enumerate(tokens):
        if token[0] in _CLOSING:
            waiting.append(at)
        elif token[0] in _CLOSING.values():
            if not waiting:
                raise ValueError(f"`{token[0]}` closes nothing")
            pairs.append((waiting.pop(), at))
            if token[0] != (closing := _CLOSING[tokens[pairs[-1][0]][0]]):
                raise ValueError(f"`{closing}` is missing")
    if waiting:
        raise ValueError(f"`{_CLOSING[tokens[waiting[-1]][0]]}` is missing")
    return sorted(pairs)


def with_parts(pattern: str, language: str, parts: Mapping[str, str]) -> str:
    """The pattern with each `@name@` as the group of its alternatives."""

    def part(found: re.Match[str]) -> str:
        if found[1] not in parts:
            raise ValueError(f"there is no part @{found[1]}@")
        return f"(?:{expression(parts[found[1]], language, parts)})"

    return re.sub(r"@(\w+)@", part, pattern)


def with_captures(body: str, captures: Mapping[str, str]) -> str:
    """The expression with a group of its own for each `{name}`, numbered: `(?P<name_0>...)`."""
    number = count()

    def group(found: re.Match[str]) -> str:
        if found[1] not in captures:
            raise ValueError(f"there is no {{{found[1]}}} here")
        return f"(?P<{found[1]}_{next(number)}>{captures[found[1]]})"

    return re.sub("\x01(\\w+)\x01", group, body)


def bounded(body: str, language: str) -> str:
    """English words end where their letters end."""
    edge = f"(?:(?<![{LATIN}])|(?![{LATIN}]))"
    return f"{edge}(?:{body}){edge}" if language == "en" else f"(?:{body})"
