"""docs/reference/errors.md has every code that can be met, with what the command line and HTTP make of it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from lamina import errors
from lamina.doors.cli.exits import exit_code_of
from lamina.doors.codes import told_of
from lamina.doors.http.problems import problem_of
from lamina.errors import LaminaError
from lamina.write import request

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "errors.md"
CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.LaminaError)
}


@cache
def modules() -> dict[str, ast.Module]:
    found = sorted((ROOT / "src").rglob("*.py"))
    return {path.as_posix(): ast.parse(path.read_text("utf-8")) for path in found}


@cache
def calls() -> list[tuple[str, ast.Call]]:
    """Every call with the name of what is called."""
    return [
        (name_of(node.func), node)
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    ]


def name_of(function: ast.expr) -> str:
    return getattr(function, "id", None) or getattr(function, "attr", "")


def texts(node: ast.expr | None) -> set[str]:
    """The strings an expression may come to, where they stand in it."""
    if isinstance(node, ast.IfExp):
        return texts(node.body) | texts(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def codes_of(called: str, position: int | None = None) -> set[str]:
    """The codes given to a class or function, by keyword or at a position."""
    found: set[str] = set()
    for name, call in calls():
        if name == called:
            found |= {code for word in call.keywords if word.arg == "code" for code in texts(word.value)}
            if position is not None and len(call.args) > position:
                found |= texts(call.args[position])
    return found


def made_codes() -> set[tuple[str, str]]:
    """Codes put together from a parameter, such as `<what>_invalid`: those of every call with a literal."""
    makers: dict[str, tuple[int, str, str]] = {}
    for tree in modules().values():
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            parameters = [arg.arg for arg in function.args.args]
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                for word in call.keywords:
                    if word.arg == "code" and isinstance(word.value, ast.JoinedStr):
                        parameter, ending = word.value.values
                        assert isinstance(parameter, ast.FormattedValue)
                        assert isinstance(ending, ast.Constant)
                        at = parameters.index(ast.unparse(parameter.value))
                        makers[function.name] = (at, str(ending.value), ast.unparse(call.func))
    found = set()
    for name, call in calls():
        if name in makers and len(call.args) > makers[name][0]:  # not another of that name
            at, ending, kind = makers[name]
            found |= {(what + ending, kind) for what in texts(call.args[at])}
    return found


def raised() -> set[tuple[str, str, int, int]]:
    """Code, class, exit code and HTTP status of every error in the sources."""
    pairs = {(kind.default_code, name) for name, kind in CLASSES.items()} | made_codes()
    pairs |= {(code, name) for name in CLASSES for code in codes_of(name)}
    return {(code, name, *outcomes(CLASSES[name], code)) for code, name in pairs}


def outcomes(kind: type[LaminaError], code: str = "") -> tuple[int, int]:
    return exit_code_of(kind), problem_of(kind("x", code=code)).status


def rows(page: str, heading: str) -> list[list[str]]:
    """The table under a heading, without backticks and without its head."""
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (`.*) \|$", section, re.M)
    return [[cell.strip("` ") for cell in re.split(r" \| ", line)] for line in lines]


def documented(page: str) -> set[tuple[str, str, int, int]]:
    return {(code, kind, int(ends), int(status)) for code, kind, ends, status, _ in rows(page, "Codes")}


def page() -> str:
    return PAGE.read_text("utf-8")


def first_column(heading: str) -> set[str]:
    return {row[0] for row in rows(page(), heading)}


def test_the_page_has_every_code_of_every_error_and_no_other() -> None:
    assert documented(page()) == raised()


def test_the_page_has_every_class_with_its_exit_code_and_its_status() -> None:
    told = {name: (int(ends), int(status)) for name, ends, status, _ in rows(page(), "Classes")}
    assert told == {name: outcomes(kind) for name, kind in CLASSES.items()}


def test_the_page_has_every_denial() -> None:
    assert first_column("Denials") == codes_of("Deny", 0)


def test_the_page_has_every_other_code_of_a_receipt() -> None:
    assert first_column("Other codes of receipts") == codes_of("Receipt") | codes_of("done", 0)


def test_the_page_has_every_refusal_of_a_promotion() -> None:
    told = {code for row in first_column("Promotions refused") for code in re.findall(r"\w+", row)}
    assert told == set(request._WHY)


def test_the_page_has_every_code_of_the_command_line() -> None:
    assert first_column("On the command line only") == codes_of("Failure")


def test_the_page_has_every_code_of_the_http_api() -> None:
    routing = next(
        node.value
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_ROUTING"
    )
    assert isinstance(routing, ast.Dict)
    fallbacks = [call.args[1] for name, call in calls() if ast.unparse(call.func) == "_ROUTING.get"]
    pairs = [pair for pair in (*routing.values, *fallbacks) if isinstance(pair, ast.Tuple)]
    routed = {code for pair in pairs for code in texts(pair.elts[0])}
    assert first_column("Over HTTP only") == codes_of("Problem") | codes_of("refused", 1) | routed


def test_every_code_has_a_meaning() -> None:
    headings = re.findall(r"^## (.+)$", page(), re.M)
    tables = [row for heading in headings for row in rows(page(), heading)]
    assert [row[0] for row in tables if not re.fullmatch(r"[^ ].*\.", row[-1])] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| `store_busy` |", "| `store_lazy` |"),
        ("| `not_found` | `NotFound` | 3 |", "| `not_found` | `NotFound` | 1 |"),
        ("| `Conflict` | 5 | 422 |", "| `Conflict` | 5 | 409 |"),
    ],
)
def test_a_page_that_differs_is_found(old: str, new: str) -> None:
    assert old in page()
    assert documented(page().replace(old, new, 1)) != raised()


def test_every_code_of_an_error_or_a_denial_says_what_to_do() -> None:
    codes = {code for code, *_ in raised()} | codes_of("Deny", 0) | codes_of("Deny")
    assert len(codes) > 250
    for code in codes - {"several_meant", "correction_unclear"}:
        meanings, hints = told_of(code)
        assert meanings, code
        assert hints, code
        assert all(len(hint) > 8 and not hint.startswith("…") for hint in hints), (code, hints)
    assert told_of("no_such_code") == ([], [])
