"""Random attempts to get at what is somebody else's, over every route, tool and verb: not one byte comes.

In the way stand two nets, and each has to hold alone. The application's own filter keeps tenants, users and
agents apart; it is tried on SQLite and on PostgreSQL without row-level security. Row-level security keeps
tenants apart and knows nothing of users; it is tried with `tenant = …` taken out of every query there is.
"""

from __future__ import annotations

import json
import os
import random
import re
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
import apsw
import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from mcp import Client
from psycopg import sql
from starlette.testclient import TestClient

import lamina
from lamina.doors.http.app import create_app, document
from lamina.doors.http.guard import Limits
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server
from lamina.engine import Engine
from lamina.errors import InvalidInput, LaminaError
from lamina.integrations.langgraph import CheckpointSaver, Store
from lamina.lifecycle.tokens import create_token
from lamina.model import Right, plain
from lamina.opening import open_tenants
from lamina.scoped import ScopedMemory
from tests.security.attack import Route, Thief, Verb, foreign_ids, leaked, routes, services, verbs
from tests.security.world import CALLERS, Caller, World

BACKENDS = ("sqlite", "postgres")
FEW, MANY = 300, 10_000
#: Refusals that say that the request was not understood; a target that only gives these has not been tried.
_NOT_TRIED = {405, 413, 415, 421, 422}


@pytest.fixture
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    backend = getattr(request, "param", "postgres")
    store = f"sqlite:///{tmp_path}/m.db"
    if backend == "postgres":
        store = request.getfixturevalue("postgres_store")
    made = World(tmp_path, store).build()
    try:
        yield made
    finally:
        made.close()


on_each = pytest.mark.parametrize("world", BACKENDS, indirect=True)
in_number = pytest.mark.parametrize(
    "number", [FEW, pytest.param(MANY, marks=[pytest.mark.slow, pytest.mark.timeout(3000)])]
)


@dataclass
class Seat:
    """Whoever sits here is whom the server acts for; making a server for each caller takes seconds."""

    engine: Engine
    given: ScopedMemory

    def memory(self, right: Right, session: str) -> ScopedMemory:
        return Starter(self.engine, self.given).memory(right, session)


