"""What one more event costs beside a small archive and beside one of a hundred times as many sessions."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.bench import Bench
from benchmarks.claude_pen import ClaudePen
from benchmarks.giants import write_session
from benchmarks.registry import Result, at_most, measurement
from benchmarks.words import words
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.core.store.fs import Fs

_FEW: Final = 20
_MANY: Final = 100 * _FEW
_SESSION: Final = 8000
_EVENTS: Final = 200


class CountingFs(Fs):
    """Counts what makes a write durable."""

    def __init__(self) -> None:
        self.syncs = 0

    def sync(self, descriptor: int) -> None:
        self.syncs += 1
        super().sync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        self.syncs += 1
        super().sync_folder(folder)


def _traffic() -> dict[str, int]:
    """Bytes and calls of reading and writing, whatever they were for."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}


def live_events(base: str, sessions: int) -> dict[str, float]:
    """Append events one by one to one of so many sessions, as the watching engine meets them; the cost of each."""
    home = Path(base)
    folder = home / ".claude" / "projects" / "-home-dev-app"
    names = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(sessions)]
    for number, name in enumerate(names):
        write_session(folder / f"{name}.jsonl", name, number, _SESSION)
    fs = CountingFs()
    config = Config(global_auto_generate_snapshots=True)
    engine = Engine(Home(home / "kato"), config, PROVIDERS, {}, home, fs=fs)
    engine.start()
    engine.bring_up_to_date()
    path = folder / f"{names[0]}.jsonl"
    pen = ClaudePen(names[0], 1_000_000, words())
    lines = [orjson.dumps(pen._prompt()) + b"\n" for _ in range(_EVENTS)]
    spent, syncs, before = 0.0, fs.syncs, _traffic()
    for line in lines:
        with path.open("ab") as log:
            log.write(line)
        begun = time.process_time()
        for key in engine.look([path]):
            ingest = engine.open_ingest(engine.sessions[key])
            first = ingest.metadata.next_twin_seq
            while ingest.step():
                engine.stepped(key, ingest, first)
                first = ingest.metadata.next_twin_seq
            ingest.close()
            engine.finished(engine.sessions[key], ingest, first)
        engine.tick()
        engine.save_index({})
        spent += time.process_time() - begun
    after = _traffic()
    engine.close()
    counts: dict[str, Any] = {name: (after[name] - before[name]) / _EVENTS for name in ("rchar", "wchar", "syscr")}
    return {**counts, "syncs": (fs.syncs - syncs) / _EVENTS, "cpu_ms": 1000 * spent / _EVENTS, "pid": os.getpid()}


@measurement("one-event")
def one_event(bench: Bench) -> Iterator[Result]:
    """One more event beside 20 sessions and beside 2,000: bytes read and written, syncs, CPU time."""
    few, many = (
        bench.task(live_events, base=str(bench.scratch("home")), sessions=count).value for count in (_FEW, _MANY)
    )
    for what, name, unit in (
        ("bytes read", "rchar", "B"),
        ("bytes written", "wchar", "B"),
        ("syncs", "syncs", ""),
        ("CPU", "cpu_ms", "ms"),
    ):
        ratio = many[name] / few[name]
        detail = f"{few[name]:,.2f} {unit} with {_FEW} sessions, {many[name]:,.2f} {unit} with {_MANY:,}"
        yield Result(f"one more event, archive x100: {what}", ratio, "x", at_most(1.1), detail)
