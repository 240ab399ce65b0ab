"""One engine per home: an advisory lock that dies with its process.

The lock file is never deleted: unlinking a lock lets two processes hold "the" lock on two different inodes.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Final

from kato_tui.core.errors import HomeBusy
from kato_tui.core.store.fs import FILE_MODE

#: How long workers of a dead engine may need to notice, and how often to look.
_ORPHANS: Final = 10.0
_AGAIN: Final = 0.05


class EngineLock:
    """Held from `acquire` to `release`, or to the death of the process. The pid inside is for people only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
        try:
            self._lock(descriptor)
        except OSError as error:
            owner = _owner(descriptor)
            os.close(descriptor)
            who = f"process {owner}" if owner.isdigit() else "another process"
            raise HomeBusy(
                f"{self._path.parent.parent} is in use by {who}: `kato-tui` and `kato-tui status` talk to it. "
                "Stop it first, or set KATO_HOME to another folder."
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def _lock(self, descriptor: int) -> None:
        """A holder that was killed may leave a worker behind, which notices within a batch: wait for that one."""
        deadline = time.monotonic() + _ORPHANS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if _alive(_owner(descriptor)) or time.monotonic() > deadline:
                    raise
                time.sleep(_AGAIN)
            else:
                return

    @property
    def descriptor(self) -> int:
        """For processes that work for the holder: while one of them has it open, the lock stays taken."""
        assert self._descriptor is not None
        return self._descriptor

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


def _owner(descriptor: int) -> str:
    return os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()


def _alive(owner: str) -> bool:
    try:
        os.kill(int(owner), 0)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:
        return True
    return True