@dataclass
class Attack:
    """Everything that is tried on one world, and what came back."""

    world: World
    seed: int = 1
    callers: tuple[Caller, ...] = CALLERS
    server: Engine | None = None  #: one that serves every tenant; without it the tenant's own does
    only_tenants: bool = False  #: whether only what is another tenant's counts as foreign
    tried: Counter[str] = field(default_factory=Counter)
    understood: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)  #: what a caller was shown that is theirs
    found: list[tuple[str, Caller, list[str]]] = field(default_factory=list)
    broken: list[tuple[str, str]] = field(default_factory=list)
    taught: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    said: dict[Caller, set[str]] = field(default_factory=dict)  #: every mark that each of them sent
    answers: list[tuple[str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pick = random.Random(self.seed)
        self.thief = Thief(self.world, self.pick)

    def judge(self, what: str, caller: Caller, sent: Any, answer: str) -> None:
        asked = unquote(sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False, default=str))
        self.answers.append((what, asked, answer))
        known = self.taught.setdefault((caller.tenant, caller.user), set())
        known |= {mark.text for mark in self.world.marks if mark.named and mark.text in asked}
        known |= foreign_ids(caller, asked)
        foreign = [mark for mark in self.world.foreign(caller) if mark.text not in known]
        said = self.said.setdefault(caller, set())
        said |= {mark.text for mark in self.world.marks if mark.text in asked}
        if "answers" in what:  # they tell a caller's own questions again, with what was put into them
            foreign = [mark for mark in foreign if mark.text not in said]
        if self.only_tenants:
            foreign = [mark for mark in foreign if mark.tenant != caller.tenant]
        told = leaked(foreign, asked, answer)
        if not self.only_tenants:
            told += sorted(foreign_ids(caller, answer) - known)
        self.seen |= {mark.text for mark in self.world.marks if caller.sees(mark) and mark.text in answer}
        if told:
            self.found.append((what, caller, told))

    def run(self, number: int) -> None:
        """So many attempts, every target in turn and the callers at random."""
        anyio.run(self._run, number)

    def until_understood(self, tries: int) -> None:
        anyio.run(self._run, 0, tries)

    async def _run(self, number: int, tries: int = 0) -> None:
        async with AsyncExitStack() as opened:
            with ExitStack() as stack:
                targets = await self._targets(opened, stack)
                self.pick.shuffle(targets)
                for name, attempt in islice(cycle(targets), number):
                    await self._try(name, attempt)
                for name, attempt in targets:
                    while self.tried[name] < tries and not self.understood[name]:
                        await self._try(name, attempt)

    async def _try(self, name: str, attempt: Any) -> None:
        self.tried[name] += 1
        try:
            await attempt(self.pick.choice(self.callers))
        except Exception:  # noqa: BLE001 whatever it is, it is looked at
            self.broken.append((name, traceback.format_exc()))

    async def _targets(self, opened: AsyncExitStack, stack: ExitStack) -> list[tuple[str, Any]]:
        engine = self.world.engines["acme"]
        client = stack.enter_context(
            TestClient(
                create_app(self.server or engine, limits=Limits(failures_per_minute=10**9)),
                base_url="http://127.0.0.1",
                raise_server_exceptions=False,
            )
        )
        tokens = {
            caller: create_token(engine, "t", user=caller.user, agent=caller.agent, role=caller.role)[1]
            for caller in self.callers
        }
        made = [(route.name, self._over_http(client, route, tokens)) for route in routes(document())]
        seat = Seat(engine, self.world.mind(self.callers[0]))
        tools = await opened.enter_async_context(Client(build_server(seat, tools="all")))
        made += [(tool.name, self._over_mcp(tools, seat, tool)) for tool in (await tools.list_tools()).tools]
        made += [(verb.name, self._in_python(verb)) for verb in (*verbs(), *services())]
        made += [("checkpoints", self._at_checkpoints), ("store", self._at_the_store)]
        return made

    def _over_http(self, client: TestClient, route: Route, tokens: dict[Caller, str]) -> Any:
        async def attempt(caller: Caller) -> None:
            request = route.request(self.thief)
            stolen = self.world.stolen_token
            if (
                self.server is not None
            ):  # a token of theirs would open theirs, and rightly; this one is forged
                stolen = f"{tokens[caller].partition('.')[0]}.globex"
            token = stolen if self.pick.random() < 0.03 else tokens[caller]
            headers = {**request.pop("headers"), "Authorization": f"Bearer {token}"}
            answer = await anyio.to_thread.run_sync(lambda: client.request(**request, headers=headers))
            told = f"{answer.status_code} {dict(answer.headers)} {answer.text} {unquote(str(answer.headers))}"
            if answer.status_code not in _NOT_TRIED and "route_unknown" not in answer.text:
                self.understood[route.name] += 1
            if answer.status_code >= 500:
                self.broken.append((route.name, f"{request} {answer.text[:300]}"))
            self.judge(route.name, caller, {**request, **headers}, told)

        return attempt

    def _over_mcp(self, client: Any, seat: Seat, tool: Any) -> Any:
        schema = tool.input_schema

        async def attempt(caller: Caller) -> None:
            self.thief.stealing = bool(tool.annotations and tool.annotations.read_only_hint)
            arguments = self.thief.record("arguments", schema, schema.get("$defs", {}))
            if self.pick.random() < 0.1:
                arguments |= {"user": "bob", "tenant": "globex"}
            seat.given = self.world.mind(caller)
            result = await client.call_tool(tool.name, arguments)
            told = result.model_dump_json()
            if "arguments_invalid" not in told:
                self.understood[tool.name] += 1
            if "Error executing tool" in told:
                self.broken.append((tool.name, told))
            self.judge(tool.name, caller, arguments, f"{told} {json.loads(told)}")

        return attempt

    def _in_python(self, verb: Verb) -> Any:
        async def attempt(caller: Caller) -> None:
            session = self.pick.choice((None, "main", *self.world.sessions[:2]))
            arguments = verb.arguments(self.thief)

            def call() -> str:
                try:
                    result = verb.on(self.world.mind(caller, session))(**arguments)
                    self.understood[verb.name] += 1
                    return shown(result)
                except LaminaError as error:
                    if verb.service or not isinstance(error, InvalidInput):
                        self.understood[verb.name] += 1
                    return f"{error!r} {error} {error.hint} {error.message}"
                except Exception as error:  # noqa: BLE001 whatever it is, it is looked at
                    if verb.service:  # it is called by a job with what the job has checked
                        self.understood[verb.name] += 1
                    else:
                        self.broken.append((verb.name, f"{error!r} {arguments}"))
                    return repr(error)

            answer = await anyio.to_thread.run_sync(call)
            self.judge(verb.name, caller, [arguments, session], answer)

        return attempt

    async def _at_checkpoints(self, caller: Caller) -> None:
        user = "eve" if caller.user == "ana" else caller.user  # an agent has its user's own saver
        saver = CheckpointSaver(self.world.engines["acme"].database, user=user, clock=self.world.clock)
        thread = self.pick.choice(self.world.threads)
        place: dict[str, Any] = {"thread_id": thread, "checkpoint_ns": self.pick.choice(("", "x"))}
        if self.pick.random() < 0.5:
            place["checkpoint_id"] = f"{thread}-{self.pick.randint(0, 2)}"
        made = {**empty_checkpoint(), "id": f"{self.pick.getrandbits(60):015x}", "ts": "2026-01-01T00:00:00Z"}
        config: Any = {"configurable": place}
        acts: list[Any] = [
            lambda: saver.get_tuple(config),
            lambda: list(saver.list(config)),
            lambda: list(saver.list(None)),
            lambda: list(saver.list(None, filter={"run_id": "r1"})),
            lambda: saver.heads(),
            lambda: saver.put(config, made, {}, {}),
            lambda: saver.put_writes(config, [("log", 1)], "task"),
            lambda: saver.delete_thread(thread),
            lambda: saver.delete_for_runs(["r1"]),
            lambda: saver.copy_thread(thread, "mine"),
            lambda: saver.prune([thread]),
        ]
        self.understood["checkpoints"] += 1
        self.judge("checkpoints", caller, place, answered(self.pick.choice(acts)))

    async def _at_the_store(self, caller: Caller) -> None:
        store, pick = Store(self.world.mind(caller)), self.pick
        spaces = [(mark.text, "notes") for mark in self.world.marks if mark.named]
        place = pick.choice(spaces)
        acts: list[Any] = [
            lambda: store.get(place, "one"),
            lambda: store.search(place),
            lambda: store.search(()),
            lambda: store.search((), query="lantern", limit=50),
            lambda: store.list_namespaces(),
            lambda: store.delete(place, "one"),
            lambda: store.put(("mine",), "one", {"text": "my lantern"}),
        ]
        self.understood["store"] += 1
        act = pick.choice(acts)
        self.judge("store", caller, list(place), await anyio.to_thread.run_sync(lambda: answered(act)))


def answered(act: Any) -> str:
    try:
        return shown(act())
    except LaminaError as error:
        return f"{error!r} {error} {error.hint}"


def shown(result: Any) -> str:
    """Everything that a caller could read off a result, in files that it names too."""
    if isinstance(result, Iterator):
        result = list(result)
    if (folder := getattr(result, "folder", None)) is not None:
        return repr(result) + "".join(path.read_text("utf-8") for path in Path(folder).iterdir())
    try:
        told = json.dumps(plain(result), ensure_ascii=False, default=str)
    except TypeError:
        told = ""
    return told + repr(result)


#: What differs from run to run, whoever keeps what. An event's number counts the events of its tenant;
#: `memory_status`, for administrators and whoever started the process, counts everybody's memories.
_OTHERWISE = re.compile(
    r"lam_[\w-]+|urn:lamina:request:[\w-]+|['\"]?x-request-id['\"]?: ['\"][^'\"]*|\"request_id\":\"[^\"]*"
    r"|\W(?:cursor|seq)\W+[\w-]+|0x[0-9a-f]+|/[\w/-]*test_what_others[\w/-]*"
)


def comparable(text: str) -> str:
    return _OTHERWISE.sub("…", text)


# --- what must be as it was


def rows_of(world: World, tenant: str) -> dict[str, list[str]]:
    """Every row of a tenant, read behind the engine's back."""
    if world.store.startswith("sqlite"):
        (file,) = Path(world.store.removeprefix("sqlite:///")).parent.rglob(f"{tenant}.db")
        connection = apsw.Connection(str(file))
        try:
            names = [
                name
                for (name,) in connection.execute(
                    "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c"
                    " WHERE m.type = 'table' AND c.name = 'tenant' ORDER BY 1"
                ).fetchall()
            ]
            return {n: sorted(map(str, connection.execute(f'SELECT * FROM "{n}"').fetchall())) for n in names}
        finally:
            connection.close()
    with psycopg.connect(world.store) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE table_schema = 'lamina' AND column_name = 'tenant' ORDER BY 1"
        ).fetchall()
        select = sql.SQL("SELECT * FROM lamina.{} WHERE tenant = %s")
        own = {n: connection.execute(select.format(sql.Identifier(n)), (tenant,)) for (n,) in tables}
        return {name: sorted(map(str, rows.fetchall())) for name, rows in own.items()}


