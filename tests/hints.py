"""Types that a function names, also those that its module imports for the type checker alone."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from importlib import import_module
from typing import Any, get_type_hints


def hints_of(function: Any) -> dict[str, Any]:
    """What `typing.get_type_hints` says, with what is said beside the types."""
    return get_type_hints(function, localns=_imported(function.__module__), include_extras=True)


@cache
def _imported(module: str) -> dict[str, Any]:
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lamina."):
            home = import_module(node.module or "")
            named = [(one.asname or one.name, getattr(home, one.name, None)) for one in node.names]
            found |= {name: value for name, value in named if value is not None}
    return found
