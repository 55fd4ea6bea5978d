"""Entries of ours in a client's files: put in, recognised, and taken out with every other byte as before."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from lamina.doors.harness import json_text, toml_text, yaml_text
from lamina.doors.harness.clients import CLIENTS, VERBS, Client, ClientHome, Launch
from lamina.durable import make_folder, put_file
from lamina.errors import Conflict, InvalidInput
from lamina.late import files
from lamina.records import dataclass

_OWN_HOOK = re.compile(rf"\bhook (?:{'|'.join(VERBS)}) --harness (\S+)$")
_LARGEST = 64 * 1024 * 1024
#: What is left of a list of hooks that holds none.
_NOTHING_LEFT: tuple[Any, ...] = ({}, {"version": 1})

#: Files that are lines and not brackets.
_TABLES = {".toml": toml_text, ".yaml": yaml_text}

#: A file with what is ours, what its removal must know, and the lines to show.
_Filled = tuple[bytes, dict[str, Any], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What becomes of one file, and the lines that show it; nothing of anybody else's is in them."""

    path: Path
    before: bytes | None
    after: bytes | None
    shown: tuple[str, ...]
    note: dict[str, Any] = field(default_factory=dict)  #: what its removal must know


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlan:
    """An installation or a removal, worked out; nothing is changed yet."""

    client: Client
    changes: tuple[FileChange, ...]
    ledger: Path
    notes: dict[str, dict[str, Any]]
    left: tuple[str, ...] = ()  #: what is not ours any more and stays


def client_of(name: str) -> Client:
    """The client of a name; InvalidInput says which there are."""
    if name not in CLIENTS:
        raise InvalidInput(
            f"{name!r:.40} is not a client that Lamina knows.",
            code="client_unknown",
            hint=f"Choose one of: {', '.join(CLIENTS)}.",
        )
    return CLIENTS[name]


def plan_install(client: Client, place: ClientHome, launch: Launch, home: Path) -> InstallPlan:
    """What an installation would change. Raises InvalidInput or Conflict where a file cannot be used."""
    ledger = _ledger(client, place, home)
    notes = _notes(ledger)
    changes: list[FileChange] = []
    for path, after in _wanted(client, place, launch, notes):
        before = _read(path)
        text, note, shown = after(before)
        if text is not None and text != before:
            note["new"] = notes.get(str(path), {}).get("new", before is None)
            changes.append(FileChange(path=path, before=before, after=text, shown=tuple(shown), note=note))
    return InstallPlan(client=client, changes=tuple(changes), ledger=ledger, notes=notes)


def plan_uninstall(client: Client, place: ClientHome, home: Path) -> InstallPlan:
    """What a removal would change."""
    ledger = _ledger(client, place, home)
    notes, left = _notes(ledger), []
    changes: list[FileChange] = []
    for path, sort in _files(client, place).items():
        before, note = _read(path), notes.get(str(path), {})
        if before is None:
            continue
        if sort == "page":
            if before == _page() or _digest(before) == note.get("page"):
                changes.append(FileChange(path=path, before=before, after=None, shown=("- the whole page",)))
            elif note:
                left.append(f"{path} was changed since and stays.")
            continue
        text = _decoded(before, path)
        bare = _bare(client, sort, text, str(path), note)
        if bare == text:
            continue
        gone = note.get("new") and _is_nothing(sort, bare, str(path))
        after = None if gone else bare.encode()
        shown = [f"- {one}" for one in _own_lines(client, sort, text, str(path))]
        changes.append(FileChange(path=path, before=before, after=after, shown=tuple(shown)))
    return InstallPlan(client=client, changes=tuple(changes), ledger=ledger, notes=notes, left=tuple(left))


def carry_out(plan: InstallPlan, *, removal: bool = False) -> None:
    """Make the changes, all or none; Conflict where a file says something else by now."""
    if not removal:
        for change in plan.changes:
            folders = [str(one) for one in _missing_folders(change.path)]
            plan.notes[str(change.path)] = {"folders": folders, **change.note}
        make_folder(plan.ledger.parent)
        put_file(plan.ledger, json.dumps(plan.notes, ensure_ascii=False).encode())
    done: list[FileChange] = []
    try:
        for change in plan.changes:
            if _read(change.path) != change.before:
                raise Conflict(
                    f"{change.path} was changed this very moment; nothing was done.",
                    code="file_changed",
                    hint="Run it again.",
                )
            _write(change.path, change.after)
            done.append(change)
    except BaseException:  # whatever stops it, what was done is taken back
        for change in reversed(done):
            _write(change.path, change.before)
        raise
    if removal:
        for note in plan.notes.values():
            for folder in reversed(note.get("folders", [])):
                with suppress(OSError):  # somebody else's things are in it
                    Path(folder).rmdir()
        plan.ledger.unlink(missing_ok=True)


