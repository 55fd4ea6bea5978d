"""The rules of docs/architecture.md and CONTRIBUTING.md that a machine can hold us to.

Each rule is a function from a module to its offences; each has snippets that it must catch and
snippets that it must let pass, so that no rule can go blind without a red test.
"""

from __future__ import annotations

import ast
import importlib
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

#: The public API, sorted. A name is added here in the commit that documents it; removing one breaks users.
PUBLIC = [
    "ConfigError",
    "Conflict",
    "Damaged",
    "Denied",
    "Engine",
    "Explanation",
    "Hit",
    "InvalidInput",
    "Kind",
    "LaminaError",
    "Layer",
    "Memory",
    "NotFound",
    "Outcome",
    "Receipt",
    "Recollection",
    "Role",
    "Scope",
    "ScopedMemory",
    "Space",
    "State",
    "Unauthenticated",
    "Unavailable",
    "aconnect",
    "aopen",
    "connect",
    "open",
]

#: From left to right; a module imports from rooms to its left or from its own. Names that share
#: a row are siblings and never import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("late",),
    ("records",),
    ("errors",),
    ("model",),
    ("clock",),
    ("durable",),
    ("config",),
    ("text",),
    ("language",),
    ("policy",),
    ("encoders",),
    ("ranking",),
    ("similarity",),
    ("storage", "workspace", "audit"),
    ("retrieval",),
    ("documents",),
    ("write",),
    ("read",),
    ("layers",),
    ("hear",),
    ("lifecycle",),
    ("imports",),
    ("jobs",),
    ("scoped",),
    ("engine",),
    ("operations",),
    ("doors", "integrations"),
    ("studio",),
    ("opening",),
    ("custody",),
    ("__init__", "testing"),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

PURE = {"model", "errors", "text", "language", "policy", "ranking", "similarity"}
#: What a pure module may import from outside: values, text and arithmetic; nothing that touches the world.
PURE_IMPORTS = {
    "__future__",
    "abc",
    "array",
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "itertools",
    "json",
    "math",
    "operator",
    "quopri",
    "re",
    "statistics",
    "string",
    "struct",
    "textwrap",
    "tomllib",
    "types",
    "typing",
    "unicodedata",
    "urllib.parse",
    "zlib",
    "Stemmer",
    "numpy",
    "yaml",
}
#: Of our own modules, those with time, chance or I/O in them that stand to the left of a pure layer.
IMPURE_LEFT = {"clock", "durable"}

#: Where time and chance come from. Only clock.py may ask.
TIME_AND_CHANCE = {
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "numpy.random",
    "os.getrandom",
    "os.urandom",
    "random",
    "secrets",
    "time.gmtime",
    "time.localtime",
    "time.monotonic",
    "time.monotonic_ns",
    "time.perf_counter",
    "time.perf_counter_ns",
    "time.time",
    "time.time_ns",
    "uuid",
}

MAX_FILE_LINES = 800
#: Of the whole wheel. It follows what is there; growing it by over 1 % takes a sentence in a decision
#: (0021 to 0034; the sum is in 0034).
MAX_STATEMENTS = 43_672
MAX_FUNCTION_LINES = 50
#: Of our own modules that one of ours imports.
MAX_FAN_OUT = 20
IN_PLACE_OF_A_LIBRARY = {"records.py", "late.py"}
#: Those that need more, and why.
FAN_OUT = {
    "write/request.py": (22, "what each verb means: gates, wording, files and every step meet in it"),
    "write/store.py": (26, "an open store, and who asks of it, is made of everything that a change needs"),
    "imports/restore_export.py": (
        21,
        "an export is everything that is kept: the gates and every table meet in it",
    ),
    "doors/cli/render.py": (34, "it shows every sort of answer, so it names the type of each"),
    "opening.py": (25, "the composition root: it puts every part together"),
    "scoped.py": (55, "every verb for one caller, a line each: it names the module of every room"),
}
#: Public classes whose name another one has: those of adapters are called as in their framework.
NAMED_AS_THERE = {"LaminaMemory", "LaminaProvider", "LaminaStore", "Session", "Store"}
SMALL = 40
#: Modules under 40 lines with one importer that are a thing of their own.
SMALL_AND_NAMED = {
    "documents/pace.py": "the pace of a watcher, which is tested by itself",
    "documents/snippets.py": "which part of a text is shown, apart from what an answer holds",
    "doors/codes.py": "every door's codes, kept beside their table",
    "language/hints.py": "one sort of thing that a sentence says, as its neighbours are",
}
#: Who names a query beside `storage`: the checkpoints of another framework have tables of their own.
NAMES_SQL = ("storage/", "integrations/langgraph/")
MAX_PARAMETERS = 6
#: A decorated function here is a command, a route or a tool: each parameter is a flag or a field.
ONE_PARAMETER_PER_FIELD = ("doors/cli/", "doors/http/", "doors/mcp/")
DYNAMIC_IMPORTS = {"opening.py", "__main__.py", "__init__.py"}
EMPTY_NAMES = re.compile(r"(Manager|Service|Helper|Utils|Handler|Factory|Base|Impl)$")

