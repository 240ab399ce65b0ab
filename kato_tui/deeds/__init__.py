"""What the dashboard's actions do, one module for each sort; the table here leads from names to deeds.

Every wish for the engine is the intent that the chat would have sent. Nothing here waits: what takes time is asked of
the pump, and what comes of it arrives later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kato_tui.deeds.copying import Copying
from kato_tui.deeds.entering import Entering
from kato_tui.deeds.leaving import Leaving
from kato_tui.deeds.lists import Lists
from kato_tui.deeds.mending import Mending
from kato_tui.deeds.moving import Moving
from kato_tui.deeds.reading import Reading
from kato_tui.deeds.selection import Selection
from kato_tui.deeds.wishes import Wishes

if TYPE_CHECKING:
    from kato_tui.app import Dashboard

Deed = Callable[[], None]


class Deeds:
    def __init__(self, app: Dashboard) -> None:
        selection = Selection(app)
        self.wishes = Wishes(app, selection)
        self.lists = Lists(app, selection)
        self.copying = Copying(app, selection)
        self.reading = Reading(app, selection, self.copying)
        self.leaving = Leaving(app)
        self.moving = Moving(app)
        self.entering = Entering(app, selection, self.wishes, self.lists)
        self.mending = Mending(app, self.wishes, self.copying, self.leaving)
        self.leaving.clearings = (self.lists.clear_filter, self.moving.unzoom, self.reading.leave_all_events)
        self.table: dict[str, Deed] = {
            **self._of_panes(),
            **self._of_sessions(),
            **self._of_screen(),
        }

    def do(self, name: str) -> None:
        """Carry out an action of the table in `actions.py`, or a word of the `:` line that means one."""
        self.table[name]()

    def _of_panes(self) -> dict[str, Deed]:
        reading, wishes, copying, mending, lists = self.reading, self.wishes, self.copying, self.mending, self.lists
        return {
            "open-session": reading.open_session,
            "about": reading.about,
            "copy-session": copying.session,
            "copy-session-full": copying.session_in_full,
            "copy-resume": copying.resume_command,
            "seen": lists.seen,
            "seen-all": lists.seen_all,
            "open-recording": reading.open_recording,
            "edit-recording": reading.edit_recording,
            "stop": wishes.stop,
            "resume": wishes.resume,
            "copy-recording": copying.recording,
            "copy-recording-full": copying.recording_in_full,
            "copy-destination": copying.destination,
            "all-recordings": lists.all_recordings,
            "open-event": reading.open_event,
            "follow": reading.follow,
            "start-here": wishes.start_here,
            "next-prompt": reading.next_prompt,
            "previous-prompt": reading.previous_prompt,
            "copy-event": copying.event,
            "copy-event-json": copying.event_as_json,
            "all-events": reading.all_events,
            "fix": mending.fix,
            "acknowledge": mending.acknowledge,
            "acknowledge-all": mending.acknowledge_all,
            "copy-ids": copying.ids,
        }

    def _of_sessions(self) -> dict[str, Deed]:
        return {
            "start": self.wishes.start,
            "start-at": self.wishes.start_at,
            "capture": self.wishes.capture,
            "export": self.wishes.export,
            "stop-all": self.wishes.stop_all,
            "keep": self.wishes.keep,
            "filter": self.lists.filter,
            "sort": self.lists.sort,
            "sub-agents": self.lists.sub_agents,
            "stale": self.lists.stale,
        }

    def _of_screen(self) -> dict[str, Deed]:
        moving, leaving = self.moving, self.leaving
        return {
            "command": self.entering.command,
            "palette": moving.palette,
            "help": moving.help,
            "zoom": moving.zoom,
            "grow": moving.grow,
            "shrink": moving.shrink,
            "next-pane": moving.next_pane,
            "previous-pane": moving.previous_pane,
            "pane-1": moving.pane_1,
            "pane-2": moving.pane_2,
            "pane-3": moving.pane_3,
            "pane-4": moving.pane_4,
            "theme": moving.theme,
            "take-over": leaving.take_over,
            "clear": leaving.clear,
            "quit": leaving.quit,
            "interrupt": leaving.interrupt,
            "down": moving.down,
            "up": moving.up,
            "page-down": moving.page_down,
            "page-up": moving.page_up,
            "first": moving.first,
            "last": moving.last,
        }
