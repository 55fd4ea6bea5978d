"""Is everything well? Each check says what it found and, where something is wrong, what to do."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

import apsw

from lamina.doors.canary import canary
from lamina.encoders.port import Embedder, JointReader
from lamina.encoders.static import INSTALL
from lamina.engine import Engine
from lamina.errors import LaminaError
from lamina.jobs.run import list_jobs
from lamina.model import Outcome, Receipt, iso
from lamina.records import dataclass
from lamina.retrieval.meaning import AT_ONCE
from lamina.storage.database import Transaction
from lamina.storage.documents import Documents
from lamina.storage.logs import AuditLog
from lamina.storage.memories import Memories
from lamina.storage.migrate import load_migrations
from lamina.storage.search_index import TextIndex
from lamina.storage.sqlite import OLDEST_SAFE
from lamina.workspace.layout import CONFIG_FILE, STATE_DIR
from lamina.write.unit_of_work import indexed_terms

_REBUILD = "Run `lamina doctor --fix`."
_SAMPLE = 20  #: memories of each shelf that are looked up
_NAMED = 10  #: damaged rows that are told one by one
LITTLE_ROOM, NO_ROOM = 1 << 30, 100 << 20  #: bytes free on the disk
_CLOCKS_DIFFER = timedelta(minutes=1)  #: by less than this they may
_SCHEMA_CODES = ("store_too_new", "migration_changed")

#: A sentence in each language we analyse, and one word it must be found by.
_SENTENCES = (
    ("English", "The doctor keeps a green umbrella by the door.", "umbrella"),
    ("Thai", "คุณหมอดื่มชาเขียวทุกเช้าก่อนไปทำงาน", "ชาเขียว"),
    ("traditional Chinese", "醫生週末喜歡去圖書館看書。", "圖書館"),
    ("simplified Chinese", "医生每天骑自行车上班。", "自行车"),
)


#: What is made anew from rows and files, as checks name it.
_AUDIT_FILES = "audit files"
_DERIVED = frozenset({"index", "meaning", "search", _AUDIT_FILES})


class CheckState(StrEnum):
    """What a check came to."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


