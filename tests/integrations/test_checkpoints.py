"""LangGraph checkpoints: the published conformance suite, and what it does not ask."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Annotated, Any, TypedDict

import apsw
import ormsgpack
import psycopg
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.graph import START, StateGraph

import lamina
from lamina.errors import ConfigError, Conflict, Damaged, InvalidInput, Unavailable
from lamina.integrations.langgraph import CheckpointSaver

CAPABILITIES = {
    "put",
    "put_writes",
    "get_tuple",
    "list",
    "delete_thread",
    "delete_for_runs",
    "copy_thread",
    "prune",
}
_ids = count(1)

#: Saves one checkpoint after another and says each id when it is acknowledged; killed by its test.
WRITER = """import sys
from itertools import count

from langgraph.checkpoint.base import empty_checkpoint

from lamina.integrations.langgraph import CheckpointSaver

saver = CheckpointSaver.from_url(sys.argv[1])
at = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
for step in count():
    made = empty_checkpoint()
    made["channel_values"] = {"log": list(range(step)), "n": step}
    made["channel_versions"] = {"log": str(step), "n": str(step)}
    at = saver.put(at, made, {"step": step}, made["channel_versions"])
    print(at["configurable"]["checkpoint_id"], flush=True)
"""


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return str(request.getfixturevalue("postgres_store"))


@pytest.fixture
def saver(url: str) -> Iterator[CheckpointSaver]:
    with CheckpointSaver.from_url(url, user="ana") as opened:
        yield opened


def thread(name: Any, ns: str = "", at: str | None = None) -> RunnableConfig:
    place = {"thread_id": name, "checkpoint_ns": ns}
    return {"configurable": place if at is None else {**place, "checkpoint_id": at}}


def state(values: dict[str, Any], versions: dict[str, Any] | None = None) -> Checkpoint:
    made = empty_checkpoint()
    made["id"] = f"{next(_ids):08x}"
    made["channel_values"] = values
    made["channel_versions"] = versions if versions is not None else dict.fromkeys(values, made["id"])
    return made


def put(saver: CheckpointSaver, at: RunnableConfig, values: dict[str, Any], **about: Any) -> RunnableConfig:
    """Save a state whose every channel is new."""
    made = state(values)
    metadata: Any = {"source": "loop", "step": 1, "parents": {}, **about}
    return saver.put(at, made, metadata, made["channel_versions"])


def values_of(saver: CheckpointSaver, config: RunnableConfig) -> dict[str, Any] | None:
    found = saver.get_tuple(config)
    return None if found is None else found.checkpoint["channel_values"]


def rows(url: str, table: str) -> int:
    """How many rows a table has, counted without the saver."""
    statement = f"SELECT count(*) FROM {table}"
    if url.startswith("sqlite"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        (number,) = connection.execute(statement).fetchone()
        connection.close()
        return int(number)
    with psycopg.connect(url, options="-c search_path=lamina") as server:
        return int(server.execute(statement).fetchone()[0])  # type: ignore[index]


def test_the_published_suite_finds_every_capability_and_passes_all_of_it(url: str) -> None:
    @checkpointer_test(name=f"lamina on {url.partition(':')[0]}")
    async def registered() -> AsyncGenerator[CheckpointSaver, None]:
        with CheckpointSaver.from_url(url) as opened:
            yield opened

    report = asyncio.run(validate(registered))

    assert {name for name, result in report.results.items() if result.detected} == CAPABILITIES
    assert {name: result.failures for name, result in report.results.items() if not result.passed} == {}
    assert sum(result.tests_passed for result in report.results.values()) >= 81
    assert report.passed_all()


def test_the_sync_methods_do_what_the_async_ones_do(saver: CheckpointSaver) -> None:
    first = put(saver, thread("t"), {"messages": ["hello"], "n": 1}, run_id="r1")
    second = put(saver, first, {"messages": ["hello", "你好", "สวัสดี"], "n": 2}, run_id="r2")
    saver.put_writes(second, [("messages", "more"), ("n", 3)], "task")

    found = saver.get_tuple(thread("t"))
    assert found is not None
    assert found.config == second
    assert found.parent_config == first
    assert found.checkpoint["channel_values"] == {"messages": ["hello", "你好", "สวัสดี"], "n": 2}
    assert found.pending_writes == [("task", "messages", "more"), ("task", "n", 3)]
    assert [one.config for one in saver.list(thread("t"))] == [second, first]
    assert [one.config for one in saver.list(None, filter={"run_id": "r1"})] == [first]
    assert [one.config for one in saver.list(thread("t"), before=second)] == [first]
    assert [one.config for one in saver.list(thread("t"), limit=1)] == [second]

    async def same() -> None:
        assert await saver.aget_tuple(thread("t")) == found
        assert [one async for one in saver.alist(thread("t"))] == list(saver.list(thread("t")))

    asyncio.run(same())
    saver.copy_thread("t", "u")
    assert [one.checkpoint["id"] for one in saver.list(thread("u"))] == [
        one.checkpoint["id"] for one in saver.list(thread("t"))
    ]
    saver.delete_for_runs(["r2"])
    assert values_of(saver, thread("t")) == {"messages": ["hello"], "n": 1}
    saver.delete_thread("t")
    assert saver.get_tuple(thread("t")) is None


def test_writes_of_parallel_tasks_come_back_in_the_order_of_their_paths(saver: CheckpointSaver) -> None:
    at = put(saver, thread("t"), {"log": []})
    with ThreadPoolExecutor(8) as pool:  # saved in any order, and their ids sort against their paths
        tasks = [(f"task-{99 - n:02}", f"~__pregel_pull, n{n:02}") for n in range(24)]
        list(pool.map(lambda one: saver.put_writes(at, [("log", one[1]), ("log", "z")], *one), tasks))

    found = saver.get_tuple(at)
    assert found is not None
    expected = [(task, "log", value) for task, path in tasks for value in (path, "z")]
    assert found.pending_writes == expected


def test_a_repeated_write_changes_nothing_and_a_repeated_answer_counts(saver: CheckpointSaver) -> None:
    at = put(saver, thread("t"), {"log": []})
    saver.put_writes(at, [("log", "first")], "task")
    saver.put_writes(at, [("log", "again")], "task")
    saver.put_writes(at, [("__resume__", "no")], "task")
    saver.put_writes(at, [("__resume__", "yes")], "task")

    found = saver.get_tuple(at)
    assert found is not None
    assert found.pending_writes == [("task", "__resume__", "yes"), ("task", "log", "first")]


def test_a_batch_may_be_long_and_say_a_thing_twice(saver: CheckpointSaver) -> None:
    at = put(saver, thread("t"), {"log": []})
    saver.put_writes(at, [("log", number) for number in range(250)], "long")
    saver.put_writes(at, [("__resume__", "no"), ("__resume__", "yes")], "twice")
    saver.put_writes(at, [("__resume__", "no"), ("log", "x"), ("__resume__", "late")], "mixed")

    found = saver.get_tuple(at)
    assert found is not None
    told = {
        task: [one for one in found.pending_writes or () if one[0] == task] for task in ("twice", "mixed")
    }
    assert told["twice"] == [("twice", "__resume__", "yes")]
    assert told["mixed"] == [("mixed", "__resume__", "no"), ("mixed", "log", "x")]
    assert [one[2] for one in found.pending_writes or () if one[0] == "long"] == list(range(250))


def test_a_removed_channel_goes_and_an_unchanged_one_is_stored_once(saver: CheckpointSaver, url: str) -> None:
    big = ["x" * 500]
    one = state({"kept": big, "gone": big}, {"kept": "1", "gone": "1"})
    first = saver.put(thread("t"), one, {}, {"kept": "1", "gone": "1"})
    two = state({"kept": big}, {"kept": "1", "gone": "2"})
    second = saver.put(first, two, {}, {"gone": "2"})

    assert values_of(saver, first) == {"kept": big, "gone": big}
    assert values_of(saver, second) == {"kept": big}
    assert rows(url, "checkpoint_blob") == 2


def test_two_branches_of_a_thread_keep_their_own_values(saver: CheckpointSaver) -> None:
    root = put(saver, thread("t"), {"log": ["root"]})
    found = []
    for branch in ("left", "right"):
        version = saver.get_next_version("1", None)
        made = state({"log": ["root", branch]}, {"log": version})
        found.append(saver.put(root, made, {}, {"log": version}))
    assert [values_of(saver, one) for one in found] == [{"log": ["root", "left"]}, {"log": ["root", "right"]}]


def test_versions_grow_and_sort_as_text(saver: CheckpointSaver) -> None:
    versions = [saver.get_next_version(None, None)]
    for _ in range(120):
        versions.append(saver.get_next_version(versions[-1], None))
    assert versions == sorted(versions)
    assert saver.get_next_version(7, None).startswith(f"{8:032}.")


@pytest.mark.parametrize(
    "channel", ['quo"te', "dot.ted", "back\\slash", "ช่อง", "頻道", "频道", "$.a", "a'b", "line\nfeed", "{}"]
)
def test_any_name_can_be_a_channel(saver: CheckpointSaver, channel: str) -> None:
    at = put(saver, thread(channel), {channel: ["long" * 100], f"{channel}2": 1})
    saver.put_writes(at, [(channel, [1])], channel, channel)
    assert values_of(saver, thread(channel)) == {channel: ["long" * 100], f"{channel}2": 1}
    saver.prune([channel])
    assert values_of(saver, at) == {channel: ["long" * 100], f"{channel}2": 1}


@pytest.mark.parametrize("bad", ["nul\0", "half \ud800", "x" * 513])
def test_a_name_that_no_database_keeps_is_refused(saver: CheckpointSaver, bad: str) -> None:
    for attempt in (
        lambda: saver.get_tuple(thread(bad)),
        lambda: put(saver, thread(bad), {}),
        lambda: put(saver, thread("t"), {bad: 1}),
        lambda: list(saver.list(thread(bad))),
        lambda: saver.delete_thread(bad),
        lambda: saver.prune([bad]),
    ):
        with pytest.raises(InvalidInput) as refused:
            attempt()
        assert refused.value.code == "name_invalid"


def test_bad_requests_are_told_what_is_wrong(saver: CheckpointSaver, tmp_path: Path) -> None:
    at = put(saver, thread("t"), {})
    cases: list[tuple[str, Any]] = [
        ("thread_missing", lambda: saver.get_tuple({"configurable": {}})),
        ("checkpoint_missing", lambda: saver.put_writes(thread("t"), [("a", 1)], "task")),
        ("strategy_invalid", lambda: saver.prune(["t"], strategy="keep_all")),
        ("metadata_invalid", lambda: put(saver, at, {}, thing=object())),
        ("name_invalid", lambda: CheckpointSaver.from_url(f"sqlite:///{tmp_path}/x.db", user="a b")),
        ("name_invalid", lambda: CheckpointSaver.from_url(f"sqlite:///{tmp_path}/x.db", tenant="")),
    ]
    for code, attempt in cases:
        with pytest.raises(InvalidInput) as refused:
            attempt()
        assert refused.value.code == code
    with pytest.raises(ConfigError):
        CheckpointSaver.from_url("mysql://host/db")
    saver.close()
    with pytest.raises(Unavailable):
        saver.get_tuple(thread("t"))


@pytest.mark.parametrize("key", ["a' OR '1'='1", "a) OR 1=1 --", '$."x"', "access') = 'public' --"])
def test_a_filter_is_data_whatever_it_says(saver: CheckpointSaver, key: str) -> None:
    put(saver, thread("t"), {}, access="private")
    assert list(saver.list(None, filter={key: "x"})) == []
    assert list(saver.list(None, filter={"access": key})) == []
    at = put(saver, thread("u"), {}, **{key: "x"})
    assert [one.config for one in saver.list(None, filter={key: "x"})] == [at]


def test_a_filter_asks_for_containment_and_tells_true_from_one(saver: CheckpointSaver) -> None:
    at = put(saver, thread("t"), {}, flag=True, nested={"a": {"b": 1, "c": 2}}, tags=["x"])
    for wanted in ({"flag": True}, {"nested": {"a": {"b": 1}}}, {"tags": ["x"]}, {}):
        assert [one.config for one in saver.list(None, filter=wanted)] == [at]
    for other in ({"flag": 1}, {"nested": {"a": {"b": 2}}}, {"tags": []}, {"missing": None}):
        assert list(saver.list(None, filter=other)) == []


# Tenants and users.


def test_another_users_thread_does_not_exist(url: str) -> None:
    with CheckpointSaver.from_url(url, user="ana") as ana, CheckpointSaver.from_url(url, user="bob") as bob:
        at = put(ana, thread("t"), {"secret": ["ana's"]}, run_id="r")
        ana.put_writes(at, [("secret", "more")], "task")

        assert bob.get_tuple(thread("t")) is None
        assert bob.get_tuple(at) is None
        assert list(bob.list(None)) == []
        assert bob.heads() == ()
        bob.delete_thread("t")
        bob.delete_for_runs(["r"])
        bob.prune(["t"], strategy="delete")
        bob.copy_thread("t", "mine")
        assert bob.get_tuple(thread("mine")) is None
        put(bob, thread("t"), {"secret": ["bob's"]})

        assert values_of(ana, thread("t")) == {"secret": ["ana's"]}
        assert values_of(bob, thread("t")) == {"secret": ["bob's"]}


def test_tenants_share_nothing(url: str) -> None:
    with (
        CheckpointSaver.from_url(url, tenant="one") as one,
        CheckpointSaver.from_url(url, tenant="other") as other,
    ):
        put(one, thread("t"), {"secret": ["one's"]}, run_id="r")
        assert other.get_tuple(thread("t")) is None
        assert list(other.list(None)) == []
        other.delete_thread("t")
        other.delete_for_runs(["r"])
        assert values_of(one, thread("t")) == {"secret": ["one's"]}


def test_row_level_security_stands_behind_the_queries(postgres_store: str) -> None:
    with CheckpointSaver.from_url(postgres_store, tenant="one") as one:
        at = put(one, thread("t"), {"secret": ["one's"]})
        one.put_writes(at, [("secret", "more")], "task")
    tables = ("checkpoint", "checkpoint_blob", "checkpoint_write", "supervisor_checkpoints")
    with psycopg.connect(postgres_store, options="-c search_path=lamina") as server:
        for tenant, expected in (("one", 1), ("other", 0), ("", 0)):
            server.execute("SELECT set_config('role', 'lamina_app', true)")
            server.execute("SELECT set_config('lamina.tenant', %s, true)", (tenant,))
            counts = {server.execute(f"SELECT count(*) FROM {t}").fetchone() for t in tables}  # type: ignore[call-overload]
            assert counts == {(expected,)}
            server.rollback()
        server.execute("SELECT set_config('role', 'lamina_app', true)")
        server.execute("SELECT set_config('lamina.tenant', 'other', true)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):  # the functions that put are under it, too
            server.execute("SELECT add_checkpoint_blob('one', 'ana', 't', '', 'secret', '9', 'null', '')")


# Deleting.


def test_the_latest_state_of_a_delta_channel_survives_pruning(saver: CheckpointSaver, url: str) -> None:
    at, made = thread("t"), []
    for step in range(8):
        snapshot = {"log": _DeltaSnapshot([f"s{step}"])} if step == 3 else {}
        one = state({"n": step, **snapshot}, {"n": str(step), "log": str(step)})
        since = {} if step == 3 else {"counters_since_delta_snapshot": {"log": [1, 1]}}
        at = saver.put(at, one, {"step": step, **since}, one["channel_versions"])  # type: ignore[typeddict-item]
        saver.put_writes(at, [("log", f"w{step}")], "task")
        made.append(at)
    before = saver.get_delta_channel_history(config=at, channels=["log"])

    saver.prune(["t"])

    assert [one.config for one in saver.list(thread("t"))] == made[:2:-1]
    assert saver.get_delta_channel_history(config=at, channels=["log"]) == before
    assert before["log"]["seed"] == _DeltaSnapshot(["s3"])
    assert [write[2] for write in before["log"]["writes"]] == ["w3", "w4", "w5", "w6"]
    oldest = saver.get_tuple(made[3])
    assert oldest is not None
    assert oldest.parent_config is None
    assert rows(url, "checkpoint_write") == 5


def test_a_real_graph_with_a_delta_channel_goes_on_after_pruning(saver: CheckpointSaver) -> None:
    class Log(TypedDict):
        log: Annotated[list[str], DeltaChannel(lambda known, new: [*known, *(x for xs in new for x in xs)])]

    graph = StateGraph(Log)
    graph.add_node("say", lambda state: {"log": [f"said {len(state['log'])}"]})
    graph.add_edge(START, "say")
    compiled, at = graph.compile(checkpointer=saver), thread("t")
    for turn in range(4):
        compiled.invoke({"log": [f"turn {turn}"]}, at)
    before = compiled.get_state(at).values
    assert len(before["log"]) == 8

    saver.prune(["t"])
    saver.copy_thread("t", "u")

    assert compiled.get_state(at).values == before
    assert compiled.get_state(thread("u")).values == before
    assert compiled.invoke({"log": ["more"]}, at) == {"log": [*before["log"], "more", "said 9"]}


def test_a_run_that_a_later_state_is_made_of_is_not_deleted(saver: CheckpointSaver) -> None:
    counters = {"counters_since_delta_snapshot": {"log": [1, 1]}}
    first = put(saver, thread("t"), {"n": 1}, run_id="r1", **counters)
    saver.put_writes(first, [("log", "w1")], "task")
    second = put(saver, first, {"n": 2}, run_id="r2", **counters)

    with pytest.raises(Conflict) as refused:
        saver.delete_for_runs(["r1"])
    assert refused.value.code == "delta_chain_needed"
    assert [one.config for one in saver.list(thread("t"))] == [second, first]
    saver.delete_for_runs(["r1", "r2"])
    assert list(saver.list(thread("t"))) == []


def test_nothing_is_left_behind(saver: CheckpointSaver, url: str) -> None:
    at = thread("t")
    for step in range(5):
        at = put(saver, at, {"log": [str(step) * 300]}, run_id=f"r{step}")
        saver.put_writes(at, [("log", step)], "task")
    saver.copy_thread("t", "u")
    saver.delete_for_runs(["r1", "r3"])
    saver.prune(["u"])
    tables = ("checkpoint", "checkpoint_blob", "checkpoint_write", "supervisor_checkpoints")
    assert [rows(url, table) for table in tables] == [4, 4, 4, 2]  # r0, r2, r4 of t; u has the latest left
    saver.prune(["t"])
    saver.prune(["u"], strategy="delete")
    assert [rows(url, table) for table in tables] == [1, 1, 1, 1]
    saver.delete_thread("t")
    assert [rows(url, table) for table in tables] == [0, 0, 0, 0]


# The head row.


def test_the_head_of_a_thread_is_its_newest_state_in_short(saver: CheckpointSaver) -> None:
    first = put(saver, thread("t"), {"messages": ["top secret words"], "n": 1}, step=1)
    put(saver, thread("t", "child:1"), {"inner": 1}, step=9)
    (head,) = saver.heads()
    assert head.thread == "t"
    assert head.checkpoint_id == first["configurable"]["checkpoint_id"]
    assert head.data["state"] == {"messages": {"type": "list", "length": 1}, "n": {"type": "int"}}
    assert head.data["step"] == 1
    assert "secret" not in str(head.data)

    second = put(saver, first, {"n": 2}, run_id="r2")
    older = state({"n": 0})
    older["id"] = "00000000"
    saver.put(thread("t"), older, {}, older["channel_versions"])
    (moved,) = saver.heads()
    assert moved.checkpoint_id == second["configurable"]["checkpoint_id"]
    assert moved.created_at == head.created_at
    assert moved.updated_at > head.updated_at

    saver.delete_for_runs(["r2"])
    assert [one.checkpoint_id for one in saver.heads()] == [first["configurable"]["checkpoint_id"]]
    saver.copy_thread("t", "u")
    assert [one.thread for one in saver.heads()] == ["u", "t"]
    saver.delete_thread("t")
    assert [one.thread for one in saver.heads()] == ["u"]


# What comes back.


@dataclasses.dataclass
class Dangerous:
    """A class that nobody allowed."""

    command: str


def test_a_class_comes_back_only_if_it_is_allowed(url: str, saver: CheckpointSaver) -> None:
    messages = [HumanMessage("hi", id="1"), AIMessage("hello", id="2")]
    at = put(saver, thread("t"), {"thing": Dangerous("ls"), "messages": messages})
    assert values_of(saver, at) == {"thing": {"command": "ls"}, "messages": messages}

    with CheckpointSaver.from_url(url, user="ana", allow=[Dangerous]) as trusting:
        assert values_of(trusting, at) == {"thing": Dangerous("ls"), "messages": messages}
    extended = saver.with_allowlist([(Dangerous.__module__, "Dangerous")])
    assert extended.get(at)["channel_values"]["thing"] == Dangerous("ls")  # type: ignore[index]


def test_a_stored_value_cannot_make_us_run_anything(saver: CheckpointSaver, url: str, tmp_path: Path) -> None:
    """GHSA-wwqv-p2pp-99h5 and CVE-2026-28277: rows that name a function to call on reading."""
    at = put(saver, thread("t"), {"x": ["y" * 300]})
    proof = tmp_path / "proof"
    call = ormsgpack.packb(ormsgpack.Ext(0, ormsgpack.packb(("os", "system", f"touch {proof}"))))
    JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(("msgpack", call))
    assert proof.exists()  # the attack works where everything is allowed
    proof.unlink()
    constructor = {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": [f"touch {proof}"]}

    for kind, data in (("msgpack", call), ("json", json.dumps(constructor).encode())):
        _overwrite(url, kind, data)
        saver.get_tuple(at)
        assert not proof.exists()
    _overwrite(url, "pickle", b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(NotImplementedError):
        saver.get_tuple(at)


def _overwrite(url: str, kind: str, data: bytes) -> None:
    if url.startswith("sqlite"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        connection.execute("UPDATE checkpoint_blob SET type = ?, data = ?", (kind, data))
        connection.close()
        return
    with psycopg.connect(url, options="-c search_path=lamina") as server:
        server.execute("UPDATE checkpoint_blob SET type = %s, data = %s", (kind, data))


class Cipher:
    """Reverses; enough to see what is stored in the clear."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "reversed", plaintext[::-1]

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert ciphername == "reversed"
        return ciphertext[::-1]


