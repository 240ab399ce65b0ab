"""One engine a home: dashboards attach to it, leave it running, notice when it goes, and can take its place."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from kato_tui import themes
from kato_tui.app import Dashboard
from kato_tui.attach import attach
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.host import Host
from kato_tui.core.link import Link
from kato_tui.core.looks import looks_of
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.demo import SteppedClock
from kato_tui.demo_story import Stage
from kato_tui.screens.ask import Ask
from tests.tui.house import PATIENCE, START, House, look

CONFIG = Config(global_auto_generate_snapshots=True, theme=themes.DARK)


class Machine:
    """A user's home with sessions, and engines that run by themselves, as on a real machine."""

    def __init__(self, base: Path) -> None:
        self.base = base.resolve()
        self.stage = Stage(self.base, SteppedClock(START).now)
        self.home = Home(self.base / ".kato")

    def host(self) -> Host:
        return Host(Engine(self.home, CONFIG, PROVIDERS, {}, self.base), CONFIG, workers=0)

    @contextmanager
    def engine(self) -> Iterator[Host]:
        """One that runs before any dashboard does."""
        host = self.host()
        host.start()
        try:
            yield host
        finally:
            host.close()

    def link(self) -> Link:
        return attach(self.home, self.host)

    @asynccontextmanager
    async def dashboard(self) -> AsyncIterator[tuple[Dashboard, Pilot[Any]]]:
        app = Dashboard(self.link, looks_of(CONFIG), user_home=str(self.base))
        async with app.run_test(size=(140, 45)) as pilot:
            await until(pilot, lambda: len(app.board.sessions) == 5)
            yield app, pilot
        assert await asyncio.to_thread(app.pump.close, PATIENCE)


async def until(pilot: Pilot[Any], condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        await pilot.pause(0.01)


async def test_a_dashboard_attaches_to_the_engine_that_runs_and_leaves_it_running(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with machine.engine():
        async with machine.dashboard() as (app, pilot):
            assert app.pump.remote and app.board.phase == "attached"
            app.sessions.select(f"claude:{machine.stage.tests.session}")
            app.do("start")
            await until(pilot, lambda: app.board.recordings())
            app.do("quit")
            # Nothing waits for us: the engine goes on, so nothing is asked.
            assert app._exit
        machine.stage.tests.say("said after everybody left")
        async with machine.dashboard() as (app, pilot):
            [one] = app.board.recordings()
            await until(pilot, lambda: "after everybody left" in _text(one))


def _text(recording: Any) -> str:
    path = Path(recording["destination"])
    return path.read_text() if path.exists() else ""


def _reads(app: Dashboard, words: str) -> bool:
    return any(words in row["text"] for row in app.events._rows.values())


async def test_two_dashboards_see_the_same(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    async with machine.dashboard() as (first, one), machine.dashboard() as (second, two):
        assert not first.pump.remote and second.pump.remote
        assert second.board.engine["pid"] == os.getpid()
        second.sessions.select(f"claude:{machine.stage.tests.session}")
        second.do("start")
        await until(two, lambda: second.board.recordings())
        await until(one, lambda: first.board.recordings())
        machine.stage.tests.say("for both to see")
        for app, pilot in ((first, one), (second, two)):
            app.sessions.select(f"claude:{machine.stage.tests.session}")
            await until(pilot, partial(_reads, app, "for both to see"))


async def test_when_the_engine_goes_its_place_can_be_taken(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with machine.engine() as host:
        async with machine.dashboard() as (app, pilot):
            host.close()
            await until(pilot, lambda: isinstance(app.screen, Ask))
            assert app.board.phase == "gone" and not app.pump.connected
            assert any("has gone" in one.message for one in app.board.alerts())
            await pilot.press("tab", "enter")
            await until(pilot, lambda: app.board.phase == "running")
            assert not app.pump.remote and len(app.board.sessions) == 5
            machine.stage.tests.say("the new engine hears this")
            app.sessions.select(f"claude:{machine.stage.tests.session}")
            await until(pilot, partial(_reads, app, "hears this"))


async def test_whoever_declines_can_take_over_later(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with machine.engine() as host:
        async with machine.dashboard() as (app, pilot):
            host.close()
            await until(pilot, lambda: isinstance(app.screen, Ask))
            await pilot.press("enter")
            await until(pilot, lambda: not isinstance(app.screen, Ask))
            app.do("start")
            await until(pilot, lambda: any("no engine" in one.message for one in app.board.alerts()))
            await pilot.press("ctrl+r")
            await until(pilot, lambda: app.board.phase == "running")


# An engine of our own.


async def test_an_engine_that_cannot_start_says_why(tmp_path: Path) -> None:
    def refuse() -> Link:
        raise PermissionError(13, "Permission denied", "/home/ada/.kato")

    app = Dashboard(refuse, looks_of(CONFIG))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.board.phase == "gone")
        assert "could not start" in app.board.alerts()[0].message
        await until(pilot, lambda: "No engine to ask" in _shown(app))
    assert app.pump.failed


def _shown(app: Dashboard) -> str:
    return "\n".join("".join(piece.text for piece in line) for line in app.sessions.empty(100))


async def test_an_engine_that_fails_is_told_and_can_be_started_again(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        house.link.fault = RuntimeError("a fault of the engine")
        house.stage.tests.say("one")
        house.poll()
        await dash.until(lambda: dash.app.board.phase == "gone")
        assert "a fault of the engine" in dash.app.board.alerts()[0].message
        house.close()
        house.open()
        await dash.press("4", "enter")
        await dash.until(lambda: dash.app.board.phase == "running")
        house.stage.tests.say("two")
        await dash.hear()
        await dash.select(house.stage.tests)
        assert "two" in dash.text


async def test_a_wish_that_fails_is_told_and_the_screen_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        house.link.refusal = ValueError("a mistake of the program")
        await dash.press("s")
        assert (
            "ValueError: a mistake of the program" in dash.toasts[-1] and dash.app.board.alerts()[0].severity == "error"
        )
        house.link.refusal = None
        await dash.press("s")
        assert "recording 00000001" in dash.toasts[-1]


async def test_notices_of_a_new_engine_are_not_taken_for_acknowledged_ones(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.press("s", "4", "d")
        assert not dash.alerts
        number = dash.app.board._acknowledged.copy()
        assert number
        house.link.fault = RuntimeError("gone")
        house.stage.tests.say("one")
        house.poll()
        await dash.until(lambda: dash.app.board.phase == "gone")
        house.close()
        house.open()
        await dash.press("ctrl+r")
        await dash.until(lambda: dash.app.board.phase == "running")
        for _ in range(4):
            await dash.press("s")
        assert sum("recording 0" in one for one in dash.alerts) == 4
