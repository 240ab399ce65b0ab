"""Ends: of filters and zooms, of the dashboard, of its engine, and what begins after that."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from kato_tui.pump import Lost
from kato_tui.screens.ask import confirm
from kato_tui.view.sessions import active
from kato_tui.view.words import counted

if TYPE_CHECKING:
    from kato_tui.app import Dashboard

#: Within so many seconds a second press means it.
_TWICE: Final = 2.0


class Leaving:
    def __init__(self, app: Dashboard) -> None:
        self._app = app
        self._pressed: tuple[str, float] = ("", 0.0)
        #: What Esc clears before it leaves: each says whether there was anything to clear.
        self.clearings: Sequence[Callable[[], bool]] = ()

    def clear(self) -> None:
        """Whatever can be cleared first; with nothing left, leaving is offered."""
        if any(clearing() for clearing in self.clearings):
            return
        self._app.clear_notifications()
        self._twice("escape", "esc again leaves", self.quit)

    def interrupt(self) -> None:
        self._twice("ctrl+c", "ctrl+c again leaves", lambda: self._app.exit(0))

    def _twice(self, key: str, hint: str, then: Callable[[], None]) -> None:
        before, at = self._pressed
        self._pressed = (key, time.monotonic())
        if before == key and time.monotonic() - at < _TWICE:
            then()
        else:
            self._app.hint(hint, _TWICE)

    def quit(self) -> None:
        """Leave. Where recordings would pause because the engine goes with us, that is said first."""
        app = self._app
        on = sum(len(active(one)) for one in app.board.sessions.values())
        if app.pump.remote or not on or app.throw_away:
            app.exit(0)
            return
        text = (
            f"{counted(on, 'recording')} will wait until kato-tui runs again, and then catch up with what\n"
            "was said meanwhile. `kato-tui --no-ui` goes on without a screen."
        )
        confirm(app, "Leave", text, "Leave", lambda: app.exit(0))

    def take_over(self) -> None:
        if self._app.pump.connected:
            self._app.hint("an engine is running")
            return
        self._app.board.phase = "starting"
        self._app.show_status()
        self._app.sessions.take()
        self._app.pump.start()

    def engine_lost(self, lost: Lost) -> None:
        app = self._app
        if app.pump.refused is not None:
            app.exit()
            return
        app.board.phase = "gone"
        app.show_status()
        app.sessions.take()
        if lost.remote:
            app.say("engine-gone", "error", f"the engine that was attached to has gone: {lost.reason}")
            text = "The engine this screen was attached to has gone.\n\nStart one here, in its place?"
            confirm(app, "No engine", text, "Take over", self.take_over, unasked=True)
        else:
            app.say("engine-failed", "error", lost.reason)
