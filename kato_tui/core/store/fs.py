"""The few file operations that change kato-tui's own state, in one place that tests can replace.

A crash harness stands in for `Fs` to stop the world before, in the middle of and after each of these calls.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


class Fs:
    """The real file system."""

    def open_append(self, path: Path) -> int:
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | _NOFOLLOW, FILE_MODE)

    def open_new(self, path: Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | _NOFOLLOW, FILE_MODE)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of `data`: the system may take it in several goes."""
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def write_at(self, descriptor: int, data: bytes, position: int) -> None:
        """Write all of `data` at `position`. The descriptor must not be in append mode, where Linux ignores it."""
        view = memoryview(data)
        while view:
            done = os.pwrite(descriptor, view, position)
            view, position = view[done:], position + done

    def sync(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        os.ftruncate(descriptor, length)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        os.replace(source, target)  # noqa: PTH105 - as a method it takes the target apart anew, at every write

    def unlink(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    # The same inside an open folder, for places that somebody else could swap meanwhile.

    def create_in(self, folder: int, name: str) -> int:
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | _NOFOLLOW, FILE_MODE, dir_fd=folder)

    def replace_in(self, folder: int, source: str, target: str) -> None:
        os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder)

    def unlink_in(self, folder: int, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)

    def sync_folder(self, folder: Path) -> None:
        """Make a rename or a new name durable; without it a power cut may undo them."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def make_folder(self, folder: Path) -> None:
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)

    def make_folder_in(self, folder: int, name: str) -> None:
        os.mkdir(name, FOLDER_MODE, dir_fd=folder)


def overwrite(fs: Fs, descriptor: int, data: bytes, position: int) -> None:
    """Write over what stands at `position`, with a descriptor that was opened for appending."""
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & ~os.O_APPEND)
    fs.write_at(descriptor, data, position)


def make_folders(fs: Fs, folder: Path) -> None:
    """`folder` with its parents, private to the user; what is saved in it must not go with it in a power cut."""
    missing = list(itertools.takewhile(lambda one: not one.exists(), (folder, *folder.parents)))
    for one in reversed(missing):
        fs.make_folder(one)
        fs.sync_folder(one.parent)
    # Also when it was there: whoever made it may have died before this.
    fs.sync_folder(folder.parent)


_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
