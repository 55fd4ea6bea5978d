"""The proof that the index lives: a sentence in each script goes in and is asked for, and nothing stays."""

from __future__ import annotations

from datetime import UTC, datetime

from lamina.engine import Engine
from lamina.model import Query, Scope
from lamina.retrieval.hits import find_hits
from lamina.storage.database import Transaction
from lamina.storage.documents import Documents, FileRead
from lamina.storage.search_index import TextIndex
from lamina.text.passages import read_markdown

#: A sentence in each script we promise, and a word inside it.
SENTENCES = {
    "en": ("The heron keeps a green umbrella by the door.", "umbrellas"),
    "zh-Hant": ("鷺鷥週末喜歡去圖書館看書。", "圖書館"),
    "zh-Hans": ("白鹭每天骑自行车上班。", "自行车"),
    "th": ("นกกระยางดื่มชาเขียวทุกเช้าก่อนไปทำงาน", "ชาเขียว"),
    "mixed": ("GraphQL方案已放棄，เซิร์ฟเวอร์เดิมด้วย", "放棄"),
}
_WHEN = datetime(2026, 1, 1, tzinfo=UTC)


class _Found(Exception):
    """Carries the result out of a transaction of which nothing stays."""

    def __init__(self, alive: dict[str, bool]) -> None:
        self.alive = alive
        super().__init__()


def canary(engine: Engine) -> dict[str, bool]:
    """By script, whether a sentence is found by a word of it; in the store itself, which stays as it is."""

    def work(transaction: Transaction) -> None:
        shelf, _ = TextIndex(transaction).open_shelf("documents:~canary")
        for script, (sentence, _) in SENTENCES.items():
            path = f"~canary/{script}.md"
            file = FileRead(path=path, stamp=(0, 0, 0, 0), hash="", tier="warm", depth=0, hidden=())
            Documents(transaction).put(shelf, file, read_markdown(path, sentence), _WHEN)
        raise _Found({script: _is_found(transaction, engine, script) for script in SENTENCES})

    try:
        engine.database.write(work)
    except _Found as found:
        return found.alive
    raise AssertionError("the canary's transaction does not end by itself")


def _is_found(transaction: Transaction, engine: Engine, script: str) -> bool:
    query = Query(scope=Scope(), text=SENTENCES[script][1], k=1, spaces=(), documents="documents:~canary")
    hits = find_hits(transaction, query, _WHEN, engine.means).found.hits
    return bool(hits) and hits[0].source.path == f"~canary/{script}.md"