def test_an_encrypting_saver_stores_no_value_in_the_clear_and_reads_none(url: str) -> None:
    serde = EncryptedSerializer(Cipher(), JsonPlusSerializer(allowed_msgpack_modules=None))
    with CheckpointSaver.from_url(url, serde=serde) as sealed, CheckpointSaver.from_url(url) as plain:
        at = put(sealed, thread("t"), {"long": ["password" * 50], "short": "password"})
        sealed.put_writes(at, [("short", "password")], "task")
        assert values_of(sealed, at) == {"long": ["password" * 50], "short": "password"}
        for table in ("checkpoint", "checkpoint_blob", "checkpoint_write", "supervisor_checkpoints"):
            assert b"password" not in _dump(url, table)

        put(plain, thread("u"), {"short": "planted"})
        with pytest.raises(Damaged) as refused:
            sealed.get_tuple(thread("u"))
        assert refused.value.code == "checkpoint_not_encrypted"


def _dump(url: str, table: str) -> bytes:
    if url.startswith("sqlite"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        found = connection.execute(f"SELECT * FROM {table}").fetchall()
        connection.close()
    else:
        with psycopg.connect(url, options="-c search_path=lamina") as server:
            found = server.execute(f"SELECT * FROM {table}").fetchall()  # type: ignore[call-overload]
    return b"\n".join(v if isinstance(v, bytes) else str(v).encode() for row in found for v in row)


# At the same time, and after the end.


def test_many_threads_save_at_once_and_nothing_is_lost(saver: CheckpointSaver, url: str) -> None:
    def conversation(number: int) -> None:
        at = thread(f"t{number}")
        for step in range(10):
            at = put(saver, at, {"log": [f"{number}.{n}" for n in range(step + 1)]}, step=step)
            saver.put_writes(at, [("log", step)], "task")

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(conversation, range(12)))

    for number in range(12):
        found = list(saver.list(thread(f"t{number}")))
        assert [one.metadata["step"] for one in found] == list(range(9, -1, -1))
        assert found[0].checkpoint["channel_values"] == {"log": [f"{number}.{n}" for n in range(10)]}
        assert all(len(one.pending_writes or ()) == 1 for one in found)
    assert rows(url, "checkpoint") == 120


