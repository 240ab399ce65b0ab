"""Hints that logs changed, from the system's file events. Never the truth: the stat sweeps of the service are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

_MAX_HINTS: Final = 10_000
_FIRST_WAIT: Final = 0.5
#: How often the roots themselves are looked at: whether they came, went or were made anew.
_LOOK_AGAIN: Final = 1.0
_LAST_WAIT: Final = 30.0
_REMOTE: Final = ("nfs", "cifs", "smb", "9p", "fuse", "drvfs", "vboxsf")


class Watcher:
    """A thread that puts changed paths into a bounded set. When it fails it says so by `mode`, and tries again."""

    def __init__(self, roots: list[Path], wake: Callable[[], None]) -> None:
        self._roots = roots
        self._wake = wake
        self._guard = threading.Lock()
        self._hints: set[Path] = set()
        self._everything = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kato-watch", daemon=True)
        self.mode: Literal["events", "polling"] = "polling"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(1)

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

    def _watch(self) -> None:
        """Until a root comes, goes or is made anew: its watch would be blind."""
        import watchfiles  # the engine without a service needs none

        seen = self._inodes()
        existing = [root for root in self._roots if root.is_dir()]
        if not existing:
            self._stop.wait(_LOOK_AGAIN)
            return
        batches = watchfiles.watch(
            *existing,
            watch_filter=None,
            debounce=100,
            step=20,
            stop_event=self._stop,
            rust_timeout=int(_LOOK_AGAIN * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=False,
        )
        # The first one comes when the watch stands: what happened before it did is for a sweep to find.
        everything = True
        for batch in batches:
            self.mode = "events"
            if everything:
                self._put(set(), everything=True)
                everything = False
            if batch:
                self._put({Path(path) for _, path in batch})
            if self._inodes() != seen:
                return

    def _inodes(self) -> list[int]:
        return [root.stat().st_ino if root.is_dir() else 0 for root in self._roots]

    def _put(self, paths: set[Path], *, everything: bool = False) -> None:
        with self._guard:
            self._hints |= paths
            if everything or len(self._hints) > _MAX_HINTS:
                self._hints, self._everything = set(), True
        self._wake()


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
