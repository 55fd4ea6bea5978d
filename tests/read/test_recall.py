"""Recall finds what was said, in the languages people use, best first, and changes nothing."""

from __future__ import annotations

import random
import string
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from lamina import InvalidInput
from tests.effort import times

if TYPE_CHECKING:
    from lamina.engine import Engine
    from lamina.scoped import ScopedMemory
    from tests.backends import Place

FOUND = {
    "chinese_word_in_a_sentence": ("我昨天在北京的茶馆里喝了很好的龙井茶", "茶馆"),
    "chinese_at_the_end": ("她的生日礼物是手表", "手表"),
    "chinese_at_the_start": ("手表是她的生日礼物", "手表"),
    "chinese_one_character": ("他喜欢喝茶", "茶"),
    "traditional_by_simplified": ("我們決定使用資料庫備份", "资料库"),
    "simplified_by_traditional": ("我们决定使用数据库备份", "數據庫"),
    "thai_word_in_a_sentence": ("เมื่อวานผมไปร้านกาแฟกับเพื่อนที่เชียงใหม่", "กาแฟ"),
    "thai_at_the_end": ("บ้านของเธออยู่ที่เชียงใหม่", "เชียงใหม่"),
    "thai_in_another_order_of_marks": ("เขาชอบดื่มน้ำเย็น", "น\u0e4d\u0e49\u0e32"),
    "plural": ("She adopted two cats from the shelter", "cat"),
    "singular": ("She adopted a cat from the shelter", "cats"),
    "past_by_present": ("We deployed the server on Friday", "deploy"),
    "present_by_past": ("We deploy the server every Friday", "deployed"),
    "gerund": ("He was running late", "run"),
    "case": ("The API lives at ExampleCorp", "examplecorp"),
    "camel": ("Look at HttpServerConfig first", "server config"),
    "path": ("Settings are in /etc/nginx/nginx.conf", "nginx.conf"),
    "version": ("We pinned numpy to v1.26.4", "1.26.4"),
    "full_width": ("ＴＥＬ １２３４", "1234"),
    "accent_in_two_spellings": ("Meet at Cafe\u0301 Luna", "Caf\u00e9"),
    "hidden_joiner": ("The pass\u200bage is narrow", "passage"),
    "mixed": ("เราใช้ Kubernetes 部署 ระบบ", "kubernetes"),
    "emoji": ("Ana reacts with 🎉 to releases", "🎉"),
}
OTHERS = (
    "The weather was fine all week",
    "Invoices are sent on Mondays",
    "今天天气很好",
    "วันนี้อากาศดีมาก",
    "Bob plays chess",
    "預算會議改到下週",
    "ประชุมงบประมาณเลื่อนไปสัปดาห์หน้า",
)


def test_a_word_is_found_inside_a_sentence_in_every_language(ana: ScopedMemory) -> None:
    for text in OTHERS:
        ana.remember(text)
    ids = {name: ana.remember(text).ids[0] for name, (text, _) in FOUND.items()}

    missed = {
        name: word
        for name, (_, word) in FOUND.items()
        if ids[name] not in [hit.id for hit in ana.recall(word, k=30)]
    }

    assert missed == {}


def test_what_matches_better_comes_first(ana: ScopedMemory) -> None:
    ana.remember("Ana likes green tea")
    both = ana.remember("Ana likes green tea in the morning and green apples at night").ids[0]
    best = ana.remember("green apples").ids[0]

    assert [hit.id for hit in ana.recall("green apples")][:2] == [best, both]


def test_nothing_is_made_up_when_nothing_matches(ana: ScopedMemory) -> None:
    ana.remember("Ana likes tea")

    for hit in ana.recall("quantum chromodynamics").hits:  # at most a guess that is said to be one
        assert hit.uncertainty == "high"
        assert hit.confidence is not None
        assert hit.confidence < 0.05
        assert any(reason.startswith("a guess") for reason in hit.reasons)


def test_a_key_or_an_id_finds_exactly_what_it_names(ana: ScopedMemory) -> None:
    keyed = ana.remember("friendly", key="response.tone").ids[0]
    plain = ana.remember("the response tone of the piano is friendly").ids[0]

    assert ana.recall("response.tone").hits[0].id == keyed
    assert ana.recall("Response.Tone").hits[0].id == keyed
    assert ana.recall(plain).hits[0].id == plain


def test_a_shorter_answer_is_the_beginning_of_a_longer_one(ana: ScopedMemory) -> None:
    pick = random.Random(5)
    words = ["tea", "cup", "river", "stone", "cloud", "green", "茶", "กาแฟ", "deploy", "server"]
    for number in range(100):
        ana.remember(f"{' '.join(pick.choices(words, k=6))} {number}")

    for _ in range(12):
        question = " ".join(pick.sample(words, k=2))
        whole = ana.recall(question, k=64).hits
        for k in (1, 2, 3, 6, 63):
            assert ana.recall(question, k=k).hits == whole[:k]


def test_the_top_hit_does_not_depend_on_k_even_among_many_equals(ana: ScopedMemory) -> None:
    ids = [ana.remember(f"tea {number}").ids[0] for number in range(120)]
    for memory_id in ids[:19]:
        ana.forget(memory_id)

    tops = {k: ana.recall("tea", k=k).hits[0] for k in (1, 6, 64, 65, 100, 200)}

    assert len({top.id for top in tops.values()}) == 1
    assert len({top.score for top in tops.values()}) == 1


