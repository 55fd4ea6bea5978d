"""What the command line prints: one envelope, or short lines for a person."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from lamina.late import late, regex
from lamina.model import plain
from lamina.records import dataclass

with late():
    import traceback

    from rich import cells

if TYPE_CHECKING:
    from lamina.doors.cli.exits import Failure

_MAY_DECEIVE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# A password stands before the @ of a URL, or among its parameters.
_PASSWORD = regex(r"(?<=://)([^/?#@]*?):[^/?#]*@|([?&](?:ssl)?password=)[^&#]*", re.IGNORECASE)
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


def prepare_streams() -> None:
    """UTF-8 whatever the locale says, and never an error for what cannot be encoded."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def visible(text: str) -> str:
    """The text with control, bidi and zero-width characters written out; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_char(char) for char in text)


def _visible_char(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char) not in _MAY_DECEIVE:
        return char
    return char.encode("unicode_escape").decode("ascii")


def hide_password(url: str) -> str:
    """A URL that may be shown."""
    return _PASSWORD.sub(lambda found: f"{found[1]}:***@" if found[1] is not None else f"{found[2]}***", url)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _write(stream: TextIO | None, line: str) -> None:
    if stream is not None:  # a program started with its output closed has none
        stream.write(f"{line}\n")


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cells.cell_len(cell))


@dataclass(frozen=True, eq=False)
class Output:
    """Where answers go: data to stdout, everything else to stderr."""

    json: bool = False
    debug: bool = False

    def answer(
        self, command: str, data: Any, lines: Iterable[str] = (), failure: Failure | None = None
    ) -> None:
        """What was asked for and what went wrong: in one envelope, or line by line."""
        if self.json:
            self._envelope(command, data, failure)
            return
        for line in lines:
            _write(sys.stdout, line)
        if failure is not None and not failure.said:
            self._explain(failure)

    def note(self, line: str) -> None:
        """A line that is no data."""
        _write(sys.stderr, line)

    def trace(self, error: BaseException) -> None:
        """Where an error came from, for whoever asked to see that."""
        if self.debug and sys.stderr is not None:
            traceback.print_exception(error, file=sys.stderr)

    def text(self, text: str, indent: str = "") -> str:
        """Somebody's words: exactly as they are, but harmless and indented on a terminal."""
        if not _is_terminal(sys.stdout):
            return text
        return visible(text).replace("\n", f"\n{indent}")

    def style(self, text: str, name: str) -> str:
        """Our own words, coloured where that is wanted."""
        return self._styled(text, name, sys.stdout)

    def table(self, rows: Iterable[Sequence[str]]) -> list[str]:
        """Rows with their columns aligned; the last column is left as it is."""
        made = [[self.text(cell) for cell in row] for row in rows]
        widths = [max(map(cells.cell_len, column)) for column in zip(*made, strict=True)]
        return ["  ".join([*map(_padded, row[:-1], widths), row[-1]]) for row in made]

    def _explain(self, failure: Failure) -> None:
        self.note(f"{self._styled('Error:', 'red', sys.stderr)} {self._safe(failure.message, sys.stderr)}")
        if failure.hint:
            self.note(self._safe(failure.hint, sys.stderr))

    def _envelope(self, command: str, data: Any, failure: Failure | None) -> None:
        error = None
        if failure is not None:
            error = {"code": failure.code, "message": failure.message, "hint": failure.hint}
        value = {"ok": failure is None, "command": command or None, "data": plain(data), "error": error}
        _write(sys.stdout, json.dumps(value, ensure_ascii=False))

    def _safe(self, text: str, stream: TextIO) -> str:
        return visible(text) if _is_terminal(stream) else text

    def _styled(self, text: str, name: str, stream: TextIO) -> str:
        plain_terminal = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        if plain_terminal or not _is_terminal(stream):
            return text
        return f"\x1b[{_STYLES[name]}m{text}\x1b[0m"
