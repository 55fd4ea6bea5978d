"""Entry files say what a person wrote, and change only where they were asked to."""

from __future__ import annotations

import random
import sys
import unicodedata

import pytest

from lamina.errors import Damaged, InvalidInput
from lamina.text.entries import Entry, EntryFile, Severity
from lamina.text.normalise import canonical_key

CONTRACT = b"""\
# PROFILE

## Preferences
- key:response.tone | value:professional-friendly | priority:70 | ttl:none | source:user_explicit | updated_at:2026-02-07T11:00:00Z
- key:response.language | value:th | priority:80 | ttl:none | source:user_explicit | updated_at:2026-02-07T11:00:00Z
- key:response.format.default | value:bullet-summary | priority:60 | ttl:none | source:user_inferred | updated_at:2026-02-07T11:05:00Z
"""  # noqa: E501  the contract's own lines


def parsed(text: str) -> EntryFile:
    return EntryFile.parse(text.encode())


def shown(file: EntryFile) -> str:
    return file.to_bytes().decode()


def errors(file: EntryFile) -> list[int]:
    return [problem.line for problem in file.problems if problem.severity is Severity.ERROR]


def test_the_contracts_own_file_is_read() -> None:
    file = EntryFile.parse(CONTRACT)
    assert [(e.line, e.key, e.value, e.priority, e.source) for e in file.entries] == [
        (4, "response.tone", "professional-friendly", 70, "user_explicit"),
        (5, "response.language", "th", 80, "user_explicit"),
        (6, "response.format.default", "bullet-summary", 60, "user_inferred"),
    ]
    assert file.problems == ()
    assert file.to_bytes() == CONTRACT


def test_a_new_entry_is_written_as_the_contract_writes_it() -> None:
    file = EntryFile.parse(b"")
    for entry in EntryFile.parse(CONTRACT).entries:
        file = file.put(entry)
    assert file.to_bytes() == CONTRACT


def test_only_key_and_value_are_needed() -> None:
    entry = parsed("* key: Favourite Tea |value:  Oolong: strong  ").get("favourite_tea")
    assert entry == Entry(key="Favourite Tea", value="Oolong: strong")
    assert entry.line == 1


def test_unknown_fields_are_read_and_survive_a_change() -> None:
    file = parsed("  * key:a | note: by hand | value:1 | x-y.z:2\r\n")
    assert file.get("a") == Entry(key="a", value="1", extra=(("note", "by hand"), ("x-y.z", "2")))
    changed = file.put(Entry(key="a", value="2", priority=70, extra=(("more", "3"),)))
    assert shown(changed) == "  * key:a | note: by hand | value:2 | x-y.z:2 | priority:70 | more:3\r\n"


def test_a_change_touches_only_the_parts_that_differ() -> None:
    file = parsed("- key:  Tone |value: formal|  priority:070 | updated_at:2026-01-01   \n")
    same = Entry(key="tone", value="formal", priority=70, updated_at="2026-01-01")
    assert file.put(same).to_bytes() == file.to_bytes()
    assert shown(file.put(Entry(key="tone", value="warm", priority=70, updated_at="2026-02-02"))) == (
        "- key:  Tone |value: warm|  priority:070 | updated_at:2026-02-02   \n"
    )
    assert shown(file.put(Entry(key="tone", value="warm"))) == "- key:  Tone |value: warm|  priority:50\n"


@pytest.mark.parametrize(
    "line",
    [
        "- key:a",
        "- key:a | value:",
        "- key:a | value:  \t",
        "- key: | value:b",
        "- key:!!! | value:b",
        "- key:",
        "- key:a | value:b | priority:high",
        "- key:a | value:b | priority:101",
        "- key:a | value:b | priority:-1",
        "- key:a | value:b | priority:๗๐",
        "- key:a | value:b | priority:",
        "- key:a | value:b | value:c",
        "- key:a | key:b | value:c",
        "- key:a | value:b | x:1 | x:2",
        "- key:a | value:b | kind:wish",
        "- key:a | value:b | source:root",
        "- key:a | value:b | ttl:soon",
        "- key:a | value:b | ",
        "- key:a | value:b | c",
        "- key:a | Value:b",
        "* key :a",
        "\t- key:a",
        "- key:a | value:" + "| x" * 100,
    ],
)
def test_a_malformed_entry_is_reported_kept_and_not_used(line: str) -> None:
    file = parsed(f"# Mine\n{line}\n- key:ok | value:yes\n")
    assert errors(file) == [2]
    assert [entry.key for entry in file.entries] == ["ok"]
    assert all(problem.message and problem.hint for problem in file.problems)
    assert shown(file.put(Entry(key="ok", value="no"))) == f"# Mine\n{line}\n- key:ok | value:no\n"


