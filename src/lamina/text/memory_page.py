"""MEMORY.md: items of ours among whatever a person wrote, told apart by a seal on each item.

An item is one line, a summary and a link:

    - Use LanceDB. [2026-03-06](memory/2026-03-06.md#decision-use-lancedb) <!-- lamina DECISION-… 1f 9a -->

The link goes to the heading of the decision, as viewers name it. What follows is not shown: id and seal,
a digest of the line and one of the decision it was made from. A line whose seal does not fit was changed by a
person and is theirs from then on. Everything that is not an item keeps its bytes and its order. Rules come
first, then what is newest.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from hashlib import sha256

from lamina.errors import Damaged
from lamina.records import dataclass
from lamina.text.decision_entries import Decision, plain_line
from lamina.text.entries import UTF16, split_lines, usual_ending

MEMORY = "MEMORY.md"
MOST_LINES = 200
MOST_CHARS = 12_000
SUMMARY_CHARS = 160

_TITLE = "# MEMORY\n\n"
_HEADING = "## Rules and decisions in force <!-- lamina -->"
_IS_HEADING = re.compile(rb"##? .*<!-- lamina -->\s*")
_ID = r"DECISION-[0-9]{8}-[^\s()]{1,100}"
_ITEM = re.compile(
    r"(?P<body>- (?P<summary>.{1,400}) \[(?P<day>[0-9-]{10})\]"
    r"\((?P<path>[^()\s#]{1,200})#(?P<anchor>[^()\s#]{1,400})\))"
    rf" <!-- lamina(?P<rule> rule)? (?P<id>{_ID}) (?P<seal>[0-9a-f]{{8}}) (?P<source>[0-9a-f]{{8}}) -->\s*"
)
#: As items were written before version 0.2; they are read, and written anew with the next change.
_OLD_ITEM = re.compile(
    r"(?P<body>- (?P<summary>.{1,400}) \(\[(?P<day>[0-9-]{10})\]"
    rf"\((?P<path>[^()\s#]{{1,200}})#(?P<id>{_ID})\)\))"
    r" <!-- lamina (?P<seal>[0-9a-f]{8}) (?P<source>[0-9a-f]{8}) -->\s*"
)
_LINKED = re.compile(rf"#({_ID})\)|<!-- lamina(?: rule)? ({_ID}) ")


@dataclass(frozen=True, slots=True)
class PageItem:
    """One line of ours."""

    id: str
    summary: str
    day: str
    path: str  #: the file with the decision
    source: str  #: the digest of the decision as it was
    anchor: str = ""  #: of its heading there
    is_rule: bool = False

    @property
    def link(self) -> str:
        return f"[{self.day}]({self.path}#{self.anchor or self.id})"

    @property
    def cost(self) -> int:
        """The characters that its line takes, with an ending of two."""
        return len(self.text) + 2

    @property
    def text(self) -> str:
        body = f"- {self.summary} {self.link}"
        kind = " rule" if self.is_rule else ""
        return f"{body} <!-- lamina{kind} {self.id} {_digest(body)} {self.source} -->"


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A parsed MEMORY.md that gives back every byte of what is not an item of ours."""

    items: tuple[PageItem, ...]  #: ours, as we wrote them
    taken: frozenset[str]  #: decisions that a person's own line links to, often one of ours that they changed
    _lines: tuple[bytes, ...]  #: everything else
    _at: int | None  #: where among these our items stand; None for a page without any

    @classmethod
    def parse(cls, data: bytes, reclaim: bool = False) -> MemoryPage:
        """Reads any bytes whatever; raises Damaged (`file_encoding`) for UTF-16.

        With `reclaim`, items that a person changed are ours again.
        """
        if data.startswith(UTF16):
            raise Damaged(
                f"{MEMORY} is UTF-16 text, so nothing can be added to it.",
                code="file_encoding",
                hint="Save it as UTF-8 in your editor, then try again.",
            )
        items: list[PageItem] = []
        lines: list[bytes] = []
        at: int | None = None
        for line in split_lines(data):
            if (item := _item(line, reclaim)) is not None and item.id not in {one.id for one in items}:
                at = len(lines) if at is None else at
                items.append(item)
            else:
                lines.append(line)
        if at is None:
            at = next((n + 1 for n, one in enumerate(lines) if _IS_HEADING.fullmatch(one)), None)
        theirs = b"".join(lines).decode("utf-8", errors="replace")
        return cls(
            tuple(items), frozenset(one or other for one, other in _LINKED.findall(theirs)), tuple(lines), at
        )

    def rewritten(self, items: Iterable[PageItem]) -> bytes:
        """The page with these items, rules and then the newest first, in the place of those it has."""
        wanted = sorted(items, key=lambda item: item.id)
        wanted.sort(key=lambda item: (item.is_rule, item.day), reverse=True)
        lines = list(self._lines)
        ending = usual_ending(lines)
        new = [item.text.encode() + ending for item in wanted]
        if self._at is not None:
            if self._at and not lines[self._at - 1].endswith(b"\n"):
                lines[self._at - 1] += ending
            return b"".join([*lines[: self._at], *new, *lines[self._at :]])
        if not new:
            return b"".join(lines)
        if lines and not lines[-1].endswith(b"\n"):
            lines[-1] += ending
        gap = [ending] if lines and lines[-1].strip() else []
        head = [] if lines else [part.encode() + ending for part in _TITLE.split("\n")[:-1]]
        return b"".join([*head, *lines, *gap, _HEADING.encode() + ending, *new])

    def space(self) -> tuple[int, int]:
        """How many lines and characters there are for items; negative where a person's text is too long."""
        probe = PageItem("DECISION-00010101-x", "x", "0001-01-01", "x", "x")
        lines, chars = left(self.rewritten([probe]))
        return lines + 1, chars + probe.cost


