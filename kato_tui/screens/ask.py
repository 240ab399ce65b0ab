"""A question before something that is hard to take back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static


class Ask(ModalScreen[bool]):
    """Yes or no. No has the focus where yes costs more, and where the question comes up by itself.

    Then no letter is an answer either, because people may be typing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "letter(True)", show=False),
        Binding("n,q", "letter(False)", show=False),
        Binding("escape", "answer(False)", show=False),
        Binding("left,right,h,l", "app.focus_next", show=False),
    ]

    def __init__(self, title: str, text: str, yes: str, *, careful: bool = False, unasked: bool = False) -> None:
        super().__init__()
        self._title, self._text, self._yes = title, text, yes
        self._careful = careful or unasked
        self._unasked = unasked

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._title
            yield Static(self._text, markup=False)
            with Horizontal(classes="buttons"):
                yield Button(self._yes if self._unasked else f"{self._yes} (y)", id="yes", compact=True)
                yield Button("Not now" if self._unasked else "Cancel (n)", id="no", compact=True)

    def on_mount(self) -> None:
        self.query_one("#no" if self._careful else "#yes").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)

    def action_letter(self, yes: bool) -> None:
        if not self._unasked:
            self.dismiss(yes)


def confirm(
    app: App[Any],
    title: str,
    text: str,
    yes: str,
    then: Callable[[], None],
    *,
    careful: bool = False,
    unasked: bool = False,
) -> None:
    """Ask, and do it if the answer is yes. `text` is clean."""

    def answered(agreed: bool | None) -> None:
        if agreed:
            then()

    app.push_screen(Ask(title, text, yes, careful=careful, unasked=unasked), answered)
