"""Every error a caller can meet; surfaces map them to exit codes and HTTP statuses.

LaminaError
 ├─ InvalidInput      the value is wrong; nothing was done
 │   └─ ConfigError   a setting is unknown or wrong
 ├─ NotFound          no such thing in the caller's scope (also: somebody else's)
 ├─ Denied            policy says no
 ├─ Unauthenticated   we do not know who is asking
 ├─ Conflict          somebody else was first
 ├─ Unavailable       try again later; whether the work was done is said
 └─ Damaged           a store or workspace, or one row of it, cannot be used as it is
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.late import late

with late():
    import difflib

if TYPE_CHECKING:
    from collections.abc import Iterable


class LaminaError(Exception):
    """Something went wrong."""

    default_code = "error"

    def __init__(self, message: str = "", *, code: str = "", hint: str = "", retryable: bool = False) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.code = code or self.default_code
        self.hint = hint  #: what to do next, in the reader's words
        self.retryable = retryable
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidInput(LaminaError):
    """The input cannot be used."""

    default_code = "invalid_input"


class ConfigError(InvalidInput):
    """A setting is unknown or wrong."""

    default_code = "config_invalid"


class NotFound(LaminaError):
    """There is no such memory here."""

    default_code = "not_found"


class Denied(LaminaError):
    """Policy does not allow this."""

    default_code = "denied"


class Unauthenticated(LaminaError):
    """A valid token is needed."""

    default_code = "unauthenticated"


class Conflict(LaminaError):
    """Somebody else changed this first."""

    default_code = "conflict"


class Unavailable(LaminaError):
    """The store is busy or out of reach; try again."""

    default_code = "unavailable"


class Damaged(LaminaError):
    """The store or workspace cannot be used as it is."""

    default_code = "damaged"


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that an unknown one is nearly; empty where there is none."""
    return next(iter(difflib.get_close_matches(name, list(known), 1)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The same as a question; empty where there is none."""
    near = nearest(name, known)
    return f"Did you mean `{near}`?" if near else ""
