"""Lamina as Hermes's memory provider; everything is in `lamina.integrations.hermes`."""

from __future__ import annotations

from typing import Any

import lamina
from lamina.integrations.hermes import LaminaProvider


def register(ctx: Any) -> None:
    """Called by Hermes."""
    ctx.register_memory_provider(LaminaProvider(lamina.open))
