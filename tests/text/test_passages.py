"""A passage says exactly what its lines say, stays within its section, and knows its date and status."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.text.passages import LARGEST, OVERLAP, TARGET, Passage, date_in, date_of_path, read_markdown
from lamina.text.tokens import count_tokens

NOTE = """\
---
title: "Store notes"
date: 2026-02-14
status: Draft
---
# Store

intro

## Decision: drop ChromaDB
- id: DECISION-20260213-chroma
- date: 2026-02-13
- why: too slow
- status: superseded   # see the next one
### What we tried
two weeks of tuning

## 2026年3月1日
後來改用 PostgreSQL
"""


def passages(text: str, path: str = "notes.md") -> tuple[Passage, ...]:
    return read_markdown(path, text).passages


def test_a_passage_has_its_lines_its_headings_its_date_and_its_status() -> None:
    intro, decision, later = passages(NOTE)

    assert (intro.start_line, intro.end_line, intro.heading) == (6, 8, "Store")
    assert (intro.date, intro.status, intro.key) == (date(2026, 2, 14), "draft", None)
    assert (decision.start_line, decision.end_line) == (10, 16)
    assert decision.heading == "Store > Decision: drop ChromaDB"
    assert decision.text.splitlines()[-2:] == ["### What we tried", "two weeks of tuning"]
    assert (decision.key, decision.date) == ("DECISION-20260213-chroma", date(2026, 2, 13))
    assert decision.status == "superseded"
    assert (later.date, later.text) == (date(2026, 3, 1), "## 2026年3月1日\n後來改用 PostgreSQL")


def test_a_document_is_called_what_it_says_or_else_what_its_file_is_called() -> None:
    assert read_markdown("memory/2026-02-14.md", NOTE).title == "Store notes"
    assert read_markdown("a/b.md", "# Über\ntext").title == "Über"
    document = read_markdown("memory/2026-02-14-plan.md", "text")
    assert (document.title, document.date) == ("2026-02-14-plan", date(2026, 2, 14))


@pytest.mark.parametrize(
    "sentence",
    [
        "The deployment runs every night and writes its report to the shared folder. ",
        "การตั้งค่าเซิร์ฟเวอร์ต้องทำทุกครั้งหลังจากติดตั้งระบบใหม่ ",
        "我們決定放棄這個方案，因為維護成本太高。",
        "我们决定放弃这个方案，因为维护成本太高。",
    ],
)
def test_a_long_section_is_cut_with_an_overlap_in_every_script(sentence: str) -> None:
    lines = [f"{number} {sentence}" for number in range(150)]
    found = passages("# T\n" + "\n".join(lines) + "\n## Next\nshort\n")

    assert len(found) > 3
    assert all(count_tokens(one.text) <= TARGET + OVERLAP for one in found)
    for before, after in pairwise(found[:-1]):
        shared = before.text.split("\n")[after.start_line - before.end_line - 1 :]
        assert after.text.startswith("\n".join(shared))
        assert 0.1 * TARGET < count_tokens("\n".join(shared)) <= OVERLAP + len(shared)
    assert found[-1].text == "## Next\nshort"  # nothing of the section before it


def test_one_endless_line_is_cut_where_sentences_end() -> None:
    found = passages("我們決定放棄這個方案，因為成本太高。" * 200)
    assert all(count_tokens(one.text) <= TARGET + OVERLAP for one in found)
    assert {(one.start_line, one.end_line) for one in found} == {(1, 1)}
    assert all(one.text.endswith("。") for one in found)


def test_a_code_fence_stays_whole_and_its_comments_are_no_headings() -> None:
    code = "```python\n" + "\n".join(f"# step {n}\nrun({n})" for n in range(60)) + "\n```"
    found = passages(f"# T\n{'word ' * 350}\n\n{code}\n\nafter\n")
    (fenced,) = [one for one in found if "run(0)" in one.text]
    assert code in fenced.text
    assert count_tokens(fenced.text) <= LARGEST
    assert fenced.heading == "T"


@pytest.mark.parametrize(
    "text",
    ["2026-02-14", "2026/2/14", "2026年2月14日", "14 Feb 2026", "February 14, 2026", "14 กุมภาพันธ์ 2569"],
)
def test_dates_are_read_as_people_write_them(text: str) -> None:
    assert date_in(f"x {text} y") == date(2026, 2, 14)


def test_a_path_may_name_a_day_or_a_week_and_no_impossible_one() -> None:
    assert date_of_path("memory/archive/weekly-2026-07.md") == date(2026, 2, 9)
    assert date_of_path("DECISION-20260214-x") == date(2026, 2, 14)
    assert date_of_path("memory/2026-02-31.md") is None
    assert date_of_path("v1.2026.02.14") is None


def test_megabytes_without_any_structure_take_their_time_only_once() -> None:
    for text in ("." * 200_000, "# " + " " * 200_000 + "x", "- id:" + " " * 200_000, "`" * 200_000):
        assert all(one.start_line == 1 for one in passages(text))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["", "# A", "## Decision: b", "- id: X", "```", "ไทย", "決定。" * 90, "\r"])))
def test_every_line_that_is_not_blank_is_found_where_it_stands(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = passages(text)
    covered = {line for one in found for line in range(one.start_line, one.end_line + 1)}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            assert number in covered
    for one in found:
        own = [line.removesuffix("\r") for line in lines[one.start_line - 1 : one.end_line]]
        assert one.text in "\n".join(own)
