"""Exports of whole histories: ChatGPT, Claude and Gemini; a JSON file, or the zip it came in."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import IO, Any

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
        whose = (session, str(message.get("id") or name), str(author.get("name") or ""))
        yield from _turn(file, "chatgpt", whose, (author.get("role"), text, message.get("create_time")))


def _claude(file: ImportFile, conversation: Mapping[str, Any]) -> Iterator[Item]:
    session = str(conversation.get("uuid") or "")
    for number, message in enumerate(conversation.get("chat_messages") or [], 1):
        if isinstance(message, dict):
            text = text_of(message.get("content")) or text_of(message.get("text"))
            whose = (session, str(message.get("uuid") or f"message-{number}"), "")
            yield from _turn(file, "claude", whose, (message.get("sender"), text, message.get("created_at")))


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
            whose = (session, str(message.get("id") or f"message-{number}"), "")
            said_then = (message.get("type"), text_of(message.get("content")), message.get("timestamp"))
            yield from _turn(file, "gemini", whose, said_then)


def _turn(
    file: ImportFile, source: str, whose: tuple[str, str, str], message: tuple[Any, str, Any]
) -> Iterator[Item]:
    (session, entry, name), (who, words, at) = whose, message
    role, text = role_of(who), said(words)
    if role is Speaker.TOOL and (of_memory(name) or not file.tool_output):
        yield file.skipped("recalled" if of_memory(name) else "tool_output")
    elif role is not None and text:
        yield ImportedTurn(
            source=source,
            session_id=session,
            entry_id=entry,
            role=role,
            text=text[:TOOL_CHARS] if role is Speaker.TOOL else text,
            at=moment(at),
            path=file.name,
            message_range=extent((entry, 0), (entry, 0)),
            key=f"{source}:{session}:{entry}",
            speaker=name or None,
        )
