"""What people and agents said to each other in a stretch of time: heard here, or imported from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from lamina.imports.exclusion import excluded_session, silent
from lamina.imports.turn import ImportedTurn, Speaker
from lamina.model import Memory, Role, Trust
from lamina.storage.memories import Memories, SaidAt
from lamina.write.store import Caller

_PAGE = 500
_SPEAKERS = {Role.USER: Speaker.USER, Role.AGENT: Speaker.ASSISTANT}
HEARD = "lamina"  #: the source of what was heard here


def turns_between(caller: Caller, since: datetime, until: datetime) -> Iterator[ImportedTurn]:
    """The turns of a user and their agents said from `since` until before `until`, in the order of time.

    Imported transcripts and live sessions alike, turns that have left their session's window too. Not what
    tools returned, what was forgotten, nor what schedulers, sub-agents and our own jobs said. Nothing is
    written, and no transaction is open while the caller works on a turn.
    """
    user, after = caller.scope.user, SaidAt(since)
    while True:
        page = caller.store.database.read(lambda tx: Memories(tx).said(user, after, until, _PAGE))  # noqa: B023 read at once
        for _, memory in page:
            if (turn := _turn(memory)) is not None:
                yield turn
        if len(page) < _PAGE:
            return
        shelf, last = page[-1]
        after = SaidAt(last.said_at, shelf, last.tick)


def _turn(memory: Memory) -> ImportedTurn | None:
    origin = memory.provenance
    role, session = _SPEAKERS.get(origin.role), origin.session_id or ""
    source = str(memory.meta.get("source") or HEARD)
    # An agent's side of an imported talk is second-hand and in no prompt; a person's yes to it still counts.
    second_hand = origin.role is Role.AGENT and not origin.origins
    if role is None or (origin.trust is not Trust.TRUSTED and not second_hand):
        return None
    if source == HEARD and (origin.via == "job" or excluded_session(session) or silent(memory.text)):
        return None
    return ImportedTurn(
        source=source,
        session_id=session,
        entry_id=str(memory.meta.get("entry") or memory.id),
        role=role,
        text=memory.text,
        at=memory.said_at,
        path=origin.session_path or "",
        message_range=origin.message_range or memory.id,
        speaker=memory.meta.get("speaker"),
        memory_id=memory.id,
    )
