"""An export brought in again: checked against its manifest first, once, under the gates.

Nothing in the files says who speaks or how much that weighs: what an agent, a tool or a document once said
comes in with that weight at most, and everything else with the caller's own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from lamina.errors import InvalidInput, LaminaError, NotFound
from lamina.imports.detect import PathName
from lamina.imports.lives import Lives, is_empty, put_link, reopen
from lamina.language.secrets.privacy import find_secrets
from lamina.layers.relations import Relations
from lamina.lifecycle.export import FORMAT, HISTORY, MANIFEST, MEMORIES, RELATIONS, SESSIONS, VERSION
from lamina.lifecycle.purge import check_owner
from lamina.model import (
    Admit,
    Decision,
    Deny,
    Draft,
    HistoryEntry,
    HistoryOp,
    Hold,
    Memory,
    Outcome,
    Provenance,
    Role,
    State,
    Trust,
    canonical,
    contract_kind,
    from_plain,
    quoted,
)
from lamina.policy.consent import Care
from lamina.records import dataclass
from lamina.storage.logs import AuditLog, next_number, raise_number
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.storage.small_tables import Imports
from lamina.text.ttl import parse_time
from lamina.workspace.files import explained
from lamina.write.commit import identity_of
from lamina.write.details import draft_of, whole_number
from lamina.write.noes import kept_out, refuse
from lamina.write.request import Request, Verb, cause_of
from lamina.write.store import Caller
from lamina.write.unit_of_work import OpenShelf, UnitOfWork

_BATCH = 250
_LONGEST = 16 * 1024 * 1024  #: of a line or of a manifest
_MOST = 100  #: differences that are told
_ID = re.compile(r"(session|user):([\w.@~-]+)(?:,([\w.@~-]+))?:([a-z_]{1,20}):([1-9][0-9]{0,17})", re.ASCII)
_PLACES = ("turn:", "summary:", "heard:", "item:", "episode:", "procedure:")
_TIMES = (
    "created_at",
    "updated_at",
    "valid_from",
    "valid_until",
    "expires_at",
    "purge_at",
    "last_accessed_at",
)
#: What the gates are told of a memory.
_JUDGED = (
    "text",
    "key",
    "kind",
    "space",
    "layer",
    "category",
    "tags",
    "importance",
    "priority",
    "confidence",
    "pinned",
)
_STANDING = (State.ACTIVE, State.PENDING)  #: in which a memory is in answers, or asks to be
_WEIGHT = {Role.AGENT: Role.AGENT, Role.TOOL: Role.DOCUMENT, Role.DOCUMENT: Role.DOCUMENT}

Progress = Callable[[int, int], None]


@dataclass(slots=True, kw_only=True)
class Arrived:
    """What bringing an export in came to."""

    read: int = 0
    new: int = 0
    known: int = 0
    held: int = 0  #: what waits for the person's word
    refused: Counter[str] = field(default_factory=Counter)  #: by code
    differences: list[str] = field(default_factory=list)  #: what is otherwise here, the first hundred
    restored: int = 0  #: of those that are new, what is as it was, with its whole life
    places: dict[str, str] = field(default_factory=dict)  #: the ids of an export to those here

    def differs(self, what: str) -> None:
        self.refused["differs"] += 1
        if len(self.differences) < _MOST:
            self.differences.append(what)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Coming:
    """A memory on its way in."""

    old_id: str
    series: str  #: the part of the id before its number
    number: int
    draft: Draft
    place: str
    state: State
    times: Mapping[str, datetime | None]
    value: Mapping[str, Any]  #: as the file has it
    whole: Memory | None = None  #: as it was, where it is restored and not only brought in
    steps: tuple[HistoryEntry, ...] = ()  #: its life then

    @property
    def keyed(self) -> bool:
        """Whether it is a value in force, which may have to stand in a file."""
        return self.state is State.ACTIVE and self.place.startswith("key:")

    @property
    def said_no(self) -> str:
        """Why its person wants none of it; empty where they did not say so."""
        if self.state is not State.SOFT_DELETED:
            return ""
        if self.series == "pending":
            return "rejected"
        last = [one.decision for one in self.steps[-1:] if one.actor.startswith("user:")]
        forgotten = [one for one in last if one.get("code") == "forgotten" and "with" not in one]
        return cause_of(forgotten[0].get("reason")) if forgotten else ""

    @property
    def own_id(self) -> str:
        """The id it has on the caller's shelf where that was free."""
        return f"{self.draft.scope.shelf(self.draft.space)}:{self.series}:{self.number}"

    @property
    def mark(self) -> str:
        told = f"{FORMAT}\0{self.old_id}\0{self.value.get('revision')}\0{self.draft.text}"
        return hashlib.sha256(told.encode()).hexdigest()[:40]


