"""One memory's whole story as a file that proves itself to whoever has the key, without the store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from lamina.audit.chain import Sealer
from lamina.errors import InvalidInput, NotFound
from lamina.model import canonical, from_plain, iso
from lamina.model.audit import AuditRecord
from lamina.storage.database import Transaction, load_queries
from lamina.storage.ledger import lane_of, row_text, sealed_columns
from lamina.storage.logs import AuditLog
from lamina.storage.sealed_rows import SealedRows
from lamina.storage.small_tables import Properties

_FORM = 1
_ENDS = ("purge", "purge_receipt", "erase")


def proof_of(transaction: Transaction, sealer: Sealer, memory_id: str, now: datetime) -> dict[str, Any]:
    """The story of a memory with a mark over it; NotFound where the audit knows of no such memory.

    Of one that was purged the records are left, which say so.
    """
    told = SealedRows(transaction).story(memory_id)
    if not told["records"]:
        raise NotFound(f"The audit knows of no memory {memory_id!r:.80}.", hint="`lamina list` shows ids.")
    seq, newest = AuditLog(transaction).head(lane_of(memory_id))
    proof = {
        "lamina_proof": _FORM,
        "store": Properties(transaction).get("store_id") or "",
        "tenant": transaction.tenant,
        "key_id": sealer.key_id,
        "at": iso(now),
        "memory_id": memory_id,
        "chain": {"records": seq, "newest": newest},
        **told,
    }
    return {**proof, "mark": sealer.mark(canonical(proof))}


def read_proof(text: str) -> dict[str, Any]:
    """A proof from its file; InvalidInput where it is none."""
    try:
        proof = json.loads(text)
    except ValueError:
        proof = None
    if not isinstance(proof, dict) or proof.get("lamina_proof") != _FORM:
        raise InvalidInput(
            "This file is not a proof of a memory's story.",
            code="proof_invalid",
            hint="Make one with `lamina audit export-proof ID > proof.json`.",
        )
    return proof


def check_proof(proof: Mapping[str, Any], sealer: Sealer) -> list[str]:
    """What is wrong with a proof, as somebody with the key can tell it; nothing where all of it holds."""
    if proof.get("key_id") != sealer.key_id:
        return [f"it was made with the key {proof.get('key_id')}, and the key here is {sealer.key_id}"]
    rest = {name: value for name, value in proof.items() if name != "mark"}
    found = [] if proof.get("mark") == sealer.mark(canonical(rest)) else ["it is not as it was made"]
    try:
        return [*found, *_faults(proof, sealer)]
    except (KeyError, TypeError, ValueError, AttributeError):
        return [*found, "something in it has not the form of a proof"]


def _faults(proof: Mapping[str, Any], sealer: Sealer) -> Iterator[str]:
    records = [from_plain(AuditRecord, one) for one in proof["records"]]
    for record in records:
        if record.key_id == sealer.key_id and not sealer.intact(record):
            yield f"record {record.seq} is not as it was sealed"
    queries = load_queries("sqlite")
    for table, rows in (("memory", proof["memory"]), ("history", proof["steps"])):
        for row in rows:
            names = sealed_columns(queries[f"sealed_{table}"])
            values = tuple(None if (table, name) == ("history", "number") else row[name] for name in names)
            if sealer.element(row_text(proof["tenant"], table, values, queries))[1] != row["seal"]:
                yield f"a row of {table} is not as it was sealed"
    steps = {one["number"]: one for one in proof["steps"]}
    told = {one.number: one for one in records if one.number is not None and one.op not in _ENDS}
    gone = {one.number for one in records if one.op in ("purge", "erase")}
    for number, step in steps.items():
        record = told.get(number)
        if record is None:
            yield f"no record tells of step {number}"
        elif record.key_id == sealer.key_id:
            seal = sealer.fingerprint
            old, new = seal(step["old_text"]), seal(step["new_text"])
            if new != record.new_hash or old != (None if number in gone else record.old_hash):
                yield f"step {number} has other words than were sealed"
    if None not in gone and (missing := told.keys() - steps.keys()):
        yield f"steps {', '.join(map(str, sorted(missing)))} are missing"
    last = [steps[max(steps)]["revision"]] if steps else []
    if [one["revision"] for one in proof["memory"]] != last:
        yield "the memory is not what its last step made it"
