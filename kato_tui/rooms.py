"""Which panes are seen, and how much room each has: all of them, one as a tab, or one alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kato_tui.actions import footer, shown
from kato_tui.view import card
from kato_tui.widgets.bars import Card, KeyBar, TabBar
from kato_tui.widgets.command_line import LINE_KEYS

if TYPE_CHECKING:
    from kato_tui.app import Dashboard

_NARROW: Final = 100
_WIDE: Final = 160
_LOW: Final = 20
#: As far as panes can be moved.
_MOST_STEPS: Final = 8
_CARD_ROWS: Final = 15
#: What a list without sessions says is longer than one session.
_EMPTY_ROWS: Final = 12


class Rooms:
    def __init__(self, app: Dashboard) -> None:
        self._app = app
        self._steps = 0
        #: As high as the list of sessions is, where it is above the others.
        self._rows = 0

    # What the user asks for.

    @property
    def zoomed(self) -> bool:
        return self._app.base.has_class("-zoom")

    def zoom(self, on: bool) -> None:
        self._app.base.set_class(on, "-zoom")
        self.show_panes()

    def resize(self, step: int) -> None:
        """More or less room for the upper or left panes."""
        self._steps = max(-_MOST_STEPS, min(_MOST_STEPS, self._steps + step))
        self.share()

    # What fits.

    @property
    def _alone(self) -> bool:
        """Whether there is one pane only."""
        return self.zoomed or self._app.base.has_class("-tabs")

    def fit(self, width: int, height: int) -> None:
        """Take the layout for a terminal of this size."""
        narrow = width < _NARROW or height < _LOW
        base = self._app.base
        base.set_class(narrow, "-tabs")
        base.set_class(not narrow and width >= _WIDE, "-wide")
        self.show_panes()

    def show_panes(self) -> None:
        app = self._app
        for one in app.panes:
            one.display = not self._alone or one is app.pane
        app.base.query_one(Card).display = not self._alone and app.base.has_class("-wide")
        self.share()
        self.show_tabs()
        self.show_keys()
        self.show_card()

    def share(self) -> None:
        """Rows and columns, moved by what the user asked for."""
        app, steps = self._app, self._steps
        board = app.base.query_one("#board")
        if self._alone:
            board.styles.grid_columns, board.styles.grid_rows = "1fr", "1fr"
        elif app.base.has_class("-wide"):
            board.styles.grid_columns = f"{20 + steps}fr {20 - steps}fr"
            board.styles.grid_rows = f"{_CARD_ROWS} 3fr 2fr"
        else:
            # As high as the list is long, as long as that leaves more than half to what is said.
            most = max(6, round(app.size.height * (0.4 + 0.04 * steps)))
            needed = len(app.sessions.items) + 3 if app.sessions.items else _EMPTY_ROWS
            rows = min(most, max(6, needed)) if steps <= 0 else most
            # Whoever types a filter sees the list get shorter, and nothing else move.
            rows = self._rows = min(most, self._rows) if app.sessions.wanted.words and self._rows else rows
            board.styles.grid_columns = "11fr 9fr"
            board.styles.grid_rows = f"{rows} 1fr 1fr"

    # The bars, which tell of the panes.

    def show_tabs(self) -> None:
        app = self._app
        bar = app.base.query_one(TabBar)
        bar.display = app.base.has_class("-tabs")
        if not bar.display:
            return
        counts = {pane.NAME: len(pane.items) for pane in app.panes if pane is not app.events}
        names = []
        for pane in app.panes:
            count = counts.get(pane.NAME)
            names.append((pane.NAME, f"{pane.WORD} {count}" if count else pane.WORD))
        bar.tell(names, app.pane.NAME)

    def show_keys(self) -> None:
        if self._app.line.is_open:
            self._app.base.query_one(KeyBar).tell(LINE_KEYS[self._app.line.mode])
            return
        hints = [(shown(one.keys[0]), one.footer, one.id) for one in footer(self._app.actions, self._app.pane.NAME)]
        self._app.base.query_one(KeyBar).tell(hints)

    def show_card(self) -> None:
        app = self._app
        found = app.base.query_one(Card)
        if found.display:
            size = max(20, found.size.width)
            found.show(card.card(app.sessions.session, size, app.board.now(), app.user_home))
