"""Several lasting facts out of one long message, within limits of the message and of the day (IS-13)."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

from lamina.language.durable import Durable, durable, length_of
from lamina.language.pronouns import pronouns
from lamina.layers.writing import drafted, kept, written
from lamina.model import Heard, Outcome, Receipt, quoted
from lamina.policy.writing import Held, Rejected
from lamina.storage.database import Transaction
from lamina.storage.small_tables import Marks
from lamina.text.normalise import language_of
from lamina.write.store import Caller

CANDIDATES = 5  #: statements of a message that are looked at
MOST = 3  #: of them that are kept


def extract(caller: Caller, text: str, heard: Heard) -> Heard:
    """Keep what a long message of a person says that lasts; the receipts say what became of each statement.

    Each passes the gates and the bands of merging like anything that is remembered. What the limits left out
    is counted in a receipt `facts_dropped`. A short message, and one with a secret in it, is left as it is.
    """
    store, config = caller.store, caller.store.config
    refused = any(one.code.startswith("privacy_") for one in heard.receipts)
    if refused or length_of(text) <= config.extract_from_chars:
        return heard
    found = [(one, _worded(caller, one)) for one in durable(text, CANDIDATES, book=store.ruleset.rules)]
    clear = [(one, words) for one, words in found if words]
    turn = tuple(one for one in (heard.receipts[0].ids if heard.receipts else ()) if ":short_term:" in one)
    receipts: list[Receipt] = []
    for one, words in clear[:MOST]:
        if not store.database.write(lambda tx: _within_day(caller, tx)):
            break
        details = {"kind": one.kind, "importance": one.importance, "merge": True, "reason": "extracted"}
        receipt = kept(caller, drafted(caller, words, details, source_turn_ids=turn))
        status = "skipped" if receipt.decision is Outcome.DENIED else "ok"
        told = receipt.ids[0] if receipt.ids else None
        store.tally.note(caller.scope, store.now(), "hotpath", "extract", status=status, memory_id=told)
        receipts.append(receipt)
    if dropped := len(clear) - len(receipts):
        store.tally.note(caller.scope, store.now(), "hotpath", "extract", status="skipped")
        limit = f"{MOST} a message, {config.extract_daily} a day"
        why = f"{dropped} more lasting statements were not kept; the limits are {limit}."
        receipts.append(Receipt(decision=Outcome.UNCHANGED, code="facts_dropped", warnings=(why,)))
    events = tuple(event for one in receipts for event in one.events)
    return replace(heard, receipts=(*heard.receipts, *receipts), events=heard.events + events)


def _worded(caller: Caller, one: Durable) -> str:
    """The statement as it is kept: of the user in the third person; of a group, in the person's own words.

    Empty where it is not clear by itself: "I use it daily" says nothing without what came before.
    """
    found = written(caller, one.text, one.kind, subject="")
    if isinstance(found, Rejected):
        return ""
    if not isinstance(found, Held):
        return found.text
    others = {pronoun.who for pronoun in pronouns(one.text, language_of(one.text))}
    return one.text if others <= {"first", "plural"} else ""


def _within_day(caller: Caller, transaction: Transaction) -> bool:
    """Take one of the day's places, if there is one left; what was taken stays taken after a restart."""
    now, config = caller.store.now(), caller.store.config
    midnight = now.astimezone(ZoneInfo(config.timezone)).replace(hour=0, minute=0, second=0, microsecond=0)
    marks = Marks(transaction, "facts", quoted(caller.scope.user))
    known = marks.since(midnight).get("taken")
    taken = int(known.note) if known else 0
    if taken >= config.extract_daily:
        return False
    marks.put("taken", now, str(taken + 1))
    return True
