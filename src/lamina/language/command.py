"""What somebody asks their memory to do."""

from __future__ import annotations

from enum import StrEnum

from lamina.model.memory import SPOKEN, Kind
from lamina.model.scope import Space
from lamina.records import dataclass

#: How the keys of wishes begin that have no setting of their own: what follows says nothing to a person.
WISH = "response.instruction."


class Action(StrEnum):
    """What is to be done."""

    REMEMBER = "remember"
    SET = "set"  #: give a setting such as `response.tone` its value
    CORRECT = "correct"  #: what is remembered is wrong, or no longer so
    FORGET = "forget"
    CONFIRM = "confirm"  #: what waits for the user's word may be kept
    REJECT = "reject"  #: what waits for the user's word is not to be kept
    NOTE = "note"  #: a statement of the person about themselves that lasts; nobody asked to keep it
    MISHEARD = "misheard"  #: what they said just before was no command
    RESTORE = "restore"  #: what just went, or was changed, is to be as it was
    WITHHOLD = "withhold"  #: keep nothing of this message, and guess nothing from it


class Target(StrEnum):
    """What it is to be done to."""

    KEY = "key"  #: the entry of `key`
    TEXT = "text"  #: what says `text`; `key` is a key it may have
    ABOUT = "about"  #: everything about `text`
    LATEST = "latest"  #: "this", "that": what was said or offered last
    EVERYTHING = "everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command in a message."""

    action: Action
    target: Target
    key: str | None = None  #: canonical; of a free text to remember, `note.` and a digest of its words
    value: str | None = None  #: canonical where the rules know the value, else as typed
    text: str = ""  #: as typed, without what only surrounds it
    old: str | None = None  #: what a correction says is wrong
    kind: Kind = Kind.PREFERENCE
    lifetime: str | None = None  #: for `parse_ttl`, which refuses what cannot be kept; None: nothing was said
    space: Space | None = None  #: how far they want it to reach; None: nothing was said
    meant: tuple[str, ...] = ()  #: the ids of what it is about, where that is known
    why: tuple[str, ...] = ()  #: what spoke for them
    clear: bool = True  #: else the person has to be asked whether, and which of `meant`
    span: tuple[int, int]  #: where it stands in the message
    rule: str  #: the name of the rule that found it

    @property
    def reason(self) -> str:
        """Why what comes of it is kept or gone: a person said so."""
        return SPOKEN + self.rule
