"""One session of 2 GB, one line of 100 MB: memory stays bounded, and the small sessions beside them do not wait."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.bench import Bench, children, peak_memory
from benchmarks.claude_pen import ClaudePen
from benchmarks.corpus import MB
from benchmarks.registry import Result, at_most, measurement
from benchmarks.words import ident, words
from benchmarks.workers import wait_until_read
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.host import Host
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS

_LINE: Final = 100 * MB
#: By size of the corpus: the bytes of the long session.
_SESSION: Final = {"XS": 5 * MB, "S": 200 * MB}
_WHOLE: Final = 2000 * MB
_SMALL: Final = 20


def _name(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def write_session(path: Path, session: str, seed: int, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for block in ClaudePen(session, seed, words()).lines(size):
            file.write(block)


def _write_long_line(path: Path, length: int) -> None:
    """A tool result that is one line, most of it one string."""
    pen = ClaudePen(path.stem, 2, words())
    block = {"tool_use_id": "toolu_1", "type": "tool_result", "content": "the same words " * (length // 15)}
    record = pen._chain("user", message={"role": "user", "content": [block]})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(record) + b"\n")


def read_beside(home: str, kato: str, small: list[str]) -> dict[str, Any]:
    """Bring all up to date with one worker; when the small sessions were done, and when everything was."""
    config = Config(global_auto_generate_snapshots=True)
    host = Host(Engine(Home(Path(kato)), config, PROVIDERS, {}, Path(home)), config, workers=1)
    begun = time.perf_counter()
    host.start()
    try:
        waiting, version, others = set(small), 0, 0.0
        while waiting:
            delta = host.service.hub.changes(version, 1.0)
            version = delta.version
            waiting -= set(delta.dirty)
            others = time.perf_counter() - begun
        wait_until_read(host)
        return {
            "others": others,
            "wall": time.perf_counter() - begun,
            "peak": max(peak_memory(), *(peak_memory(pid) for pid in children())),
        }
    finally:
        host.close()


@measurement("giants")
def giants(bench: Bench) -> Iterator[Result]:
    """A session of 2 GB (200 MB at size S) and a line of 100 MB among small sessions, with one worker."""
    size = _SESSION.get(bench.size, _WHOLE)
    for what, limit in ((f"one {size // MB} MB session", 100), (f"one {_LINE // MB} MB line", _LINE * 4 // MB + 100)):
        home = bench.scratch("home")
        folder = home / ".claude" / "projects" / "-home-dev-app"
        giant = folder / f"{ident(random.Random(1))}.jsonl"
        if limit == 100:
            write_session(giant, giant.stem, 1, size)
        else:
            _write_long_line(giant, _LINE)
        for number in range(_SMALL):
            write_session(folder / f"{_name(number)}.jsonl", _name(number), number, MB // 10)
        small = [f"claude:{_name(number)}" for number in range(_SMALL)]
        ran = bench.task(read_beside, home=str(home), kato=str(bench.scratch("kato")), small=small)
        found = ran.value
        yield Result(
            f"{what}: peak memory", found["peak"] / MB, "MB", at_most(limit), f"all read after {found['wall']:.1f} s"
        )
        share = found["others"] / found["wall"]
        detail = f"{_SMALL} small sessions were read after {found['others']:.2f} s"
        yield Result(f"{what}: others read within", 100 * share, "% of the time", at_most(50), detail)
