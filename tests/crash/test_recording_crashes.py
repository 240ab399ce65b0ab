"""A crash at any operation, then a restart: every event is in the twin once and in each recording once."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from kato_tui.core.errors import HomeUnusable
from kato_tui.core.ingest import reader
from kato_tui.core.record import recorder
from tests.crashing import CUTS, DISK_FULL, IO_ERROR, Crash, CrashingFs, Cut, half
from tests.world import World, body

#: What the user says, turn by turn: two recordings of one session, a stop, a capture, a resumed recording, and a
#: second session that writes into the same file.
DAY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("talk", ("before anything", "go\n::start ~/notes/a.md\nand on", "one")),
    ("talk", ("two\n::record ~/notes/b.jsonl", "three " * 40)),
    ("other", ("hello\n::start ~/notes/b.jsonl", "hi")),
    ("talk", ("four\n::stop dest:~/notes/a.md\nunseen", "yes", "yes")),
    ("other", ("more",)),
    ("talk", ("::capture ~/notes/c.md\n::start ~/notes/a.md", "five", "::stop\nsix")),
    ("other", ("bye\n::stop",)),
)
FILES = ("a.md", "b.jsonl", "c.md")


def _live(world: World, turns: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
    for session, texts in turns:
        world.talk(*texts, session=session)
        world.poll()
        world.engine.tick()


def _first_sight(base: Path) -> World:
    """Both sessions are known, so that everything from here on is live."""
    world = World(base)
    world.talk("old")
    world.talk("old", session="other")
    world.start()
    world.poll()
    world.engine.close()
    return world


def _day(base: Path, fs: CrashingFs | None) -> World:
    world = _first_sight(base)
    # An engine whose first operations fail says that its home cannot be used.
    with contextlib.suppress(Crash, OSError, HomeUnusable):
        world.start(fs)
        _live(world, DAY)
        world.engine.close()
    return world


def _after(world: World) -> None:
    """The machine is up again: whatever was not said yet is said now, and the engine runs to the end."""
    world.die()
    for session in ("talk", "other"):
        (world.toys / f"{session}.jsonl").unlink()
        world.talk("old", session=session)
    for session, texts in DAY:
        world.talk(*texts, session=session)
    world.start()
    world.poll()
    world.clock.advance(3600)
    world.engine.tick()
    world.engine.close()


def _check(world: World, at: int) -> None:
    for session in ("talk", "other"):
        assert [event["seq"] for event in world.events(session)] == list(range(1, len(world.events(session)) + 1))
        for recording in world.recordings(session):
            name = Path(recording.destination).name
            assert recording.pending is None, f"crash at {at}: {name}"
            if name != "b.jsonl":
                assert body(Path(recording.destination)) == world.expected(recording, session), f"crash at {at}: {name}"
    _check_shared(world, at)


def _check_shared(world: World, at: int) -> None:
    """Two sessions in one file: whole lines, each session's own in order."""
    lines = (world.notes / "b.jsonl").read_bytes().splitlines(keepends=True)
    wanted = []
    for session in ("talk", "other"):
        recording = next(one for one in world.recordings(session) if one.destination.endswith("b.jsonl"))
        mine = world.expected(recording, session).splitlines(keepends=True)
        key = f'"providerSessionId":"{session}"'.encode()
        assert [line for line in lines if key in line] == mine, f"crash at {at}"
        wanted += mine
    assert sorted(lines) == sorted(wanted), f"crash at {at}"


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "CHUNK", 200)
    monkeypatch.setattr(recorder, "_CHUNK", 60)
    monkeypatch.setattr(recorder, "_MAX_INLINE", 200)


def _crash_everywhere(tmp_path: Path, cut: Cut, error: int | None, share: int, shares: int) -> None:
    reference = _day(tmp_path / "reference", None)
    _check(reference, 0)
    periods = {name: _periods(reference, name) for name in FILES}
    counting = CrashingFs()
    _day(tmp_path / "counting", counting)
    assert counting.count > 100
    every = range(1, counting.count + 1)
    for at in every if os.environ.get("KATO_LONG") else every[share::shares]:
        world = _day(tmp_path / f"{at}", CrashingFs(at, cut, error))
        _after(world)
        _check(world, at)
        assert {name: _periods(world, name) for name in FILES} == periods, f"crash at {at}"


def _periods(world: World, name: str) -> list[tuple[int, int | None]]:
    return [
        (period.started_cursor, period.stopped_cursor)
        for session in ("talk", "other")
        for recording in world.recordings(session)
        if recording.destination.endswith(f"/{name}")
        for period in recording.periods
    ]


#: Each case takes its share of the operations, and together they take all of them: `KATO_LONG=1` has each take all.
ERRORS = (DISK_FULL, IO_ERROR)


@pytest.mark.parametrize("cut", CUTS)
def test_a_kill_at_any_operation_leaves_every_event_in_each_recording_once(tmp_path: Path, cut: Cut) -> None:
    _crash_everywhere(tmp_path, cut, None, CUTS.index(cut), len(CUTS))


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_at_any_operation_heals(tmp_path: Path, error: int) -> None:
    _crash_everywhere(tmp_path, half, error, ERRORS.index(error), 2 * len(ERRORS))
