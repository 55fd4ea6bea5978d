"""What is learnt as a markdown file: its name, its front matter with the mark of its memory, its body.

A file's front matter has the mark `lamina: <id> <digest>`. The id says which memory it shows, so that whoever
indexes documents leaves it out (it would be found twice); the digest says that nobody has edited it since.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256

from lamina.model import Memory

_MARK = re.compile(r"\A---\n(?:.*\n)*?lamina: (\S+) ([0-9a-f]{16})\n(?:.*\n)*?---\n")
_SLUG = 50
_HEAD = 20_000  #: characters in which front matter ends
_UNNAMABLE = re.compile(r"[^\w\s\u0e00-\u0e7f-]|_")
_BODY = re.compile(r"\A---\n.*?\n---\n\n# [^\n]*\n\n(.*?)\n\n---\n\*Added via [^\n]*\*\n\Z", re.S)


def slug_of(title: str) -> str:
    """A readable file name in any script: the first fifty characters, words joined by hyphens."""
    line = unicodedata.normalize("NFC", title.strip().partition("\n")[0][: 4 * _SLUG].casefold())
    words = _UNNAMABLE.sub(" ", line).split()
    return "-".join(words)[:_SLUG].strip("-") or "entry"


def rendered(memory: Memory) -> bytes:
    """The whole file of a memory."""
    source = str(memory.meta.get("source") or "Lamina learn")
    title = memory.text.strip().partition("\n")[0][:80]
    project = f"project: {_plain(str(memory.meta['project']))}\n" if memory.meta.get("project") else ""
    head = f"title: {_plain(title)}\ntags: [{', '.join(map(_plain, memory.tags))}]\n"
    head += f"created: {memory.created_at:%Y-%m-%d}\nsource: {_plain(source)}\n{project}"
    rest = f"# {title}\n\n{memory.text}\n\n---\n*Added via {_plain(source)}*\n"
    return f"---\n{head}lamina: {memory.id} {_digest(head + rest)}\n---\n\n{rest}".encode()


def body_of(text: str) -> str:
    """What a file says, without its front matter, its title and its last line; empty for no such file."""
    found = _BODY.match(text)
    return found[1].strip() if found else ""


def _plain(text: str) -> str:
    """On one line, and read as text by whoever reads front matter."""
    line = " ".join(text.split())
    return (
        f'"{line}"'
        if re.search(r"[:#\[\],{}&*!|>'\"%@`]", line) and '"' not in line
        else line.replace('"', "'")
    )


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def shown_in(text: str) -> str:
    """The id of the memory that a file shows, by the mark in its front matter; empty for any other file."""
    found = _MARK.match(text[:_HEAD])
    return found[1] if found else ""


def untouched(text: str) -> bool:
    """Whether a file is exactly as it was written."""
    found = _MARK.match(text[:_HEAD])
    if found is None:
        return False
    rest = text.removeprefix("---\n").replace(f"lamina: {found[1]} {found[2]}\n", "", 1)
    head, _, body = rest.partition("---\n\n")
    return _digest(head + body) == found[2]
