"""What text may come in, and the views of it that matching uses instead of the text itself."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import sha256
from typing import Literal

from lamina.errors import InvalidInput
from lamina.late import files, kept, regex

Language = Literal["th", "zh-Hant", "zh-Hans", "en"]

#: Longest text of one memory, in characters.
TEXT_LIMIT = 100_000

#: Longest normalised text inside a dedup key; longer ones keep a head and a digest.
_KEY_LIMIT = 200
_KEY_HEAD = 160

# Written out, not asked of `unicodedata`: the answer must not depend on the interpreter's Unicode version.
# Format characters (Cf), the grapheme joiner and the variation selectors.
_FORMAT = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
_JOINER = "\u034f"
_UNSEEN = f"{_FORMAT}{_JOINER}\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
INVISIBLE = regex(f"[{_UNSEEN}]+")

# The Hangul fillers and the empty braille pattern are letters and symbols by category, and show nothing.
_NOTHING_TO_SEE = regex(rf"[\s\u115f\u1160\u2800\u3164\uffa0{_UNSEEN}]*")
#: Marks that turn the direction of what follows them, so that a line reads otherwise than it is.
_DIRECTION = regex("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SURROGATE = regex("[\ud800-\udfff]")
_CONTROL = regex("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

# `unicodedata.normalize` sorts a run of combining marks in quadratic time: 100,000 of them take ten seconds.
# Marks are never `\w`, so a run this long without a word character is cut before it gets there.
_FLOOD = regex(r"[^\w\s\x00-\x7f]{31,}")
_STREAM_SAFE = 30

_THAI_TONE_FIRST = regex("([\u0e48-\u0e4b]{1,4})([\u0e31\u0e34-\u0e37])")
_THAI_SARA_AM = regex("\u0e4d([\u0e48-\u0e4b]{0,2})\u0e32([\u0e48-\u0e4b]{0,2})")
_FOREIGN_DIGIT = regex(r"[^\D0-9]")

_NOT_ALPHANUMERIC = regex(r"[\W_]+")

# Letters that are written as another one with a stroke, or as two, and that Unicode does not take apart.
_WHOLE_LETTERS = (
    "\u00df:ss \u1e9e:SS \u00e6:ae \u00c6:Ae \u0153:oe \u0152:Oe \u00f8:o \u00d8:O \u0142:l \u0141:L "
    "\u0111:d \u0110:D \u00f0:d \u00d0:D \u00fe:th \u00de:Th \u0131:i \u0127:h \u0126:H \u0167:t "
    "\u0166:T \u014b:n \u014a:N"
)
# Latin and Greek are often typed without their accents. Of Cyrillic only the io is: the short i is a letter
# by itself. Hebrew points and Arabic vowels are mostly left out in writing, too. The marks of all other
# scripts (Thai, Devanagari, kana) are part of what is said.
_ACCENTED = (*range(0xC0, 0x250), *range(0x386, 0x3CF), *range(0x1E00, 0x2000), 0x401, 0x451)
_LOOSE_ACCENT = regex(
    "(?<=[A-Za-z\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff])[\u0300-\u036f]+"
    "|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670]+"
)

_HAN = regex("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_THAI = regex("[\u0e01-\u0e3a\u0e40-\u0e4e]")
_KANA = regex("[\u3041-\u30ff\uff66-\uff9f]")
_ALPHABETIC_WORD = regex(
    r"[^\W\d_\u0e01-\u0e4e\u3005\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    r"\U00020000-\U0003ffff]+"
)


def _script_tables() -> tuple[dict[int, int], frozenset[str], frozenset[str]]:
    """Traditional to simplified; what only traditional text uses; what only simplified text uses."""
    sections = {"[pairs]": "", "[shared]": "", "[simplified]": ""}
    current = ""
    table = files("lamina.text").joinpath("data/hant_hans.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        if line in sections:
            current = line
        elif not line.startswith("#"):
            sections[current] += line
    pairs = sections["[pairs]"]
    both = pairs + sections["[shared]"]
    return str.maketrans(both[::2], both[1::2]), frozenset(pairs[::2]), frozenset(sections["[simplified]"])


_TO_SIMPLIFIED, _TRADITIONAL_ONLY, _SIMPLIFIED_ONLY = _script_tables()


def _accent_table() -> dict[int, str]:
    """Each accented letter and the one it is without: how a letter comes apart never changes in Unicode."""
    table = {ord(pair[0]): pair[2:] for pair in _WHOLE_LETTERS.split()}
    for code in _ACCENTED:
        apart = unicodedata.normalize("NFD", chr(code))
        if len(apart) > 1 and apart[0].isalpha():
            table.setdefault(code, apart[0].translate(table))
    return table


_WITHOUT_ACCENT: dict[int, str] = kept(
    f"accents of {unicodedata.unidata_version} and {_WHOLE_LETTERS}", _accent_table
)


def well_formed(text: object, what: str = "text", limit: int = TEXT_LIMIT) -> str:
    """The text, unchanged; every character a person may have meant is kept, visible or not.

    Raises InvalidInput with code `text_type`, `text_too_long`, `text_nul`, `text_surrogate`, `text_control`
    or `text_empty` (there is nothing to see in it). No message repeats the text.
    """
    if not isinstance(text, str):
        raise InvalidInput(
            f"The {what} is {type(text).__name__}, not text.", code="text_type", hint="Pass a string."
        )
    if len(text) > limit:
        raise InvalidInput(
            f"The {what} has {len(text):,} characters; at most {limit:,} are kept as one piece.",
            code="text_too_long",
            hint="Shorten it, or split it into several memories.",
        )
    if "\x00" in text:
        raise InvalidInput(
            f"The {what} holds a NUL character, which neither files nor databases keep.",
            code="text_nul",
            hint="Remove it; binary data does not belong in a memory.",
        )
    if _SURROGATE.search(text):
        raise InvalidInput(
            f"The {what} holds half of a surrogate pair, so it cannot be written as UTF-8.",
            code="text_surrogate",
            hint="Decode the source as UTF-8 again, replacing what is broken.",
        )
    if control := _CONTROL.search(text):
        raise InvalidInput(
            f"The {what} holds the control character U+{ord(control[0]):04X} at position {control.start()}.",
            code="text_control",
            hint="Remove control characters; only tab, line feed and carriage return are kept.",
        )
    if _NOTHING_TO_SEE.fullmatch(text):
        raise InvalidInput(
            f"The {what} is empty, or has only blanks and invisible characters.",
            code="text_empty",
            hint="Say it in words.",
        )
    return text


def visible(text: str) -> str:
    """The search view with its case kept, which is how an analyser sees `HttpServer` in two parts."""
    return text if text.isascii() else _searchable(_compatible(text))


def undirected(text: str) -> str:
    """The text with marks of direction written out, such as \\u202e, for whoever reads it as one line."""
    return _DIRECTION.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def unaccented(view: str) -> str:
    """What `visible` returned, with the letters of alphabets as they are typed without their accents.

    Müller is Muller, Łódź is Lodz, straße is strasse; Thai, Chinese, Hindi and the like stay as they are.
    """
    return view if view.isascii() else _LOOSE_ACCENT.sub("", view.translate(_WITHOUT_ACCENT))


def folded(text: str) -> str:
    """The search view: for matching only, never stored and never shown.

    Two spellings of the same words have the same view: compatibility forms, case, invisible characters,
    traditional and simplified Chinese, the orders in which Thai marks are typed, digits of every script.
    """
    if text.isascii():
        return text.lower()
    return _searchable(_compatible(_compatible(text).casefold()))


@lru_cache(maxsize=256)  # asked for more than once of what is being written
def dedup_key(kind: str, text: str) -> str:
    """`<kind>:<words>`, the same for texts that differ only in case, blanks, punctuation or invisible signs.

    Letters, marks and numbers of every script count. For ASCII this is lower case with every run of other
    characters as one blank. Past 200 characters the words end in a digest of the whole after `#`, which no
    shorter key can hold; a text with no words at all is its own digest unless it is ASCII.
    """
    if text.isascii():
        words = " ".join(_NOT_ALPHANUMERIC.sub(" ", text.lower()).split())
    else:
        view = _compatible(_compatible(text).casefold())
        words = " ".join(_NOT_ALPHANUMERIC.sub(_marks, view).split())
        if not words:
            return f"{kind}:#{_digest(text)}"
    if len(words) > _KEY_LIMIT:
        return f"{kind}:{words[:_KEY_HEAD]}#{_digest(words)}"
    return f"{kind}:{words}"


def language_of(text: str) -> Language:
    """The language most of the words are in; `en` stands for every language that is not Thai or Chinese.

    A word of an alphabet weighs as much as three Thai characters, and two of them as much as three Chinese
    ones, so that product names do not turn a Thai sentence into English. Chinese is traditional only where
    more characters say so than against it.
    """
    if text.isascii():
        return "en"
    thai = len(_THAI.findall(text))
    han = _HAN.findall(text)
    others = 3 * len(_ALPHABETIC_WORD.findall(text)) + 2 * len(_KANA.findall(text))
    if thai and thai >= max(2 * len(han), others):
        return "th"
    if not han or 2 * len(han) < others:
        return "en"
    traditional = sum(map(_TRADITIONAL_ONLY.__contains__, han))
    simplified = sum(map(_SIMPLIFIED_ONLY.__contains__, han))
    return "zh-Hant" if traditional > simplified else "zh-Hans"


def _compatible(text: str) -> str:
    """NFKC without invisible characters, in linear time whatever the text."""
    text = INVISIBLE.sub("", text)
    if not _FLOOD.search(text):
        return unicodedata.normalize("NFKC", text)
    safe = unicodedata.normalize("NFKC", _FLOOD.sub(_cut, text))
    return safe.replace(_JOINER, "")


def _cut(flood: re.Match[str]) -> str:
    run = flood[0]
    return _JOINER.join(run[at : at + _STREAM_SAFE] for at in range(0, len(run), _STREAM_SAFE))


def _searchable(text: str) -> str:
    text = text.translate(_TO_SIMPLIFIED).replace("\u0e40\u0e40", "\u0e41")
    text = _THAI_SARA_AM.sub("\\1\\2\u0e33", _THAI_TONE_FIRST.sub("\\2\\1", text))
    return _FOREIGN_DIGIT.sub(_ascii_digit, text)


def _ascii_digit(digit: re.Match[str]) -> str:
    return str(unicodedata.decimal(digit[0]))


def _marks(run: re.Match[str]) -> str:
    """The run with blanks for everything but marks, which `\\w` does not know as part of a word."""
    if run[0].isascii():
        return " "
    return "".join(char if unicodedata.category(char)[0] == "M" else " " for char in run[0])


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# Keys.

KEY_LENGTH = 128
_PLAIN_KEY = regex(r"[a-z0-9_.-]{1,128}")
#: ASCII in full width, and what is drawn like the dot between two parts of a key.
_WIDE = {code + 0xFEE0: code for code in range(0x21, 0x7F)}
_DOT = regex(
    "(?<=[^\\W_])[\u00b7\u06d4\u0701\u0702\u2022\u2024\u2027\u2219\u22c5\u3002\u30fb\ua60e\uff61\uff65]"
    "(?=[^\\W_])"
)
_NOTE = regex(r"note\.[0-9a-f]{12}")


def canonical_key(text: str) -> str:
    """The one spelling of a key: NFC, case folded, letters, marks and digits of any script and `_.-`.

    Full width is the plain width, and what is drawn like a dot between two letters is one.
    Raises InvalidInput (`key_invalid`) when no letter or digit is left or more than 128 characters are.
    """
    key = text if _PLAIN_KEY.fullmatch(text) else _folded_key(text)
    if key.strip("_.-") and len(key := key.strip("_")) <= KEY_LENGTH:
        return key
    raise InvalidInput(
        "This key cannot be used: it has no letter or digit, or it is too long.",
        code="key_invalid",
        hint=f"Use 1 to {KEY_LENGTH} letters, digits, dots, dashes and underscores, such as response.tone.",
    )


def _folded_key(text: str) -> str:
    if len(text) > 32 * KEY_LENGTH:
        return ""
    text = _DOT.sub(".", text.translate(_WIDE))
    for _ in range(2):  # folding may undo the composition, and composing may allow another fold
        text = unicodedata.normalize("NFC", text.casefold())
    return re.sub("\0+", "_", text.translate(_KEY_CHARACTERS))


class _KeyCharacters(dict[int, str]):
    """Every character that a key may hold as it is, and any other as one that none holds."""

    def __missing__(self, code: int) -> str:
        char, category = chr(code), unicodedata.category(chr(code))
        stays = char in "_.-" or category[0] in "LM" or category == "Nd"
        self[code] = found = char if stays else "\0"
        return found


_KEY_CHARACTERS = _KeyCharacters()


@lru_cache(maxsize=128)  # of what is known, asked with each of many commands in a message
def note_key(text: str) -> str:
    """The key of a free text: the same for the same words, whatever their case, width, script and signs."""
    words = dedup_key("", folded(text)).encode("utf-8", "surrogatepass")
    return f"note.{sha256(words).hexdigest()[:12]}"


def is_note(key: str | None) -> bool:
    """Whether a key stands for the words of a free text, and says nothing to a person."""
    return key is not None and _NOTE.fullmatch(key) is not None
