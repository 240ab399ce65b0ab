"""What the pens of the three assistants share: a clock, a source of chance, and records made into bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson

from benchmarks.words import Words, ident

Record = dict[str, Any]

_BEGUN: Final = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)


class Pen:
    """Writes one session. `turns` gives its records without end; whoever asks stops at the wanted size."""

    def __init__(self, session: str, seed: int, words: Words) -> None:
        self.session = session
        self.rng = random.Random(seed)
        self.words = words
        self._now = _BEGUN + timedelta(minutes=7 * (seed % 20_000))
        self._cwd = f"/home/dev/projects/app-{seed % 40}"

    def at(self) -> str:
        """The next time: some seconds after the last one."""
        self._now += timedelta(milliseconds=self.rng.randint(200, 9000))
        return self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def new_id(self) -> str:
        return ident(self.rng)

    def turns(self) -> Iterator[list[Record]]:
        raise NotImplementedError

    def lines(self, size: int) -> Iterator[bytes]:
        """About `size` bytes of log, whole turns."""
        written = 0
        for turn in self.turns():
            block = b"".join(orjson.dumps(record) + b"\n" for record in turn)
            yield block
            written += len(block)
            if written >= size:
                return
