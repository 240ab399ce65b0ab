"""What the warnings propose, and taking them off the list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from kato_tui import __version__
from kato_tui.deeds.copying import Copying
from kato_tui.deeds.leaving import Leaving
from kato_tui.deeds.wishes import Wishes
from kato_tui.screens.ask import confirm
from kato_tui.view import warnings
from kato_tui.view.sessions import key_of
from kato_tui.view.warnings import Alert, FixKind
from kato_tui.view.words import Json, counted

if TYPE_CHECKING:
    from kato_tui.app import Dashboard


class Mending:
    def __init__(self, app: Dashboard, wishes: Wishes, copying: Copying, leaving: Leaving) -> None:
        self._app = app
        self._wishes = wishes
        self._copying = copying
        self._fixes: dict[FixKind, Callable[[Alert], None]] = {
            "command": self._command,
            "toggle": self._toggle,
            "session": self._session,
            "rebuild": self._rebuild,
            "restart": lambda _: leaving.take_over(),
            "keep-all": self._keep_all,
            "copy": lambda alert: copying.copy(warnings.report(alert, __version__), "the report"),
            "none": self._none,
        }

    def fix(self) -> None:
        alert = self._app.warnings.alert
        if alert is None:
            self._app.hint("no warning is selected")
        else:
            self._fixes[warnings.fix_of(alert).kind](alert)

    def _command(self, alert: Alert) -> None:
        self._go_to_session(alert)
        self._app.line.open("command", warnings.fix_of(alert).text)

    def _toggle(self, alert: Alert) -> None:
        found = alert.candidate or {}
        known = self._app.board.recording(str(found.get("recordingId")))
        action = "stop" if known is None or known["desiredState"] == "on" else "resume"
        self._wishes.submit(action, argument=f"id:{found['recordingId']}")

    def _go_to_session(self, alert: Alert) -> None:
        app = self._app
        session = app.board.session(alert.session)
        if session is None:
            return
        key = key_of(session)
        if not app.sessions.has(key):
            app.sessions.want(replace(app.sessions.wanted, words="", stale=True, subagents=True))
        app.sessions.select(key)

    def _session(self, alert: Alert) -> None:
        self._go_to_session(alert)
        self._app.go_to(self._app.sessions)

    def _rebuild(self, alert: Alert) -> None:
        short = str(alert.session)
        text = (
            f"Rebuild {short} from its log?\n\n"
            "What is there now is set aside, not deleted. Recordings stay as they are."
        )

        def told(done: Json | None) -> None:
            if done is not None:
                self._app.say("rebuilt", "info", f"{short}: rebuilt, {counted(done['events'], 'event')}")

        def rebuild() -> None:
            self._app.pump.ask(lambda link: link.rebuild(short), told)

        confirm(self._app, "Rebuild", text, "Rebuild", rebuild, careful=True)

    def _keep_all(self, alert: Alert) -> None:
        names = [str(one["session"]) for one in alert.candidates]
        sessions = counted(len(names), "session")
        text = f"Keep twins of {sessions}?\n\nTheir logs are read now, and copies stay when the logs go."

        def keep() -> None:
            for name in names:
                self._wishes.submit("keep", session=name)
            self._acknowledge(alert.key)

        confirm(self._app, "Keep twins", text, "Keep them", keep, careful=True)

    def _none(self, _: Alert) -> None:
        self._app.hint("nothing to do: `d` takes it off the list")

    def acknowledge(self) -> None:
        alert = self._app.warnings.alert
        if alert is not None:
            self._acknowledge(alert.key.partition("/")[0])

    def acknowledge_all(self) -> None:
        alerts = self._app.board.alerts()
        serious = [one for one in alerts if one.severity != "info"]
        if len(serious) < 2:
            self._acknowledge(*(one.key for one in alerts))
            return
        text = f"Take all {len(alerts)} messages off the list, {len(serious)} of them warnings?"
        keys = [one.key for one in alerts]
        confirm(self._app, "Warnings", text, "Take off", lambda: self._acknowledge(*keys))

    def _acknowledge(self, *keys: str) -> None:
        self._app.board.acknowledge(*keys)
        self._app.warnings.take()
