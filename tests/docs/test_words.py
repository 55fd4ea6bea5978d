"""Messages, help and pages are in plain English, without the commonest words that docs/words.md avoids."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.language.acknowledge import messages
from lamina.studio.words import tables

ROOT = Path(__file__).parents[2]
AVOIDED = re.compile(
    r"\banew\b|\bmend(s|ed|ing)?\b|\blearnt\b|\bif it is none\b|\bcannot be (had|told)\b|\bof no account\b"
    r"|\bfor (its |the )?(your|their|her|his|person's) (own )?word\b|\bthe policy in force\b"
    r"|\basked of\b|\blets? go of\b|\bwhence\b|\bthereby\b|\bhereby\b|\bhitherto\b|\bupon\b|\bas ever\b"
    # "there is no file" is fine, "this is no file" is not
    r"|(?<!here )\b(is|was) no (?!(longer|more|such|room|need|trouble|other|place|time|way|sign)\b)[a-z]",
    re.I,
)
#: Pages of record, for those who change Lamina: what was decided and measured stays as it was written.
RECORDS = ("decisions", "encoder.md", "retrieval.md", "understanding.md", "words.md", "conformance.md")


def strings(file: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that a person may read: its strings but for the docstrings."""
    tree = ast.parse(file.read_text("utf-8"))
    bodies = [
        node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    told = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.lineno, node.value


def texts() -> Iterator[tuple[str, str]]:
    """Everything that is read, with its place."""
    for file in sorted((ROOT / "src").rglob("*.py")):
        yield from ((f"{file.name}:{line}", text) for line, text in strings(file) if " " in text)
    for file in (ROOT / "src/lamina/doors/data/codes.tsv", ROOT / "src/lamina/doors/cli/data/help.txt"):
        yield from ((f"{file.name}:{line}", text) for line, text in lines(file))
    words = ROOT / "src/lamina/studio/data/words.tsv"
    yield from ((f"words.tsv:{line}", text.split("\t")[1]) for line, text in lines(words) if "\t" in text)
    for file in [ROOT / "README.md", *ROOT.glob("examples/**/*.md"), *sorted((ROOT / "docs").rglob("*.md"))]:
        if not any(part in RECORDS for part in file.parts):
            yield from ((f"{file.name}:{line}", text) for line, text in lines(file))


def lines(file: Path) -> Iterator[tuple[int, str]]:
    yield from enumerate(file.read_text("utf-8").splitlines(), 1)


def found(text: str) -> list[str]:
    plain = re.sub(r"`[^`]*`|\"[^\"]*\"|“[^”]*”", "", text)  # what somebody might say is theirs
    return [match[0] for match in AVOIDED.finditer(plain)]


def test_nothing_that_is_read_has_a_word_that_we_avoid() -> None:
    assert [f"{place}: {word}" for place, text in texts() for word in found(text)] == []


@pytest.mark.parametrize(
    "text", ["It is made anew.", "Mend that line.", "This is no number.", "What was learnt"]
)
def test_a_word_that_we_avoid_is_found(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize("text", ["There is no file.", "It is no longer there.", "Amended.", 'say "learnt"'])
def test_plain_words_pass(text: str) -> None:
    assert not found(text)


def test_the_page_names_every_word_that_is_looked_for() -> None:
    page = (ROOT / "docs" / "words.md").read_text("utf-8")
    for word in ("anew", "mend", "learnt", "cannot be had", "of no account", "asked of", "upon", "as ever"):
        assert word in page


def test_chinese_speaks_as_to_a_friend_and_calls_no_name_a_piano_key() -> None:
    said = {
        f"{name}.{language}.{level}": text
        for name, languages in messages().items()
        for language in ("zh-Hans", "zh-Hant")
        for level, text in languages[language].items()
    }
    for language in ("zh-Hans", "zh-Hant"):
        said |= {f"{key}.{language}": text for key, text in tables()[language].table.items()}
    assert len(said) > 600
    assert {
        place: text for place, text in said.items() if re.search("您|(?<!快速)鍵|(?<!快捷)键", text)
    } == {}
