"""OpenTelemetry spans with the names of the GenAI conventions for memory, for a host that uses OpenTelemetry.

Whoever wants spans has loaded the API already; nobody else pays for it, not even for the import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lamina.errors import LaminaError
from lamina.model import Scope

Note = Callable[[str, Any], None]


@contextmanager
def span(operation: str, scope: Scope, content: Mapping[str, str] | None = None) -> Iterator[Note]:
    """A span around one operation on the memory; `content` is what was said, for those who ask for it."""
    api: Any = sys.modules.get("opentelemetry.trace")
    if api is None:
        yield lambda _, __: None
        return
    known = {
        "gen_ai.operation.name": operation,
        "gen_ai.memory.store.id": scope.tenant,
        "gen_ai.agent.id": scope.agent,
        "gen_ai.conversation.id": scope.session,
        **(content or {}),
    }
    with api.get_tracer("lamina").start_as_current_span(
        operation,
        kind=api.SpanKind.INTERNAL,
        attributes={name: value for name, value in known.items() if value is not None},
        record_exception=False,  # a message may repeat what somebody said
        set_status_on_exception=False,
    ) as current:
        try:
            yield current.set_attribute
        except LaminaError as error:
            current.set_attribute("error.type", error.code)
            current.set_status(api.StatusCode.ERROR)
            raise
