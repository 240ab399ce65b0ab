"""The watcher: hints while it works, a sweep whenever it may have missed something, never silence."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from kato_tui.core.ingest import watch
from kato_tui.core.ingest.watch import Watcher, is_remote


class Scripted:
    """Stands where `watchfiles.watch` is: plays batches, then dies or goes on."""

    def __init__(self) -> None:
        self.batches: queue.Queue[Any] = queue.Queue()
        self.started: queue.Queue[tuple[Path, ...]] = queue.Queue()

    def __call__(self, *roots: Path, stop_event: Any, **_: Any) -> Iterator[set[tuple[int, str]]]:
        self.started.put(roots)
        while not stop_event.is_set():
            try:
                batch = self.batches.get(timeout=0.05)
            except queue.Empty:
                yield set()
                continue
            if isinstance(batch, Exception):
                raise batch
            yield batch


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    made = Scripted()
    monkeypatch.setattr(watchfiles, "watch", made)
    monkeypatch.setattr(watch, "_FIRST_WAIT", 0.01)
    monkeypatch.setattr(watch, "_LOOK_AGAIN", 0.05)
    return made


class Woken:
    def __init__(self, *roots: Path) -> None:
        self._calls: queue.Queue[None] = queue.Queue()
        self.watcher = Watcher(list(roots), lambda: self._calls.put(None), watch.library_events)
        self.watcher.start()

    def take(self) -> tuple[set[Path], bool]:
        self._calls.get(timeout=5)
        return self.watcher.take()


@pytest.fixture
def woken(tmp_path: Path, scripted: Scripted) -> Iterator[Woken]:
    made = Woken(tmp_path, tmp_path / "later")
    assert scripted.started.get(timeout=5) == (tmp_path,)
    assert made.take() == (set(), True), "what came before the watch stood is for a sweep"
    yield made
    made.watcher.stop()


def test_changes_are_hints(woken: Woken, scripted: Scripted, tmp_path: Path) -> None:
    scripted.batches.put({(1, str(tmp_path / "a")), (2, str(tmp_path / "b"))})
    assert woken.take() == ({tmp_path / "a", tmp_path / "b"}, False)
    assert woken.watcher.mode == "events"


def test_a_watch_that_dies_is_said_swept_after_and_begun_again(woken: Woken, scripted: Scripted) -> None:
    scripted.batches.put(OSError("no more watches"))
    assert woken.take() == (set(), True)
    assert scripted.started.get(timeout=5)
    assert woken.take() == (set(), True)
    assert woken.watcher.mode == "events"


def test_a_root_that_comes_is_watched(woken: Woken, scripted: Scripted, tmp_path: Path) -> None:
    (tmp_path / "later").mkdir()
    assert scripted.started.get(timeout=5) == (tmp_path, tmp_path / "later")
    assert woken.take() == (set(), True)


def test_too_many_hints_become_one_sweep(
    woken: Woken, scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_MAX_HINTS", 3)
    scripted.batches.put({(1, str(tmp_path / str(number))) for number in range(4)})
    assert woken.take() == (set(), True)


@pytest.mark.parametrize(("path", "remote"), [("/home/me/.claude", False), ("/net/x/logs", True), ("/net", True)])
def test_network_file_systems_are_known(tmp_path: Path, path: str, remote: bool) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        "22 21 0:40 / /net rw,relatime shared:2 - nfs4 server:/x rw\n"
    )
    assert is_remote(Path(path), mounts) is remote
