"""The audit beside the store: a line per record in the run's file, and the anchor outside the workspace."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lamina.audit.chain import Anchor, Note, Sealer, audit_line, check_chain, edited, foreign
from lamina.errors import Damaged, LaminaError
from lamina.model import AuditRecord, AuditReport, Finding, chain_of_number, quoted, unquoted
from lamina.records import dataclass
from lamina.storage.database import Database, Row, Transaction
from lamina.storage.ledger import LaneOrder, lane_of
from lamina.storage.logs import AuditLog
from lamina.storage.sealed_rows import SealedRows
from lamina.storage.small_tables import Properties
from lamina.workspace.files import (
    append_lines,
    end_overwriting,
    overwrite_lines,
    read_lines,
    read_tail,
    settle_lines,
)
from lamina.write.seals import (
    ADOPTED,
    ANEW,
    BEGUN,
    HEADS,
    SHORT,
    Counted,
    Told,
    check_seals,
    heads_told,
    proof_of,
)
from lamina.write.unit_of_work import UnitOfWork

_MARK = ',"mark":"'
_RUNS = ".lamina/runs"
#: What makes a line the one it is; inside a value the quotes would be escaped.
_NUMBER = re.compile(rb'"seq":[0-9]+,"hash":')
_CHECKPOINT = 4096  #: after so many lines of our own we look whether others left any out
_SLACK = 256  #: how many lines may stand out of order at the end of a file
_Line = tuple[str, dict[str, Any]]  #: the run, and what its file says of a record
#: The act of putting an anchor in the place of one that was lost, and what it says of the one that was.
RENEWED = "anchor_renewed"
_LOST = {"missing": "was not there", "empty": "was empty", "torn": "was torn"}


#: What an act says to whoever reads a report.
_ACTS = {
    ADOPTED: "on {day} another key took over after record {last}, with a new anchor;"
    " what key {reason} had sealed is not checked",
    RENEWED: "on {day} the anchor {why} and was made again after record {last};"
    " whether records had been cut off behind that one cannot be known",
    BEGUN: "on {day} the whole story came under the seal after record {last}, as it was found ({reason});"
    " what was changed in it before, beside the records themselves and the words, cannot be known",
    ANEW: "on {day} everything was sealed again after record {last}, as it was found, at its owner's word;"
    " what was changed in it before cannot be known",
}


@dataclass(slots=True)
class _Seen:
    """What a check must remember of a chain of any length: numbers, not records."""

    count: int = 0
    last: dict[int, int] = field(default_factory=dict)  #: by chain
    by_run: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    #: By number what was sealed with another key, and so cannot be checked.
    foreign: dict[int, AuditRecord] = field(default_factory=dict)
    acts: list[AuditRecord] = field(default_factory=list)  #: those that say how far the rest can be trusted
    counted: Counted | None = None  #: what the records add up to
    tied: dict[int, str] = field(default_factory=dict)  #: by number, how the newest of each chain is sealed

    def each(self, records: Iterable[AuditRecord], sealer: Sealer) -> Iterator[AuditRecord]:
        for record in records:
            self.count += 1
            self.last[chain_of_number(record.seq)] = record.seq
            self.by_run[record.run_id].add(record.seq)
            if record.key_id != sealer.key_id:
                self.foreign[record.seq] = record
            elif record.op in (*_ACTS, HEADS) and sealer.intact(record):
                self.acts.append(record)
            if record.op == HEADS and record.key_id == sealer.key_id:
                self.tied = dict(heads_told(record).values())
            elif self.tied.get(record.seq) == record.hash[:SHORT]:
                del self.tied[record.seq]  # the store's own chain, where they stand, comes first
            if self.counted is not None:
                self.counted.record(record)
            yield record

    def faults(self, records: Iterable[AuditRecord], sealer: Sealer) -> list[Finding]:
        """Everything wrong inside the chain, but for seals of a key that its owner went on without, later."""
        found = list(check_chain(self.each(records, sealer), sealer))
        for seq in sorted(self.tied):
            detail = "it was there when the ends of all chains were sealed, and is not as it was"
            found.append(Finding(what="removed", seq=seq, detail=detail))
        return [
            one
            for one in found
            if one.what != "unverifiable" or not self.left_behind(self.foreign[one.seq or 0])
        ]

    def stands(self, line: Mapping[str, Any], is_genuine: bool, missing: set[int]) -> bool:
        """Whether a line of a run's file is one of those that are still missing, or newer than the check."""
        seq = line.get("seq")
        if not isinstance(seq, int):
            return False
        if is_genuine and seq > self.last.get(chain_of_number(seq), 0):
            return True
        return (is_genuine or seq in self.foreign) and seq in missing  # another key's cannot be checked

    def left_behind(self, record: AuditRecord) -> bool:
        """Whether the store went on without the key of a record after it was made."""
        chain = chain_of_number(record.seq)
        for number, one in enumerate(self.acts, 1):
            if one.op == ADOPTED and one.reason == record.key_id:
                ends = [heads_told(after) for after in self.acts[number : number + 1] if after.op == HEADS]
                if record.seq <= (ends[0].get(chain, (0, ""))[0] if chain and ends else one.seq):
                    return True
        return False

    def notes(self) -> Iterator[Finding]:
        """What these acts say, in words."""
        for one in self.acts:
            if one.op == HEADS:
                continue
            own = " of the store's own chain" if max(self.last, default=0) else ""
            last, day = f"{one.seq - 1}{own}", f"{one.at:%Y-%m-%d}"
            why = _LOST.get(one.reason, one.reason)
            detail = _ACTS[one.op].format(day=day, last=last, reason=one.reason, why=why)
            yield Finding(what=one.op, seq=one.seq, detail=detail)


