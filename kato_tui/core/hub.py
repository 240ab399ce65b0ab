"""What readers see of a running engine: a small locked board, pulled at the reader's own pace. Holds no history."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")

_EVENTS: Final = 2000
_NOTICES: Final = 500


@dataclass(frozen=True, slots=True)
class Delta:
    """All that is new since a version that the reader names; `dropped` events came and went before it asked.

    `dirty` are the keys of the sessions that changed: what they are like now, the reader asks for itself.
    """

    version: int
    events: tuple[dict[str, Any], ...]
    dropped: int
    dirty: tuple[str, ...]
    notices: tuple[dict[str, Any], ...]
    progress: dict[str, Any]
    closed: bool

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Delta:
        """A delta as it came over the socket."""
        return cls(
            version=found["version"],
            events=tuple(found["events"]),
            dropped=found["dropped"],
            dirty=tuple(found["dirty"]),
            notices=tuple(found["notices"]),
            progress=found["progress"],
            closed=found["closed"],
        )


class Hub:
    """Every `put…` raises the version by one. What was put stays until newer things push it out; nobody waits for a
    reader, and a reader that was away for long is told that it missed something."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._version = 0
        self._events: deque[tuple[int, dict[str, Any]]] = deque(maxlen=_EVENTS)
        self._notices: deque[tuple[int, dict[str, Any]]] = deque(maxlen=_NOTICES)
        self._dirty: dict[str, int] = {}
        #: Versions at which events were lost before any reader could have them.
        self._lost: deque[tuple[int, int]] = deque(maxlen=_NOTICES)
        self._progress: dict[str, Any] = {"done": 0, "total": 0, "bytes": 0}
        self._closed = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """Readers see all at once what is put in this context: woken by half of a step they would wait for the rest."""
        with self._changed:
            yield

    def put_events(self, events: list[dict[str, Any]], lost: int = 0) -> None:
        with self._changed:
            self._version += 1
            lost += max(0, len(self._events) + len(events) - _EVENTS)
            self._events.extend((self._version, event) for event in events)
            if lost:
                self._lost.append((self._version, lost))
            self._changed.notify_all()

    def put_notice(self, notice: dict[str, Any]) -> None:
        with self._changed:
            self._version += 1
            self._notices.append((self._version, {"id": self._version, **notice}))
            self._changed.notify_all()

    def put_dirty(self, key: str) -> None:
        with self._changed:
            self._version += 1
            # To the end: the newest are found without a look at all the others.
            self._dirty.pop(key, None)
            self._dirty[key] = self._version
            self._changed.notify_all()

    def put_progress(self, done: int, total: int, size: int) -> None:
        with self._changed:
            self._version += 1
            self._progress = {"done": done, "total": total, "bytes": size}
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._version += 1
            self._closed = True
            self._changed.notify_all()

    def changes(self, since: int = 0, timeout: float | None = 0) -> Delta:
        """What is new since that version; waits up to `timeout` seconds for something to be."""
        with self._changed:
            self._changed.wait_for(lambda: self._version > since or self._closed, timeout)
            return Delta(
                version=self._version,
                events=_newer(reversed(self._events), since),
                dropped=sum(count for version, count in self._lost if version > since),
                dirty=_newer(((version, key) for key, version in reversed(self._dirty.items())), since),
                notices=_newer(reversed(self._notices), since),
                progress=self._progress,
                closed=self._closed,
            )


def _newer(backwards: Iterable[tuple[int, T]], since: int) -> tuple[T, ...]:
    """What came after a version, in the order of its coming; costs as much as that is."""
    found = [one for _, one in itertools.takewhile(lambda item: item[0] > since, backwards)]
    found.reverse()
    return tuple(found)
