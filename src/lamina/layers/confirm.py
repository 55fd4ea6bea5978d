"""The person's yes to what was guessed: it is kept as their own word."""

from __future__ import annotations

from lamina.layers.layers import Layers
from lamina.model import Layer, Outcome, Receipt
from lamina.write.caller import Caller
from lamina.write.guesses import conclude, unnamed
from lamina.write.propose import waiting


def confirm(caller: Caller, key: str | None = None, *, reason: str = "", channel: str = "") -> list[Receipt]:
    """Keep what was guessed, under its key; without a key, the newest guess. Only the person can.

    `channel` is by what way they said so, this caller's door unless given. In a chat, what is sensitive
    needs its key: a bare yes raises Denied.
    """
    memory, by, layers = waiting(caller, key), channel or caller.scope.via, Layers(caller)
    if not caller.store.ruleset.fields.may_agree(memory.key, by, named=key is not None):
        raise unnamed(memory)
    if memory.layer is not Layer.USER_MODEL:
        receipt = layers.settle(memory)
    else:
        receipt = layers.user_model.agreed(memory, reason or "confirmed")
        if receipt.decision is Outcome.DENIED:
            return [receipt]
    caller.store.act(caller.scope, lambda unit: conclude(unit, memory, receipt.ids[0], by))
    return [receipt]
