"""What is on a caller's shelves, by where it stands: keyed values, recent turns, the five layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.language.user_model import belongs, model_of
from lamina.model import Layer, Memory, Space, State, quoted
from lamina.ranking.decay import faded
from lamina.ranking.tiers import is_likely
from lamina.read.recall import find
from lamina.read.snapshot import Snapshot, look
from lamina.storage.memories import Memories
from lamina.storage.search_index import TextIndex
from lamina.storage.shelf_contents import LayerRows, keyed_on, latest_on, turns_on
from lamina.text.accounts import Episode, Procedure, episode_of, procedure_of
from lamina.write.store import Caller

_OWN = (Space.SESSION, Space.USER)


def keyed(caller: Caller) -> list[Memory]:
    """Every memory of the caller's session and user that holds a key."""
    return look(caller, keyed_in)


def keyed_in(snapshot: Snapshot) -> list[Memory]:
    """The same within a reading that has begun."""
    return keyed_on(snapshot.transaction, snapshot.in_session.shelves(_OWN), snapshot.now)


def latest(caller: Caller) -> list[Memory]:
    """The last thing the caller's session or user got that lasts, as a list of none or one."""
    return look(
        caller,
        lambda snapshot: latest_on(snapshot.transaction, snapshot.in_session.shelves(_OWN)),
        synced=False,
    )


def turns(caller: Caller, count: int) -> list[str]:
    """What was said lately in this session, latest last."""
    return [turn.text for turn in window(caller)][-count:]


def window(caller: Caller) -> list[Memory]:
    """The turns of the user that this session still has, latest last."""
    return look(caller, window_in, synced=False)


def window_in(snapshot: Snapshot) -> list[Memory]:
    """The same within a reading that has begun."""
    return turns_on(snapshot.transaction, snapshot.in_session.shelf(Space.SESSION) or "")


def loaded(caller: Caller, ids: Sequence[str]) -> list[Memory]:
    """The memories behind some hits, in their order; an id of somebody else's is behind none."""
    return look(caller, lambda snapshot: loaded_in(snapshot, ids), synced=False)


def loaded_in(snapshot: Snapshot, ids: Sequence[str]) -> list[Memory]:
    """The same within a reading that has begun."""
    found, own = Memories(snapshot.transaction).load(ids), snapshot.in_session.shelves()
    known = [found[one] for one in ids if one in found and found[one].shelf in own]
    return [faded(one, snapshot.now) for one in known]


def said_before(caller: Caller, ids: Sequence[str]) -> list[str]:
    """What the caller's user said in some turns of any of their sessions, without what was forgotten."""
    owner = quoted(caller.scope.user)

    def work(snapshot: Snapshot) -> list[str]:
        found = Memories(snapshot.transaction).load(ids)
        own = [one for one in found.values() if one.shelf.startswith(f"{Space.SESSION}:{owner},")]
        return [one.text for one in own if one.state is not State.SOFT_DELETED]

    return look(caller, work, synced=False)


def newest(caller: Caller, layer: Layer, limit: int, spaces: tuple[Space, ...]) -> list[Memory]:
    """The newest episodes or procedures of the caller's shelves in these spaces, newest first."""
    return look(caller, lambda snapshot: newest_in(snapshot, layer, limit, spaces), synced=False)


def newest_in(snapshot: Snapshot, layer: Layer, limit: int, spaces: tuple[Space, ...]) -> list[Memory]:
    """The same within a reading that has begun."""
    text_index, rows = TextIndex(snapshot.transaction), LayerRows(snapshot.transaction)
    names = snapshot.scope.shelves(spaces)
    numbers = [known[0] for name in names if (known := text_index.shelf(name))]
    return [one for number in numbers for one in rows.newest(layer, number, snapshot.now, limit)]


def user_model(snapshot: Snapshot) -> dict[str, Any]:
    """The model of the caller's user; what is not known has the defaults of the settings."""
    config = snapshot.caller.store.config
    # The session's values come first, so that those of the profile stand over them.
    known = [one for one in keyed_in(snapshot) if one.layer is not Layer.WORKING or not belongs(one.key)]
    return model_of(snapshot.scope.user, known, config.default_language, config.default_timezone)


def procedures_for(snapshot: Snapshot, task: str, limit: int) -> list[Procedure]:
    """The procedures that fit a task, best first."""
    found = find(snapshot, task, k=limit, layers=[Layer.PROCEDURAL], trusted_only=True)
    fitting = [hit.id for hit in found if is_likely(hit.scores)]
    return [procedure_of(one) for one in loaded_in(snapshot, fitting)]


def episodes_about(snapshot: Snapshot, topic: str, limit: int) -> list[Episode]:
    """The episodes about a topic, best first; without one, the most recent."""
    if topic.strip():
        hits = find(snapshot, topic, k=limit, layers=[Layer.EPISODIC], spaces=[Space.USER])
        found = loaded_in(snapshot, [hit.id for hit in hits if is_likely(hit.scores)])
    else:
        found, reads = newest_in(snapshot, Layer.EPISODIC, limit, (Space.USER,)), snapshot.caller.store.reads
        snapshot.afterwards.append(lambda: reads.note([one.id for one in found], snapshot.now))
    return [episode_of(one, snapshot.scope.user) for one in found]