class _Ends:
    """Which words may be missing, by the sealed records that say so; only a later record counts."""

    def __init__(self, records: Iterable[Row]) -> None:
        self._whole: dict[str, int] = {}
        self._steps: dict[tuple[str, int], int] = {}
        self._begun: list[tuple[str, int]] = []
        for seq, op, memory_id, number in records:
            if op == "erase":
                self._begun.append((memory_id, seq))
            elif number is None:
                self._whole[memory_id] = seq
            else:
                self._steps[memory_id, number] = seq

    def missing(self, seq: int, memory_id: str, number: int | None) -> str:
        """`all` or `old` where a step of a memory must have lost those words; else nothing."""
        if self._whole.get(memory_id, 0) > seq:
            return "all"
        if any(end > seq and memory_id.startswith(start) for start, end in self._begun):
            return "all"
        return "old" if number is not None and self._steps.get((memory_id, number), 0) > seq else ""


class Mirror:
    """Keeps the audit's files and anchor in step with the chain, and checks all three."""

    def __init__(self, root: Path | None, database: Database, sealer: Sealer, anchor: Anchor) -> None:
        self._root = root
        self._database = database
        self._sealer = sealer
        self._anchor = anchor
        self._anchored: dict[int, bool] = {}  #: by chain, whether it is the one that its anchor knows
        self._since = 0

    def follow(self, units: Iterable[UnitOfWork]) -> None:
        """After a commit: its lines to the run's file, its end to the anchor.

        The store has the truth by now, so a full disk here fails no caller; `catch_up` mends it later.
        """
        written = [unit for unit in units if unit.lines]
        lines = [line for unit in written for line in unit.lines]
        if lines:
            with suppress(LaminaError, OSError):
                heads = {chain: head for unit in written for chain, head in unit.heads.items()}
                for chain, head in heads.items():
                    if head.hash and self._follows_anchor(chain):
                        self._anchor.drop(head.seq, head.hash, len(lines))
                self._write(lines)
                self._since += len(lines)
        if self._since >= _CHECKPOINT:
            self.catch_up()

    def _follows_anchor(self, chain: int) -> bool:
        """Whether an anchor may move on; from a chain that is not its own it stays, as the evidence."""
        if chain not in self._anchored:
            noted = self._read_anchor(chain)
            self._anchored[chain] = not self._database.read(
                lambda tx: list(self._check_anchor(tx, chain, noted))
            )
        return self._anchored[chain]

    def settle(self) -> None:
        """Wait until the disk has what the anchor says."""
        with suppress(OSError):  # the store has the truth
            self._anchor.settle()

    def why_lost(self) -> str:
        """Why the anchor has to be made anew, if it has to, and may be; see `Anchor.lost`.

        A power cut can leave none. Whoever cut the chain's end off could wish for none, too: as long as
        anything else tells of more than the chain does, it is not made anew, and every check says so.
        """
        try:
            why = self._anchor.lost()
        except Damaged:
            return ""  # nothing that a crash leaves
        if not why:
            return ""
        found = self._database.read(self._suspicions(self._farthest_line()))
        self._anchored[0] = not found  # what was not made anew stays away, as the evidence
        return "" if found else why

    def _suspicions(self, farthest: Mapping[int, int]) -> Callable[[Transaction], list[Finding]]:
        """What speaks against chains that have no anchor; `farthest` was read before."""

        def work(transaction: Transaction) -> list[Finding]:
            audit, seen = AuditLog(transaction), _Seen()
            found = seen.faults(audit.after(-(2**62)), self._sealer)
            for chain, seq in farthest.items():
                if seq > (last := seen.last.get(chain, 0)):
                    detail = f"a file tells of record {seq}, and the chain ends with {last}"
                    found.append(Finding(what="truncated", seq=seq, detail=detail))
            if (memory_id := audit.untold()) is not None:
                detail = f"no record tells of a step in the history of {memory_id}"
                found.append(Finding(what="truncated", seq=None, detail=detail))
            return found

        return work

    def _farthest_line(self) -> dict[int, int]:
        """By chain the highest number in the runs' files; its record was there before its line."""
        lines = (line for run_id in self._runs() for line, ours in self._lines(run_id, _SLACK) if ours)
        numbers = sorted(int(line["seq"]) for line in lines)
        return {chain_of_number(seq): seq for seq in numbers}

    def _runs(self) -> list[str]:
        """The runs that have a folder, whoever made it."""
        folder = None if self._root is None else self._root / _RUNS
        return sorted(unquoted(one.name) for one in folder.iterdir()) if folder and folder.is_dir() else []

    def tell_renewal(self, unit: UnitOfWork, why: str) -> None:
        """Before an anchor is made anew: a record that it is, unless another process was faster."""
        newest = AuditLog(unit.transaction).newest_record()
        if why and newest is not None and newest.op != RENEWED:
            unit.record_act(RENEWED, "audit", why)

    def renew_anchor(self, unit: UnitOfWork) -> None:
        """After the record: an anchor at the end of the chain; before the first record, one that says so."""
        with suppress(LaminaError, OSError):  # as in `follow`
            acts = {line["op"] for _, line in unit.lines}
            heads = self._database.read(lambda tx: AuditLog(tx).heads())
            notes = [(seq, digest) for seq, digest, _ in heads.values()]
            if acts & {RENEWED, ADOPTED}:
                self._anchor.renew(notes)
                self._anchored = dict.fromkeys(range(self._order.chains + 1), True)
            elif unit.lines:
                if self._follows_anchor(0):
                    self._anchor.drop(*heads[0][:2])
            elif self._anchored.get(0):  # a new store, or a process that died after its record
                self._anchor.begin(notes)

    def catch_up(self, *, all_records: bool = False) -> int:
        """Write the lines that a crash, here or in another process, kept from their files.

        Returns how many. What is found complete is noted, so that the next time need not look further back.
        """
        self._since = 0
        if self._root is None:
            return 0
        end_overwriting(self._root)
        newest, lines, runs, torn = self._database.read(lambda tx: self._missing(tx, all_records))
        for run_id in torn:
            overwrite_lines(self._root, _file(run_id), _without_holes)
        self._write(lines)
        for run_id in runs:  # or a power cut would take what is noted as complete
            settle_lines(self._root, _file(run_id))
        if newest:
            self._database.write(lambda tx: Properties(tx).put(newest))
        return len(lines)

    def mend(self) -> int:
        """Write anew every line of the runs' files that is not as it was written; returns how many there are.

        Only for a chain in which nothing was found: what is put in their place is what it says.
        """
        if self._root is None:
            return 0
        seen = _Seen()
        self._database.read(lambda tx: seen.faults(AuditLog(tx).after(-(2**62)), self._sealer))
        for run_id in {*seen.by_run, *self._runs()}:
            overwrite_lines(self._root, _file(run_id), self._without_others(run_id, seen))
        return self.catch_up(all_records=True)

    def _without_others(self, run_id: str, seen: _Seen) -> Callable[[bytes], bytes]:
        """Blanks for each line of a run's file that is not as it was written, or stands there again."""
        missing = set(seen.by_run.get(run_id, ()))

        def changed(raw: bytes) -> bytes:
            line, is_genuine = self._read_line(raw)
            if not seen.stands(line, is_genuine, missing):
                return b" " * len(raw)
            missing.discard(line["seq"])
            return raw

        return changed

    def _missing(
        self, transaction: Transaction, everything: bool
    ) -> tuple[dict[str, str], list[_Line], list[str], list[str]]:
        """The newest records not looked at before, every line that is not in its file, and whose runs.

        And the runs whose files have lines that cannot be read.
        """
        audit = AuditLog(transaction)
        by_run: dict[str, list[AuditRecord]] = defaultdict(list)
        newest: dict[str, str] = {}
        for chain in audit.heads():
            done = 0 if everything else _mirrored(transaction, chain)
            for record in audit.behind(done, chain):
                by_run[record.run_id].append(record)
                newest[_mirrored_name(chain)] = str(record.seq)
        missing, torn = [], []
        for run_id, records in sorted(by_run.items()):
            present = {line.get("seq") for line, _ in self._lines(run_id, len(records) + _SLACK)}
            torn += [run_id] if None in present else []
            missing += [
                (run_id, audit_line(record, *audit.values(record)))
                for record in records
                if record.seq not in present
            ]
        return newest, missing, sorted(by_run), torn

    def verify_lane(self, lane: str, told: Told | None = None) -> AuditReport:
        """Check the records, memories and steps of one lane alone; the cost follows what is in it."""
        chain = self._order.chain(lane)
        noted = {one: self._read_anchor(one) for one in sorted({0, chain})}

        def work(transaction: Transaction) -> AuditReport:
            rows, seen = SealedRows(transaction, lane), _Seen(counted=Counted(transaction, told))
            located, ended = set[tuple[str, str]](), list[Row]()
            acts = _Seen()
            list(acts.each(rows.acts(), self._sealer))
            findings = [each for one in noted for each in self._check_anchor(transaction, one, noted[one])]
            for record in seen.each(rows.records(), self._sealer):
                if record.op in ("purge", "erase"):
                    ended.append((record.seq, record.op, record.memory_id, record.number))
                if record.key_id != self._sealer.key_id:
                    if not acts.left_behind(record):
                        findings.append(foreign(record))
                elif not self._sealer.intact(record):
                    findings.append(edited(record))
            findings += self._check_words(rows.words(), _Ends(sorted(ended)), seen, located)
            findings += self._check_story(seen, rows, located, lane)
            return AuditReport(records=seen.count, findings=tuple(findings), notes=tuple(acts.notes()))

        return self._database.read(work)

    def prove(self, memory_id: str, now: datetime, told: Told | None = None) -> AuditReport:
        """Check the lane that a memory is in; where nothing is found, a proof of its story comes along."""
        proof = self._database.read(lambda tx: proof_of(tx, self._sealer, memory_id, now))
        report = self.verify_lane(lane_of(memory_id), told)
        return report if report.findings else replace(report, proof=proof)

    def _check_story(
        self, seen: _Seen, rows: SealedRows, located: set[tuple[str, str]], lane: str | None = None
    ) -> Iterator[Finding]:
        """What else the store says must be what was sealed, all of it and nothing more."""
        if seen.counted is not None:
            seen.counted.rows(rows)
            yield from check_seals(seen.counted, self._sealer, located, lane)

    def verify(self, complete: bool, told: Told | None = None) -> AuditReport:
        """Check the chain, its anchor, its files and everything that it tells of.

        `complete` when every record must have its line.
        """
        # Both before the snapshot, or they could be ahead of it: others go on writing.
        noted = {chain: self._read_anchor(chain) for chain in range(self._order.chains + 1)}
        farthest = self._farthest_line() if noted[0] is None else {}
        damaged = [
            Finding(what="damaged", seq=None, detail=f"{row} cannot be read")
            for row in self._database.damaged()
        ]

        def work(transaction: Transaction) -> AuditReport:
            seen, located = _Seen(counted=Counted(transaction, told)), set[tuple[str, str]]()
            findings = seen.faults(AuditLog(transaction).after(-(2**62)), self._sealer)
            for chain in noted:
                findings += self._check_anchor(transaction, chain, noted[chain], farthest)
            ends = _Ends(AuditLog(transaction).ends())
            findings += self._check_words(AuditLog(transaction).words(), ends, seen, located)
            findings += _unfounded(transaction, located)
            findings += self._check_story(seen, SealedRows(transaction), located)
            if self._root is not None:
                # A line beyond this may still be on its way from the process that made the record.
                mirrored = {chain: _mirrored(transaction, chain) for chain in seen.last} if complete else {}
                findings += self._check_files(seen, mirrored)
            return AuditReport(records=seen.count, findings=(*findings, *damaged), notes=tuple(seen.notes()))

        return self._database.read(work)

    def _check_words(
        self, words: Iterable[Row], ends: _Ends, seen: _Seen, located: set[tuple[str, str]]
    ) -> Iterator[Finding]:
        """What the history says must be what was sealed."""
        seal = self._sealer.fingerprint
        for seq, memory_id, number, old_hash, new_hash, old, new in words:
            if seq in seen.foreign:
                continue  # nothing of it can be checked, which is said already
            if missing := ends.missing(seq, memory_id, number):
                old_hash, new_hash = None, None if missing == "all" else new_hash
            if (seal(old), seal(new)) != (old_hash, new_hash):
                located.add((lane_of(memory_id), "history"))
                yield Finding(what="edited", seq=seq, detail="the history has other words than were sealed")

    @property
    def _order(self) -> LaneOrder:
        return LaneOrder(self._database.chains)

    def _read_anchor(self, chain: int) -> Note | Finding | None:
        try:
            return self._anchor.read(chain)
        except Damaged as error:
            return Finding(what="edited", seq=None, detail=str(error))

    def _check_anchor(
        self,
        transaction: Transaction,
        chain: int,
        noted: Note | Finding | None,
        farthest: Mapping[int, int] = MappingProxyType({}),
    ) -> Iterator[Finding]:
        if isinstance(noted, Finding):
            yield noted
            return
        if noted is None and chain:
            return  # this machine may never have written to it
        if noted is None:
            found = [one for one in self._suspicions(farthest)(transaction) if one.what == "truncated"]
            detail = f"the anchor of this store {_LOST[self._anchor.lost() or 'missing']}"
            after = "it is not made again" if found else "the next start makes it again, and records that"
            yield Finding(what="unverifiable", seq=None, detail=f"{detail}; {after}")
            yield from found
            return
        seq, digest = noted
        if seq == 0:
            return  # it was made before the first record
        record = next(AuditLog(transaction).after(seq - 1, page=1), None)
        if record is None or record.seq != seq:
            yield Finding(
                what="truncated", seq=seq, detail=f"record {seq} was there and is gone, and all after it"
            )
        elif record.hash != digest:
            yield Finding(what="edited", seq=seq, detail="it is not the record that was there")

    def _check_files(self, seen: _Seen, mirrored: Mapping[int, int]) -> Iterator[Finding]:
        for run_id in sorted({*seen.by_run, *self._runs()}):  # of a run that never was, no line is ours
            name, missing = _file(run_id), set(seen.by_run.get(run_id, ()))
            for line, is_genuine in self._lines(run_id):
                seq = line.get("seq")
                if seen.stands(line, is_genuine, missing):
                    missing.discard(line["seq"])
                    continue
                number = seq if isinstance(seq, int) else None
                detail = f"a line of {name} is not as it was written"
                yield Finding(what="mirror_edited", seq=number, detail=detail)
            for seq in sorted(one for one in missing if one <= mirrored.get(chain_of_number(one), 0)):
                yield Finding(what="mirror_missing", seq=seq, detail=f"its line is not in {name}")

    def scrub(self, run_id: str, gone: Mapping[int, str], *, dry: bool = False) -> list[int]:
        """Take words out of lines of a run's file, by their numbers: the `old` ones, or `all`.

        They are overwritten where they stand. Returns the numbers of the lines that had any; with `dry`
        nothing is changed.
        """
        touched: list[int] = []

        def without(raw: bytes) -> bytes:
            number = _NUMBER.search(raw)
            seq = int(number[0][6:-8]) if number else 0
            if seq not in gone:
                return raw
            try:
                line = json.loads(raw)
            except ValueError:
                return raw  # not as we wrote it; `verify` says so
            rest = {"new": None, "reason": ""} if gone[seq] == "all" else {}
            if {**line, "old": None, **rest} == line:
                return raw
            touched.append(seq)
            return self._padded({**line, "old": None, **rest}, raw)

        if self._root is not None:
            overwrite_lines(self._root, _file(run_id), without, dry=dry)
        return touched

    def _padded(self, line: dict[str, Any], raw: bytes) -> bytes:
        """A line sealed anew, as long as it was: blanks between the last value and the seal."""
        del line["mark"]
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))[:-1]
        room = len(raw) - len(text.encode()) - len(f'{_MARK}{self._sealer.mark("")}"}}')
        if room < 0 and line["reason"]:  # a word of one letter is shorter than `null`
            return self._padded({**line, "reason": "", "mark": ""}, raw)
        text += " " * room
        return f'{text}{_MARK}{self._sealer.mark(text + "}")}"}}'.encode()

    def _write(self, lines: Iterable[_Line]) -> None:
        if self._root is None:
            return
        by_run: dict[str, list[bytes]] = defaultdict(list)
        for run_id, line in lines:
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
            by_run[run_id].append(f'{text[:-1]}{_MARK}{self._sealer.mark(text)}"}}'.encode())
        for run_id, sealed in by_run.items():
            append_lines(self._root, _file(run_id), sealed, durable=False, once=_NUMBER)

    def _lines(self, run_id: str, last: int | None = None) -> Iterator[tuple[dict[str, Any], bool]]:
        """The lines of a run's file, all or the last, and whether each is byte for byte as we wrote it."""
        if self._root is None:
            return
        name = _file(run_id)
        for raw in read_lines(self._root, name) if last is None else read_tail(self._root, name, last):
            if raw.strip():
                yield self._read_line(raw)

    def _read_line(self, raw: bytes) -> tuple[dict[str, Any], bool]:
        """What a line says, and whether it is byte for byte as we wrote it."""
        text = raw.decode(errors="replace")
        body, _, mark = text.rpartition(_MARK)
        try:
            line = json.loads(text)
        except ValueError:
            line = None
        genuine = mark == f'{self._sealer.mark(body + "}")}"}}'
        return (line, genuine) if isinstance(line, dict) else ({}, False)


def _unfounded(transaction: Transaction, located: set[tuple[str, str]]) -> Iterator[Finding]:
    """Memories that say something else than was recorded of them, or were never recorded."""
    for memory_id in AuditLog(transaction).unfounded():
        located.add((lane_of(memory_id), "memory"))
        detail = f"{memory_id} does not say what was recorded of it"
        yield Finding(what="edited", seq=None, detail=detail)


def _without_holes(line: bytes) -> bytes:
    """Blanks for a line that a power cut left a hole in; its records are written once more.

    No line of ours has a zero byte.
    """
    return b" " * len(line) if b"\0" in line else line


def _mirrored_name(chain: int) -> str:
    return f"mirrored_seq:{chain}" if chain else "mirrored_seq"


def _mirrored(transaction: Transaction, chain: int) -> int:
    """Up to which record of a chain every line is known to be in its file."""
    return Properties(transaction).number(_mirrored_name(chain))


def _file(run_id: str) -> str:
    return f"{_RUNS}/{quoted(run_id)}/memory_audit.jsonl"
