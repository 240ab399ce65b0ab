"""A file system that dies at the n-th operation, before it, in the middle of it, or with an error."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from kato_tui.core.store.fs import Fs


class Crash(BaseException):
    """The process is gone: no `except Exception` may catch it."""


class CrashingFs(Fs):
    """Counts every changing operation. At number `at` it tears a write after `tear` bytes (or fails) and stops."""

    def __init__(self, at: int | None = None, tear: float = 0.0, error: int | None = None) -> None:
        self.count = 0
        self._at = at
        self._tear = tear
        self._error = error
        self._dead = False

    def _tick(self) -> bool:
        """True when this operation is the fatal one."""
        if self._dead:
            raise Crash
        self.count += 1
        return self.count == self._at

    def _die(self) -> None:
        if self._error is not None:
            raise OSError(self._error, os.strerror(self._error))
        self._dead = True
        raise Crash

    def open_append(self, path: Path) -> int:
        if self._tick():
            self._die()
        return super().open_append(path)

    def open_new(self, path: Path) -> int:
        if self._tick():
            self._die()
        return super().open_new(path)

    def write(self, descriptor: int, data: bytes) -> None:
        if self._tick():
            super().write(descriptor, data[: int(len(data) * self._tear)])
            self._die()
        super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        if self._tick():
            self._die()
        super().sync(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        if self._tick():
            self._die()
        super().truncate(descriptor, length)

    def replace(self, source: Path, target: Path) -> None:
        if self._tick():
            self._die()
        super().replace(source, target)

    def unlink(self, path: Path) -> None:
        if self._tick():
            self._die()
        super().unlink(path)

    def sync_folder(self, folder: Path) -> None:
        if self._tick():
            self._die()
        super().sync_folder(folder)


DISK_FULL = errno.ENOSPC
IO_ERROR = errno.EIO
