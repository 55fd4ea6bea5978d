"""The database of Oracle-v2 and JellyCore, opened for reading only, with the markdown beside it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import Any

import apsw

from lamina.errors import InvalidInput
from lamina.imports.lines import parsed
from lamina.imports.openclaw_sqlite import opened
from lamina.imports.turn import HeldAs, ImportedFact, ImportFile, Item, ReadUpTo
from lamina.imports.words import digest, moment, said, text_of
from lamina.language.layering import layer_asked
from lamina.language.user_model import updates_of
from lamina.model import Layer
from lamina.text.accounts import Origin, Result, episode_text, worded

TABLE = "oracle_documents"
#: Columns that every version has, and those that came later: what is missing there was not known.
_LATER = (
    "type",
    "source_file",
    "concepts",
    "created_at",
    "updated_at",
    "superseded_by",
    "origin",
    "project",
    "is_private",
    "parent_id",
    "memory_layer",
    "confidence",
    "access_count",
    "last_accessed_at",
    "expires_at",
    "content",
)
_HOME = "ψ"  #: the folder of its markdown
_LARGEST = 1 << 20
_ABOVE = 4  #: folders over the database in which its markdown is looked for
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.S)
_FOOT = re.compile(r"\n---\n\*[^\n]*\*\s*\Z")
_HEADING = re.compile(r"\A#\s+([^\n]+)\n+")
#: Its index keeps Thai with a space between words, which nobody wrote.
_THAI_GAP = re.compile(r"(?<=[\u0e00-\u0e7f]) (?=[\u0e00-\u0e7f])")
#: What a model says of somebody who has said nothing.
_DEFAULTS = ("auto", "casual")


def read(file: ImportFile, _: ReadUpTo) -> Iterator[Item]:
    """What the database holds, each in its layer; what was superseded or is a part of another is counted."""
    try:
        with closing(opened(file)) as database:
            yield from _Oracle(file, database).items()
    except (apsw.Error, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{file.path.name} cannot be read as an Oracle database: {error}.",
            code="import_unreadable",
            hint="Close Oracle or try again; a copy made with `VACUUM INTO` works as well.",
        ) from None
    yield file.end()


class _Oracle:
    def __init__(self, file: ImportFile, database: apsw.Connection) -> None:
        self._file = file
        self._database = database
        rows = database.execute("SELECT name, type FROM pragma_table_info(?)", (TABLE,))
        kinds = {str(name): str(kind) for name, kind in rows}
        self._whole_percent = kinds.get("confidence", "").upper().startswith("INT")
        names = ["id", *(name for name in _LATER if name in kinds)]
        rows = database.execute(f"SELECT {', '.join(names)} FROM {TABLE} ORDER BY id")  # noqa: S608 our own names
        self._rows = [dict(zip(names, row, strict=True)) for row in rows]
        has_words = "content" in {
            str(name) for (name,) in database.execute("SELECT name FROM pragma_table_info('oracle_fts')")
        }
        self._words = dict(database.execute("SELECT id, content FROM oracle_fts")) if has_words else {}
        self._ids = {row["id"] for row in self._rows}
        self._on_file = Counter(row.get("source_file") for row in self._rows)
        self._models = sum(_layer(row) is Layer.USER_MODEL for row in self._rows)

    def items(self) -> Iterator[Item]:
        for row in self._rows:
            if row.get("superseded_by"):
                yield self._file.skipped("superseded")
            elif row.get("parent_id") in self._ids:
                yield self._file.skipped("part")
            else:
                found = list(self._facts(row))
                yield from found or [self._file.skipped("no_text")]

    def _facts(self, row: Mapping[str, Any]) -> Iterator[Item]:
        indexed = _THAI_GAP.sub("", str(self._words.get(row["id"]) or ""))
        layer, words = _layer(row), str(row.get("content") or indexed)
        value = parsed(words)
        whole = value if isinstance(value, dict) else {}
        match layer:
            case Layer.USER_MODEL if whole:
                yield from self._model(row, whole)
                return
            case Layer.PROCEDURAL if whole.get("trigger") and _texts(whole.get("procedure")):
                text, meta = _procedure(whole)
            case Layer.EPISODIC if whole.get("summary"):
                text, meta = _episode(whole)
            case _:
                text, meta = self._markdown(row) or words, {}
        if text := said(text):
            user = str(whole["userId"]) if layer is Layer.EPISODIC and whole.get("userId") else None
            yield self._fact(row, text, self._held(row, layer, meta=meta, user=user))

    def _model(self, row: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[Item]:
        """A value for each thing known about a person; where there is one model, it is the importer's."""
        user = None if self._models == 1 else str(whole.get("userId") or row["id"])
        for name, value in whole.items():
            try:
                known = updates_of({name: _said(value)})
            except InvalidInput:
                yield self._file.skipped("user_model_invalid")
                continue
            for key, text in known.items():
                yield self._fact(row, text, self._held(row, Layer.USER_MODEL, name=key, user=user))

    def _held(self, row: Mapping[str, Any], layer: Layer, **more: Any) -> HeldAs:
        sure = row.get("confidence")
        share = float(sure) / (100 if self._whole_percent else 1) if isinstance(sure, int | float) else 1.0
        meta = {name: str(row[name])[:200] for name in ("origin", "project") if row.get(name)}
        more["meta"] = {**meta, **more.get("meta", {})}
        count = row.get("access_count")
        return HeldAs(
            layer=layer,
            tags=tuple(one for one in _concepts(row) if ":" not in one),
            confidence=min(1.0, max(0.0, share)),
            uses=count if isinstance(count, int) and count > 0 else 0,
            used_at=moment(row.get("last_accessed_at")),
            until=moment(row.get("expires_at")),
            **more,
        )

    def _fact(self, row: Mapping[str, Any], text: str, held: HeldAs) -> ImportedFact:
        entry, at = str(row["id"]), moment(row.get("updated_at")) or moment(row.get("created_at"))
        key = f"oracle:{entry}:{held.name or ''}:{digest(text)}"
        return ImportedFact(
            source="oracle", entry_id=entry, text=text, at=at, path=self._file.name, key=key, held=held
        )

    def _markdown(self, row: Mapping[str, Any]) -> str:
        """The file that a row is the whole of, as somebody wrote it; none outside the memory's own folder."""
        name = str(row.get("source_file") or "")
        if not name.startswith(f"{_HOME}/") or not name.endswith(".md") or self._on_file[name] > 1:
            return ""
        with suppress(OSError, ValueError):
            for folder in self._file.path.parents[:_ABOVE]:
                path = (folder / name).resolve()
                if path.is_relative_to((folder / _HOME).resolve()) and path.is_file():
                    with path.open("rb") as stream:
                        return _body(stream.read(_LARGEST).decode("utf-8", "replace"))
        return ""


