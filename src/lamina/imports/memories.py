"""What other memories hold: exports of mem0 and OpenMemory, the file of the reference memory server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lamina.imports.exports import objects
from lamina.imports.lines import json_lines
from lamina.imports.turn import ImportedFact, ImportFile, Item, ReadUpTo, Skipped
from lamina.imports.words import digest, moment, said, text_of

_LISTS = ("results", "memories", "items", "data")
_GONE = ("deleted", "archived")


def read_mem0(file: ImportFile, _: ReadUpTo) -> Iterator[Item]:
    """The facts of a mem0 or OpenMemory export: a list of them, or an object that holds one.

    Where it is of several people each fact says whose it is; the only one's are the importer's own, whatever
    that person was called there.
    """
    people = {str(memory["user_id"]) for memory in _memories(file) if memory.get("user_id")}
    for memory in _memories(file):
        yield from _mem0(file, memory, several=len(people) > 1)
    yield file.end()


def _memories(file: ImportFile) -> Iterator[Mapping[str, Any]]:
    for whole in objects(file, "memories"):
        held = next((whole[name] for name in _LISTS if isinstance(whole.get(name), list)), [whole])
        yield from (memory for memory in held if isinstance(memory, dict))


def _mem0(file: ImportFile, memory: Mapping[str, Any], *, several: bool) -> Iterator[Item]:
    text = said(text_of(memory.get("memory") or memory.get("content") or memory.get("text")))
    if memory.get("state") in _GONE or memory.get("deleted_at"):
        yield file.skipped("deleted")
    elif text:
        entry = str(memory.get("id") or digest(text))
        at = moment(memory.get("updated_at")) or moment(memory.get("created_at"))
        key = f"mem0:{entry}:{digest(text)}"
        user = str(memory.get("user_id") or "") if several else None
        yield ImportedFact(
            source="mem0", entry_id=entry, text=text, at=at, path=file.name, key=key, user=user
        )


def read_server(file: ImportFile, _: ReadUpTo) -> Iterator[Item]:
    """The observations and relations of the reference memory server; its file is written anew each time."""
    for line in json_lines(file, ReadUpTo()):
        if isinstance(line, Skipped):
            yield line
            continue
        for text in _statements(line.value):
            entry, key = f"line-{line.number}", f"memory-server:{digest(text)}"
            yield ImportedFact(
                source="memory-server", entry_id=entry, text=text, at=None, path=file.name, key=key
            )
    yield file.end()


def _statements(value: Mapping[str, Any]) -> Iterator[str]:
    match value:
        case {"type": "entity", "name": str(name), "observations": list(observations)}:
            kind = value.get("entityType")
            about = f"{name} ({kind})" if kind else name
            yield from (f"{about}: {text}" for one in observations if (text := said(text_of(one))))
        case {"type": "relation", "from": str(one), "to": str(other), "relationType": str(relation)}:
            yield f"{one} {relation} {other}"
