"""A day on which the system refuses something: the n-th operation, or all from there on for a while.

Nothing may escape from the engine, others go on meanwhile, and once the fault is over everything is as on a quiet
day; also when the power goes afterwards, and what a failed sync left behind turns out not to be on the disk.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kato_tui.core.errors import KatoError
from tests.crash.days import DAYS
from tests.crash.disk import LOST, MOODS, CrashingDiskFs, Disk
from tests.crash.matrix import Lost, Truth, compare, ended, truth_of
from tests.crash.stored import lay_out, stored
from tests.crash.town import GEMINI, Town, check_state
from tests.crashing import half

ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EMFILE, errno.EINTR)
#: So many operations fail.
_SPANS: Final = (1, 1, 3, 40)


class FailingFs(CrashingDiskFs):
    """Refuses operations `at` to `at + span`; `only_syncs` counts these alone."""

    def __init__(
        self, disk: Disk, at: int = 0, span: int = 0, error: int = errno.EIO, *, only_syncs: bool = False
    ) -> None:
        super().__init__(disk, at, half, error)
        self._span = span
        self._only_syncs = only_syncs
        self._syncing = False

    def mend(self) -> None:
        self._span = 0

    def _tick(self) -> bool:
        if self._only_syncs and not self._syncing:
            return False
        self.count += 1
        return self._at is not None and self._at <= self.count < self._at + self._span

    def sync(self, descriptor: int) -> None:
        self._syncing = True
        try:
            super().sync(descriptor)
        except OSError:
            self.disk.not_synced(descriptor)
            raise
        finally:
            self._syncing = False

    def sync_folder(self, folder: Path) -> None:
        self._syncing = True
        try:
            super().sync_folder(folder)
        finally:
            self._syncing = False


def _log_gone(town: Town) -> None:
    town.logs[GEMINI].path.unlink()


def _log_back(town: Town) -> None:
    log = town.logs[GEMINI]
    log.rewritten(log.records)


_DAY: Final = [*DAYS["work"][:3], _log_gone, *DAYS["changes"][3:5], _log_back, DAYS["work"][3]]


@dataclass(frozen=True)
class Fault:
    at: int
    span: int
    error: int
    only_syncs: bool
    #: After the fault the power goes, in this mood.
    power: str | None

    def __str__(self) -> str:
        what = "syncs" if self.only_syncs else "operations"
        after = f", then power {self.power}" if self.power else ""
        return f"{errno.errorcode[self.error]} at {what} {self.at} to {self.at + self.span - 1}{after}"


class Sweep:
    def __init__(self, base: Path) -> None:
        self._base = base / "town"
        begun = Town(self._base)
        begun.begin()
        begun.close()
        self._saved = begun.saved()
        self._begun = stored(self._base)
        self.truth, self.operations = self._quiet(only_syncs=False)
        self.syncs = self._quiet(only_syncs=True)[1]

    def _quiet(self, *, only_syncs: bool) -> tuple[Truth, int]:
        town = self._town()
        fs = FailingFs(town.disk, only_syncs=only_syncs)
        town.start(fs)
        self._live(town)
        count = fs.count
        return truth_of(ended(town)), count

    def _town(self) -> Town:
        """All sessions are known: what is said from now on is live."""
        lay_out(self._base, self._begun)
        town = Town(self._base)
        town.restore(self._saved)
        return town

    def _live(self, town: Town) -> None:
        for step in _DAY:
            step(town)
            # A step that closed the engine has it started again.
            town.poll()
            town.clock.advance(100)
            assert town.engine is not None
            town.engine.tick()

    def fault(self, number: int) -> Fault:
        """Every operation, and every sync by itself, with every error; then again with longer spans."""
        dice = random.Random(number)
        whole = self.operations + self.syncs
        point, turn = number % whole, number // whole
        error = ERRORS[(point + turn) % len(ERRORS)]
        power = dice.choice((None, *MOODS))
        span = _SPANS[turn // len(ERRORS) % len(_SPANS)] if turn else dice.choice(_SPANS)
        if point < self.operations:
            return Fault(point + 1, span, error, only_syncs=False, power=power)
        return Fault(point - self.operations + 1, span, errno.EIO, only_syncs=True, power=power)

    def play(self, number: int) -> None:
        fault = self.fault(number)
        town = self._town()
        try:
            self._suffer(town, fault)
            if fault.power is not None:
                town.die()
                town.disk.cut_power(fault.power, random.Random(number))
            check_state(ended(town))
            town.disk.cut_power(LOST, random.Random(number))
            compare(self.truth, town, None)
        except Exception as error:
            raise Lost(f"fault {number}: {fault} ({type(error).__name__}: {error})") from error

    def _suffer(self, town: Town, fault: Fault) -> None:
        fs = FailingFs(town.disk, fault.at, fault.span, fault.error, only_syncs=fault.only_syncs)
        # A program that cannot even start says so and ends; its user tries again.
        _insisting(lambda: town.start(fs), town)
        for step in _DAY:
            step(town)
            _insisting(town.poll, town)
            town.clock.advance(100)
            assert town.engine is not None
            town.engine.tick()
        fs.mend()
        # What waits is done by the same process, if it is not ended by the power.
        town.settle_down()


def _insisting(work: Callable[[], None], town: Town) -> None:
    for _ in range(60):
        try:
            work()
        except KatoError:
            fs = town.fs
            town.die()
            town.fs = fs
            work = town.poll
        else:
            return
    raise AssertionError("it never starts")


def player(base: Path) -> Callable[[int], None]:
    return Sweep(base).play