@pytest.mark.parametrize(
    "line",
    [
        "- value:red | key:colour",
        "- KEY:colour | value:red",
        "-key:colour | value:red",
        "* Key : colour | Value : red",
    ],
)
def test_what_looks_like_an_entry_and_is_none_is_reported(line: str) -> None:
    file = parsed(f"## Preferences\n{line}\n- key:tone | value:short\n")
    assert [entry.key for entry in file.entries] == ["tone"]
    assert [(problem.line, problem.severity) for problem in file.problems] == [(2, Severity.ERROR)]
    assert line in shown(file)


@pytest.mark.parametrize(
    "line", ["- The key: practise", "- a | b", "- value: health", "key:a | value:b", "- Key: C"]
)
def test_prose_is_no_problem(line: str) -> None:
    assert parsed(f"{line}\n").problems == ()


def test_lines_that_only_repeat_another_can_be_taken_out() -> None:
    tea, coffee = "- key:drink | value:tea", "- key:drink | value:coffee | priority:1"
    file, count = parsed(f"{tea}\nmy own words\n{tea}\n{coffee}\n{tea} | note:x\n").without_repeats()
    assert count == 2
    assert shown(file).count("value:tea") == 1
    assert "my own words" in shown(file)
    assert coffee in shown(file)
    assert file.get("drink") is not None
    assert file.without_repeats() == (file, 0)


def test_an_entry_that_is_not_utf8_is_reported_and_kept() -> None:
    data = b"- key:a | value:caf\xe9\n- key:b | value:c\n"
    file = EntryFile.parse(data)
    assert errors(file) == [1]
    assert file.put(Entry(key="b", value="d")).to_bytes() == data.replace(b"value:c\n", b"value:d\n")


def test_a_problem_never_repeats_the_value() -> None:
    file = parsed(
        "- key:a | value:hunter2 | priority:hunter2\n- key:a | value:hunter2 | ttl:hunter2\n"
        "- key:a | value:hunter2 | source:hunter2\n- key:a | value:hunter2 | kind:hunter2\n"
        "- key:a | value:hunter2 | hunter2\n- key:a | value:hunter2 | updated_at:hunter2\n"
    )
    assert len(file.problems) == 6
    assert "hunter2" not in repr(file.problems)


@pytest.mark.parametrize(
    "text",
    [
        "- just a bullet\n",
        "prose about - key:a | value:b\n",
        "> - key:a | value:b\n",
        "<!-- - key:a | value:b -->\n",
        "<!--\n- key:a | value:b\n-->\n",
        "note <!--\n- key:a | value:b\n--> end\n",
        "<!-- x --> <!--\n- key:a | value:b\n-->\n",
        "```\n- key:a | value:b\n```\n",
        "~~~~ md\n- key:a | value:b\n~~~\n~~~~~\n",
        "- like this:\n    ```\n    - key:a | value:b\n    ```\n",
        "```\n<!--\n```\n<!--\n```\n- key:a | value:b\n-->\n",
        "- keys:a | value:b\n",
        "1. key:a | value:b\n",
    ],
)
def test_what_is_not_an_entry_is_only_kept(text: str) -> None:
    file = parsed(text)
    assert (file.entries, file.problems) == ((), ())
    changed = shown(file.put(Entry(key="a", value="mine")))
    assert changed.startswith(text)
    assert parsed(changed).get("a") == Entry(key="a", value="mine")


@pytest.mark.parametrize(
    "opening",
    ["<!--\n", "prose <!-- open\n", "```\n", "~~~ x\n", "````\n```\n", "<!-- a --> <!--\n", "--> <!--\n"],
)
def test_what_is_never_closed_hides_nothing_and_is_reported(opening: str) -> None:
    text = f"{opening}- key:a | value:b\n"
    file = parsed(text)
    assert file.get("a") is not None
    assert {problem.severity for problem in file.problems} == {Severity.WARNING}
    changed = file.put(Entry(key="b", value="--> ``` <!--"))
    assert [entry.value for entry in changed.entries] == ["b", "--> ``` <!--"]


@pytest.mark.parametrize("opening", ["`<!--` opens", "<!-->", "<!--->", "<!-- a --> b", "-->"])
def test_a_comment_mark_that_opens_nothing_hides_nothing(opening: str) -> None:
    assert parsed(f"{opening}\n- key:a | value:b\n-->\n").get("a") is not None


