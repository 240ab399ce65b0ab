"""What deeds are about: the session, recording or event that is selected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kato_tui.view.words import Json

if TYPE_CHECKING:
    from kato_tui.app import Dashboard


class Selection:
    def __init__(self, app: Dashboard) -> None:
        self._app = app

    @property
    def session(self) -> Json | None:
        """The selected session; in the feed of everything, the one whose event is selected."""
        app = self._app
        if app.pane is app.events and app.events.everything and app.events.event is not None:
            return app.board.session(str(app.events.event["sessionShortId"]))
        return app.sessions.session

    def with_session(self, then: Callable[[Json], None]) -> None:
        found = self.session
        if found is None:
            self._app.hint("no session is selected")
        else:
            then(found)

    def with_recording(self, then: Callable[[Json], None]) -> None:
        found = self._app.recordings.recording
        if found is None:
            self._app.hint("no recording is selected")
        else:
            then(found)

    def with_event(self, then: Callable[[Json], None]) -> None:
        """The short form of the selected event, as the pane has it."""
        found = self._app.events.event
        if found is None:
            self._app.hint("no event is selected")
        else:
            then(found)
