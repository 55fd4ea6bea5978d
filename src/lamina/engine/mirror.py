"""The audit beside the store: a line per record in the run's file, and the anchor outside the workspace."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lamina.engine.ledger import Ledger
from lamina.errors import Damaged, LaminaError
from lamina.model import quoted
from lamina.model.audit import AuditRecord, AuditReport, Finding
from lamina.storage.book import Properties
from lamina.storage.database import Database, Transaction
from lamina.storage.logs import AuditLog
from lamina.trace.chain import Sealer, audit_line, check_chain
from lamina.trace.keys import Anchor
from lamina.workspace.files import append_line, read_lines

_MARK = ',"mark":"'
_CHECKPOINT = 256  #: how many records may lie between two notes of how far the files have come


@dataclass(slots=True)
class _Seen:
    """What a check must remember of a chain of any length: numbers, not records."""

    count: int = 0
    by_run: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    def each(self, records: Iterable[AuditRecord]) -> Iterator[AuditRecord]:
        for record in records:
            self.count += 1
            self.by_run[record.run_id].add(record.seq)
            yield record


class Mirror:
    """Keeps the audit's files and anchor in step with the chain, and checks all three."""

    def __init__(self, root: Path | None, database: Database, sealer: Sealer, anchor: Anchor) -> None:
        self._root = root
        self._database = database
        self._sealer = sealer
        self._anchor = anchor
        self._newest = 0
        self._noted = 0

    def follow(self, ledgers: Iterable[Ledger]) -> None:
        """After a commit: its lines to the run's file, its end to the anchor.

        The store has the truth by now, so a full disk here fails no caller; `catch_up` mends it later.
        """
        for ledger in ledgers:
            if not ledger.lines:
                continue
            try:
                self._anchor.drop(*ledger.head)
                for run_id, line in ledger.lines:
                    self._write(run_id, line)
            except (LaminaError, OSError):
                continue
            self._newest = max(self._newest, ledger.head[0])
        if self._newest - self._noted >= _CHECKPOINT:
            self.note_progress()

    def catch_up(self, *, all_records: bool = False) -> int:
        """Write the lines that a crash kept from their files; returns how many."""
        if self._root is None:
            return 0

        def missing(transaction: Transaction) -> list[tuple[str, dict[str, Any]]]:
            done = 0 if all_records else int(Properties(transaction).get("mirrored_seq") or 0)
            self._newest = self._noted = done
            audit = AuditLog(transaction)
            by_run: dict[str, list[AuditRecord]] = defaultdict(list)
            for record in audit.after(done):
                by_run[record.run_id].append(record)
                self._newest = record.seq
            found = []
            for run_id, records in sorted(by_run.items()):
                present = {line.get("seq") for line, _ in self._lines(run_id)}
                found += [
                    (run_id, audit_line(record, *audit.values(record)))
                    for record in records
                    if record.seq not in present
                ]
            return found

        lines = self._database.read(missing)
        for run_id, line in lines:
            self._write(run_id, line)
        return len(lines)

    def note_progress(self) -> None:
        """Remember how far the files have come, so that the next start need not look further back."""
        newest = self._newest
        if newest > self._noted:
            self._database.write(lambda tx: Properties(tx).set("mirrored_seq", str(newest)))
            self._noted = newest

    def verify(self, complete: bool) -> AuditReport:
        """Check the chain, its anchor and its files; `complete` when every record must have its line."""

        def work(transaction: Transaction) -> AuditReport:
            seen = _Seen()
            findings = list(check_chain(seen.each(AuditLog(transaction).after(0)), self._sealer))
            findings += self._check_anchor(transaction, seen.count)
            if self._root is not None:
                findings += self._check_files(seen.by_run, complete)
            return AuditReport(records=seen.count, findings=tuple(findings))

        return self._database.read(work)

    def _check_anchor(self, transaction: Transaction, count: int) -> Iterator[Finding]:
        try:
            noted = self._anchor.read()
        except Damaged as error:
            yield Finding(what="edited", seq=None, detail=error.message)
            return
        if noted is None:
            if count:
                yield Finding(what="unverifiable", seq=None, detail="the anchor of this store is not here")
            return
        seq, digest = noted
        record = next(AuditLog(transaction).after(seq - 1, page=1), None)
        if record is None or record.seq != seq:
            yield Finding(
                what="truncated", seq=seq, detail=f"record {seq} was there and is gone, and all after it"
            )
        elif record.hash != digest:
            yield Finding(what="edited", seq=seq, detail="it is not the record that was there")

    def _check_files(self, expected: dict[str, set[int]], complete: bool) -> Iterator[Finding]:
        for run_id, numbers in sorted(expected.items()):
            name = _file(run_id)
            found: set[int] = set()
            for line, genuine in self._lines(run_id):
                seq = line.get("seq")
                if not isinstance(seq, int) or not genuine:
                    number = seq if isinstance(seq, int) else None
                    detail = f"a line of {name} is not as it was written"
                    yield Finding(what="mirror_edited", seq=number, detail=detail)
                    continue
                found.add(seq)
            for seq in sorted(numbers - found) if complete else ():
                yield Finding(what="mirror_missing", seq=seq, detail=f"its line is not in {name}")

    def _write(self, run_id: str, line: dict[str, Any]) -> None:
        if self._root is not None:
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
            sealed = f"{text[:-1]}{_MARK}{self._sealer.mark(text)}\"}}"
            append_line(self._root, _file(run_id), sealed.encode(), durable=False)

    def _lines(self, run_id: str) -> Iterator[tuple[dict[str, Any], bool]]:
        """The lines of a run's file, and whether each is byte for byte as we wrote it."""
        for raw in read_lines(self._root, _file(run_id)) if self._root is not None else ():
            if raw.strip():
                text = raw.decode(errors="replace")
                body, _, mark = text.rpartition(_MARK)
                try:
                    line = json.loads(text)
                except ValueError:
                    line = None
                genuine = mark == f'{self._sealer.mark(body + "}")}"}}'
                yield (line, genuine) if isinstance(line, dict) else ({}, False)


def _file(run_id: str) -> str:
    return f".lamina/runs/{quoted(run_id)}/memory_audit.jsonl"
