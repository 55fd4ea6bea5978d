"""A backend for deepagents: its files are memories, the same ones that Claude's memory tool has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deepagents.backends.protocol import (
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileData,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from deepagents.backends.utils import (
    InvalidGlobPatternError,
    _glob_search_files,
    grep_matches_from_files,
    perform_string_replacement,
    slice_read_response,
    validate_path,
)
from langgraph.runtime import get_runtime

from lamina.errors import Conflict, LaminaError
from lamina.integrations.items import Items, file_text, text_kept
from lamina.model import iso
from lamina.scoped import ScopedMemory

Whose = Callable[[Any], ScopedMemory]  #: the memory of whoever a run is for
_TRIES = 20
_BINARY = "Only text can be kept in a memory; this file is not UTF-8."


class LaminaBackend(BackendProtocol):
    """The files of one person as one agent of theirs has them. A write that is refused, or that waits for the
    person, is an error with the reason and never a file.

    `memory` is a person's, or a function from the graph's Runtime to one, where a graph serves several.
    """

    def __init__(self, memory: ScopedMemory | Whose) -> None:
        self._whose: Whose = (lambda _: memory) if isinstance(memory, ScopedMemory) else memory

    def ls(self, path: str) -> LsResult:
        """What is directly in a folder; folders end with a slash."""
        try:
            inside = validate_path(path).rstrip("/") + "/"
            files = self._files()
        except (ValueError, LaminaError) as error:
            return LsResult(error=str(error))
        found: dict[str, FileInfo] = {}
        for name, data in files.items():
            if name.startswith(inside):
                first, slash, _ = name.removeprefix(inside).partition("/")
                own = f"{inside}{first}{slash}"
                found[own] = {"path": own, "is_dir": True} if slash else _told(own, data)
        return LsResult(entries=[found[name] for name in sorted(found)])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Some lines of a file."""
        try:
            return slice_read_response(self._files()[validate_path(file_path)], offset, limit)
        except KeyError:
            return ReadResult(error=_missing(file_path))
        except (ValueError, LaminaError) as error:
            return ReadResult(error=str(error))

    def write(self, file_path: str, content: str) -> WriteResult:
        """A file with these words; the same once more changes nothing."""
        try:
            path = validate_path(file_path)
            if others := [one for one in self._files() if _overlap(one, path)]:
                return WriteResult(error=f"Error: {others[0]} is in the way of '{file_path}'")
            self._items().put(path[1:], text_kept(content))
        except (ValueError, LaminaError) as error:
            return WriteResult(error=_said(error))
        return WriteResult(path=file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Other words in a file, in its latest revision."""
        try:
            name, items = validate_path(file_path)[1:], self._items()
            for _ in range(_TRIES):
                if not name or (now := items.get(name)) is None:
                    return EditResult(error=f"Error: {_missing(file_path)}")
                done = perform_string_replacement(file_text(now.text), old_string, new_string, replace_all)
                if isinstance(done, str):
                    return EditResult(error=done)
                try:
                    items.put(name, text_kept(done[0]), expect=now.revision)
                except Conflict:  # somebody else has changed the file; their words stay
                    continue
                return EditResult(path=file_path, occurrences=done[1])
        except (ValueError, LaminaError) as error:
            return EditResult(error=_said(error))
        return EditResult(error=f"Error: others keep changing '{file_path}'; try again")

    def delete(self, file_path: str) -> DeleteResult:
        """A file, or a folder with what is in it, no more; the person can restore it."""
        try:
            path = validate_path(file_path).rstrip("/")
            gone = [one for one in self._files() if one == path or one.startswith(f"{path}/")]
            for one in gone:
                self._items().drop(one[1:])
        except (ValueError, LaminaError) as error:
            return DeleteResult(error=_said(error))
        return DeleteResult(path=file_path) if gone else DeleteResult(error=f"Error: {_missing(file_path)}")

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """The lines that hold a text."""
        try:
            return grep_matches_from_files({**self._files()}, pattern, path, glob, max_count=max_count)
        except LaminaError as error:
            return GrepResult(error=str(error))

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """The files with such names."""
        try:
            files = self._files()
            found = _glob_search_files({**files}, pattern, path or "/")
        except (InvalidGlobPatternError, LaminaError) as error:
            return GlobResult(error=str(error))
        return GlobResult(matches=[_told(one, files[one]) for one in found.split("\n") if one in files])

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Files from outside, each for itself."""
        done: list[FileUploadResponse] = []
        for path, content in files:
            try:
                error = self.write(path, content.decode("utf-8")).error
            except UnicodeDecodeError:
                error = _BINARY
            done.append(FileUploadResponse(path=path, error=error))
        return done

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """The bytes of files, each for itself."""
        files = self._files()
        return [_downloaded(path, files) for path in paths]

    def _items(self) -> Items:
        try:
            runtime: Any = get_runtime()
        except (RuntimeError, KeyError):  # outside of a graph
            runtime = None
        return Items(self._whose(runtime), "file")

    def _files(self) -> dict[str, FileData]:
        return {
            f"/{name}": FileData(
                content=file_text(one.text),
                encoding="utf-8",
                created_at=iso(one.created_at),
                modified_at=iso(one.updated_at),
            )
            for name, one in self._items().all().items()
        }


def _downloaded(path: str, files: dict[str, FileData]) -> FileDownloadResponse:
    try:
        own = validate_path(path)
    except ValueError:
        return FileDownloadResponse(path=path, error="invalid_path")
    if own in files:
        return FileDownloadResponse(path=path, content=files[own]["content"].encode("utf-8"))
    inside = any(one.startswith(own.rstrip("/") + "/") for one in files)
    return FileDownloadResponse(path=path, error="is_directory" if inside else "file_not_found")


def _told(path: str, data: FileData) -> FileInfo:
    size, at = len(data["content"].encode("utf-8")), data.get("modified_at", "")
    return {"path": path, "is_dir": False, "size": size, "modified_at": at}


def _overlap(one: str, path: str) -> bool:
    """Whether one of two would be a file and a folder at once."""
    return one.startswith(path.rstrip("/") + "/") or path.startswith(f"{one}/")


def _missing(path: str) -> str:
    return f"File '{path}' not found"


def _said(error: Exception) -> str:
    return f"Error: {error}"
