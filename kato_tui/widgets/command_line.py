"""The line at the bottom where people write: commands after `:`, a filter after `/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input

from kato_tui.view.cells import Line, Piece, crop, pad, piece
from kato_tui.view.command import Choice
from kato_tui.widgets.toned import Lines

Mode = Literal["command", "filter"]

_PROMPTS: Final[dict[Mode, tuple[str, str]]] = {
    "command": (":", "start ~/notes/x.md · stop id:… · capture · export … · tab completes, ↑ former ones"),
    "filter": ("/", "words, ai:codex, state:working, rec:on, branch:… · enter keeps it, esc clears"),
}
#: What the footer says while it is open.
LINE_KEYS: Final[dict[Mode, Sequence[tuple[str, str, str]]]] = {
    "command": (("⏎", "do it", ""), ("tab", "complete", ""), ("↑", "former ones", ""), ("esc", "leave", "")),
    "filter": (("⏎", "keep the filter", ""), ("esc", "show all again", "")),
}
_KEPT: Final = 50


class Entry(Input):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete(1)", show=False),
        Binding("shift+tab", "complete(-1)", show=False),
        Binding("up", "former(-1)", show=False),
        Binding("down", "former(1)", show=False),
        Binding("escape", "leave", show=False),
    ]

    async def _on_key(self, event: events.Key) -> None:
        """Keys that change the text take their turn among the letters.

        Textual looks for what a key means after all letters that came along with it: of `sx`, backspace and `top`,
        pasted or late through a slow line, the `p` would go.
        """
        for one in self._bindings.key_to_bindings.get(event.key, ()):
            event.stop()
            event.prevent_default()
            await self.run_action(one.action)
            return
        await super()._on_key(event)

    def action_complete(self, step: int) -> None:
        self._line.complete(step)

    def action_former(self, step: int) -> None:
        self._line.former(step)

    def action_leave(self) -> None:
        self._line.leave()

    @property
    def _line(self) -> CommandLine:
        return self.query_ancestor(CommandLine)


class CommandLine(Vertical):
    """Hidden until it is opened. Raises what was typed; knows nothing of what it means."""

    @dataclass
    class Typed(Message):
        mode: Mode
        text: str

    @dataclass
    class Entered(Message):
        mode: Mode
        text: str

    @dataclass
    class Left(Message):
        mode: Mode

    def __init__(self) -> None:
        super().__init__(id="command")
        self.mode: Mode = "command"
        self._choices: list[Choice] = []
        self._chosen = -1
        self._former: list[str] = []
        self._at = 0

    def compose(self) -> ComposeResult:
        yield Lines(id="choices")
        with Horizontal(id="entry"):
            yield Lines(id="prompt")
            # What is in it when it opens is to be written on, not over.
            yield Entry(id="input", compact=True, select_on_focus=False)

    @property
    def entry(self) -> Entry:
        return self.query_one(Entry)

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def open(self, mode: Mode, text: str = "") -> None:
        sign, hint = _PROMPTS[mode]
        self.mode = mode
        self._at = len(self._former)
        self.query_one("#prompt", Lines).show([(Piece(f" {sign} ", "key"),)])
        self.entry.placeholder = hint
        self.entry.value = text
        self.entry.cursor_position = len(text)
        self.offer([])
        self.add_class("-open")
        # Not by `focus`, which does it later: what is typed meanwhile would be taken for keys of a pane.
        self.screen.set_focus(self.entry)
        self.post_message(self.Typed(mode, text))

    def close(self) -> None:
        self.remove_class("-open")

    def offer(self, choices: Sequence[Choice]) -> None:
        """Show how the line may go on."""
        self._choices, self._chosen = list(choices), -1
        self._show_choices()

    def _show_choices(self) -> None:
        wide = max((len(one.label) for one in self._choices), default=0)
        size = max(20, self.size.width)
        lines: list[Line] = []
        for place, one in enumerate(self._choices):
            chosen = place == self._chosen
            mark = Piece(" ▌ " if chosen else "   ", "accent")
            label = Piece(pad(one.label, min(wide, size - 20)), "strong" if chosen else "text")
            lines.append(crop((mark, label, piece(f"  {one.note}", "muted")), size))
        shown = self.query_one("#choices", Lines)
        shown.display = bool(lines)
        shown.show(lines)

    def complete(self, step: int) -> None:
        if not self._choices:
            return
        self._chosen = (self._chosen + step) % len(self._choices)
        line = self._choices[self._chosen].line
        with self.prevent(Input.Changed):
            self.entry.value = line
            self.entry.cursor_position = len(line)
        if len(self._choices) == 1:
            self.post_message(self.Typed(self.mode, line))
        else:
            self._show_choices()

    def former(self, step: int) -> None:
        """Go through what was entered before, as shells do."""
        if self.mode != "command" or not self._former:
            return
        self._at = max(0, min(len(self._former), self._at + step))
        text = self._former[self._at] if self._at < len(self._former) else ""
        self.entry.value = text
        self.entry.cursor_position = len(text)

    def leave(self) -> None:
        self.close()
        self.post_message(self.Left(self.mode))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self.post_message(self.Typed(self.mode, event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value
        if self.mode == "command" and text.strip():
            self._former = [*[one for one in self._former if one != text][-_KEPT:], text]
        self.close()
        self.post_message(self.Entered(self.mode, text))

    def on_click(self, event: events.Click) -> None:
        shown = self.query_one("#choices", Lines)
        place = event.screen_y - shown.region.y
        if shown.display and 0 <= place < len(self._choices):
            event.stop()
            self._chosen = place - 1
            self.complete(1)
            self.entry.focus()
