"""Reading what was said: events of a session or of all, one in full, and recordings in the user's own programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from kato_tui import outside
from kato_tui.core.errors import KatoError
from kato_tui.core.glance import glance
from kato_tui.core.link import PAGE, Link
from kato_tui.deeds.copying import Copying
from kato_tui.deeds.selection import Selection
from kato_tui.screens.about import About
from kato_tui.screens.detail import Detail
from kato_tui.view import card
from kato_tui.view.events import Document, document
from kato_tui.view.sessions import key_of
from kato_tui.view.words import Json

if TYPE_CHECKING:
    from kato_tui.app import Dashboard


class Reading:
    def __init__(self, app: Dashboard, selection: Selection, copying: Copying) -> None:
        self._app = app
        self._selection = selection
        self._copying = copying
        self._reading_older = False
        #: The event that the open window shows, or is about to.
        self._at: str | None = None

    # Sessions and recordings.

    def open_session(self) -> None:
        app = self._app

        def show(session: Json) -> None:
            app.deeds.lists.mark_seen(key_of(session))
            app.go_to(app.events)
            if app.events.twinless and not app.events.everything:
                app.read_events(str(session["sessionShortId"]))
                app.events.repaint()

        self._selection.with_session(show)

    def about(self) -> None:
        app = self._app

        def show(session: Json) -> None:
            app.push_screen(About(card.sheet(session, app.board.now(), app.user_home)))

        self._selection.with_session(show)

    def open_recording(self) -> None:
        self._selection.with_recording(lambda one: self._open("pager", str(one["destination"])))

    def edit_recording(self) -> None:
        self._selection.with_recording(lambda one: self._open("editor", str(one["destination"])))

    def _open(self, tool: outside.Tool, path: str) -> None:
        try:
            with self._app.suspend():
                outside.open_file(tool, path)
        except SuspendNotSupported:
            self._app.say("cannot-open", "warning", "this terminal cannot be left for another program")
        except KatoError as error:
            self._app.say("cannot-open", "warning", str(error))
        self._app.refresh(layout=True)

    # The list of events.

    def follow(self) -> None:
        self._app.events.set_follow(not self._app.events.follow)

    def next_prompt(self) -> None:
        if not self._app.events.next_prompt(1):
            self._app.hint("nothing was said after this")

    def previous_prompt(self) -> None:
        if not self._app.events.next_prompt(-1):
            self._app.hint("nothing was said before this")

    def all_events(self) -> None:
        if not self.leave_all_events():
            self._app.events.open_everything()

    def leave_all_events(self) -> bool:
        """Back to the selected session's; whether there was anything to leave."""
        if not self._app.events.everything:
            return False
        self._app.events.everything = False
        self._app.watch_selected_again()
        return True

    def read_older(self) -> None:
        """More of what was before, when the first event in the list is reached."""
        pane = self._app.events
        first, short = pane.first_seq, pane.shown
        if first is None or first <= 1 or short is None or self._reading_older:
            return
        self._reading_older = True

        def read(link: Link) -> list[Json]:
            begin = max(1, first - PAGE)
            return [glance(one, short) for one in link.events(short, begin, first - begin)["events"]]

        def put(rows: list[Json] | None) -> None:
            self._reading_older = False
            if rows and short == pane.shown and pane.first_seq == first:
                pane.put_before(rows)

        self._app.pump.ask(read, put)

    # One event.

    def open_event(self) -> None:
        glanced = self._app.events.event
        if glanced is None:
            self.open_session()
        else:
            self._at = self._app.events.cursor
            self._read(glanced, self._open_detail)

    def _open_detail(self, found: Document) -> None:
        self._app.push_screen(Detail(found, self._turn, self._copying.copy))

    def _turn(self, step: int) -> None:
        """The event before or after the one in the window that is open, wherever the list has followed to."""
        pane = self._app.events
        if self._at is not None:
            pane.select(self._at)
        pane.move_to(pane.index + step)
        if pane.event is not None and pane.cursor != self._at:
            self._at = pane.cursor
            self._read(pane.event, self._show_other)
        else:
            self._app.hint(f"there is no event {'after' if step > 0 else 'before'} this one")

    def _show_other(self, found: Document) -> None:
        if isinstance(self._app.screen, Detail):
            self._app.screen.show(found)

    def _read(self, glanced: Json, then: Callable[[Document], object]) -> None:
        short, seq = str(glanced["sessionShortId"]), int(glanced["seq"])

        def read(link: Link) -> Document | None:
            # Made into text here: an event may be 100 MB, and the screen waits for nothing.
            found = link.events(short, seq, 1)["events"]
            return document(found[0], glanced) if found else None

        def show(found: Document | None) -> None:
            if found is not None:
                then(found)

        self._app.pump.ask(read, show, slot="event")
