"""Ranking without a store: times and manners of questions, typos, the forms of fusion, the closer look."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

import numpy as np
import pytest

from lamina.model import Authority, Kind, Layer, Memory, Provenance, Role, Space
from lamina.ranking import lexical
from lamina.ranking.fusion import Fused, adjust, newest_first, ranked_by, reciprocal
from lamina.ranking.question import Manner, guesses, misread, mistyped, parts_of, understood
from lamina.ranking.rerank import closeness, judged, near_duplicates
from lamina.ranking.timing import says_when, timing

NOW = datetime(2024, 3, 13, 15, tzinfo=UTC)  # a Wednesday

PERIODS = {
    "What did I do last week?": ("2024-03-04", "2024-03-11"),
    "Which book did I finish a week ago?": ("2024-03-04", "2024-03-09"),
    "in the past two weeks": ("2024-02-28", "2024-03-14"),
    "Where was John between August 11 and August 15 2023?": ("2023-08-11", "2023-08-16"),
    "what happened on May 5, 2023": ("2023-05-05", "2023-05-06"),
    "the trip in May": ("2023-05-01", "2023-06-01"),
    "last Friday": ("2024-03-08", "2024-03-09"),
    "เมื่อวานฉันทำอะไร": ("2024-03-12", "2024-03-13"),
    "เดือนที่แล้วเราตัดสินใจอะไร": ("2024-02-01", "2024-03-01"),
    "ประชุมวันที่ 5 มีนาคม 2567": ("2024-03-05", "2024-03-06"),
    "สัปดาห์นี้": ("2024-03-11", "2024-03-14"),
    "上個月的決定": ("2024-02-01", "2024-03-01"),
    "上个月的决定": ("2024-02-01", "2024-03-01"),
    "三天前说了什么": ("2024-03-09", "2024-03-12"),
    "去年的计划": ("2023-01-01", "2024-01-01"),
    "2024年3月5日的会议": ("2024-03-05", "2024-03-06"),
}


@pytest.mark.parametrize("question", PERIODS)
def test_a_time_in_a_question_is_a_period_seen_from_now(question: str) -> None:
    start, end = map(date.fromisoformat, PERIODS[question])
    period = timing(question, NOW).period
    assert period is not None
    assert abs((period.start.date() - start).days) <= 1
    assert abs((period.end.date() - end).days) <= 1


@pytest.mark.parametrize("question", ["may I ask something", "30 February 2023", "the year 9999-99-99", "茶"])
def test_what_is_no_time_is_no_period(question: str) -> None:
    assert timing(question, NOW).period is None


@pytest.mark.parametrize("question", ["the latest plan", "แผนล่าสุด", "目前的方案", "現在的方案"])
def test_the_newest_is_asked_for_in_three_languages(question: str) -> None:
    assert timing(question, NOW).latest


def test_a_question_for_a_time_and_a_text_that_names_one_are_recognised() -> None:
    assert all(timing(one, NOW).when for one in ("When did we meet?", "เจอกันเมื่อไหร่", "我们什么时候见面"))
    assert says_when("We met last Friday")
    assert not says_when("We met at the pier")


@pytest.mark.parametrize(
    ("question", "manner"),
    [
        ("`HttpServerConfig`", Manner.EXACT),
        ("error E1234", Manner.EXACT),
        ("how do I deploy", Manner.HOW_TO),
        ("วิธีตั้งค่าเซิร์ฟเวอร์", Manner.HOW_TO),
        ("如何部署", Manner.HOW_TO),
        ("what did we say", Manner.RECALL),
        ("上次的决定", Manner.RECALL),
        ("how do I change settings.toml", Manner.MIXED),
        ("green tea", Manner.PLAIN),
    ],
)
def test_a_question_has_a_manner(question: str, manner: Manner) -> None:
    assert understood(question, NOW).manner is manner


def test_words_of_the_frame_tell_little_unless_there_are_no_others() -> None:
    weights = understood("How many days ago did I attend the concert?", NOW).weights
    assert weights["concert"] == 1.0 > weights["mani"] == weights["day"]
    assert set(understood("how many days", NOW).weights.values()) == {1.0}


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Where do I live?", []),
        ("Who is Mr. Brandt of Prof. Lee's group?", []),
        ("I was at the lake today. Who swam with me?", ["I was at the lake today.", "Who swam with me?"]),
        ("今天去了公园。上次我们玩了什么？", ["今天去了公园。", "上次我们玩了什么？"]),
        ("A: วันนี้ไปทะเลมา\nB: กับใครเหรอ\n\n", ["A: วันนี้ไปทะเลมา", "B: กับใครเหรอ"]),
        ("\n".join(f"line {number}" for number in range(30)), [f"line {number}" for number in range(22, 30)]),
    ],
)
def test_a_question_has_parts_where_it_says_several_things(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts


def test_a_letter_wrong_is_guessed_and_nothing_else() -> None:
    assert mistyped(["mileston", "api", "v1.2", "茶馆"]) == ["mileston"]
    known = ["mileston", "milestones", "milstone", "miletsone", "milestane", "milestone", "stone", "mlstone"]
    assert guesses("milestone", known) == ["milestane", "mileston", "milestones", "miletsone", "milstone"]
    assert "deploy" in misread("edploy")
    assert "deploy" in misread("xdeploy")
    assert not guesses("river", ["stone", "rivers2", "over"])


def fused(
    name: str, score: float = 0.0, *, at: datetime = NOW, layer: str = "semantic", by: str = ""
) -> Fused:
    memory = Memory(
        id=name,
        space=Space.USER,
        owner="ana",
        layer=Layer(layer),
        kind=Kind.FACT,
        text="x",
        authority=Authority.USER_ASSERTED,
        created_at=at,
        updated_at=at,
        valid_from=at,
        superseded_by=by or None,
        importance=3,
        provenance=Provenance(actor="user:ana", role=Role.USER, via="test"),
    )
    return Fused(name, memory, score)


def test_reciprocal_rank_fusion_is_that_of_the_documents() -> None:
    one, other = fused("a", layer="procedural"), fused("b")
    one.scores, other.scores = {"lexical": 2.0, "meaning": 0.5}, {"lexical": 1.0}
    for name in ("lexical", "meaning"):
        for rank, each in enumerate(ranked_by([other, one], name), 1):
            each.ranks[name] = rank

    reciprocal(one, 0.5, Manner.HOW_TO)
    reciprocal(other, 1.0, Manner.HOW_TO)

    assert one.score == round(1.2 * 0.5 * (1 / 61 + 1 / 61), 6)
    assert other.score == round(1 / 62, 6)


def test_layers_and_decay_move_a_score_only_a_little_unless_decay_is_plain() -> None:
    question = understood("how do I brew tea", NOW)
    scores = {}
    for layer in ("semantic", "procedural", "user_model"):
        one = fused(layer, 1.0, layer=layer)
        adjust(one, 1.0, question, {}, plain=False)
        scores[layer] = one.score
    assert 0.9 < scores["user_model"] < scores["semantic"] < scores["procedural"] < 1.1
    faded, plainly = fused("a", 1.0), fused("b", 1.0)
    adjust(faded, 0.0, question, {}, plain=False)
    adjust(plainly, 0.25, question, {}, plain=True)
    assert (faded.score, plainly.score) == (0.85, 0.25)
    assert faded.adjustments == {"*decay": 0.85}


def test_an_old_decision_beats_a_fresh_mention_and_recency_counts_only_where_it_is_asked_for() -> None:
    old = datetime(2023, 6, 1, tzinfo=UTC)
    for question, first in (("why did we drop GraphQL", "old"), ("the latest word on GraphQL", "new")):
        found = [fused("old", 1.0, at=old), fused("new", 0.95)]
        asked = understood(question, NOW)
        for one in found:
            adjust(one, 1.0, asked, {}, plain=False)
        if asked.timing.latest:
            newest_first(found)
        assert max(found, key=lambda one: one.score).id == first


def test_what_is_superseded_is_lowered_and_says_so() -> None:
    one = fused("a", 1.0, by="b")
    adjust(one, 1.0, understood("tea", NOW), {}, plain=False)
    assert (one.score, one.adjustments) == (0.3, {"*superseded": 0.3})


def test_words_that_stand_together_and_in_order_add_to_a_score() -> None:
    question = understood("red brick house", NOW)
    rarity = {"red": 1.0, "brick": 1.0, "hous": 1.0}
    far = f"The house {'and so on ' * 20} a brick {'and so on ' * 20} red"
    near, apart = (closeness(question, rarity, text) for text in ("a red brick house", far))
    assert near["near"] > apart["near"]
    assert "phrase" in near
    assert "phrase" not in apart
    quoted = understood('who said "red brick"', NOW)
    assert closeness(quoted, rarity, "Red Brick it was")["quoted"]


def test_near_duplicates_come_after_what_differs() -> None:
    text = "the quarterly report of the northern office was sent to everybody on monday morning"
    told = [text, text + ".", "something else entirely"]
    assert [*near_duplicates("which report", told)] == [False, True, False]
    assert [*near_duplicates("report", ["tea 1", "tea 2"])] == [False, False]


class Contrary:
    """A reranker that likes the last best."""

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(text) + 0 * len(question) for text in texts]


def test_a_reranker_is_blended_by_position_and_stops_when_it_is_late() -> None:
    ranked = [(f"id{n}", str(n)) for n in range(1, 13)]
    scores = judged(Contrary(), "q", ranked, lambda: False)
    assert scores["id1"] == 0.75
    assert scores["id4"] == round(0.6 / 4 + 0.4 * 3 / 11, 6)
    assert scores["id12"] == round(0.4 / 12 + 0.6, 6)
    assert judged(Contrary(), "q", ranked, lambda: True)["id12"] == round(1 / 12, 6)


def test_terms_are_worth_the_same_whether_their_lists_are_kept_decoded_or_not() -> None:
    shelves = [lexical.Shelf(7, 300, 3000, 300), lexical.Shelf(2, 40, 200, 40)]
    said = {"tea": {7: (3, 260, 299), 2: (0, 39)}, "green": {7: (3, 4)}, "pot": {2: (39,)}}
    lists = [
        (shelf, term, block, b"".join(lexical.packed(slot, 2, 9) for slot in slots if slot // 256 == block))
        for term, places in said.items()
        for shelf, slots in places.items()
        for block in sorted({slot // 256 for slot in slots})
    ]
    both = [one for one in lists if one[:2] != (7, "tea")]
    both.append(
        (7, "tea", 0, lexical.decoded([(block, data) for *at, block, data in lists if at == [7, "tea"]]))
    )
    weights = {"tea": 1.0, "green": 0.5, "pot": 0.3, "cup": 1.0}
    packed, mixed = (lexical.ranked(some, shelves, weights, {"pot"}) for some in (lists[::-1], both))
    assert np.array_equal(packed.score, mixed.score)
    assert [*packed.rarity] == [*mixed.rarity] == ["green", "pot", "tea"]
    assert packed.missing == ("cup",)
    rarity = packed.rarity
    assert packed.covered[[3, 4, 299, 339, 5]].tolist() == [
        rarity["green"] + rarity["tea"],
        rarity["green"],
        rarity["tea"],
        rarity["pot"] + rarity["tea"],
        0.0,
    ]
    assert packed.score[3] == packed.score.max()
    nothing = lexical.ranked([], shelves, weights)
    assert not nothing.score.any()
    assert nothing.missing == tuple(weights)


def test_what_only_supports_finds_nothing_by_itself() -> None:
    shelves = [lexical.Shelf(1, 9, 90, 9)]
    lists = [
        (1, "pot", 0, lexical.packed(4, 1, 9) + lexical.packed(5, 1, 9)),
        (1, "tea", 0, lexical.packed(5, 1, 9)),
    ]
    found = lexical.ranked(lists, shelves, {"pot": 1.0, "tea": 1.0}, {"pot"})
    assert np.flatnonzero(found.score).tolist() == [5]
    assert np.flatnonzero(found.covered).tolist() == [4, 5]
