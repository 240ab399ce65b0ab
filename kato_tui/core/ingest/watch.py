"""Hints that logs changed, from the system's file events. Never the truth: the stat sweeps of the service are."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final, Literal

from kato_tui.core.ingest import inotify

_MAX_HINTS: Final = 10_000
_FIRST_WAIT: Final = 0.5
#: How often the roots themselves are looked at: whether they came, went or were made anew.
_LOOK_AGAIN: Final = 1.0
#: Between two batches of hints: a log written to a thousand times a second is not read a thousand times.
_PACE: Final = 0.03
_LAST_WAIT: Final = 30.0
_REMOTE: Final = ("nfs", "cifs", "smb", "9p", "fuse", "drvfs", "vboxsf")


Changes = Generator[set[Path] | None, None, None]


class _Stop(threading.Event):
    """An event that can be waited for together with files: its own one ends when it is set."""

    def __init__(self) -> None:
        super().__init__()
        self._readable, self._held = os.pipe()

    def set(self) -> None:
        if not self.is_set():
            super().set()
            os.close(self._held)

    def fileno(self) -> int:
        return self._readable

    def close(self) -> None:
        self.set()
        os.close(self._readable)


def system_events(roots: list[Path], stop: _Stop) -> Changes:
    """The paths that change below `roots`, as this system tells them; None when some may have been missed."""
    if inotify.is_available():
        return inotify.events(roots, stop, look_again=_LOOK_AGAIN, pace=_PACE)
    return library_events(roots, stop)


def library_events(roots: list[Path], stop: _Stop) -> Changes:
    import watchfiles  # not needed where the kernel is asked directly

    batches = watchfiles.watch(
        *roots,
        watch_filter=None,
        debounce=100,
        step=20,
        stop_event=stop,
        rust_timeout=int(_LOOK_AGAIN * 1000),
        yield_on_timeout=True,
        raise_interrupt=False,
        force_polling=False,
    )
    for number, batch in enumerate(batches):
        if number == 0:
            # It comes when the watch stands: what happened before it did is for a sweep to find.
            yield None
        yield {Path(path) for _, path in batch}


class Watcher:
    """A thread that puts changed paths into a bounded set. When it fails it says so by `mode`, and tries again."""

    def __init__(
        self,
        roots: list[Path],
        wake: Callable[[], None],
        source: Callable[[list[Path], _Stop], Changes] = system_events,
    ) -> None:
        self._roots = roots
        self._wake = wake
        self._source = source
        self._guard = threading.Lock()
        self._hints: set[Path] = set()
        self._everything = False
        self._stop = _Stop()
        self._thread = threading.Thread(target=self._run, name="kato-watch", daemon=True)
        self.mode: Literal["events", "polling"] = "polling"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(1)
        else:
            self._stop.close()

    def take(self) -> tuple[set[Path], bool]:
        """The hints since the last call, and whether everything has to be looked at instead."""
        with self._guard:
            hints, everything = self._hints, self._everything
            self._hints, self._everything = set(), False
        return hints, everything

    def _run(self) -> None:
        wait = _FIRST_WAIT
        while not self._stop.is_set():
            try:
                self._watch()
                wait = _FIRST_WAIT
            except Exception:  # noqa: BLE001 - names, limits and permissions all end a watch; the sweeps go on
                self.mode = "polling"
                self._put(set(), everything=True)
                self._stop.wait(wait)
                wait = min(wait * 2, _LAST_WAIT)
        self._stop.close()

    def _watch(self) -> None:
        """Until a root comes, goes or is made anew: its watch would be blind."""
        seen = self._inodes()
        existing = [root for root in self._roots if _inode(root)]
        if not existing:
            self._stop.wait(_LOOK_AGAIN)
            return
        with contextlib.closing(self._source(existing, self._stop)) as batches:
            for batch in batches:
                self.mode = "events"
                if batch is None:
                    self._put(set(), everything=True)
                elif batch:
                    self._put(batch)
                if self._inodes() != seen:
                    return

    def _inodes(self) -> list[int]:
        return [_inode(root) for root in self._roots]

    def _put(self, paths: set[Path], *, everything: bool = False) -> None:
        with self._guard:
            self._hints |= paths
            if everything or len(self._hints) > _MAX_HINTS:
                self._hints, self._everything = set(), True
        self._wake()


def _inode(folder: Path) -> int:
    """What tells a folder from another of its name; 0 for none, also where a folder above it is closed."""
    try:
        found = folder.stat()
    except OSError:
        return 0
    return found.st_ino if stat.S_ISDIR(found.st_mode) else 0


def is_remote(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> bool:
    """Whether `path` lies on a file system that tells nobody about changes made elsewhere."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    best, kind = "", ""
    for line in lines:
        fields, _, rest = line.partition(" - ")
        point = fields.split(" ")[4].replace("\\040", " ")
        if path.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, rest.split(" ")[0]
    return kind.startswith(_REMOTE)
