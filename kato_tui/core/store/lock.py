"""One engine per home: an advisory lock that dies with its process.

The lock file is never deleted: unlinking a lock lets two processes hold "the" lock on two different inodes.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType

from kato_tui.core.errors import HomeBusy
from kato_tui.core.store.fs import FILE_MODE


class EngineLock:
    """Held from `acquire` to `release`, or to the death of the process. The pid inside is for people only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            who = f"process {owner}" if owner.isdigit() else "another process"
            raise HomeBusy(
                f"{self._path.parent.parent} is in use by {who}. Stop it first, or set KATO_HOME to another folder."
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> EngineLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