_SAVE = "Use `lamina restore-backup`, or save what is left: `lamina rescue`."
_NOT_WELL = frozenset({CheckState.WARN, CheckState.FAIL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: CheckState
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What is to be examined."""

    workspace: Path | None  #: None for a store without files
    home: Path  #: where the audit key lies unless configured otherwise
    open_memory: Callable[[], Engine]
    open_scratch: Callable[[], AbstractContextManager[Engine]]  #: a memory that nobody needs


def examine(patient: Patient, *, fix: bool = False) -> tuple[Check, ...]:
    """Every check there is, in order; a workspace that cannot be opened is a failed check, too.

    With `fix`, what is derived is made anew where a check of it failed, and everything looked at once more.
    """
    checks = _examined(patient)
    sick = [check.name for check in checks if check.name in _DERIVED and check.state in _NOT_WELL]
    if not fix or not sick:
        return checks
    return (_guarded("fixed", lambda: _mended(patient, sick)), *_examined(patient))


def _mended(patient: Patient, sick: list[str]) -> Check:
    """The index of words, vectors and the audit's files, made anew; what that came to."""
    with closing(patient.open_memory()) as engine:
        count, vectors = engine.rebuild(), 0
        lines = engine.mirror.mend() if _AUDIT_FILES in sick else 0
        while some := engine.embed_missing():
            vectors += some
    again = f" ({lines} lines again)" if lines else ""
    told = f"{count} memories were indexed again, {vectors} vectors made, the audit's files written{again}"
    return _ok("fixed", f"{told}, because of: {', '.join(sick)}")


def _examined(patient: Patient) -> tuple[Check, ...]:
    checks = [_guarded("python", _python), _guarded("sqlite", _sqlite)]
    if patient.workspace is not None:
        checks.append(_guarded("workspace", lambda: _workspace(patient.workspace)))
    checks += _opened(patient)
    checks.append(_guarded("disk", lambda: _disk(patient.workspace or patient.home)))
    checks.append(_guarded("round trip", lambda: _round_trip(patient)))
    return tuple(checks)


def _ok(name: str, detail: str) -> Check:
    return Check(name=name, state=CheckState.OK, detail=detail)


def _warn(name: str, detail: str, hint: str) -> Check:
    return Check(name=name, state=CheckState.WARN, detail=detail, hint=hint)


def _fail(name: str, detail: str, hint: str = "") -> Check:
    return Check(name=name, state=CheckState.FAIL, detail=detail, hint=hint)


def _guarded(name: str, work: Callable[[], Check]) -> Check:
    try:
        return work()
    except LaminaError as error:
        return _fail(name, error.message, error.hint)
    except Exception as error:  # noqa: BLE001 a sick store fails in any way, and the examination goes on
        return _fail(name, f"It could not be checked ({type(error).__name__}).", "Run again with --debug.")


def _python() -> Check:
    return _ok("python", f"{platform.python_version()} ({sys.platform})")  # an older one does not get here


def _sqlite() -> Check:
    version = apsw.sqlite_lib_version()
    if apsw.SQLITE_VERSION_NUMBER < OLDEST_SAFE:
        return _fail("sqlite", version, "Install apsw 3.51.3 or later.")
    return _ok("sqlite", version)


def _workspace(root: Path | None) -> Check:
    if root is None or not (root / STATE_DIR).is_dir():
        return _fail("workspace", f"{root} is not a workspace.", "Run `lamina init` there.")
    if not all(os.access(folder, os.R_OK | os.W_OK | os.X_OK) for folder in (root, root / STATE_DIR)):
        return _fail("workspace", f"{root} cannot be written.", "Check its owner and its permissions.")
    if stat.S_IMODE((root / STATE_DIR).stat().st_mode) & 0o077:
        state = root / STATE_DIR
        return _warn("workspace", f"Others on this machine can look into {state}.", f"Run: chmod 700 {state}")
    if not (root / CONFIG_FILE).exists():
        told = (
            f"{CONFIG_FILE} is gone, which said whose memory this is; what is theirs is there, and not found"
        )
        return _warn("workspace", told, "Put it back, or `lamina init --owner NAME` writes it.")
    return _ok("workspace", f"{root}, private and writable")


def _opened(patient: Patient) -> list[Check]:
    """Everything that needs the memory itself."""
    try:
        engine = patient.open_memory()
    except LaminaError as error:
        name = "schema" if error.code in _SCHEMA_CODES else "store"
        return [_fail(name, error.message, error.hint), _not_open()]
    except Exception as error:  # noqa: BLE001 whatever kept it from opening is what the report is for
        return [_fail("store", f"It cannot be opened ({type(error).__name__})."), _not_open()]
    with closing(engine):
        return [
            _guarded("store", lambda: _store(engine)),
            _guarded("rows", lambda: _rows(engine)),
            _guarded("schema", lambda: _schema(engine)),
            _guarded("clock", lambda: _clock(engine)),
            _guarded("index", lambda: _index(engine)),
            _guarded("meaning", lambda: _meaning(engine)),
            _guarded("search", lambda: _search(engine)),
            _guarded("operations", lambda: _operations(engine)),
            _guarded("jobs", lambda: _jobs(engine)),
            _guarded("temporary files", lambda: _temporary_files(patient.workspace)),
            _guarded("files", lambda: _files(engine)),
            _guarded("audit", lambda: _audit(engine)),
            _guarded("audit key", lambda: _audit_key(engine, patient)),
        ]


def _not_open() -> Check:
    names = "schema, index, operations, files, audit"
    return Check(name="memory", state=CheckState.SKIP, detail=f"Not checked without the store: {names}.")


def _store(engine: Engine) -> Check:
    if problems := engine.database.check():
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        return _fail("store", f"It is damaged: {problems[0]}{more}.", _SAVE)
    return _ok("store", f"It opens and is whole ({engine.database.size_bytes() / 1024:,.0f} KiB)")


def _rows(engine: Engine) -> Check:
    if found := engine.database.damaged():
        told = "; ".join(map(str, found[:_NAMED]))
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        hint = "They are in no answer. Restore them from a backup; `lamina export` saves all the others."
        return _fail("rows", f"{len(found)} cannot be read: {told}{more}.", hint)
    return _ok("rows", "every one can be read")


def _schema(engine: Engine) -> Check:
    dialect = "sqlite" if engine.database.url.startswith("sqlite:") else "postgres"
    newest = load_migrations(dialect)[-1]
    return _ok("schema", f"current ({newest.version:04} {newest.name})")  # a store opens in no other state


def _clock(engine: Engine) -> Check:
    heads, now = engine.database.read(lambda tx: AuditLog(tx).heads()), engine.now()
    latest = max((at for _, _, at in heads.values()), default=None)
    if latest is not None and latest - now >= _CLOCKS_DIFFER:
        ahead = f"The newest record is of {iso(latest)}; this machine's clock says {iso(now)}."
        hint = "Set the clock that is wrong. Nothing is hidden by it; until then records get the later time."
        return _warn("clock", ahead, hint)
    return _ok("clock", "not behind what was written last")


def _index(engine: Engine) -> Check:
    def counted() -> tuple[int, int]:
        return engine.database.read(
            lambda tx: (
                Memories(tx).count_by_state().get("active", 0),
                sum(TextIndex(tx).members()) - Documents(tx).counts()[1],
            )
        )

    if wrong := engine.database.read(lambda tx: Memories(tx).miscounted()):
        return _fail("index", f"{wrong} counts of memories are not what there is.", _REBUILD)
    active, indexed = counted()
    lost = sum(row.table == "memory" for row in engine.database.damaged())  # a rebuild leaves them out
    if not active - lost <= indexed <= active:
        return _fail("index", f"{active} memories are active, {indexed} indexed.", _REBUILD)
    asked, missed = engine.database.read(_looked_up)
    if missed:
        detail = f"{missed} of {asked} memories that were looked up are not found by a word of theirs."
        return _fail("index", detail, _REBUILD)
    return _ok("index", f"{indexed} memories, all indexed; {asked} of them looked up by a word and found")


def _looked_up(tx: Transaction) -> tuple[int, int]:
    """How many memories of all shelves were asked for by a term of theirs, and how many were not found."""
    memories, index = Memories(tx), TextIndex(tx)
    by_shelf: dict[str, list[str]] = {}
    for one in memories.in_order():
        by_shelf.setdefault(one.rsplit(":", 2)[0], []).append(one)
    asked = missed = 0
    for ids in by_shelf.values():
        for memory in memories.load(ids[:: max(1, len(ids) // _SAMPLE)]).values():
            slot, words = memories.slot_of(memory.id), indexed_terms(memory)
            shelves = index.shelves([memory.shelf])
            if slot is not None and words and shelves:
                asked += 1
                missed += not index.finds(shelves[0], slot, max(words, key=len))
    return asked, missed


def _meaning(engine: Engine) -> Check:
    found = engine.status().meaning
    if engine.embedder is None:
        if engine.config.embedder == "none":
            return Check(name="meaning", state=CheckState.SKIP, detail=found.problem)
        return _warn("meaning", found.problem, INSTALL)
    try:
        engine.embedder.embed(["A word or two."])
    except LaminaError as error:
        instead = f"{found.meanwhile} answers." if found.meanwhile else "Words alone find."
        return _warn("meaning", f"{error.message} {instead}", error.hint)
    if found.missing > AT_ONCE:
        instead = f"{found.meanwhile} answers meanwhile" if found.meanwhile else "words alone find those"
        said = f"{found.missing} of {found.texts} texts have no vector of {found.embedder} yet; {instead}."
        return _warn("meaning", said, "Run `lamina index`, or leave `lamina serve` running.")
    rest = "the next question reads what is new" if found.missing else "every text has its vector"
    try:
        reader = _reader(engine.embedder)
    except LaminaError as error:
        return _warn("meaning", f"{error.message} The best are not read beside the question.", error.hint)
    return _ok("meaning", f"{found.embedder} answers, {rest}{reader}")


def _reader(embedder: Embedder) -> str:
    """What reads the best beside a question, tried once."""
    if not isinstance(embedder, JointReader):
        return ""
    embedder.fits("A word?", ["A word or two."])
    return f"; {embedder.reader_id()} reads the best beside the question"


def _search(engine: Engine) -> Check:
    alive = canary(engine)
    if dead := [script for script, found in alive.items() if not found]:
        detail = f"A sentence is not found by a word of it in: {', '.join(dead)}."
        return _fail("search", detail, "Run `lamina rebuild`; if that does not help, report it.")
    return _ok("search", f"a sentence is found by one of its words in {', '.join(alive)}")


def _operations(engine: Engine) -> Check:
    if waiting := engine.status().pending_operations:
        return _warn("operations", f"{waiting} changes to files are waiting.", "The next write ends them.")
    return _ok("operations", "nothing is left half done")


def _jobs(engine: Engine) -> Check:
    lines = list_jobs(engine, engine.now())
    if bad := [f"{line.job}: {problem}" for line in lines for problem in line.problems]:
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        return _warn("jobs", f"{bad[0]}{more}.", "`lamina job run NAME` tries it again.")
    if engine.root is not None and lines and all(line.last_at is None for line in lines):
        return _ok("jobs", "none has run here; `lamina job start` runs them when they are due")
    return _ok("jobs", f"{len(lines)} jobs, none failed")


def _temporary_files(root: Path | None) -> Check:
    left = [] if root is None else list(_own_temporary(root))
    if left:
        hint = "They belong to a write that is going on or was cut off; an hour later they are removed."
        return _warn("temporary files", f"{len(left)}, for example {left[0]}", hint)
    return _ok("temporary files", "none left behind")


def _own_temporary(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name == STATE_DIR or not name.startswith(".")]
        for name in names:
            if name.startswith(".lamina-") and name.endswith(".tmp"):
                yield str((Path(folder) / name).relative_to(root))


def _files(engine: Engine) -> Check:
    problems = engine.status().problems
    if problems:
        told = "; ".join(f"{one.file}:{one.line}: {one.message.rstrip('.')}" for one in problems[:3])
        hint = problems[0].hint or "`lamina status` says what to do."
        return _warn("files", f"{len(problems)} lines are not used: {told}", hint)
    return _ok("files", "every entry is in use")


def _audit(engine: Engine) -> Check:
    report = engine.verify_audit()
    if not report.intact:
        first = report.findings[0]
        number = "" if first.seq is None else f" {first.seq}"
        detail = f"{len(report.findings)} findings, first: {first.what}{number}, {first.detail}"
        if report.is_only_of_files:
            return _fail(_AUDIT_FILES, detail, _REBUILD)
        return _fail("audit", detail, "`lamina audit verify` shows all of them.")
    more = f"; note {report.notes[-1].seq}: {report.notes[-1].detail}" if report.notes else ""
    return _ok("audit", f"{report.records} records, an unbroken chain{more}")


def _audit_key(engine: Engine, patient: Patient) -> Check:
    named = engine.config.audit_key_file
    path = Path(named) if named else patient.home / "keys" / "audit.key"
    if patient.workspace is not None and path.resolve().is_relative_to(patient.workspace.resolve()):
        hint = "Move it out, and name its place in LAMINA_AUDIT_KEY_FILE."
        return _fail("audit key", "It lies in the workspace; whoever edits that can forge the audit.", hint)
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return _fail("audit key", f"Others can read it (mode {mode:04o}).", f"Run: chmod 600 {path}")
    return _ok("audit key", f"{path} ({engine.ruleset.sealer.key_id}), outside the workspace, yours alone")


def _disk(place: Path) -> Check:
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    detail = f"{free / (1 << 30):,.1f} GiB free"
    if free < NO_ROOM:
        return _fail("disk", detail, "Free some space before you go on.")
    return _warn("disk", detail, "Free some space soon.") if free < LITTLE_ROOM else _ok("disk", detail)


def _round_trip(patient: Patient) -> Check:
    """Every verb once, in a memory made for it."""
    with patient.open_scratch() as engine:
        mind = engine.scope(user="doctor")
        for language, sentence, word in _SENTENCES:
            memory_id = _admitted(mind.remember(sentence), f"remember in {language}")
            hits = mind.recall(word, k=1).hits
            if not hits or (hits[0].id, hits[0].text) != (memory_id, sentence):
                raise LaminaError(f"What was said in {language} was not found by one of its words.")
        _admitted(mind.revise(memory_id, "医生现在坐地铁上班。"), "revise")
        _admitted(mind.forget(memory_id), "forget")
        if any(hit.id == memory_id for hit in mind.recall("地铁")):
            raise LaminaError("What was forgotten was still found.")
        _admitted(mind.restore(memory_id), "restore")
        if not engine.verify_audit().intact:
            raise LaminaError("The audit of a fresh memory is not intact.")
    return _ok("round trip", "remember, recall, revise, forget, restore in English, Thai and Chinese")


def _admitted(receipt: Receipt, what: str) -> str:
    if receipt.decision is not Outcome.ADMITTED:
        raise LaminaError(f"To {what} came to {receipt.decision} ({receipt.code}).")
    return receipt.ids[0]
