"""One event in full: as a document, or as the JSON that the twin holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen

from kato_tui.view.events import Document
from kato_tui.widgets.toned import Prose

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
        with VerticalScroll(classes="sheet", can_focus=False):
            yield Prose(id="text")

    def on_mount(self) -> None:
        self.show(self._document)

    def show(self, document: Document) -> None:
        """This or another event, in the same window."""
        self._document = document
        box = self.query_one(VerticalScroll)
        box.border_title = Content(f" {document.title} ")
        other = "rendered" if self._raw else "raw"
        box.border_subtitle = f"r {other} · y copy · n p next, previous · esc closes"
        self.query_one(Prose).tell(document.listed if self._raw else document.rendered)
        box.scroll_home(animate=False)

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.show(self._document)

    def action_copy(self) -> None:
        self._copy(self._document.raw if self._raw else self._document.text, "the event")

    def action_turn(self, step: int) -> None:
        self._turn(step)

    def action_scroll(self, rows: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

    def action_ends(self, where: int) -> None:
        box = self.query_one(VerticalScroll)
        (box.scroll_end if where > 0 else box.scroll_home)(animate=False)
