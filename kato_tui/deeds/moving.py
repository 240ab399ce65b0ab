"""Moving about: in lists, between panes, and what lies over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kato_tui import themes
from kato_tui.screens.help import Help

if TYPE_CHECKING:
    from kato_tui.app import Dashboard


class Moving:
    def __init__(self, app: Dashboard) -> None:
        self._app = app

    # What lies over the panes, and how they look.

    def palette(self) -> None:
        self._app.action_command_palette()

    def help(self) -> None:
        self._app.push_screen(Help(self._app.actions, self._app.pane.NAME))

    def theme(self) -> None:
        at = themes.CYCLE.index(self._app.theme) if self._app.theme in themes.CYCLE else -1
        self._app.set_theme(themes.CYCLE[(at + 1) % len(themes.CYCLE)])

    # Panes.

    def zoom(self) -> None:
        self._app.rooms.zoom(not self._app.rooms.zoomed)

    def unzoom(self) -> bool:
        """Whether a pane was shown alone."""
        if not self._app.rooms.zoomed:
            return False
        self._app.rooms.zoom(False)
        return True

    def grow(self) -> None:
        self._app.rooms.resize(1)

    def shrink(self) -> None:
        self._app.rooms.resize(-1)

    def next_pane(self) -> None:
        self._step_pane(1)

    def previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        panes = self._app.panes
        self._app.go_to(panes[(panes.index(self._app.pane) + step) % len(panes)])

    def pane_1(self) -> None:
        self._app.go_to(self._app.sessions)

    def pane_2(self) -> None:
        self._app.go_to(self._app.recordings)

    def pane_3(self) -> None:
        self._app.go_to(self._app.events)

    def pane_4(self) -> None:
        self._app.go_to(self._app.warnings)

    # In the list that has the focus.

    def down(self) -> None:
        self._move(1)

    def up(self) -> None:
        self._move(-1)

    def page_down(self) -> None:
        self._move(self._app.pane.page)

    def page_up(self) -> None:
        self._move(-self._app.pane.page)

    def first(self) -> None:
        self._app.pane.move_to(0)

    def last(self) -> None:
        pane = self._app.pane
        pane.move_to(len(pane.items) - 1)
        if pane is self._app.events:
            self._app.events.set_follow(True)

    def _move(self, step: int) -> None:
        pane = self._app.pane
        pane.move_to(pane.index + step)
