"""Things that a framework keeps by name, as memories: each put passes the gates and may be refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lamina.errors import Conflict, Denied, InvalidInput, NotFound
from lamina.model import Memory, Outcome, Receipt, Space, quoted, unquoted
from lamina.scoped import ScopedMemory
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.write.details import chosen, draft_of
from lamina.write.request import Request, Verb

_ITEM = "item:"  #: how a place begins that has nothing to do with the words in it
_MAX_NAME = 1500  #: what fits into the key of an index
_TRIES = 20  #: each failed one means that somebody else's succeeded


class Items:
    """The things of one sort in one of a caller's spaces, by their names."""

    def __init__(self, memory: ScopedMemory, sort: str, space: str = "user") -> None:
        self._memory, self._start = memory, f"{_ITEM}{quoted(sort)}:"
        self._space = chosen(Space, space, "space")

    def get(self, name: str) -> Memory | None:
        """What a name stands for; None where nothing does, or the person has forgotten it."""
        place = self._place(name)
        return next((memory for _, memory in self._between(place, f"{place}!")), None)

    def all(self) -> dict[str, Memory]:
        """Everything, in the order of the names."""
        found = self._between(self._start, f"{self._start[:-1]};")  # `;` follows `:`
        named = {unquoted(place.removeprefix(self._start)): memory for place, memory in found}
        return {name: named[name] for name in sorted(named)}

    def put(self, name: str, text: str, *, expect: int | None = None) -> Memory:
        """Let a name stand for a text. Raises Denied where a gate objects or the person has to be asked,
        Conflict where it is not at the revision `expect` (0: not there) any more."""
        for _ in range(_TRIES):
            old = self.get(name)
            if expect is not None and expect != (old.revision if old else 0):
                raise Conflict("Somebody else has changed it.", code="revision_mismatch", retryable=True)
            if old is not None and old.text == text:
                return old
            try:
                receipt = self._written(name, text, old)
            except (Conflict, NotFound):
                continue
            if receipt.decision in (Outcome.DENIED, Outcome.HELD):
                raise refused(receipt)
            if (now := self.get(name)) is not None and now.text == text:
                return now
        raise Conflict("Others keep changing this.", code="item_contended", retryable=True)

    def _written(self, name: str, text: str, old: Memory | None) -> Receipt:
        store, scope = self._memory.engine, self._memory.in_session
        details: Any = {"space": self._space}
        draft = draft_of(scope, text, details, store.now(), store.config.max_text_chars, store.ruleset.rules)
        draft = replace(draft, place=self._place(name))
        return store.carry_out(
            Request(
                verb=Verb.REVISE if old else Verb.REMEMBER,
                scope=scope,
                at=store.now(),
                draft=draft,
                decision=store.judge(draft),
                memory_id=old.id if old else "",
                expect=old.revision if old else None,
            )
        )

    def drop(self, name: str) -> bool:
        """Let a name stand for nothing; whether it stood for something. Denied where only a person may."""
        old = self.get(name)
        if old is not None and (receipt := self._memory.forget(old.id)).decision is Outcome.DENIED:
            raise refused(receipt)
        return old is not None

    def _place(self, name: str) -> str:
        try:
            place = f"{self._start}{quoted(name)}"
        except UnicodeEncodeError:
            raise InvalidInput("A name is not valid Unicode.", code="item_key_invalid") from None
        if not name or "\0" in name or len(place) > _MAX_NAME:
            raise InvalidInput("A name is empty, too long or has NUL in it.", code="item_key_invalid")
        return place

    def _between(self, first: str, last: str) -> Iterator[tuple[str, Memory]]:
        store = self._memory.engine
        name = self._memory.in_session.shelf(self._space)

        def work(tx: Any) -> list[tuple[str, Memory]]:
            shelf = TextIndex(tx).shelf(name) if name else None
            return [] if shelf is None else Memories(tx).placed(shelf[0], first, last, store.now())

        yield from store.database.read(work)


def refused(receipt: Receipt) -> Denied:
    """Why something was not kept, in words; what waits for the person's word is said to wait."""
    if receipt.decision is Outcome.HELD:
        return Denied("This waits for the person's yes and is not kept yet.", code=receipt.code)
    why, *hint = receipt.warnings or ("The policy does not keep this.",)
    return Denied(why, code=receipt.code, hint=" ".join(hint))


def text_kept(text: str) -> str:
    """A file as a memory has it: its text, or the same as JSON where there is nothing to see in it."""
    plain = bool(text.strip()) and not text.startswith('{"file_text":')
    return text if plain else json.dumps({"file_text": text}, ensure_ascii=False)


def file_text(kept: str) -> str:
    """The text of a file that is kept so."""
    return str(json.loads(kept)["file_text"]) if kept.startswith('{"file_text":') else kept