def test_many_tasks_of_an_event_loop_save_at_once(saver: CheckpointSaver) -> None:
    async def everyone() -> None:
        at = put(saver, thread("t"), {"n": 0})
        await asyncio.gather(*(saver.aput_writes(at, [("log", n)], f"task{n:02}") for n in range(40)))
        found = await saver.aget_tuple(at)
        assert found is not None
        assert found.pending_writes == [(f"task{n:02}", "log", n) for n in range(40)]

    asyncio.run(everyone())


def test_a_checkpoint_that_was_acknowledged_survives_the_death_of_its_process(url: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    acknowledged = [child.stdout.readline().strip() for _ in range(25)]
    child.kill()
    acknowledged += [line.strip() for line in child.stdout if line.endswith("\n")]
    child.stdout.close()
    child.wait()

    with CheckpointSaver.from_url(url) as saver:
        kept = {one.checkpoint["id"]: one for one in saver.list(thread("t"))}
        assert set(acknowledged) <= kept.keys()
        assert len(kept) - len(acknowledged) <= 1  # the one it died in may be there, whole
        for one in kept.values():
            step = one.metadata["step"]
            assert one.checkpoint["channel_values"] == {"log": list(range(step)), "n": step}
        assert saver.heads()[0].checkpoint_id == max(kept)


def test_an_engine_and_a_saver_share_a_store(url: str) -> None:
    with lamina.open(url, owner="ana") as engine:
        saver = CheckpointSaver(engine.database, user="ana")
        put(saver, thread("t"), {"n": 1})
        engine.scope().remember("Ana likes tea")
        assert engine.scope().recall("tea").hits
        assert values_of(saver, thread("t")) == {"n": 1}