def _body(text: str) -> str:
    """A learning without front matter, the line at its foot, and a title that says its first line again."""
    body = _FOOT.sub("", _FRONT.sub("", text.replace("\r\n", "\n"), count=1)).strip()
    heading = _HEADING.match(body)
    return body[heading.end() :] if heading and body[heading.end() :].startswith(heading[1].strip()) else body


def _layer(row: Mapping[str, Any]) -> Layer:
    named = row.get("memory_layer")
    known = named in set(Layer) and named != Layer.WORKING
    found = layer_asked(str(named) if known else None, _concepts(row))
    return Layer(found) if found else Layer.SEMANTIC


def _concepts(row: Mapping[str, Any]) -> list[str]:
    given = row.get("concepts")
    value = parsed(given) if isinstance(given, str) else None
    return [one[:128] for one in _texts(value)][:64]


def _texts(value: Any) -> list[str]:
    given = value if isinstance(value, list) else []
    return [one.strip() for one in given if isinstance(one, str) and one.strip()]


def _said(value: Any) -> Any:
    """The part of a field of the model that somebody said."""
    if isinstance(value, dict):
        return {name: one for name, one in value.items() if one not in _DEFAULTS}
    return value


def _procedure(whole: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    trigger, steps = text_of(whole["trigger"]), _texts(whole["procedure"])
    source = whole.get("source")
    count = whole.get("successCount")
    meta = {
        "trigger": trigger,
        "procedure": steps,
        "success_count": count if isinstance(count, int) else 0,
        "source": source if source in set(Origin) else Origin.EXPLICIT.value,
    }
    return worded(trigger, steps), meta


def _episode(whole: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    topics, outcome = _texts(whole.get("topics")), whole.get("outcome")
    took = whole.get("durationMs")
    meta = {
        "topics": topics,
        "outcome": outcome if outcome in set(Result) else Result.UNKNOWN.value,
        "group": str(whole["groupId"])[:128] if whole.get("groupId") else None,
        "duration_ms": took if isinstance(took, int) else None,
    }
    return episode_text(text_of(whole["summary"]), topics), meta
