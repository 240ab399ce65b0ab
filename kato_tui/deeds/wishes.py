"""Wishes for the engine: recordings that begin, end and go on, and twins to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kato_tui.deeds.selection import Selection
from kato_tui.screens.ask import confirm
from kato_tui.view.sessions import active
from kato_tui.view.words import Json, short_path

if TYPE_CHECKING:
    from kato_tui.app import Dashboard


class Wishes:
    def __init__(self, app: Dashboard, selection: Selection) -> None:
        self._app = app
        self._selection = selection

    def submit(self, action: str, *, session: str | None = None, argument: str | None = None, **more: Any) -> None:
        intent = {"action": action, "session": session, "argument": argument, "origin": "dashboard", **more}
        self.send({key: value for key, value in intent.items() if value is not None})

    def send(self, intent: Json) -> None:
        # What comes of it arrives as a notice, for this screen and every other one.
        self._app.pump.ask(lambda link: link.submit(dict(intent)), lambda _: None)

    def start(self) -> None:
        self._selection.with_session(lambda one: self.submit("start", session=_id(one)))

    def capture(self) -> None:
        self._selection.with_session(lambda one: self.submit("capture", session=_id(one)))

    def start_at(self) -> None:
        self._selection.with_session(lambda _: self._app.line.open("command", "start "))

    def export(self) -> None:
        self._selection.with_session(lambda _: self._app.line.open("command", "export "))

    def keep(self) -> None:
        def wish(session: Json) -> None:
            self.submit("keep", session=_id(session), argument="off" if session.get("keepTwin") else None)

        self._selection.with_session(wish)

    def start_here(self) -> None:
        def wish(event: Json) -> None:
            session = self._app.board.session(str(event["sessionShortId"]))
            if session is not None:
                self.submit("start", session=_id(session), fromSeq=int(event["seq"]))

        self._selection.with_event(wish)

    def stop(self) -> None:
        self._selection.with_recording(lambda one: self.submit("stop", argument=f"id:{one['recordingId']}"))

    def resume(self) -> None:
        self._selection.with_recording(lambda one: self.submit("resume", argument=f"id:{one['recordingId']}"))

    def stop_all(self) -> None:
        self._selection.with_session(self._stop_all)

    def _stop_all(self, session: Json) -> None:
        on = active(session)
        if len(on) < 2:
            self.submit("stop", session=_id(session))
            return
        home = self._app.user_home
        names = "\n".join(f"  {one['recordingShortId']}  {short_path(one['destination'], 60, home)}" for one in on)
        text = f"Stop {len(on)} recordings of this session?\n\n{names}"
        confirm(self._app, "Stop all", text, "Stop all", lambda: self.submit("stop", session=_id(session)))


def _id(session: Json) -> str:
    return str(session["sessionId"])
