"""`lamina-govern lamina langgraph plain`: the checks as one table, a system in each column."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence

from lamina_govern import systems
from lamina_govern.checks import Result, run

_SYSTEMS = f"{systems.__name__}."
_OURS = {one.name for one in pkgutil.iter_modules(systems.__path__, _SYSTEMS)}


def table(columns: dict[str, list[Result]]) -> str:
    """One Markdown table: a check in each row."""
    rows = [f"| check | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for number, first in enumerate(next(iter(columns.values()))):
        rows.append(f"| {first.check} | {' | '.join(found[number].verdict for found in columns.values())} |")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="lamina-govern", description=__doc__)
    parser.add_argument(
        "systems",
        nargs="+",
        help="lamina, langgraph, mem0, basic_memory, sqlite_fts, plain, or your module with `fresh`",
    )
    parser.add_argument("--few", action="store_true", help="one statement in five")
    asked = parser.parse_args(arguments)
    columns: dict[str, list[Result]] = {}
    sys.path.append("")  # a module beside whoever runs this is found, too
    for name in asked.systems:
        try:
            module = importlib.import_module(_SYSTEMS + name if _SYSTEMS + name in _OURS else name)
        except ImportError as error:
            sys.stderr.write(f"{name}: {error}. Install it, or name a module that has `fresh()`.\n")
            return 2
        columns[module.fresh().name] = list(run(module.fresh, few=asked.few))
    sys.stdout.write(f"{table(columns)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
