"""What a framework hands over of a conversation: heard once, however often it is handed over."""

from __future__ import annotations

import hashlib

from lamina.scoped import ScopedMemory
from lamina.storage.small_tables import Imports


def hear_once(memory: ScopedMemory, key: str, person: bool, text: str) -> bool:
    """Hear a person's words, or keep the agent's, unless that was done before under this key; whether it was
    done now. A person's commands are obeyed where the caller may carry their words."""
    if not text.strip():
        return False
    user, mark = memory.scope.user, hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:40]
    database = memory.engine.database
    if database.read(lambda tx: Imports(tx, user).known([mark])):
        return False
    (memory.hear if person else memory.answer)(text)
    database.write(lambda tx: Imports(tx, user).add([mark]))
    return True
