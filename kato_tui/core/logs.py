"""Operational and audit logs: JSON lines about what kato-tui did, rotated, never with conversation text (spec §2)."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, Final

import orjson

from kato_tui.core.clock import Clock, stamp
from kato_tui.core.store.fs import FILE_MODE

_MAX_BYTES: Final = 4 << 20
_KEPT: Final = 3


class JsonLog:
    """One log file. Losing a line is bearable, stopping the engine for it is not: failures are only counted."""

    def __init__(self, path: Path, clock: Clock, max_bytes: int = _MAX_BYTES, kept: int = _KEPT) -> None:
        self._path = path
        self._clock = clock
        self._max_bytes = max_bytes
        self._kept = kept
        self.failures = 0

    def write(self, event: str, **fields: Any) -> None:
        line = orjson.dumps(
            {"at": stamp(self._clock.now()), "event": event, **fields}, default=str, option=orjson.OPT_APPEND_NEWLINE
        )
        try:
            self._append(line)
        except OSError:
            self.failures += 1

    def _append(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self._path, flags, FILE_MODE)
        try:
            os.write(descriptor, line)
            full = os.fstat(descriptor).st_size >= self._max_bytes
        finally:
            os.close(descriptor)
        if full:
            self._rotate()

    def _rotate(self) -> None:
        for number in range(self._kept - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                self._numbered(number).replace(self._numbered(number + 1))
        self._path.replace(self._numbered(1))

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")
