"""Whole processes: how soon commands answer, what an engine costs that has nothing to do, and how soon it ends."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.bench import Bench
from benchmarks.corpus import MB, Size, make
from benchmarks.program import KATO, Place
from benchmarks.registry import Result, at_most, measurement

_TIMES: Final = 15
_IDLE: Final = 120.0


def python_alone() -> float:
    """What every command pays before its first line."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - begun


def _by_turns(*doers: Callable[[], float]) -> list[float]:
    """The medians of things done one after the other again and again, so that noise meets all of them."""
    rounds = [[doer() for doer in doers] for _ in range(_TIMES)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def many_sessions(bench: Bench, count: int = 2000) -> Place:
    """A home with 2,000 sessions that are all known."""
    place = Place(bench.scratch("home"))
    make(place.base, Size(count * 20_000, count))
    place.run("--no-ui", "--once")
    return place


@measurement("commands")
def commands(bench: Bench) -> Iterator[Result]:
    """`status` of a running engine, and the commands that need none, beside `python -c pass`."""
    few = many_sessions(bench, 50)
    with few.engine() as (program, _):
        program.settle()
        alone, wall = _by_turns(python_alone, lambda: few.run("status"))
    detail = f"{1000 * wall:.0f} ms, Python alone {1000 * alone:.0f} ms; median of {_TIMES}, by turns"
    yield Result("kato-tui status, 50 sessions: wall", wall / alone, "x pass", at_most(4), detail)
    place = many_sessions(bench)
    with place.engine() as (program, _):
        program.settle()
        words = (("status",), ("--version",), ("--help",), ("completion", "bash"), ("status", "--json"))
        alone, *took = _by_turns(python_alone, *(lambda one=one: place.run(*one) for one in words))
    for one, wall in zip(words, took, strict=True):
        goal = at_most(4) if one == ("status",) else None
        detail = f"{1000 * wall:.0f} ms, Python alone {1000 * alone:.0f} ms; median of {_TIMES}, by turns"
        many = ", 2,000 sessions" if "status" in one else ""
        yield Result(f"kato-tui {' '.join(one)}{many}: wall", wall / alone, "x pass", goal, detail)


@measurement("idle")
def idle(bench: Bench) -> Iterator[Result]:
    """An engine that watches 2,000 sessions in which nothing happens."""
    place = many_sessions(bench)
    with place.engine() as (program, _):
        program.settle()
        read = program.read()
        share = program.share(_IDLE)
        read = program.read() - read
        memory = program.memory() / MB
    detail = f"over {_IDLE:.0f} s, sweeps included"
    yield Result("idle, 2,000 sessions: CPU", share, "%", at_most(0.3), detail)
    yield Result("idle, 2,000 sessions: bytes read", read, "B", at_most(0), detail)
    yield Result("idle, 2,000 sessions: RSS", memory, "MB", at_most(100))


@measurement("process-start")
def process_start(bench: Bench) -> Iterator[Result]:
    """From the call of the program to its first answer, with 5,000 known sessions; then SIGTERM."""
    place = Place(bench.scratch("home"))
    place.link(bench.corpus_of("many"))
    place.run("--no-ui", "--once")
    answers: list[float] = []
    ends: list[float] = []
    for _ in range(5):
        begun = time.perf_counter()
        process = subprocess.Popen([*KATO, "--no-ui"], env=place.environ, stdout=subprocess.DEVNULL)
        link = place.connect()
        link.status(recent=True)
        answers.append(time.perf_counter() - begun)
        link.close()
        begun = time.perf_counter()
        process.terminate()
        process.wait()
        ends.append(time.perf_counter() - begun)
    alone = min(python_alone() for _ in range(_TIMES))
    detail = f"median of 5; python -c pass {1000 * alone:.0f} ms"
    yield Result("headless, 5,000 known: first answer", statistics.median(answers), "s", at_most(1), detail)
    yield Result("headless, 5,000 known: SIGTERM to end", max(ends), "s", at_most(2), "slowest of 5")
