"""JSON read a piece at a time: lines that may be bad or cut short, and the elements of a long array."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

from lamina.imports.turn import ImportFile, ReadUpTo, Skipped
from lamina.records import dataclass

#: A line longer than this is no message of a person; it is passed over without being held.
LONGEST_LINE = 64 * 1024 * 1024
_CHUNK = 1 << 20
_BETWEEN = re.compile(r"[,\s]*")


@dataclass(frozen=True, slots=True)
class Line:
    """One line that holds an object."""

    number: int
    offset: int
    end: int  #: where the next one begins; its own offset while it may still be written to
    value: dict[str, Any]

    def after(self, **state: Any) -> ReadUpTo:
        """The place behind this line."""
        return ReadUpTo(offset=self.end, line=self.number - (self.end == self.offset), state=state)


def json_lines(file: ImportFile, place: ReadUpTo) -> Iterator[Line | Skipped]:
    """The objects of a file with one a line, from a place on; what is none is told with its line."""
    with file.path.open("rb") as stream:
        stream.seek(place.offset)
        number, offset = place.line, place.offset
        while data := stream.readline(LONGEST_LINE):
            number += 1
            whole = data.endswith(b"\n")
            if not whole and len(data) == LONGEST_LINE:
                while (rest := stream.readline(_CHUNK)) and not rest.endswith(b"\n"):
                    pass
                offset = stream.tell()
                yield file.skipped("line_too_long", number)
                continue
            end = offset + len(data) if whole else offset
            value = parsed(data)
            if isinstance(value, dict):
                yield Line(number, offset, end, value)
            elif data.strip():
                yield file.skipped("bad_line" if whole else "truncated", number)
            offset = end


def parsed(data: bytes | str) -> Any:
    """What a piece of JSON says; None for what is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def elements(stream: IO[bytes]) -> Iterator[Any]:
    """The elements of a JSON array one by one, or the one value that the stream holds.

    Raises ValueError where the JSON ends early or is none; what came before has been told by then.
    """
    source = codecs.getreader("utf-8-sig")(stream)
    text = source.read(_CHUNK).lstrip()
    if not text.startswith("["):
        yield json.loads(text + source.read())
        return
    decoder, at = json.JSONDecoder(), 1
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        if text.startswith("]", at):
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            # Twice as much each time, so that a long element is not parsed from its start too often.
            more = source.read(max(_CHUNK, len(text) - at))
            if not more:
                raise
            text, at = text[at:] + more, 0
            continue
        yield value
