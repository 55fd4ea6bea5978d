"""The store says what LangGraph's own in-memory store says, whatever is asked of it in whatever order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

import lamina
from lamina.engine import Engine
from lamina.integrations.langgraph import Store
from tests.effort import times

LABELS = ["a", "b", "ab", "a_b", "a%b", "A", "ผู้ใช้", "用户", "*", "a/b", "a:b", "~", "10", "a b"]
KEYS = ["k", "K", "k1", "k!", "กุญแจ", "鑰匙", "a.b", ":", "/"]
LABEL = st.sampled_from(LABELS)
NAMESPACE = st.lists(LABEL, min_size=1, max_size=3).map(tuple)
KEY = st.sampled_from(KEYS)
WORD = st.sampled_from(["", "x", "茶", "ชา", "{", '{"text": 1}'])
LEAF = st.none() | st.booleans() | st.integers(-5, 5) | WORD
VALUE = st.dictionaries(
    st.sampled_from(["text", "n", "deep"]),
    LEAF | st.dictionaries(st.sampled_from(["x", "y"]), LEAF, max_size=2) | st.lists(LEAF, max_size=2),
    max_size=3,
)
FILTER = st.none() | st.dictionaries(
    st.sampled_from(["text", "n", "deep"]),
    LEAF | st.builds(lambda sign, n: {sign: n}, st.sampled_from(["$eq", "$ne"]), st.integers(-2, 2)),
    max_size=2,
)
CONDITION = st.builds(
    MatchCondition,
    match_type=st.sampled_from(["prefix", "suffix"]),
    path=st.lists(LABEL, min_size=1, max_size=2).map(tuple),
)
OP = st.one_of(
    st.builds(PutOp, namespace=NAMESPACE, key=KEY, value=VALUE | st.none()),
    st.builds(PutOp, namespace=NAMESPACE, key=KEY, value=VALUE),
    st.builds(GetOp, namespace=NAMESPACE, key=KEY),
    st.builds(
        SearchOp,
        namespace_prefix=st.lists(LABEL, max_size=2).map(tuple),
        filter=FILTER,
        limit=st.just(99),
        query=st.none(),
    ),
    st.builds(
        ListNamespacesOp,
        match_conditions=st.none() | st.lists(CONDITION, max_size=2).map(tuple),
        max_depth=st.none() | st.integers(1, 3),
        limit=st.integers(1, 5),
        offset=st.integers(0, 2),
    ),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMINA_HOME", str(folder / "home"))
        with lamina.open(f"sqlite:///{folder}/s.db", policy="aggressive") as opened:
            yield opened


_users = iter(range(10**9))


def plain(result: Any) -> Any:
    """A result without its times, and without an order where the contract gives none."""
    if result is None or (isinstance(result, list) and all(isinstance(one, tuple) for one in result)):
        return result
    items = result if isinstance(result, list) else [result]
    return sorted((one.namespace, one.key, json.dumps(one.value, sort_keys=True)) for one in items)


#: Each write is durable, so making a failure smaller would take minutes.
QUICK = settings(
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)


def asked(oracle: InMemoryStore, ops: list[Op]) -> list[Any]:
    """What the oracle says; it lists namespaces that somebody only looked into, so those are taken out."""
    names = {n: oracle.batch([op])[0] for n, op in enumerate(ops) if isinstance(op, ListNamespacesOp)}
    answers = oracle.batch(ops)
    for namespace in [name for name, items in oracle._data.items() if not items]:
        del oracle._data[namespace]
    return [names.get(number, answer) for number, answer in enumerate(answers)]


@given(st.lists(st.lists(OP, min_size=1, max_size=6), min_size=1, max_size=8))
@settings(QUICK, max_examples=times(20, 50))
def test_every_batch_has_the_same_answers(engine: Engine, batches: list[list[Op]]) -> None:
    ours, oracle = Store(engine.scope(user=f"u{next(_users)}")), InMemoryStore()
    for ops in batches:
        theirs = asked(oracle, ops)
        assert [plain(one) for one in ours.batch(ops)] == [plain(one) for one in theirs]


@given(st.dictionaries(st.tuples(NAMESPACE, KEY), VALUE, max_size=12), st.integers(1, 5))
@settings(QUICK, max_examples=15)
def test_pages_together_are_everything_once(engine: Engine, items: dict[Any, Any], size: int) -> None:
    store = Store(engine.scope(user=f"u{next(_users)}"))
    store.batch([PutOp(namespace, key, value) for (namespace, key), value in items.items()])
    found = []
    while page := store.search((), limit=size, offset=len(found)):
        found += page
    assert {(one.namespace, one.key): one.value for one in found} == items
    assert len(found) == len(items)