def test_an_entry_cannot_open_a_comment_or_a_code_block() -> None:
    file = parsed("- key:a | value:<!-- ```\n- key:b | value:c -->\n")
    assert [entry.key for entry in file.entries] == ["a", "b"]


def test_the_highest_priority_of_a_key_is_in_force() -> None:
    file = parsed("- key:a | value:1 | priority:80\n- key:A | value:2 | priority:70 | updated_at:2027-01-01")
    assert [(entry.value, entry.line) for entry in file.entries] == [("1", 1)]
    assert [(p.line, p.severity) for p in file.problems] == [(2, Severity.SHADOWED)]


def test_times_are_compared_as_times() -> None:
    early, late = "2026-02-07T23:00:00+07:00", "2026-02-07T18:00:00Z"
    assert early > late
    file = parsed(f"- key:a | value:late | updated_at:{late}\n- key:a | value:early | updated_at:{early}\n")
    assert [entry.value for entry in file.entries] == ["late"]


def test_the_later_line_is_in_force_when_all_else_is_equal() -> None:
    assert [e.value for e in parsed("- key:a | value:1\n- key:a | value:2\n").entries] == ["2"]


def test_a_time_that_cannot_be_read_counts_as_the_oldest() -> None:
    file = parsed("- key:a | value:1 | updated_at:2001-01-01\n- key:a | value:2 | updated_at:yesterday\n")
    assert [entry.value for entry in file.entries] == ["1"]
    assert {problem.severity for problem in file.problems} == {Severity.WARNING, Severity.SHADOWED}


def test_an_entry_put_is_in_force_even_over_a_duplicate_that_would_outrank_it() -> None:
    file = parsed(
        "- key:a | value:1 | priority:80\n- key:a | value:2 | priority:70\n- key:a | value:3 | priority:10\n"
    )
    changed = file.put(Entry(key="a", value="new", priority=20))
    assert changed.get("a") == Entry(key="a", value="new", priority=20)
    assert shown(changed) == "- key:a | value:new | priority:20\n- key:a | value:3 | priority:10\n"


def test_removing_a_key_removes_all_its_lines_and_nothing_else() -> None:
    file = parsed(
        "\ufeff- key:A | value:1\n# keep\n- key:b | value:2\r\n- key:a | value:3\n- key:a\n- key:a | bar\n"
        "<!--\n- key:a | value:4\n-->\n  * key:a | value:5"
    )
    assert shown(file.remove(" a ")) == "\ufeff# keep\n- key:b | value:2\r\n<!--\n- key:a | value:4\n-->\n"
    assert file.remove("c").to_bytes() == file.to_bytes()


def test_a_new_entry_follows_the_last_one_under_its_heading() -> None:
    text = (
        "# P\n\n## preferences ##\n* key:a | value:1\n    a note of mine\n\n"
        "### More\n- key:b | value:2\n\n## Other\n- key:c | value:3\n"
    )
    changed = shown(parsed(text).put(Entry(key="new", value="x", kind="fact")))
    new = "* key:new | value:x | kind:fact | priority:50 | ttl:none | source:user_explicit\n"
    assert changed == text.replace("of mine\n", f"of mine\n{new}")


def test_a_new_entry_goes_below_an_empty_heading_and_its_comment() -> None:
    text = "# P\n## Preferences\n<!--\nexample\n-->\n\n\n## Other\n"
    changed = shown(parsed(text).put(Entry(key="a", value="x")))
    line = "- key:a | value:x | priority:50 | ttl:none | source:user_explicit\n"
    assert changed == text.replace("-->\n", f"-->\n{line}")


def test_missing_headings_are_made_at_the_end() -> None:
    line = "- key:a | value:x | priority:50 | ttl:none | source:user_explicit\n"
    entry = Entry(key="a", value="x")
    assert shown(parsed("").put(entry, "Context", "SESSION")) == f"# SESSION\n\n## Context\n{line}"
    assert shown(parsed("hello").put(entry)) == f"hello\n\n# PROFILE\n\n## Preferences\n{line}"
    assert shown(parsed("# About me\n\n").put(entry)) == f"# About me\n\n## Preferences\n{line}"
    hidden = "```\n## Preferences\n```\n"
    assert shown(parsed(hidden).put(entry)) == f"{hidden}\n# PROFILE\n\n## Preferences\n{line}"


