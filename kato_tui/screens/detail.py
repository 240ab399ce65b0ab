"""One event in full: as a document, or as the JSON that the twin holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from kato_tui.screens.sheet import Sheet
from kato_tui.view.events import Document

#: Ask for the event before (-1) or after (1) the one that is shown.
Turn = Callable[[int], None]


class Detail(Sheet):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "raw", show=False),
        Binding("y", "copy", show=False),
        Binding("n,right,l", "turn(1)", show=False),
        Binding("p,left,h", "turn(-1)", show=False),
    ]

    def __init__(self, document: Document, turn: Turn, copy: Callable[[str, str], None]) -> None:
        super().__init__()
        self._document = document
        self._turn = turn
        self._copy = copy
        self._raw = False

    def on_mount(self) -> None:
        self.show(self._document)

    def show(self, document: Document) -> None:
        """This or another event, in the same window."""
        self._document = document
        other = "rendered" if self._raw else "raw"
        below = f"r {other} · y copy · n p next, previous · esc closes"
        self.tell(f" {document.title} ", document.listed if self._raw else document.rendered, below)

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.show(self._document)

    def action_copy(self) -> None:
        self._copy(self._document.raw if self._raw else self._document.text, "the event")

    def action_turn(self, step: int) -> None:
        self._turn(step)
