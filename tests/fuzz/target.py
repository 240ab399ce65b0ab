"""What is fuzzed: a target makes the n-th input of a seed and says whether the code under test keeps its promises.

An input is found again by three words: target, seed, number. Nothing else takes part, so a long run of days ago can be
replayed one input at a time.
"""

from __future__ import annotations

import contextlib
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import FrameType


class Hang(BaseException):
    """One input took longer than any input may: no handler of the code under test may catch it."""


class Target(ABC):
    """One parser, reader or door. `base` is a folder of its own for what it needs on disk."""

    name: str
    #: How many inputs of a long run are this target's, compared with the others.
    weight = 1

    def __init__(self, base: Path) -> None:
        self.base = base

    @abstractmethod
    def make(self, rng: Random) -> bytes:
        """An input."""

    @abstractmethod
    def check(self, data: bytes, rng: Random) -> None:
        """Feed it, and assert every promise. May raise nothing for any input."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Let go of threads and sockets."""

    def run(self, seed: int, number: int, seconds: float = 1.0) -> None:
        """The one input, made and checked, in at most so many seconds of processor time."""
        rng = Random(f"{seed}:{self.name}:{number}")
        data = self.make(rng)
        with limited(seconds):
            self.check(data, rng)


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """`Hang` after so much processor time: a machine with other work to do must not look like a hang."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hang(f"more than {seconds} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