# What stands in the files.


def _files(client: Client, place: ClientHome) -> dict[Path, str]:
    """The files of a client, and what of ours each holds."""
    listed = client.servers(place)
    found = {listed: "table" if listed.suffix in _TABLES else "server"}
    if client.hooks is not None:
        found[client.hooks(place)] = "hooks"
    return {**found, client.skill(place): "page"}


def _wanted(
    client: Client, place: ClientHome, launch: Launch, notes: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[Path, Any]]:
    for path, sort in _files(client, place).items():
        note = notes.get(str(path), {})

        def after(before: bytes | None, path: Path = path, sort: str = sort, note: Any = note) -> Any:
            if sort == "page":
                return _paged(before, path, note)
            text = "" if before is None else _decoded(before, path)
            if _present(client, sort, text, str(path)) == _entries(client, sort, launch):
                return None, {}, []
            bare = _bare(client, sort, text, str(path), note)
            return _filled(client, sort, bare, str(path), launch)

        yield path, after


def _entries(client: Client, sort: str, launch: Launch) -> list[tuple[tuple[str, ...], Any]]:
    """What belongs into a file, by its path in it."""
    if sort in ("server", "table"):
        return [(client.servers_at, client.server(launch))]
    return [(("hooks", event, "+"), client.hook(launch, verb)) for event, verb in client.events.items()]


def _filled(client: Client, sort: str, text: str, name: str, launch: Launch) -> _Filled:
    """A file without anything of ours, with it; what its removal must know, and the lines to show."""
    if sort == "table":
        lines = _TABLES[Path(name).suffix]
        _refuse_foreign(lines.parse(text, name), client, name)
        after, piece = lines.add(text, name, client.servers_at, client.server(launch))
        return after.encode(), {"piece": piece}, _plus(piece)
    root = json_text.parse(text, name)
    if sort == "server":
        _refuse_foreign({} if root is None else root.value, client, name)
    made: dict[str, str | None] = {}
    shown: list[str] = []
    note: dict[str, Any] = {"made": made}
    entries = _entries(client, sort, launch)
    if sort == "hooks" and not client.grouped and (root is None or root.get("version") is None):
        entries.insert(0, (("version",), 1))
        note["version"] = True
    for path, value in entries:
        added = json_text.add(text, name, path, value)
        made.update({one: was for one, was in added.made.items() if one not in made})
        text = added.text
        shown += _plus(added.piece)
    return text.encode(), note, shown


def _refuse_foreign(data: Any, client: Client, name: str) -> None:
    for key in client.servers_at:
        data = data.get(key) if isinstance(data, Mapping) else None
    if data is not None and not _is_own_server(data, client):
        raise Conflict(
            f"{name} has an entry `{'.'.join(client.servers_at)}` that is not ours.",
            code="client_entry_taken",
            hint="Rename or remove it, then run this again. Nothing was changed.",
        )


def _is_own_server(value: Any, client: Client) -> bool:
    words = value.get("args") if isinstance(value, Mapping) else None
    return isinstance(words, list) and words[-3:] == ["--agent", client.name, "mcp"]


def _is_own_hook(value: Any) -> bool:
    command = value.get("command") if isinstance(value, Mapping) else None
    return isinstance(command, str) and _OWN_HOOK.search(command) is not None


def _bare(client: Client, sort: str, text: str, name: str, note: Mapping[str, Any]) -> str:
    """A file without anything of ours."""
    if sort == "table":
        if not _own_lines(client, sort, text, name):
            return text
        lines = _TABLES[Path(name).suffix]
        bare: str = lines.remove(text, name, client.servers_at, str(note.get("piece") or ""))
        return bare
    found = False
    while (own := next(_own_parts(client, sort, text, name), None)) is not None:
        text, found = json_text.remove(text, *own), True
    if not found:
        return text
    text = json_text.restore(text, name, {k: v for k, v in note.get("made", {}).items() if k != "[]"})
    root = json_text.parse(text, name)
    version = root.get("version") if root is not None and note.get("version") else None
    # In a file that we made, it may be there for hooks of somebody else by now.
    if root is not None and version is not None and (root.value == {"version": 1} or not note.get("new")):
        text = json_text.remove(text, root, version)
    return json_text.restore(text, name, {k: v for k, v in note.get("made", {}).items() if k == "[]"})


