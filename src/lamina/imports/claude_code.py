"""Claude Code's sessions: lines with a uuid, several of them to one reply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from lamina.imports.lines import Line, json_lines
from lamina.imports.turn import ImportedTurn, ImportFile, Item, ReadUpTo, Skipped, Speaker, extent
from lamina.imports.words import TOOL_CHARS, blocks, digest, moment, of_memory, said, text_of
from lamina.records import dataclass

SOURCE = "claude-code"
_LEFT_OUT = {
    "isSidechain": "subagent",
    "isMeta": "meta",
    "isCompactSummary": "summary",
    "isApiErrorMessage": "error",
}


def read(file: ImportFile, place: ReadUpTo) -> Iterator[Item]:
    """The turns of one session's file from a place on; the lines of one reply are one turn."""
    if file.path.name.startswith("agent-") or "subagents" in file.path.parts:
        yield file.skipped("subagent")
        yield file.end()
        return
    session = _Session(file, tools=dict(place.state.get("tools", {})))
    line = None
    for line in json_lines(file, place):
        if isinstance(line, Skipped):
            yield line
            continue
        yield from session.take(line)
        if not session.reply:  # a reply that may go on is read again from its beginning
            yield line.after(tools=session.tools)
    yield from session.flush()
    if isinstance(line, Line):
        yield line.after(tools=session.tools)


@dataclass
class _Session:
    file: ImportFile
    tools: dict[str, str]  #: names of the tools whose answers are still to come, by the id of the call
    reply: list[Line] = field(default_factory=list)

    def take(self, line: Line) -> Iterator[Item]:
        entry = line.value
        if entry.get("type") not in ("user", "assistant") or not isinstance(entry.get("message"), dict):
            return
        if reason := next((why for name, why in _LEFT_OUT.items() if entry.get(name) is True), None):
            yield self.file.skipped(reason, line.number)
            return
        content = entry["message"].get("content")
        if entry["type"] == "assistant":
            self.tools |= {str(one.get("id")): str(one.get("name")) for one in blocks(content, "tool_use")}
            if self.reply and _request(self.reply[0]) != _request(line):
                yield from self.flush()
            self.reply.append(line)
            return
        for result in blocks(content, "tool_result"):
            yield self._returned(line, result)
        if text := said(text_of(content)):
            yield from self.flush()
            yield self._turn([line], Speaker.USER, text)

    def flush(self) -> Iterator[Item]:
        """The reply that is being collected, as one turn."""
        lines, self.reply = self.reply, []
        texts = dict.fromkeys(said(text_of(line.value["message"].get("content"))) for line in lines)
        if text := "\n\n".join(filter(None, texts)):
            yield self._turn(lines, Speaker.ASSISTANT, text)

    def _returned(self, line: Line, result: dict[str, Any]) -> Item:
        tool = self.tools.pop(str(result.get("tool_use_id")), "")
        text = said(text_of(result.get("content")))[:TOOL_CHARS]
        if of_memory(tool):
            return self.file.skipped("recalled", line.number)
        if not self.file.tool_output or not text:
            return self.file.skipped("tool_output", line.number)
        return self._turn([line], Speaker.TOOL, text, tool or "tool")

    def _turn(self, lines: list[Line], role: Speaker, text: str, speaker: str | None = None) -> ImportedTurn:
        first, last = lines[0], lines[-1]
        entry = first.value
        uuid = str(entry.get("uuid") or f"line-{first.number}")
        session = str(entry.get("sessionId") or self.file.path.stem)
        return ImportedTurn(
            source=SOURCE,
            session_id=session,
            entry_id=uuid,
            role=role,
            text=text,
            at=moment(entry.get("timestamp")),
            path=self.file.name,
            message_range=extent(
                uuid, first.number, str(last.value.get("uuid") or f"line-{last.number}"), last.number
            ),
            # A resumed session copies what came before under a name of its own, with the same uuids.
            key=f"{SOURCE}:{uuid if 'uuid' in entry else f'{session}:{first.offset}'}:"
            + (digest(text) if role is Speaker.TOOL else role),
            speaker=speaker,
        )


def _request(line: Line) -> str:
    entry = line.value
    return str(entry.get("requestId") or entry["message"].get("id") or entry.get("uuid"))
