"""The views of a text in which secrets are looked for, and where each place of a view lies in the text.

Hiding a secret from a pattern takes an invisible character, a letter of another alphabet, a line break or an
encoding; each view undoes one of them.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote

from lamina.language.secrets.shapes import source
from lamina.late import regex
from lamina.records import dataclass
from lamina.text.normalise import folded, visible


@dataclass(frozen=True, slots=True)
class SecretView:
    """A text; `origin[i]` is where its character i came from, None if all are in the same places."""

    text: str
    origin: Sequence[int] | None = None
    grows: bool = False  #: what stood apart may touch here, so that a token can be longer than it is

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where `text[start:end]` lies in what the view was made from."""
        if self.origin is None:
            return start, end
        return self.origin[start], self.origin[end - 1] + 1


def plain(text: str) -> SecretView:
    """Compatibility forms, look-alike letters, digits of all scripts and traditional Chinese made plain.

    Invisible characters are gone. Works on one character at a time, so that every place has an origin.
    """
    if text.isascii():
        return SecretView(text)
    strange = [char for char in set(text) if not char.isascii() and char not in _CJK_PUNCTUATION]
    if not strange:
        return SecretView(text)
    # One call for all of them: a line feed joins with no character.
    seen = visible("\n".join(strange)).translate(_LOOK_ALIKES).split("\n")
    table = dict(zip(map(ord, strange), seen, strict=True))
    view = text.translate(table)
    grows = any(not form or (form.isascii() and form.isalnum()) for form in seen)
    if all(len(form) == 1 for form in seen):
        return SecretView(view, grows=grows)
    return SecretView(view, [at for at, char in enumerate(text) for _ in table.get(ord(char), char)], grows)


@lru_cache(maxsize=64)  # asked for more than once of what is being written
def one_spelling(text: str) -> str:
    """One text for all spellings of its letters: case, width, script, look-alike and invisible ones."""
    return plain(folded(text)).text.casefold()


def joined(view: SecretView) -> SecretView | None:
    """The view without the line breaks that may cut a token in two; None if there are none."""
    text = view.text
    cuts: list[int] = []
    for line_break in _LINE_BREAK.finditer(text) if "\n" in text and _DIGIT.search(text) else ():
        start, end = line_break.span()
        tail, head = _TAIL.search(text, max(0, start - _LONGEST_TAIL), start), _PIECE.match(text, end)
        if head and tail and (_DIGIT.search(tail[1]) or _DIGIT.search(head[0])):
            cuts += tail.end(1), end
    if not cuts:
        return None
    edges = [0, *cuts, len(text)]
    kept = list(zip(edges[::2], edges[1::2], strict=True))
    places = [at for start, end in kept for at in range(start, end)]
    origin = places if view.origin is None else [view.origin[at] for at in places]
    return SecretView("".join(text[start:end] for start, end in kept), origin)


def unescaped(view: SecretView) -> SecretView | None:
    """The view with quotes and line breaks that are escaped, as in JSON, as they were; None if none are."""
    text = view.text
    marks = list(_ESCAPE.finditer(text)) if "\\" in text else []
    if not marks:
        return None
    gone = {mark.start() for mark in marks}
    origin = [at for at in range(len(text)) if at not in gone]
    whole = _ESCAPE.sub(lambda mark: _ESCAPED[mark[1]], text)
    return SecretView(whole, origin if view.origin is None else [view.origin[at] for at in origin])


def decoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Start and end of each run of base64 or percent encoding, and what it says if that is readable."""
    for run in _BASE64.finditer(text):
        lines = list(_UNBROKEN.finditer(text, *run.span()))
        if (whole := _readable("".join(line[0] for line in lines))) is not None:
            yield *run.span(), whole
        elif len(lines) > 1:
            for line in lines:
                if (part := _readable(line[0])) is not None:
                    yield *line.span(), part
    if "%" in text:
        for run in _PERCENT.finditer(text):
            yield *run.span(), unquote(run[0])


def closed_up(view: SecretView) -> SecretView | None:
    """The view without the signs that stand between single letters, and with digits for their names.

    "p a s s w o r d", "s.e.c.r.e.t.1", "seven two nine one"; None if nothing is written so.
    """
    text = view.text
    runs = [(run, _SEPARATOR.sub("", run[0])) for run in _APART.finditer(text)]
    runs += [
        (run, "".join(_DIGIT_NAMES[one.lower()] for one in _DIGIT_NAME.findall(run[0])))
        for run in _SPELLED.finditer(text)
    ]
    if not runs:
        return None
    pieces, origin, done = list[str](), list[int](), 0
    for run, short in sorted(runs, key=lambda one: one[0].start()):
        if run.start() < done:
            continue
        pieces += text[done : run.start()], short
        last = len(short) - 1
        origin += [*range(done, run.start()), *(run.start() for _ in short[:last]), run.end() - 1]
        done = run.end()
    pieces.append(text[done:])
    origin += range(done, len(text))
    return SecretView("".join(pieces), origin if view.origin is None else [view.origin[at] for at in origin])


def tagged(text: str) -> SecretView | None:
    """What is written in the invisible tag characters, which mirror ASCII; None if nothing is."""
    places = [mark.start() for mark in _TAG.finditer(text)]
    if not places:
        return None
    return SecretView("".join(chr(ord(text[at]) - 0xE0000) for at in places), places)


def _readable(run: str) -> str | None:
    code = run.translate(_WEB_SAFE).rstrip("=")
    if len(code) % 4 == 1:
        return None
    try:
        raw = base64.b64decode(code + "=" * (-len(code) % 4), validate=True)
        said = raw.decode("utf-16-le" if raw[1::2].count(0) * 3 > len(raw) else "utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return said if said.isprintable() or not _UNPRINTABLE.search(said) else None


# The marks that end a clause in Chinese; made ASCII they would look like a part of the secret before them.
_CJK_PUNCTUATION = frozenset("，；！？（）")

# The pieces of a token on both sides of a line break, which may be escaped, indented or quoted.
_TAIL = regex(r"([A-Za-z0-9_+/=.:-]{4,})[ \t]{0,4}\\?\r?$")
_LINE_BREAK = regex(r"\n[ \t]{0,16}(?:[>|][ \t]?)?")
_PIECE = regex("[A-Za-z0-9_+/=.:-]{4,}")
_LONGEST_TAIL = 80
_DIGIT = regex("[0-9]")
_BASE64 = regex(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{14,}(?:\r?\n[ \t]{0,8}[A-Za-z0-9+/_-]{4,})*={0,2}", re.ASCII
)
_UNBROKEN = regex(r"\S+")
_PERCENT = regex(r"(?<![!-~])[!-~]*?%[0-9A-Fa-f]{2}[!-~]*", re.ASCII)
_ESCAPED = {"n": "\n", "r": "\n", "t": " ", '"': '"', "/": "/", "\\": "\\"}
_ESCAPE = regex(r'\\([nrt"/\\])')
# Single signs with a blank, a dot or a stroke between them, six or more.
_APART = regex(r"(?<![^\s:=])[^\s.-](?:([ .-])[^\s.-])(?:\1[^\s.-]){4,62}(?![^\s,;。，])")
_SEPARATOR = regex("[ .-]")
_NAMES_OF_DIGITS = (
    "zero one two three four five six seven eight nine",
    "ศูนย์ หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า",
    "零 一 二 三 四 五 六 七 八 九",
    "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "zero un deux trois quatre cinq six sept huit neuf",
    "null eins zwei drei vier funf sechs sieben acht neun",
)
_DIGIT_NAMES = {
    name: str(digit) for row in _NAMES_OF_DIGITS for digit, name in enumerate(row.split()) if name
} | {"oh": "0"}
_DIGIT_NAME = regex("|".join(sorted(_DIGIT_NAMES, key=len, reverse=True)), re.IGNORECASE)
_SPELLED = regex(
    rf"(?<![^\W\d_])(?:(?:{_DIGIT_NAME.pattern})[ ,-]{{1,2}}){{3,15}}(?:{_DIGIT_NAME.pattern})(?![^\W\d_])"
    r"|[零一二三四五六七八九]{4,16}",
    re.IGNORECASE,
)
_WEB_SAFE = str.maketrans("-_", "+/")
_UNPRINTABLE = regex("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
_TAG = regex("[\U000e0020-\U000e007e]")

# Letters that are drawn like a Latin one, letters with marks, and marks alone.
_PAIRS: str = source("secrets")["look_alikes"]["pairs"]
_LOOK_ALIKES: dict[int, str] = {
    **dict.fromkeys(range(768, 880), ""),
    **{
        code: base[0]
        for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))
        if (base := unicodedata.normalize("NFD", chr(code)))[0].isascii()
    },
    **{ord(like): latin for like, latin in zip(_PAIRS[::2], _PAIRS[1::2], strict=True)},
}
