"""Decision entries: read from any bytes, changed without a trace, one per id, and a life in one direction."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.errors import Conflict, InvalidInput, NotFound
from lamina.text.decision_entries import (
    Decision,
    DecisionFile,
    Status,
    archived,
    decision_id,
    in_force,
    plain_line,
    superseded,
)
from lamina.text.entries import Severity

LANCE = Decision(
    id="DECISION-20260306-switch-to-lancedb",
    title="Switch to LanceDB",
    date="2026-03-06T11:12:00+07:00",
    session_id="s18",
    session_path="sessions/s18.jsonl",
    message_range="3-3",
    why="it is four times faster",
    finding="benchmarks came in",
    conclusion="We use LanceDB.",
    impact="one day of work",
    confidence=0.9,
    refs=("[[bench.md]]",),
)
HAND = """\ufeff# Friday\r
My own note.\r
\r
## Decision: หน้าบ้านใช้ React\r
*   ID :   DECISION-20260303-หน้าบ้าน-react\r
- date: 2026-03-03\r
- source:\r
\t- session_id: s06\r
\t- session_path: sessions/s06.jsonl\r
\t- message_range: 1..4\r
- why: the team knows it\r
  and likes it\r
- finding:\r
- conclusion: React in front\r
- impact: none\r
- mood: sunny\r
- confidence: 0.80\r
- status: Active\r
- refs:\r
  - [[a.md]]\r
  - [[b.md]]\r
