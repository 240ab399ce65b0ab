"""`python -m benchmarks.fuzz`: a million hostile inputs, found again by target, seed and number.

The work is cut into pieces, each in a process of its own: what one input breaks, or how much memory it takes, is seen
there and stops nothing else. `tests/fuzz` says what is promised for every input.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.fuzz.target import Hang
from tests.fuzz.targets import TARGETS, WEIGHTS

#: Inputs of one piece of a target of weight 1.
_PIECE: Final = 500
#: A process of the fuzzer may not grow beyond this: inputs are small, so nothing they cause may be large.
_MEMORY: Final = 512 << 20
#: Each kind of failure is told so many times.
_TOLD: Final = 5


@dataclass(frozen=True, slots=True)
class Piece:
    target: str
    seed: int
    first: int
    count: int
    seconds: float


@dataclass(slots=True)
class Found:
    """What became of a piece."""

    piece: Piece
    done: int = 0
    slowest: float = 0.0
    memory: int = 0
    failures: list[tuple[int, str]] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    unknown = sorted(set(options.target or ()) - TARGETS.keys())
    if unknown:
        print(f"no target {', '.join(unknown)}; there are: {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    names = options.target or list(TARGETS)
    if options.only is not None:
        return _replay(names, options.seed, options.only, options.seconds)
    return _run(list(_pieces(names, options)), options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="how many in all, shared out by weight")
    parser.add_argument("--first", type=int, default=0, help="number of the first input, to go on where a run ended")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor time an input may take")
    parser.add_argument("--target", nargs="+", metavar="NAME", help=f"one or more of {', '.join(TARGETS)}")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this one input, in this process")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--for", dest="minutes", type=float, help="stop handing out pieces after so many minutes")
    return parser


def _pieces(names: list[str], options: argparse.Namespace) -> Iterator[Piece]:
    """All targets in turn, so that a run that is cut short has looked at each of them."""
    shares = {name: options.inputs * WEIGHTS[name] // _weight(names) for name in names}
    at = dict.fromkeys(names, 0)
    while any(at[name] < shares[name] for name in names):
        for name in names:
            count = min(_PIECE * WEIGHTS[name], shares[name] - at[name])
            if count > 0:
                yield Piece(name, options.seed, options.first + at[name], count, options.seconds)
                at[name] += count


def _weight(names: list[str]) -> int:
    return sum(WEIGHTS[name] for name in names)


def _replay(names: list[str], seed: int, number: int, seconds: float) -> int:
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            target = TARGETS[name](Path(folder))
            try:
                target.run(seed, number, seconds)
            finally:
                target.close()
        print(f"{name} {number}: every promise kept")
    return 0


def _run(pieces: list[Piece], options: argparse.Namespace) -> int:
    begun = time.monotonic()
    done: Counter[str] = Counter()
    slowest: dict[str, float] = {}
    memory = failures = 0
    until = None if options.minutes is None else begun + options.minutes * 60
    for found in _work(pieces, options.workers, until):
        name = found.piece.target
        done[name] += found.done
        slowest[name] = max(slowest.get(name, 0.0), found.slowest)
        memory = max(memory, found.memory)
        failures += len(found.failures)
        for number, what in found.failures[:_TOLD]:
            print(f"FAILED python -m benchmarks.fuzz --target {name} --seed {options.seed} --only {number}\n{what}")
        sys.stdout.flush()
    for name, count in done.items():
        print(f"{name:<16} {count:>9,} inputs, slowest {slowest[name] * 1000:6.0f} ms of processor time")
    wall = time.monotonic() - begun
    print(f"{'all':<16} {done.total():>9,} inputs in {wall:,.0f} s, {failures} failures, at most {memory >> 20} MB")
    return 1 if failures or memory > _MEMORY else 0


def _work(pieces: list[Piece], workers: int, until: float | None) -> Iterator[Found]:
    """A fresh process for each piece, so that its memory is its own."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context, max_tasks_per_child=16) as pool:
        waiting: set[concurrent.futures.Future[Found]] = set()
        for piece in pieces:
            if until is not None and time.monotonic() > until:
                break
            waiting.add(pool.submit(fuzz, piece))
            while len(waiting) > workers:
                ready, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                yield from (one.result() for one in ready)
        yield from (one.result() for one in concurrent.futures.as_completed(waiting))


def fuzz(piece: Piece) -> Found:
    """One piece. A failure is written down and the next input is tried, with a target made anew."""
    found = Found(piece)
    with tempfile.TemporaryDirectory(prefix="kato-fuzz-") as folder:
        made = 0
        target = TARGETS[piece.target](Path(folder))
        for number in range(piece.first, piece.first + piece.count):
            begun = time.thread_time()
            try:
                target.run(piece.seed, number, piece.seconds)
            except (Exception, Hang) as error:  # noqa: BLE001 - this is what the fuzzer is for
                found.failures.append((number, "".join(traceback.format_exception(error)[-3:])))
                target.close()
                made += 1
                place = Path(folder) / str(made)
                place.mkdir()
                target = TARGETS[piece.target](place)
            found.done += 1
            found.slowest = max(found.slowest, time.thread_time() - begun)
        target.close()
    found.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return found


if __name__ == "__main__":
    sys.exit(main())
