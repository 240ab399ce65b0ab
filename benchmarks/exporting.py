"""Export of a long session, as the user asks for it: from the twin to a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.bench import Bench
from benchmarks.catchup import bring_up
from benchmarks.corpus import MB
from benchmarks.giants import write_session
from benchmarks.registry import Result, at_least, measurement
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.model.intents import Intent
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS

_SIZES: Final = {"XS": 2 * MB, "S": 30 * MB}
_WHOLE: Final = 100 * MB
_SESSION: Final = "0000e590-0000-4000-8000-000000000000"


def export(home: str, kato: str, target: str) -> dict[str, Any]:
    engine = Engine(Home(Path(kato)), Config(global_auto_generate_snapshots=True), PROVIDERS, {}, Path(home))
    engine.start()
    try:
        outcome = engine.submit(Intent(action="export", argument=target, session=_SESSION))
    finally:
        engine.close()
    if not outcome.succeeded:
        raise RuntimeError(outcome.message)
    return {"bytes": Path(target).stat().st_size}


@measurement("export")
def exporting(bench: Bench) -> Iterator[Result]:
    """Export a session of 100 MB (30 MB at size S) to Markdown and to JSONL; bytes of source per second of CPU."""
    size = _SIZES.get(bench.size, _WHOLE)
    home, kato = bench.scratch("home"), bench.scratch("kato")
    log = home / ".claude" / "projects" / "-home-dev-app" / f"{_SESSION}.jsonl"
    write_session(log, _SESSION, 7, size)
    bench.task(bring_up, home=str(home), kato=str(kato), providers=["claude"])
    for ending, goal in (("md", at_least(80)), ("jsonl", None)):
        runs = [
            bench.task(export, home=str(home), kato=str(kato), target=str(home / f"{number}.{ending}"))
            for number in range(bench.repeats)
        ]
        ran = min(runs, key=lambda one: one.cpu)
        source = log.stat().st_size / MB
        detail = f"{ran.cpu:.2f} s CPU for {source:.0f} MB of log, {ran.value['bytes'] / MB:.0f} MB written"
        yield Result(f"export to .{ending}", source / ran.cpu, "MB/s", goal, f"{detail}, peak {ran.peak // MB} MB")
