"""Messages that say nothing worth keeping."""

from __future__ import annotations

from lamina.language.rulebook import Rulebook, rulebook
from lamina.text.normalise import dedup_key, folded

#: Nobody greets or thanks at greater length.
_LONGEST = 120


def low_signal(text: str, *, book: Rulebook | None = None) -> bool:
    """Whether a message is made of nothing but greetings, thanks, assent, laughter, emoji and punctuation."""
    words = dedup_key("", folded(text))[1:]
    if not words or words.startswith("#"):
        return True  # not a letter or digit in it
    if len(words) > _LONGEST:
        return False
    said = (book or rulebook()).any_of("low_signal")
    reached = {0}
    for at in range(len(words)):
        if at in reached and said.match(words, at):
            reached |= {end for end in range(at + 1, len(words) + 1) if said.fullmatch(words, at, end)}
        if at in reached and words[at] == " ":
            reached.add(at + 1)
    return len(words) in reached
