"""Whose words a message holds, before it is read: what is pasted, asked or played is not its person's own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache

from lamina.language.clauses import UNSAID
from lamina.language.rulebook import packaged
from lamina.language.view import PAUSE

#: How far into a stretch a sign counts as its opening.
_EARLY = 14
#: So many lines like these are a file or a log, where one may be a label.
_SEVERAL = 2
#: How many clauses of a sentence are looked at for a question.
_CLAUSES = 24

# Every repetition has an upper bound or ends at a character that it does not hold: time stays linear.
_CODE = re.compile(
    r"[ ]?(?:(?://|#|<!--|/\*|\*/|\$ |>>>|@@|@[a-z]+ ?[({]|diff --git)"
    r"|(?:const|let|var|def|class|import|function|export|alias|return|insert into|update|delete from"
    r"|create table|from [a-z.]+ import|select [^\n]{1,80} from|if \(|for \(|npm err|traceback|env |run )"
    r"[^\n]*[=(;:/'\"\[{]"
    r"|[a-z_][\w.\[\]'\"-]{0,40} ?(?:=|:=|=>|\+=) ?\S"
    r"|\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][^\n]*|[{}\[\]<][^\n]*|[^\n]{0,200}(?:[{};]|\);|\):|=>)[ ]?\Z)"
)
_SAID_BY = re.compile(
    r"[ ]?(?:\[?[0-9]{1,2}[:.][0-9]{2}(?::[0-9]{2})?\]?[ ])?[^\s:]{1,20}(?:[ ][^\s:]{1,14})?: ?\S"
)
_LABEL = re.compile(r"[ ]?[a-z_\u0e01-\u0e4e\u3400-\u9fff][\w.\u0e01-\u0e4e-]{0,30}: ?\S")
_INLINE = re.compile(r"<[a-z][^<>\n]{0,80}>[^<>\n]{0,400}</[a-z]+>|\{ ?\x00{1,80} ?:[^{}\n]{0,400}\}")
_PAIR = re.compile(r"\b[a-z_]{2,20}=[^\s,]{1,40}")
_RULER = re.compile(r"[ ]?(?:-{3,}|={3,}|\*{3,}|_{3,})[ ]?")


def without_pasted(said: str) -> str:
    """A folded message with a filler for its code, logs, letters and talk of others."""
    said = _INLINE.sub(_filled, said)
    if len(_PAIR.findall(said)) >= _SEVERAL and is_asked(said):
        said = _PAIR.sub(_filled, said)
    said = phrases_of("pasted", "announced").sub(_after_colon, said)
    said = phrases_of("pasted", "letters").sub(_filled, said)
    if "\n" not in said:
        return said
    lines = said.split("\n")
    pasted = set(_between_rulers(lines)) | set(_foreign(lines))
    return "\n".join(UNSAID * len(line) if at in pasted else line for at, line in enumerate(lines))


def _foreign(lines: list[str]) -> Iterator[int]:
    """Lines of code, and lines with a label beside code or beside a question about them."""
    code = {at for at, line in enumerate(lines) if _CODE.match(line)}
    labels = (at for at, line in enumerate(lines) if ":" in line)
    named = {at for at in labels if _LABEL.match(lines[at]) or _SAID_BY.match(lines[at])} - code
    yield from code
    foreign = code | named
    others = [line for at, line in enumerate(lines) if at not in foreign and line.strip()]
    if code or (len(named) >= _SEVERAL and any(is_asked(line) or has_sign("make", line) for line in others)):
        yield from named


def _between_rulers(lines: list[str]) -> Iterator[int]:
    rulers = [at for at, line in enumerate(lines) if _RULER.fullmatch(line)]
    if rulers:
        yield from range(rulers[0], rulers[-1] if len(rulers) > 1 else len(lines))


def _filled(found: re.Match[str]) -> str:
    return "".join(char if char == "\n" else UNSAID for char in found[0])


def _after_colon(found: re.Match[str]) -> str:
    return found["names"] + UNSAID * len(found["rest"])


@cache
def _manners() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(packaged("manners"))


@cache
def phrases_of(section: str, name: str = "phrases") -> re.Pattern[str]:
    return re.compile("|".join(_manners()[section][name]))


def is_asked(said: str) -> bool:
    """Whether a folded sentence is a question by its words, with a mark or without."""
    return phrases_of("asked", "phrases").search(said.strip(" \v")) is not None


def asks_anywhere(said: str) -> bool:
    """Whether a folded sentence asks in one of its clauses; Thai has no other sign of where one ends."""
    return is_asked(said) or any(map(is_asked, said.split(PAUSE)[:_CLAUSES]))


def opens_with(name: str, said: str) -> bool:
    """Whether a folded stretch begins with a sign."""
    found = phrases_of("signs", name).search(said, 0, _EARLY * 3)
    return found is not None and found.start() <= _EARLY


def is_own(said: str) -> bool:
    """Whether a folded sentence begins as one about its speaker, their family, animals or things does."""
    return phrases_of("own", "phrases").match(said) is not None


def is_played(said: str) -> bool:
    """Whether a folded message says that what it says is a game, a story or a part."""
    return has_sign("play", said)


def has_sign(name: str, said: str) -> bool:
    """Whether a folded stretch has a sign."""
    return phrases_of("signs", name).search(said) is not None


def signs(said: str) -> Iterator[str]:
    """The names of the signs in a folded stretch, once more where it begins with one."""
    for name in _manners()["signs"]:
        if found := phrases_of("signs", name).search(said):
            yield name
            if found.start() <= _EARLY:
                yield f"{name} early"
    if is_asked(said):
        yield "asked"
