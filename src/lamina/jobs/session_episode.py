"""What a session came to, as an episode, when it ends: what was settled, promised and learnt in it."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

from lamina.imports.turn import Speaker
from lamina.jobs.conversations import Conversation, Noted, conversations, encoder_of, noted
from lamina.jobs.turns import turns_between
from lamina.language.statements import KEPT, Said, headline
from lamina.layers.episodes import Episodes
from lamina.model import Receipt
from lamina.storage.small_tables import Sessions
from lamina.write.store import Caller

_MOST = 6  #: of each sort of what came of a session
_CHARS = 200  #: of each


def record_session(caller: Caller) -> Receipt | None:
    """Keep what came of the caller's session; None where nothing was settled, promised or learnt in it."""
    store, scope, now = caller.store, caller.in_session, caller.store.now()
    name = scope.session or ""
    begun = store.database.read(lambda tx: Sessions(tx).get(scope.user, name))
    if begun is None or begun.ended_at is not None or not name:  # what came of it was told when it ended
        return None
    turns = turns_between(caller, begun.started_at, now + timedelta(microseconds=1))
    talks = [one for one in conversations(turns) if one.turns[0].session_id == name]
    book, zone = store.ruleset.rules, ZoneInfo(store.config.timezone)
    found = [one for talk in talks for one in noted(talk, zone, book, encoder_of(store))]
    if not (summary := _summary(found)):
        return None
    lasted = int((_last(talks) - begun.started_at.timestamp()) * 1000)
    return Episodes(caller).record(summary, duration_ms=max(0, lasted))


def _summary(found: list[Noted]) -> str:
    """What came of it, a sentence each, in the person's own words."""
    settled = [headline(one.statement.text, one.statement.why) for one in found if one.statement.said in KEPT]
    others = [
        one.statement.text
        for said in (Said.ACTION, Said.LESSON)
        for one in [each for each in found if each.statement.said is said][:_MOST]
    ]
    told = dict.fromkeys(one[:_CHARS] for one in (*settled[:_MOST], *others))
    return "\n".join(told)


def _last(talks: list[Conversation]) -> float:
    said = [
        turn.at for talk in talks for turn in talk.turns if turn.role is Speaker.USER and turn.at is not None
    ]
    return max(said).timestamp() if said else 0.0
