"""Whatever bytes a file holds, reading it and changing one entry leaves every other byte alone."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lamina.text.entries import Entry, EntryFile
from lamina.text.normalise import canonical_key
from tests.effort import times

QUICK = settings(
    max_examples=times(80, 1000),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

PIECES = [
    b"- key:a | value:1",
    b"* key:b|value: 2 ",
    b"  - key: A | value:3 | priority:80",
    b"- key:a | value:4 | ttl:8h",
    b"- key:\xe0\xb8\x81 | value:x",
    b"- key:a | value:5 | priority:50 | updated_at:2026-02-07T11:00:00Z",
    b"- key:b | value:6 | updated_at:2026-02-07T11:00:00+07:00 | x:y",
    b"- key:c | value:\\| \\n \\u{41} \\q",
    b"- key:c",
    b"- key:",
    b"- key:c | value:x | priority:abc",
    b"- key:c | value:\xff",
    b"- key:b | nope",
    b"# PROFILE",
    b"## Preferences",
    b"## preferences ##",
    b"## Other",
    b"### Deep",
    b"#",
    b"prose",
    b"",
    b" ",
    b"\t",
    b"    note",
    b"- bullet",
    b"<!--",
    b"-->",
    b"<!-- x -->",
    b"a <!-- b",
    b"`<!--`",
    b"```",
    b"````",
    b"```md",
    b"~~~",
    b"~~~ x",
    b"  ```",
    b"---",
    b"===",
    b"| a | b |",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf- key:a | value:bom",
    b"\x00",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\x0b\x0c\x1c\x85",
    "\u2028\u2029\u0085".encode(),
    b"\\",
    b"|",
    b"key:",
    b"- ",
    b"value:",
    b" | ",
    b":",
    "ภาษาไทย".encode(),
    "中文".encode(),
    b"\r",
]
ENDINGS = [b"\n", b"\n", b"\n", b"\r\n", b"\r\n", b"\r\r\n", b"\r", b""]
HOSTILE = [
    " | key:response.tone | value:x",
    "\n- key:a | value:injected",
    "\r\n## Preferences\r\n",
    "-->",
    "<!--",
    "```",
    "\\",
    "|",
    "\\|",
    "\\n",
    "\\u{41}",
    "\u2028",
    "\u2029",
    "\x85",
    "\x00",
    "\x0b\x0c\x1c",
    "\ufeff",
    "\u202e",
    "\u2066",
    " ",
    "\t",
    "\u3000",
    "ไม่ชอบเผ็ด",
    "更喜欢茶",
    "e\u0301",
    "👩‍👩‍👧",
    "a",
    ":",
]
BOM = b"\xef\xbb\xbf"
KEYS = ["a", "A", "b", "c", "new.key", "Response Tone", "ก", "语言", "a | value:x", "x\ny"]

shaped = st.lists(
    st.one_of(st.sampled_from(PIECES), st.binary(max_size=12)).flatmap(
        lambda piece: st.sampled_from(ENDINGS).map(lambda ending: piece + ending)
    ),
    max_size=12,
).map(b"".join)
values = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(HOSTILE), max_size=6).map("".join))


def writable(data: bytes) -> bool:
    return not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n")]


def said(file: EntryFile, without: str) -> list[Entry]:
    """What the file says of all other keys."""
    return [entry for entry in file.entries if entry.canonical != without]


def check_read(data: bytes) -> EntryFile:
    file = EntryFile.parse(data)
    assert file.to_bytes() == data
    last = len(lines(data))
    numbers = [entry.line for entry in file.entries]
    assert numbers == sorted(set(numbers))
    assert all(1 <= problem.line <= last and problem.message and problem.hint for problem in file.problems)
    for entry in file.entries:
        assert file.get(entry.key) is entry
        line = lines(data)[entry.line - 1].lstrip(b" \t" + BOM)
        assert line.startswith((b"-", b"*"))
    return file


def check_put(file: EntryFile, key: str, value: str) -> None:
    before, name = file.to_bytes(), canonical_key(key)
    old = file.get(key)
    wanted = Entry(
        key=key, value=value, priority=60, updated_at="2026-03-01T00:00:00Z", extra=(("via", value),)
    )
    after = file.put(wanted)
    found = EntryFile.parse(after.to_bytes()).get(key)
    assert found is not None
    assert (found.value, found.priority, dict(found.extra)["via"]) == (value, 60, value)
    assert said(after, name) == said(file, name)
    if writable(after.to_bytes()):  # a stray mark of UTF-16 may have become the first line
        assert after.put(found).to_bytes() == after.to_bytes() == after.put(wanted).to_bytes()
    if old is None:
        assert found == wanted
        pairs = enumerate(zip(before, after.to_bytes(), strict=False))
        same = next((at for at, (old_byte, byte) in pairs if old_byte != byte), len(before))
        assert after.to_bytes().endswith(before[same:])
        assert len(after.to_bytes()) > len(before)
    else:
        changed = lines(after.to_bytes())
        if len(changed) == len(lines(before)):
            changed[old.line - 1] = lines(before)[old.line - 1]
            assert changed == lines(before)
        assert after.remove(key).to_bytes() == file.remove(key).to_bytes()


def check_remove(file: EntryFile, key: str) -> None:
    name = canonical_key(key)
    after = file.remove(key)
    assert after.get(key) is None
    assert after.to_bytes() == EntryFile.parse(after.to_bytes()).to_bytes()
    assert said(after, name) == said(file, name)
    assert after.to_bytes().startswith(BOM) or not file.to_bytes().startswith(BOM)
    mark = len(BOM) if file.to_bytes().startswith(BOM) else 0
    left, gone = lines(after.to_bytes()[mark:]), []
    for line in lines(file.to_bytes()[mark:]):
        if left and line == left[0]:
            left.pop(0)
        else:
            gone.append(line)
    assert left in ([], [b"\n"])  # what is left is the old file without the lines that are gone
    assert all(b"key" in line for line in gone if line != b"\n")


def check(data: bytes, key: str, value: str) -> None:
    file = check_read(data)
    for entry in file.entries:
        if writable(data) and not (entry.updated_at and any(p.line == entry.line for p in file.problems)):
            assert file.put(entry).to_bytes() == data
    if writable(data):
        check_put(file, key, value)
    check_remove(file, key)


def fuzzed(chance: random.Random) -> tuple[bytes, str, str]:
    pieces = []
    for _ in range(chance.randrange(9)):
        piece = chance.choice(PIECES)
        if chance.random() < 0.15:
            at = chance.randrange(len(piece) + 1)
            stray = chance.choice([chance.randbytes(chance.randrange(5)), chance.choice(PIECES)])
            piece = piece[:at] + stray + piece[at:]
        pieces.append(piece + chance.choice(ENDINGS))
    return b"".join(pieces), chance.choice(KEYS), "".join(chance.choices(HOSTILE, k=chance.randrange(5)))


def run(seed: int, count: int) -> float:
    """The longest that one input took, in seconds of our own work; a failure names the seed and the input."""
    chance, longest = random.Random(seed), 0.0
    for number in range(count):
        data, key, value = fuzzed(chance)
        started = time.process_time()
        try:
            check(data, key, value)
        except Exception as error:
            error.add_note(f"seed {seed}, input {number}: {data!r}, key {key!r}, value {value!r}")
            raise
        longest = max(longest, time.process_time() - started)
    return longest


@QUICK
@given(data=st.binary(max_size=200))
def test_any_bytes_come_back_as_they_were(data: bytes) -> None:
    check_read(data)


@QUICK
@given(data=shaped)
def test_bytes_that_look_like_entries_come_back_as_they_were(data: bytes) -> None:
    check_read(data)


@QUICK
@given(data=shaped, key=st.sampled_from(KEYS), value=values)
def test_putting_and_removing_a_key_leaves_every_other_byte_alone(data: bytes, key: str, value: str) -> None:
    check(data, key, value)


@QUICK
@given(pairs=st.lists(st.tuples(st.sampled_from(["a", "b", "ภาษา", "语言", "x y"]), values), max_size=6))
def test_a_file_says_exactly_the_values_that_were_put(pairs: list[tuple[str, str]]) -> None:
    file = EntryFile.parse(b"")
    for key, value in pairs:
        file = EntryFile.parse(file.put(Entry(key=key, value=value)).to_bytes())
    assert {entry.canonical: entry.value for entry in file.entries} == {canonical_key(k): v for k, v in pairs}
    assert file.problems == ()
    assert file.to_bytes().decode().count("\n") == len(file.entries) + (3 if pairs else 0)


@QUICK
@given(text=st.text(max_size=60))
def test_a_canonical_key_is_its_own_canonical_key(text: str) -> None:
    if any(char.isalnum() and not char.isnumeric() for char in text):
        key = canonical_key(text)
        assert canonical_key(key) == key
        assert key == key.strip().strip("_")


def test_four_thousand_fuzzed_files_lose_no_byte() -> None:
    run(seed=1, count=4_000)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(100, 110))
def test_a_million_fuzzed_files_lose_no_byte_and_none_hangs(seed: int) -> None:
    assert run(seed=seed, count=100_000) < 60
