"""The dashboard in a real terminal: first paint, idle, an append on the screen, and keys while gigabytes are read."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from typing import Final

from benchmarks.bench import Bench
from benchmarks.corpus import MB
from benchmarks.latency import APPENDS, cost_of_stream, recorded
from benchmarks.processes import many_sessions
from benchmarks.program import KATO, Log, Place, Terminal, percentile
from benchmarks.registry import Result, at_most, measurement

_BARE: Final = """
from textual.app import App
from textual.widgets import Static
class Bare(App[None]):
    def compose(self):
        yield Static("bare-app-painted")
Bare().run()
"""
_IDLE: Final = 60.0
_KEYS: Final = 100
_HOME: Final = "\x1b[H"


def _bare(place: Place) -> float:
    terminal = Terminal([sys.executable, "-c", _BARE], place.environ)
    took = terminal.until("bare-app-painted")
    terminal.close()
    return took


def dashboard(place: Place) -> Terminal:
    return Terminal(list(KATO), place.environ)


@measurement("first-paint")
def first_paint(bench: Bench) -> Iterator[Result]:
    """The dashboard on 5,000 known sessions beside a Textual app with one word in it."""
    place = Place(bench.scratch("home"))
    place.link(bench.corpus_of("many"))
    place.run("--no-ui", "--once")
    bare: list[float] = []
    paint: list[float] = []
    listed: list[float] = []
    ends: list[float] = []
    for _ in range(5):
        bare.append(_bare(place))
        terminal = dashboard(place)
        paint.append(terminal.until("Sessions"))
        listed.append(terminal.until(" of 5000"))
        ends.append(terminal.close())
    base = statistics.median(bare)
    detail = f"{1000 * statistics.median(paint):.0f} ms, bare app {1000 * base:.0f} ms; medians of 5, by turns"
    yield Result(
        "dashboard, 5,000 sessions: first paint", statistics.median(paint) / base, "x bare", at_most(1.3), detail
    )
    yield Result("dashboard, 5,000 sessions: list painted", statistics.median(listed) / base, "x bare")
    yield Result("dashboard: SIGTERM to end", max(ends), "s", at_most(2), "slowest of 5")


@measurement("screen")
def screen(bench: Bench) -> Iterator[Result]:
    """The dashboard beside an engine with 2,000 sessions: idle, 200 appends, 1,000 events a second."""
    place = many_sessions(bench)
    with place.engine() as (engine, link):
        log, _ = recorded(place, link)
        engine.settle()
        terminal = dashboard(place)
        terminal.until("hello")
        yield from _lived_with(terminal, log, "attached dashboard", idle=1.0, busy=20)
        terminal.close()


@measurement("alone")
def alone(bench: Bench) -> Iterator[Result]:
    """The same of a dashboard that has its engine within."""
    place = many_sessions(bench)
    terminal = dashboard(place)
    terminal.until("Sessions")
    link = place.connect()
    with terminal.read_on():
        log, _ = recorded(place, link)
    link.close()
    # The selection stays with the session that was the first one before.
    terminal.press(_HOME, "hello")
    yield from _lived_with(terminal, log, "dashboard and engine", idle=1.0, busy=20)
    terminal.close()


def _lived_with(terminal: Terminal, log: Log, who: str, *, idle: float, busy: float) -> Iterator[Result]:
    """What it costs when nothing happens, how soon a word is on the screen, what a thousand a second cost."""
    terminal.drain(5)
    before = terminal.cpu()
    terminal.drain(_IDLE)
    share = 100 * (terminal.cpu() - before) / _IDLE
    yield Result(f"{who}, idle, 2,000 sessions: CPU", share, "%", at_most(idle), f"over {_IDLE:.0f} s")
    yield Result(f"{who}, idle, 2,000 sessions: RSS", terminal.memory() / MB, "MB")
    took: list[float] = []
    for number in range(APPENDS):
        word = f"append-{number:04}-end"
        begun = time.perf_counter()
        log.say(word)
        terminal.until(word, 10)
        took.append(1000 * (time.perf_counter() - begun))
        terminal.drain(0.4)
    detail = f"p50 {percentile(took, 0.5):.0f} ms, slowest {max(took):.0f} ms of {APPENDS}"
    yield Result(f"append to {who}: p95", percentile(took, 0.95), "ms", at_most(150), detail)
    with terminal.read_on():
        share, said = cost_of_stream(log, terminal)
    yield Result(f"{who} at 1,000 events/s: CPU", share, "% of a core", at_most(busy), f"{said:,} events")


@measurement("keys")
def keys(bench: Bench) -> Iterator[Result]:
    """Keys that move the cursor while the workers read the whole corpus for the first time, twins kept."""
    place = Place(bench.scratch("home"), twins=True)
    place.link(bench.corpus)
    terminal = dashboard(place)
    terminal.until("Sessions")
    terminal.until(f" of {len(bench.corpus.files)}")
    terminal.drain(1)
    took: list[float] = []
    for number in range(_KEYS):
        took.append(1000 * terminal.press("jk"[number % 2], "▌"))
        terminal.drain(0.15)
    detail = f"p50 {percentile(took, 0.5):.0f} ms, slowest {max(took):.0f} ms of {_KEYS}"
    yield Result("key to paint while the archive is read: p95", percentile(took, 0.95), "ms", at_most(50), detail)
    yield Result("SIGTERM in the middle of that", terminal.close(), "s", at_most(2))