def victims(world: World) -> dict[str, Any]:
    """What nobody who tries may change: the other tenant with its files, and what is hidden in their own."""
    world.engines["globex"].count_now()
    hidden = set(world.hidden_ids())
    mine = rows_of(world, "acme")
    own = {
        table: [row for row in mine[table] if any(f"'{one}'" in row for one in hidden)]
        for table in ("memory", "history")
    }
    graphs = [row for table, rows in mine.items() if "checkpoint" in table for row in rows if "ana" in row]
    written = [path for path in sorted((world.folder / "globex").rglob("*.md")) if path.is_file()]
    files = {str(path): path.read_bytes() for path in written}
    return {"other": rows_of(world, "globex"), "own": own, "graphs": graphs, "files": files, "ids": hidden}


def without_row_security(world: World) -> None:
    """As a superuser or a role with BYPASSRLS sees the tables."""
    with psycopg.connect(world.store, autocommit=True) as owner:
        tables = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'lamina'").fetchall()
        for (name,) in tables:
            for change in ("NO FORCE", "DISABLE"):
                statement = sql.SQL(f"ALTER TABLE lamina.{{}} {change} ROW LEVEL SECURITY")
                owner.execute(statement.format(sql.Identifier(name)))


def without_filter(world: World) -> int:
    """Takes `tenant = …` out of every query of the engine; how many had it."""
    changed = 0
    for engine in world.engines.values():
        for name, text in engine.database.queries.items():
            bare = re.sub(r"\b(?:\w+\.)?tenant = %\(tenant\)s", "TRUE", text)
            changed += bare != text
            engine.database.queries[name] = bare
    return changed


