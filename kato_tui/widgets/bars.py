"""The lines at the edges: status above, tabs where there is room for one pane only, keys below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from kato_tui.view import bar
from kato_tui.view.cells import Line
from kato_tui.view.words import Json
from kato_tui.widgets.toned import Lines


class StatusBar(Lines):
    def __init__(self) -> None:
        super().__init__(id="status")
        self._facts: bar.Facts | None = None

    def tell(self, facts: bar.Facts) -> None:
        self._facts = facts
        self.show([bar.status(facts, self.size.width)])

    def on_resize(self) -> None:
        if self._facts is not None:
            self.tell(self._facts)


class Clickable(Lines):
    """One line with places that can be clicked."""

    @dataclass
    class Picked(Message):
        bar: Clickable
        name: str

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._places: list[tuple[int, int, str]] = []

    def lay_out(self, size: int) -> tuple[Line, list[tuple[int, int, str]]]:
        raise NotImplementedError

    def lay(self) -> None:
        line, self._places = self.lay_out(self.size.width)
        self.show([line])

    def on_resize(self) -> None:
        self.lay()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        for begin, end, name in self._places:
            if begin <= event.x < end:
                self.post_message(self.Picked(self, name))
                return


class TabBar(Clickable):
    def __init__(self) -> None:
        super().__init__(id="tabs")
        self._names: Sequence[tuple[str, str]] = ()
        self._current = ""

    def tell(self, names: Sequence[tuple[str, str]], current: str) -> None:
        self._names, self._current = names, current
        self.lay()

    def lay_out(self, size: int) -> tuple[Line, list[tuple[int, int, str]]]:
        return bar.tabs(self._names, self._current, size)


class KeyBar(Clickable):
    """The keys of the focused pane, the most useful first."""

    def __init__(self) -> None:
        super().__init__(id="keys")
        self._hints: Sequence[tuple[str, str, str]] = ()

    def tell(self, hints: Sequence[tuple[str, str, str]]) -> None:
        self._hints = hints
        self.lay()

    def lay_out(self, size: int) -> tuple[Line, list[tuple[int, int, str]]]:
        return bar.keys(self._hints, size)


class Card(Lines):
    """All about the selected session, on screens that have the room."""

    def __init__(self) -> None:
        super().__init__(id="card", classes="pane")
        self.border_title = "Session"

    session: Json | None = None
