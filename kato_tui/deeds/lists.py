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
        #: The session that was selected when a filter began to be typed.
        self._before: str | None = None

    @property
    def _wanted(self) -> Wanted:
        return self._app.sessions.wanted

    def _want(self, wanted: Wanted) -> None:
        self._app.sessions.want(wanted)
        self._app.rooms.share()
        self._app.rooms.show_tabs()

    def filter(self) -> None:
        """Type one, with what it is about in sight."""
        self._app.go_to(self._app.sessions)
        self._before = self._app.sessions.cursor
        self._app.line.open("filter", self._wanted.words)

    def filter_as_typed(self, words: str) -> None:
        """Half a word may hide the session that was selected: whoever types on, or takes it back, is there again."""
        self.filter_by(words)
        if self._before is not None:
            self._app.sessions.select(self._before)

    def filter_by(self, words: str) -> None:
        self._want(replace(self._wanted, words=words))

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
        self._want(replace(self._wanted, sort=name))
        self._app.hint(f"sorted by {name}")

    def sub_agents(self) -> None:
        self._want(replace(self._wanted, subagents=not self._wanted.subagents))
        self._app.hint(f"sub-agents {'shown' if self._wanted.subagents else 'hidden'}")

    def stale(self) -> None:
        self._want(replace(self._wanted, stale=not self._wanted.stale))
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
