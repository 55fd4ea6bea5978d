"""Remembering: what a caller says becomes a request that was judged, and a receipt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Unpack

from lamina.errors import InvalidInput
from lamina.model import Outcome, Receipt
from lamina.text.normalise import well_formed
from lamina.write.caller import Caller
from lamina.write.details import Details, draft_of
from lamina.write.request import Request, Verb

#: How many memories one transaction of `remember_many` stores; other writers wait for it.
BATCH = 250


def remember(caller: Caller, text: str, **details: Unpack[Details]) -> Receipt:
    """Remember one thing, exactly as it is said."""
    return caller.store.carry_out(_asked(caller, text, details))


def remember_many(caller: Caller, items: Iterable[Mapping[str, Any]]) -> list[Receipt]:
    """Remember many things in order, stored in batches, each whole or not at all; a receipt each.

    An item that is none, such as one without a text, is refused by its receipt, and the others are stored.
    """
    receipts: list[Receipt] = []
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH)):
        asked = [_item(caller, number, one) for number, one in enumerate(batch, len(receipts))]
        done = iter(caller.store.carry_out_all([one for one in asked if isinstance(one, Request)]))
        receipts += [next(done) if isinstance(one, Request) else one for one in asked]
    return receipts


def _item(caller: Caller, number: int, item: Mapping[str, Any]) -> Request | Receipt:
    """The request that an item is, or the receipt of one that is none."""
    try:
        details: Any = {name: value for name, value in item.items() if name != "text"}
        return _asked(caller, item["text"], details)
    except (InvalidInput, KeyError, AttributeError, TypeError) as error:
        if not isinstance(error, InvalidInput):
            error = InvalidInput('It is not of the form {"text": …}.', code="item_invalid")
        told = tuple(one for one in (f"Item {number}: {error.message}", error.hint) if one)
        return Receipt(decision=Outcome.DENIED, code=error.code, warnings=told)


def _asked(caller: Caller, text: str, details: Details) -> Request:
    """The request to remember a text, judged."""
    store = caller.store
    now, ruleset, limit = store.now(), store.ruleset, store.config.max_text_chars
    repeat = details.pop("idempotency_key", None)
    draft = draft_of(caller.scope, text, details, now, limit, ruleset.rules)
    return Request(
        verb=Verb.REMEMBER,
        scope=caller.scope,
        at=now,
        draft=draft,
        decision=store.judge(draft),
        idempotency_key=ruleset.sealer.fingerprint(
            None if repeat is None else well_formed(repeat, "idempotency key", 200)
        ),
    )
