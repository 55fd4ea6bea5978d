"""When a server looks at the documents again: soon after a change was noticed, and every so often anyway."""

from __future__ import annotations


class Pace:
    """A look is due when nothing changed for `debounce_s` after a change, and `interval_s` after the last."""

    def __init__(self, debounce_s: float, interval_s: float, now: float) -> None:
        self._debounce_s = debounce_s
        self._interval_s = interval_s
        self._looked_at = now
        self._changed_at: float | None = None

    def notice(self, now: float) -> None:
        """Somebody says that a file changed, right or wrong."""
        self._changed_at = now

    def is_due(self, now: float) -> bool:
        """Whether to look now; if so, the next look is counted from here."""
        settled = self._changed_at is not None and now - self._changed_at >= self._debounce_s
        if not settled and now - self._looked_at < self._interval_s:
            return False
        self._looked_at, self._changed_at = now, None
        return True
