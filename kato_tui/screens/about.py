"""All that is known about one session, where the panes have no room for it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from kato_tui.view.blocks import Block
from kato_tui.widgets.toned import Prose


class About(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,i", "dismiss", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
    ]

    def __init__(self, text: tuple[Block, ...]) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="sheet", can_focus=False) as box:
            box.border_title = "Session"
            box.border_subtitle = "esc closes"
            yield Prose(id="text")

    def on_mount(self) -> None:
        self.query_one(Prose).tell(self._text)

    def action_scroll(self, rows: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)
