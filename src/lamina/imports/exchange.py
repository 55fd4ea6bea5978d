"""Memories in the formats that tools exchange: OMI (0.1 draft), COGX (0.1), and the notes of basic-memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from lamina.errors import InvalidInput
from lamina.imports.lines import elements, json_lines, parsed
from lamina.imports.plain import role_of
from lamina.imports.turn import (
    Carried,
    ImportedFact,
    ImportedTurn,
    ImportFile,
    Item,
    ReadUpTo,
    Skipped,
    extent,
)
from lamina.imports.words import digest, moment, said, text_of
from lamina.model import Layer

OMI, COGX = "open-memory-interchange", "cogx_version"
_LAYERS = {one.value: one for one in (Layer.SEMANTIC, Layer.EPISODIC, Layer.PROCEDURAL)}
#: What of an OMI record is a memory's own; the rest is kept beside as it came.
_TAKEN = {"content", "tags", "confidence"}
_MANIFEST = 1 << 20
_NOTE = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n?(.*)\Z", re.S)
_OBSERVATION = re.compile(r"[-*] \[([^\[\]()]{2,}|[^\[\]() xX-])\] (.+)")
_RELATION = re.compile(r"""[-*] (?:"([^"]+)"|'([^']+)'|([\w-]+)) \[\[([^\]]+)\]\]""")


def read_omi(file: ImportFile, _: ReadUpTo) -> Iterator[Item]:
    """The records of an OMI file, as one document or a line each behind the line of the envelope."""
    for number, record in _records(file):
        if isinstance(record, Skipped):
            yield record
        elif text := said(text_of(record.get("content"))):
            entry = str(record.get("id") or digest(text))
            yield ImportedFact(
                source="omi",
                entry_id=entry,
                text=text,
                at=moment(record.get("created")),
                path=file.name,
                key=f"omi:{entry}:{digest(text)}",
                carried=_omi(record),
            )
        elif "memories" not in record and record.get("format") != OMI:
            yield file.skipped("no_text", number)
    yield file.end()


def _records(file: ImportFile) -> Iterator[tuple[int, dict[str, Any] | Skipped]]:
    with file.path.open("rb") as stream:
        first = stream.readline(_MANIFEST)
    if isinstance(parsed(first), dict) and "memories" not in parsed(first):
        for line in json_lines(file, ReadUpTo()):
            yield (line.line, line) if isinstance(line, Skipped) else (line.number, line.value)
        return
    try:
        with file.path.open("rb") as stream:
            held = [one.get("memories") for one in elements(stream) if isinstance(one, dict)]
    except (ValueError, RecursionError):
        raise InvalidInput(f"{file.path.name} is not complete JSON.", code="import_unreadable") from None
    yield from ((0, one) for some in held for one in some or () if isinstance(one, dict))


def _omi(record: Mapping[str, Any]) -> Carried:
    tags, sure = record.get("tags"), record.get("confidence")
    kept = {name: value for name, value in record.items() if name not in _TAKEN and value is not None}
    return Carried(
        layer=_LAYERS.get(str(record.get("type")), Layer.SEMANTIC),
        tags=tuple(str(one) for one in tags) if isinstance(tags, list) else (),
        confidence=float(sure) if isinstance(sure, int | float) and 0 <= sure <= 1 else 1.0,
        since=moment(record.get("valid_from")),
        until=moment(record.get("valid_to")),
        meta={"omi": kept},
    )


def read_cogx(file: ImportFile, _: ReadUpTo) -> Iterator[Item]:
    """One file of a COGX archive, whichever kind of record it has; names of entities stand for their ids."""
    _check_version(file)
    names = _entities(file)
    for line in json_lines(file, ReadUpTo()):
        if isinstance(line, Skipped):
            yield line
        elif line.value.get("kind") == "episode":
            yield from _episode(file, line.value)
        elif text := said(_stated(line.value, names)):
            record, system = line.value, str(line.value.get("external_system") or "unknown")
            entry = str(record.get("external_id") or digest(text))
            yield ImportedFact(
                source="cogx",
                entry_id=entry,
                text=text,
                at=moment(record.get("created_at")),
                path=file.name,
                key=f"cogx:{system}:{record.get('kind')}:{entry}:{digest(text)}",
                carried=_cogx(record),
            )
        else:
            yield file.skipped("no_text", line.number)
    yield file.end()


def _check_version(file: ImportFile) -> None:
    try:
        told = parsed((file.path.parent / "manifest.json").read_bytes()[:_MANIFEST])
    except OSError:
        return
    version = str(told.get(COGX, "0.1")) if isinstance(told, dict) else "0.1"
    if version.partition(".")[0] != "0":
        raise InvalidInput(f"COGX {version:.20} is newer than 0.1.", code="import_unreadable")


