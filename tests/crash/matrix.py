"""The crash matrix: a day is lived once, and then ended at any of its operations, in any way, over and over.

At every changing operation of the day a picture of the machine is taken. A schedule, told by one number, takes one of
them, tears the operation, cuts the power perhaps, lets the user edit a file, lets the recovery die as well perhaps,
and then looks whether everything is as on a quiet day.
"""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.crash.days import DAYS, Step
from tests.crash.disk import LOST, MOODS, CrashingDiskFs, Disk
from tests.crash.edits import EDITS, FILES, Edit, check_edited, nothing
from tests.crash.stored import Stored, lay_out, stored
from tests.crash.town import SESSIONS, Town, check_state
from tests.crashing import CUTS, Crash, Cut, half, none_of
from tests.machine import uncaptured
from tests.world import body

#: A second crash comes within so many operations of the recovery.
_SECOND: Final = 15


@dataclass(frozen=True)
class Picture:
    """The machine just before one operation."""

    step: int
    stored: Stored
    disk: Disk
    #: What the operation would have written where; None when it is no write.
    write: tuple[Path, int, bytes] | None
    #: How far the logs' writers and the engine's ids were.
    town: dict[str, Any]


@dataclass(frozen=True)
class Truth:
    """What is so after a quiet day that ended with this step."""

    twins: dict[str, list[bytes]]
    #: Session, file and stretches of the recordings.
    periods: dict[tuple[str, str], list[tuple[int, int | None]]]


@dataclass
class Day:
    """One scripted day as lived once."""

    base: Path
    steps: list[Step]
    pictures: list[Picture] = field(default_factory=list)
    _truths: dict[int, Truth] = field(default_factory=dict)

    def truth(self, last: int) -> Truth:
        """What is so when the day ends with step `last` and nothing goes wrong."""
        if last not in self._truths:
            town = Town(self.base.with_name("quiet") / str(last))
            town.begin()
            for step in self.steps[: last + 1]:
                step(town)
                town.poll()
            self._truths[last] = truth_of(ended(town))
        return self._truths[last]


class _Camera(CrashingDiskFs):
    """Takes a picture before every changing operation."""

    def __init__(
        self, disk: Disk, take: Callable[[tuple[Path, int, bytes] | None], None], *, folders: bool, files: bool
    ) -> None:
        super().__init__(disk, folders=folders, files=files)
        self._take = take
        self._write: tuple[Path, int, bytes] | None = None

    def _tick(self) -> bool:
        self._take(self._write)
        return super()._tick()

    def write(self, descriptor: int, data: bytes) -> None:
        self._write = Path(f"/proc/self/fd/{descriptor}").readlink(), os.fstat(descriptor).st_size, bytes(data)
        try:
            super().write(descriptor, data)
        finally:
            self._write = None


def lived(name: str, base: Path, *, folders: bool = True, files: bool = True) -> Day:
    """The day, with a picture of every operation; the machine may ignore the syncs of `folders` or `files`."""
    day = Day(base / "town", DAYS[name])
    town = Town(day.base)
    at = -1

    def take(write: tuple[Path, int, bytes] | None) -> None:
        if at >= 0:
            day.pictures.append(Picture(at, stored(day.base), town.disk.copied(), write, town.saved()))

    fs = _Camera(town.disk, take, folders=folders, files=files)
    town.begin(fs)
    for at, step in enumerate(day.steps):  # noqa: B007 - the camera reads it
        step(town)
        town.poll()
    town.die()
    return day


def _restored(day: Day, picture: Picture) -> Town:
    """The machine as in the picture. Times stay: an unchanged log must not look changed."""
    lay_out(day.base, picture.stored)
    town = Town(day.base)
    town.restore(picture.town)
    town.disk = picture.disk.copied()
    return town


