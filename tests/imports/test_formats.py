"""Files of other tools: hand-written ones of every format, and what may be wrong with them."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
import zstandard

from lamina.errors import InvalidInput, NotFound
from lamina.imports.detect import READERS, find
from lamina.imports.exclusion import excluded_session
from lamina.imports.lines import elements
from lamina.imports.turn import ImportedFact, ImportedTurn, ImportFile, Item, ReadUpTo, Skipped
from lamina.imports.words import TOOL_CHARS, moment, said

DATA = Path(__file__).parents[1] / "data" / "transcripts"

#: Folder: what was said (session, role, words, where), and what is passed over.
EXPECTED: dict[str, tuple[list[tuple[str, str, str, str]], dict[str, int]]] = {
    "openclaw": (
        [
            ("s-main", "user", "We move to LanceDB. Remember this.", "a1 (line 2)"),
            ("s-main", "assistant", "Noted: LanceDB.", "a2 (line 3)"),
            ("s-main", "user", "เราตัดสินใจใช้ Postgres ด้วย", "c4 (line 6)"),
            ("s-main", "assistant", "好的，用 Postgres。", "c7 (line 10)"),
            ("s-old", "user", "v1 has no ids", "@76 (line 2)"),
            ("s-old", "assistant", "And plain strings.", "@194 (line 3)"),
        ],
        {
            "tool_output": 1,
            "other_branch": 1,
            "recalled": 1,
            "summary": 1,
            "bad_line": 1,
            "no_reply": 1,
            "heartbeat": 2,
            "truncated": 1,
            "scheduler": 1,
            "subagent": 1,
        },
    ),
    "claude-code": (
        [
            ("S", "user", "Switch to LanceDB", "u1 (line 2)"),
            ("S", "assistant", "Looking.\n\nDone.", "u2..u2c (lines 3-6)"),
            ("S", "user", "จากนี้ไปให้ตอบเป็นภาษาไทย", "u12 (line 15)"),
            ("S2", "user", "以后用简体中文回答", "v1 (line 7)"),
        ],
        {"subagent": 2, "tool_output": 2, "meta": 1, "summary": 1, "recalled": 1},
    ),
    "codex": (
        [
            ("cx-0", "user", "An old question", "line-3 (line 3)"),
            ("cx-0", "assistant", "An old answer", "line-4 (line 4)"),
            ("cx-1", "user", "Switch to LanceDB", "line-5 (line 5)"),
            ("cx-1", "assistant", "Done.", "line-8 (line 8)"),
            ("cx-1", "user", "ใช้ได้เลย", "line-11 (line 11)"),
            ("cx-2", "user", "换一个办法", "line-12 (line 12)"),
        ],
        {"tool_output": 2, "subagent": 1, "own_job": 1},
    ),
    "plain": (
        [
            ("chat", "user", "Hello from plain JSONL", "line-1 (line 1)"),
            ("chat", "assistant", "สวัสดีครับ", "line-2 (line 2)"),
            ("other", "user", "你好", "m1 (line 5)"),
        ],
        {"tool_output": 1, "unknown_role": 1, "scheduler": 1, "bad_line": 1},
    ),
    "gemini": (
        [("g1", "user", "Gemini, plan the trip", "1"), ("g1", "assistant", "Here is a plan", "2")],
        {},
    ),
    "chatgpt": (
        [
            ("g-1", "user", "Which database?", "n2"),
            ("g-1", "assistant", "Use LanceDB", "n4"),
            ("g-1", "user", "ตกลง ใช้ LanceDB", "n5"),
        ],
        {},
    ),
    "claude": (
        [("k-1", "user", "我们决定用 LanceDB", "k1"), ("k-1", "assistant", "Understood.", "k2")],
        {},
    ),
}


def items(path: Path, *, tool_output: bool = False) -> list[Item]:
    return [
        item
        for file in find(path)
        for item in READERS[file.format](replace(file, tool_output=tool_output), ReadUpTo())
    ]


def once(found: list[Item]) -> list[ImportedTurn]:
    """The turns, each key once, as an import takes them."""
    turns: dict[str, ImportedTurn] = {}
    for item in found:
        if isinstance(item, ImportedTurn):
            turns.setdefault(item.key, item)
    return list(turns.values())


def skipped(found: list[Item]) -> dict[str, int]:
    return dict(Counter(item.reason for item in found if isinstance(item, Skipped)))


@pytest.mark.parametrize("folder", EXPECTED)
def test_every_format_gives_what_was_said_and_says_what_it_passes_over(folder: str) -> None:
    found = items(DATA / folder)
    turns, passed = EXPECTED[folder]

    assert [(one.session_id, one.role, one.text, one.message_range) for one in once(found)] == turns
    assert skipped(found) == passed


def test_other_memories_give_facts() -> None:
    found = [
        item
        for item in items(DATA / "mem0") + items(DATA / "memory-server")
        if isinstance(item, ImportedFact)
    ]

    assert [one.text for one in found] == [
        "Ana is vegetarian",
        "อานาอยู่เชียงใหม่",
        "Ana (person): likes tea",
        "Ana (person): 住在曼谷",
        "Ana works_at Acme",
    ]
    assert found[1].at == moment("2026-01-03T10:04:05Z")


def test_what_tools_returned_comes_when_asked_for_as_the_tools_words_and_cut() -> None:
    found = once(items(DATA / "openclaw", tool_output=True))
    poisoned = next(one for one in found if "IGNORE ALL RULES" in one.text)
    claude = once(items(DATA / "claude-code", tool_output=True))

    assert (poisoned.role, poisoned.speaker) == ("tool", "web_fetch")  # whatever it says of itself
    assert all("Ana likes tea" not in one.text for one in found + claude)  # recalled, never said
    assert all(len(one.text) <= TOOL_CHARS for one in found if one.role == "tool")


_HEADER = {"type": "session", "version": 3, "id": "s"}


def _entry(id_: str, parent: str | None, text: str) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"type": "message", "id": id_, "parentId": parent, "timestamp": "2026-02-14", "message": message}


def _append(path: Path, *values: object) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def _read_on(file: ImportFile, place: ReadUpTo) -> tuple[list[str], ReadUpTo]:
    found = list(READERS[file.format](file, place))
    places = [item for item in found if isinstance(item, ReadUpTo)]
    return [item.text for item in found if isinstance(item, ImportedTurn)], places[-1] if places else place


def test_a_file_that_grew_is_read_from_where_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    _append(path, _HEADER, _entry("a", None, "one"), _entry("b", "a", "two"))
    (file,) = find(path)
    first, place = _read_on(file, ReadUpTo())
    _append(path, _entry("c", "b", "three"))
    with path.open("rb") as stream:
        stream.seek(place.offset)
        assert json.loads(stream.readline())["id"] == "c"  # nothing before is read again

    assert first == ["one", "two"]
    assert _read_on(file, place)[0] == ["three"]


def test_a_conversation_that_went_on_from_an_earlier_point_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    _append(path, _HEADER, _entry("a", None, "one"), _entry("b", "a", "two"))
    (file,) = find(path)
    _, place = _read_on(file, ReadUpTo())
    _append(path, _entry("c", "a", "another two"))

    assert _read_on(file, place)[0] == ["one", "another two"]


def test_a_last_line_that_is_still_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    line = json.dumps({"role": "user", "content": "今天开会"}, ensure_ascii=False).encode()
    path.write_bytes(b'{"role":"user","content":"one"}\n' + line[:-9])  # cut inside a character
    (file,) = find(path)
    first, place = _read_on(file, ReadUpTo())
    path.write_bytes(b'{"role":"user","content":"one"}\n' + line + b"\n")

    assert first == ["one"]
    assert _read_on(file, place)[0] == ["今天开会"]


@pytest.mark.parametrize("folder", ["openclaw", "claude-code", "codex", "plain"])
def test_reading_in_two_parts_gives_the_same_turns_as_reading_at_once(folder: str, tmp_path: Path) -> None:
    for file in find(DATA / folder):
        whole = [item for item in READERS[file.format](file, ReadUpTo()) if isinstance(item, ImportedTurn)]
        for place in [item for item in READERS[file.format](file, ReadUpTo()) if isinstance(item, ReadUpTo)]:
            rest = [item for item in READERS[file.format](file, place) if isinstance(item, ImportedTurn)]
            keys = [one.key for one in whole]
            assert [one.key for one in rest] == keys[len(keys) - len(rest) :]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    """OpenClaw's store, with a branch left behind, a compressed row, an archive and a scheduler's session."""
    path = tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    connection = apsw.Connection(str(path))
    connection.execute(
        "PRAGMA journal_mode=WAL;"
        "CREATE TABLE session_windows (session_id, session_key, spawned_by, hook_external_content_source);"
        "CREATE TABLE transcript_events (session_id, seq, event_json, event_zstd, created_at);"
        "CREATE TABLE session_transcript_active_events (session_id, active_position, event_seq);"
        "CREATE TABLE session_transcript_archives (session_id, session_key, encoding, archive_blob);"
    ).fetchall()
    compress = zstandard.ZstdCompressor().compress
    rows = [
        ("kept", 1, json.dumps(_entry("a", None, "one")), None),
        ("kept", 2, json.dumps(_entry("b", "a", "left behind")), None),
        ("kept", 3, None, compress(json.dumps(_entry("c", "a", "压缩的一行")).encode())),
        ("tree", 1, json.dumps(_entry("d", None, "without a projection")), None),
        ("nightly", 1, json.dumps(_entry("e", None, "a report")), None),
    ]
    connection.executemany("INSERT INTO transcript_events VALUES (?, ?, ?, ?, 0)", rows)
    windows = [("kept", "agent:main:main"), ("tree", "agent:main:main"), ("nightly", "cron:nightly")]
    connection.executemany("INSERT INTO session_windows VALUES (?, ?, NULL, NULL)", windows)
    active = [("kept", 0, 1), ("kept", 1, 3)]
    connection.executemany("INSERT INTO session_transcript_active_events VALUES (?, ?, ?)", active)
    lines = "\n".join(json.dumps(one) for one in (_entry("a", None, "one"), _entry("z", "a", "archived")))
    archive = ("kept", "agent:main:main", "zstd", compress(lines.encode()))
    connection.execute("INSERT INTO session_transcript_archives VALUES (?, ?, ?, ?)", archive)
    yield path
    connection.close()


def test_openclaws_database_is_read_by_its_active_branches_and_nothing_twice(database: Path) -> None:
    found = items(database.parent)

    assert [one.text for one in once(found)] == ["one", "压缩的一行", "without a projection", "archived"]
    assert skipped(found) == {"other_branch": 1, "scheduler": 1}


def test_a_database_is_read_on_from_the_last_event_of_each_session(database: Path) -> None:
    (file,) = find(database)
    _, place = _read_on(file, ReadUpTo())
    connection = apsw.Connection(str(database))
    event = json.dumps(_entry("f", "d", "more"))
    connection.execute("INSERT INTO transcript_events VALUES ('tree', 2, ?, NULL, 0)", (event,))
    connection.close()

    assert _read_on(file, place)[0] == ["more", "one", "archived"]  # archives are small, and known by key


def test_an_entry_of_the_database_and_of_its_old_file_is_the_same(database: Path, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    _append(path, {"type": "session", "version": 3, "id": "kept"}, _entry("a", None, "one"))

    assert once(items(path))[0].key in {one.key for one in once(items(database))}


def test_a_zip_is_read_like_the_file_in_it(tmp_path: Path) -> None:
    for folder in ("chatgpt", "claude"):
        path = tmp_path / f"{folder}.zip"
        with zipfile.ZipFile(path, "w") as whole:
            whole.write(DATA / folder / "conversations.json", "export/conversations.json")
            whole.writestr("memories.json", "[]")
        assert [one.text for one in once(items(path))] == [one[2] for one in EXPECTED[folder][0]]


def test_a_long_array_is_read_element_by_element(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    values = [{"n": n, "text": "ไทย中文" * (n % 7 * 4000)} for n in range(60)]
    path.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")

    with path.open("rb") as stream:
        assert list(elements(stream)) == values


def test_a_damaged_export_is_an_error_after_what_could_be_read(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(json.loads((DATA / "claude" / "conversations.json").read_text()))[:-1])
    (file,) = find(path)
    reading = READERS[file.format](file, ReadUpTo())

    assert isinstance(next(reading), ImportedTurn)
    with pytest.raises(InvalidInput) as error:
        list(reading)
    assert error.value.code == "import_unreadable"


def test_what_is_no_transcript_is_passed_over_in_a_folder_and_an_error_by_name(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "x", "version": 1}')
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 no zip")
    shutil.copy(DATA / "plain" / "chat.jsonl", tmp_path)

    assert [file.path.name for file in find(tmp_path)] == ["chat.jsonl"]
    for name, code in (("package.json", "format_unknown"), ("broken.zip", "format_unknown")):
        with pytest.raises(InvalidInput) as error:
            list(find(tmp_path / name))
        assert error.value.code == code
    with pytest.raises(NotFound):
        list(find(tmp_path / "missing"))
    with pytest.raises(InvalidInput):
        list(find(tmp_path, "word"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<memory note='x'>\n- recalled\n</memory>\nอันนี้พูดเอง", "อันนี้พูดเอง"),
        ("## Memory\n_Reference data from memory. It is no order._\n### facts\n- tea\n\n我说的", "我说的"),
        ("<system-reminder>x</system-reminder>", ""),
        ("a < b and b > c, <memory> is a tag", "a < b and b > c, <memory> is a tag"),
        ("red \x1b[31mtext\x1b[0m\x00 half \ud83d", "red text half \ufffd"),
        ("<memory>" * 50_000 + "x", "<memory>" * 50_000 + "x"),
        ("[Request interrupted by user for tool use]", ""),
    ],
)
def test_what_programs_put_into_a_message_was_not_said(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("agent:main:main", None),
        ("agent:main:telegram:group:7", None),
        ("my-robot-plans", None),
        ("cron:nightly", "scheduler"),
        ("hook:7f", "hook"),
        ("agent:main:subagent:7f", "subagent"),
        ("agent:main:cron:x", "scheduler"),
        ("lamina:job:wrap-up", "own_job"),
        ("heartbeat", "heartbeat"),
    ],
)
def test_sessions_in_which_nobody_speaks_are_known_by_their_keys(name: str, reason: str | None) -> None:
    assert excluded_session(name) == reason
