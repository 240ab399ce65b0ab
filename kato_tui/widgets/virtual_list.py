"""A list of any length that paints only what is seen. The cursor stays on its item, wherever that is sorted to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kato_tui.view.cells import Line, Piece, Row, width
from kato_tui.widgets.toned import Toned

_MARK = Piece("▌", "accent")
_BLANK = Piece(" ")


class VirtualList(Toned, ScrollView, can_focus=True):
    """Subclasses say what an item looks like (`block`); everything else about lists is here."""

    #: Whether a line of column names stands above the items.
    HEADER: ClassVar[bool] = False
    #: Whether items may be several lines high.
    TALL: ClassVar[bool] = False

    @dataclass
    class Moved(Message):
        """The cursor is on another item."""

        list: VirtualList
        key: str | None

    @dataclass
    class Opened(Message):
        """An item was chosen by the mouse, as Enter would."""

        list: VirtualList
        key: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.items: Sequence[str] = ()
        self.cursor: str | None = None
        self._places: dict[str, int] = {}
        self._tops: list[int] = [0]
        self._painted: dict[int, tuple[Line, Row]] = {}

    # For subclasses.

    def block(self, key: str, size: int) -> list[Line]:
        """The lines of an item, in `size` cells."""
        raise NotImplementedError

    def header(self, size: int) -> Line:  # noqa: ARG002
        return ()

    def empty(self, size: int) -> list[Line]:  # noqa: ARG002
        """What to say when there is nothing: it should teach."""
        return []

    # Items.

    def set_items(self, items: Sequence[str]) -> None:
        """Show these. The cursor stays on its item; if that has gone, it takes the one at its place."""
        if list(items) == list(self.items):
            self.repaint()
            return
        before = self.index
        self.items = items
        self._places = {key: place for place, key in enumerate(items)}
        moved = self.cursor is not None and self.cursor not in self._places
        if self.cursor is None or moved:
            self.cursor = items[min(before, len(items) - 1)] if items else None
        self.measure()
        self._keep_in_sight()
        self.refresh()
        self.items_changed()
        if moved or before != self.index:
            self.post_message(self.Moved(self, self.cursor))

    def items_changed(self) -> None:
        """For subclasses that say something about how many there are."""

    @property
    def index(self) -> int:
        return self._places.get(self.cursor or "", 0)

    def has(self, key: str) -> bool:
        return key in self._places

    def move_to(self, index: int) -> None:
        if not self.items:
            return
        self.select(self.items[max(0, min(index, len(self.items) - 1))])

    def select(self, key: str) -> None:
        """Put the cursor on an item."""
        if key == self.cursor or key not in self._places:
            return
        before = self.cursor
        self.cursor = key
        if self.TALL:
            self.measure()
        self._keep_in_sight()
        if self.TALL:
            self.refresh()
        else:
            self.repaint()
        if before != key:
            self.post_message(self.Moved(self, key))

    def measure(self) -> None:
        """Find out how high everything is."""
        size = self._room
        tops = [0]
        if self.TALL:
            for key in self.items:
                tops.append(tops[-1] + len(self.block(key, size)))
            self._tops = tops
        height = tops[-1] if self.TALL else len(self.items)
        self.virtual_size = Size(0, height + self.HEADER)

    @property
    def _room(self) -> int:
        """Cells for an item: the pane without the cursor's mark."""
        return max(1, self.scrollable_content_region.width - 1)

    @property
    def page(self) -> int:
        return max(1, self.scrollable_content_region.height - self.HEADER)

    def _span(self, place: int) -> tuple[int, int]:
        """First line of an item and the one behind its last."""
        return (self._tops[place], self._tops[place + 1]) if self.TALL else (place, place + 1)

    def _keep_in_sight(self) -> None:
        if not self.items or not self.is_mounted:
            return
        top, bottom = self._span(self.index)
        first = round(self.scroll_y)
        if top < first:
            self.scroll_to(y=top, animate=False, force=True, immediate=True)
        elif bottom > first + self.page:
            self.scroll_to(y=bottom - self.page, animate=False, force=True, immediate=True)

    def _item_at(self, y: int) -> str | None:
        """The item on a line of the pane."""
        row = y - self.HEADER + round(self.scroll_y)
        if y < self.HEADER or row < 0:
            return None
        place = bisect_right(self._tops, row) - 1 if self.TALL else row
        return self.items[place] if 0 <= place < len(self.items) else None

    # Painting.

    def render_line(self, y: int) -> Strip:
        line, row = self._line_at(y)
        self._painted[y] = (line, row)
        return self.strip(line, self.scrollable_content_region.width, row)

    def repaint(self) -> None:
        """Paint again the lines that would not look the same."""
        size = self.scrollable_content_region
        for y in range(size.height):
            if self._painted.get(y) != self._line_at(y):
                self.refresh(Region(0, y, size.width, 1))

    def _line_at(self, y: int) -> tuple[Line, Row]:
        if not self.items:
            return self._empty_line(y), ""
        if self.HEADER and y == 0:
            return (_BLANK, *self.header(self._room)), ""
        key = self._item_at(y)
        if key is None:
            return (), ""
        lines = self.block(key, self._room)
        row = y - self.HEADER + round(self.scroll_y)
        part = row - self._tops[self._places[key]] if self.TALL else 0
        line = lines[part] if part < len(lines) else ()
        if key != self.cursor:
            return (_BLANK, *line), ""
        return (_MARK if self.has_focus else _BLANK, *line), "cursor" if self.has_focus else "blurred"

    def _empty_line(self, y: int) -> Line:
        size = self.scrollable_content_region
        lines = self.empty(size.width - 4)
        top = max(0, (size.height - len(lines)) // 2)
        if not top <= y < top + len(lines):
            return ()
        line = lines[y - top]
        return (Piece(" " * max(1, (size.width - width(line)) // 2)), *line)

    # Events.

    def on_resize(self) -> None:
        self.measure()
        self._painted.clear()
        # How far it can be scrolled is known only once the new size is in force.
        self.call_after_refresh(self._keep_in_sight)

    def on_focus(self) -> None:
        self.repaint()

    def on_blur(self) -> None:
        self.repaint()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        offset = event.get_content_offset(self)
        key = self._item_at(offset.y) if offset is not None else None
        if key is None:
            return
        self.select(key)
        if event.chain == 2:
            self.post_message(self.Opened(self, key))
