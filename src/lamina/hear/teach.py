"""What a person says of how they were understood: it is kept as an example, and counts from then on."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

from lamina.errors import InvalidInput, NotFound
from lamina.language.command import Command
from lamina.language.examples import Example, example_of, sketch_of
from lamina.language.sorts import LEFT, Sort
from lamina.language.view import view_of
from lamina.model import Outcome, Receipt, quoted
from lamina.read.shelves import latest, turns
from lamina.storage.database import Transaction
from lamina.storage.small_tables import Marks
from lamina.text.normalise import folded, well_formed
from lamina.write.guesses import check_person
from lamina.write.store import Caller
from lamina.write.verbs import forget

_JOB = "taught"
_EVER = datetime(1970, 1, 1, tzinfo=UTC)
#: The word for a sentence that is to be left alone.
NONE = "none"


def teach(caller: Caller, text: str, sort: str = NONE) -> Receipt:
    """From now on sentences of this person that are like this one are of the sort that they say.

    Only a sketch of it is kept, no word. Raises Denied for anybody but the person, and InvalidInput for a
    sort that is none.
    """
    check_person(caller.scope)
    said = well_formed(text, "text", caller.store.config.max_text_chars)
    if sort not in {NONE, *(one.value for one in Sort)}:
        known = ", ".join([NONE, *(one.value for one in Sort if one not in LEFT)])
        raise InvalidInput(
            f"{sort!r:.40} is not a sort.", code="sort_invalid", hint=f"Choose one of: {known}."
        )
    example = Example(sketch_of(said), Sort.CHAT if sort == NONE else Sort(sort))
    subject = sha256(view_of(said).text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    now = caller.store.now()
    caller.store.database.write(lambda tx: _marks(caller, tx).put(subject, now, example.note()))
    return Receipt(decision=Outcome.ADMITTED, code="taught")


def misheard(caller: Caller, command: Command) -> list[Receipt]:
    """What was said last is an example of what is no command; what was made of it goes."""
    said = next(reversed(turns(caller, 1)), "")
    if not said:
        raise NotFound("Nothing was said before.")
    teach(caller, said)
    made = [one for one in latest(caller) if folded(one.text).strip(" .!?。") in folded(said)]
    for one in made:
        forget(caller, one.id, reason=command.reason)
    return [Receipt(decision=Outcome.ADMITTED, code="misheard", ids=tuple(one.id for one in made))]


def taught(caller: Caller) -> list[Example]:
    """What the person said of sentences so far."""
    marks = caller.store.database.read(lambda tx: _marks(caller, tx).since(_EVER))
    return [one for mark in marks.values() if (one := example_of(mark.note)) is not None]


def _marks(caller: Caller, transaction: Transaction) -> Marks:
    return Marks(transaction, _JOB, quoted(caller.scope.user))
