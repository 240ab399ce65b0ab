"""One event in full: as a document, or as the JSON that the twin holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Markdown, Static

from kato_tui.view.events import Document, clean_block

#: Ask for the event before (-1) or after (1) the one that is shown.
Turn = Callable[[int], None]


class Detail(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", show=False),
        Binding("r", "raw", show=False),
        Binding("y", "copy", show=False),
        Binding("n,right,l", "turn(1)", show=False),
        Binding("p,left,h", "turn(-1)", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("pagedown,space,ctrl+d", "scroll(15)", show=False),
        Binding("pageup,ctrl+u", "scroll(-15)", show=False),
        Binding("g,home", "ends(-1)", show=False),
        Binding("G,end", "ends(1)", show=False),
    ]

    def __init__(self, document: Document, turn: Turn, copy: Callable[[str, str], None]) -> None:
        super().__init__()
        self._document = document
        self._turn = turn
        self._copy = copy
        self._raw = False

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="sheet", can_focus=False) as box:
            box.border_subtitle = "r raw · y copy · n p next, previous · esc closes"
            yield Markdown(id="text", open_links=False)
            yield Static(id="raw", markup=False)

    async def on_mount(self) -> None:
        await self._show()

    async def show(self, document: Document) -> None:
        """Another event, in the same window."""
        self._document = document
        await self._show()

    async def _show(self) -> None:
        box = self.query_one(VerticalScroll)
        box.border_title = Content(f" {self._document.title} ")
        text, raw = self.query_one(Markdown), self.query_one("#raw", Static)
        text.display, raw.display = not self._raw, self._raw
        if self._raw:
            raw.update(Content(clean_block(self._document.raw)))
        else:
            await text.update(self._document.markdown)
        box.scroll_home(animate=False)

    async def action_raw(self) -> None:
        self._raw = not self._raw
        await self._show()

    def action_copy(self) -> None:
        self._copy(self._document.raw if self._raw else self._document.text, "the event")

    def action_turn(self, step: int) -> None:
        self._turn(step)

    def action_scroll(self, rows: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

    def action_ends(self, where: int) -> None:
        box = self.query_one(VerticalScroll)
        (box.scroll_end if where > 0 else box.scroll_home)(animate=False)