def _own_parts(
    client: Client, sort: str, text: str, name: str
) -> Iterator[tuple[json_text.JsonNode, json_text.Part]]:
    """Every part of ours, with what it stands in."""
    root = json_text.parse(text, name)
    if root is None:
        return
    if sort == "server":
        *above, key = client.servers_at
        listed = json_text.at_path(root, above)
        part = listed.get(key) if listed is not None else None
        if listed is not None and part is not None and _is_own_server(part.node.value, client):
            yield listed, part
        return
    hooks = json_text.at_path(root, ["hooks"])
    for event in hooks.parts if hooks is not None else ():
        for group in event.node.parts if isinstance(event.node.value, list) else ():
            inner = json_text.at_path(group.node, ["hooks"])
            if inner is None:
                if _is_own_hook(group.node.value):
                    yield event.node, group
                continue
            own = [part for part in inner.parts if _is_own_hook(part.node.value)]
            if own and len(own) == len(inner.parts):
                yield event.node, group
            else:
                yield from ((inner, part) for part in own)


def _present(client: Client, sort: str, text: str, name: str) -> list[tuple[tuple[str, ...], Any]]:
    """What of ours is in a file, as `_entries` says it."""
    if sort == "table":
        data: Any = _TABLES[Path(name).suffix].parse(text, name)
        for key in client.servers_at:
            data = data.get(key) if isinstance(data, Mapping) else None
        return [(client.servers_at, data)] if _is_own_server(data, client) else []
    if sort == "server":
        return [(client.servers_at, part.node.value) for _, part in _own_parts(client, sort, text, name)]
    root = json_text.parse(text, name)
    hooks = None if root is None else json_text.at_path(root, ["hooks"])
    starts = {part.start for _, part in _own_parts(client, sort, text, name)}
    return [
        (("hooks", str(event.key), "+"), group.node.value)
        for event in (hooks.parts if hooks is not None else ())
        for group in event.node.parts
        if group.start in starts
    ]


def _own_lines(client: Client, sort: str, text: str, name: str) -> list[str]:
    found = _present(client, sort, text, name)
    return [f"{'.'.join(one for one in path if one != '+')}: {json.dumps(value)}" for path, value in found]


def _is_nothing(sort: str, text: str, name: str) -> bool:
    if sort == "table":
        return not text.strip()
    root = json_text.parse(text, name)
    return not text.strip() or (root is not None and root.value in _NOTHING_LEFT)


def _paged(before: bytes | None, path: Path, note: Mapping[str, Any]) -> _Filled:
    page = _page()
    if before not in (None, page) and _digest(before or b"") != note.get("page"):
        raise Conflict(
            f"{path} is there and not ours.",
            code="client_entry_taken",
            hint="Rename or remove it, then run this again. Nothing was changed.",
        )
    return page, {"page": _digest(page)}, [f"+ {line}" for line in page.decode().splitlines()[:4]] + ["+ …"]


def _page() -> bytes:
    return files("lamina.doors.harness").joinpath("data/SKILL.md").read_bytes()


def _plus(piece: str) -> list[str]:
    return [f"+ {line}" for line in piece.splitlines() if line.strip()]


# Files and folders.


def _read(path: Path) -> bytes | None:
    try:
        if path.stat().st_size > _LARGEST:
            raise InvalidInput(f"{path} is too large for settings.", code="client_file_malformed")
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{path} is not UTF-8.",
            code="client_file_malformed",
            hint="Save it as UTF-8 and run this again. Nothing was changed.",
        ) from None


def _write(path: Path, data: bytes | None) -> None:
    """A file as it shall be, through a link to it, with the rights it had; None takes it away."""
    real = path.resolve()
    if data is None:
        real.unlink(missing_ok=True)
        return
    mode = real.stat().st_mode & 0o7777 if real.exists() else 0o600
    make_folder(real.parent)
    put_file(real, data)
    real.chmod(mode)


def _missing_folders(path: Path) -> list[Path]:
    """The folders that have to be made for a file, the highest first."""
    return [folder for folder in reversed(path.resolve().parents) if not folder.exists()]


def _ledger(client: Client, place: ClientHome, home: Path) -> Path:
    where = "user" if place.scope == "user" else f"project-{_digest(str(place.project).encode())[:16]}"
    return home / "clients" / f"{client.name}-{where}.json"


def _notes(ledger: Path) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(ledger.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def shown(plan: InstallPlan, short: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """The difference that a plan makes, for a person to read; `short` are folders and what to call them."""
    for change in plan.changes:
        name = str(change.path)
        for long, brief in short:
            name = name.replace(long, brief, 1) if name.startswith(long) else name
        yield f"{name} ({state_of(change)})"
        yield from (f"  {line}" for line in change.shown)
    yield from plan.left


def state_of(change: FileChange) -> str:
    """What becomes of a file, in a word."""
    return "new" if change.before is None else "removed" if change.after is None else "changed"
