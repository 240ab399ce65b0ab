"""A file system that dies at the n-th operation, before it, in the middle of it, or with an error."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kato_tui.core.store.fs import Fs


class Crash(BaseException):
    """The process is gone: no `except Exception` may catch it."""


#: How many bytes of a torn write get through, by its length.
Cut = Callable[[int], int]


def none_of(length: int) -> int:
    return 0


def one_of(length: int) -> int:
    return min(1, length)


def half(length: int) -> int:
    return length // 2


def almost(length: int) -> int:
    return max(0, length - 1)


def all_of(length: int) -> int:
    return length


CUTS: Final[tuple[Cut, ...]] = (none_of, one_of, half, almost, all_of)


class UnsyncedFs(Fs):
    """Leaves out the syncs, which only cost time where no power can be cut."""

    def sync(self, descriptor: int) -> None:
        pass

    def sync_folder(self, folder: Path) -> None:
        pass


class CrashingFs(UnsyncedFs):
    """Counts every changing operation. At number `at` it tears a write by `cut` (or fails) and stops."""

    def __init__(self, at: int | None = None, cut: Cut = none_of, error: int | None = None) -> None:
        self.count = 0
        #: The numbers of the operations that can be torn.
        self.writes: list[int] = []
        self._at = at
        self._cut = cut
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

    def _before(self) -> None:
        if self._tick():
            self._die()

    def open_append(self, path: Path) -> int:
        self._before()
        return super().open_append(path)

    def open_new(self, path: Path) -> int:
        self._before()
        return super().open_new(path)

    def _tick_write(self) -> bool:
        self.writes.append(self.count + 1)
        return self._tick()

    def write(self, descriptor: int, data: bytes) -> None:
        if self._tick_write():
            super().write(descriptor, data[: self._cut(len(data))])
            self._die()
        super().write(descriptor, data)

    def write_at(self, descriptor: int, data: bytes, position: int) -> None:
        if self._tick_write():
            super().write_at(descriptor, data[: self._cut(len(data))], position)
            self._die()
        super().write_at(descriptor, data, position)

    def sync(self, descriptor: int) -> None:
        self._before()
        super().sync(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        self._before()
        super().truncate(descriptor, length)

    def replace(self, source: Path, target: Path) -> None:
        self._before()
        super().replace(source, target)

    def unlink(self, path: Path) -> None:
        self._before()
        super().unlink(path)

    def create_in(self, folder: int, name: str) -> int:
        self._before()
        return super().create_in(folder, name)

    def replace_in(self, folder: int, source: str, target: str) -> None:
        self._before()
        super().replace_in(folder, source, target)

    def unlink_in(self, folder: int, name: str) -> None:
        self._before()
        super().unlink_in(folder, name)

    def sync_folder(self, folder: Path) -> None:
        self._before()
        super().sync_folder(folder)

    def make_folder(self, folder: Path) -> None:
        self._before()
        super().make_folder(folder)

    def make_folder_in(self, folder: int, name: str) -> None:
        self._before()
        super().make_folder_in(folder, name)


class BrokenFs(CrashingFs):
    """A file system on which, for a while, nothing can be written below one folder."""

    def __init__(self) -> None:
        super().__init__()
        self.broken: tuple[Path, int] | None = None

    def _check(self, descriptor: int, name: str = "") -> None:
        if self.broken is None:
            return
        folder, code = self.broken
        if (Path(f"/proc/self/fd/{descriptor}").readlink() / name).is_relative_to(folder):
            raise OSError(code, os.strerror(code))

    def write(self, descriptor: int, data: bytes) -> None:
        if self.broken is not None and self.broken[1] == DISK_FULL:
            try:
                self._check(descriptor)
            except OSError:
                super().write(descriptor, data[: len(data) // 2])
                raise
        self._check(descriptor)
        super().write(descriptor, data)

    def write_at(self, descriptor: int, data: bytes, position: int) -> None:
        self._check(descriptor)
        super().write_at(descriptor, data, position)

    def create_in(self, folder: int, name: str) -> int:
        self._check(folder, name)
        return super().create_in(folder, name)


DISK_FULL = errno.ENOSPC
NOT_ALLOWED = errno.EACCES
IO_ERROR = errno.EIO
