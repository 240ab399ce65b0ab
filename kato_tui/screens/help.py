"""All keys, those of the focused pane first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from kato_tui.actions import PANES, Action, shown
from kato_tui.screens.sheet import Sheet
from kato_tui.view.blocks import Block
from kato_tui.view.cells import Piece, pad

_KEYS: Final = 14
_CHAT: Final = (
    ("::start [file]", "record this session from here on"),
    ("::start from -3", "the same, beginning three of your turns ago"),
    ("::capture [file]", "everything so far, then go on recording"),
    ("::export file", "everything so far, once"),
    ("::stop [target]", "stop all, or `id:7d14af8e`, or `dest:notes.md`"),
)
_FILTER: Final = (
    ("words", "all of them must be in title, id, project, branch or model"),
    ("ai:codex", "sessions of one assistant"),
    ("state:asks", "by what it does: working, thinking, asks, idle, ended"),
    ("rec:on", "what is recorded; also rec:off and rec:failing"),
)


class Help(Sheet):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1", "dismiss", show=False)]

    def __init__(self, actions: Sequence[Action], pane: str) -> None:
        super().__init__()
        self._actions = actions
        self._pane = pane

    def on_mount(self) -> None:
        self.tell("Help", tuple(help_text(self._actions, self._pane)))


def help_text(actions: Sequence[Action], pane: str) -> Iterator[Block]:
    """The whole text, the pane's own keys first."""
    groups: dict[str, list[Action]] = {}
    for one in sorted(actions, key=lambda one: (one.scope != pane, one.scope in PANES)):
        groups.setdefault(one.group, []).append(one)
    for group, members in groups.items():
        yield _heading(f"{group} (this pane)" if members[0].scope == pane else _named(group, members[0]))
        for one in members:
            yield _row(" ".join(shown(key) for key in one.keys), one.help)
        yield Block(())
    yield _heading("In the chat, and after `:` here")
    yield from (_row(*one) for one in _CHAT)
    yield Block(())
    yield _heading("Filter")
    yield from (_row(*one) for one in _FILTER)


def _named(group: str, first: Action) -> str:
    return f"{group} (pane {PANES.index(first.scope) + 1})" if first.scope in PANES else group


def _heading(text: str) -> Block:
    return Block((Piece(text, "strong"),))


def _row(keys: str, text: str) -> Block:
    size = max(_KEYS, len(keys))
    return Block((Piece(text),), (Piece(f"  {pad(keys, size)}  ", "key"),), (Piece(" " * (_KEYS + 4)),))
