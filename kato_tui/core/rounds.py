"""How often the service looks at what. Where the system tells of changes, these looks only find what it missed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

from kato_tui.core.ingest.discover import is_folder
from kato_tui.core.model.status import Watching

#: Work that time brings; logs that changed lately; the folders of all logs; all logs; and everything listed anew.
Look = Literal["tick", "hot", "folders", "all", "list"]

_EVERY: Final[dict[Look, dict[Watching, float]]] = {
    "tick": {"events": 1.0, "polling": 1.0, "none": 1.0},
    "hot": {"events": 1.0, "polling": 1.0, "none": 1.0},
    "folders": {"events": 10.0, "polling": 1.0, "none": 1.0},
    "all": {"events": 60.0, "polling": 60.0, "none": 60.0},
    "list": {"events": 600.0, "polling": 60.0, "none": 60.0},
}
#: A larger look finds whatever these would.
_INCLUDES: Final[dict[Look, tuple[Look, ...]]] = {"list": ("all", "folders"), "all": ("folders",)}
#: What is written into a new folder before its own watch stands is told by nobody: it is looked at once more then.
_SECOND_LOOK: Final = 0.5
#: The wall clock may leave the steady one by this much before it counts as a jump: a suspended machine, a new time.
_JUMP: Final = 5.0


class Rounds:
    def __init__(self, now: Callable[[], float], wall: Callable[[], float] = time.time) -> None:
        self._now = now
        self._wall = wall
        self._due: dict[Look, float] = dict.fromkeys(_EVERY, 0.0)
        self._second: list[tuple[float, Path]] = []
        self._drift = wall() - now()

    def deadlines(self) -> Iterator[float]:
        """When the next look of each sort is due."""
        yield from self._due.values()
        yield from (at for at, _ in self._second)

    def take(self, look: Look, watching: Watching) -> bool:
        """Whether the look is due; then its next time is set."""
        if self._now() < self._due[look]:
            return False
        self._due[look] = self._now() + _EVERY[look][watching]
        return True

    def looked(self, look: Look, watching: Watching) -> None:
        """A look has just ended, however long it took: it is put off from now on, and so is what it includes."""
        for one in (look, *_INCLUDES.get(look, ())):
            self._due[one] = self._now() + _EVERY[one][watching]

    def hasten(self, look: Look) -> None:
        """Something may have been missed: the look is due at once."""
        self._due[look] = 0.0

    def second_looks(self, hints: Iterable[Path]) -> set[Path]:
        """Note the folders among `hints`, to be looked at once more a moment later; gives those whose moment came."""
        now = self._now()
        self._second += [(now + _SECOND_LOOK, path) for path in hints if is_folder(path)]
        come = {path for at, path in self._second if at <= now}
        self._second = [(at, path) for at, path in self._second if at > now]
        return come

    def jumped(self) -> bool:
        """Whether the machine slept, or got a new time, since this was last asked: hints may have been lost."""
        before, self._drift = self._drift, self._wall() - self._now()
        return abs(self._drift - before) > _JUMP
