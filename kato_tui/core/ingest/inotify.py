"""The kernel's own file events on Linux: nothing is done while nothing changes, and no name of a file is too odd.

Libraries for this look at a queue of theirs every few milliseconds, which costs more than the rest of an idle engine.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Final, Protocol

_MODIFY: Final = 0x2
_MOVED_FROM: Final = 0x40
_MOVED_TO: Final = 0x80
_CREATE: Final = 0x100
_DELETE: Final = 0x200
_OVERFLOW: Final = 0x4000
_IGNORED: Final = 0x8000
_ONLY_FOLDERS: Final = 0x1000000
_IS_FOLDER: Final = 0x40000000
_MASK: Final = _MODIFY | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _ONLY_FOLDERS

_HEAD: Final = struct.Struct("iIII")
_BUFFER: Final = 1 << 16
#: A folder that went or cannot be entered is the sweeps' matter; everything else ends the watch.
_PASSED_OVER: Final = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG)


class Stop(Protocol):
    """Ends a watch; its file becomes readable then, so that nobody has to look."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> bool: ...

    def fileno(self) -> int: ...


def is_available() -> bool:
    """Whether this system has these calls at all."""
    return sys.platform == "linux" and hasattr(ctypes.CDLL(None), "inotify_init1")


def events(roots: list[Path], stop: Stop, *, look_again: float, pace: float) -> Generator[set[Path] | None, None, None]:
    """The paths that changed below `roots`, an empty set every `look_again` seconds in which nothing did.

    None means that changes may have been missed: at first, for what happened before the watch stood, and when the
    kernel's queue was too short. After a quiet spell a change is told at once, and then every `pace` seconds.
    """
    kernel = _Inotify()
    try:
        for root in roots:
            kernel.add(str(root), follow=True)
        yield None
        poll = select.poll()
        poll.register(kernel.descriptor, select.POLLIN)
        poll.register(stop.fileno(), select.POLLIN | select.POLLHUP)
        while not stop.is_set():
            changed = kernel.read() if poll.poll(look_again * 1000) else set()
            yield changed
            if changed != set():
                stop.wait(pace)
    finally:
        kernel.close()


class _Inotify:
    """One watch for each folder: the kernel has none for trees."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self.descriptor < 0:
            raise _error("inotify")
        self._folders: dict[int, str] = {}

    def close(self) -> None:
        os.close(self.descriptor)

    def add(self, top: str, *, follow: bool = False) -> set[Path]:
        """Watch a folder and those in it; gives what lies in them. Links are followed only right below a root."""
        found: set[Path] = set()
        folders = [top]
        while folders:
            folder = folders.pop()
            # The watch first: what is made while the folder is listed is then told twice, not never.
            if not self._add_one(folder):
                continue
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        found.add(Path(entry.path))
                        if entry.is_dir(follow_symlinks=follow and folder == top):
                            folders.append(entry.path)
            except OSError:
                continue
        return found

    def _add_one(self, folder: str) -> bool:
        """False for what is watched already, which keeps its first name, and for what cannot be."""
        watch = self._libc.inotify_add_watch(self.descriptor, os.fsencode(folder), _MASK)
        if watch < 0:
            if ctypes.get_errno() in _PASSED_OVER:
                return False
            raise _error(folder)
        return self._folders.setdefault(watch, folder) is folder

    def read(self) -> set[Path] | None:
        """What the kernel has to tell by now; None when that was too much for its queue."""
        changed: set[Path] = set()
        lost = False
        while data := self._take():
            place = 0
            while place < len(data):
                watch, mask, _, length = _HEAD.unpack_from(data, place)
                place += _HEAD.size + length
                name = data[place - length : place].rstrip(b"\0")
                lost = lost or bool(mask & _OVERFLOW)
                changed |= self._told(watch, mask, name)
        return None if lost else changed

    def _take(self) -> bytes:
        try:
            return os.read(self.descriptor, _BUFFER)
        except BlockingIOError:
            return b""

    def _told(self, watch: int, mask: int, name: bytes) -> set[Path]:
        folder = self._folders.get(watch)
        if folder is None:
            return set()
        if mask & _IGNORED:
            del self._folders[watch]
            return set()
        path = os.path.join(folder, os.fsdecode(name)) if name else folder  # noqa: PTH118 - one of many in a burst
        changed = {Path(path)}
        if mask & _IS_FOLDER:
            if mask & (_MOVED_FROM | _DELETE):
                self._forget(path)
            if mask & (_MOVED_TO | _CREATE):
                # What was put into it before its watch stood is told by nobody else.
                changed |= self.add(path)
        return changed

    def _forget(self, top: str) -> None:
        """A folder that moved away takes its watches along, under a name that is no longer true."""
        for watch, folder in list(self._folders.items()):
            if folder == top or folder.startswith(f"{top}{os.sep}"):
                del self._folders[watch]
                self._libc.inotify_rm_watch(self.descriptor, watch)


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), what)
