"""docs/conformance.md accounts for every requirement, and for nothing that does not exist."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GROUPS = {"CM": 14, "AM": 13, "FL": 14, "GC": 11, "IS": 15, "G": 12, "L": 7, "S": 6, "X": 15}
REQUIRED = [f"{group}-{number}" for group, last in GROUPS.items() for number in range(1, last + 1)]
#: What goes beyond the documents; a row comes with what is built.
BEYOND = [f"BY-{number}" for number in range(1, 19)]
STATES = {"open", "partial", "done"}


@dataclass(frozen=True)
class Row:
    """One requirement as the page states it."""

    id: str
    meaning: str
    state: str
    tests: tuple[str, ...]


def rows(page: str) -> list[Row]:
    found = []
    for line in page.splitlines():
        if re.match(r"\|\s*[A-Z]{1,2}-\d", line):
            name, meaning, state, tests = (cell.strip() for cell in line.strip().strip("|").split("|"))
            named = tuple(test.strip().strip("`") for test in tests.split(",") if test.strip())
            found.append(Row(name, meaning, state, named))
    return found


def wrong(page: str, root: Path) -> list[str]:
    """Everything about the page that is not so."""
    table = rows(page)
    counted = Counter(row.id for row in table)
    return [
        *[f"{name} appears {counted[name]} times" for name in REQUIRED if counted[name] != 1],
        *[f"{name} appears {counted[name]} times" for name in BEYOND if counted[name] > 1],
        *[f"{name} is no requirement" for name in counted if name not in (*REQUIRED, *BEYOND)],
        *[f"{row.id} has no meaning" for row in table if not row.meaning],
        *[f"{row.id} is {row.state!r}" for row in table if row.state not in STATES],
        *[f"{row.id} is done without a test" for row in table if row.state == "done" and not row.tests],
        *[
            f"{row.id} names {test}, which is not there"
            for row in table
            for test in row.tests
            if not there(test, root)
        ],
    ]


def there(test: str, root: Path) -> bool:
    file, _, name = test.partition("::")
    path = root / file
    if not file.startswith("tests/") or not path.exists():
        return False
    if not name:
        return True
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(tree))


def page() -> str:
    return (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")


def test_every_requirement_is_accounted_for_once_and_every_test_named_exists() -> None:
    assert wrong(page(), ROOT) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("| CM-1 |", "| CM-15 |", "CM-1 appears 0 times"),
        ("| CM-1 |", "| CM-15 |", "CM-15 is no requirement"),
        ("| CM-2 |", "| CM-1 |", "CM-1 appears 2 times"),
        ("| open | |", "| finished | |", "CM-1 is 'finished'"),
        ("| open | |", "| done | |", "CM-1 is done without a test"),
        ("| open | |", "| open | `tests/no.py` |", "CM-1 names tests/no.py, which is not there"),
        ("| open | |", "| open | `README.md` |", "CM-1 names README.md, which is not there"),
        (
            "| open | |",
            "| open | `tests/docs/test_conformance.py::test_no` |",
            "CM-1 names tests/docs/test_conformance.py::test_no, which is not there",
        ),
    ],
)
def test_a_false_line_is_found(old: str, new: str, complaint: str) -> None:
    lines = "\n".join(f"| {name} | x | open | |" for name in REQUIRED)
    assert wrong(lines, ROOT) == []
    assert complaint in wrong(lines.replace(old, new, 1), ROOT)


def test_several_tests_may_prove_one_requirement() -> None:
    this = "tests/docs/test_conformance.py"
    row = f"| CM-1 | x | done | `{this}`, `{this}::test_several_tests_may_prove_one_requirement` |"
    assert [there(test, ROOT) for test in rows(row)[0].tests] == [True, True]
