"""From what a layer wants kept to a receipt: the gates, the transaction and the files, as for any memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lamina.model import Draft, Layer, Memory, Receipt, Role, Space
from lamina.storage.database import Transaction
from lamina.storage.layers import LayerRows
from lamina.storage.text_index import TextIndex
from lamina.write.commit import commit_denial
from lamina.write.details import draft_of
from lamina.write.noes import refused_before
from lamina.write.request import Request, Verb
from lamina.write.unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from lamina.scoped import ScopedMemory


def drafted(mind: ScopedMemory, text: str, details: Any, **more: Any) -> Draft:
    """A checked draft of the caller's; `more` is what only the engine may add."""
    engine = mind.engine
    limit = engine.config.max_text_chars
    return replace(draft_of(mind.scope, text, details, engine.now(), limit, engine.ruleset.rules), **more)


def kept(mind: ScopedMemory, draft: Draft) -> Receipt:
    """What became of a draft: the gates are asked, and it is stored where it lives."""
    engine = mind.engine
    request = Request(
        verb=Verb.REMEMBER, scope=draft.scope, at=engine.now(), draft=draft, decision=engine.judge(draft)
    )
    return engine.carry_out(request)


def kept_out(mind: ScopedMemory, draft: Draft) -> Receipt | None:
    """The refusal of what an agent says again after its person said no to it; None for everything else."""
    engine, scope = mind.engine, draft.scope
    if scope.role in (Role.USER, Role.ADMIN, Role.SYSTEM):
        return None
    now = engine.now()
    found = engine.database.read(lambda tx: refused_before(UnitOfWork(tx, engine.ruleset, scope, now), draft))
    if found is None:
        return None
    return engine.act(scope, lambda unit: commit_denial(unit, draft, found))


def newest(mind: ScopedMemory, layer: Layer, limit: int, spaces: tuple[Space, ...]) -> list[Memory]:
    """The newest episodes or procedures of the caller's shelves in these spaces, newest first."""
    now, names = mind.engine.now(), mind.scope.shelves(spaces)

    def work(transaction: Transaction) -> list[Memory]:
        numbers = [known[0] for name in names if (known := TextIndex(transaction).shelf(name))]
        rows = LayerRows(transaction)
        return [one for number in numbers for one in rows.newest(layer, number, now, limit)]

    return mind.engine.database.read(work)
