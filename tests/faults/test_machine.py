"""Disks that are really full, limits of the system, folders and files that come and go, and clocks that jump."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kato_tui.core.store.fs import Fs
from tests.crash.conftest import linux_only
from tests.crash.matrix import compare, ended, truth_of
from tests.crash.town import CLAUDE, CODEX, GEMINI, SESSIONS, Town, check_state, tokens
from tests.crashing import BrokenFs

pytestmark = linux_only

A, B = "::start ~/notes/a.md", "::start ~/notes/b.jsonl"


def _begun(base: Path) -> Town:
    """Two sessions of two assistants are recorded, each into a file of its own."""
    town = Town(base)
    town.begin(Fs())
    town.logs[CLAUDE].turn(A)
    town.logs[CODEX].turn(B)
    town.poll()
    return town


def _goes_on(town: Town) -> None:
    for name in SESSIONS:
        town.logs[name].turn("and on")
    town.poll()


def _whole(town: Town) -> None:
    """Everything is as if nothing had ever been wrong."""
    check_state(ended(town))
    quiet = Town(town.base.with_name(f"{town.base.name}-quiet"))
    quiet.begin(Fs())
    for name, log in town.logs.items():
        quiet.logs[name].rewritten(log.records)
    compare(truth_of(ended_as_it_is(quiet)), town, None)


def ended_as_it_is(town: Town) -> Town:
    town.settle_down()
    town.close()
    return town


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EMFILE])
def test_the_recording_that_fails_says_so_the_others_go_on_and_it_heals(memory: Path, code: int) -> None:
    town = _begun(memory / "town")
    town.close()
    broken = BrokenFs()
    town.start(broken)
    broken.broken = town.notes / "a.md", code
    _goes_on(town)
    assert town.engine is not None
    failures = list(town.engine.recorder.failures.values())
    assert [failure.key for failure in failures] == [town.logs[CLAUDE].key]
    assert "a.md" in failures[0].reason
    assert [notice.code for notice in town.engine.notices][-1:] == ["recording-failing"]
    assert tokens((town.notes / "b.jsonl").read_bytes())[-1].startswith(b"token-codex-00006")
    assert all(b"00006" in town.twin(name) or b"00004" in town.twin(name) for name in SESSIONS)
    broken.broken = None
    _whole(town)
    assert "recording-healed" in town.told


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "none", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(disk: Path) -> Path:
    """A file of somebody else's takes all that is left."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as error:
                assert error.errno == errno.ENOSPC
    return ballast


def test_a_disk_of_recordings_that_is_really_full_and_freed_again(memory: Path) -> None:
    with _small_disk(memory / "town"):
        pass
    (memory / "town").rmdir()
    town = Town(memory / "town")
    town.notes.rmdir()
    with _small_disk(town.notes):
        town.begin(Fs())
        town.logs[CLAUDE].turn(A)
        town.logs[CODEX].turn(B, "long " * 500)
        town.poll()
        ballast = _fill(town.notes)
        _goes_on(town)
        town.logs[CLAUDE].turn("more", "long " * 5000)
        town.poll()
        assert town.engine is not None
        assert {failure.code for failure in town.engine.recorder.failures.values()} == {"system"}
        ballast.unlink()
        check_state(ended(town))
        for name, file in ((CLAUDE, "a.md"), (CODEX, "b.jsonl")):
            (recording,) = town.recordings(name)
            assert tokens((town.notes / file).read_bytes()) == tokens(town.expected(name, recording))


def test_a_home_on_a_disk_that_is_really_full_and_freed_again(memory: Path) -> None:
    base = memory / "town"
    with _small_disk(base):
        town = _begun(base)
        ballast = _fill(base)
        town.logs[CLAUDE].path.unlink()
        assert town.engine is not None
        # Neither twins nor metadata nor recordings can be written, and a log is gone: nothing of it may end the engine.
        town.poll()
        town.engine.tick()
        ballast.unlink()
        town.logs[CLAUDE].rewritten(town.logs[CLAUDE].records)
        check_state(ended(town))
        (recording,) = town.recordings(CLAUDE)
        assert tokens((town.notes / "a.md").read_bytes()) == tokens(town.expected(CLAUDE, recording))


def test_files_that_may_not_grow_are_short_writes_and_heal(memory: Path) -> None:
    """RLIMIT_FSIZE: the system takes a part of a write, and then nothing."""
    town = _begun(memory / "town")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for name in (CLAUDE, CODEX):
            town.logs[name].turn("long", "long " * 2000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, before[1]))
        town.poll()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    _whole(town)


def test_the_system_may_take_any_write_in_many_goes(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, pwrite = os.write, os.pwrite
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, at: pwrite(descriptor, data[:7], at))
    town = _begun(memory / "town")
    _goes_on(town)
    _whole(town)


def test_a_folder_of_recordings_that_goes_and_comes_back_is_not_made_by_us(memory: Path) -> None:
    """It may be a disk that is not mounted: nothing is written in its place."""
    town = _begun(memory / "town")
    town.notes.rename(memory / "elsewhere")
    _goes_on(town)
    assert not town.notes.exists()
    (memory / "elsewhere").rename(town.notes)
    _whole(town)


def test_kato_tuis_own_folder_that_is_removed_while_it_runs_stops_nothing_for_good(memory: Path) -> None:
    """What it held is gone, by the user's hand; the logs are read anew, and the recordings' files stay as they are."""
    town = _begun(memory / "town")
    kept = (town.notes / "a.md").read_bytes()
    shutil.rmtree(town.home.sessions)
    _goes_on(town)
    town.die()
    town.start(Fs())
    town.poll()
    town.close()
    assert (town.notes / "a.md").read_bytes() == kept
    for name in SESSIONS:
        found = tokens(town.twin(name))
        assert len(found) == len(set(found)) > 0, name


def test_a_recording_replaced_by_a_link_is_never_followed(memory: Path) -> None:
    town = _begun(memory / "town")
    victim = memory / "victim.md"
    victim.write_bytes(b"not to be touched\n")
    mine = town.notes / "a.md"
    mine.rename(town.notes / "mine.md")
    mine.symlink_to(victim)
    _goes_on(town)
    assert victim.read_bytes() == b"not to be touched\n"
    assert town.engine is not None and town.engine.recorder.failures
    mine.unlink()
    (town.notes / "mine.md").rename(mine)
    _whole(town)


@pytest.mark.parametrize("moment", [datetime(1999, 1, 1, tzinfo=UTC), datetime(2199, 1, 1, tzinfo=UTC)])
def test_a_clock_that_jumps_loses_nothing(memory: Path, moment: datetime) -> None:
    town = _begun(memory / "town")
    before = town.clock.moment
    town.clock.moment = moment
    _goes_on(town)
    town.logs[GEMINI].turn("::start ~/notes/c.md")
    town.poll()
    town.clock.moment = before
    _goes_on(town)
    _whole(town)


def test_a_failing_recording_is_tried_again_soon_after_the_clock_was_set_back(memory: Path) -> None:
    """The time of the next attempt lies years ahead then: it must not be waited for."""
    town = _begun(memory / "town")
    town.close()
    broken = BrokenFs()
    town.start(broken)
    broken.broken = town.notes / "a.md", errno.EACCES
    _goes_on(town)
    assert town.engine is not None and town.engine.recorder.failures
    broken.broken = None
    town.clock.advance(-10 * 365 * 24 * 3600)
    town.clock.advance(3600)
    town.engine.tick()
    assert not town.engine.recorder.failures