#: In jobs/ these run jobs; everything else there is work, and touches files through its desk alone.
RUNS_JOBS = {"jobs/clockwork.py", "jobs/desk.py", "jobs/run.py"}
BEHIND_THE_DESK = (
    "asyncio",
    "ctypes",
    "io",
    "lamina.workspace.files",
    "lamina.workspace.locks",
    "os",
    "pathlib",
    "shutil",
    "subprocess",
    "tempfile",
    "threading",
)

EVERYTHING = {"Exception", "BaseException"}
#: Marks for tools, which are not reasons.
TOOL_MARKS = re.compile(r"noqa(: ?[A-Z]+\d+(, ?[A-Z]+\d+)*)?|pragma: no \w+|type: ignore(\[[\w-]+\])?")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One source file, by its path under src/lamina; those of the libraries by the path under src."""

    path: str
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source, self.path)

    @property
    def layer(self) -> str:
        return self.path.split("/")[0].removesuffix(".py")

    @property
    def package(self) -> list[str]:
        return ["lamina", *self.path.split("/")[:-1]]

    @cached_property
    def comments(self) -> dict[int, str]:
        tokens = tokenize.generate_tokens(io.StringIO(self.source).readline)
        return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        return [node for node in self.nodes if isinstance(node, Function)]

    @cached_property
    def imported(self) -> list[tuple[int, str, str | None]]:
        """Line, module and the name taken from it (None for `import module`), in full dotted names."""
        found: list[tuple[int, str, str | None]] = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name, None) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                above = self.package[: len(self.package) - node.level + 1] if node.level else []
                module = ".".join([*above, *(node.module or "").split(".")]).rstrip(".")
                found += [(node.lineno, module, alias.name) for alias in node.names]
        return found

    @cached_property
    def names(self) -> dict[str, str]:
        """What each imported name stands for: `np` is numpy, `datetime` may be datetime.datetime."""
        known: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.split(".")[0]
                    known[alias.asname or first] = alias.name if alias.asname else first
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        return known

    def dotted(self, node: ast.expr) -> str:
        """The full name of an expression like `np.random`; empty when it is not a chain of names."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute) and (left := self.dotted(node.value)):
            return f"{left}.{node.attr}"
        return ""

    def mentions(self) -> Iterator[tuple[int, str]]:
        """Every chain of names that is used, with its line."""
        for node in self.nodes:
            if isinstance(node, ast.Name | ast.Attribute) and (name := self.dotted(node)):
                yield node.lineno, name

    def calls(self) -> Iterator[tuple[int, str, ast.Call]]:
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield node.lineno, self.dotted(node.func), node


Rule = Callable[[Module], Iterable[str]]

SRC = Path(__file__).parents[1] / "src" / "lamina"
MODULES = [
    Module(path.relative_to(SRC).as_posix(), path.read_text(encoding="utf-8"))
    for path in sorted(SRC.rglob("*.py"))
]