def sorted_out(paths: Iterable[PathName], wanted: str) -> tuple[list[PathName], list[PathName]]:
    """Those of the paths that are exports of ours, or were called that, and the others."""
    own, others = list[PathName](), list[PathName]()
    for path in paths:
        ours = wanted == "lamina" or (wanted == "auto" and _is_export(Path(path).expanduser()))
        (own if ours else others).append(path)
    return own, others


def _is_export(folder: Path) -> bool:
    """Whether a folder says of itself that it is one of our exports."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            return f'"{FORMAT}"'.encode() in file.read(1 << 20)
    except OSError:
        return False


def checked(folder: Path) -> dict[str, Any]:
    """The manifest of an export whose every file is byte for byte as it was written; else InvalidInput."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes()[:_LONGEST])
        files = manifest["files"]
        if manifest["format"] != FORMAT or manifest["version"] != VERSION or MEMORIES not in files:
            raise ValueError
    except FileNotFoundError:
        raise _damaged(f"{MANIFEST} is missing: this is not an export, or one that was cut off.") from None
    except OSError as error:
        raise explained(str(folder), error) from error
    except (ValueError, KeyError, TypeError):
        raise _damaged(f"{MANIFEST} is not one that this version can read.") from None
    for name, told in sorted(files.items()):
        if "/" in name or name in (".", "..") or not isinstance(told, dict):
            raise _damaged(f"{MANIFEST} names a file that no export has.")
        digest = hashlib.sha256()
        try:
            with (folder / name).open("rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        except OSError:
            raise _damaged(f"{name} is missing or cannot be read.") from None
        if digest.hexdigest() != told.get("sha256"):
            raise _damaged(f"{name} is not as it was exported.")
    return dict(manifest)


def _damaged(what: str) -> InvalidInput:
    return InvalidInput(what, code="export_damaged", hint="Nothing was brought in. Use a whole copy of it.")


def bring_in(
    caller: Caller,
    where: PathName,
    progress: Progress | None = None,
    *,
    dry_run: bool = False,
    since: datetime | None = None,
    bring_back: bool = False,
) -> Arrived:
    """Bring in the memories of an export as the caller's own, in whatever state they are.

    A person's own export, brought in where nothing of theirs is yet, restores it: ids, times, revisions, who
    said it and the whole life, as far as the file gives nothing more weight than it has here. Anything else
    is marked with where it came from.

    Where an id is free it stays; what came in before does not come in again, and what is here already with
    other words stays as it is here. What its person said no to here is left out and counted, unless they say
    `bring_back`. Only a person or an administrator may. Raises InvalidInput
    (`export_damaged`) where a byte is not as it was exported; then nothing happened.
    """
    check_owner(caller)
    told = checked(folder := Path(where).expanduser())
    caller.store.sync()
    report, size = Arrived(), (folder / MEMORIES).stat().st_size
    with ExitStack() as open_files:
        file = open_files.enter_context((folder / MEMORIES).open("rb"))
        lives, in_files, refused = None, caller.store.root is not None, list[_Coming]()
        exact = told.get("user") == caller.scope.user and is_empty(caller)
        if told.get("user") == caller.scope.user and HISTORY in told["files"]:
            lives = Lives(open_files.enter_context((folder / HISTORY).open("rb")))
        while lines := list(islice(file, _BATCH)):
            items = [one for line in lines if (one := _parsed(caller, line, report, bring_back)) is not None]
            items = items if lives is None else [_with_steps(one, lives) for one in items]
            items = [_with_life(one, in_files) for one in items] if exact else items
            report.read += len(items)
            late = [one for one in items if since is None or (one.times["created_at"] or since) >= since]
            report.refused.update({"before": len(items) - len(late)} if len(items) > len(late) else {})
            _batch(caller, late, report, dry_run)
            refused += [one for one in late if one.said_no]
            if progress is not None:
                progress(min(file.tell(), size), size)
    if not dry_run and refused:
        caller.store.act(caller.scope, lambda unit: _refused(unit, refused, report))
    if not dry_run and RELATIONS in told["files"]:
        _link(caller, folder / RELATIONS, report, exact=exact)
    if not dry_run and exact and SESSIONS in told["files"]:
        reopen(caller, folder / SESSIONS)
    return report


def _with_steps(one: _Coming, lives: Lives) -> _Coming:
    """A memory with the steps of its life, where they can be used."""
    try:
        return replace(one, steps=lives.of(one.old_id))
    except (InvalidInput, ValueError, KeyError, TypeError, AttributeError):
        return one


def _with_life(one: _Coming, in_files: bool) -> _Coming:
    """A memory as it was, with its life, where that says what the gates were told and weighs no more.

    A value in force is written to its file like one that is said, where there are files (`in_files`).
    """
    try:
        value = {name: told for name, told in one.value.items() if name not in ("place", "decay_score")}
        whole: Memory = from_plain(Memory, value)
    except (InvalidInput, ValueError, KeyError, TypeError, AttributeError):
        return one
    draft, scope = one.draft, one.draft.scope
    told = [(getattr(draft, name), getattr(whole, name)) for name in _JUDGED]
    told += [(scope.authority, whole.authority), (scope.trust, whole.provenance.trust)]
    told += [(one.own_id, whole.id), (scope.shelf(draft.space), whole.shelf)]
    same = all(mine == theirs for mine, theirs in told) and 0 < whole.tick < 2**53 and whole.revision > 0
    if (
        (one.keyed and in_files)
        or not one.steps
        or not same
        or find_secrets(canonical(one.value.get("provenance")))
    ):
        return one
    return replace(one, whole=whole)


def _link(caller: Caller, file: Path, report: Arrived, *, exact: bool) -> None:
    """The links that somebody made, between memories that are here; found ones are found anew. With `exact`
    they are as they were, and what was said about them is in the lives of their memories."""
    links = Relations(caller)
    with file.open("rb") as lines:
        for line in lines:
            try:
                edge = json.loads(line)
                first, last = (report.places.get(edge[name]) for name in ("from_id", "to_id"))
                if edge["explicit"] is not True or first is None or last is None:
                    continue
                if exact and (first, last) == (edge["from_id"], edge["to_id"]):
                    put_link(caller, edge)
                    continue
                known = {(one.from_id, one.to_id, one.type, one.explicit) for one in links.of(first).edges}
                if (first, last, edge["type"], True) not in known:
                    links.link(first, last, edge["type"], edge["strength"])
            except NotFound:  # it is here, and put aside
                continue
            except LaminaError as error:
                report.refused[error.code] += 1
            except (ValueError, KeyError, TypeError):
                report.refused["bad_line"] += 1


def _batch(caller: Caller, items: list[_Coming], report: Arrived, dry_run: bool) -> None:
    store, user = caller.store, caller.scope.user
    known = store.database.read(lambda tx: Imports(tx, user).known([one.mark for one in items]))
    report.known += sum(one.mark in known for one in items)
    again = {one.own_id: one for one in items if one.mark in known}
    for name, memory in store.database.read(lambda tx: Memories(tx).load(sorted(again))).items():
        if memory.text == again[name].draft.text:
            report.places[again[name].old_id] = name
    fresh: list[_Coming] = []
    waiting = 0
    for one in items:
        decision = None if one.mark in known else _judged(caller, one)
        if isinstance(decision, Deny):
            report.refused[decision.code] += 1
        elif decision is not None:
            fresh.append(replace(one, whole=None) if isinstance(decision, Hold) else one)
            waiting += one.keyed and isinstance(decision, Hold)
    if dry_run:
        report.held += waiting
        report.new += len(fresh) - waiting
        return
    done: list[str] = []
    rows = [one for one in fresh if not one.keyed or one.whole]
    if rows:
        store.act(caller.scope, lambda unit: done.extend(_placed(unit, rows, report)))
    values = [one for one in fresh if one.keyed and not one.whole]
    done += [one.mark for one in values if _set(caller, one, report)]
    store.database.write(lambda tx: Imports(tx, user).add(done))


def judged(caller: Caller, draft: Draft) -> Decision:
    """What the gates say of something that is imported.

    Whoever brings in what their own agents knew has said yes to it, as those agents' word; what is sensitive
    waits as ever, and so does everything that an agent brings.
    """
    decision, fields = caller.store.judge(draft), caller.store.ruleset.fields
    if isinstance(decision, Hold) and caller.scope.role is not Role.AGENT:
        return decision if fields.care(draft.key) is Care.SENSITIVE else Admit(decision.passed)
    return decision


def _judged(caller: Caller, one: _Coming) -> Decision:
    """The same, and the person's own no to it: an old file does not bring that back."""
    store, draft = caller.store, one.draft
    decision = judged(caller, draft)
    if isinstance(decision, Deny) or one.state not in _STANDING:
        return decision
    now = store.now()
    found = store.database.read(lambda tx: kept_out(UnitOfWork(tx, store.ruleset, draft.scope, now), draft))
    return found or decision


def _set(caller: Caller, one: _Coming, report: Arrived) -> bool:
    """A value for a key, where none is in force; it goes into its file like one that is said."""
    store, draft = caller.store, one.draft
    shelf = draft.scope.shelf(draft.space) or ""
    found = store.database.read(
        lambda tx: Memories(tx).active(known[0], one.place) if (known := TextIndex(tx).shelf(shelf)) else None
    )
    if found is not None:
        if found.text == draft.text:
            report.known += 1
            report.places[one.old_id] = found.id
            return True
        report.differs(f"{one.old_id}: {found.id} has another value for {draft.key}")
        return False
    if draft.scope.role is Role.AGENT:
        draft = replace(draft, place=one.place)  # a file has what its person said or agreed to
    decision = judged(caller, draft)
    request = Request(verb=Verb.REMEMBER, scope=draft.scope, at=store.now(), draft=draft, decision=decision)
    receipt = store.carry_out(request)
    report.new += receipt.decision is Outcome.ADMITTED
    report.held += receipt.decision is Outcome.HELD
    report.refused.update([receipt.code] if receipt.decision is Outcome.DENIED else [])
    report.places.update({one.old_id: receipt.ids[0]} if receipt.ids else {})
    return receipt.decision is not Outcome.DENIED


def _placed(unit: UnitOfWork, items: list[_Coming], report: Arrived) -> Iterator[str]:
    """Put memories on their shelves as they were; yields the marks of those that are there now."""
    gone = _Gone(AuditLog(unit.transaction).ends())
    for one in items:
        draft = one.draft
        unit.scope = draft.scope
        shelf = unit.shelf(draft.scope.shelf(draft.space) or "")
        standing = unit.memories.active(shelf.number, one.place) if one.state is State.ACTIVE else None
        if standing is not None and (standing.text, standing.key) != (draft.text, draft.key):
            report.differs(f"{one.old_id}: {standing.id} stands in its place with other words")
            continue
        if standing is not None:
            report.known += 1
            report.places[one.old_id] = standing.id
            yield one.mark
            continue
        if one.state in _STANDING and (objection := kept_out(unit, draft)) is not None:
            report.refused[objection.code] += 1  # they said no to it since this batch was looked at
            continue
        if one.whole and one.old_id not in gone and unit.memories.get(one.old_id) is None:
            _restored(unit, one, one.whole, shelf)
            report.new += 1
            report.restored += 1
            report.places[one.old_id] = one.old_id
            yield one.mark
            continue
        memory = _memory(unit, one, shelf.name, gone)
        slot = unit.index(shelf.number, memory) if one.state is State.ACTIVE else None
        unit.memories.add(memory, shelf=shelf.number, slot=slot, identity=one.place)
        decision = {"code": "imported", "from": one.old_id}
        unit.record(HistoryOp.ADD, replace(memory, state=State.ACTIVE), None, decision)
        if one.state not in (State.ACTIVE, State.PENDING):
            unit.record(HistoryOp.DELETE, memory, memory.text, {"code": one.state.value})
        report.new += 1
        report.places[one.old_id] = memory.id
        yield one.mark


def _restored(unit: UnitOfWork, one: _Coming, whole: Memory, shelf: OpenShelf) -> None:
    """Put a memory where it was, as it was, with its life; the phase is the one that is begun here."""
    raise_number(unit.transaction, f"tick:{shelf.name}", whole.tick)
    raise_number(unit.transaction, f"id:{shelf.name}:{one.series}", one.number)
    active = whole.state is State.ACTIVE  # what stands in a file has a value, and comes in with that
    memory = replace(whole, phase=shelf.phase.id, file=None if active else whole.file)
    slot = unit.index(shelf.number, memory) if active else None
    unit.memories.add(memory, shelf=shelf.number, slot=slot, identity=one.place)
    unit.relive(memory, one.steps)


def _refused(unit: UnitOfWork, items: list[_Coming], report: Arrived) -> None:
    """What its person said no to where the export is from they say no to here, unless it stands here."""
    for one in items:
        shelf = unit.shelf(one.draft.scope.shelf(one.draft.space) or "")
        if one.old_id in report.places and unit.memories.active(shelf.number, one.place) is None:
            refuse(unit, one.draft, report.places[one.old_id], one.said_no)


class _Gone:
    """Ids that were purged or erased: the audit knows them, and they are never given again."""

    def __init__(self, ends: Iterable[tuple[Any, ...]]) -> None:
        self._ids: set[str] = set()
        self._starts: list[str] = []
        for _, op, memory_id, number in ends:
            if op == "erase":
                self._starts.append(memory_id)
            elif number is None:
                self._ids.add(memory_id)

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._ids or memory_id.startswith(tuple(self._starts))


def _memory(unit: UnitOfWork, one: _Coming, shelf: str, gone: _Gone) -> Memory:
    draft, value, times = one.draft, one.value, one.times
    name, kind = one.own_id, contract_kind(draft.layer)
    if name not in gone and unit.memories.get(name) is None and one.series in (kind, "pending"):
        tick = next_number(unit.transaction, f"tick:{shelf}")
        raise_number(unit.transaction, f"id:{shelf}:{one.series}", one.number)
    else:
        name, tick = unit.numbered(shelf, kind)
    policy = unit.ruleset.policy.retention_of(draft.space, kind, draft.kind)
    active = one.state is State.ACTIVE
    meta = dict(value.get("meta") or {})
    return Memory(
        id=name,
        space=draft.space,
        owner=shelf.partition(":")[2],
        layer=draft.layer,
        kind=draft.kind,
        text=draft.text,
        key=draft.key,
        category=draft.category,
        tags=draft.tags,
        authority=draft.scope.authority,
        importance=draft.importance,
        priority=draft.priority,
        confidence=draft.confidence,
        pinned=draft.pinned,
        state=one.state,
        tick=tick,
        phase=unit.shelf(shelf).phase.id,
        ttl=draft.ttl,
        created_at=times["created_at"] or unit.now,
        updated_at=times["updated_at"] or unit.now,
        valid_from=times["valid_from"],
        valid_until=times["valid_until"],
        expires_at=times["expires_at"],
        purge_at=times["purge_at"],
        last_accessed_at=times["last_accessed_at"],
        expires_tick=policy.expires_tick(tick) if active and not draft.pinned else None,
        retired_tick=None if active else tick,
        access_count=int(value.get("access_count") or 0),
        supersedes=_moved(value.get("supersedes"), shelf),
        superseded_by=_moved(value.get("superseded_by"), shelf),
        provenance=_provenance(one),
        meta=meta if name == one.old_id else {**meta, "imported_from": one.old_id},
    )


def _provenance(one: _Coming) -> Provenance:
    scope, said = one.draft.scope, one.value.get("provenance") or {}
    return Provenance(
        actor=scope.actor,
        role=scope.role,
        via=scope.via,
        trust=scope.trust,
        agent=scope.agent,
        session_id=said.get("session_id"),
        reason=f"imported from {one.old_id}"[:1000],
    )


def _moved(old_id: Any, shelf: str) -> str | None:
    """The id that a memory of another shelf has on this one."""
    found = _ID.fullmatch(old_id) if isinstance(old_id, str) else None
    return f"{shelf}:{found[4]}:{found[5]}" if found else None


def _parsed(caller: Caller, line: bytes, report: Arrived, bring_back: bool) -> _Coming | None:
    """A line of an export as a draft in the caller's name; what cannot be used is counted by its code."""
    try:
        value = json.loads(line)
        if not find_secrets(canonical([value.get("meta"), value.get("ttl"), value.get("place")])):
            coming = _coming(caller, value)
            return replace(coming, draft=replace(coming.draft, second_hand=not bring_back))
        report.refused["privacy_deny_sensitive"] += 1
    except InvalidInput as error:
        report.refused[error.code] += 1
    except (ValueError, KeyError, TypeError, AttributeError):
        report.refused["bad_line"] += 1
    return None


def _coming(caller: Caller, value: dict[str, Any]) -> _Coming:
    store = caller.store
    if (named := _ID.fullmatch(value["id"])) is None:
        raise ValueError
    said = value.get("provenance") or {}
    role = _WEIGHT.get(Role(said.get("role", Role.USER)), caller.scope.role)
    role = Role.DOCUMENT if said.get("trust") == Trust.UNTRUSTED else role
    agent = str(said.get("agent") or "import") if role is not caller.scope.role else caller.scope.agent
    scope = replace(caller.scope, role=role, agent=agent, session=_unquoted(named[3]), run="import")
    details: Any = {name: value.get(name) for name in ("key", "kind", "space", "layer", "category", "tags")}
    details |= {"priority": value.get("priority"), "confidence": value.get("confidence")}
    details |= {"pin": value.get("pinned") is True}
    now, limit = store.now(), store.config.max_text_chars
    draft = draft_of(scope, value["text"], details, now, limit, store.ruleset.rules)
    times = {name: _time(value.get(name)) for name in _TIMES}
    said_at = times["valid_from"]
    place = str(value.get("place", ""))
    draft = replace(
        draft,
        importance=whole_number(value["importance"], "importance", 1, 7),
        ttl=str(value.get("ttl", "none"))[:40],
        said_at=said_at if said_at and said_at < now else None,
        meta={"imported_from": value["id"]},
    )
    return _Coming(
        old_id=value["id"],
        series=named[4],
        number=int(named[5]),
        draft=draft,
        state=State(value["state"]),
        place=place if place.startswith(_PLACES) else identity_of(draft.key, draft.kind, draft.text),
        times=times,
        value=value,
    )


def _unquoted(session: str | None) -> str | None:
    """The name that a session had before it became part of an id."""
    if session is None:
        return None
    name = re.sub(
        "(?:~[0-9A-F]{2})+", lambda found: bytes.fromhex(found[0].replace("~", "")).decode(), session
    )
    if quoted(name) != session:
        raise ValueError
    return name


def _time(text: Any) -> datetime | None:
    if text is None:
        return None
    if (at := parse_time(text)) is None:
        raise ValueError
    return at
