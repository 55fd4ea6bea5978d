"""Exports of whole histories: ChatGPT, Claude and Gemini; a JSON file, or the zip it came in."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import IO, Any, NamedTuple

from lamina.errors import InvalidInput
from lamina.imports.lines import elements
from lamina.imports.plain import role_of
from lamina.imports.turn import ImportedFact, ImportedTurn, ImportFile, Item, ReadUpTo, Speaker, extent
from lamina.imports.words import TOOL_CHARS, digest, moment, of_memory, said, text_of

_SHOWN = ("text", "multimodal_text")
_Told = Callable[[ImportFile, Mapping[str, Any]], Iterator[Item]]


def parts(file: ImportFile, stack: ExitStack, names: str | tuple[str, ...]) -> Iterator[IO[bytes]]:
    """The JSON files in a zip whose names begin so, or the file itself."""
    if not zipfile.is_zipfile(file.path):
        yield stack.enter_context(file.path.open("rb"))
        return
    whole = stack.enter_context(zipfile.ZipFile(file.path))
    for name in sorted(whole.namelist()):
        # `memories/<account>.json`, too
        if any(part.startswith(names) for part in name.split("/")[-2:]) and name.endswith(".json"):
            yield stack.enter_context(whole.open(name))


def objects(file: ImportFile, names: str | tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The objects of an export one by one; InvalidInput when it cannot be read to its end."""
    with ExitStack() as stack:
        try:
            for stream in parts(file, stack, names):
                yield from (one for one in elements(stream) if isinstance(one, dict))
        except (ValueError, RecursionError, zipfile.BadZipFile, EOFError):
            raise InvalidInput(
                f"{file.path.name} ends early or is damaged; what stands before that place was read.",
                code="import_unreadable",
                hint="Download the export again.",
            ) from None


def read_chatgpt(file: ImportFile, _: ReadUpTo) -> Iterator[Item]:
    """The turns of every conversation of a ChatGPT export, each on its current branch."""
    yield from _read(file, _chatgpt)


def read_claude(file: ImportFile, _: ReadUpTo) -> Iterator[Item]:
    """The turns of every conversation of a Claude export, and what Claude had made a memory of."""
    for whole in objects(file, ("conversations", "memories")):
        yield from _claude_memory(file, whole) if "conversations_memory" in whole else _claude(file, whole)
    yield file.end()


def read_gemini(file: ImportFile, _: ReadUpTo) -> Iterator[Item]:
    """The turns of a session of the Gemini CLI."""
    yield from _read(file, _gemini)


def _read(file: ImportFile, told: _Told) -> Iterator[Item]:
    for conversation in objects(file, "conversations"):
        yield from told(file, conversation)
    yield file.end()


def _chatgpt(file: ImportFile, conversation: Mapping[str, Any]) -> Iterator[Item]:
    mapping = conversation.get("mapping")
    nodes = mapping if isinstance(mapping, dict) else {}
    session = str(conversation.get("conversation_id") or conversation.get("id") or "")
    way: dict[str, Mapping[str, Any]] = {}
    at = conversation.get("current_node")
    while isinstance(at, str) and at not in way and isinstance(nodes.get(at), dict):
        way[at] = nodes[at]
        at = way[at].get("parent")
    for name, node in reversed(way.items()):
        message = node.get("message")
        if not isinstance(message, dict):
            continue
        content, author = message.get("content") or {}, message.get("author") or {}
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_user")
        if hidden or content.get("content_type") not in _SHOWN or message.get("recipient", "all") != "all":
            continue
        text = text_of([part for part in content.get("parts") or [] if isinstance(part, str)])
        entry, speaker = str(message.get("id") or name), str(author.get("name") or "")
        shown = _Message(session, entry, author.get("role"), text, message.get("create_time"), speaker)
        yield from _turn(file, "chatgpt", shown)


def _claude(file: ImportFile, conversation: Mapping[str, Any]) -> Iterator[Item]:
    session = str(conversation.get("uuid") or "")
    for number, message in enumerate(conversation.get("chat_messages") or [], 1):
        if isinstance(message, dict):
            text = text_of(message.get("content")) or text_of(message.get("text"))
            entry, who = str(message.get("uuid") or f"message-{number}"), message.get("sender")
            yield from _turn(file, "claude", _Message(session, entry, who, text, message.get("created_at")))


def _claude_memory(file: ImportFile, whole: Mapping[str, Any]) -> Iterator[Item]:
    """What Claude wrote down of the person, a fact for each paragraph or item of a list; headings are not."""
    projects = whole.get("project_memories")
    pages = [("account", whole.get("conversations_memory"))]
    pages += list(projects.items()) if isinstance(projects, dict) else []
    for name, page in pages:
        for told in re.split(r"\n\s*\n|\n(?=\s*[-*] )", page if isinstance(page, str) else ""):
            text = re.sub(r"^\s*[-*] ", "", said(told))
            if text and not re.fullmatch(r"#.*|\*\*[^*]+\*\*:?", text):
                key = f"claude:memory:{name}:{digest(text)}"
                yield ImportedFact(
                    source="claude", entry_id=str(name), text=text, at=None, path=file.name, key=key
                )


def _gemini(file: ImportFile, conversation: Mapping[str, Any]) -> Iterator[Item]:
    session = str(conversation.get("sessionId") or file.path.stem)
    for number, message in enumerate(conversation.get("messages") or [], 1):
        if isinstance(message, dict):
            entry, text = str(message.get("id") or f"message-{number}"), text_of(message.get("content"))
            shown = _Message(session, entry, message.get("type"), text, message.get("timestamp"))
            yield from _turn(file, "gemini", shown)


class _Message(NamedTuple):
    """A message as these exports have it."""

    session: str
    entry: str
    who: Any
    words: str
    at: Any
    speaker: str = ""


def _turn(file: ImportFile, source: str, message: _Message) -> Iterator[Item]:
    name, role, text = message.speaker, role_of(message.who), said(message.words)
    if role is Speaker.TOOL and (of_memory(name) or not file.tool_output):
        yield file.skipped("recalled" if of_memory(name) else "tool_output")
    elif role is not None and text:
        yield ImportedTurn(
            source=source,
            session_id=message.session,
            entry_id=message.entry,
            role=role,
            text=text[:TOOL_CHARS] if role is Speaker.TOOL else text,
            at=moment(message.at),
            path=file.name,
            message_range=extent(message.entry),
            key=f"{source}:{message.session}:{message.entry}",
            speaker=name or None,
        )
