"""Recordings that do not go on: why, since when, and when each is tried again. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from kato_tui.core.clock import Clock, stamp

_FIRST_RETRY: Final = timedelta(seconds=1)
_LAST_RETRY: Final = timedelta(minutes=1)
#: Doublings after which the wait has long been the longest.
_MOST_DOUBLINGS: Final = 10


@dataclass(frozen=True, slots=True)
class Failure:
    """One recording of the session `key`."""

    key: str
    code: str
    reason: str
    since: str
    attempts: int
    tried_at: datetime
    retry_at: datetime

    def rests(self, now: datetime) -> bool:
        """Whether the next attempt is still to be waited for; a clock that was set back is not waited for."""
        return self.tried_at <= now < self.retry_at


class Failures(Mapping[str, Failure]):
    """By recording id. Each further failure of one doubles the wait for its next attempt."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: dict[str, Failure] = {}

    def __getitem__(self, recording_id: str) -> Failure:
        return self._failures[recording_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._failures)

    def __len__(self) -> int:
        return len(self._failures)

    def put(self, key: str, recording_id: str, code: str, reason: str) -> bool:
        """It failed, perhaps again; whether that, or the reason for it, is news."""
        before = self._failures.get(recording_id)
        now = self._clock.now()
        attempts = before.attempts + 1 if before is not None else 1
        wait = min(_FIRST_RETRY * 2 ** min(attempts - 1, _MOST_DOUBLINGS), _LAST_RETRY)
        since = before.since if before is not None else stamp(now)
        self._failures[recording_id] = Failure(key, code, reason, since, attempts, now, now + wait)
        return before is None or before.reason != reason

    def clear(self, recording_id: str) -> bool:
        """It goes on; whether it had failed."""
        return self._failures.pop(recording_id, None) is not None

    def rests(self, recording_id: str) -> bool:
        """Whether it failed a moment ago and is left alone until its next attempt."""
        failure = self._failures.get(recording_id)
        return failure is not None and failure.rests(self._clock.now())

    def due(self) -> set[str]:
        """The keys of the sessions with a recording that is to be tried again now."""
        now = self._clock.now()
        return {failure.key for failure in self._failures.values() if not failure.rests(now)}
