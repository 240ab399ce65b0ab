"""`kato-tui --demo`: the real engine on made-up sessions that are written live, in a home that is thrown away after."""

from __future__ import annotations

import itertools
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from kato_tui.attach import own_link
from kato_tui.commands import show
from kato_tui.commands.talk import put
from kato_tui.core.clock import Clock, SystemClock
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.host import Host
from kato_tui.core.hub import Hub
from kato_tui.core.looks import looks_of
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.demo_story import RECORDING_IDS, Beat, Stage
from kato_tui.exit_codes import DONE

if TYPE_CHECKING:
    import argparse

#: How much faster than told a story is played for pictures: slow enough for the engine to see each beat alone.
_FAST: Final = 8


class SteppedClock:
    """Time that moves with the story instead of with the wall: a demonstration of minutes is over at once."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


class Player:
    """Plays the story into log files, one beat a step. Knows nothing of the engine: that only reads the files."""

    def __init__(self, home: Path, clock: Clock, *, endless: bool = False) -> None:
        self.stage = Stage(home, clock.now)
        self._beats = self._all(endless)
        self._next: Beat | None = next(self._beats, None)

    def _all(self, endless: bool) -> Iterator[Beat]:
        yield from self.stage.script()
        for number in itertools.count() if endless else ():
            yield from self.stage.chorus(number)

    @property
    def wait(self) -> float | None:
        """Seconds from the last beat to the next; None when the story is over."""
        return self._next.after if self._next is not None else None

    def step(self) -> str | None:
        """Play the next beat and say what happened; None when the story is over."""
        beat = self._next
        if beat is None:
            return None
        beat.play()
        self._next = next(self._beats, None)
        return beat.told


class Demo:
    """A throw-away home with an engine and a player. Use it as a context: it leaves nothing behind."""

    def __init__(self, base: Path, clock: Clock, *, endless: bool = False) -> None:
        self.base = base
        self.player = Player(base, clock, endless=endless)
        self.config = Config(global_auto_generate_snapshots=True)
        self.engine = Engine(Home(base / ".kato"), self.config, PROVIDERS, {}, base, clock, new_id=_ids())

    def __enter__(self) -> Demo:
        self.engine.start()
        self.engine.bring_up_to_date()
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    def poll(self) -> None:
        """One round of the engine."""
        self.engine.discover()
        self.engine.bring_up_to_date()
        self.engine.tick()


def _ids() -> Callable[[], str]:
    import uuid

    listed = iter(RECORDING_IDS)
    return lambda: next(listed, None) or str(uuid.uuid4())


@contextmanager
def throw_away_home() -> Iterator[Path]:
    """A folder that is gone afterwards, also when the process is asked to end."""
    base = Path(tempfile.mkdtemp(prefix="kato-demo-")).resolve()
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield base
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        shutil.rmtree(base, ignore_errors=True)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    # Whoever asks twice (`timeout` does) must not interrupt the cleaning up.
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def run_demo(arguments: argparse.Namespace) -> int:
    with throw_away_home() as base:
        if arguments.once:
            return play_through(base)
        if arguments.no_ui:
            return play_live(base, as_json=arguments.lines_json)
        return show_live(base)


def play_through(base: Path, clock: SteppedClock | None = None) -> int:
    """The whole story at once, then what came of it."""
    clock = clock or SteppedClock(datetime.now(UTC) - timedelta(minutes=5))
    with Demo(base, clock) as demo:
        while (wait := demo.player.wait) is not None:
            clock.advance(wait)
            told = demo.player.step()
            demo.poll()
            put(f"{clock.now():%H:%M:%S}  {told}")
        put("")
        _put_status(demo)
    return DONE


def play_live(base: Path, *, as_json: bool = False) -> int:
    """The story in real time, without a screen: the player writes in a thread of its own, the engine follows."""
    from kato_tui import headless

    with performance(base) as shown:
        return headless.run(shown.host, as_json=as_json)


def show_live(base: Path) -> int:
    """The story in real time, on the dashboard."""
    from kato_tui import dashboard

    dashboard.need_terminal("kato-tui --demo --no-ui")
    with performance(base) as shown:
        host = shown.host
        return dashboard.show(
            lambda: own_link(host), looks_of(host.config), user_home=str(base), title="kato demo", throw_away=True
        )


@dataclass(frozen=True, slots=True)
class Performance:
    host: Host
    player: Player

    @property
    def over(self) -> bool:
        return self.player.wait is None


@contextmanager
def performance(base: Path, clock: SteppedClock | None = None) -> Iterator[Performance]:
    """A host on the demonstration's home, and the player at work in it for as long as the context lasts.

    With a clock that moves with the story, it is played much faster than it is told: for pictures.
    """
    demo = Demo(base, clock or SystemClock(), endless=clock is None)
    host = Host(demo.engine, demo.config)
    over = threading.Event()
    writer = threading.Thread(target=_perform, args=(demo.player, host.service.hub, over, clock), name="player")
    writer.start()
    try:
        yield Performance(host, demo.player)
    finally:
        over.set()
        host.service.hub.close()
        writer.join()


def _perform(player: Player, hub: Hub, over: threading.Event, clock: SteppedClock | None) -> None:
    _await_history(hub)
    speed = 1 if clock is None else _FAST
    while (wait := player.wait) is not None and not over.wait(wait / speed):
        if clock is not None:
            clock.advance(wait)
        player.step()


def _await_history(hub: Hub) -> None:
    """Until the engine knows what was there before: a command that is typed earlier than that is history to it."""
    delta = hub.changes()
    while not delta.closed and not 0 < delta.progress["total"] == delta.progress["done"]:
        delta = hub.changes(delta.version, None)


def _put_status(demo: Demo) -> None:
    status = demo.engine.status().model_dump(mode="json", by_alias=True, exclude_none=True)
    for line in show.status_lines(status, demo.engine.clock.now(), everything=True, width=None):
        put(line)
    counts = ", ".join(f"{name} {count}" for name, count in sorted(demo.engine.totals.counters.items()))
    put("")
    put(f"the engine counted: {counts}")
