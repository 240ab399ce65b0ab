"""A text in a box above the panes: what all windows to read in have in common."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen

from kato_tui.view.blocks import Item
from kato_tui.widgets.toned import Prose


class Sheet(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("pagedown,space,ctrl+d", "scroll(15)", show=False),
        Binding("pageup,ctrl+u", "scroll(-15)", show=False),
        Binding("g,home", "ends(-1)", show=False),
        Binding("G,end", "ends(1)", show=False),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="sheet", can_focus=False):
            yield Prose(id="text")

    def tell(self, title: str, text: tuple[Item, ...], below: str = "esc closes") -> None:
        """Show this from its beginning. Nothing of `title` is read as markup."""
        box = self.query_one(VerticalScroll)
        box.border_title = Content(title)
        box.border_subtitle = Content(below)
        self.query_one(Prose).tell(text)
        box.scroll_home(animate=False)

    def action_scroll(self, rows: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

    def action_ends(self, way: int) -> None:
        box = self.query_one(VerticalScroll)
        if way < 0:
            box.scroll_home(animate=False)
        else:
            box.scroll_end(animate=False)
