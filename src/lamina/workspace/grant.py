"""Whose file is whose: the right of the job at work to read and write, asked by whatever reads and writes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lamina.errors import Denied
from lamina.records import dataclass

#: The engine's own: it writes these through its gates, whoever asked; no job has them for itself.
_ENGINE = (".lamina/**", "PROFILE.md", "SESSION.md")


@dataclass(frozen=True, slots=True)
class Grant:
    """What one job may do to the files of a workspace.

    In patterns `*` is anything within a folder, `**` anything at all, `#` a digit.
    """

    holder: str
    may_write: tuple[str, ...] = ()
    may_not_read: tuple[str, ...] = ()


_at_work: ContextVar[Grant | None] = ContextVar("grant", default=None)


@contextmanager
def granted(grant: Grant) -> Iterator[None]:
    """While this lasts, reading and writing in this thread is held to the grant.

    A job inside a job has no right that the outer one lacks: a second grant is refused.
    """
    if (outer := _at_work.get()) is not None:
        raise Denied(f"{outer.holder} is at work and may not start {grant.holder}.", code="job_within_job")
    token = _at_work.set(grant)
    try:
        yield
    finally:
        _at_work.reset(token)


def check_write(name: str) -> None:
    """Raises Denied (`not_your_file`) when a job is at work and the file is another's."""
    grant = _at_work.get()
    if grant is not None and not matches(name, _ENGINE) and not matches(name, grant.may_write):
        raise Denied(
            f"The job {grant.holder} may not write {name}.",
            code="not_your_file",
            hint="Each file has one job that writes it: docs/guides/jobs.md has the table.",
        )


def check_read(name: str) -> None:
    """Raises Denied (`not_your_file`) when a job is at work that must not even know the file."""
    grant = _at_work.get()
    if grant is not None and matches(_folded(name), tuple(map(_folded, grant.may_not_read))):
        raise Denied(
            f"The job {grant.holder} may not read {name}.",
            code="not_your_file",
            hint="What it decides must not depend on what was promoted before.",
        )


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path below the root is one of those that the patterns name."""
    return any(re.fullmatch(_expression(pattern), name) for pattern in patterns)


def _expression(pattern: str) -> str:
    named = {"**": ".*", "*": "[^/]*", "#": "[0-9]"}
    return "".join(named.get(part) or re.escape(part) for part in re.split(r"(\*\*|\*|#)", pattern))


def _folded(name: str) -> str:
    """On a file system that knows no case, memory.md is MEMORY.md."""
    return unicodedata.normalize("NFC", name).casefold()
