"""Modules, patterns and rules that are made by what first uses them, so that a command costs what it uses.

What patterns and rules of ours were made into is kept beside the bytecode, as Python keeps what it compiled,
and is read from there the next time; where nothing can be written, they are made each time.
"""

from __future__ import annotations

import atexit
import marshal
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, AnyStr

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib.abc brings `tempfile` and half of what it stands on


@contextmanager
def late() -> Iterator[None]:
    """Inside, `from lamina.room import module` and `import library` name a module without loading it.

    It is loaded, once and whole, when something of it is asked for; `from lamina.room.module import name`
    asks at once. It stands at the top of a module, below the imports that are always needed.
    """
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def regex(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for a pattern of ours: it is made when something is first looked for."""
    made: Any = _Regex(source, flags)
    return made  # type: ignore[no-any-return]


def read_rules(room: str, name: str) -> dict[str, Any]:
    """What is in a TOML file that comes with a room, in its folder `data`."""
    path = files(room) / "data" / name
    found: dict[str, Any] = kept_of(room, [path], lambda: tomllib.loads(path.read_text("utf-8")))
    return found


def kept_of(what: str, paths: Iterable[Path], make: Callable[[], Any]) -> Any:
    """As `kept`, of something that is made of these files, as they are now."""
    files_now = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
    return kept(repr((what, files_now)), make)


def kept(key: str, make: Callable[[], Any]) -> Any:
    """What was made under this key, by a process before this one or now; plain data or code."""
    return _made().get(key, make)


def files(room: str) -> Path:
    """Where the files of a room are that was imported."""
    return Path(sys.modules[room].__file__ or "").parent


class _Regex:
    """A pattern that knows those of its methods that were used."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source = (source, int(flags))
        self.pattern = source

    def __getattr__(self, name: str) -> Any:
        key, compiler = repr(self._source), vars(re)["_compiler"]
        parts = kept(key, lambda: _parts_of(compiler, *self._source))
        found = getattr(compiler._sre.compile(self._source[0], *parts), name)
        setattr(self, name, found)
        return found


def _parts_of(compiler: Any, source: Any, flags: int) -> tuple[Any, ...]:
    """What a pattern is made of, as `re` hands it to what runs it."""
    tree = compiler._parser.parse(source, flags)
    names, groups = tree.state.groupdict, tree.state.groups
    by_number = {number: name for name, number in names.items()}
    code = [int(word) for word in compiler._code(tree, flags)]
    return flags | tree.state.flags, code, groups - 1, dict(names), tuple(map(by_number.get, range(groups)))


_MOST = 10_000  #: things that are kept


class _Made:
    """What was made before, each in marshalled form, and what is new."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._new = path, dict[str, bytes]()
        self._known = self._read()

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        if (known := self._known.get(key)) is not None:
            return marshal.loads(known)  # noqa: S302 as trusted as the bytecode beside it
        made = make()
        if self._path is not None and not sys.dont_write_bytecode:
            if not self._new:
                atexit.register(self._write)
            self._new[key] = marshal.dumps(made)
        return made

    def _read(self) -> dict[str, bytes]:
        with suppress(OSError, ValueError, EOFError, TypeError):
            version, known = marshal.loads(self._path.read_bytes() if self._path else b"")  # noqa: S302 as above
            return dict(known) if version == sys.version else {}
        return {}

    def _write(self) -> None:
        if self._path is not None:
            with suppress(OSError):  # as Python does where it cannot keep its bytecode
                draft = self._path.with_suffix(f".{os.getpid()}")
                before = self._read()
                before = before if len(before) < _MOST else {}  # what belongs to rules as they once were
                draft.write_bytes(marshal.dumps((sys.version, {**before, **self._new})))
                draft.replace(self._path)


@cache
def _made() -> _Made:
    cached = globals()["__spec__"].cached
    return _Made(Path(cached).with_suffix(".made") if cached else None)


def load(module: ModuleType) -> None:
    """Load a module now that may have been named only."""
    if isinstance(waiting := module.__spec__ and module.__spec__.loader, _Waiting):
        waiting.load(module)


class _Finder:
    """Finds modules where they are, and has them loaded late."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        room = name.startswith("lamina.") and spec and spec.submodule_search_locations is not None
        if spec is None or spec.loader is None or room:
            return spec
        spec.loader = _Waiting(spec.loader)
        return spec


class _Waiting(Loader):
    """Loads nothing yet, and keeps what will."""

    def __init__(self, loader: Loader) -> None:
        self.loader: Loader | None = loader
        self.lock = RLock()  #: of this module alone: threads wait along imports, which have no cycle

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002 as Python makes any
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _Late

    def load(self, module: ModuleType) -> None:
        """Load it now, unless it is loaded or being loaded."""
        with self.lock:
            if (loader := self.loader) is None:
                return
            self.loader = None
            try:
                loader.exec_module(module)
            except BaseException:  # whoever asks next is told the same
                self.loader = loader
                raise
            module.__class__ = ModuleType
            module.__loader__ = loader
            if module.__spec__ is not None:
                module.__spec__.loader = loader


class _Late(ModuleType):
    """A module that was named and not used."""

    def __getattr__(self, name: str) -> Any:
        load(self)
        if type(self) is not _Late:
            return getattr(self, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} yet")


with late():
    import tomllib
