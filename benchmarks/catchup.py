"""Catch-up: a first run over the archive that writes every twin, beside what parsing the same lines costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.baselines import GROUPS, parsing_cost
from benchmarks.bench import Bench
from benchmarks.corpus import MB, LogFile
from benchmarks.registry import Result, at_most, measurement
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS

_GOALS: Final = {"claude": 2.5, "codex": 2.5, "gemini JSONL": 3.0}
#: The goals are about sessions of 1 to 40 MB. What each of many small ones costs besides is told without a goal.
_LEAST: Final = MB


def bring_up(home: str, kato: str, providers: list[str]) -> dict[str, Any]:
    """A first run, twins kept, in one process."""
    chosen = {name: PROVIDERS[name] for name in providers}
    engine = Engine(Home(Path(kato)), Config(global_auto_generate_snapshots=True), chosen, {}, Path(home))
    engine.start()
    try:
        summary = engine.bring_up_to_date()
    finally:
        engine.close()
    return {"events": summary.events, "bytes": summary.bytes_read, "problems": len(summary.problems)}


def bring_up_warm(home: str, kato: str, small: str, providers: list[str]) -> dict[str, Any]:
    """The CPU of a first run; what a process needs only once, like its imports, is done with a small log before."""
    bring_up(small, f"{kato}-small", providers)
    begun = time.process_time()
    done = bring_up(home, kato, providers)
    return {**done, "cpu": time.process_time() - begun}


@measurement("catch-up")
def catch_up(bench: Bench) -> Iterator[Result]:
    """Translate, twin and metadata for each assistant, as CPU per byte beside `orjson.loads` on the same lines."""
    for group, kinds in GROUPS.items():
        files = bench.corpus.of(*kinds)
        long = [file for file in files if file.size >= _LEAST]
        if long:
            yield _catch_up(bench, group, long)
        yield _catch_up(bench, group, files, f", sessions from {min(file.size for file in files) // 1000} kB")


def _catch_up(bench: Bench, group: str, files: list[LogFile], which: str = "") -> Result:
    home, small = _linked(bench, files), _linked(bench, files[-1:])
    runs = [
        bench.task(
            bring_up_warm,
            home=str(home),
            kato=str(bench.scratch("kato")),
            small=str(small),
            providers=[group.split(" ")[0]],
        )
        for _ in range(bench.repeats)
    ]
    ran = min(runs, key=lambda one: float(one.value["cpu"]))
    cpu, size = ran.value["cpu"], ran.value["bytes"] / MB
    spent = parsing_cost(bench, files)
    detail = (
        f"{cpu:.2f} s CPU for {size:.0f} MB ({size / cpu:.0f} MB/s), {ran.value['events']:,} events, "
        f"{len(files)} sessions, orjson.loads {spent:.2f} s, peak {ran.peak // MB} MB"
    )
    if ran.value["problems"]:
        detail += f"; {ran.value['problems']} PROBLEMS"
    goal = at_most(_GOALS[group]) if group in _GOALS and not which else None
    return Result(f"catch-up, {group}{which}: CPU per byte", cpu / spent, "x orjson", goal, detail)


def _linked(bench: Bench, files: list[LogFile]) -> Path:
    """A home that holds these logs alone."""
    home = bench.scratch("home")
    for file in files:
        link = home / file.path.relative_to(bench.corpus.home)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.hardlink_to(file.path)
    return home
