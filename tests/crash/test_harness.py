"""The harness must be able to fail: with each of these wrongs in the code or in the machine it has to report a loss."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from kato_tui.core.ingest.batch import SessionIngest
from kato_tui.core.ingest.fold import Fold
from kato_tui.core.model.session import IngestCursor
from kato_tui.core.providers.base import Draft
from kato_tui.core.record.recorder import Recorder
from kato_tui.core.store.fs import Fs
from tests.crash import store
from tests.crash.conftest import linux_only
from tests.crash.disk import LOST, Disk, DiskFs
from tests.crash.edits import nothing
from tests.crash.matrix import Day, Lost, Schedule, lived, play
from tests.crash.town import Town

pytestmark = [linux_only, pytest.mark.usefixtures("pieces")]

#: Lives, of which one meets the moment in which something wrong does harm.
_ENOUGH: Final = 3000


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


_batch = SessionIngest._batch


def _cursor_before_twin(self: SessionIngest) -> bool:
    """What was read counts as taken before the twin has it; all else is as it should be."""
    fold = self._fold
    assert fold is not None

    def advance(until: IngestCursor | None = None) -> list[list[Draft]] | None:
        records = Fold.advance(fold, until)
        if records is not None:
            self._commit(self._fold_marks(fold))
        return records

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "advance", advance)
        return _batch(self)


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


def _files_unsynced(self: DiskFs, descriptor: int) -> None:
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        self.disk.synced(descriptor)


def _folders_unsynced(self: Disk, folder: Path) -> None:
    """The names stay as uncertain as they are."""


@pytest.mark.parametrize(
    ("where", "name", "instead"),
    [
        *(pytest.param(*wrong, id=why) for why, wrong in sorted(WRONGS.items())),
        pytest.param(DiskFs, "sync", _files_unsynced, id="files are not synced"),
        pytest.param(Disk, "synced_folder", _folders_unsynced, id="folders are not synced"),
    ],
)
def test_what_is_wrong_is_noticed_without_an_engine(
    memory: Path, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, instead: Callable[..., Any]
) -> None:
    stage = store.Stage(memory / "town")
    monkeypatch.setattr(where, name, instead)
    with pytest.raises(Lost):
        for seed in range(_ENOUGH):
            stage.play(seed)


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
