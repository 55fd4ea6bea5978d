"""A turn is found through itself, through what was said around it, and through its session."""

from __future__ import annotations

import pytest

from lamina.engine import Engine
from lamina.ranking.fusion import ASKING
from lamina.scoped import ScopedMemory

TALK = {
    "garden": [
        "I went to the nursery this morning",
        "What did you buy there?",
        "Three tomato plants and a fig",
        "They will like the south wall",
    ],
    "work": ["The build is red again", "Somebody changed the lock file", "I will look at it after lunch"],
}


def told(mind: ScopedMemory, engine: Engine) -> dict[str, str]:
    ids = {}
    for session, turns in TALK.items():
        speaker = engine.scope(user=mind.scope.user, session=session)
        for turn in turns:
            ids[turn] = speaker.remember(turn, layer="episodic").ids[0]
    return ids


def test_an_answer_is_found_by_the_words_of_its_question(ana: ScopedMemory, engine: Engine) -> None:
    ids = told(ana, engine)

    hits = ana.recall("what did Ana buy at the nursery", k=10).hits

    found = [hit.id for hit in hits]
    assert found.index(ids["Three tomato plants and a fig"]) < 3
    answer = next(hit for hit in hits if hit.text.startswith("Three tomato"))
    assert "said near what matches" in answer.reasons
    assert answer.scores["conversation"] > 0


def test_turns_of_other_sessions_lend_nothing(ana: ScopedMemory, engine: Engine) -> None:
    told(ana, engine)

    hits = ana.recall("nursery", k=10).hits

    assert not [hit.text for hit in hits if hit.text in TALK["work"] and "conversation" in hit.scores]


def test_conversations_survive_forgetting_and_a_new_index(ana: ScopedMemory, engine: Engine) -> None:
    ids = told(ana, engine)
    before = {hit.id: hit.scores for hit in ana.recall("what did Ana buy at the nursery", k=10)}
    engine.rebuild()
    assert {hit.id: hit.scores for hit in ana.recall("what did Ana buy at the nursery", k=10)} == before

    ana.forget(ids["I went to the nursery this morning"])
    later = ana.recall("nursery", k=10).hits

    assert not [hit for hit in later if "lexical" in hit.scores or "conversation" in hit.scores]


def test_sessions_that_interleave_stay_apart(ana: ScopedMemory, engine: Engine) -> None:
    one, other = (engine.scope(user=ana.scope.user, session=name) for name in ("one", "other"))
    pairs = [
        (one, "The ferry leaves from pier nine"),
        (other, "The oven needs a new door"),
        (one, "Be there a quarter before"),
        (other, "The shop had none left"),
    ]
    for mind, text in pairs:
        mind.remember(text, layer="episodic")

    lent = [hit.text for hit in ana.recall("ferry pier", k=10) if "conversation" in hit.scores]

    assert lent == ["Be there a quarter before"]


def test_a_turn_gains_by_answering_what_is_asked(engine: Engine) -> None:
    talk = engine.scope(session="s1")
    for said in (
        "Ben: What kind of place did you open over there in Lyon?",
        "Ada: A small shop for second-hand books, with a reading corner.",
        "Ben: That sounds lovely. I should open a bottle in Lyon.",
        "小林：你在里昂開了什麼樣的店呢？",
        "阿達：一間小小的二手書店，還有閱讀角落。",
        "小林：聽起來很棒，我該去里昂看看。",
    ):
        talk.remember(said, layer="episodic")

    for question, answer in {
        "What kind of place did Ada open in Lyon?": "second-hand books",
        "阿達在里昂開了什麼樣的店？": "二手書店",
    }.items():
        hits = engine.scope().recall(question).hits
        best = next(hit for hit in hits if not hit.text.endswith(("?", "？")))
        assert answer in best.text
        assert best.adjustments["*answers"] > 1
        assert sum("*answers" in hit.adjustments for hit in hits) == 2  # one in each language


#: What is known, what was asked in the same words as the question, and the question.
ASKED = (
    ("My daughter Mia is lactose intolerant", "what can Leo not eat?", "what mustn't Mia eat?"),
    ("ผมแพ้กุ้ง", "ร้านนี้มีอะไรกินได้บ้างไหม", "อะไรที่ผมกินไม่ได้"),
    ("我女儿对牛奶过敏", "小宝不能吃什么？", "女儿不能吃什么"),
    ("我女兒對牛奶過敏", "小寶不能吃什麼呢", "女兒不能吃什麼"),
)


@pytest.mark.parametrize(("known", "asked", "question"), ASKED)
def test_what_was_only_asked_is_no_answer(engine: Engine, known: str, asked: str, question: str) -> None:
    ana = engine.scope(session="here")
    kept = ana.remember(known).ids[0]
    ana.hear(asked)

    hits = ana.recall(question).hits

    (echo,) = [hit for hit in hits if hit.text == asked]
    assert echo.uncertainty == "high"
    assert next(hit.id for hit in hits) == kept


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        ("Which bag fits my Sony A7R IV?", "what camera do I own?"),
        ("รถกระบะของผมบรรทุกตู้เย็นได้ไหม", "ผมขับรถอะไร"),
        ("我的索尼相机配什么包？", "我用什么相机"),
    ],
)
def test_a_question_that_tells_of_its_speaker_may_answer(engine: Engine, asked: str, question: str) -> None:
    ana = engine.scope(session="here")
    ana.hear(asked)

    best = ana.recall(question).hits[0]

    assert best.text == asked
    assert best.adjustments.get("*asking", 1.0) >= ASKING


def test_who_looks_for_a_question_finds_it(engine: Engine) -> None:
    ana = engine.scope(session="here")
    ana.remember("The picnic is at Kew")
    ana.hear("where should we go for the picnic?")

    assert ana.recall("what did I ask about the picnic?").hits[0].text.startswith("where should")


def test_what_was_noted_for_a_session_is_not_shown_beside_what_lasts(engine: Engine) -> None:
    ana = engine.scope(session="here")
    ana.remember("I like hiking in the Alps")
    ana.remember("I like hiking in the Alps", space="session", layer="semantic")

    texts = [hit.text for hit in ana.recall("where could I go hiking?").hits]

    assert texts.count("I like hiking in the Alps") == 1
