"""Claude's memory tool: its files are memories, and it answers in the strings that Claude knows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

from lamina.errors import LaminaError
from lamina.integrations.items import Items, file_text, text_kept
from lamina.scoped import ScopedMemory

ROOT = "/memories"
_MOST_LINES = 999_999
_BAD = re.compile(r"[\x00-\x1f\x7f\\]")
_MISSING = "The path {} does not exist. Please provide a valid path."


class MemoryTool(BetaAbstractMemoryTool):
    """The files under /memories of one person, as one agent of theirs has them; a write may be refused."""

    def __init__(self, memory: ScopedMemory, **options: Any) -> None:
        super().__init__(**options)
        self._files = Items(memory, "file")

    def execute(self, command: Any) -> Any:
        """Carry out a command; whatever the memory objects to is told as the tool's error."""
        try:
            return super().execute(command)
        except LaminaError as error:
            raise ToolError(str(error)) from error

    def view(self, command: Any) -> str:
        """A file with line numbers, or what is in a folder."""
        name = _name(command.path)
        files = self._texts()
        if name in files:
            return _numbered(command, files[name])
        inside = {path: text for path, text in files.items() if _is_in(path, name)}
        if name and not inside:
            raise ToolError(_MISSING.format(command.path))
        head = f"Here're the files and directories up to 2 levels deep in {command.path}"
        return "\n".join([f"{head}, excluding hidden items:", *_listed(command.path, name, inside)])

    def create(self, command: Any) -> str:
        """A new file."""
        name = _name(command.path)
        files = self._texts()
        if not name or name in files or any(_is_in(path, name) for path in files):
            raise ToolError(f"File {command.path} already exists")
        if above := next((path for path in files if _is_in(name, path)), None):
            raise ToolError(f"The path {ROOT}/{above} is not a directory.")
        self._files.put(name, text_kept(command.file_text))
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        """Other words in a file, where they stand once."""
        name, text = self._file(command.path)
        old, new, path = command.old_str, command.new_str, command.path
        starts = [at for at in range(len(text) + 1) if text.startswith(old, at)]
        if text.count(old) == 0:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if text.count(old) > 1:
            lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in starts)
            told = f"Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
            raise ToolError(f"No replacement was performed. {told}")
        changed = text.replace(old, new)
        self._files.put(name, text_kept(changed))
        at, lines_now = text.count("\n", 0, starts[0]), changed.split("\n")
        shown = [f"{n + 1:>6}\t{lines_now[n]}" for n in range(max(0, at - 2), min(len(lines_now), at + 3))]
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return "\n".join([head, *shown])

    def insert(self, command: Any) -> str:
        """Further lines in a file, after one of them."""
        name, text = self._file(command.path)
        lines, at = text.split("\n"), command.insert_line
        lines = lines[:-1] if lines[-1] == "" else lines
        if not 0 <= at <= len(lines):
            told = f"{at}. It should be within the range [0, {len(lines)}]."
            raise ToolError(f"Invalid `insert_line` parameter: {told}")
        lines.insert(at, command.insert_text.rstrip("\n"))
        self._files.put(name, text_kept("\n".join(lines).removesuffix("\n") + "\n"))
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        """A file or a folder no more; the person can restore what was in it."""
        name = _name(command.path)
        if not name:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        gone = [path for path in self._texts() if path == name or _is_in(path, name)]
        if not gone:
            raise ToolError(f"The path {command.path} does not exist")
        for path in gone:
            self._files.drop(path)
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        """A file or a folder under another name."""
        old, new, files = _name(command.old_path), _name(command.new_path), self._texts()
        if not old:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        moved = {path: text for path, text in files.items() if path == old or _is_in(path, old)}
        if not new or any(path == new or _is_in(path, new) for path in files) or _is_in(new, old):
            raise ToolError(f"The destination {command.new_path} already exists")
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        for path, text in moved.items():  # first all that is new, so that a refusal leaves everything there
            self._files.put(new + path.removeprefix(old), text_kept(text))
        for path in moved:
            self._files.drop(path)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """No file any more."""
        for path in self._texts():
            self._files.drop(path)
        return "All memory cleared"

    def _texts(self) -> dict[str, str]:
        return {name: file_text(memory.text) for name, memory in self._files.all().items()}

    def _file(self, path: str) -> tuple[str, str]:
        name, files = _name(path), self._texts()
        if name not in files:
            inside = not name or any(_is_in(one, name) for one in files)
            raise ToolError(f"The path {path} is not a file." if inside else _MISSING.format(path))
        return name, files[name]


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same, awaited."""

    def __init__(self, memory: ScopedMemory, **options: Any) -> None:
        super().__init__(**options)
        self._tool = MemoryTool(memory)

    async def execute(self, command: Any) -> Any:
        """Carry out a command in another thread."""
        return await asyncio.to_thread(self._tool.execute, command)

    async def _never(self, command: Any) -> Any:
        return await self.execute(command)

    view = create = str_replace = insert = delete = rename = _never


def _name(path: str) -> str:
    """The name of a file under the root, empty for the root itself; ToolError for what leaves it."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    parts = [part for part in path.removeprefix(ROOT).split("/") if part not in ("", ".")]
    if any(".." in (part, unquote(part)) for part in parts):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    if any(_BAD.search(part) or _BAD.search(unquote(part)) or "/" in unquote(part) for part in parts):
        raise ToolError(f"Path {path} cannot be used.")
    return "/".join(parts)


def _is_in(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _numbered(command: Any, text: str) -> str:
    lines, first = text.split("\n"), 0
    if len(lines) > _MOST_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
    wanted = getattr(command, "view_range", None)
    if wanted and len(wanted) == 2:
        first = max(1, wanted[0]) - 1
        lines = lines[first : None if wanted[1] == -1 else wanted[1]]
    shown = [f"{number:>6}\t{line}" for number, line in enumerate(lines, first + 1)]
    return "\n".join([f"Here's the content of {command.path} with line numbers:", *shown])


def _listed(path: str, name: str, inside: dict[str, str]) -> list[str]:
    """A folder and what is in it, two levels deep, with sizes; a folder has the size of what is in it."""
    sizes: dict[str, int] = {}
    for one, text in inside.items():
        parts = one.removeprefix(name).lstrip("/").split("/")
        for depth in range(1, min(2, len(parts)) + 1):
            if not any(part.startswith(".") for part in parts[:depth]):
                shown = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
                sizes[shown] = sizes.get(shown, 0) + len(text.encode())
    order: Callable[[str], list[str]] = lambda one: one.rstrip("/").split("/")  # noqa: E731
    whole = sum(len(text.encode()) for text in inside.values())
    return [
        f"{_size(whole)}\t{path}",
        *(f"{_size(sizes[one])}\t{path}/{one}" for one in sorted(sizes, key=order)),
    ]


def _size(count: int) -> str:
    power = min(max(count.bit_length() - 1, 0) // 10, 3)
    size = count / 1024**power
    return f"{int(size)}{'BKMG'[power]}" if size == int(size) else f"{size:.1f}{'BKMG'[power]}"
