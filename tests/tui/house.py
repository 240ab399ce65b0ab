"""A home with made-up sessions, an engine that moves only when a test steps it, and a dashboard that looks at it."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from kato_tui import themes
from kato_tui.app import Dashboard
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.hub import Delta
from kato_tui.core.link import Link
from kato_tui.core.looks import looks_of
from kato_tui.core.operations import Operations
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.core.service import Service
from kato_tui.demo import SteppedClock
from kato_tui.demo_logs import ClaudeLog
from kato_tui.demo_story import Stage
from kato_tui.view.cells import plain
from kato_tui.widgets.virtual_list import VirtualList
from tests.crashing import CrashingFs

START: Final = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)
PATIENCE: Final = 30.0


class SteppedLink(Link):
    """An engine of this process that nobody drives but the test: questions are answered where they are asked."""

    def __init__(self, engine: Engine, config: Config) -> None:
        self.lock = threading.RLock()
        # A service that is never started: it only puts on its hub what the engine tells.
        self.hub = Service(engine, config).hub
        self._operations = Operations(engine)
        #: The version up to which the reader has taken everything, while it waits for more.
        self.reached = -1
        #: As many sessions are told of, whatever the engine has.
        self.crowd = 0
        #: What the next questions end with: the end of the engine, or a mistake in one answer.
        self.fault: Exception | None = None
        self.refusal: Exception | None = None

    def changes(self, since: int, timeout: float) -> Delta:
        if timeout:
            self.reached = since
        found = self.hub.changes(since, timeout)
        self.reached = -1
        if self.fault is not None:
            raise self.fault
        return found

    def close(self) -> None:
        self.hub.close()

    def _ask(self, op: str, **fields: Any) -> dict[str, Any]:
        with self.lock:
            if self.refusal is not None:
                raise self.refusal
            if self.crowd and op == "events":
                return {"events": [], "lastSeq": 0}
            # As over the wire: nobody gets to hold what the engine holds.
            answer: dict[str, Any] = orjson.loads(orjson.dumps(self._operations.run(op, fields)))
            # It is taken from the times of real files, which have nothing to do with the clock of a test.
            (answer.get("engine") or answer).pop("latencyMs", None)
            if self.crowd and op == "status":
                answer["sessions"] = _crowd(answer["sessions"], self.crowd)
            return answer

    @property
    def caught_up(self) -> bool:
        return self.reached == self.hub.changes().version


def _crowd(sessions: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """The same sessions again and again, with other ids."""
    made = []
    for number in range(count):
        one = dict(sessions[number % len(sessions)])
        short = f"{number:08x}"
        one |= {"providerSessionId": f"crowd-{short}", "sessionId": f"{short}-0", "sessionShortId": short}
        made.append(one | {"title": f"{number}. {one.get('title')}", "recordings": []})
    return made


class House:
    """`stage` has the sessions of the demonstration at their beginning: tests, design, export, cache, legacy."""

    def __init__(self, base: Path, *, empty: bool = False, ids: Iterator[str] | None = None, **settings: Any) -> None:
        base.mkdir(exist_ok=True)
        self.base = base.resolve()
        self.clock = SteppedClock(START)
        if not empty:
            self.stage = Stage(self.base, self.clock.now)
        self.config = Config(**{"global_auto_generate_snapshots": True, "theme": themes.DARK} | settings)
        numbered = (f"{number:08x}-0000-4000-8000-000000000000" for number in itertools.count(1))
        new_id = partial(next, itertools.chain(ids or (), numbered))
        self.home = Home(self.base / ".kato")
        self._new_id = new_id
        self.open()

    def open(self) -> None:
        """Start an engine: the first, or another after the one before has ended."""
        self.engine = Engine(
            self.home,
            self.config,
            PROVIDERS,
            {},
            self.base,
            self.clock,
            CrashingFs(),
            self._new_id,
        )
        self.link = SteppedLink(self.engine, self.config)
        self.engine.start()
        self.poll()

    def close(self) -> None:
        self.link.close()
        self.engine.close()

    def poll(self) -> None:
        """The engine takes in whatever the logs have."""
        with self.link.lock:
            self.engine.discover()
            self.engine.bring_up_to_date()
            self.engine.tick()

    def play(self) -> None:
        """The whole story of the demonstration."""
        for beat in self.stage.script():
            self.clock.advance(beat.after)
            beat.play()
            self.poll()

    def claude(self, name: str, folder: str = "harbour") -> ClaudeLog:
        """Another session of Claude Code; `name` makes its id."""
        cwd = self.base / "code" / folder
        cwd.mkdir(parents=True, exist_ok=True)
        number = int.from_bytes(name.encode()[:6], "big")
        return ClaudeLog(self.base, cwd, f"00000000-0000-4000-8000-{number:012x}", self.clock.now, "main")

    def session(self, log: ClaudeLog | Any) -> dict[str, Any]:
        """The status of the session that a pen writes."""
        everyone = self.link.status()["sessions"]
        found: dict[str, Any] = next(one for one in everyone if one["providerSessionId"] == log.session)
        return found

    def short(self, log: ClaudeLog | Any) -> str:
        return str(self.session(log)["sessionShortId"])

    def recordings(self, log: ClaudeLog | Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.session(log).get("recordings", [])
        return found


class Dash:
    """A dashboard in a test: press keys, let it settle, read what is on the screen."""

    def __init__(self, app: Dashboard, pilot: Pilot[Any], house: House, toasts: list[str]) -> None:
        self.app = app
        self.pilot = pilot
        self.house = house
        #: Every toast there was: they go by themselves, sooner than a busy machine gets here.
        self.toasts = toasts

    async def press(self, *keys: str) -> None:
        """One key after the other, each when the one before has had its whole effect."""
        for key in keys:
            self._send(key)
            await self.settled()

    async def type(self, text: str) -> None:
        """Into the line that is open, as quickly as it goes."""
        self.send(*text)
        await self.settled()

    def send(self, *keys: str) -> None:
        """All at once, without waiting for what comes of any."""
        for key in keys:
            self._send(key)

    def _send(self, key: str) -> None:
        # The pilot's own way waits for the processor to be idle, which on a busy machine takes seconds.
        char = key if len(key) == 1 else None
        event = events.Key(key if char is None or char.isalnum() else _character_to_key(char), char)
        event.set_sender(self.app)
        self.app.post_message(event)

    async def command(self, text: str) -> None:
        """A whole `:` line."""
        await self.press(":")
        await self.type(text)
        await self.press("enter")

    async def hear(self) -> None:
        """The engine takes in what the logs have, and the screen what the engine tells."""
        self.house.poll()
        await self.settled()

    async def select(self, log: Any) -> None:
        """Put the cursor on a session."""
        self.app.sessions.select(next(key for key in self.app.sessions.items if key.endswith(log.session)))
        await self.settled()

    async def until(self, condition: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not (found := condition()):
            assert time.monotonic() < deadline, f"not in time; the screen:\n{self.text}"
            await self.pilot.pause(0.005)
        return found

    async def settled(self) -> None:
        """Until nothing is on its way any more: not to the engine, not from it, not on the screen."""
        for _ in range(2):
            await self.until(self._quiet)
            await self.pilot.pause(0)

    def _quiet(self) -> bool:
        app = self.app
        waiting = app.pump.busy or app.local.busy or not app._message_queue.empty()
        return not waiting and (self.house.link.caught_up or not app.pump.connected)

    @property
    def lines(self) -> list[str]:
        """The screen as text."""
        app = self.app
        found = app.screen._compositor.render_strips(app.size) if app.is_running else []
        return ["".join(segment.text for segment in strip).rstrip() for strip in found]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def sheet(self) -> str:
        """The text of the window that lies over the panes."""
        x, y, width, height = self.app.screen.query_one(".sheet, .dialog").region
        return "\n".join(line[x : x + width] for line in self.lines[y : y + height])

    @property
    def alerts(self) -> list[str]:
        return [one.message for one in self.app.board.alerts()]

    @property
    def copied(self) -> str:
        return self.app.clipboard

    def rows(self, pane: VirtualList, size: int = 120) -> list[str]:
        """All items of a list, also those out of sight."""
        return [plain(line) for key in pane.items for line in pane.block(key, size)]


@asynccontextmanager
async def look(house: House, size: tuple[int, int] = (140, 45), *, toasts: bool = True) -> AsyncIterator[Dash]:
    """A dashboard on the house, settled."""
    app = Dashboard(lambda: house.link, looks_of(house.config), user_home=str(house.base), now=house.clock.now)
    told: list[str] = []
    notify = app.notify

    def tell(message: str, **options: Any) -> None:
        told.append(message)
        notify(message, **options)

    app.notify = tell  # type: ignore[method-assign]
    async with app.run_test(size=size, notifications=toasts) as pilot:
        dash = Dash(app, pilot, house, told)
        await dash.until(lambda: app.pump.connected)
        await dash.settled()
        yield dash
    assert await asyncio.to_thread(app.pump.close, PATIENCE)