def test_the_usual_line_ending_is_used_and_a_missing_last_one_is_added() -> None:
    text = "# P\r\n## Preferences\r\n- key:a | value:1\n- key:b | value:2"
    changed = parsed(text).put(Entry(key="c", value="3"))
    line = "- key:c | value:3 | priority:50 | ttl:none | source:user_explicit\r\n"
    assert shown(changed) == f"{text}\r\n{line}"
    assert shown(parsed("- key:a | value:1\r").put(Entry(key="a", value="2"))) == "- key:a | value:2\r"


def test_a_byte_order_mark_stays_the_first_thing_in_the_file() -> None:
    assert shown(parsed("\ufeff").put(Entry(key="a", value="1"))).startswith("\ufeff# PROFILE\n")
    marked = parsed("\ufeff- key:a | value:1")
    assert shown(marked.put(Entry(key="a", value="2"))) == "\ufeff- key:a | value:2"


def test_a_utf16_file_is_reported_and_never_written() -> None:
    data = "- key:a | value:b\n".encode("utf-16")
    file = EntryFile.parse(data)
    assert errors(file) == [1]
    assert file.to_bytes() == data
    with pytest.raises(Damaged) as refused:
        file.put(Entry(key="a", value="b"))
    assert refused.value.code == "file_encoding"


HOSTILE = [
    "x | key:response.tone | value:y",
    "a\n- key:b | value:c",
    "a\r\n## Preferences",
    "|",
    "||",
    "\\",
    "\\|",
    "\\\\|",
    "C:\\new\\u{41}",
    "\\u{}",
    "",
    " ",
    "  two  ",
    "\t",
    "\n",
    "\x00",
    "\x0b\x0c\x1c\x1d\x1e",
    "\x85",
    "\u2028\u2029",
    "\u3000全角\u3000",
    "\xa0",
    "-->",
    "<!--",
    "<!-->",
    "--->",
    "```",
    "---",
    "# h",
    "<script>",
    "[[link]]",
    "key:value:more",
    ":",
    "\u202eevil\u2066",
    "\ufeff",
    "ภาษาไทย สระอำ",
    "中文｜全角",
    "👩‍👩‍👧",
    "\U000e0041",
    "e\u0301",
    "none",
    "x" * 10_000,
]


@pytest.mark.parametrize("value", HOSTILE)
def test_any_value_is_one_entry_and_comes_back_as_it_was(value: str) -> None:
    file = EntryFile.parse(CONTRACT).put(Entry(key="k", value=value, extra=(("note", value),)))
    again = EntryFile.parse(file.to_bytes())
    assert again.get("k") == Entry(key="k", value=value, extra=(("note", value),))
    assert len(again.entries) == 4
    assert again.problems == ()
    added = file.to_bytes().removeprefix(CONTRACT).decode().removesuffix("\n")
    assert added.replace("\u200d", "").isprintable()  # the joiner of an emoji is part of what is seen


@pytest.mark.parametrize("key", ["a | value:x", "a\nb", " a ", "-->a", "ภาษา", "语言", "A\\B"])
def test_any_usable_key_comes_back_as_it_was(key: str) -> None:
    entry = EntryFile.parse(b"").put(Entry(key=key, value="v")).get(key)
    assert entry is not None
    assert entry.key == key


def test_an_unknown_escape_is_literal_text() -> None:
    file = parsed("- key:a | value:C:\\path \\d+ \\u{110000} \\u{D800} \\u{zz} \\u{41} \\\n")
    assert file.entries[0].value == "C:\\path \\d+ \\u{110000} \\u{D800} \\u{zz} A \\"


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (Entry(key="!", value="v"), "key_invalid"),
        (Entry(key="a", value="\ud800"), "text_invalid"),
        (Entry(key="a", value="v", kind="wish"), "kind_invalid"),
        (Entry(key="a", value="v", source="root"), "source_invalid"),
        (Entry(key="a", value="v", priority=101), "priority_invalid"),
        (Entry(key="a", value="v", ttl="soon"), "ttl_invalid"),
        (Entry(key="a", value="v", updated_at="soon"), "time_invalid"),
        (Entry(key="a", value="v", extra=(("value", "x"),)), "field_invalid"),
        (Entry(key="a", value="v", extra=(("x", "1"), ("x", "2"))), "field_invalid"),
        (Entry(key="a", value="v", extra=(("a b", "1"),)), "field_invalid"),
        (Entry(key="a", value="v", extra=tuple((f"x{n}", "") for n in range(60))), "field_invalid"),
    ],
)
def test_an_entry_that_would_not_read_back_is_refused(entry: Entry, code: str) -> None:
    for file in (EntryFile.parse(b""), EntryFile.parse(b"- key:a | value:old\n")):
        with pytest.raises(InvalidInput) as refused:
            file.put(entry)
        assert refused.value.code == code


