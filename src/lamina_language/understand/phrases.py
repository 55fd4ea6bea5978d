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
from collections.abc import Mapping
from itertools import count

from lamina.text.normal import folded
from lamina_language.understand.view import PAUSE

#: What would make another word of an English one that it stands next to; Thai and Chinese may do so.
LATIN = "0-9a-z_\u00df-\u024f"

_BLANK = {"en": " "}
_OPTIONAL_BLANK = f"[ {PAUSE}]?"
_TOKEN = re.compile(
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
    return _Phrase(phrase, language, parts).read()


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


class _Phrase:
    """A phrase while it is read from left to right."""

    def __init__(self, phrase: str, language: str, parts: Mapping[str, str]) -> None:
        self._language = language
        self._parts = parts
        self._blank = _BLANK.get(language, _OPTIONAL_BLANK)
        self._tokens = list(_TOKEN.finditer(phrase))
        self._at = 0
        if sum(len(token[0]) for token in self._tokens) != len(phrase):
            raise ValueError("there is a single @ or brace in it")

    def read(self) -> str:
        body = self._alternatives("")
        if self._at < len(self._tokens):
            raise ValueError(f"`{self._tokens[self._at][0]}` closes nothing")
        return body

    def _alternatives(self, closing: str) -> str:
        found = [self._sequence()]
        while self._at < len(self._tokens) and self._tokens[self._at][0] == "|":
            self._at += 1
            found.append(self._sequence())
        if closing:
            if self._at == len(self._tokens) or self._tokens[self._at][0] != closing:
                raise ValueError(f"`{closing}` is missing")
            self._at += 1
        return "|".join(found)

    def _sequence(self) -> str:
        out: list[str] = []
        while self._at < len(self._tokens) and self._tokens[self._at][0] not in ("|", ")", "]"):
            token = self._tokens[self._at]
            self._at += 1
            if token["blank"]:
                out.append(self._blank)
            elif token[0] == "(":
                out.append(f"(?:{self._alternatives(')')})")
            elif token[0] == "[":
                self._optional(out)
            elif token["gap"]:
                out.append(_GAP)
            elif token["capture"]:
                out.append(f"\x01{token['capture']}\x01")
            elif token["part"]:
                out.append(with_parts(token[0], self._language, self._parts))
            else:
                out.append(re.escape(folded(token[0])))
        return "".join(out)

    def _optional(self, out: list[str]) -> None:
        before = self._tokens[self._at - 2] if self._at > 1 else None
        attached = before is not None and not before["blank"] and before[0] not in ("(", "[", "|")
        inner = self._alternatives("]")
        if self._blank == _OPTIONAL_BLANK:
            out.append(f"(?:{inner})?")
        elif attached:
            out.append(f"(?:{inner})?")  # "yes[,] keep it": the blank stays
        elif self._at < len(self._tokens) and self._tokens[self._at]["blank"]:
            self._at += 1
            out.append(f"(?:(?:{inner}){self._blank})?")
        elif out and out[-1] == self._blank:
            out[-1] = f"(?:{self._blank}(?:{inner}))?"
        else:
            out.append(f"(?:{inner})?")
