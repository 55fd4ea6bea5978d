"""One run of the command line: who calls, what is opened for them, and how they are answered."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.config import load_config
from lamina.doors.cli.doors import Doors, OpenRequest
from lamina.doors.cli.exits import DONE, Failure
from lamina.errors import InvalidInput
from lamina.records import dataclass
from lamina.workspace.layout import find_workspace

if TYPE_CHECKING:
    from lamina.doors.cli.output import Output
    from lamina.engine import Engine
    from lamina.operations.operation import Parameter
    from lamina.scoped import ScopedMemory

PROGRAM = "lamina"
Values = dict[str, Any]  #: what was given to a command, by the names of its parameters
STATE_DIR = ".lamina"
WORKSPACE_VARIABLE = "LAMINA_WORKSPACE"
LARGEST_INPUT = 16 * 1024 * 1024  #: bytes read from a pipe; far more than one memory may have


@dataclass(frozen=True, kw_only=True, eq=False)
class Globals:
    """The options before the command."""

    workspace: Path | None = None
    settings: dict[str, str] = field(default_factory=dict)  #: of the configuration: store, tenant
    who: dict[str, str] = field(default_factory=dict)  #: user, agent, session, run
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Call:
    """A command being carried out."""

    doors: Doors
    out: Output
    command: str = ""
    given: Globals = field(default_factory=Globals)

    def opening(self, **settings: Any) -> OpenRequest:
        """What to open: the workspace that is named or found; without one, the store alone if it is set."""
        given = self.given
        flags = {**given.settings, **{name: value for name, value in settings.items() if value is not None}}
        root = find_workspace(Path(), given.workspace, os.environ)
        named = given.workspace is not None or os.environ.get(WORKSPACE_VARIABLE)
        if not named and not (root / STATE_DIR).is_dir() and load_config(None, flags).config.store:
            return OpenRequest(workspace=None, settings=flags, at=given.at)
        return OpenRequest(workspace=root, settings=flags, at=given.at)

    @contextmanager
    def engine(self, **settings: Any) -> Iterator[Engine]:
        """The memory, open."""
        with self.doors.open_memory(self.opening(**settings)) as engine:
            yield engine

    @contextmanager
    def memory(self) -> Iterator[ScopedMemory]:
        """The memory as the caller sees it: a person, unless an agent is named."""
        with self.engine() as engine:
            if not self.out.json and sys.stderr is not None and sys.stderr.isatty():
                engine.progress = lambda rows: self.out.note(f"{rows:,} rows were looked at …")
            yield engine.scope(**self.given.who, via="cli")  # type: ignore[arg-type]  # names, all texts

    def answer(self, data: Any, lines: Iterable[str] = (), failure: Failure | None = None) -> int:
        """Say what came of it; returns the exit code."""
        self.out.answer(self.command, data, lines, failure)
        return DONE if failure is None else failure.exit_code

    def confirmed(self, question: str, yes: bool) -> bool:
        """Whether to go on with what cannot simply be undone; without a terminal only `--yes` says so."""
        if yes:
            return True
        if self.out.json or sys.stdin is None or not sys.stdin.isatty():
            raise InvalidInput(
                f"`{PROGRAM} {self.command}` asks before it acts, and there is nobody to ask here.",
                code="confirmation_needed",
                hint="Add --yes to go ahead.",
            )
        self.out.note(f"{question} [y/N]")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def declined(self) -> int:
        return self.answer(None, failure=Failure(code="declined", message="Nothing was changed."))


@dataclass(frozen=True, kw_only=True)
class CliCommand:
    """One command: its words after `lamina`, what it takes, and what it does."""

    words: str
    about: str
    run: Callable[[Call, Values], int]
    parameters: tuple[Parameter, ...] = ()
    asks: bool = False
    listed: bool = True  #: among those for people, not for their programs

    @property
    def summary(self) -> str:
        return self.about.partition("\n")[0]


def text_or_stdin(text: str | None, what: str) -> str:
    """The text given, or what is piped in when it is `-` or missing, without one final line break."""
    if text is not None and text != "-":
        return text
    stream = sys.stdin
    if stream is None or (text is None and stream.isatty()):
        raise InvalidInput(
            f"There is no {what}.", code="text_empty", hint="Give it after the command, or pipe it in."
        )
    data = stream.buffer.read(LARGEST_INPUT + 1)
    if len(data) > LARGEST_INPUT:
        raise InvalidInput(
            f"The {what} is larger than {LARGEST_INPUT >> 20} MiB.",
            code="text_too_long",
            hint="Split it into several memories.",
        )
    # What is no UTF-8 comes as halves of surrogate pairs, which the engine refuses with an explanation.
    read = data.decode("utf-8", "surrogateescape")
    return read.removesuffix("\r\n") if read.endswith("\r\n") else read.removesuffix("\n")
