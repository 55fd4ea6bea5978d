"""An answer on its way to a terminal: what was asked, and what is shown of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lamina.records import dataclass
from lamina.text.normalise import is_note

if TYPE_CHECKING:
    from lamina.doors.cli.call import Call
    from lamina.doors.cli.exits import Failure
    from lamina.doors.cli.output import Output


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An answer as the command line gives it: data for programs, lines for people, and what went wrong."""

    data: Any
    lines: Iterable[str] = ()
    notes: Sequence[str] = ()  #: for people, beside the data
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class CliView:
    """What was asked and how it shall be shown."""

    call: Call
    request: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def out(self) -> Output:
        return self.call.out


Renderer = Callable[[CliView, Any], Shown]


def when(at: datetime) -> str:
    """A moment as people write it; data has it to the microsecond."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def worded(key: str | None, text: str) -> str:
    """A memory in a line: a setting with its key, a note without the one that was made up for it."""
    return f"{key}: {text}" if key and not is_note(key) else text
