"""The line at the bottom: what is typed there, how it may go on, and what it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from kato_tui import outside
from kato_tui.deeds.lists import Lists
from kato_tui.deeds.selection import Selection
from kato_tui.deeds.wishes import Wishes
from kato_tui.view import command as wording
from kato_tui.widgets.command_line import Mode

if TYPE_CHECKING:
    from kato_tui.app import Dashboard


class Entering:
    def __init__(self, app: Dashboard, selection: Selection, wishes: Wishes, lists: Lists) -> None:
        self._app = app
        self._selection = selection
        self._wishes = wishes
        self._lists = lists

    def command(self) -> None:
        self._app.line.open("command")

    def typed(self, mode: Mode, text: str) -> None:
        if mode == "filter":
            self._lists.filter_as_typed(text)
            return
        known = self._known()

        def offer(found: Sequence[wording.Choice] | None) -> None:
            if self._app.line.entry.value == text:
                self._app.line.offer(found or ())

        list_folder = partial(outside.list_folder, user_home=known.user_home)
        self._app.local.add(lambda: wording.complete(text, known, list_folder), offer, slot="complete")

    def _known(self) -> wording.Known:
        board = self._app.board
        return wording.Known(
            recordings=board.recordings(),
            sessions=[(str(one["sessionShortId"]), str(one.get("title") or "")) for one in board.sessions.values()],
            themes=sorted(self._app.available_themes),
            cwd=str((self._selection.session or {}).get("cwd") or ""),
            user_home=self._app.user_home,
        )

    def entered(self, mode: Mode, text: str) -> None:
        if mode == "filter":
            self._lists.filter_by(text)
            return
        if not text.strip(" :"):
            return
        session = self._selection.session
        wish = wording.parse(text, str(session["sessionId"]) if session is not None else None)
        if wish.error is not None:
            self._app.say("invalid-command", "warning", wish.error)
        elif wish.local is not None:
            self._do_local(*wish.local)
        elif wish.intent is not None:
            self._wishes.send(wish.intent)

    def _do_local(self, name: str, argument: str) -> None:
        if name == "filter":
            self._lists.filter_by(argument)
        elif name == "sort" and argument:
            self._lists.sort_by(argument)
        elif name == "theme" and argument:
            self._app.set_theme(argument)
        else:
            self._app.do(name)
