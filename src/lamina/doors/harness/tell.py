"""What a hook tells a client, out of a memory opened for a glance: it is called at every prompt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lamina.doors.harness.hook import Event, Told
from lamina.doors.harness.talk import ClientTalk
from lamina.imports.turn import session_name
from lamina.model import Space
from lamina.read.context import context
from lamina.storage.shelf_contents import pending_on
from lamina.workspace.layout import find_workspace, is_workspace
from lamina.write.store import Caller, Store, caller_of

OpenStore = Callable[[Path | None], Store]

_START_TOKENS, _PROMPT_TOKENS = 1500, 800


def tell(event: Event, open_store: OpenStore) -> Told:
    """What is known, as a session begins or for a prompt; what this session was told is left out."""
    talk = ClientTalk.of(event)
    begins = event.verb == "session-start"
    # Nobody has said yet what a session will be about; where it takes place is known.
    task = f"Work in {event.folder.name or 'a folder'}" if begins else event.prompt
    if not task.strip() or (event.client == "cursor" and not begins):  # it takes no context with a prompt
        talk.keep()
        return Told()
    store = open_store(workspace_of(event))
    try:
        session = session_name(event.session)
        agent = caller_of(store, agent=event.client, session=session, via="hook", speaks_for=True)
        budget = _START_TOKENS if begins else _PROMPT_TOKENS
        block = context(agent, task[: store.config.max_text_chars], budget, "xml", cite=True).text
        told = talk.news(block, anew=begins and event.fresh)
        talk.keep()
        return Told(told, _notice(agent) if begins else "")
    finally:
        store.met_unread = False  # a prompt has no time to read for later; what hears does that
        store.close()


def workspace_of(event: Event) -> Path | None:
    """The workspace that was installed, or the one that the client works in; None: the store alone."""
    root = find_workspace(event.folder, event.workspace, {})
    return root if event.workspace is not None or is_workspace(root) else None


def _notice(agent: Caller) -> str:
    shelf = agent.scope.shelf(Space.USER) or ""
    waiting = len(agent.store.database.read(lambda tx: pending_on(tx, shelf, agent.store.now())))
    many = "1 thing waits" if waiting == 1 else f"{waiting} things wait"
    return f"{many} for your yes or no: run `lamina review`." if waiting else ""