def _entities(file: ImportFile) -> dict[str, str]:
    """The names of an archive's entities by their ids."""
    beside = ImportFile(path=file.path.parent / "entities.jsonl", format="cogx")
    found = json_lines(beside, ReadUpTo()) if beside.path.is_file() else ()
    rows = [line.value for line in found if not isinstance(line, Skipped)]
    return {str(one.get("external_id")): str(one.get("name")) for one in rows if one.get("name")}


def _stated(record: Mapping[str, Any], names: Mapping[str, str]) -> str:
    match record:
        case {"kind": "memory" | "document", "content": str(content)}:
            return content
        case {"kind": "memory_block", "label": str(label), "value": str(value)}:
            return f"{label}: {value}"
        case {"kind": "entity", "name": str(name), "description": str(told)}:
            kind = record.get("entity_type")
            return f"{name} ({kind}): {told}" if kind else f"{name}: {told}"
        case {"kind": "fact", "fact_text": str(told)} if told.strip():
            return told
        case {"kind": "fact", "subject_ref": str(one), "predicate": str(verb), "object_ref": str(other)}:
            return f"{names.get(one, one)} {verb.replace('_', ' ')} {names.get(other, other)}"
    return ""


def _cogx(record: Mapping[str, Any]) -> Carried:
    tags, sure = record.get("categories"), record.get("confidence")
    kept = {name: value for name, value in record.items() if name != "content" and value is not None}
    return Carried(
        tags=tuple(str(one) for one in tags) if isinstance(tags, list) else (),
        confidence=float(sure) if isinstance(sure, int | float) and 0 <= sure <= 1 else 1.0,
        since=moment(record.get("valid_at")),
        until=moment(record.get("invalid_at")),
        meta={"cogx": kept},
    )


def _episode(file: ImportFile, record: Mapping[str, Any]) -> Iterator[Item]:
    session = str(record.get("external_id") or "")
    for number, turn in enumerate(record.get("turns") or (), 1):
        role = role_of(turn.get("role")) if isinstance(turn, dict) else None
        text = said(text_of(turn.get("content"))) if role is not None else ""
        if role is None or not text:
            yield file.skipped("unknown_role" if role is None else "no_text")
            continue
        entry = f"turn-{number}"
        yield ImportedTurn(
            source="cogx",
            session_id=session,
            entry_id=entry,
            role=role,
            text=text,
            at=moment(turn.get("occurred_at")) or moment(record.get("created_at")),
            path=file.name,
            message_range=extent(entry),
            key=f"cogx:{session}:{entry}:{digest(text)}",
        )


def read_note(file: ImportFile, _: ReadUpTo) -> Iterator[Item]:
    """A note of basic-memory: each observation and relation is a fact about it, and what else it says one."""
    text = file.path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    fields, body = note_of(text)
    title = str(fields.get("title") or file.path.stem)
    entry = str(fields.get("permalink") or title)
    at = moment(str(fields.get("modified") or fields.get("created") or "")) or None
    tags = fields.get("tags")
    tags = re.split(r"[\s,]+", tags) if isinstance(tags, str) else tags if isinstance(tags, list) else []
    for told, own in _told(title, body):
        yield ImportedFact(
            source="basic-memory",
            entry_id=entry,
            text=told,
            at=at,
            path=file.name,
            key=f"basic-memory:{entry}:{digest(told)}",
            carried=Carried(
                tags=tuple(dict.fromkeys([*(str(one).lstrip("#") for one in tags if one), *own]))
            ),
        )
    yield file.end()


def note_of(text: str) -> tuple[dict[str, Any], str]:
    """The fields at the head of a page and what stands below them; no fields where there are none."""
    found = _NOTE.match(text)
    try:
        fields = yaml.safe_load(found[1]) if found else {}
    except yaml.YAMLError:
        fields = {}
    return (fields, found[2]) if found and isinstance(fields, dict) else ({}, text)


def _told(title: str, body: str) -> Iterator[tuple[str, list[str]]]:
    rest: list[str] = []
    for line in body.splitlines():
        bare = line.strip()
        if found := _RELATION.fullmatch(re.sub(r" \([^()]*\)$", "", bare)):
            yield f"{title} {(found[1] or found[2] or found[3]).replace('_', ' ')} {found[4]}", []
        elif (seen := _OBSERVATION.fullmatch(bare)) and not seen[2].startswith("("):
            yield f"{title}: {seen[2]}", [seen[1], *re.findall(r"#([\w/-]+)", seen[2])]
        elif bare and not bare.startswith("#"):
            rest.append(line.rstrip())
    if prose := said("\n".join(rest)):
        yield f"{title}: {prose}", []
