"""`python -m benchmarks.crash`: the long run of the crash harness. Every failure is told with the line that replays it.

Which kinds there are, what each proves and what it gave last is written down in docs/guarantees.md.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import orjson

from tests.crash import life, matrix, real, stateful, store
from tests.crash.town import small_pieces
from tests.faults import sweep

Play = Callable[[int], None]

#: Sets have another order in every process, unless this is given: the same number would be another schedule.
_ORDER: Final = {"PYTHONHASHSEED": "0"}
#: In seconds: a long run says how far it is.
_EVERY: Final = 600.0


@dataclass(frozen=True)
class Kind:
    """One way of crashing. `prepare` makes, in a folder of its own, what plays schedules by number."""

    about: str
    prepare: Callable[[Path], AbstractContextManager[Play]]
    #: So many make a long run (reliability §5.3).
    bar: int
    #: With batches and chunks as small as can be, which only our own processes can have.
    pieces: bool = True
    #: Why this cannot run here; None when it can.
    missing: Callable[[], str | None] = lambda: None


KINDS: Final[dict[str, Kind]] = {
    "matrix": Kind(
        "a day ended at any operation: torn, power cut, user edit, second crash in the recovery",
        lambda base: nullcontext(matrix.player(base)),
        100_000,
    ),
    "store": Kind(
        "a life of one or two sessions without an engine around them: anything that can happen, in any order",
        lambda base: nullcontext(store.player(base)),
        1_000_000,
    ),
    "simulate": Kind(
        "the same lives of the whole engine and four sessions",
        lambda base: nullcontext(life.player(base)),
        20_000,
    ),
    "stateful": Kind(
        f"the same lives led by Hypothesis, {stateful.EXAMPLES} a schedule",
        lambda base: nullcontext(stateful.player(base)),
        5000 // stateful.EXAMPLES,
    ),
    "faults": Kind(
        "an error of the system at any operation of a day, or at any sync, for a while; a power cut after it",
        lambda base: nullcontext(sweep.player(base)),
        20_000,
    ),
    "syscalls": Kind(
        "the real program killed by strace just before a system call that changes a file",
        lambda base: nullcontext(real.Calls(base).play),
        320,
        pieces=False,
        missing=real.no_strace,
    ),
    "kills": Kind(
        f"the real program killed at any moment under load, {real.LIVES} times a schedule",
        lambda base: nullcontext(real.Kills(base).play),
        2000 // real.LIVES,
        pieces=False,
    ),
    "ext4": Kind(
        f"the power of an ext4 disk cut under the real program, {real.CUTS} times a schedule",
        lambda base: real.power("ext4", base),
        1000 // real.CUTS,
        pieces=False,
        missing=lambda: real.no_power("ext4"),
    ),
    "xfs": Kind(
        f"the same on xfs, {real.CUTS} times a schedule",
        lambda base: real.power("xfs", base),
        500 // real.CUTS,
        pieces=False,
        missing=lambda: real.no_power("xfs"),
    ),
}


@dataclass
class Tally:
    kind: str
    done: int = 0
    bad: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0

    def add(self, other: Tally) -> None:
        self.done += other.done
        self.bad += other.bad
        self.cpu += other.cpu


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    names = list(KINDS) if options.kind == "all" else [options.kind]
    worst = 0
    for name in names:
        reason = KINDS[name].missing()
        if reason is not None:
            print(f"{name}: skipped, {reason}")
            continue
        if options.replay is not None:
            _replay(name, options.replay)
            continue
        tally = _run(name, options)
        share = f"{tally.done} of {options.schedules or KINDS[name].bar}"
        print(
            f"{name}: {share} schedules, {len(tally.bad)} bad, {tally.seconds:.0f} s, {tally.cpu:.0f} s of CPU",
            flush=True,
        )
        if options.json is not None:
            with options.json.open("ab") as file:
                file.write(orjson.dumps(asdict(tally), option=orjson.OPT_APPEND_NEWLINE))
        worst = max(worst, 1 if tally.bad else 0)
    return worst


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash", description=__doc__)
    kinds = "\n".join(f"{name}: {kind.about}" for name, kind in KINDS.items())
    parser.add_argument("kind", choices=[*KINDS, "all"], help=kinds)
    parser.add_argument("--schedules", type=int, metavar="N", help="how many (the bar of the kind)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number to begin with")
    parser.add_argument("--seconds", type=float, metavar="S", help="end after so long, done or not")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes at once")
    parser.add_argument("--replay", type=int, metavar="N", help="this one schedule alone, with its traceback")
    parser.add_argument("--json", type=Path, metavar="FILE", help="add the figures to this file, a line for each kind")
    return parser


def _run(name: str, options: argparse.Namespace) -> Tally:
    total = options.schedules or KINDS[name].bar
    ends = time.monotonic() + options.seconds if options.seconds else None
    began = time.monotonic()
    tally = Tally(name)
    with ProcessPoolExecutor(options.jobs) as pool:
        for part in pool.map(
            _share,
            [name] * options.jobs,
            [range(options.first + worker, options.first + total, options.jobs) for worker in range(options.jobs)],
            [ends] * options.jobs,
        ):
            tally.add(part)
    tally.seconds = time.monotonic() - began
    return tally


def _share(name: str, numbers: range, ends: float | None) -> Tally:
    """One process's share of the numbers."""
    tally = Tally(name)
    began, told = _cpu(), time.monotonic()
    with _Stage(name) as play:
        # What is loaded now stays: no collection needs to look at it again.
        gc.freeze()
        for number in numbers:
            now = time.monotonic()
            if ends is not None and now > ends:
                break
            if now > told + _EVERY:
                told = now
                print(f"{name}: {tally.done} done by this process, {len(tally.bad)} bad", flush=True)
            tally.done += 1
            try:
                play(number)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what we are looking for
                tally.bad.append(f"python -m benchmarks.crash {name} --replay {number}  # {error}")
                print(tally.bad[-1][:1000], flush=True)
    tally.cpu = _cpu() - began
    return tally


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _replay(name: str, number: int) -> None:
    with _Stage(name) as play:
        try:
            play(number)
        except Exception:  # noqa: BLE001 - shown, whatever it is
            traceback.print_exc()
        else:
            print(f"{name} {number}: nothing is wrong")


class _Stage:
    """A folder for one process, and the player in it."""

    def __init__(self, name: str) -> None:
        self._kind = KINDS[name]
        shared = Path("/dev/shm")
        self._folder = Path(tempfile.mkdtemp(prefix=f"kato-crash-{name}-", dir=shared if shared.is_dir() else None))
        self._pieces = small_pieces()

    def __enter__(self) -> Play:
        if self._kind.pieces:
            self._pieces.__enter__()
        self._prepared = self._kind.prepare(self._folder)
        return self._prepared.__enter__()

    def __exit__(self, *_: object) -> None:
        self._prepared.__exit__(None, None, None)
        if self._kind.pieces:
            self._pieces.__exit__(None, None, None)
        shutil.rmtree(self._folder, ignore_errors=True)


if __name__ == "__main__":
    if not _ORDER.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.crash", *sys.argv[1:]], os.environ | _ORDER)
    sys.exit(main())
