"""Where things are in a workspace, how one is found, and how one begins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from lamina.clock import random_token
from lamina.durable import settle_folder
from lamina.errors import Conflict, InvalidInput
from lamina.model import Space, checked_name, quoted
from lamina.workspace.files import ensure_folder, explained, read_file, replace_file, stamp

PROFILE = "PROFILE.md"
SESSION = "SESSION.md"
HOMES = {Space.USER: PROFILE, Space.SESSION: SESSION}  #: the file that keyed memories of a space live in
README = "LAMINA.md"
STATE_DIR = ".lamina"
CONFIG_FILE = "lamina.toml"
DATABASE = ".lamina/memory.db"
_ID = f"{STATE_DIR}/workspace-id"
WORKSPACE_VARIABLE = "LAMINA_WORKSPACE"

_PROFILE_TEXT = """\
# PROFILE

<!--
What your agents should know about you. Change anything here in any editor:
your edits count, and every line you write stays as you wrote it.
One line of this form is one memory; other lines are notes of yours, which agents do not see:

- key:response.tone | value:friendly and short
-->

## Preferences
"""

_SESSION_TEXT = """\
# SESSION

<!--
What your agents should know in this conversation only. Change anything here in any editor, as in PROFILE.md.
What ends with `ttl:session_end` goes when the conversation does.
-->

## Context
"""

_README_TEXT = """\
# Your memories

This folder holds what your AI agents remember about you and your work.

- `PROFILE.md` is what they know about you. Read it, change it, delete from it, as you like.
- `SESSION.md` is what they know in the current conversation only.
- `lamina.toml` is the configuration. `owner` says whose memories these are.
- `.lamina/` is the program's own room: the search index, the history and the log. Leave it to the program.
  Keep it out of version control and out of what you share.

Everything stays on this computer unless you set up something else.
"""


def find_workspace(start: Path, explicit: Path | None, env: Mapping[str, str]) -> Path:
    """The workspace in use: the one named, else $LAMINA_WORKSPACE, else the nearest folder from `start`
    upwards that holds `.lamina`, else `start`. It need not exist yet.
    """
    if explicit is not None:
        return explicit.expanduser().resolve()
    if named := env.get(WORKSPACE_VARIABLE):
        return Path(named).expanduser().resolve()
    start = start.resolve()
    return next((folder for folder in (start, *start.parents) if is_workspace(folder)), start)


def create_workspace(root: Path, owner: str) -> list[str]:
    """Makes `root` a workspace of `owner` and names what was created; what is there already stays untouched.

    Raises InvalidInput for a place or an owner that cannot be used, Unavailable when the system refuses.
    """
    checked_name("owner", owner)
    _make_root(root)
    texts = {
        PROFILE: _PROFILE_TEXT,
        SESSION: _SESSION_TEXT,
        CONFIG_FILE: f"owner = {json.dumps(owner, ensure_ascii=False)}\n",
        README: _README_TEXT,
    }
    created = [name for name, text in texts.items() if _written(root, name, text)]
    # Last, because this is what makes it a workspace: one whose making was cut off is made again.
    own = [] if is_workspace(root) else [f"{STATE_DIR}/"]
    ensure_folder(root, STATE_DIR)
    if _written(root, f"{STATE_DIR}/.gitignore", "*\n"):
        own.append(f"{STATE_DIR}/.gitignore")
    return own + created


def _written(root: Path, name: str, text: str) -> bool:
    """Whether the file was not there and is now."""
    if stamp(root, name) is not None:
        return False
    try:
        replace_file(root, name, text.encode(), expected=None)
    except Conflict:
        return False  # it appeared this very moment, and whoever made it keeps it
    return True


def workspace_id(root: Path, tenant: str) -> tuple[str, str]:
    """The name by which stores know this workspace, and the tenant whose files it holds.

    Made on first use, for the tenant that comes first; it moves with the folder.
    """
    if stamp(root, _ID) is None:
        with suppress(Conflict):
            replace_file(root, _ID, f"{random_token(12)} {quoted(tenant)}\n".encode(), expected=None)
    return _identity(root)


def known_tenant(root: Path) -> str:
    """The tenant that a workspace was used by first, empty before it was."""
    return _identity(root)[1]


def _identity(root: Path) -> tuple[str, str]:
    text = (read_file(root, _ID) or b"").decode("ascii", errors="replace")
    own, _, holder = text.strip().partition(" ")
    return own, holder


def is_workspace(folder: Path) -> bool:
    """Whether a folder holds a workspace, as far as we may look."""
    try:
        return (folder / STATE_DIR).is_dir()
    except PermissionError:
        return False


def _make_root(root: Path) -> None:
    try:
        root.mkdir(mode=0o700)
        settle_folder(root.parent)
    except FileExistsError:
        if not root.is_dir():
            raise InvalidInput(
                f"{root} is a file, so it cannot become a workspace.",
                code="workspace_invalid",
                hint="Name a folder.",
            ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidInput(
            f"{root} cannot be created, because {root.parent} is not a folder.",
            code="workspace_invalid",
            hint="Create that folder first, or name another place.",
        ) from None
    except OSError as error:
        raise explained(str(root), error) from error
