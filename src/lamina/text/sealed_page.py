"""A page that ends with a seal over its text, by which it is known whether a person has changed it since."""

from __future__ import annotations

from hashlib import sha256

_SEAL = "<!-- lamina: "


def sealed(text: str) -> str:
    """The page with its seal."""
    return f"{text}{_SEAL}{sha256(text.encode()).hexdigest()[:16]} -->\n"


def unsealed(data: bytes) -> str | None:
    """The text of a page that is exactly as it was sealed; None where somebody changed it."""
    text = data.decode(errors="replace")
    body = text.rpartition(_SEAL)[0]
    return body if text == sealed(body) else None
