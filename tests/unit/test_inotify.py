"""The kernel's file events: told at once, under names that are true, and never missed without a word."""

from __future__ import annotations

import os
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kato_tui.core.ingest import inotify
from kato_tui.core.ingest.watch import Watcher

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux")

OVERFLOW = struct.pack("iIII", -1, 0x4000, 0, 0)


class Seen:
    """A watcher on a root, and what it has told so far."""

    def __init__(self, root: Path) -> None:
        self._told = threading.Condition()
        self.paths: set[Path] = set()
        self.sweeps = 0
        self.watcher = Watcher([root], self._take)
        self.watcher.start()
        self.until(lambda: self.sweeps == 1)

    def _take(self) -> None:
        with self._told:
            hints, everything = self.watcher.take()
            self.paths |= hints
            self.sweeps += everything
            self._told.notify_all()

    def until(self, condition: Callable[[], bool]) -> None:
        with self._told:
            assert self._told.wait_for(condition, 10), self.paths

    def is_told(self, *paths: Path) -> None:
        self.until(lambda: self.paths.issuperset(paths))


@pytest.fixture
def seen(tmp_path: Path) -> Iterator[Seen]:
    (tmp_path / "project").mkdir()
    made = Seen(tmp_path)
    yield made
    made.watcher.stop()


def test_what_is_made_written_moved_and_removed_is_told(seen: Seen, tmp_path: Path) -> None:
    log, moved = tmp_path / "project" / "a.jsonl", tmp_path / "project" / "b.jsonl"
    log.write_bytes(b"one\n")
    seen.is_told(log)
    seen.paths.clear()
    with log.open("ab") as file:
        file.write(b"two\n")
    seen.is_told(log)
    log.rename(moved)
    seen.is_told(moved)
    seen.paths.clear()
    moved.unlink()
    seen.is_told(moved)
    assert seen.watcher.mode == "events" and seen.sweeps == 1


def test_files_in_a_folder_made_just_before_are_told(seen: Seen, tmp_path: Path) -> None:
    for number in range(50):
        deep = tmp_path / f"new-{number}" / "session" / "subagents"
        deep.mkdir(parents=True)
        (deep / "agent.jsonl").write_bytes(b"x\n")
    seen.is_told(*(tmp_path / f"new-{number}" / "session" / "subagents" / "agent.jsonl" for number in range(50)))


def test_a_folder_that_was_moved_is_told_by_its_new_name(seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "project").rename(tmp_path / "renamed")
    seen.is_told(tmp_path / "renamed")
    (tmp_path / "renamed" / "a.jsonl").write_bytes(b"x")
    seen.is_told(tmp_path / "renamed" / "a.jsonl")
    assert tmp_path / "project" / "a.jsonl" not in seen.paths


def test_a_name_that_is_no_text_ends_nothing(seen: Seen, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff\xfe.jsonl")
    odd.write_bytes(b"x")
    seen.is_told(odd)


def test_a_link_back_to_the_root_is_no_endless_way(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    seen = Seen(tmp_path)
    (tmp_path / "a.jsonl").write_bytes(b"x")
    seen.is_told(tmp_path / "a.jsonl")
    seen.watcher.stop()


def test_a_queue_that_was_too_short_has_everything_looked_at(
    seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = inotify._Inotify._take
    lost = [OVERFLOW]
    monkeypatch.setattr(inotify._Inotify, "_take", lambda kernel: lost.pop() if lost else real(kernel))
    (tmp_path / "a.jsonl").write_bytes(b"x")
    seen.until(lambda: seen.sweeps == 2)
    assert seen.watcher.mode == "events"


def test_no_more_watches_is_an_error_with_the_folder_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = inotify._Inotify()
    monkeypatch.setattr(inotify, "_PASSED_OVER", ())
    with pytest.raises(FileNotFoundError, match="gone"):
        kernel.add(str(tmp_path / "gone"))
    kernel.close()


def test_stopping_waits_for_no_timer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kato_tui.core.ingest.watch._LOOK_AGAIN", 3600.0)
    seen = Seen(tmp_path)
    seen.watcher.stop()
    seen.watcher._thread.join(10)
    assert not seen.watcher._thread.is_alive()
