"""What a hook hears: the turns of a transcript, once each, as what they are: the person's, or the agent's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lamina.clock import monotonic
from lamina.doors.harness.hook import Event, Told
from lamina.doors.harness.talk import ClientTalk
from lamina.doors.harness.tell import workspace_of
from lamina.durable import make_folder
from lamina.engine import Engine
from lamina.errors import InvalidInput, NotFound
from lamina.hear.turn import answered, keep_turn
from lamina.imports.bring_in import entry_key
from lamina.imports.detect import READERS
from lamina.imports.turn import ImportedTurn, ImportFile, ReadUpTo, Skipped, Speaker, session_name
from lamina.scoped import ScopedMemory
from lamina.storage.small_tables import Imports, Position
from lamina.workspace.locks import locked

OpenMemory = Callable[[Path | None], Engine]

_CATCH_UP_S = 3.0  #: how long a new session waits for what others left unheard
_LOCK_S = 20.0
_HEAD = 1024
_WINDOW = 12  #: turns among which one is looked for that may have been heard before a crash
_QUERY = re.compile(r"\s*<user_query>\s*(.*?)\s*</user_query>\s*", re.S)


def handle(event: Event, open_memory: OpenMemory) -> Told:
    """Carry out one moment; where the memory raises, nothing is lost, and the next moment catches up."""
    if event.verb not in _VERBS:
        raise InvalidInput(f"{event.verb!r:.40} is not a moment that a hook knows.", code="hook_unknown")
    if not event.mute:
        with open_memory(workspace_of(event)) as engine:
            _VERBS[event.verb](event, engine)
            engine.embed_missing()  # which a prompt has no time for
    return Told()


def _memory(engine: Engine, event: Event) -> ScopedMemory:
    """The client's agent, which reads as one, and carries the person's own turns."""
    session = session_name(event.session)
    return engine.scope(agent=event.client, session=session, via="hook", speaks_for=True)


def _heard(event: Event, engine: Engine) -> None:
    talk = ClientTalk.of(event)
    talk.reply(event.reply)
    capture(_memory(engine, event), talk)


def _ended(event: Event, engine: Engine) -> None:
    _heard(event, engine)
    with suppress(NotFound):
        _memory(engine, event).end_session()
    ClientTalk.of(event).close()


def _caught_up(event: Event, engine: Engine) -> None:
    """Hear what other sessions left unheard, for a while: their client was stopped before it could call."""
    until = monotonic() + _CATCH_UP_S
    for talk in ClientTalk.unheard(event):
        if monotonic() <= until:
            other = replace(event, session=talk.session, client=talk.client)
            capture(_memory(engine, other), talk, until)


#: A new session first hears what others left.
_VERBS: Mapping[str, Callable[[Event, Engine], None]] = {
    "session-start": _caught_up,
    "stop": _heard,
    "pre-compact": _heard,
    "session-end": _ended,
}


def capture(memory: ScopedMemory, talk: ClientTalk, until: float | None = None) -> int:
    """Hear what is new in a transcript, in its order, once; how many turns. One process at a time."""
    file = talk.file()
    if file is None:
        return 0
    count = 0
    make_folder(talk.path.parent)
    with locked(talk.path.parents[1], talk.path.stem, _LOCK_S, folder="locks"):
        tools = False
        for item, position in _unread(memory, file):
            tools = tools or (isinstance(item, Skipped) and item.reason in ("tool_output", "recalled"))
            if isinstance(item, ImportedTurn):
                count += _hear_once(memory, item, tools)
                tools = tools and item.role is not Speaker.USER
            if position is not None:
                _note(memory, [], position)
            if until is not None and monotonic() > until:
                return count
        talk.heard_to(file.size)
    return count


def _unread(memory: ScopedMemory, file: ImportFile) -> Iterator[tuple[Any, Position | None]]:
    """What is in a file behind where it was left, and where it can be left next."""
    user, name = memory.scope.user, f"hook:{file.name}"
    known = memory.engine.database.read(lambda tx: Imports(tx, user).position(name))
    head = min(_HEAD, max(file.size, 0))
    start = ReadUpTo()
    if known is not None and known.mark == file.mark(int(known.mark.rpartition(":")[2])):
        start = ReadUpTo(**known.place)
    mark = file.mark(head)
    for item in READERS[file.format](file, start):
        left = asdict(item) if isinstance(item, ReadUpTo) else None
        yield item, None if left is None else Position(path=name, mark=mark, size=-1, place=left)


def _hear_once(memory: ScopedMemory, turn: ImportedTurn, tools: bool) -> bool:
    """Hear one turn, unless it was heard before. A crash in between leaves a claim, which is looked into."""
    key, user = entry_key(turn), memory.scope.user
    claim = f"claim:{key}"
    found = memory.engine.database.read(lambda tx: Imports(tx, user).known([key, claim]))
    if key in found:
        return False
    words = turn.text if (query := _QUERY.fullmatch(turn.text)) is None else query[1]
    if claim not in found:
        _note(memory, [claim])
    # Of a reply nobody can tell whether it was kept; a person's words are never left out for that.
    done = claim in found and (turn.role is not Speaker.USER or words in memory.turns(_WINDOW))
    try:
        if not done and turn.role is Speaker.USER:
            memory.hear(words)
        elif not done and turn.role is Speaker.ASSISTANT:
            _answered(memory, words, tools)
    except InvalidInput:  # too long or no text: it is passed over, so that what follows is heard
        done = True
    _note(memory, [key])
    return not done


def _answered(memory: ScopedMemory, reply: str, tools: bool) -> None:
    """What the agent said; what it made of tools' answers is as little to be trusted as those."""
    if len(reply) > memory.engine.config.max_text_chars:
        raise InvalidInput("This reply is too long to be kept.", code="text_too_long")
    turn = answered(memory.in_session, reply, (), memory.engine.ruleset.rules)
    drafts = tuple(replace(draft, tainted=tools or draft.tainted) for draft in turn.drafts)
    keep_turn(memory.engine, replace(turn, drafts=drafts))


def _note(memory: ScopedMemory, keys: list[str], position: Position | None = None) -> None:
    user, now = memory.scope.user, memory.engine.now()

    def work(imports: Imports) -> None:
        imports.add(keys)
        if position is not None:
            imports.keep(position, now)

    memory.engine.database.write(lambda tx: work(Imports(tx, user)))
