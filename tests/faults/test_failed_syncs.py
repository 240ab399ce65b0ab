"""A sync that fails and cannot be taken back: what is visible counts as clean then, and is not on the disk."""

from __future__ import annotations

import errno
import random
from pathlib import Path

import pytest

from kato_tui.core.model.events import USER_MESSAGE
from kato_tui.core.providers.base import Draft
from kato_tui.core.record import appender
from kato_tui.core.record.policy import Allowed, WritePolicy, WriteRefused
from kato_tui.core.store.twin import LineEncoder, Twin
from tests.crash.conftest import linux_only
from tests.crash.disk import LOST, Disk, DiskFs
from tests.faults.sweep import FailingFs

pytestmark = linux_only

#: The first sync fails, and so does taking back what was written.
_SYNC_AND_TRUNCATE = 2


def _twin(disk: Disk, path: Path, fs: DiskFs | None = None) -> Twin:
    session = {"provider": "toy", "providerSessionId": "x", "sessionId": "0" * 8}
    return Twin(fs or DiskFs(disk), path, LineEncoder(session, "byte-offset"))


def test_a_twin_whose_sync_failed_is_written_anew_before_it_is_trusted(memory: Path) -> None:
    disk, path = Disk(), memory / "x.twin.jsonl"
    drafts = [Draft(USER_MESSAGE, {"text": "hello"}, "say", None, cursor=0, emit_index=0)]
    with pytest.raises(OSError):
        _twin(disk, path, FailingFs(disk, 3, _SYNC_AND_TRUNCATE, errno.EIO)).append(drafts)
    visible = path.read_bytes()
    again = _twin(disk, path)
    assert again.recover() == 1
    disk.cut_power(LOST, random.Random(0))
    assert path.read_bytes() == visible


def test_a_recording_whose_sync_failed_is_written_anew_before_it_is_done(memory: Path) -> None:
    disk, path = Disk(), memory / "a.md"
    path.write_bytes(b"before\n")
    allowed = WritePolicy((memory,), memory / "recordings").check(path)
    assert isinstance(allowed, Allowed)
    spot = appender.spot(allowed)
    with pytest.raises(OSError):
        appender.append(FailingFs(disk, 2, _SYNC_AND_TRUNCATE, errno.EIO), allowed, b"after\n")
    assert path.read_bytes() == b"before\nafter\n"
    appender.settle(DiskFs(disk), allowed, spot.base, spot.anchor, b"after\n")
    disk.cut_power(LOST, random.Random(0))
    assert path.read_bytes() == b"before\nafter\n"


def test_a_sync_that_fails_alone_takes_its_bytes_back(memory: Path) -> None:
    disk, path = Disk(), memory / "a.md"
    path.write_bytes(b"before\n")
    allowed = WritePolicy((memory,), memory / "recordings").check(path)
    assert isinstance(allowed, Allowed)
    with pytest.raises(OSError):
        appender.append(FailingFs(disk, 2, 1, errno.EIO), allowed, b"after\n")
    assert path.read_bytes() == b"before\n"


def test_a_new_file_whose_folder_was_not_synced_is_made_durable_before_it_is_done(memory: Path) -> None:
    disk, path = Disk(), memory / "a.md"
    allowed = WritePolicy((memory,), memory / "recordings").check(path)
    assert isinstance(allowed, Allowed)
    with pytest.raises(WriteRefused):
        appender.create(FailingFs(disk, 2, 1, errno.EIO), allowed, folders=False)
    appender.append(DiskFs(disk), allowed, b"all\n")
    appender.settle(DiskFs(disk), allowed, 0, b"", b"all\n")
    disk.cut_power(LOST, random.Random(0))
    assert path.read_bytes() == b"all\n"
