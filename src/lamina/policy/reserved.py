"""The keys that are an administrator's: what they say is the system's word, and nobody else may say it."""

from __future__ import annotations

from functools import lru_cache

from lamina.language.secrets.views import plain

#: The first part of such a key; `policy` alone, without anything below it, is a key like any other.
RESERVED = ("policy", "system", "identity", "security", "agent", "tool")

#: Digits that are drawn like a dot and are letters of a key otherwise.
_DOTS = str.maketrans("\u0660\u06f0\ua4f8", "...")
_DRAWN_ALIKE = str.maketrans("01i", "oll")


@lru_cache(maxsize=4096)  # the same few keys are asked of at every reading
def is_reserved(key: str | None) -> bool:
    """Whether a canonical key is below a reserved name, in letters that are it or only look like it."""
    first, dot, _ = (key or "").translate(_DOTS).lstrip("_.-").partition(".")
    return bool(dot) and _drawn(first) in _NAMES


def _drawn(name: str) -> str:
    """What a name looks like, one text for all letters and pairs of them that are drawn alike."""
    seen = plain(name.replace("_", "").replace("-", "")).text.casefold()
    return seen.replace("rn", "m").translate(_DRAWN_ALIKE)


_NAMES = frozenset(map(_drawn, RESERVED))
