"""The running engine with its worker processes: throughput of two against one, and what memory each process takes."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.bench import Bench, children, peak_memory
from benchmarks.corpus import MB
from benchmarks.registry import Result, at_least, at_most, measurement
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.host import Host
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS

_PATIENCE: Final = 3600.0


def catch_up_with_workers(home: str, kato: str, workers: int) -> dict[str, Any]:
    """From the start of the engine until everything is read, by the hub's own progress."""
    config = Config(global_auto_generate_snapshots=True)
    host = Host(Engine(Home(Path(kato)), config, PROVIDERS, {}, Path(home)), config, workers=workers)
    begun = time.perf_counter()
    host.start()
    try:
        wait_until_read(host)
        wall = time.perf_counter() - begun
        peaks = [peak_memory(pid) for pid in children()]
    finally:
        host.close()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall": wall, "peaks": [peak_memory(), *peaks], "worked": used.ru_utime + used.ru_stime}


def wait_until_read(host: Host) -> None:
    deadline, version = time.monotonic() + _PATIENCE, 0
    while time.monotonic() < deadline:
        delta = host.service.hub.changes(version, 1.0)
        version = delta.version
        progress = delta.progress
        if progress["total"] and progress["done"] == progress["total"]:
            return
    raise TimeoutError("the engine did not come to an end")


@measurement("workers")
def workers(bench: Bench) -> Iterator[Result]:
    """Catch-up by the running engine with one worker process and with two; the peak memory of every process."""
    walls: dict[int, float] = {}
    for count in (1, 2):
        runs = [
            bench.task(
                catch_up_with_workers, home=str(bench.corpus.home), kato=str(bench.scratch("kato")), workers=count
            )
            for _ in range(bench.repeats)
        ]
        ran = min(runs, key=lambda one: one.value["wall"])
        walls[count], peaks = ran.value["wall"], ran.value["peaks"]
    size = bench.corpus.size / MB
    detail = ", ".join(f"{count}: {wall:.1f} s ({size / wall:.0f} MB/s)" for count, wall in walls.items())
    worked = ran.value["worked"]
    detail += f"; CPU {ran.cpu:.1f} s of the engine, {worked:.1f} s of the workers: on two idle cores at most "
    detail += f"{2 * worked / (worked + ran.cpu):.2f}x"
    yield Result("two workers: throughput of one, times", walls[1] / walls[2], "x", at_least(1.6), detail)
    listed = " + ".join(f"{peak / MB:.0f}" for peak in peaks)
    yield Result(
        "peak memory of each process",
        max(peaks) / MB,
        "MB",
        at_most(100),
        f"engine and workers over {size:.0f} MB: {listed}",
    )
