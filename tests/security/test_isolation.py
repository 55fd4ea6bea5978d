"""Nobody sees what is somebody else's: not by searching, not by asking for it, not by its absence."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from lamina import LaminaError, NotFound, State

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place
from tests.effort import times

USERS, QUERIES = times((20, 8), (50, 20))
TEMPLATES = (
    "{name} keeps the {word} under the green bridge",
    "{word}อยู่ใต้สะพานสีเขียวของ {name}",
    "{name}把{word}放在绿色的桥下面",
)
WORDS = (("lantern", "ledger", "violin"), ("กาแฟ", "กุญแจ", "จดหมาย"), ("茶馆", "钥匙", "信件"))


def test_no_search_ever_returns_another_users_memories(place: Place) -> None:
    """Every user's questions in three languages, among them the very words of somebody else's canary."""
    engine, pick = place.open(), random.Random(11)
    canaries: dict[str, list[str]] = {}
    for number in range(USERS):
        name = f"user{number}"
        canaries[name] = [
            engine.scope(user=name)
            .remember(template.format(name=f"{pick.getrandbits(40):010x}", word=pick.choice(words)))
            .ids[0]
            for template, words in zip(TEMPLATES, WORDS, strict=True)
        ]
    texts = {
        memory_id: engine.scope(user=name).get(memory_id).text
        for name, ids in canaries.items()
        for memory_id in ids
    }

    asked = foreign = found = 0
    for name, own in canaries.items():
        mind = engine.scope(user=name)
        for _ in range(QUERIES):
            memory_id, text = pick.choice(list(texts.items()))
            word = pick.choice(pick.choice(WORDS))
            question = pick.choice([text, word, "green bridge สะพาน 绿色", memory_id])
            hits = {hit.id for hit in mind.recall(question, k=100)}
            asked, found, foreign = asked + 1, found + len(hits), foreign + len(hits - set(own))

    assert (asked, foreign) == (USERS * QUERIES, 0)
    assert found > USERS  # the questions do find one's own


def test_a_session_is_seen_from_within_that_session_only(engine: Engine) -> None:
    for user in ("ana", "bob"):
        for session in ("s1", "s2"):
            mind = engine.scope(user=user, session=session)
            mind.remember(f"tea with canary {user} {session}", space="session")

    for user in ("ana", "bob"):
        for session in ("s1", "s2"):
            texts = [hit.text for hit in engine.scope(user=user, session=session).recall("tea canary", k=50)]
            assert texts == [f"tea with canary {user} {session}"]
        assert not engine.scope(user=user).recall("tea canary", k=50).hits


def test_names_that_look_like_each_other_are_not_each_other(engine: Engine) -> None:
    names = ["ana,s1", "ana", "ANA", "ana:semantic", "ana%2Cs1", "ana~2Cs1", "..", ".", "../a", "аna", "a'--"]
    for name in names:
        engine.scope(user=name).remember(f"canary of {name!r}")
    engine.scope(user="ana", session="s1").remember("canary of the session", space="session")

    for name in names:
        assert [hit.text for hit in engine.scope(user=name).recall("canary", k=50)] == [f"canary of {name!r}"]


def test_a_project_is_seen_from_within_that_project_only(engine: Engine) -> None:
    for project in ("red", "blue"):
        engine.scope(project=project).remember(f"canary {project}", space="project")

    assert [hit.text for hit in engine.scope(user="bob", project="red").recall("canary")] == ["canary red"]


def test_one_tenant_never_sees_another_tenants_memories(place: Place) -> None:
    """The same names, the same words, the same keys, in the same place."""
    engines = {tenant: place.open(tenant=tenant) for tenant in ("default", "acme", "acme2")}
    ids = {}
    for tenant, engine in engines.items():
        mind = engine.scope(session="s1")
        ids[tenant] = [
            mind.remember(f"canary {tenant}").ids[0],
            mind.remember(f"canary {tenant} keyed", key=f"tone.{tenant}").ids[0],
            mind.remember(f"canary {tenant} session", space="session").ids[0],
            mind.remember(f"canary {tenant} project", space="project").ids[0],
            engine.scope(role="system").remember(f"canary {tenant} system", space="system").ids[0],
        ]

    for tenant, engine in engines.items():
        hits = engine.scope(session="s1").recall("canary", k=100).hits
        assert {hit.text.split()[1] for hit in hits} == {tenant}
        assert len(hits) == len(ids[tenant])
        for other in engines.keys() - {tenant}:
            assert all(other not in hit.text.split() for hit in engine.scope().recall(f"tone.{other}", k=99))
            assert all(f'"{other}' not in str(event.data) for event in engine.scope().trace(last=1000))


def test_tenants_stay_apart_when_the_place_is_opened_again(place: Place) -> None:
    for tenant in ("default", "acme"):
        place.open(tenant=tenant).scope().remember(f"canary {tenant}", key="tone")
        place.close()

    for tenant in ("default", "acme"):
        texts = [hit.text for hit in place.open(tenant=tenant).scope().recall("tone canary", k=50)]
        assert texts == [f"canary {tenant}"]
        place.close()


VERBS = ("get", "history", "explain", "revise", "forget", "restore")


def ask(mind: ScopedMemory, verb: str, memory_id: str) -> None:
    arguments = (memory_id, "other words") if verb == "revise" else (memory_id,)
    getattr(mind, verb)(*arguments)


def refusal(mind: ScopedMemory, verb: str, memory_id: str) -> tuple[type[LaminaError], str, str, str, bool]:
    """How a request is refused, without the id it named."""
    with pytest.raises(NotFound) as raised:
        ask(mind, verb, memory_id)
    error = raised.value
    message = error.message.replace(memory_id, "<id>")
    return type(error), error.code, message, error.hint, error.retryable


def test_somebody_elses_id_is_answered_like_one_that_was_never_given(place: Place) -> None:
    engine = place.open()
    ana, bob = engine.scope(session="s1"), engine.scope(user="bob", session="s1")
    forgotten = ana.remember("Ana liked milk").ids[0]
    ana.forget(forgotten)
    superseded = ana.remember("friendly", key="tone").ids[0]
    hers = [
        ana.remember("Ana likes tea").ids[0],
        ana.remember("formal", key="tone").ids[0],
        ana.remember("for now", space="session").ids[0],
        forgotten,
        superseded,
    ]
    before = place.tables()

    for verb in VERBS:
        for memory_id in hers:
            unknown = memory_id.rsplit(":", 1)[0] + ":999"
            assert refusal(bob, verb, memory_id) == refusal(bob, verb, unknown), (verb, memory_id)

    assert place.tables() == before
    assert ana.get(hers[0]).state is State.ACTIVE
    assert "Ana likes tea" not in str([event.data for event in bob.trace(last=1000)])


def test_another_session_of_the_same_user_is_somebody_else_to_an_agent(engine: Engine) -> None:
    one, other = engine.scope(session="s1"), engine.scope(session="s2", agent="planner")
    memory_id = one.remember("for now", space="session").ids[0]
    assert engine.scope(session="s2").get(memory_id).text == "for now"  # the person reaches their own

    for verb in VERBS:
        with pytest.raises(NotFound):
            ask(other, verb, memory_id)


def test_statistics_of_other_shelves_do_not_move_a_score(place: Place) -> None:
    engine = place.open()
    ana, bob = engine.scope(), engine.scope(user="bob")
    for text in ("tea", "tea and milk", "green tea"):
        ana.remember(text)
    before = ana.recall("green tea")

    for number in range(30):
        bob.remember(f"green tea green tea {number}")

    assert ana.recall("green tea") == before


def test_an_agent_of_one_user_does_not_reach_another(engine: Engine) -> None:
    engine.scope(user="ana", agent="planner").remember("canary of ana")

    assert not engine.scope(user="bob", agent="planner").recall("canary").hits


def test_the_memory_behind_somebody_elses_id_is_not_loaded(engine: Engine) -> None:
    hers = engine.scope(user="ana").remember("Ana likes tea").ids
    his = engine.scope(user="bob").remember("Bob likes milk").ids
    session = engine.scope(user="ana", session="s1").remember("for now", space="session").ids

    assert [one.text for one in engine.scope(user="bob", session="s1").loaded([*hers, *his, *session])] == [
        "Bob likes milk"
    ]
