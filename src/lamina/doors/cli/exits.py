"""What went wrong, in the words of the command line: one place that knows every exit code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lamina.doors.cli.parse import PROGRAM, Usage
from lamina.errors import (
    Conflict,
    Damaged,
    Denied,
    InvalidInput,
    LaminaError,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from lamina.late import late
from lamina.text.normalise import language_of

with late():
    from lamina.language import acknowledge

if TYPE_CHECKING:
    from lamina.model import Receipt

DONE = 0
FAILED = 1
USAGE = 2
DENIED = 4
INTERRUPTED = 130

#: The nearest class in an error's family decides.
EXIT_CODES: dict[type[LaminaError], int] = {
    LaminaError: FAILED,
    InvalidInput: USAGE,
    NotFound: 3,
    Denied: DENIED,
    Unauthenticated: DENIED,
    Conflict: 5,
    Unavailable: FAILED,
    Damaged: FAILED,
}


class Failure(NamedTuple):
    """Why a command did not do what was asked."""

    code: str
    message: str
    hint: str = ""
    exit_code: int = FAILED
    said: bool = False  #: whether the answer itself says it, in the person's language


def exit_code_of(kind: type[LaminaError]) -> int:
    """The exit code of a class of errors."""
    return next(EXIT_CODES[one] for one in kind.__mro__ if one in EXIT_CODES)


def failure_of(error: Exception) -> Failure:
    """Any error as a failure; what is not ours is named by its kind alone: its text may hold anything."""
    match error:
        case LaminaError():
            return Failure(
                code=error.code, message=error.message, hint=error.hint, exit_code=exit_code_of(type(error))
            )
        case Usage():
            words = " ".join(filter(None, [PROGRAM, error.command]))
            hint = f"`{words} --help` shows what is possible."
            return Failure(code="usage", message=error.message, hint=hint, exit_code=USAGE)
        case OSError(strerror=str(why)):
            if not isinstance(error.filename, str):
                return Failure(code="system", message=f"The system refused: {why}.")
            return Failure(
                code="system",
                message=f"The system could not use {error.filename}: {why}.",
                hint="Check that it is there and that you may use it.",
            )
        case _:
            return Failure(
                code="unexpected",
                message=f"Something unexpected happened ({type(error).__name__}).",
                hint="Please run it again with --debug and report what that shows.",
            )


def refusal_of(receipt: Receipt) -> Failure:
    """A denied receipt as a failure: why, and what to do."""
    why, *rest = receipt.warnings or ("Policy does not allow this.",)
    message, hint = f"{receipt.acknowledgement} {why}".strip(), " ".join(rest)
    language, group = language_of(receipt.acknowledgement), acknowledge.refusal(receipt.code)
    if language != "en" and group != "refused":  # the reasons of checks are in English
        message = acknowledge.acknowledge(group, language, "detailed")
        allow = re.search(r"lamina policy allow (\w+)", hint)
        hint = acknowledge.acknowledge("not_a_secret", language, value=allow[1]) if allow else ""
    return Failure(receipt.code, message, hint, DENIED)
