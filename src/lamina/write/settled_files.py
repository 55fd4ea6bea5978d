"""What jobs wrote down of a turn goes out of their files when its person forgets the turn.

A decision names the turn it was made in; its section goes, and every line that names the decision. Of a
summary that nobody changed, every line goes that says what the turn said. Kept versions have them still.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from lamina.errors import LaminaError
from lamina.late import late
from lamina.model import Memory
from lamina.similarity.repeats import Telling, statements, telling_of
from lamina.text.decision_entries import Decision, DecisionFile
from lamina.text.sealed_page import sealed, unsealed
from lamina.workspace.files import files_in, read_file
from lamina.workspace.locks import change_file

with late():
    import logging

_FOLDERS = ("memory", "memory/recent", "memory/projects", "memory/archive", "second-brain/summaries")
_MOSTLY = 0.6  #: of the terms of a line or of a statement; from there on one tells the other
_WAIT_S = 5.0
_ITEM = re.compile(r"\s*- ")


def take_out(root: Path, gone: Sequence[Memory]) -> list[str]:
    """Take what was made of some turns out of a workspace's files; the names of those that had any."""
    try:
        names = [name for folder in _FOLDERS for name in files_in(root, folder) if name.endswith(".md")]
        files = {name: read_file(root, name) or b"" for name in ["MEMORY.md", *names]}
        ids = _made_of(files.values(), gone)
        told = [telling_of(part) for one in gone for part in statements(one.text)]
        told = [one for one in told if len(one.terms) > 1]

        def edited(data: bytes | None) -> bytes:
            return _without(data or b"", ids, told)

        return [
            name
            for name, data in files.items()
            if edited(data) != data and change_file(root, name, edited, _WAIT_S, lambda: None)
        ]
    except (LaminaError, OSError) as error:  # what was forgotten is forgotten; a file can be mended by hand
        logging.getLogger("lamina.engine").warning(
            "Files of jobs could not follow what was forgotten: %s", error
        )
        return []


def _made_of(files: Iterable[bytes], gone: Sequence[Memory]) -> frozenset[str]:
    """The ids of the decisions that were made in some turns."""
    sources = {(one.provenance.session_path, one.provenance.message_range or one.id) for one in gone}
    near = [data for data in files if any(place.encode() in data for _, place in sources)]
    every = [one for data in near for one in DecisionFile.parse(data).decisions]
    return frozenset(one.id for one in every if any(_is_from(one, *source) for source in sources))


def _is_from(decision: Decision, path: str | None, place: str) -> bool:
    return place in decision.message_range.split("..") and path in (None, decision.session_path)


def _without(data: bytes, ids: frozenset[str], told: Sequence[Telling]) -> bytes:
    """A file without some decisions, and what it says of them."""
    body = unsealed(data)
    if body is None and not any(one.encode() in data for one in ids):
        return data
    page = DecisionFile.parse(data if body is None else body.encode())
    for one in ids:
        while page.get(one) is not None:
            page = page.remove(one)
    lines: list[str] = []
    dropping = False
    for line in page.to_bytes().decode("utf-8", "surrogateescape").splitlines(keepends=True):
        below = dropping and line[:1] in " \t" and bool(line.strip())
        dropping = below or (bool(_ITEM.match(line)) and _tells(line, ids, () if body is None else told))
        lines += [] if dropping else [line]
    text = "".join(lines)
    return (text if body is None else sealed(text)).encode("utf-8", "surrogateescape")


def _tells(line: str, ids: frozenset[str], told: Sequence[Telling]) -> bool:
    """Whether a line names one of some decisions, or says what a turn said, among other things perhaps."""
    if any(one in line for one in ids):
        return True
    said = telling_of(line) if told else None
    return said is not None and any(max(said.share_in(one), one.share_in(said)) >= _MOSTLY for one in told)
