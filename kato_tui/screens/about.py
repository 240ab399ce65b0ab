"""All that is known about one session, where the panes have no room for it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from kato_tui.screens.sheet import Sheet
from kato_tui.view.blocks import Block


class About(Sheet):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("i", "dismiss", show=False)]

    def __init__(self, text: tuple[Block, ...]) -> None:
        super().__init__()
        self._text = text

    def on_mount(self) -> None:
        self.tell("Session", self._text)