def left(data: bytes) -> tuple[int, int]:
    """How many more lines and characters a page may have."""
    return MOST_LINES - len(split_lines(data)), MOST_CHARS - len(data.decode("utf-8", errors="replace"))


def item_of(decision: Decision, path: str, summary: str) -> PageItem:
    """The line for a decision; a summary that is too long is cut at a word where it has any."""
    doubt = f" (doubtful since {_day_of(decision.doubted_by)})" if decision.doubted_by else ""
    return PageItem(
        decision.id,
        _short(summary) + doubt,
        decision.date[:10],
        path,
        source_of(decision),
        anchor_of(f"Decision: {decision.title}"),
        dict(decision.extra).get("kind") == "rule",
    )


def anchor_of(heading: str) -> str:
    """The name that viewers of markdown give a heading, so that a link finds it."""
    kept = (
        char for char in heading.strip().lower() if char in " -_" or unicodedata.category(char)[0] in "LMN"
    )
    return "".join(kept).replace(" ", "-")


def _day_of(decision_id: str) -> str:
    digits = decision_id.partition("-")[2][:8]
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"


def is_writable(item: PageItem) -> bool:
    """Whether the item would be known as ours when it is read back; an odd id or path may prevent that."""
    return _item(item.text.encode()) == item


def source_of(decision: Decision) -> str:
    """A digest of what an item says of a decision."""
    said = (decision.title, decision.conclusion, decision.date)
    return _digest("\n".join((*said, decision.doubted_by) if decision.doubted_by else said))


def _short(text: str) -> str:
    # Brackets and comments of a text could make its line look like another's.
    text = plain_line(text).replace("](", "] (").replace("<!", "< !").strip(" -")
    if len(text) <= SUMMARY_CHARS:
        return text
    cut = SUMMARY_CHARS - 1
    while unicodedata.category(text[cut])[0] == "M":
        cut -= 1  # a mark without its letter could not be read
    head = text[:cut]
    return (head.rpartition(" ")[0] if " " in head[cut // 2 :] else head).rstrip() + "…"


def _item(line: bytes, changed_too: bool = False) -> PageItem | None:
    text = line.decode("utf-8", errors="replace")
    found, old = _ITEM.fullmatch(text), _OLD_ITEM.fullmatch(text)
    match = found or old
    if match is None:
        return None
    is_ours = _digest(match["body"]) == match["seal"]
    if not is_ours and not changed_too:
        return None
    # One that was changed, or written in the old form, comes from no decision as it says: the next rewrite
    # gives it its text back.
    source = match["source"] if found and is_ours else ""
    told = (match["id"], match["summary"], match["day"], match["path"], source)
    return PageItem(*told, found["anchor"], found["rule"] is not None) if found else PageItem(*told)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]
