"""Sessions whose logs changed lately: those are looked at more often than the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

#: What changed lately: within so many seconds, and not more logs than these.
_FOR: Final = 600.0
_MOST: Final = 200


class Hot:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._since: dict[str, float] = {}

    def changed(self, key: str, mtime_ns: int) -> None:
        """A log that changed lately may do so again. One that is old was only read late."""
        if time.time() - mtime_ns / 1e9 > _FOR:
            return
        self._since.pop(key, None)
        self._since[key] = self._now()
        if len(self._since) > _MOST:
            del self._since[next(iter(self._since))]

    def keys(self) -> list[str]:
        now = self._now()
        self._since = {key: at for key, at in self._since.items() if now - at < _FOR}
        return list(self._since)
