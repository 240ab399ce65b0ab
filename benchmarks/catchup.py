"""Catch-up: a first run over the archive that writes every twin, beside what parsing the same lines costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.baselines import GROUPS, parsing_cost
from benchmarks.bench import Bench
from benchmarks.corpus import MB
from benchmarks.registry import Result, at_most, measurement
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS

_GOALS = {"claude": 2.5, "codex": 2.5, "gemini JSONL": 3.0}


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


@measurement("catch-up")
def catch_up(bench: Bench) -> Iterator[Result]:
    """Translate, twin and metadata for each assistant, as CPU per byte beside `orjson.loads` on the same lines."""
    for group, kinds in GROUPS.items():
        part = bench.scratch(group.replace(" ", "-"))
        for file in bench.corpus.of(*kinds):
            link = part / file.path.relative_to(bench.corpus.home)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.hardlink_to(file.path)
        runs = [
            bench.task(bring_up, home=str(part), kato=str(bench.scratch("kato")), providers=[group.split(" ")[0]])
            for _ in range(bench.repeats)
        ]
        ran = min(runs, key=lambda one: one.cpu)
        spent = parsing_cost(bench, group)
        size = ran.value["bytes"] / MB
        goal = at_most(_GOALS[group]) if group in _GOALS else None
        detail = (
            f"{ran.cpu:.2f} s CPU for {size:.0f} MB ({size / ran.cpu:.0f} MB/s), {ran.value['events']:,} events, "
            f"orjson.loads {spent:.2f} s, peak {ran.peak // MB} MB"
        )
        if ran.value["problems"]:
            detail += f"; {ran.value['problems']} PROBLEMS"
        yield Result(f"catch-up, {group}: CPU per byte", ran.cpu / spent, "x orjson", goal, detail)
