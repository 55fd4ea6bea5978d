"""The words of a message: text out of content blocks, without what programs put into it, and its time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from lamina.text.ttl import parse_time

#: The most of a tool's answer that is taken.
TOOL_CHARS = 2000

#: Blocks that a program put into a message: ours first, so that what was recalled is never extracted again.
_INJECTED = (
    "memory",
    "user_model",
    "memories",
    "memory_context",
    "relevant-memories",
    "recalled_memories",
    "system-reminder",
    "command-name",
    "command-message",
    "command-args",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "task-notification",
    "bash-stdout",
    "bash-stderr",
    "ide_opened_file",
    "ide_selection",
    "environment_context",
    "user_instructions",
    "user_info",
    "permissions instructions",
    "turn_aborted",
    "INSTRUCTIONS",
)
_OPENING = re.compile(rf"<({'|'.join(map(re.escape, _INJECTED))})(?:\s[^<>]*)?>", re.I)
_CLOSING = {name.lower(): re.compile(f"</{re.escape(name)}>", re.I) for name in _INJECTED}
#: The same as markdown: the heading and the sentence under it that our own context begins with.
_RECALLED = re.compile(r"^## Memory\n_Reference data from memory\..*?_\n(?:(?:###|- ).*\n?)*", re.M)
_MACHINE = re.compile(
    r"\[Request interrupted by user[^\]]*\]|# AGENTS\.md instructions for .*|Caveat: The messages below .*",
    re.S,
)
#: What a terminal drew with, and what no text can hold.
_CONTROL = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_UNWRITABLE = re.compile("[\ud800-\udfff]")
_MEMORY_TOOL = re.compile(r"(?:^|[_.:/])(?:memory_\w+|oracle_\w+|memories?)$|^mcp__\w*memory\w*__", re.I)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS = 100_000_000_000  #: numbers above are milliseconds; as seconds they mean the year 5138


def said(text: str) -> str:
    """What somebody said, without the blocks that programs put around it."""
    if "<" in text:
        text = _without_blocks(text)
    if "## Memory" in text:
        text = _RECALLED.sub("", text)
    text = _UNWRITABLE.sub("\ufffd", _CONTROL.sub("", text)).strip()
    return "" if _MACHINE.fullmatch(text) else text


def _without_blocks(text: str) -> str:
    """In one pass, however many blocks are opened and never closed; those are somebody's words."""
    kept, at, unclosed = [], 0, set()
    for opening in _OPENING.finditer(text):
        name = opening[1].lower()
        if opening.start() < at or name in unclosed:
            continue
        closing = _CLOSING[name].search(text, opening.end())
        if closing is None:
            unclosed.add(name)
            continue
        kept.append(text[at : opening.start()])
        at = closing.end()
    return "".join(kept) + text[at:]


def text_of(content: Any) -> str:
    """The text in a message's content: a string, or the text blocks of a list."""
    return "\n\n".join(part for part in _texts(content) if part)


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        if content.get("type", "text") in ("text", "input_text", "output_text"):
            yield from _texts(content.get("text") or content.get("content") or content.get("parts"))
    elif isinstance(content, list):
        for block in content:
            yield from _texts(block)


def blocks(content: Any, kind: str) -> list[dict[str, Any]]:
    """The blocks of one type in a message's content."""
    found = content if isinstance(content, list) else []
    return [block for block in found if isinstance(block, dict) and block.get("type") == kind]


def of_memory(tool: str) -> bool:
    """Whether a tool gives back what a memory holds: that is known, and nothing new was said."""
    return bool(_MEMORY_TOOL.search(tool))


def digest(text: str) -> str:
    """A short hash of some words."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def moment(value: Any) -> datetime | None:
    """A time in ISO form, or in seconds or milliseconds since 1970; None for anything else."""
    if isinstance(value, str):
        return parse_time(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = value / 1000 if abs(value) >= _MILLISECONDS else value
        return _EPOCH + timedelta(seconds=round(seconds, 6))
    except (OverflowError, ValueError):
        return None