def within(name: str, prefixes: Iterable[str]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


# The rules.


def wrong_direction(module: Module) -> Iterator[str]:
    if module.layer not in RANK:
        yield f"{module.path}: `{module.layer}` is in no layer; give it a place in LAYERS"
        return
    for line, imported, name in module.imported:
        if not within(imported, ["lamina"]):
            continue
        target = ".".join(imported.split(".")[1:2]) or (name if name in RANK else "__init__")
        if target not in RANK:
            yield f"{module.path}:{line}: imports `{target}`, which is in no layer"
        elif target != module.layer and RANK[target] >= RANK[module.layer]:
            yield f"{module.path}:{line}: {module.layer} may not import {target}"


def impure_import(module: Module) -> Iterator[str]:
    if module.layer not in PURE:
        return
    for line, imported, name in module.imported:
        full = f"{imported}.{name}" if name else imported
        if within(full, ["lamina"]):
            if any(within(full, [f"lamina.{impure}"]) for impure in IMPURE_LEFT):
                yield f"{module.path}:{line}: {module.layer} is pure and may not import {full}"
        elif not within(full, PURE_IMPORTS):
            yield f"{module.path}:{line}: {module.layer} is pure and may not import {full}"
    for line, name, _ in module.calls():
        if name in {"open", "input", "breakpoint"}:
            yield f"{module.path}:{line}: {module.layer} is pure and may not call {name}()"


def time_or_chance(module: Module) -> Iterator[str]:
    if module.path == "clock.py":
        return
    for line, imported, name in module.imported:
        full = f"{imported}.{name}" if name else imported
        if within(full, TIME_AND_CHANCE):
            yield f"{module.path}:{line}: imports {full}; take it from the clock"
    for line, name in module.mentions():
        if name in TIME_AND_CHANCE and "." in name:
            yield f"{module.path}:{line}: uses {name}; take it from the clock"


def long_file(module: Module) -> Iterator[str]:
    if (lines := len(module.source.splitlines())) > MAX_FILE_LINES:
        yield f"{module.path}: {lines} lines, {MAX_FILE_LINES} allowed"


def long_function(module: Module) -> Iterator[str]:
    for function in module.functions:
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > MAX_FUNCTION_LINES:
            allowed = f"{MAX_FUNCTION_LINES} allowed"
            yield f"{module.path}:{function.lineno}: {function.name} has {lines} lines, {allowed}"


def many_parameters(module: Module) -> Iterator[str]:
    for function in module.functions:
        if function.decorator_list and module.path.startswith(ONE_PARAMETER_PER_FIELD):
            continue
        spec = function.args
        every = [*spec.posonlyargs, *spec.args, spec.vararg, *spec.kwonlyargs, spec.kwarg]
        names = [arg.arg for arg in every if arg is not None]
        count = len(names) - (names[:1] in (["self"], ["cls"]))
        if count > MAX_PARAMETERS:
            allowed = f"{MAX_PARAMETERS} allowed"
            yield f"{module.path}:{function.lineno}: {function.name} has {count} parameters, {allowed}"


def nameless_tuple(module: Module) -> Iterator[str]:
    """A parameter of two or more places, none of which has a name: `spaces: tuple[Space, Space]`.

    In a sequence they are rows, and an alias beside its comment is a name.
    """
    for function in module.functions:
        spec = function.args
        for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg):
            if arg is not None and any(map(_is_fixed, _choices(arg.annotation))):
                told = ast.unparse(arg.annotation) if arg.annotation else ""
                yield f"{module.path}:{function.lineno}: {function.name} takes a {told}; name its places"


def _choices(annotation: ast.expr | None) -> Iterator[ast.expr | None]:
    """What a parameter may be, one by one: `A | None` is two."""
    if isinstance(annotation, ast.BinOp):
        yield from _choices(annotation.left)
        yield from _choices(annotation.right)
    else:
        yield annotation


def _is_fixed(annotation: ast.expr | None) -> bool:
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value) != "tuple":
        return False
    places = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    return ast.unparse(places[-1]) != "..."


def late_import(module: Module) -> Iterator[str]:
    for function in module.functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield f"{module.path}:{node.lineno}: an import inside {function.name}"


def dynamic_import(module: Module) -> Iterator[str]:
    if module.path in DYNAMIC_IMPORTS:
        return
    for line, name in module.mentions():
        if name in {"importlib.import_module", "__import__"}:
            yield f"{module.path}:{line}: {name} belongs in {' or '.join(sorted(DYNAMIC_IMPORTS))}"


def empty_name(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.ClassDef) and EMPTY_NAMES.search(node.name):
            yield f"{module.path}:{node.lineno}: {node.name} says nothing; name the thing it is"


def no_docstring(module: Module) -> Iterator[str]:
    if not ast.get_docstring(module.tree):
        yield f"{module.path}: no module docstring"


