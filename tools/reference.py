"""Makes what is made from something else: reference pages, the list of commands, codes, rules worked out.

`python -m tools.reference` writes them; `tests/docs/test_reference.py` says when they are no longer current.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import lamina
from lamina.doors.cli import agents, custody, machine
from lamina.doors.cli.app import GROUPS, help_text
from lamina.doors.cli.call import CliCommand
from lamina.doors.cli.commands import INDEX, OWN, commands
from lamina.doors.cli.parse import options_of
from lamina.doors.mcp.shapes import schema_of
from lamina.doors.mcp.tools import arguments_of, offered
from lamina.engine import Engine
from lamina.language.rulebook import pack_rules
from lamina.operations.asking import members
from lamina.operations.catalogue import OPERATIONS
from lamina.operations.operation import Door, Operation, Parameter, Route
from lamina.scoped import ScopedMemory

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "reference"
CODES = ROOT / "src" / "lamina" / "doors" / "data" / "codes.tsv"
HELP = ROOT / "src" / "lamina" / "doors" / "cli" / "data" / "help.txt"
RULES = ROOT / "src" / "lamina" / "language" / "data" / "rules.json"
MADE = "<!-- What follows is made by `python -m tools.reference`; change the declarations instead. -->\n"
#: What to do about an error whose place gives no hint of its own, by its class; of a denial the last.
_NEXT = {
    "InvalidInput": "Correct the value and try again; `lamina COMMAND --help` shows what is possible.",
    "ConfigError": "`lamina config list` shows every setting and where it comes from.",
    "NotFound": "Look for it: `lamina list` shows what there is, `lamina recall QUESTION` finds by words.",
    "Denied": "Ask the person, or whoever keeps the policy: `lamina policy show` prints it.",
    "Unauthenticated": "Give a token: `lamina token create` makes one.",
    "Conflict": "Read it again, then do it again.",
    "Unavailable": "Try again in a moment; `lamina doctor` looks at everything.",
    "Damaged": "`lamina doctor` names what is damaged and what to run; `lamina rescue` saves the rest.",
    "LaminaError": "`lamina doctor` looks at everything.",
    "": "`lamina would-keep TEXT` says which check objects, `lamina policy show` prints the policy.",
}
_SORTS = {str: "text", int: "number", float: "number", bool: "yes or no", Path: "path"}


def hints() -> dict[str, list[str]]:
    """What the sources tell to do about each code; what is filled in there is `…` here."""
    trees = [ast.parse(file.read_text("utf-8")) for file in sorted((ROOT / "src").rglob("*.py"))]
    words = {
        target.id: node.value.value
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }
    found: dict[str, list[str]] = {}
    for call in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)):
        given = {word.arg: word.value for word in call.keywords}
        given |= dict(zip(("code", "why", "hint"), call.args, strict=False)) if _is_denial(call) else {}
        code, hint = given.get("code"), _in_words(given.get("hint"), words)
        if isinstance(code, ast.Constant) and len(hint) > 8 and not hint.startswith("…"):
            found.setdefault(str(code.value), []).append(hint)
    return {code: sorted(set(told)) for code, told in found.items()}


def _is_denial(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "Deny"


def _in_words(node: ast.expr | None, words: dict[str, str]) -> str:
    """A hint as it stands in the sources; empty where it is worked out elsewhere."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_in_words(part, words) or "…" for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _in_words(node.value, words)
    if isinstance(node, ast.Name):
        return words.get(node.id, "")
    return str(node.value) if isinstance(node, ast.Constant) else ""


def codes() -> str:
    """Every code of the errors page with its meaning, and with what to do about it, a line each."""
    page = (PAGES / "errors.md").read_text("utf-8").partition("\n## Codes\n")[2]
    problems, told = page.partition("\n## Other codes of receipts\n")[0], hints()
    lines = set()
    for row in (line.strip("| ").split(" | ") for line in re.findall(r"^\| `.*\|$", page, re.M)):
        for code in re.findall(r"`(\w+)`", row[0]):
            lines.add(f"{code}\t{row[-1].strip()}\n")
            if f"| `{code}` |" in problems:
                usual = _NEXT.get(row[1].strip("`"), _NEXT[""])
                lines |= {f"{code}\t\t{hint}\n" for hint in told.get(code, [usual])}
    return "".join(sorted(lines))


def written_part(name: str) -> str:
    """What a person wrote on a page: everything before the mark."""
    return (PAGES / name).read_text("utf-8").partition(MADE)[0]


