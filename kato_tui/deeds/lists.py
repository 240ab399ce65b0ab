"""Which sessions and recordings are listed, in what order, and which were seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kato_tui.deeds.selection import Selection
from kato_tui.view.sessions import SORTS, Wanted, key_of

if TYPE_CHECKING:
    from kato_tui.app import Dashboard


class Lists:
    def __init__(self, app: Dashboard, selection: Selection) -> None:
        self._app = app
        self._selection = selection

    @property
    def _wanted(self) -> Wanted:
        return self._app.sessions.wanted

    def filter(self) -> None:
        self._app.line.open("filter", self._wanted.words)

    def filter_by(self, words: str) -> None:
        self._app.sessions.want(replace(self._wanted, words=words))

    def clear_filter(self) -> bool:
        """Whether there was one."""
        if not self._wanted.words:
            return False
        self.filter_by("")
        return True

    def sort(self) -> None:
        self.sort_by(self._wanted.next_sort().sort)

    def sort_by(self, name: str) -> None:
        if name not in SORTS:
            self._app.say("no-order", "warning", f"sessions can be sorted by {', '.join(SORTS)}")
            return
        self._app.sessions.want(replace(self._wanted, sort=name))
        self._app.hint(f"sorted by {name}")

    def sub_agents(self) -> None:
        self._app.sessions.want(replace(self._wanted, subagents=not self._wanted.subagents))
        self._app.hint(f"sub-agents {'shown' if self._wanted.subagents else 'hidden'}")

    def stale(self) -> None:
        self._app.sessions.want(replace(self._wanted, stale=not self._wanted.stale))
        self._app.hint(f"sessions without activity for a week {'shown' if self._wanted.stale else 'hidden'}")

    def seen(self) -> None:
        self._selection.with_session(lambda one: self.mark_seen(key_of(one)))

    def seen_all(self) -> None:
        self.mark_seen(*self._app.board.sessions)

    def mark_seen(self, *keys: str) -> None:
        self._app.board.mark_seen(*keys)
        self._app.sessions.take()

    def all_recordings(self) -> None:
        pane = self._app.recordings
        pane.everything = not pane.everything
        pane.take(self._app.sessions.session)
