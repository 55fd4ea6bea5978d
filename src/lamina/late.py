"""Modules and patterns that are made by what first uses them, so that a command costs what it uses."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, AnyStr

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib.abc brings `tempfile` and half of what it stands on


@contextmanager
def late() -> Iterator[None]:
    """Inside, `from lamina.room import module` names a module without loading it.

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
    """As `re.compile`, which is called when something is first looked for: a tenth of a millisecond each."""
    made: Any = _Regex(source, flags)
    return made  # type: ignore[no-any-return]


class _Regex:
    """A pattern that knows those of its methods that were used."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source = (source, flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._source), name)
        setattr(self, name, found)
        return found


def load(module: ModuleType) -> None:
    """Load a module now that may have been named only."""
    if isinstance(waiting := module.__spec__ and module.__spec__.loader, _Waiting):
        waiting.load(module)


class _Finder:
    """Finds our modules where they are, and has them loaded late."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("lamina."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None or spec.submodule_search_locations is not None:
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
