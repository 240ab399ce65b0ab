"""Whose turn it is to be read in the engine's thread. Knows sessions by their keys only, and no files.

A session in which nothing happened for a while is read at once. One that goes on and on is read in larger pieces: each
reading is followed by a rest, so that a fast talker costs a small part of a core and not a sync for every word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

#: A rest is so many times as long as the reading before it: on a slow disk both are longer.
_REST: Final = 10.0
#: In seconds: nobody waits longer for the next words.
_LONGEST_REST: Final = 0.5


class Turns:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        #: In the order of their turns.
        self._waiting: dict[str, None] = {}
        #: Sessions that want a turn and had one just now, and from when on they wait again.
        self._resting: dict[str, float] = {}
        #: Sessions that had a turn just now, and how long their rest lasts.
        self._had: dict[str, float] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._waiting or key in self._resting

    def ask(self, key: str) -> None:
        """There is something to read: behind all others that wait, after a rest where it was read just now."""
        until = self._had.get(key, 0.0)
        if until > self._now():
            self._resting[key] = until
        else:
            self.again(key)

    def again(self, key: str) -> None:
        """There is more to read: behind all others that wait."""
        self._waiting[key] = None

    def next(self) -> str | None:
        """Whose turn it is; None while nobody waits."""
        self._wake()
        key = next(iter(self._waiting), None)
        if key is not None:
            del self._waiting[key]
        return key

    def ended(self, key: str, took: float) -> None:
        """The session was read to its end, which took so many seconds."""
        now = self._now()
        self._had = {one: until for one, until in self._had.items() if until > now}
        self._had[key] = now + min(_REST * took, _LONGEST_REST)

    @property
    def any_waits(self) -> bool:
        self._wake()
        return bool(self._waiting)

    def deadlines(self) -> Iterable[float]:
        """When rests end."""
        return self._resting.values()

    def _wake(self) -> None:
        if self._resting:
            now = self._now()
            for key in [one for one, until in self._resting.items() if until <= now]:
                del self._resting[key]
                self.again(key)
