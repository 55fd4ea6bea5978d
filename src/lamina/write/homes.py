"""The files of a workspace that are the home of their entries: moved into, kept up with, changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from lamina.config import Config
from lamina.model import Hold, Scope, Space, quoted
from lamina.storage.database import Database, Transaction
from lamina.storage.memories import Memories
from lamina.storage.small_tables import Properties
from lamina.workspace.files import sweep
from lamina.workspace.layout import PROFILE, workspace_id
from lamina.write.commit import HOMES
from lamina.write.entry_files import FileProblem, HomeFile
from lamina.write.request import Request, Verb
from lamina.write.ruleset import Ruleset
from lamina.write.unit_of_work import UnitOfWork

#: The session of a caller who names none.
DEFAULT_SESSION = "main"


class Homes:
    """The files of one workspace, or none at all."""

    def __init__(self, database: Database, ruleset: Ruleset, config: Config) -> None:
        self._database, self._ruleset, self._config = database, ruleset, config
        self._files: tuple[HomeFile, ...] = ()
        self._problems: tuple[FileProblem, ...] = ()

    def move_in(self, root: Path, adopt: bool, now: datetime) -> Scope | None:
        """Make the workspace's files the home of their entries; their owner, None where others' are that."""
        sweep(root, now=now)
        own, tenant = workspace_id(root, self._config.tenant)
        if tenant and tenant != quoted(self._config.tenant):
            message = f"This workspace's files belong to the tenant {tenant}; they are not used here."
            self._unused(message, "Give each tenant a workspace of its own.")
            return None

        def work(transaction: Transaction) -> tuple[bool, bool]:
            properties = Properties(transaction)
            holder = properties.get(f"home:{PROFILE}")
            if holder is None or adopt:
                properties.set(f"home:{PROFILE}", own)
            return holder in (None, own) or adopt, holder not in (None, own)

        ours, taken_over = self._database.write(work)
        if not ours:
            message = "This store's entries live in the file of another workspace; this one is not used."
            self._unused(message, "Use `lamina init --adopt` to make this workspace's file the home.")
            return None
        owner = Scope(
            tenant=self._config.tenant,
            user=self._config.owner,
            session=self.current_session(),
            project=self._config.project,
            via="file",
        )
        parts = (self._database, self._ruleset, self._config)
        self._files = tuple(HomeFile(root, space, owner, *parts) for space in HOMES)
        if taken_over:
            for home in self._files:
                home.write_missing()
        return owner

    def _unused(self, message: str, hint: str) -> None:
        self._problems = (FileProblem(file=PROFILE, line=1, message=message, hint=hint),)

    def sync(self, now: datetime) -> Iterator[list[UnitOfWork]]:
        """Take in what a person changed; file by file what that came to, if anything changed."""
        for home in self._files:
            while units := home.sync(now):
                yield units

    def tidy(self, shelf: str) -> int:
        """Take lines that only repeat others out of the file of a shelf; how many."""
        return sum(home.tidy() for home in self._files if home.shelf == shelf)

    def look_again(self) -> None:
        """What is known of the files may be out of date."""
        for home in self._files:
            home.look_again()

    def problems(self) -> tuple[FileProblem, ...]:
        """Lines that are not used, and why."""
        return self._problems + tuple(problem for home in self._files for problem in home.problems)

    def shows(self, memory_id: str) -> bool | None:
        """Whether a memory's line is in its file right now; None where it has no file."""
        return next((known for home in self._files if (known := home.shows(memory_id)) is not None), None)

    def current_session(self) -> str:
        """The session of the workspace's owner whose entries are in SESSION.md."""
        return self._database.read(lambda tx: Properties(tx).get("session")) or DEFAULT_SESSION

    def enter_session(self, name: str, now: datetime) -> None:
        """From now on SESSION.md is about another session of the owner."""
        self._database.write(lambda tx: Properties(tx).set("session", name))
        for home in self._files:
            home.enter(name, now)

    def of(self, request: Request, seen: Database) -> HomeFile | None:
        """The file that a request changes, if it changes one; `seen` is the store as the caller reads it."""
        if not self._files or (request.verb is Verb.REMEMBER and request.draft is None):
            return None
        if isinstance(request.decision, Hold):
            return None  # it waits in the store
        if request.verb is Verb.REMEMBER and request.draft is not None:
            draft = request.draft
            return self._holder(draft.scope, draft.space, None if draft.place else draft.key)
        memory = seen.read(lambda tx: Memories(tx).load([request.memory_id])).get(request.memory_id)
        if memory is None:
            return None  # or it cannot be read, which whoever carries it out will say
        if request.target is not None and (home := self._holder(request.scope, request.target, memory.key)):
            return home
        return next((home for home in self._files if home.name == memory.file), None)

    def _holder(self, scope: Scope, space: Space, key: str | None) -> HomeFile | None:
        return next((home for home in self._files if home.holds(scope, space, key)), None)