def cli_page() -> str:
    """Every command with its arguments and options."""
    known = commands()
    told = [written_part("cli.md") + MADE]
    named = {words: title for title, names in GROUPS.items() for words in known if words.split()[0] in names}
    for title in [*GROUPS, "More"]:
        told.append(f"\n## {title}\n")
        told += [_command(one) for words, one in known.items() if named.get(words, "More") == title]
    return "".join(told)


def _command(one: CliCommand) -> str:
    places = [_place(each) for each in one.parameters if each.about.position]
    lines = ["", f"### `{' '.join(['lamina', one.words, *places])}`", "", one.about.strip(), ""]
    rows = [_option(each) for each in one.parameters if not each.about.position]
    rows += ["| `--yes` | Do not ask. |"] if one.asks else []
    if rows:
        lines += ["| option | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _place(one: Parameter) -> str:
    name = one.about.metavar or one.name.upper()
    return name if one.required and not one.about.piped else f"[{name}]"


def _option(one: Parameter) -> str:
    names = options_of(one)
    if bool in members(one.type):
        shown = [f"`{name}`" for name in names]
        shown += [f"`--no-{names[-1].removeprefix('--')}`"] if one.default is None else []
    else:
        shown = [f"`{name} {one.about.metavar or _sort(one.type).upper()}`" for name in names]
    return f"| {', '.join(shown)} | {_meaning(one)} |"


def _meaning(one: Parameter) -> str:
    choices = [f"`{member.value}`" for kind in _inside(one.type) if _is_choice(kind) for member in kind]
    text = one.about.help + (f" One of {', '.join(choices)}." if choices else "")
    return text.replace("|", "\\|")


def _inside(kind: Any) -> list[Any]:
    return [each for one in members(kind) for each in (get_args(one)[:1] if get_origin(one) else (one,))]


def _is_choice(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _sort(kind: Any) -> str:
    one = members(kind)[0]
    if get_origin(one) in (tuple, list):
        return "list"
    return _SORTS.get(one, "text" if _is_choice(one) else "object" if get_origin(one) is dict else "time")


def mcp_page() -> str:
    """Every tool with its arguments and its answer."""
    return written_part("mcp.md") + MADE + "".join(_tool(one) for one in offered("all"))


def _tool(operation: Operation) -> str:
    about = operation.tool
    assert about is not None
    kind = "Reads." if not operation.changes else "Changes."
    lines = ["", f"### {operation.tool_name}", "", f"{kind} {operation.words}"]
    lines += ["", about.advice] if about.advice else []
    rows = [
        f"| `{name}` | {_sort(one.type)}{', required' if one.required else ''} | {_meaning(one)} |"
        for name, one in arguments_of(operation).items()
    ]
    rows.append("| `session` | text | The conversation, as one word; only memories of a session need it. |")
    found = ", ".join(f"`{name}`" for name in schema_of(operation).get("properties", {})) or "an object"
    return "\n".join(
        [*lines, "", "| argument | | meaning |", "|---|---|---|", *rows, "", f"Returns {found}.", ""]
    )


def http_page() -> str:
    """Every route with its fields, each in the section that a person wrote examples for."""
    page = (PAGES / "http.md").read_text("utf-8")
    for one in OPERATIONS.values():
        if one.route is None or Door.HTTP in one.but:
            continue
        block = f"<!-- made: {one.name} -->\n{_route(one, one.route)}<!-- end -->\n"
        page, found = re.subn(
            rf"<!-- made: {one.name} -->\n.*?<!-- end -->\n", lambda _, new=block: new, page, flags=re.S
        )
        if not found:
            page += f"\n### `{one.route.method} {one.route.path}`\n\n{block}"
    return page


def _route(operation: Operation, route: Route) -> str:
    lines = [f"{operation.words} Needs the right `{operation.right}`."]
    rows = [_field(one, route) for one in operation.at(Door.HTTP)]
    if route.if_match:
        rows.append("| `If-Match` | header | The ETag that it must still have; otherwise 412. |")
    if rows:
        lines += ["", "| field | | meaning |", "|---|---|---|", *rows]
    return "\n".join([*lines, ""])


def _field(one: Parameter, route: Route) -> str:
    place = _sort(one.type) + _range(one) + (", required" if one.required else "")
    if f"{{{one.wire}}}" in route.path:
        place = "in the path"
    return (
        f"| `{one.about.header or one.wire}` | {'header' if one.about.header else place} | {_meaning(one)} |"
    )


def _range(one: Parameter) -> str:
    """The bounds of a number, where they are ones that somebody may meet."""
    low, high = one.about.low, one.about.high
    return "" if low is None or high is None or high >= 2**31 else f", {low:g} to {high:,.0f}"


#: Beside the verbs of the catalogue, what people call; anything else of these classes is for Lamina itself.
ENGINE = (
    "scope",
    "status",
    "verify_audit",
    "rebuild",
    "embed_missing",
    "subscribe",
    "not_older_than",
    "sync",
    "close",
)
MORE_VERBS = ("answer", "pending", "propose", "remember_many", "turn", "turns")


def python_page() -> str:
    """Every verb of the Python door, with its signature, its contract, its arguments, and what it answers."""
    told = [written_part("python.md"), MADE]
    told += [_door(one) for one in (lamina.open, lamina.connect, lamina.aopen, lamina.aconnect)]
    verbs = {one.python_name: one for one in OPERATIONS.values()}
    told.append(f"\n## Engine\n\n{inspect.getdoc(Engine)}\n")
    told += [_method(getattr(Engine, name), None) for name in ENGINE]
    told.append(f"\n## ScopedMemory\n\n{inspect.getdoc(ScopedMemory)}\n")
    told += [_method(getattr(ScopedMemory, name), verbs.get(name)) for name in sorted({*verbs, *MORE_VERBS})]
    told.append("\n## Answers\n\nWhat verbs give back; none of it changes afterwards.\n")
    told += [_answer(kind) for kind in map(lamina.__dict__.get, lamina.__all__) if _is_record(kind)]
    told.append('\n## Words\n\nA text will do wherever one of these is asked for: `kind="decision"`.\n\n')
    told += [
        f"- `lamina.{kind.__name__}`: {', '.join(f'`{one.value}`' for one in kind)}\n"
        for kind in map(lamina.__dict__.get, lamina.__all__)
        if _is_choice(kind)
    ]
    return "".join(told)


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and is_dataclass(kind) and kind is not ScopedMemory


def _door(way: Callable[..., Any]) -> str:
    name = f"lamina.{way.__name__}"
    return f"\n## {name}\n\n```text\n{name}{_signature(way)}\n```\n\n{inspect.getdoc(way)}\n"


def _signature(called: Callable[..., Any]) -> str:
    text = str(inspect.signature(called)).replace("'", "").replace("builtins.", "")
    return text.replace("(self, ", "(").replace("(self)", "()")


def _method(method: Callable[..., Any], verb: Operation | None) -> str:
    name, taken = method.__name__, inspect.signature(method).parameters
    told = f"\n### `{name}`\n\n```text\n{name}{_signature(method)}\n```\n\n{inspect.getdoc(method) or ''}\n"
    open_ended = any(one.kind is one.VAR_KEYWORD for one in taken.values())
    fields = [] if verb is None else [one for one in verb.parameters if open_ended or one.name in taken]
    rows = [f"| `{one.name}` | {_sort(one.type)} | {_meaning(one)} |\n" for one in fields]
    return told + ("\n| argument | | meaning |\n|---|---|---|\n" + "".join(rows) if rows else "")


def _answer(kind: type) -> str:
    """A value's fields, each with what its line in the source says of it."""
    source = inspect.getsource(kind)
    rows = []
    for name, type_, said in re.findall(
        r"^    (\w+): ([^=#\n]+?)(?: = [^#\n]+)?(?:  #: (.+))?$", source, re.M
    ):
        shown = type_.strip().replace("|", "\\|")
        rows.append(f"| `{name}` | `{shown}` | {said.replace('|', chr(92) + '|')} |")
    table = "\n".join(rows)
    return (
        f"\n### `lamina.{kind.__name__}`\n\n{inspect.getdoc(kind)}\n\n| field | | |\n|---|---|---|\n{table}\n"
    )


def command_index() -> str:
    """Which module has each command, so that one is carried out without loading the others."""
    homes = {one.command: one.run.__module__.rpartition(".")[2] for one in OPERATIONS.values() if one.command}
    by_hand = {
        "machine": machine.COMMANDS,
        "custody": custody.COMMANDS,
        "agents": agents.COMMANDS,
        "commands": OWN,
    }
    for home, known in by_hand.items():
        homes.update((one.words, home) for one in known)
    return json.dumps(dict(sorted(homes.items())), indent=0, separators=(",", ":")) + "\n"


def made() -> dict[Path, str]:
    """What each of the files should hold."""
    return {
        CODES: codes(),
        HELP: help_text(),
        HELP.with_name("first.txt"): help_text(everything=False),
        INDEX: command_index(),
        RULES: pack_rules(),
        PAGES / "cli.md": cli_page(),
        PAGES / "http.md": http_page(),
        PAGES / "mcp.md": mcp_page(),
        PAGES / "python.md": python_page(),
    }


def main() -> None:
    """Write them."""
    for path, text in made().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