def unexplained_catch_all(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            names = {module.dotted(kind) if kind else "Exception" for kind in kinds}
            if isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None:
                names -= {"BaseException"}  # cleans up and lets it go on: nothing is caught
        elif isinstance(node, ast.Call) and module.dotted(node.func) == "contextlib.suppress":
            names = {module.dotted(kind) for kind in node.args}
        else:
            continue
        if names & EVERYTHING and not reason(module.comments.get(node.lineno, "")):
            yield f"{module.path}:{node.lineno}: catches everything and does not say why on that line"


def reason(comment: str) -> bool:
    """Whether a comment says something to people."""
    return len(re.findall(r"\w+", TOOL_MARKS.sub("", comment))) >= 2


def behind_the_desk(module: Module) -> Iterator[str]:
    """A job's files go through its desk, which asks its grant; what runs jobs is not a job."""
    if module.layer != "jobs" or module.path in RUNS_JOBS:
        return
    for line, imported, name in module.imported:
        full = f"{imported}.{name}" if name else imported
        if within(full, BEHIND_THE_DESK):
            yield f"{module.path}:{line}: a job may not import {full}; `task.files` reads and writes"
    for line, name, call in module.calls():
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name == "open" or method in {"open", "write_text", "write_bytes", "unlink", "rename"}:
            yield f"{module.path}:{line}: a job may not call {method or name}(); `task.files` writes"


def stray_print(module: Module) -> Iterator[str]:
    if module.path.startswith("doors/cli/"):
        return
    for line, name, _ in module.calls():
        if name == "print":
            yield f"{module.path}:{line}: print() outside doors/cli"


def statements(modules: Iterable[Module]) -> int:
    """How much code there is, counted so that packing lines helps nobody."""
    return sum(isinstance(node, ast.stmt) for module in modules for node in module.nodes)


def stray_sql(module: Module) -> Iterator[str]:
    """A named query is run in storage alone; everybody else asks a class of it."""
    if module.path.startswith(NAMES_SQL):
        return
    for line, _, call in module.calls():
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in {"all", "one", "run", "many"}:
            continue
        first = call.args[0] if call.args else None
        named = isinstance(first, ast.JoinedStr) or (
            isinstance(first, ast.Constant) and isinstance(first.value, str)
        )
        owner = module.dotted(call.func.value).rpartition(".")[2]
        if named and owner in {"tx", "transaction", "_tx", "whole"}:
            yield f"{module.path}:{line}: names a query; ask a class of storage"


Graph = dict[str, set[str]]


def graph_of(modules: Iterable[Module]) -> Graph:
    """Path of a module to the paths of ours that it imports, for types only or not."""
    known = {_dotted_path(module.path): module.path for module in modules}
    graph: Graph = {module.path: set() for module in modules}
    for module in modules:
        for _, imported, name in module.imported:
            target = known.get(f"{imported}.{name}") or known.get(imported)
            if target is not None and target != module.path:
                graph[module.path].add(target)
    return graph


def _dotted_path(path: str) -> str:
    return "lamina." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def cycles(graph: Graph) -> list[list[str]]:
    """Modules that import each other, however long the way round."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for target in graph[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        reached[start] = seen
    rings = {tuple(sorted(one for one in reached[start] if start in reached[one])) for start in graph}
    return sorted(list(ring) for ring in rings if ring)


def fan_out(graph: Graph) -> Iterator[str]:
    for path, targets in graph.items():
        most, _ = FAN_OUT.get(path, (MAX_FAN_OUT, ""))
        needed = [target for target in targets if target not in IN_PLACE_OF_A_LIBRARY]
        if len(needed) > most:
            yield f"{path}: imports {len(needed)} modules, {most} allowed"


def fragments(modules: Sequence[Module], graph: Graph) -> Iterator[str]:
    """Small modules that only one other needs, and classes that only one other is made of."""
    for module in modules:
        users = [path for path, targets in graph.items() if module.path in targets]
        small = len(module.source.splitlines()) < SMALL and not module.path.endswith("__init__.py")
        if small and len(users) == 1 and module.path not in SMALL_AND_NAMED:
            yield f"{module.path}: under {SMALL} lines, and only {users[0]} needs it; merge or name it"
    nodes = [(module, node) for module in modules for node in module.nodes]
    bases: dict[str, list[str]] = {}
    for module, node in nodes:
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                bases.setdefault(ast.unparse(base).partition("[")[0], []).append(module.path)
    used: dict[str, int] = {}
    for _, node in nodes:
        if isinstance(node, ast.Name):
            used[node.id] = used.get(node.id, 0) + 1
    for module, node in nodes:
        if isinstance(node, ast.ClassDef) and len(bases.get(node.name, ())) == 1 and used[node.name] == 1:
            heir = bases[node.name][0]
            yield f"{module.path}:{node.lineno}: {node.name} is there for one class in {heir} alone"


def named_twice(modules: Iterable[Module]) -> list[str]:
    """Public classes of the same name: whoever reads it has to ask which one is meant."""
    homes: dict[str, list[str]] = {}
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module.path)
    twice = {name: paths for name, paths in homes.items() if len(paths) > 1 and name not in NAMED_AS_THERE}
    return [f"{name} is a class of {' and of '.join(paths)}" for name, paths in sorted(twice.items())]


def hold(rule: Rule, modules: Iterable[Module]) -> None:
    if offences := [offence for module in modules for offence in rule(module)]:
        pytest.fail("\n".join(offences), pytrace=False)


def waits_for_code(module: Module, modules: Iterable[Module]) -> bool:
    """An empty `__init__.py` alone in its folder: a layer that nobody has written yet."""
    folder = module.path.removesuffix("__init__.py")
    return (
        module.path.endswith("__init__.py")
        and not module.tree.body
        and not any(other.path.startswith(folder) and other.tree.body for other in modules)
    )


# The code keeps them.


def test_there_is_code_to_look_at() -> None:
    assert any(module.path == "errors.py" for module in MODULES)


def test_a_module_imports_only_from_layers_to_its_left_or_from_its_own_folder() -> None:
    hold(wrong_direction, MODULES)


def test_pure_layers_import_nothing_that_touches_the_world() -> None:
    hold(impure_import, MODULES)


def test_time_and_chance_come_from_the_clock_alone() -> None:
    hold(time_or_chance, MODULES)


def test_no_file_is_longer_than_800_lines() -> None:
    hold(long_file, MODULES)


def test_no_function_is_longer_than_50_lines() -> None:
    hold(long_function, MODULES)


def test_no_function_takes_more_than_six_parameters() -> None:
    hold(many_parameters, MODULES)


def test_no_parameter_is_a_tuple_whose_places_have_no_name() -> None:
    hold(nameless_tuple, MODULES)


def test_the_wheel_grows_only_with_a_reason() -> None:
    assert statements(MODULES) <= MAX_STATEMENTS


def test_imports_stand_at_the_top_of_a_module() -> None:
    hold(late_import, MODULES)


def test_only_the_composition_root_imports_by_name() -> None:
    hold(dynamic_import, MODULES)


def test_the_public_api_is_exactly_what_is_listed_here() -> None:
    lamina = importlib.import_module("lamina")
    assert sorted(lamina.__all__) == PUBLIC
    assert [name for name in PUBLIC if not hasattr(lamina, name)] == []


def test_no_class_has_a_name_that_says_nothing() -> None:
    hold(empty_name, MODULES)


def test_every_module_says_what_it_owns() -> None:
    hold(no_docstring, [module for module in MODULES if not waits_for_code(module, MODULES)])


def test_whoever_catches_everything_says_why() -> None:
    hold(unexplained_catch_all, MODULES)


def test_only_the_command_line_prints() -> None:
    hold(stray_print, MODULES)


def test_a_job_touches_files_through_its_desk_alone() -> None:
    hold(behind_the_desk, MODULES)


def test_storage_alone_names_sql() -> None:
    hold(stray_sql, MODULES)


def test_no_modules_import_each_other() -> None:
    assert cycles(graph_of(MODULES)) == []


def test_a_module_needs_few_others() -> None:
    assert list(fan_out(graph_of(MODULES))) == []


def test_nothing_is_split_off_for_one_user() -> None:
    assert list(fragments(MODULES, graph_of(MODULES))) == []


def test_a_class_name_exists_once() -> None:
    assert named_twice(MODULES) == []


# The rules catch what they are for, and nothing else.

BODY_OF_51 = "def f():\n" + "    x = 1\n" * 50
SIX = "a, b, c, d, e, f"

CAUGHT: list[tuple[Rule, str, str]] = [
    (wrong_direction, "errors.py", "import lamina.model"),
    (wrong_direction, "model/a.py", "from lamina.storage import sqlite"),
    (wrong_direction, "model/a.py", "from lamina import storage"),
    (wrong_direction, "model/a.py", "from .. import storage"),
    (wrong_direction, "model/a.py", "from ..storage.sqlite import x"),
    (wrong_direction, "clock.py", "from lamina.config import Config"),
    (wrong_direction, "language/a.py", "from lamina.policy import x"),
    (wrong_direction, "storage/a.py", "from lamina.audit import x"),
    (wrong_direction, "workspace/a.py", "from lamina.audit import x"),
    (wrong_direction, "ranking/a.py", "from lamina.storage import x"),
    (wrong_direction, "jobs/a.py", "from lamina.engine import Engine"),
    (wrong_direction, "read/a.py", "from lamina.scoped import ScopedMemory"),
    (
        wrong_direction,
        "hear/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lamina.scoped import ScopedMemory",
    ),
    (wrong_direction, "imports/a.py", "from lamina.jobs import x"),
    (wrong_direction, "doors/cli/a.py", "from lamina.integrations import x"),
    (wrong_direction, "doors/cli/a.py", "from lamina.opening import x"),
    (wrong_direction, "doors/cli/a.py", "from lamina import open"),
    (wrong_direction, "doors/cli/a.py", "import lamina"),
    (wrong_direction, "opening.py", "from lamina.testing import x"),
    (wrong_direction, "model/a.py", "def f():\n    from lamina.opening import x"),
    (wrong_direction, "helpers/a.py", "x = 1"),
    (wrong_direction, "engine/a.py", "from lamina.helpers import x"),
    *[
        (impure_import, "text/a.py", f"import {name}")
        for name in (
            "os",
            "os.path",
            "pathlib",
            "socket",
            "subprocess",
            "sqlite3",
            "threading",
            "time",
            "random",
            "secrets",
            "uuid",
            "tempfile",
            "shutil",
            "io",
            "importlib",
            "urllib.request",
            "apsw",
            "pydantic",
        )
    ],
    (impure_import, "similarity/a.py", "from os import path"),
    (impure_import, "similarity/a.py", "from urllib import request"),
    (impure_import, "similarity/a.py", "from importlib import import_module"),
    (impure_import, "policy/a.py", "from lamina.clock import Clock"),
    (impure_import, "policy/a.py", "from lamina import clock"),
    (impure_import, "errors.py", "import os"),
    (impure_import, "ranking/a.py", "x = open('a')"),
    (time_or_chance, "engine/a.py", "from datetime import datetime\nx = datetime.now()"),
    (time_or_chance, "engine/a.py", "import datetime as dt\nx = dt.datetime.utcnow()"),
    (time_or_chance, "engine/a.py", "from datetime import date\nx = date.today()"),
    (time_or_chance, "engine/a.py", "from datetime import datetime as d\nnow = d.now"),
    (time_or_chance, "engine/a.py", "import time\nx = time.time()"),
    (time_or_chance, "engine/a.py", "from time import perf_counter as p"),
    (time_or_chance, "engine/a.py", "import random"),
    (time_or_chance, "engine/a.py", "from random import choice"),
    (time_or_chance, "engine/a.py", "import numpy as np\nx = np.random.rand()"),
    (time_or_chance, "engine/a.py", "from uuid import uuid4"),
    (time_or_chance, "engine/a.py", "import secrets"),
    (time_or_chance, "storage/a.py", "import os\nx = os.urandom(8)"),
    (time_or_chance, "doors/cli/clock.py", "import uuid"),
    (long_file, "engine/a.py", "x = 1\n" * 801),
    (long_function, "engine/a.py", BODY_OF_51),
    (long_function, "engine/a.py", BODY_OF_51.replace("def", "async def")),
    (many_parameters, "engine/a.py", f"def f({SIX}, g): ..."),
    (many_parameters, "engine/a.py", f"def f({SIX}, *args): ..."),
    (many_parameters, "engine/a.py", f"def f(*, {SIX}, **options): ..."),
    (many_parameters, "engine/a.py", f"class A:\n    def f(self, {SIX}, g): ..."),
    (many_parameters, "engine/a.py", f"@app.command()\ndef f({SIX}, g): ..."),
    (many_parameters, "doors/cli/a.py", f"def f({SIX}, g): ..."),
    (nameless_tuple, "read/a.py", "def f(spaces: tuple[Space, Space]): ..."),
    (nameless_tuple, "read/a.py", "class A:\n    async def f(self, *, at: tuple[int, str] | None): ..."),
    (nameless_tuple, "read/a.py", "def f(one: tuple[int]): ..."),
    (late_import, "engine/a.py", "def f():\n    import os"),
    (late_import, "engine/a.py", "class A:\n  async def f(self):\n    if x:\n      from a import b"),
    (dynamic_import, "engine/a.py", "import importlib\nx = importlib.import_module('a')"),
    (dynamic_import, "engine/a.py", "from importlib import import_module\nx = import_module('a')"),
    (dynamic_import, "engine/app.py", "x = __import__('a')"),
    *[
        (empty_name, "engine/a.py", f"class {name}: ...")
        for name in (
            "MemoryManager",
            "_Service",
            "TextHelper",
            "Utils",
            "EventHandler",
            "GateFactory",
            "StoreBase",
            "StoreImpl",
        )
    ],
    (no_docstring, "engine/a.py", "x = 1"),
    (no_docstring, "engine/a.py", "# a comment"),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept: ..."),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept Exception: ..."),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept BaseException as error: ..."),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept BaseException:\n    if x:\n        raise"),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept (OSError, Exception): ..."),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept Exception:  # noqa: BLE001\n    ..."),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept Exception:\n    # a reason too late\n    ..."),
    (unexplained_catch_all, "engine/a.py", "from contextlib import suppress\nwith suppress(Exception): ..."),
    (behind_the_desk, "jobs/a.py", "from pathlib import Path"),
    (behind_the_desk, "jobs/a.py", "import os"),
    (behind_the_desk, "jobs/a.py", "from lamina.workspace.files import replace_file"),
    (behind_the_desk, "jobs/a.py", "from lamina.workspace import files"),
    (behind_the_desk, "jobs/a.py", "def f(task): open('MEMORY.md', 'w')"),
    (behind_the_desk, "jobs/a.py", "def f(task): (task.store.root / 'MEMORY.md').write_text('x')"),
    (stray_sql, "read/a.py", "def f(tx): return tx.all('memory_by_id', id='x')"),
    (stray_sql, "lifecycle/a.py", "def f(unit, n): unit.transaction.run(f'count_{n}', id=1)"),
    (stray_sql, "doors/http/a.py", "class A:\n    def f(self): self._tx.one('x')"),
    (stray_print, "engine/a.py", "print('x')"),
    (stray_print, "doors/http/a.py", "def f():\n    print()"),
]

ALLOWED: list[tuple[Rule, str, str]] = [
    (wrong_direction, "model/a.py", "from lamina.errors import Denied\nfrom lamina.model import Scope"),
    (wrong_direction, "model/a.py", "from . import scope\nfrom .scope import Scope"),
    (wrong_direction, "policy/a.py", "from lamina.config import x\nfrom lamina.language import x"),
    (wrong_direction, "jobs/a.py", "from lamina.imports import x\nfrom lamina.write.store import Store"),
    (wrong_direction, "doors/http/a.py", "from lamina.doors.cli import x\nfrom lamina import engine"),
    (wrong_direction, "__init__.py", "from lamina.opening import open"),
    (wrong_direction, "__main__.py", "from lamina import app"),
    (wrong_direction, "errors.py", "import laminar"),
    (impure_import, "text/a.py", "from functools import cache\nfrom collections.abc import Set"),
    (impure_import, "text/a.py", "import functools\nimport Stemmer\nimport numpy as np"),
    (impure_import, "language/a.py", "from lamina.config import Config\nfrom urllib.parse import quote"),
    (impure_import, "encoders/a.py", "import os"),
    (impure_import, "storage/a.py", "import os\nfrom lamina.clock import Clock\nx = open('a')"),
    (time_or_chance, "clock.py", "import secrets\nimport time\nx = time.time()"),
    (time_or_chance, "engine/a.py", "from datetime import datetime\nx = datetime.fromtimestamp(0, UTC)"),
    (time_or_chance, "engine/a.py", "def f(clock, random, uuid):\n    return clock.now(), random.x, uuid"),
    (time_or_chance, "storage/a.py", "import time\nx = time.sleep(1)"),
    (long_file, "engine/a.py", "x = 1\n" * 800),
    (long_function, "engine/a.py", BODY_OF_51.removesuffix("    x = 1\n")),
    (many_parameters, "engine/a.py", f"class A:\n    def f(self, {SIX}): ..."),
    (many_parameters, "doors/cli/a.py", f"@app.command()\ndef f({SIX}, g): ..."),
    (nameless_tuple, "read/a.py", "def f(ids: tuple[str, ...], rows: Iterable[tuple[int, str]]): ..."),
    (nameless_tuple, "read/a.py", "Span = tuple[int, int]\ndef f(span: Span) -> tuple[str, str]: ..."),
    (late_import, "engine/a.py", "import os\nif x:\n    import re"),
    (dynamic_import, "opening.py", "import importlib\nx = importlib.import_module('a')"),
    (empty_name, "engine/a.py", "class Database: ...\nclass ServiceDesk: ..."),
    (no_docstring, "engine/a.py", '"""Says."""'),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept OSError: ..."),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept Exception:  # noqa: BLE001 its reason\n    ..."),
    (unexplained_catch_all, "engine/a.py", "try: ...\nexcept BaseException:\n    undo()\n    raise"),
    (behind_the_desk, "jobs/a.py", "def f(task): task.files.change('memory/a.md', lambda old: old)"),
    (behind_the_desk, "jobs/run.py", "from lamina.workspace.locks import locked"),
    (behind_the_desk, "imports/a.py", "from pathlib import Path"),
    (stray_sql, "storage/a.py", "def f(tx): return tx.all('memory_by_id', id='x')"),
    (stray_sql, "jobs/a.py", "def f(clock): clock.run('now')"),
    (stray_print, "doors/cli/a.py", "print('x')"),
    (stray_print, "engine/a.py", "console.print('x')"),
]


@pytest.mark.parametrize(("rule", "path", "source"), CAUGHT)
def test_a_rule_catches_what_it_is_for(rule: Rule, path: str, source: str) -> None:
    assert list(rule(Module(path, source)))


@pytest.mark.parametrize(("rule", "path", "source"), ALLOWED)
def test_a_rule_lets_good_code_pass(rule: Rule, path: str, source: str) -> None:
    assert list(rule(Module(path, source))) == []


def test_every_rule_has_been_seen_to_catch_and_to_let_pass() -> None:
    rules = {
        wrong_direction,
        impure_import,
        time_or_chance,
        long_file,
        long_function,
        many_parameters,
        nameless_tuple,
        late_import,
        dynamic_import,
        empty_name,
        no_docstring,
        unexplained_catch_all,
        stray_print,
        stray_sql,
        behind_the_desk,
    }
    assert {rule for rule, _, _ in CAUGHT} == {rule for rule, _, _ in ALLOWED} == rules


def small(path: str, source: str, lines: int = 10) -> Module:
    return Module(path, source + "\n" * (lines - source.count("\n")))


def test_a_ring_of_imports_is_found_behind_type_checking_too() -> None:
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lamina.read.c import C"
    ring = [
        Module("read/a.py", "from lamina.read.b import B"),
        Module("read/b.py", for_types),
        Module("read/c.py", "from lamina.read import a"),
        Module("read/d.py", "from lamina.read.a import A"),
    ]
    assert cycles(graph_of(ring)) == [["read/a.py", "read/b.py", "read/c.py"]]
    assert cycles(graph_of(ring[:2])) == []


def test_a_module_that_needs_too_many_is_found() -> None:
    others = [Module(f"read/m{number}.py", "") for number in range(21)]
    many = "\n".join(f"from lamina.read.m{number} import x" for number in range(21))
    assert list(fan_out(graph_of([*others, Module("read/a.py", many)])))
    assert not list(fan_out(graph_of([*others[:20], Module("read/a.py", many)])))


def test_what_is_there_for_one_user_is_found() -> None:
    def told(*modules: Module) -> list[str]:
        return list(fragments(modules, graph_of(modules)))

    only, other = "from lamina.read.a import f\nf()", "from lamina.read.a import f\nf(1)"
    assert told(small("read/a.py", "def f(): ..."), small("read/b.py", only, 60))
    assert not told(small("read/a.py", "def f(): ...", 60), small("read/b.py", only, 60))
    assert not told(
        small("read/a.py", "def f(): ..."), small("read/b.py", only, 60), small("read/c.py", other, 60)
    )
    half, whole = "class Half: ...", "from lamina.read.a import Half\nclass Whole(Half): ..."
    assert told(small("read/a.py", half, 60), small("read/b.py", whole, 60))
    asked = whole + "\ndef f(one: Half): ..."
    assert not told(small("read/a.py", half, 60), small("read/b.py", asked, 60))


def test_a_name_that_stands_for_two_classes_is_found() -> None:
    one, other = Module("read/a.py", "class Page: ..."), Module("studio/b.py", "class Page: ...")
    assert named_twice([one, other]) == ["Page is a class of read/a.py and of studio/b.py"]
    own = [Module("read/a.py", "class _Page: ..."), Module("studio/b.py", "class _Page: ...")]
    framework = [Module("write/a.py", "class Store: ..."), Module("integrations/b.py", "class Store: ...")]
    assert named_twice([one, *own, *framework]) == []


def test_packing_lines_makes_no_room() -> None:
    packed, spread = Module("engine/a.py", "x = 1; y = 2\n"), Module("engine/a.py", "x = 1\ny = 2\n")
    assert statements([packed]) == statements([spread]) == 2


def test_an_unwritten_layer_is_excused_and_a_written_one_is_not() -> None:
    empty, full = Module("jobs/__init__.py", ""), Module("jobs/decay.py", "x = 1")
    assert waits_for_code(empty, [empty])
    assert not waits_for_code(empty, [empty, full])
    assert not waits_for_code(full, [empty, full])
