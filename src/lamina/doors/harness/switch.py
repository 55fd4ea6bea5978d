"""Where nothing is remembered: a switch for each client and folder, and `.laminaignore` in a project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from lamina.durable import make_folder, put_file
from lamina.errors import Damaged

IGNORE = ".laminaignore"
ANY = "*"


class Switch(StrEnum):
    """What happens in a folder."""

    ON = "on"
    MUTE = "mute"  #: what is known is told, and nothing is remembered
    OFF = "off"  #: neither


def standing(home: Path, client: str, folder: Path) -> Switch:
    """How a client's switch stands in a folder: the nearest one that was set, unless a file there says no."""
    if any(_is_ignored(one, folder) for one in (folder, *folder.parents)):
        return Switch.OFF
    known = read(home)
    for above in (folder, *folder.parents):
        for name in (client, ANY):
            if state := known.get((name, str(above))):
                return state
    return Switch.ON


def turn(home: Path, client: str, folder: Path, state: Switch) -> None:
    """Set a switch; it holds for everything below the folder, until another is nearer. That of every client
    takes the place of those that single ones had there."""
    kept = {key: one for key, one in read(home).items() if client != ANY or key[1] != str(folder)}
    known = {**kept, (client, str(folder)): state}
    rows = [[*key, value] for key, value in sorted(known.items())]
    make_folder(home / "hooks")
    put_file(_file(home), json.dumps(rows, ensure_ascii=False).encode())


def read(home: Path) -> dict[tuple[str, str], Switch]:
    """Every switch that was set, by client and folder. Damaged where the file cannot be read: nothing is
    remembered then, because it may say so."""
    try:
        rows = json.loads(_file(home).read_text("utf-8"))
        return {(str(client), str(folder)): Switch(state) for client, folder, state in rows}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        raise Damaged(
            f"{_file(home)} cannot be read, so nothing is remembered.",
            code="switch_unreadable",
            hint="Delete it, and set the switches again with `lamina hook off`.",
        ) from error


def _file(home: Path) -> Path:
    return home / "hooks" / "switches.json"


def _is_ignored(above: Path, folder: Path) -> bool:
    """Whether `.laminaignore` in a folder above leaves this one out: an empty file leaves out everything,
    else the last line that fits counts, and `!` takes one back in."""
    try:
        lines = (above / IGNORE).read_text("utf-8-sig", errors="replace").splitlines()
    except OSError:
        return False
    patterns = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    ignored = not patterns
    for pattern in patterns:
        if _fits(pattern.removeprefix("!").strip("/"), folder.relative_to(above).parts):
            ignored = not pattern.startswith("!")
    return ignored


def _fits(pattern: str, parts: tuple[str, ...]) -> bool:
    if pattern in ("", ".", ANY, "**"):
        return True
    return any(fnmatchcase(one, pattern) for one in _names(pattern, parts))


def _names(pattern: str, parts: tuple[str, ...]) -> Iterator[str]:
    """A folder and those above it, as a pattern names them: with a slash from the file on, else by name."""
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[:count]) if "/" in pattern else parts[count - 1]
