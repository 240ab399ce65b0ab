"""What can be copied. The value is always shown: no clipboard tells whether it took it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kato_tui import clipboard
from kato_tui.core.link import Link
from kato_tui.deeds.selection import Selection
from kato_tui.view import events, warnings
from kato_tui.view.safe import safe
from kato_tui.view.words import Json

if TYPE_CHECKING:
    from kato_tui.app import Dashboard

#: Terminals drop longer sequences silently, and one of 100 MB would stop the screen.
MOST: Final = 1 << 20


class Copying:
    def __init__(self, app: Dashboard, selection: Selection) -> None:
        self._app = app
        self._selection = selection

    def copy(self, text: str, what: str) -> None:
        """To the terminal's clipboard at once, to the others in a thread: they are slow and may hang."""
        cut = text[:MOST]
        self._app.copy_to_clipboard(cut)

        def told(taken: list[str] | None) -> None:
            where = ", ".join(("terminal", *(taken or ())))
            part = "the beginning of " if len(cut) < len(text) else ""
            self._app.hint(f"copied {part}{safe(what, 80)} ({where})")

        self._app.local.add(lambda: clipboard.copy(cut), told)

    def session(self) -> None:
        self._selection.with_session(lambda one: self._value(one["sessionShortId"]))

    def session_in_full(self) -> None:
        self._selection.with_session(lambda one: self._value(one["sessionId"]))

    def resume_command(self) -> None:
        def wish(session: Json) -> None:
            if session.get("resumeCommand"):
                self._value(session["resumeCommand"])
            else:
                self._app.hint("this session cannot be resumed by a command")

        self._selection.with_session(wish)

    def recording(self) -> None:
        self._selection.with_recording(lambda one: self._value(one["recordingShortId"]))

    def recording_in_full(self) -> None:
        self._selection.with_recording(lambda one: self._value(one["recordingId"]))

    def destination(self) -> None:
        self._selection.with_recording(lambda one: self._value(one["destination"]))

    def ids(self) -> None:
        alert = self._app.warnings.alert
        if alert is None:
            self._app.hint("no warning is selected")
            return
        found = warnings.ids(alert)
        self.copy(found, found.replace("\n", ", "))

    def _value(self, value: object) -> None:
        self.copy(str(value), str(value))

    def event(self) -> None:
        self._event(events.text_of)

    def event_as_json(self) -> None:
        self._event(events.pretty)

    def _event(self, text_of: Callable[[Json], str]) -> None:
        def wish(glanced: Json) -> None:
            short, seq = str(glanced["sessionShortId"]), int(glanced["seq"])

            def read(link: Link) -> str | None:
                found = link.events(short, seq, 1)["events"]
                return text_of(found[0]) if found else None

            def got(text: str | None) -> None:
                if text is not None:
                    self.copy(text, f"event {seq}")

            self._app.pump.ask(read, got, slot="copy")

        self._selection.with_event(wish)