def test_hits_say_why_they_are_here(ana: ScopedMemory) -> None:
    ana.remember("Ana drinks green tea")

    hit = ana.recall("green tea please").hits[0]

    assert hit.reasons == ("matches 2 of 3 terms",)
    assert hit.ranks == {"lexical": 1, "meaning": 1}
    assert (hit.source.actor, hit.source.via) == ("user:ana", "python")


def test_a_recall_can_be_narrowed(ana: ScopedMemory, place: Place) -> None:
    old = ana.remember("tea one", kind="decision", category="work").ids[0]
    place.clock.advance(days=2)
    new = ana.remember("tea two", layer="episodic", category="home").ids[0]
    shared = ana.remember("tea three", space="project").ids[0]
    middle = place.clock.now() - timedelta(days=1)

    def ids(**narrowing: object) -> set[str]:
        return {hit.id for hit in ana.recall("tea", **narrowing)}  # type: ignore[arg-type]

    assert ids() == {old, new, shared}
    assert ids(kinds=["decision"]) == {old}
    assert ids(layers=["episodic"]) == {new}
    assert ids(categories=["work"]) == {old}
    assert ids(categories=["work", "home"]) == {old, new}
    assert ids(spaces=["project"]) == {shared}
    assert ids(since=middle) == {new, shared}
    assert ids(until=middle) == {old}
    assert ids(kinds=["episode"]) == set()


def test_what_a_narrowed_recall_may_not_see_takes_no_place_from_what_it_may(ana: ScopedMemory) -> None:
    for number in range(150):
        ana.remember(f"tea tea tea {number}")
    wanted = ana.remember("a long sentence with the word tea somewhere in its middle", kind="decision").ids[0]

    assert [hit.id for hit in ana.recall("tea", k=1, kinds=["decision"])] == [wanted]


def test_hits_fit_the_token_budget(ana: ScopedMemory) -> None:
    for number in range(10):
        ana.remember(f"tea {'word ' * (5 * number + 1)}")

    answer = ana.recall("tea", k=10, budget_tokens=30)

    assert sum(hit.tokens for hit in answer) <= 30
    assert len(answer) + answer.left_out == 10


SENSELESS = [
    {"k": 0},
    {"k": 1001},
    {"k": True},
    {"k": "3"},
    {"kinds": ["x"]},
    {"since": "today"},
    {"x": 1},
    {"budget_tokens": -1},
    {"budget_tokens": "many"},
    {"budget_tokens": 1.5},
]


def test_a_narrowing_that_makes_no_sense_is_refused(ana: ScopedMemory) -> None:
    ana.remember("Ana likes tea")
    for narrowing in SENSELESS:
        with pytest.raises(InvalidInput):
            ana.recall("tea", **narrowing)  # type: ignore[arg-type]


def test_no_question_breaks_the_search(ana: ScopedMemory) -> None:
    ana.remember("Ana likes tea")
    pick = random.Random(7)
    alphabet = string.printable[:95] + "\"'*^:()-茶ก\u200b\u202e🎉%_\\\u0301"

    for _ in range(times(80, 300)):
        question = "".join(pick.choices(alphabet, k=pick.randint(1, 40))) + "tea"
        ana.recall(question)
    for question in ("NEAR(", '"', "tea* OR", "key:", "%(tenant)s", "'; DROP TABLE x; --", "a" * 20_000):
        ana.recall(question)

    assert ana.recall("tea").hits[0].text == "Ana likes tea"


def test_reading_writes_nothing(place: Place) -> None:
    engine = place.open()
    mind = engine.scope()
    kept = [mind.remember(f"tea number {number}").ids[0] for number in range(20)]
    mind.remember("friendly", key="response.tone")
    mind.recall("tea")
    tables, files = place.tables(), _stamps(place)

    for number in range(50):
        mind.recall(f"tea {number}")
        mind.get(kept[number % 20])
        mind.history(kept[number % 20])
        mind.explain(kept[number % 20])
        mind.trace()
    engine.verify_audit()

    assert place.tables() == tables
    assert _stamps(place) == files


def _stamps(place: Place) -> dict[str, tuple[int, bytes]]:
    """Time and content of every file but SQLite's shared memory, where readers announce themselves."""
    return {
        str(path): (path.stat().st_mtime_ns, data)
        for path, data in place.files().items()
        if not path.name.endswith("-shm")
    }


def test_forgotten_words_no_longer_find_anything(ana: ScopedMemory) -> None:
    memory_id = ana.remember("Ana likes zebras").ids[0]
    ana.revise(memory_id, "Ana likes tigers")

    assert all("lexical" not in hit.scores and hit.uncertainty == "high" for hit in ana.recall("zebras"))
    assert ana.recall("tigers").hits[0].id == memory_id


def test_an_index_made_anew_gives_the_same_answers(ana: ScopedMemory, engine: Engine) -> None:
    pick = random.Random(3)
    words = ["tea", "cup", "river", "stone", "cloud", "green", "茶馆", "กาแฟ", "deploys", "server"]
    ids = [ana.remember(f"{' '.join(pick.choices(words, k=5))} {n}").ids[0] for n in range(60)]
    for memory_id in ids[::7]:
        ana.forget(memory_id)
    for memory_id in ids[1::7]:
        ana.revise(memory_id, f"river stone {memory_id}")
    questions = [" ".join(pick.sample(words, k=2)) for _ in range(20)]
    before = [{hit.id: hit.scores for hit in ana.recall(question, k=60)} for question in questions]

    engine.rebuild()

    after = [{hit.id: hit.scores for hit in ana.recall(question, k=60)} for question in questions]
    assert after == before
