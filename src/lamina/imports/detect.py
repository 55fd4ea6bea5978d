"""Which files of a folder are transcripts, of which tool, and who reads them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from lamina.errors import InvalidInput, NotFound
from lamina.imports import (
    claude_code,
    codex,
    exchange,
    exports,
    memories,
    openclaw,
    openclaw_sqlite,
    oracle,
    plain,
)
from lamina.imports.lines import parsed
from lamina.imports.turn import ImportFile, Item, ReadUpTo

PathName = str | PathLike[str]
Reader = Callable[[ImportFile, ReadUpTo], Iterator[Item]]

READERS: dict[str, Reader] = {
    "openclaw": openclaw.read,
    "openclaw-sqlite": openclaw_sqlite.read,
    "claude-code": claude_code.read,
    "codex": codex.read,
    "jsonl": plain.read,
    "gemini": exports.read_gemini,
    "chatgpt": exports.read_chatgpt,
    "claude": exports.read_claude,
    "mem0": memories.read_mem0,
    "memory-server": memories.read_server,
    "oracle": oracle.read,
    "omi": exchange.read_omi,
    "cogx": exchange.read_cogx,
    "basic-memory": exchange.read_note,
}
#: What people may ask for; our own exports are read elsewhere. The two forms of OpenClaw are told apart by
#: the file.
FORMATS = ("auto", "lamina", *(name for name in READERS if name != "openclaw-sqlite"))
#: Read from where they were left off; the others as a whole when they have changed.
RESUMABLE = frozenset({"openclaw", "claude-code", "codex", "jsonl"})
#: Others may write to them without their size saying so.
ALWAYS_READ = frozenset({"openclaw-sqlite", "oracle"})

_MAY_BE = re.compile(r".+\.(?:jsonl(?:\.reset\..+)?|sqlite|db|json|zip)")
_NOTES = re.compile(r"[^.].*\.md")
_NEVER = re.compile(
    r".*\.(?:checkpoint|trajectory|deleted)\b.*|sessions\.json|session_index\.jsonl|manifest\.json"
)
_SQLITE = b"SQLite format 3\x00"
_PEEK = 256 * 1024


def find(where: PathName, wanted: str = "auto") -> Iterator[ImportFile]:
    """The files to read under a path, in the order of their names.

    A file that is named is read whatever it is called; in a folder, what is no transcript is passed over,
    and so are sessions that were deleted. A file that cannot be opened has no format. Raises NotFound for a
    path that is not there and InvalidInput (`format_invalid`, `format_unknown`) where no format is known.
    """
    if wanted not in FORMATS:
        known = ", ".join(FORMATS)
        raise InvalidInput(
            f"{wanted!r:.40} is not a format.", code="format_invalid", hint=f"Choose one of: {known}."
        )
    path = Path(where).expanduser().absolute()
    path = path.resolve() if ".." in path.parts else path
    if path.is_dir():
        for one in sorted(path.rglob("*")):
            may_be = _NOTES if wanted == "basic-memory" else _MAY_BE
            named = may_be.fullmatch(one.name) and not _NEVER.fullmatch(one.name)
            if named and one.is_file() and (format_ := _format(one, wanted)) is not None:
                yield ImportFile(path=one, format=format_)
        return
    if not path.is_file():
        raise NotFound(f"There is no file or folder {str(path)!r:.200}.", hint="Check the path.")
    format_ = _format(path, wanted)
    if format_ is None:
        raise InvalidInput(
            f"{path.name!r:.100} is not a transcript or export that Lamina knows.",
            code="format_unknown",
            hint=f"Name its format with --format: {', '.join(FORMATS[1:])}.",
        )
    yield ImportFile(path=path, format=format_)


def _format(path: Path, wanted: str) -> str | None:
    try:
        with path.open("rb") as stream:
            head = stream.read(_PEEK)
    except OSError:
        return ""
    if head.startswith(_SQLITE):
        # What was written last may still stand in the log beside it.
        if wanted == "oracle" or (wanted == "auto" and oracle.TABLE.encode() in head):
            return "oracle"
        ours = b"transcript_events" in head or path.name == "openclaw-agent.sqlite"
        return "openclaw-sqlite" if ours and wanted in ("auto", "openclaw") else None
    if wanted in ("auto", "oracle"):
        return detected(path, head) if wanted == "auto" else None
    return wanted


def detected(path: Path, head: bytes) -> str | None:
    """The format of a file by its beginning; None for what is no transcript."""
    if head.startswith(b"PK"):
        return _in_zip(path)
    if path.suffix == ".md":
        return "basic-memory" if "permalink" in exchange.note_of(head.decode("utf-8", "ignore"))[0] else None
    for data in head.split(b"\n")[:50]:
        value = parsed(data) if data.startswith(b"{") else None
        if isinstance(value, dict) and (format_ := _of_line(value)):
            return format_
    return _of_document(head)


def _of_line(value: dict[str, Any]) -> str | None:
    kind, message = value.get("type"), value.get("message")
    if value.get("format") == exchange.OMI:
        return "omi"
    if {"external_id", "kind"} <= value.keys():
        return "cogx"
    if kind in ("session_meta", "event_msg", "response_item"):
        return "codex"
    if kind in ("entity", "relation") and ("observations" in value or "relationType" in value):
        return "memory-server"
    if kind == "session" or (kind == "message" and isinstance(message, dict) and "role" in message):
        return "openclaw"
    if kind in ("user", "assistant") and isinstance(message, dict) and "uuid" in value:
        return "claude-code"
    if kind in ("summary", "file-history-snapshot", "queue-operation", "progress"):
        return "claude-code"
    if any(plain.role_of(value.get(name)) for name in ("role", "sender", "from", "type", "author")):
        return "jsonl" if {"content", "text", "message", "parts"} & value.keys() else None
    return None


def _of_document(head: bytes) -> str | None:
    """By the names of the fields, because a long document cannot be parsed from its beginning alone."""
    text = head.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n")
    if not text.startswith(("[", "{")):
        return None
    names = set(re.findall(r'"(\w+)"\s*:', text))
    if f'"{exchange.OMI}"' in text:
        return "omi"
    if "conversations_memory" in names:
        return "claude"
    if "mapping" in names:
        return "chatgpt"
    if "chat_messages" in names:
        return "claude"
    if {"sessionId", "messages"} <= names:
        return "gemini"
    if {"memory", "id"} <= names or {"memories", "content"} <= names:
        return "mem0"
    return None


def _in_zip(path: Path) -> str | None:
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as whole:
        for wanted in ("conversations", "memories"):
            for name in sorted(whole.namelist()):
                if name.rsplit("/", 1)[-1].startswith(wanted) and name.endswith(".json"):
                    with whole.open(name) as stream:
                        if format_ := _of_document(stream.read(_PEEK)):
                            return format_
    return None
