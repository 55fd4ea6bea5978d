"""Forward migrations, checked by hash: a store is what its migrations say, or it is refused."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from lamina.errors import Damaged, Unavailable
from lamina.late import files, kept_of
from lamina.records import dataclass


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema; its hash is that of the file as shipped."""

    version: int
    name: str
    sql: str
    hash: str


@cache
def load_migrations(dialect: str) -> Sequence[Migration]:
    """All steps in order, in the words of one dialect."""
    found = sorted((files("lamina.storage") / "sql" / "migrations").glob("[0-9]*_*.sql"))
    made = kept_of(f"migrations {dialect}", found, lambda: [_step(one, dialect) for one in found])
    return tuple(Migration(*one) for one in made)


def _step(file: Path, dialect: str) -> tuple[int, str, str, str]:
    number, _, name = file.stem.partition("_")
    text = file.read_text("utf-8")
    return int(number), name, _in_dialect(text, dialect), hashlib.sha256(text.encode()).hexdigest()


def _in_dialect(text: str, dialect: str) -> str:
    text = re.sub(rf"^--@{dialect} ", "", text, flags=re.M)
    text = re.sub(r"^--.*$", "", text, flags=re.M)
    if dialect == "postgres":
        # Byte order, as in SQLite: the same ORDER BY gives the same order on every machine.
        text = re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', text)
        text = re.sub(r"\bBLOB\b", "BYTEA", text)
    return text


def migrate(
    applied: Mapping[int, str], steps: Sequence[Migration], apply: Callable[[Migration], None]
) -> None:
    """Apply what is missing; refuse a store that is newer than this code or was made by altered steps."""
    for step in missing(applied, steps):
        apply(step)


def pending(found: Sequence[Migration]) -> Unavailable:
    """The steps that a store lacks have to be made by somebody first."""
    return Unavailable(
        f"This store lacks {len(found)} of the steps that this version of Lamina needs, the first of them"
        f" {found[0].version:04} {found[0].name}.",
        code="migration_pending",
        hint="Run `lamina migrate apply` on the server that is written to. Nothing was changed.",
        retryable=True,
    )


def missing(applied: Mapping[int, str], steps: Sequence[Migration]) -> list[Migration]:
    """The steps that a store lacks; Damaged for one that is newer or was made by altered steps."""
    known = {step.version: step for step in steps}
    newest = max(known)
    if applied and max(applied) > newest:
        raise Damaged(
            f"This store has schema {max(applied)}; this version of Lamina knows up to {newest}.",
            code="store_too_new",
            hint="Use the Lamina version that wrote it, or a later one. Nothing was changed;"
            " `lamina rescue` saves what is in it.",
        )
    for version, digest in applied.items():
        if version not in known or known[version].hash != digest:
            raise Damaged(
                f"Migration {version} of this store is not the one shipped with this version.",
                code="migration_changed",
                hint="The store was made by a modified build: use that one. Nothing was changed;"
                " `lamina rescue` saves what is in it.",
            )
    return [step for step in steps if step.version not in applied]
