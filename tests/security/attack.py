"""Attempts: every route, tool and verb there is, called as its schema says with what is other people's."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from lamina import lifecycle
from lamina.model import Kind, Layer, Space
from lamina.scoped import ScopedMemory
from lamina.write.store import Caller as AnyCaller
from tests.hints import hints_of
from tests.security.world import QUESTIONS, Caller, Mark, World

#: Verbs that store nothing: only these are asked in stolen words, which would else become the thief's own.
READING = {
    "recall",
    "search",
    "query",
    "context",
    "resolve",
    "get",
    "history",
    "explain",
    "trace",
    "changes",
    "stats",
    "why_not",
    "loaded",
    "parts_of",
    "lines_of",
    "export",
    "read_document",
    "find",
    "phases",
    "keyed",
    "pending",
    "turns",
    "latest",
}
_READING_POSTS = (
    "/v1/recall",
    "/v1/query",
    "/memory/query",
    "/v1/context",
    "/v1/memories/{id}/why-not",
)
_CHOICES: dict[str, tuple[str, ...]] = {
    "space": tuple(Space),
    "spaces": tuple(Space),
    "to": tuple(Space),
    "layer": tuple(Layer),
    "layers": tuple(Layer),
    "kind": tuple(Kind),
    "kinds": tuple(Kind),
    "returns": ("bullets", "full"),
    "return": ("bullets", "full"),
    "form": ("xml", "markdown"),
    "by": ("hour", "day"),
    "ttl": ("7d",),
    "role": ("user", "assistant"),
    "corpus": ("all", "memory", "sessions"),
    "resolution": ("warn", "ask", "supersede", "keep"),
    "outcome": ("success", "failure"),
    "source": ("explicit", "correction"),
    "origin": ("human", "mother"),
    "citations": ("auto", "on", "off"),
    "mode": ("hybrid",),
    "type": ("all",),
    "fingerprint": ("0" * 24,),
}
_ID = re.compile(r"(?:user|session):(?P<owner>ana|bob|eve)(?:,[\w-]+)?:[a-z_]+:\d+")
_MOMENTS = ("2025-01-01", "2026-02-03T04:05:06Z", "2030-12-31")
_TOPICS = ("tasks", "knowledge", "profile", "tone", "procedural")
_NAMES = ("ana", "bob", "globex", "stylist", "planner", "p-ana", "../x")
_TRAVERSAL = (
    "../globex/memory/2026-01-01.md",
    "..%2f..%2fetc/passwd",
    "/etc/passwd",
    "memory/../../globex/PROFILE.md",
    "file:///etc/passwd",
    "PROFILE.md",
    ".lamina/lamina.db",
)
SPOOFED = (
    "X-User",
    "X-User-Id",
    "X-Lamina-User",
    "X-Lamina-Agent",
    "X-Lamina-Tenant",
    "X-Tenant",
    "X-Lamina-Role",
    "X-Forwarded-User",
    "X-Remote-User",
    "X-Original-URL",
    "X-Forwarded-For",
    "Forwarded",
    "X-Lamina-Project",
)


@dataclass
class Thief:
    """Makes up what to say: stolen, guessed and forged."""

    world: World
    pick: random.Random
    stealing: bool = False  #: whether what is asked may hold words that only the victim said

    def stolen(self) -> str:
        return self.pick.choice([mark.text for mark in self.world.marks if not mark.named])

    def question(self) -> str:
        asked = self.pick.choice(QUESTIONS)
        return f"{asked} {self.stolen()}" if self.stealing and self.pick.random() < 0.3 else asked

    def an_id(self) -> str:
        world, pick = self.world, self.pick
        owner, layer = pick.choice(("ana", "bob", "eve")), pick.choice(("semantic", "profile", "procedural"))
        guessed = f"user:{owner}:{layer}:{pick.randint(1, 12)}"
        passage = f"document:{pick.choice(world.paths)}:1"
        others = (f"project:p-{owner}:semantic:1", passage, f"user:*:{layer}:1")
        return pick.choice((pick.choice(world.ids), pick.choice(world.ids), guessed, pick.choice(others)))

    def cursor(self) -> str:
        stolen = self.pick.choice(self.world.cursors)
        return self.pick.choice((stolen, stolen[:-3] + "AAA", "AAAA", "", f"{stolen}{stolen}"))

    def string(self, name: str) -> str:
        world, pick, low = self.world, self.pick, name.lower()
        if low in _CHOICES and pick.random() < 0.9:
            return pick.choice(_CHOICES[low])
        pools: list[tuple[tuple[str, ...], Callable[[], str]]] = [
            (("cursor", "changes_since"), self.cursor),
            (("expires", "until", "valid_", "as_of", "before", "after"), lambda: pick.choice(_MOMENTS)),
            (("since",), lambda: pick.choice((*_MOMENTS, self.cursor()))),
            (("session", "run", "thread"), lambda: pick.choice((*world.sessions, *world.threads, "main"))),
            (("key",), lambda: pick.choice((*world.keys, "city.guess", "response.tone", "idem-1"))),
            (("categor", "topic", "tag", "concept"), lambda: pick.choice((*world.categories, *_TOPICS))),
            (("agent", "user", "actor", "owner", "group", "project", "name"), lambda: pick.choice(_NAMES)),
            (("item",), lambda: pick.choice(("expertise.docker", "user.expertise.docker", "timezone"))),
            (("path", "file", "cwd"), lambda: pick.choice((*world.paths, *_TRAVERSAL))),
            (("id",), self.an_id),
        ]
        for parts, made in pools:
            if any(part in low for part in parts) and pick.random() < 0.9:
                return made()
        if pick.random() < 0.1:
            return pick.choice([made for _, made in pools])()
        return self.question()

    def filters(self) -> dict[str, Any]:
        pick = self.pick
        given = {
            "user_id": pick.choice(("ana", "bob", "*")),
            "agent_id": pick.choice(("stylist", "planner")),
            "actor_id": pick.choice(("user:ana", "agent:planner")),
            "role": "user",
            "run_id": pick.choice(self.world.sessions),
            "pinned": False,
            "tenant": "globex",
        }
        return {name: given[name] for name in pick.sample(sorted(given), k=pick.randint(0, 2))}

    def value(self, name: str, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
        """Something that a schema would take, more often than not."""
        if "$ref" in schema:
            return self.value(name, defs[schema["$ref"].rpartition("/")[2]], defs)
        if "enum" in schema:
            return self.pick.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        if either := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
            real = [one for one in either if one.get("type") != "null"]
            return self.value(name, self.pick.choice(real), {**defs})
        match schema.get("type"):
            case "integer":
                low, high = int(schema.get("minimum", 1)), int(schema.get("maximum", 40))
                return self.pick.randint(low, min(high, low + 40))
            case "number":
                return round(self.pick.random(), 3)
            case "boolean":
                return self.pick.random() < 0.5
            case "array":
                inner = schema.get("items") or (schema.get("prefixItems") or [{}])[0]
                return [self.value(name, inner, defs) for _ in range(self.pick.randint(1, 2))]
            case "object":
                return self.record(name, schema, defs)
            case None if name in ("partial", "updates"):
                return self.record(name, schema, defs)
            case _:
                return self.string(name)

    def record(self, name: str, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> dict[str, Any]:
        fields = schema.get("properties", {})
        if not fields and schema.get("additionalProperties") is not False:
            return self.filters() if "filter" in name else {"notes": [self.question()]}
        needed = set(schema.get("required", ()))
        return {
            one: self.value(one, inner, defs)
            for one, inner in fields.items()
            if one in needed or self.pick.random() < 0.35
        }


# --- HTTP


@dataclass(frozen=True)
class Route:
    """One operation of the API as its document has it."""

    method: str
    path: str
    operation: Mapping[str, Any]
    schemas: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def reads(self) -> bool:
        return self.method == "get" or self.path in _READING_POSTS

    def request(self, thief: Thief) -> dict[str, Any]:
        thief.stealing, pick = self.reads, thief.pick
        path = self.path
        query: dict[str, Any] = {}
        headers: dict[str, str] = {}
        for one in self.operation.get("parameters", ()):
            name, where = one["name"], one["in"]
            if where == "path":
                value = str(thief.value(name, one["schema"], self.schemas))
                path = path.replace(f"{{{name}}}", quote(value, safe=":,~@"))
            elif one.get("required") or pick.random() < 0.4:
                value = thief.value(name, one["schema"], self.schemas)
                if where == "query":
                    query[name] = value
                else:
                    headers[name] = quote(str(value), safe=" ,:/-_.@")
        body = {} if self.method in ("post", "patch", "put") else None
        content = self.operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is not None:
            body = thief.value("body", content["schema"], self.schemas)
        if pick.random() < 0.3:
            headers[pick.choice(SPOOFED)] = pick.choice(("ana", "globex", "admin", "stylist"))
        if self.method != "get" and pick.random() < 0.3:
            headers["Idempotency-Key"] = f"idem-{pick.randint(0, 5)}"
        return {"method": self.method, "url": path, "params": query, "headers": headers, "json": body}


def routes(document: Mapping[str, Any]) -> list[Route]:
    schemas = document["components"]["schemas"]
    return [
        Route(method, path, operation, schemas)
        for path, operations in sorted(document["paths"].items())
        for method, operation in sorted(operations.items())
    ]


# --- Python


@dataclass(frozen=True)
class Verb:
    """A public method of a mind or of an object that it gives, such as `layers.episodes.find`; or a service,
    which is a function over a mind."""

    path: tuple[str, ...]
    function: Callable[..., Any]
    service: bool = False

    @property
    def name(self) -> str:
        return ".".join(self.path)

    def on(self, mind: ScopedMemory) -> Callable[..., Any]:
        if self.service:
            return partial(self.function, mind)
        found: Any = mind
        for part in self.path:
            found = getattr(found, part)
        return typing.cast(Callable[..., Any], found)

    def arguments(self, thief: Thief) -> dict[str, Any]:
        thief.stealing = self.path[-1] in READING
        made: dict[str, Any] = {}
        for name, annotation, needed in _parameters(self.function):
            if needed or thief.pick.random() < 0.4:
                made[name] = _argument(thief, name, annotation)
        return made


#: What a caller is made of, what takes any number of values, and what writes where the tests run.
NO_VERBS = {"export", "default_session", "scope_of", "moment", "moment_of", "shelf", "id_of", "allow"}


def verbs(cls: type = ScopedMemory, above: tuple[str, ...] = ()) -> Iterable[Verb]:
    """Every public verb there is, those of objects behind properties too."""
    for name, member in inspect.getmembers(cls):
        if name.startswith("_") or name in NO_VERBS:
            continue
        if isinstance(member, property):
            given = _hints(member.fget).get("return")
            if inspect.isclass(given) and given.__module__.startswith("lamina.engine"):
                yield from verbs(given, (*above, name))
        elif inspect.isfunction(member) and not any(_made_by_the_engine(one) for one in _parameters(member)):
            yield Verb((*above, name), member)


def services() -> Iterable[Verb]:
    """Every public function for a caller in the room where memories end and leave."""
    for one in pkgutil.iter_modules(lifecycle.__path__):
        module = importlib.import_module(f"{lifecycle.__name__}.{one.name}")
        for name, member in inspect.getmembers(module, inspect.isfunction):
            first = next(iter(_hints(member).values()), None)
            if (
                not name.startswith("_")
                and member.__module__ == module.__name__
                and first in (AnyCaller, ScopedMemory)
            ):
                yield Verb((module.__name__, name), member, service=True)


def _made_by_the_engine(parameter: tuple[str, Any, bool]) -> bool:
    """Whether it takes what no caller has, such as a transaction: then it is no verb for callers."""
    _, annotation, needed = parameter
    ours = inspect.isclass(annotation) and annotation.__module__.startswith("lamina")
    return needed and ours and not issubclass(annotation, Enum)


def _hints(function: Any) -> dict[str, Any]:
    try:
        return hints_of(function)
    except NameError:  # a name of another library that only the type checker knows
        return {}


def _parameters(function: Callable[..., Any]) -> Iterable[tuple[str, Any, bool]]:
    hints = _hints(function)
    for one in list(inspect.signature(function).parameters.values())[1:]:
        annotation = hints.get(one.name, str)
        if one.kind is one.VAR_KEYWORD:
            (details,) = typing.get_args(annotation)
            yield from ((name, kind, False) for name, kind in _hints(details).items())
        else:
            yield one.name, annotation, one.default is one.empty


def _argument(thief: Thief, name: str, annotation: Any) -> Any:
    if name == "items":
        return [{"text": thief.question(), "category": thief.string("category")}]
    if annotation is Path:
        return thief.world.folder / "taken" / f"{thief.pick.getrandbits(40):010x}"
    if annotation is datetime or datetime in typing.get_args(annotation):
        return datetime.fromisoformat("2026-02-03T04:05:06+00:00")
    if typing.get_origin(annotation) is types.UnionType or annotation is not str:
        with suppress(PydanticSchemaGenerationError, PydanticUserError):
            schema = TypeAdapter(annotation).json_schema()
            return thief.value(name, schema, schema.get("$defs", {}))
    return thief.string(name)


# --- what came of it


def leaked(marks: Iterable[Mark], sent: str, answer: str) -> list[str]:
    """The marks that an answer tells and the request did not hold."""
    return [mark.text for mark in marks if mark.text in answer and mark.text not in sent]


def foreign_ids(caller: Caller, answer: str) -> set[str]:
    """Ids of other people's memories in a text."""
    return {one[0] for one in _ID.finditer(answer) if one["owner"] != caller.user}
