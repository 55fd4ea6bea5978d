"""What is known now in the formats that tools exchange: OMI (0.1 draft) and COGX (0.1), as lines of files.

Neither has room for the past: what is not active, histories, sessions and found links are left out, counted.
What came in by such a format goes out as it came, as long as nobody has changed its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lamina.model import Layer, State, canonical, iso
from lamina.write.store import Caller

Parts = Callable[[], Iterator[tuple[str, dict[str, Any]]]]
Lines = Iterator[tuple[str, str]]  #: the file, and a line of it

OMI_FILE = "memories.omi.jsonl"
COGX_FILES = {
    "document": "documents.jsonl",
    "entity": "entities.jsonl",
    "fact": "facts.jsonl",
    "memory": "memories.jsonl",
    "memory_block": "memory_blocks.jsonl",
}
_TYPES = {Layer.USER_MODEL: "semantic"}
_METHODS = {"user": "stated", "admin": "stated", "system": "stated", "agent": "inferred"}


def omi(caller: Caller, parts: Parts, lost: Counter[str]) -> Lines:
    """The envelope, and a line for each memory."""
    links: dict[str, list[dict[str, Any]]] = {}
    for what, part in parts():
        if what == "relation" and part["explicit"]:
            links.setdefault(part["from_id"], []).append({"type": part["type"], "target": part["to_id"]})
    envelope = {
        "format": "open-memory-interchange",
        "version": "0.1",
        "serialization": "jsonl",
        "subject": {"id": caller.scope.user, "type": "person"},
        "generated_at": iso(caller.store.now()),
        "generator": "lamina",
    }
    yield OMI_FILE, canonical(envelope)
    used: set[str] = set()
    for part in _active(parts, lost):
        record = _omi(part, links.get(part["id"], []))
        if record["id"] in used:
            record["id"] = part["id"]
        used.add(record["id"])
        yield OMI_FILE, canonical(record)


def _omi(part: Mapping[str, Any], links: list[dict[str, Any]]) -> dict[str, Any]:
    came, said = part["meta"].get("omi") or {}, part["provenance"]
    own = {name: value for name, value in part.items() if name not in ("text", "meta")}
    own["meta"] = {name: value for name, value in part["meta"].items() if name not in ("omi", "cogx")}
    layer = Layer(part["layer"])
    record = {
        "id": part["id"],
        "created": part["created_at"],
        "type": _TYPES.get(layer, layer.value),
        "source": {
            "platform": "lamina",
            "ref": part["id"],
            "method": _METHODS.get(said["role"], "extracted"),
        },
        "valid_from": part["valid_from"],
        **({"valid_to": part["valid_until"]} if part["valid_until"] else {}),
        **({"updated": part["updated_at"]} if part["revision"] > 1 else {}),
        **came,
        "content": part["text"],
        "tags": part["tags"],
        "confidence": part["confidence"],
        "ext": {**(came.get("ext") or {}), "lamina": own},
    }
    return {**record, "relations": [*(came.get("relations") or []), *links]} if links else record


def cogx(caller: Caller, parts: Parts, lost: Counter[str]) -> Lines:
    """A record for each memory, a fact for each link between two, and the manifest last."""
    counts: Counter[str] = Counter()
    known: dict[str, str] = {}
    for part in _active(parts, lost):
        record = _cogx(part, caller.scope.user)
        known[part["id"]] = record["external_id"]
        counts[record["kind"]] += 1
        yield COGX_FILES[record["kind"]], canonical(record)
    for what, part in parts():
        ends = [known.get(part[name]) for name in ("from_id", "to_id")] if what == "relation" else []
        if ends and part["explicit"] and None not in ends:
            counts["fact"] += 1
            yield COGX_FILES["fact"], canonical(_fact(part, ends))
    manifest = {
        "cogx_version": "0.1",
        "source_system": "lamina",
        "exported_at": iso(caller.store.now()),
        "counts": dict(counts),
        "notes": [f"Left out: {count} {what}" for what, count in sorted(lost.items())],
    }
    yield "manifest.json", canonical(manifest)


def _cogx(part: Mapping[str, Any], user: str) -> dict[str, Any]:
    came = part["meta"].get("cogx")
    if came and came.get("kind") in COGX_FILES and part["revision"] == 1:
        return {**came, "content": part["text"]} if came["kind"] in ("memory", "document") else dict(came)
    own = {name: value for name, value in part.items() if name not in ("text", "meta", "tags")}
    session = part["provenance"].get("session_id")
    return {
        "kind": "memory",
        "external_system": "lamina",
        "external_id": part["id"],
        "scope": {"user_id": user, **({"session_id": session} if session else {})},
        "created_at": part["created_at"],
        "updated_at": part["updated_at"],
        "content": part["text"],
        "categories": part["tags"],
        "metadata": {"lamina": own},
    }


def _fact(link: Mapping[str, Any], ends: list[str | None]) -> dict[str, Any]:
    return {
        "kind": "fact",
        "external_system": "lamina",
        "external_id": f"{ends[0]}:{link['type']}:{ends[1]}",
        "subject_ref": ends[0],
        "predicate": link["type"],
        "object_ref": ends[1],
        "confidence": link["strength"],
        "created_at": link["created_at"],
    }


def _active(parts: Parts, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    for what, part in parts():
        if what == "memory" and part["state"] == State.ACTIVE:
            yield part
        elif what == "memory":
            lost[f"memories {part['state']}"] += 1
        elif what != "relation" or not part["explicit"]:
            lost["links found by themselves" if what == "relation" else f"{what} lines"] += 1
