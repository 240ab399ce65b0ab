"""From an append to a log to the twin and the recording, and what a thousand events a second cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.bench import Bench
from benchmarks.corpus import MB
from benchmarks.processes import many_sessions
from benchmarks.program import Log, Place, Program, percentile
from benchmarks.registry import Result, at_most, measurement
from kato_tui.core.link import RemoteLink

APPENDS: Final = 200
#: Between two appends: long enough for all to be quiet again.
PAUSE: Final = 0.1
RATE: Final = 1000
_SECONDS: Final = 20.0


def recorded(place: Place, link: RemoteLink) -> tuple[Log, Path]:
    """A session that is being recorded, and the file."""
    log = place.log()
    log.say("hello")
    name = f"claude:{log.session}"
    destination = place.base / f"{log.session}.md"
    while not any(one["providerSessionId"] == log.session for one in link.status(recent=True)["sessions"]):
        time.sleep(0.02)
    link.submit({"action": "capture", "session": name, "argument": str(destination), "origin": "command-line"})
    return log, destination


@measurement("latency")
def latency(bench: Bench) -> Iterator[Result]:
    """200 appends to a recorded session among 2,000, one after the other."""
    place = many_sessions(bench)
    with place.engine() as (program, link):
        log, recording = recorded(place, link)
        twin = place.home.twin(f"claude:{log.session}")
        program.settle()
        took: dict[str, list[float]] = {"twin": [], "recording": []}
        for number in range(APPENDS):
            before = {"twin": twin.stat().st_size, "recording": recording.stat().st_size}
            begun = time.perf_counter()
            log.say(f"prompt number {number}")
            for name, path in (("twin", twin), ("recording", recording)):
                while path.stat().st_size == before[name]:
                    time.sleep(0.0005)
                took[name].append(1000 * (time.perf_counter() - begun))
            time.sleep(PAUSE)
    for name, goal in (("twin", 40), ("recording", 60)):
        detail = f"p50 {percentile(took[name], 0.5):.1f} ms, slowest {max(took[name]):.0f} ms of {APPENDS}"
        yield Result(f"append to {name}: p95", percentile(took[name], 0.95), "ms", at_most(goal), detail)


def stream(log: Log, seconds: float, rate: int = RATE) -> int:
    """Say so many things a second, in pieces of a hundredth; how many it came to."""
    begun, said = time.perf_counter(), 0
    while (passed := time.perf_counter() - begun) < seconds:
        wanted = int(passed * rate) - said
        if wanted:
            log.say(*(f"word {said + number} of a live conversation" for number in range(wanted)))
            said += wanted
        time.sleep(0.01)
    return said


def cost_of_stream(log: Log, program: Program, *, children: bool = True) -> tuple[float, int]:
    """Percent of a core while a session is talked in, and the events."""
    before, begun = program.cpu(children=children), time.perf_counter()
    said = stream(log, _SECONDS)
    return 100 * (program.cpu(children=children) - before) / (time.perf_counter() - begun), said


@measurement("live")
def live(bench: Bench) -> Iterator[Result]:
    """1,000 events a second, translated, kept and recorded, without a screen."""
    place = many_sessions(bench)
    with place.engine() as (program, link):
        log, recording = recorded(place, link)
        program.settle()
        share, said = cost_of_stream(log, program)
        memory = program.memory() / MB
    detail = f"{said:,} events in {_SECONDS:.0f} s, recorded to {recording.stat().st_size / MB:.1f} MB of Markdown"
    yield Result("1,000 events/s headless: CPU", share, "% of a core", at_most(25), f"{detail}; RSS {memory:.0f} MB")
