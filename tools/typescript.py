"""Makes the TypeScript client's table and types from the OpenAPI document: `python -m tools.typescript`.

By hand stay how a request is sent (`index.js`) and how the AI SDK is given tools (`ai.js`). What is made
needs no compiler: JavaScript modules and declarations. `tests/doors/test_typescript.py` says when they are
no longer current.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lamina.doors.http.app import document
from lamina.operations.catalogue import OPERATIONS
from lamina.operations.operation import Door, Operation

PACKAGE = Path(__file__).parents[1] / "packages" / "lamina-client"
HEAD = "// Made by `python -m tools.typescript` from the OpenAPI document; change the declarations instead.\n"
#: Who is asking is said once, by `scope`.
_WHO = {"x-lamina-user", "x-lamina-session", "x-lamina-run"}
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
Schema = dict[str, Any]


def made() -> dict[Path, str]:
    """Every file that is made, and what is in it."""
    api = document()
    return {
        PACKAGE / "operations.js": table(api),
        PACKAGE / "types.d.ts": types(api),
        PACKAGE / "tools.js": tools(api),
    }


def operations(api: Schema) -> Iterator[tuple[str, str, str, Schema]]:
    """Name in the client, method, path and description of everything that can be asked."""
    for path, methods in api["paths"].items():
        for method, one in methods.items():
            yield camel(one["operationId"]), method.upper(), path, one


def camel(name: str) -> str:
    first, *rest = re.split(r"[_-]", name)
    return first.lower() + "".join(part.title() for part in rest)


def _fields(api: Schema, one: Schema) -> Iterator[tuple[str, str, str, Schema, bool]]:
    """Of an operation: place, name on the wire, name here, schema, and whether it must be given."""
    for each in one.get("parameters", ()):
        if each["name"].lower() in _WHO:
            continue
        here = camel(each["name"]) if each["in"] == "header" else each["name"]
        schema = {**each["schema"], "description": each.get("description", "")}
        yield each["in"], each["name"], here, schema, each.get("required", False)
    body = _body(api, one)
    for name, schema in body.get("properties", {}).items():
        yield "body", name, name, schema, name in body.get("required", ())


def _body(api: Schema, one: Schema) -> Schema:
    content = one.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    named = [each for each in schema.get("anyOf", [schema]) if "$ref" in each]
    return _found(api, named[0]) if named else {}


def _found(api: Schema, schema: Schema) -> Schema:
    found: Schema = api["components"]["schemas"][_named(schema)]
    return found


def _named(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def table(api: Schema) -> str:
    """How each operation goes over the wire."""
    lines = [HEAD, "export const operations = {"]
    for name, method, path, one in operations(api):
        places: dict[str, dict[str, str]] = {}
        for place, wire, here, _, _ in _fields(api, one):
            if place != "body" and place != "path":
                places.setdefault(place, {})[here] = wire
        sends = method in ("POST", "PATCH")
        told = [json.dumps(method), json.dumps(path), json.dumps(places), json.dumps(sends)]
        lines.append(f"  {name}: [{', '.join(told)}],")
    return "\n".join([*lines, "};", ""])


def types(api: Schema) -> str:
    """Every request, every answer, and the client as an interface."""
    requests, verbs, wanted = [], [], list[Schema]()
    for name, method, path, one in operations(api):
        fields = list(_fields(api, one))
        kind = f"{name[0].upper()}{name[1:]}Request"
        open_ended = _body(api, one).get("additionalProperties") is True
        if fields:
            lines = [_line(here, schema, must) for _, _, here, schema, must in fields]
            lines += ["  [more: string]: unknown;\n"] if open_ended else []
            about = f"What `{name}` takes."
            requests.append(f"{_doc(about)}export interface {kind} {{\n{''.join(lines)}}}\n")
        answers = list(_answers(one))
        wanted += [*answers, *(schema for _, _, _, schema, _ in fields)]
        told = " | ".join(dict.fromkeys(map(_type, answers))) or "void"
        must = any(needed for *_, needed in fields)
        takes = f"request{'' if must else '?'}: {kind}, " if fields else "request?: Record<string, never>, "
        about = f"{one.get('description', '')}\n\n`{method} {path}`"
        verbs.append(f"{_doc(about, '  ')}  {name}({takes}options?: CallOptions): Promise<{told}>;\n")
    named = [_interface(api, name) for name in sorted(_reached(api, [*wanted, _problem()]))]
    options = (
        "/** What one call may be given beside its request. */\n"
        "export interface CallOptions {\n  signal?: AbortSignal;\n  timeoutMs?: number;\n}\n"
    )
    about = _doc("Everything that can be asked of a memory.")
    client = f"{about}export interface Operations {{\n{''.join(verbs)}}}\n"
    return "\n".join([HEAD, options, *named, *requests, client])


def _problem() -> Schema:
    return {"$ref": "#/components/schemas/ProblemBody"}


def _answers(one: Schema) -> Iterator[Schema]:
    for status, answer in one["responses"].items():
        if status.startswith("2"):
            for content in answer.get("content", {}).values():
                yield content["schema"]


def _reached(api: Schema, schemas: Iterable[Any]) -> set[str]:
    """The names of all that these speak of."""
    found: set[str] = set()
    waiting = list(schemas)
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            if isinstance(one.get("$ref"), str) and _named(one) not in found:
                found.add(_named(one))
                waiting.append(_found(api, one))
            waiting += one.values()
    return found


def _interface(api: Schema, name: str) -> str:
    schema = api["components"]["schemas"][name]
    about = _doc(schema.get("description", ""))
    if "properties" not in schema:
        return f"{about}export type {name} = {_type(schema)};\n"
    must = schema.get("required", ())
    lines = [_line(each, inner, each in must) for each, inner in schema["properties"].items()]
    return f"{about}export interface {name} {{\n{''.join(lines)}}}\n"


def _line(name: str, schema: Schema, must: bool) -> str:
    key = name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name)
    return f"{_doc(schema.get('description', ''), '  ')}  {key}{'' if must else '?'}: {_type(schema)};\n"


def _doc(text: str, indent: str = "") -> str:
    if not text.strip():
        return ""
    lines = text.strip().replace("*/", "* /").splitlines()
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return "".join(
        [f"{indent}/**\n", *(f"{indent} * {line}".rstrip() + "\n" for line in lines), f"{indent} */\n"]
    )


def _type(schema: Schema) -> str:
    """A schema as TypeScript says it."""
    if "$ref" in schema:
        return _named(schema)
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "enum" in schema:
        return " | ".join(json.dumps(one, ensure_ascii=False) for one in schema["enum"])
    for joined in ("anyOf", "oneOf"):
        if joined in schema:
            return " | ".join(dict.fromkeys(map(_type, schema[joined])))
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(map(_type, schema['prefixItems']))}]"
        inner = _type(schema.get("items", {}))
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"Record<string, {_type(more) if isinstance(more, dict) else 'unknown'}>"
    return _PLAIN.get(str(kind), "unknown")


def tools(api: Schema) -> str:
    """What a model is offered by default, in MCP's words, with the schema of the request."""
    by_name = {one["operationId"]: one for _, _, _, one in operations(api)}
    found = {}
    for one in OPERATIONS.values():
        if one.tool is not None and one.tool.core and one.route is not None:
            found[one.tool_name] = {
                "operation": camel(one.name),
                "description": " ".join(filter(None, [one.words.replace("\n", " "), one.tool.advice])),
                "inputSchema": _input(api, one, by_name[one.name]),
            }
    return f"{HEAD}\nexport const tools = {json.dumps(found, indent=2, ensure_ascii=False)};\n"


def _input(api: Schema, operation: Operation, one: Schema) -> Schema:
    """What a model may say: no headers, and nothing that a connection says."""
    here = {each.wire for each in operation.at(Door.MCP)}
    fields = [each for each in _fields(api, one) if each[0] != "header" and each[1] in here]
    return {
        "type": "object",
        "properties": {name: _inlined(api, schema) for _, _, name, schema, _ in fields},
        "required": [name for _, _, name, _, must in fields if must],
        "additionalProperties": False,
    }


def _inlined(api: Schema, schema: Any) -> Any:
    """A schema without names for parts of it, titles and empty words."""
    if isinstance(schema, list):
        return [_inlined(api, one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(api, {**_found(api, schema), **{k: v for k, v in schema.items() if k != "$ref"}})
    return {
        name: _inlined(api, one)
        for name, one in schema.items()
        if not (name in ("title", "examples") and not isinstance(one, dict)) and one != ""
    }


def main() -> None:
    for path, text in made().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
