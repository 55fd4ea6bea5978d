"""The files of a workspace as a job works on them: one change at a time, or in a dry run none at all."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from lamina.errors import InvalidInput
from lamina.workspace.files import files_in, read_file
from lamina.workspace.grant import check_read, check_write, matches
from lamina.workspace.locks import change_file


class Desk:
    """Reads and changes files; each call asks `check`, so that a job whose time is up writes nothing more.

    Which files it may touch is for the grant that is in force, which the functions below ask.
    """

    def __init__(self, root: Path | None, check: Callable[[], None], *, dry_run: bool, wait_s: float) -> None:
        self.dry_run = dry_run
        self.changes: list[str] = []
        self._root = root
        self._check = check
        self._wait_s = wait_s
        self._shadow: dict[str, bytes] = {}  #: of a dry run: the files as they would be
        self._before: dict[str, bytes | None] = {}

    def read(self, name: str) -> bytes | None:
        """What a file says, None when there is none."""
        self._check()
        check_read(name)
        return self._shadow[name] if name in self._shadow else read_file(self._place(), name)

    def names(self, pattern: str) -> list[str]:
        """The files whose path matches, in order; `*` and `#` may stand in the last step only."""
        self._check()
        folder = pattern.rpartition("/")[0]
        found = {*files_in(self._place(), folder), *self._shadow}
        return sorted(name for name in found if matches(name, (pattern,)))

    def change(self, name: str, edit: Callable[[bytes | None], bytes]) -> bool:
        """Make a file what `edit` makes of it, as `change_file` does; whether that is different."""
        self._check()
        check_write(name)
        if self.dry_run:
            before = self.read(name)
            self._before.setdefault(name, before)
            self._shadow[name] = after = edit(before)
            return self._noted(name, before, after)
        changed = change_file(self._place(), name, edit, self._wait_s, self._check)
        return changed is not None and self._noted(name, *changed)

    def diff(self) -> str:
        """What a dry run would have changed, as a unified diff."""
        lines: list[str] = []
        for name, after in sorted(self._shadow.items()):
            old, new = _lines(self._before[name]), _lines(after)
            lines += difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")
        return "\n".join(lines)

    def _noted(self, name: str, before: bytes | None, after: bytes) -> bool:
        if after == (before or b""):
            return False
        self.changes.append(f"{name}: {'changed' if before is not None else 'made'}")
        return True

    def _place(self) -> Path:
        if self._root is None:
            raise InvalidInput(
                "This job works on files, and there is no workspace.",
                code="job_needs_workspace",
                hint="Name one with --workspace.",
            )
        return self._root


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", errors="replace")
    return text.removesuffix("\n").split("\n") if text else []
