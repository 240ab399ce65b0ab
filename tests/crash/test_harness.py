"""The harness must be able to fail: with each of these wrongs in the code or in the machine it has to report a loss."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kato_tui.core.ingest.batch import SessionIngest
from kato_tui.core.record.recorder import Recorder
from kato_tui.core.store.fs import Fs
from tests.crash.conftest import linux_only
from tests.crash.disk import LOST, Disk, DiskFs
from tests.crash.edits import nothing
from tests.crash.matrix import Day, Lost, Schedule, lived, play
from tests.crash.town import Town

pytestmark = [linux_only, pytest.mark.usefixtures("pieces")]


def _cuts(day: Day) -> Iterator[Schedule]:
    """Power cuts that take everything unsynced, at every few operations; nothing else happens."""
    for point in range(0, len(day.pictures), 5):
        plain = Schedule.of(point, len(day.pictures))
        yield _only(plain, power=LOST)


def _kills(day: Day) -> Iterator[Schedule]:
    for point in range(len(day.pictures)):
        yield _only(Schedule.of(point, len(day.pictures)), power=None)


def _only(schedule: Schedule, **more: Any) -> Schedule:
    return replace(schedule, edit=nothing, again=None, **more)


def _is_noticed(day: Day, schedules: Iterator[Schedule]) -> bool:
    for schedule in schedules:
        try:
            play(day, schedule)
        except Lost:
            return True
    return False


def test_a_machine_that_does_not_sync_folders_loses_something(memory: Path) -> None:
    day = lived("work", memory, folders=False)
    assert _is_noticed(day, _cuts(day))


def test_a_machine_that_does_not_sync_files_loses_something(memory: Path) -> None:
    day = lived("work", memory, files=False)
    assert _is_noticed(day, _cuts(day))


def _cursor_before_twin(self: SessionIngest) -> bool:
    assert self._fold is not None and self._sink is not None
    records = self._fold.advance(None)
    if records is None:
        return self._end_pass()
    self._save()
    self._sink.write(records, None)
    return True


def no_intent(self: Recorder, key: str, recording_id: str, pending: Any, chunk: bytes) -> None:
    """Nothing is written down before the append."""


def _no_redo(self: Recorder, key: str) -> None:
    """What a crash left unfinished is left so, and taken for done."""
    metadata = self._store.load(key)
    for one in metadata.recordings if metadata is not None else ():
        if one.pending is not None:
            fields = {"pending": None, "write_cursor": one.pending.to_seq, "render_state": one.pending.render_state}
            self._update(key, one.recording_id, fields)


WRONGS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "the cursor is saved before the twin": (SessionIngest, "_batch", _cursor_before_twin),
    "an append is not written down before": (Recorder, "_put_pending", no_intent),
    "an unfinished append is taken for done": (Recorder, "settle", _no_redo),
}


@pytest.mark.parametrize("wrong", sorted(WRONGS))
def test_a_wrong_order_is_noticed(memory: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    where, name, instead = WRONGS[wrong]
    monkeypatch.setattr(where, name, instead)
    day = lived("work", memory)
    monkeypatch.undo()
    if name == "settle":
        monkeypatch.setattr(where, name, instead)
    assert _is_noticed(day, _kills(day))


def test_what_was_not_synced_is_gone_and_what_was_is_not(memory: Path) -> None:
    """The model itself: contents and names are two things."""
    disk = Disk()
    fs: Fs = DiskFs(disk)
    for name in ("synced", "unnamed", "unsynced"):
        descriptor = fs.open_new(memory / name)
        fs.write(descriptor, b"all")
        if name != "unsynced":
            fs.sync(descriptor)
        fs.close(descriptor)
        if name == "synced":
            fs.sync_folder(memory)
    fs.replace(memory / "unnamed", memory / "synced")
    descriptor = fs.open_append(memory / "synced")
    fs.write(descriptor, b" and more")
    fs.close(descriptor)
    disk.cut_power(LOST, random.Random(0))
    assert {path.name: path.read_bytes() for path in memory.iterdir()} == {"synced": b"all"}


def test_a_town_is_quiet_when_nothing_happens(memory: Path) -> None:
    town = Town(memory)
    town.begin()
    town.close()
    before = {path: path.read_bytes() for path in town.home.sessions.iterdir()}
    town.start()
    town.poll()
    town.close()
    assert {path: path.read_bytes() for path in town.home.sessions.iterdir()} == before