# --- the tests


@on_each
@in_number
def test_the_applications_filter_alone_gives_no_foreign_byte_away(world: World, number: int) -> None:
    if not world.store.startswith("sqlite"):
        without_row_security(world)
    before, attack = victims(world), Attack(world)
    attack.run(number)

    assert attack.found == []
    assert attack.broken == []
    assert victims(world) == before
    assert sum(attack.tried.values()) == number


@in_number
def test_a_server_of_every_tenant_gives_no_foreign_byte_away(world: World, number: int) -> None:
    """By the application's filter alone; which tenant it is about follows from the token."""
    without_row_security(world)
    file = str(world.folder / "acme.yaml")
    with lamina.open(world.store, owner="ana", clock=world.clock, categories=file) as server:
        server.tenants = open_tenants(server, os.environ)
        before, attack = victims(world), Attack(world, seed=3, server=server)
        attack.run(number)

        assert [one.config.tenant for one in server.tenants.open_now()] == ["acme"]
    assert attack.found == []
    assert attack.broken == []
    assert victims(world) == before


@in_number
def test_row_level_security_alone_gives_no_byte_of_another_tenant_away(world: World, number: int) -> None:
    """And without it as well the same attempts do: an attack that could not succeed would prove nothing."""
    assert without_filter(world) > 200
    before, attack = victims(world), Attack(world, seed=2, only_tenants=True)
    attack.run(number)

    assert attack.found == []
    assert victims(world)["other"] == before["other"]
    assert sum(attack.tried.values()) == number

    without_row_security(world)
    attack.run(480)
    assert len({what for what, _, _ in attack.found}) >= 2


#: An administrator's: at every door but Python's own the right `admin` stands before it.
COUNTS_EVERYBODY = {"memory_status", "status", "verify_audit", "tokens", "jobs", "run_job", "policy"}


@pytest.mark.parametrize("number", [160, pytest.param(3000, marks=pytest.mark.slow)])
def test_what_others_keep_changes_no_answer_and_no_count(tmp_path: Path, number: int) -> None:
    """The same attempts on two worlds that differ only in how much the victims have are answered alike."""
    answers = []
    for more in (0, 25):
        folder = tmp_path / f"{more}"
        folder.mkdir()
        world = World(folder, f"sqlite:///{folder}/m.db").build()
        for tenant, user in (("acme", "ana"), ("globex", "ana"), ("globex", "bob")):
            mind = world.engines[tenant].scope(user=user)
            mind.remember_many({"text": f"The lantern, ตะเกียง, 灯笼: number {n}"} for n in range(more))
        attack = Attack(world, seed=4, callers=(Caller("acme", "bob"), Caller("acme", "eve")))
        attack.run(number)
        world.close()
        answers.append(
            [tuple(map(comparable, one)) for one in attack.answers if one[0] not in COUNTS_EVERYBODY]
        )

    fewer, more_of_others = answers
    assert [one for one, other in zip(fewer, more_of_others, strict=True) if one != other] == []


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_every_route_tool_and_verb_is_one_that_the_attempts_can_speak_to(world: World) -> None:
    """As the owner, each is called until a request is understood, and the owner sees what is theirs."""
    attack = Attack(world, seed=3, callers=(Caller("acme", "ana"),))
    attack.until_understood(tries=40)

    assert [name for name in attack.tried if not attack.understood[name]] == []
    assert {route.name for route in routes(document())} <= attack.tried.keys()
    assert len(attack.seen) >= 20