@pytest.mark.parametrize("heading", ["", " x", "a\nb", "x <!--", "#"])
def test_a_heading_is_one_plain_line(heading: str) -> None:
    with pytest.raises(InvalidInput):
        EntryFile.parse(b"").put(Entry(key="a", value="b"), heading=heading)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("response.tone", "response.tone"),
        (" Response Tone ", "response_tone"),
        ("a//b--c", "a_b--c"),
        ("__a__", "a"),
        ("ภาษา ที่ชอบ", "ภาษา_ที่ชอบ"),
        ("最喜欢的茶！", "最喜欢的茶"),
        ("CAFÉ", "café"),
        ("cafe\u0301", "café"),
        ("Straße", "strasse"),
        ("x" * 128, "x" * 128),
        ("๑๒", "๑๒"),
        ("note.1a2b", "note.1a2b"),
        ("_.x", ".x"),
        ("ｒｅｓｐｏｎｓｅ．Ｔｏｎｅ", "response.tone"),
        ("response․tone", "response.tone"),
        ("response。tone", "response.tone"),
        ("最喜欢的茶。", "最喜欢的茶"),
        ("response\u200btone", "response_tone"),
    ],
)
def test_a_key_has_one_spelling(text: str, key: str) -> None:
    assert canonical_key(text) == key
    assert canonical_key(key) == key


@pytest.mark.parametrize(
    "text", ["", " ", "!!!", "_", "...", "-", "💩", "x" * 129, "x" * 10_000_000, "\n", "\ud800"]
)
def test_what_can_be_no_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        canonical_key(text)
    assert refused.value.code == "key_invalid"


def test_every_letter_of_every_script_makes_a_key_that_is_its_own_spelling() -> None:
    letters = [chr(n) for n in range(sys.maxunicode + 1) if unicodedata.category(chr(n))[0] == "L"]
    assert len(letters) > 100_000
    for letter in letters:
        key = canonical_key(letter)
        assert canonical_key(key) == key


@pytest.mark.parametrize(
    "data",
    [
        b"x" * 10_000_000,
        b"- key:a | value:" + b"x" * 10_000_000,
        b"- key:a | value:" + b"|" * 10_000_000,
        b"- key:" + b"a" * 10_000_000,
        b"<!--x-->" * 1_250_000,
        b"`" * 10_000_000,
        b" \t" * 5_000_000,
        b"#" * 10_000_000,
        b"- key:a | value:" + b"\\" * 10_000_000,
    ],
)
@pytest.mark.timeout(30)
def test_a_line_of_ten_megabytes_is_only_a_long_line(data: bytes) -> None:
    assert EntryFile.parse(data).to_bytes() == data


def test_many_unclosed_blocks_cost_no_more_than_their_lines() -> None:
    text = b"".join(b"`" * length + b" x\n" for length in range(1000, 2, -1)) + b"~~~ y\n" * 5000
    assert EntryFile.parse(text).to_bytes() == text


def test_a_file_read_after_another_is_what_it_is_when_read_alone() -> None:
    chance = random.Random(20261118)
    pool = [
        "- key:a | value:one", "- key:a | value:two | priority:90", "- key:b | value:x | updated_at:never",
        "- key:b | value:x", "- key: | value:y", "- key:ค | value:ชา", "# PROFILE", "## Preferences", "",
        "a note", "```", "<!-- hidden", "-->", "\ufeff- key:c | value:z", "- key:c | value:z\r",
    ]  # fmt: skip
    before = parsed("")
    for _ in range(400):
        data = "\n".join(chance.choice(pool) for _ in range(chance.randrange(9))).encode()
        after = EntryFile.parse(data, before)
        alone = EntryFile.parse(data)
        assert after == alone
        assert [one.line for one in after.entries] == [one.line for one in alone.entries]
        before = after


def test_new_entries_together_are_what_they_are_one_by_one() -> None:
    new = [Entry(key=f"k{number}", value="x") for number in range(3)]
    for text in ("", "# PROFILE\n\n## Preferences\n- key:a | value:b\n\n## Other\nno end"):
        one_by_one = parsed(text)
        for entry in new:
            one_by_one = one_by_one.put(entry)
        assert parsed(text).put_new(new, "Preferences", "PROFILE").to_bytes() == one_by_one.to_bytes()
