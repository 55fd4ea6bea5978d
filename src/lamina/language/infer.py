"""What a person may want for good although they did not ask for it, and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from lamina.language.hearing import Hearing, Opening, hear
from lamina.language.qualify import stretch
from lamina.language.rulebook import Rule, Rulebook, rulebook
from lamina.language.settings import meaning
from lamina.records import dataclass

#: How many words a habit is described with at most.
_WINDOW = 60
#: How many mentions are looked at for one that counts.
_MENTIONS = 32
#: What is left of the doubt each time the same is said again.
_DOUBT = 0.5
#: How many earlier messages are listened to.
EARLIER = 20


@dataclass(frozen=True, slots=True)
class Inference:
    """A guess at a setting; it is kept only if the person agrees."""

    key: str
    value: str
    confidence: float  #: from 0 to 1
    reason: str  #: the name of the rule, and how often it was said before: `concise_en`, `concise_en+1`
    span: tuple[int, int]  #: where in the message


def infer(text: str, earlier: Sequence[str] = (), *, book: Rulebook | None = None) -> list[Inference]:
    """What a message lets one guess, one guess a key, the surest first.

    `earlier` are messages of the same person, latest last: what they let one guess as well is surer, and what
    they contradict is less sure by as much. Whoever keeps a guess decides how sure is sure enough. Nothing
    quoted, reported, supposed or denied counts. Never raises; linear in the text.
    """
    book = book or rulebook()
    before = [_guesses(hear(message, book)) for message in earlier[-EARLIER:]]
    found = []
    for guess in _guesses(hear(text, book)).values():
        said = [other[guess.key].value for other in before if guess.key in other]
        again = said.count(guess.value) - (len(said) - said.count(guess.value))
        doubt = (1 - guess.confidence) * _DOUBT**again
        reason = f"{guess.reason}+{again}" if again > 0 else guess.reason
        sure = round(min(max(1 - doubt, 0.0), 0.99), 4)
        found.append(Inference(guess.key, guess.value, sure, reason, guess.span))
    return sorted(found, key=lambda guess: (-guess.confidence, guess.key))


def _guesses(hearing: Hearing) -> dict[str, Inference]:
    """The surest guess for each key."""
    found: dict[str, Inference] = {}
    for rule in hearing.book.of("inference"):
        for match in islice(rule.regex.finditer(hearing.said), _MENTIONS):
            guess = _guess(hearing, rule, match)
            if guess and (guess.key not in found or guess.confidence > found[guess.key].confidence):
                found[guess.key] = guess
                break
    return found


def _guess(hearing: Hearing, rule: Rule, match: re.Match[str]) -> Inference | None:
    if not hearing.holds(rule, match):
        return None
    end = match.end()
    key, value = str(rule["key"]), rule["value"]
    if value is None:
        sentence = hearing.sentence_at(match.start())
        end = min(sentence.end, match.end() + _WINDOW)
        if stop := hearing.book.any_of("value", "ends").search(hearing.said, match.end(), end):
            end = stop.start()
        body = stretch(hearing, match.end(), end, Opening(match.end(), frozenset(), ()))
        meant = meaning(hearing.view.slice(body.at, body.end), hearing.book)
        if meant is None:
            return None
        key, value = meant
    return Inference(key, value, float(rule["confidence"]), rule.name, hearing.span(match.start(), end))
