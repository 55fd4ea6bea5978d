"""Every pattern means the same on every Python we support."""

from __future__ import annotations

import importlib
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import lamina

NEWER = {_constants.POSSESSIVE_REPEAT, _constants.ATOMIC_GROUP}


def operations(tree: Any) -> Iterator[Any]:
    """Every operation of a parsed pattern, however deep."""
    if isinstance(tree, _parser.SubPattern):
        tree = tree.data
    if isinstance(tree, list | tuple):
        for part in tree:
            yield from operations(part)
    else:
        yield tree


def compiled() -> Iterator[tuple[str, re.Pattern[Any]]]:
    for module in pkgutil.walk_packages(lamina.__path__, "lamina."):
        if not module.name.endswith(("__main__", "documents.hints")):  # which an extra alone can load
            try:
                loaded = importlib.import_module(module.name)
            except ModuleNotFoundError:
                assert module.name.startswith("lamina.integrations."), module.name  # a framework's own extra
                continue
            for name, value in vars(loaded).items():
                if isinstance(value, re.Pattern) or type(value).__name__ == "_Regex":  # made late
                    yield f"{module.name}.{name}", value


def written(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "pattern":
                yield inner
            else:
                yield from written(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from written(inner)


def is_newer(pattern: str | bytes, flags: int = 0) -> bool:
    found = operations(_parser.parse(pattern, flags))
    return any(one in NEWER for one in found if type(one) is not int)  # a character is an int, too


def test_the_check_sees_what_it_is_for() -> None:
    assert is_newer("(a++)b")
    assert is_newer("x(?>ab)")
    assert not is_newer(r"a\+\+[*+]+")


def test_no_pattern_uses_what_python_before_3_11_5_gets_wrong() -> None:
    """Possessive repeats and atomic groups lose characters there, so the index would differ by machine."""
    found = [name for name, pattern in compiled() if is_newer(pattern.pattern, pattern.flags)]
    for file in Path(lamina.__path__[0]).rglob("*.toml"):
        for pattern in written(tomllib.loads(file.read_text("utf-8"))):
            if re.search(r"(?<!\\)[*+?}]\+|\(\?>", re.sub(r"\[[^\]]*\]", "x", pattern)):
                found.append(f"{file.name}: {pattern[:60]}")
    assert found == []