\r
Remark below it.\r
### Details\r
- more: text\r
## Other things\r
tail without an end""".encode()


def test_a_written_entry_reads_back_as_itself_after_anything() -> None:
    for before in (b"", b"# Notes\n", b"no end", HAND):
        file = DecisionFile.parse(before).add(LANCE)
        assert file.get(LANCE.id) == LANCE
        assert file.to_bytes().startswith(before)
        assert DecisionFile.parse(file.to_bytes()).to_bytes() == file.to_bytes()


def test_what_a_person_wrote_by_hand_is_read_with_all_its_liberties() -> None:
    file = DecisionFile.parse(HAND)
    (one,) = file.decisions
    assert (one.title, one.confidence, one.status) == ("หน้าบ้านใช้ React", 0.8, Status.ACTIVE)
    assert (one.session_id, one.message_range) == ("s06", "1..4")
    assert one.why == "the team knows it and likes it"
    assert one.refs == ("[[a.md]]", "[[b.md]]")
    assert ("mood", "sunny") in one.extra
    assert [(p.line, p.severity) for p in file.problems] == [(13, Severity.WARNING)]


def test_only_the_changed_fields_change() -> None:
    file = DecisionFile.parse(HAND)
    old = file.decisions[0]
    after = file.revise(superseded(old, by=LANCE.id, at="2026-03-10", because="nobody knew it"))
    expected = HAND.replace(b"- status: Active", b"- status: superseded").replace(
        b"  - [[b.md]]\r\n",
        b"  - [[b.md]]\r\n- superseded_by: "
        + LANCE.id.encode()
        + b"\r\n- superseded_at: 2026-03-10\r\n- superseded_because: nobody knew it\r\n",
    )
    assert after.to_bytes() == expected
    assert after.decisions[0].status is Status.SUPERSEDED


def test_taking_a_section_out_leaves_every_other_byte() -> None:
    file = DecisionFile.parse(HAND).add(LANCE)
    name = file.decisions[0].id
    moved = file.section(name)
    assert b"Remark below it." in moved
    assert file.remove(name).to_bytes() == file.to_bytes().replace(moved, b"")
    with pytest.raises(NotFound):
        file.remove("DECISION-20260101-none")


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ("- status: active", "- status: done", 13, "status"),
        ("- confidence: 0.9", "- confidence: high", 12, "confidence"),
        ("- date: 2026-03-06T11:12:00+07:00", "- date: last Friday", 3, "date"),
        ("- id: DECISION-20260306-", "- id: DECISION-20261399-", 2, "id"),
        ("  - session_id: s18\n", "", 1, "session_id"),
        ("- conclusion: We use LanceDB.", "- conclusion:", 10, "conclusion"),
        ("- refs:", "- supersedes: the old one\n- refs:", 14, "supersedes"),
        ("- impact:", "- status: active\n- impact:", 14, "two parts"),
    ],
)
def test_a_malformed_entry_is_named_with_its_line_and_stays(old: str, new: str, line: int, word: str) -> None:
    text = DecisionFile.parse(b"").add(LANCE).to_bytes().decode()
    assert old in text
    data = text.replace(old, new).encode()
    file = DecisionFile.parse(data)
    assert [(p.line, p.severity) for p in file.problems] == [(line, Severity.ERROR)]
    assert word in file.problems[0].message
    assert file.add(replace(LANCE, id="DECISION-20260307-other")).to_bytes().startswith(data)


def test_of_one_id_the_surer_version_counts_and_of_two_as_sure_the_newer() -> None:
    file = DecisionFile.parse(b"").add(LANCE)
    weaker = replace(LANCE, confidence=0.5, date="2026-03-09", conclusion="no")
    newer = replace(LANCE, date="2026-03-09", conclusion="newer")
    assert file.add(weaker) is file
    assert file.add(LANCE) is file
    assert file.add(newer).decisions == (newer,)
    twice = DecisionFile.parse(file.to_bytes() + DecisionFile.parse(b"").add(newer).to_bytes())
    assert twice.decisions == (newer,)
    assert [(p.line, p.severity) for p in twice.problems] == [(1, Severity.SHADOWED)]


def test_a_life_goes_one_way() -> None:
    old = superseded(LANCE, by="DECISION-20260310-x", at="2026-03-10", because="")
    assert archived(old).status is archived(LANCE).status is Status.ARCHIVED
    with pytest.raises(Conflict):
        superseded(old, by="DECISION-20260311-y", at="2026-03-11", because="again")
    with pytest.raises(Conflict):
        archived(archived(LANCE))


def test_what_a_later_one_supersedes_is_superseded_even_where_its_own_file_does_not_say_so() -> None:
    later = replace(LANCE, id="DECISION-20260310-x", date="2026-03-10", supersedes=(LANCE.id,))
    first, second = in_force([later, LANCE])
    assert (first.id, first.status, first.superseded_by) == (LANCE.id, Status.SUPERSEDED, later.id)
    assert second == later


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Switch to LanceDB!", "switch-to-lancedb"),
        ("ใช้ PostgreSQL เป็นฐานข้อมูลหลัก", "ใช้-postgresql-เป็นฐานข้อมูลหลัก"),
        ("前端不用 React 了，改用 Vue。", "前端不用-react-了-改用-vue"),
        ("前端用 React", "前端用-react"),
    ],
)
def test_an_id_can_be_read_in_every_script(title: str, slug: str) -> None:
    assert decision_id(date(2026, 3, 6), title) == f"DECISION-20260306-{slug}"


def test_long_titles_that_differ_late_have_different_ids() -> None:
    ids = {decision_id(date(2026, 3, 6), "เราตัดสินใจ" * 9 + end) for end in ("ก", "ข", "กา", "!")}
    assert len(ids) == 4
    assert all(DecisionFile.parse(b"").add(replace(LANCE, id=one)).decisions for one in ids)


def test_nothing_that_could_not_be_read_back_is_written() -> None:
    empty = DecisionFile.parse(b"")
    for wrong in (
        {"why": ""},
        {"title": ""},
        {"title": "a\nb"},
        {"conclusion": "x <!-- y"},
        {"confidence": 2.0},
        {"refs": ("a,b",)},
        {"extra": (("id", "x"),)},
        {"session_id": ""},
        {"date": "soon"},
    ):
        with pytest.raises(InvalidInput):
            empty.add(replace(LANCE, **wrong))


def test_code_blocks_and_comments_hold_no_decisions() -> None:
    text = DecisionFile.parse(b"").add(LANCE).to_bytes()
    for before, after in ((b"```\n", b"```\n"), (b"<!--\n", b"-->\n")):
        assert DecisionFile.parse(before + text + after).decisions == ()


LINES = st.sampled_from(
    [
        "## Decision: a",
        "## Decision：b",
        "# x",
        "- id: DECISION-20260306-a",
        "- id: DECISION-20260306-b",
        "- date: 2026-03-06",
        "- source:",
        "  - session_id: s",
        "  - session_path: p",
        "  - message_range: 1",
        "- why: w",
        "  more",
        "- finding: f",
        "- conclusion: c",
        "- impact: i",
        "- confidence: 1",
        "- confidence: 0.5",
        "- status: active",
        "- refs: r",
        "",
        "text",
        "```",
        "<!--",
        "-->",
        "\tx: y",
        "\udcff",
    ]
)
WHOLE = st.just(DecisionFile.parse(b"").add(LANCE).to_bytes().decode().rstrip())


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.lists(LINES | WHOLE, max_size=30), st.sampled_from(["\n", "\r\n"]))
def test_any_bytes_come_back_and_a_new_entry_is_found_after_them(lines: list[str], ending: str) -> None:
    data = ending.join(lines).encode(errors="surrogateescape")
    file = DecisionFile.parse(data)
    assert file.to_bytes() == data
    for one in file.decisions:
        assert file.revise(one).to_bytes() == data
        changed = replace(one, why="other", finding="f", impact="i")
        assert file.revise(changed).get(one.id) == changed


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_made_plain_can_be_written_and_read(text: str) -> None:
    plain = plain_line(text) or "x"
    one = replace(LANCE, title=plain[:60].strip(), conclusion=plain, id=decision_id(date(2026, 3, 6), plain))
    assert DecisionFile.parse(b"# day\n").add(one).decisions == (one,)
