"""From tones to styles: what turns the plain lines of `view` into strips, with the theme's colours."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip
from textual.widget import Widget

from kato_tui.themes import Ink, row_ink, tone_ink
from kato_tui.view.blocks import Item, lay_out
from kato_tui.view.cells import Line, Row, Tone, crop

_MOST: Final = 4000


class Toned(Widget):
    """A widget that draws lines. Styles are looked up once a theme, strips are kept as long as nothing changes.

    Not component classes of the style sheet: a node for each of them in each widget is a fifth of the time to the
    first frame.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._tones: dict[tuple[Tone, Row], Style] = {}
        self._strips: dict[tuple[Line, int, Row], Strip] = {}

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._tones.clear()
        self._strips.clear()

    def style_of(self, tone: Tone, row: Row = "") -> Style:
        found = self._tones.get((tone, row))
        if found is None:
            found = self.rich_style + self._style_from(tone_ink(tone))
            if row:
                found += self._style_from(row_ink(row, ansi=self.app.current_theme.ansi))
            self._tones[tone, row] = found
        return found

    def _style_from(self, ink: Ink) -> Style:
        colours = self.app.theme_variables

        def colour(name: str | None) -> Color | None:
            return Color.parse(colours.get(name, name)) if name is not None else None

        text, ground = colour(ink.text), colour(ink.ground)
        return Style(
            color=text.rich_color if text is not None else None,
            bgcolor=ground.rich_color if ground is not None else None,
            bold="bold" in ink.weight or None,
            italic="italic" in ink.weight or None,
            underline="underline" in ink.weight or None,
        )

    def strip(self, line: Line, width: int, row: Row = "") -> Strip:
        key = (line, width, row)
        found = self._strips.get(key)
        if found is None:
            if len(self._strips) > _MOST:
                self._strips.clear()
            segments = [Segment(one.text, self.style_of(one.tone, row)) for one in crop(line, width)]
            found = Strip(segments).adjust_cell_length(width, self.style_of("text", row))
            self._strips[key] = found
        return found


class Lines(Toned):
    """A few lines of text that something else decides on."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.lines: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        """Repaint, if there is anything new in them."""
        if lines != self.lines:
            grown = len(lines) != len(self.lines)
            self.lines = lines
            self.refresh(layout=grown and self.styles.is_auto_height)

    def render_line(self, y: int) -> Strip:
        line = self.lines[y] if y < len(self.lines) else ()
        return self.strip(line, self.size.width)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:  # noqa: ARG002
        return len(self.lines)


class Prose(Lines):
    """A text of any length, laid out for the width it has."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: tuple[Item, ...] = ()
        self._laid = 0

    def tell(self, items: tuple[Item, ...]) -> None:
        self._items = items
        self._lay(self.size.width)
        self.refresh(layout=True)

    def _lay(self, width: int) -> None:
        # Before it has a size there is nothing to be seen.
        self.lines, self._laid = lay_out(self._items, width) if width else [], width

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        if width != self._laid:
            self._lay(width)
        return super().get_content_height(container, viewport, width)
