"""From what a layer wants kept to a receipt: the gates, the transaction and the files, as for any memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lamina.model import Draft, Receipt
from lamina.write.caller import Caller
from lamina.write.details import draft_of
from lamina.write.request import Request, Verb


def drafted(caller: Caller, text: str, details: Any, **more: Any) -> Draft:
    """A checked draft of the caller's; `more` is what only the engine may add."""
    store = caller.store
    limit = store.config.max_text_chars
    return replace(draft_of(caller.scope, text, details, store.now(), limit, store.ruleset.rules), **more)


def kept(caller: Caller, draft: Draft) -> Receipt:
    """What became of a draft: the gates are asked, and it is stored where it lives."""
    store = caller.store
    request = Request(
        verb=Verb.REMEMBER, scope=draft.scope, at=store.now(), draft=draft, decision=store.judge(draft)
    )
    return store.carry_out(request)