@dataclass(frozen=True)
class Schedule:
    """What happens after which operation; all of it follows from the number."""

    number: int
    point: int
    cut: Cut
    #: The power goes with the process, in this mood.
    power: str | None
    edit: Edit
    file: str
    #: The recovery dies at this operation of its own, and how.
    again: int | None
    again_power: str | None
    dice: random.Random

    @classmethod
    def of(cls, number: int, points: int) -> Schedule:
        dice = random.Random(number)
        return cls(
            number,
            # The points take turns, so that any stretch of numbers covers the day evenly.
            number % points,
            dice.choice(CUTS),
            dice.choice((None, None, *MOODS)),
            dice.choice((nothing, *EDITS)),
            dice.choice(FILES),
            dice.randint(1, _SECOND) if dice.random() < 0.6 else None,
            dice.choice((None, None, *MOODS)),
            dice,
        )

    def __str__(self) -> str:
        parts = [
            f"schedule {self.number}: operation {self.point}, torn {self.cut.__name__}",
            f"{self.edit.__name__} {self.file}",
        ]
        if self.power:
            parts.append(f"power {self.power}")
        if self.again:
            parts.append(f"again at {self.again}" + (f" with power {self.again_power}" if self.again_power else ""))
        return ", ".join(parts)


class Lost(AssertionError):
    """A schedule after which something was not as promised."""


def play(day: Day, schedule: Schedule) -> None:
    """One schedule, and the check."""
    picture = day.pictures[schedule.point]
    town = _restored(day, picture)
    _tear(town, picture, schedule.cut)
    if schedule.power is not None:
        town.disk.cut_power(schedule.power, schedule.dice)
    edited = schedule.edit(town, schedule.file)
    if schedule.again is not None:
        with contextlib.suppress(Crash):
            town.start(CrashingDiskFs(town.disk, schedule.again, half))
            town.poll()
        town.die()
        if schedule.again_power is not None:
            town.disk.cut_power(schedule.again_power, schedule.dice)
    try:
        check_state(ended(town))
        # Whatever was said to be done is on the disk: the power may go now.
        town.disk.cut_power(LOST, schedule.dice)
        compare(day.truth(picture.step), town, edited.path if edited is not None else None)
        if edited is not None:
            check_edited(town, edited)
    except Exception as error:
        raise Lost(f"{schedule} ({type(error).__name__}: {error})") from error


def _tear(town: Town, picture: Picture, cut: Cut) -> None:
    if picture.write is None or cut is none_of:
        return
    path, _, data = picture.write
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    try:
        CrashingDiskFs(town.disk).write(descriptor, data[: cut(len(data))])
    finally:
        os.close(descriptor)


def ended(town: Town) -> Town:
    """The day's last turn, after whatever came before."""
    town.poll()
    for log in town.logs.values():
        log.turn("the last words")
    town.settle_down()
    assert town.engine is not None
    failures = list(town.engine.recorder.failures.values())
    assert not failures, failures
    town.close()
    return town


def truth_of(town: Town) -> Truth:
    return Truth({name: uncaptured(town.twin(name)) for name in SESSIONS}, _periods(town))


def _periods(town: Town) -> dict[tuple[str, str], list[tuple[int, int | None]]]:
    """By session and file: a stopped recording whose file was deleted is started anew as another one."""
    found: dict[tuple[str, str], list[tuple[int, int | None]]] = {}
    for name in SESSIONS:
        for one in town.recordings(name):
            stretches = found.setdefault((name, str(Path(one.destination).relative_to(town.base))), [])
            stretches += [(period.started_cursor, period.stopped_cursor) for period in one.periods]
    return found


def compare(truth: Truth, town: Town, edited: Path | None) -> None:
    """Twins, periods and files are those of the quiet day; what the user edited is looked at by itself."""
    for name in SESSIONS:
        assert uncaptured(town.twin(name)) == truth.twins[name], f"twin of {name}"
    assert _periods(town) == truth.periods, "periods"
    shared: dict[Path, list[bytes]] = {}
    for name in SESSIONS:
        for recording in town.recordings(name):
            path = Path(recording.destination)
            assert recording.pending is None, path
            if path.name == "shared.jsonl":
                shared.setdefault(path, []).append(town.expected(name, recording))
            elif path != edited:
                assert body(path) == town.expected(name, recording), path
    for path, wanted in shared.items():
        lines = path.read_bytes().splitlines(keepends=True)
        assert sorted(lines) == sorted(b"".join(wanted).splitlines(keepends=True)), path
        for own in wanted:
            mine = set(own.splitlines(keepends=True))
            assert b"".join(line for line in lines if line in mine) == own, path


def player(base: Path) -> Callable[[int], None]:
    """Plays schedules by number; the days take turns."""
    days = [lived(name, base / name) for name in sorted(DAYS)]

    def play_number(number: int) -> None:
        day = days[number % len(days)]
        play(day, Schedule.of(number // len(days), len(day.pictures)))

    return play_number
