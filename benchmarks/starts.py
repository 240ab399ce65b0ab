"""Starting: over an archive that is known already, and over one that was never seen."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench, counted_reads
from benchmarks.catchup import bring_up
from benchmarks.corpus import MB
from benchmarks.registry import Result, at_most, measurement
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.host import Host
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS


def start(home: str, kato: str) -> dict[str, Any]:
    """As the dashboard does it: start the engine, and ask it for the list of sessions."""
    config = Config(global_auto_generate_snapshots=True)
    begun = time.perf_counter()
    with counted_reads() as reads:
        host = Host(Engine(Home(Path(kato)), config, PROVIDERS, {}, Path(home)), config, workers=1)
        host.start()
        found = time.perf_counter() - begun
        sessions = host.link().status()["sessions"]
        listed = time.perf_counter() - begun
    unread = len(host.service.engine.pending())
    host.close()
    titled = sum("title" in one for one in sessions)
    return {
        "found": found,
        "listed": listed,
        "sessions": len(sessions),
        "titled": titled,
        "unread": unread,
        "bytes": reads.size,
    }


@measurement("known-start")
def known_start(bench: Bench) -> Iterator[Result]:
    """A start with 5,000 sessions that are known and did not change."""
    corpus = bench.corpus_of("many")
    kato = str(bench.scratch("kato"))
    bench.task(bring_up, home=str(corpus.home), kato=kato, providers=list(PROVIDERS))
    ran = min((bench.task(start, home=str(corpus.home), kato=kato) for _ in range(3)), key=lambda one: one.wall)
    found = ran.value
    detail = f"{found['sessions']:,} sessions, {found['unread']} to be read; {ran.cpu:.2f} s CPU, imports left out"
    yield Result("start, all known: list ready", found["listed"], "s", at_most(1), detail)
    yield Result("start, all known: bytes of logs read", found["bytes"], "B", at_most(0))


@measurement("first-start")
def first_start(bench: Bench) -> Iterator[Result]:
    """The first start ever: until the list of all sessions is there, from heads and tails of the logs."""
    # How many logs there are is what counts here, not how long they are.
    corpus = bench.corpus if bench.size == "L" else bench.corpus_of("many")
    ran = bench.task(start, home=str(corpus.home), kato=str(bench.scratch("kato")))
    found = ran.value
    detail = (
        f"{found['sessions']:,} sessions, {found['titled']:,} with titles, {found['bytes'] / MB:.0f} MB of "
        f"{corpus.size / MB:.0f} MB read; found after {found['found']:.2f} s; {ran.cpu:.2f} s CPU"
    )
    yield Result("first start: list ready", found["listed"], "s", at_most(2), detail)
