"""The four panes. Each takes what it shows from the board and turns keys into rows; none changes anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content

from kato_tui.board import Board
from kato_tui.view import events as event_rows
from kato_tui.view import recordings as recording_rows
from kato_tui.view import sessions as session_rows
from kato_tui.view import warnings, words
from kato_tui.view.cells import Line, Piece, crop, piece
from kato_tui.view.safe import safe
from kato_tui.view.sessions import Wanted
from kato_tui.view.warnings import Alert
from kato_tui.view.words import Json, home_path
from kato_tui.widgets.virtual_list import VirtualList

#: Events of one session that the pane holds; older ones are read again when somebody goes there.
KEPT: Final = 5000


class Pane(VirtualList):
    """A numbered pane with a title. Titles are `Content`, never markup: they quote what sessions are called."""

    NAME: ClassVar[str] = ""
    NUMBER: ClassVar[int] = 0
    WORD: ClassVar[str] = ""

    def __init__(self, board: Board, user_home: str, keys: Sequence[Binding]) -> None:
        super().__init__(id=self.NAME, classes="pane")
        self.board = board
        self.user_home = user_home
        for one in keys:
            self._bindings.key_to_bindings.setdefault(one.key, []).append(one)
        self.say_title()

    def say_title(self, more: str = "", below: str = "") -> None:
        title = Content.assemble((f"{self.NUMBER} ", "$kato-muted"), (self.WORD, "bold"))
        if more:
            title += Content.styled(f" {safe(more, 200)}", "$kato-muted")
        self.border_title = title
        self.border_subtitle = Content.styled(safe(below, 200), "$kato-muted") if below else None

    BINDINGS: ClassVar[list[BindingType]] = []


class SessionsPane(Pane):
    NAME = "sessions"
    NUMBER = 1
    WORD = "Sessions"
    HEADER = True

    def __init__(self, board: Board, user_home: str, keys: Sequence[Binding]) -> None:
        self.wanted = Wanted()
        self._hidden: dict[str, int] = {}
        super().__init__(board, user_home, keys)

    def want(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.take()

    def take(self) -> None:
        """Show what the board has now."""
        everyone = self.board.sessions.values()
        keys, self._hidden = session_rows.choose(everyone, self.wanted, self.board.now(), self.board.unseen)
        self.set_items(keys)
        self.say_title(below=session_rows.counted(len(keys), len(everyone), self._hidden, self.wanted))

    @property
    def session(self) -> Json | None:
        return self.board.sessions.get(self.cursor or "")

    def block(self, key: str, size: int) -> list[Line]:
        session = self.board.sessions.get(key)
        if session is None:
            return [()]
        return [session_rows.row(session, size, self.board.now(), self.board.unseen.get(key, 0))]

    def header(self, size: int) -> Line:
        return session_rows.header(size)

    def empty(self, size: int) -> list[Line]:
        if self.board.phase == "starting":
            return [(Piece("◌ Looking for sessions …", "muted"),)]
        if self.board.phase == "gone" and not self.board.sessions:
            return [
                (Piece("No engine to ask for sessions.", "strong"),),
                (Piece("ctrl+r", "key"), Piece(" tries to start one", "muted")),
            ]
        if self.wanted.words:
            return [
                (piece(f"Nothing matches “{self.wanted.words}”.", "strong", 80),),
                (Piece("esc", "key"), Piece(" shows all sessions again", "muted")),
            ]
        if self._hidden:
            hidden = " and ".join(f"{count} {why}" for why, count in self._hidden.items())
            return [
                (Piece(f"{hidden} hidden.", "strong"),),
                (
                    Piece("V", "key"),
                    Piece(" shows stale ones, ", "muted"),
                    Piece("v", "key"),
                    Piece(" sub-agents", "muted"),
                ),
            ]
        return self._nothing(size)

    def _nothing(self, size: int) -> list[Line]:
        lines: list[Line] = [(Piece("No sessions yet.", "strong"),), (), (Piece("kato-tui looks in", "muted"),)]
        for root in self.board.engine.get("roots", ()):
            mark = "" if root.get("exists") else " (not there yet)"
            where = home_path(str(root["path"]), self.user_home)
            lines.append(crop((piece(where, "accent"), Piece(mark, "muted")), size))
        lines += [
            (),
            (Piece("Start a chat in Claude Code, Codex or Gemini CLI and it appears here.", "muted"),),
            (Piece("To look around first: ", "muted"), Piece("kato-tui --demo", "key")),
        ]
        return [crop(line, size) for line in lines]


class RecordingsPane(Pane):
    NAME = "recordings"
    NUMBER = 2
    WORD = "Recordings"
    HEADER = True

    def __init__(self, board: Board, user_home: str, keys: Sequence[Binding]) -> None:
        self.everything = False
        self._nobody = True
        self._rows: dict[str, Json] = {}
        super().__init__(board, user_home, keys)

    def take(self, session: Json | None) -> None:
        found = self.board.recordings() if self.everything else recording_rows.of_session(session)
        self._rows = {str(one["recordingId"]): one for one in recording_rows.ordered(found)}
        self._nobody = session is None
        self.set_items(list(self._rows))
        self.say_title("of all sessions" if self.everything else session_rows.named(session))

    @property
    def recording(self) -> Json | None:
        return self._rows.get(self.cursor or "")

    def block(self, key: str, size: int) -> list[Line]:
        return [recording_rows.row(self._rows[key], size, self.board.now(), self.user_home, of_all=self.everything)]

    def header(self, size: int) -> Line:
        return recording_rows.header(size, of_all=self.everything)

    def empty(self, size: int) -> list[Line]:
        if self._nobody and not self.everything:
            return [crop((Piece("Recordings of the selected session stand here.", "muted"),), size)]
        who = "Nothing is recorded yet." if self.everything else "This session is not recorded."
        lines: list[Line] = [
            (Piece(who, "strong"),),
            (Piece("s", "key"), Piece(" records it from now on", "muted")),
            (Piece("c", "key"), Piece(" takes all before as well", "muted")),
            (Piece("::start", "accent"), Piece(" in the chat does it too", "muted")),
        ]
        return [crop(line, size) for line in lines]


class EventsPane(Pane):
    NAME = "events"
    NUMBER = 3
    WORD = "Events"

    def __init__(self, board: Board, user_home: str, keys: Sequence[Binding]) -> None:
        self.everything = False
        self.follow = True
        self.fresh = 0
        #: The short id of the session shown, and whether its events are on their way.
        self.shown: str | None = None
        self.loading_events = False
        self.twinless = False
        self._title = ""
        self._rows: dict[str, Json] = {}
        super().__init__(board, user_home, keys)

    # What it shows.

    def call(self, title: str) -> None:
        """What the session is called may change while it is shown."""
        if title != self._title:
            self._title = title
            self.say_state()

    def open_session(self, short: str | None, *, twinless: bool) -> None:
        """Another session: empty until its events come."""
        self.shown, self.twinless = short, twinless
        self.loading_events = not twinless and short is not None
        self.follow, self.fresh = True, 0
        self._put({}, to_end=True)

    def open_everything(self) -> None:
        self.everything = True
        self.follow, self.fresh = True, 0
        self._put({event_rows.key_of(one): one for one in self.board.feed}, to_end=True)

    def fill(self, rows: Iterable[Json]) -> None:
        """The newest events of the session, as they were asked for."""
        self.loading_events = self.twinless = False
        self._put({event_rows.key_of(one): one for one in rows}, to_end=True)

    def put_before(self, rows: Iterable[Json]) -> None:
        """Older events than those it has."""
        older = {event_rows.key_of(one): one for one in rows}
        if older:
            self._put(older | self._rows, to_end=False)

    def append(self, rows: Sequence[Json]) -> None:
        """What has just happened."""
        mine = [one for one in rows if self.everything or one["sessionShortId"] == self.shown]
        if not self.everything and self.loading_events:
            return
        news = {key: one for one in mine if (key := event_rows.key_of(one)) not in self._rows}
        if not news:
            return
        self.twinless = False
        merged = self._rows | news
        if len(merged) > KEPT:
            merged = dict(list(merged.items())[-KEPT:])
        self.fresh += 0 if self.follow else len(news)
        self._put(merged, to_end=self.follow)

    def _put(self, rows: dict[str, Json], *, to_end: bool) -> None:
        self._rows = rows
        top = self.items[0] if self.items else None
        self.set_items(list(rows))
        if to_end:
            self.move_to(len(self.items) - 1)
            self.scroll_end(animate=False)
        elif top is not None and self.has(top):
            self._keep_in_sight()
        self.say_state()

    def say_state(self) -> None:
        who = "of all sessions" if self.everything else self._title
        self.set_class(not self.follow, "-paused")
        if self.fresh:
            below = f"+{self.fresh} new · f follows again"
        else:
            below = "following" if self.follow else "paused · f follows again"
        day = words.day(str(self.event.get("time") or ""), self.board.now()) if self.event is not None else ""
        self.say_title(who, " · ".join(one for one in (day, below) if one) if self.items else "")

    @property
    def first_seq(self) -> int | None:
        return int(self._rows[self.items[0]]["seq"]) if self.items and not self.everything else None

    @property
    def event(self) -> Json | None:
        return self._rows.get(self.cursor or "")

    # Following.

    def set_follow(self, on: bool) -> None:
        self.follow = on
        if on:
            self.fresh = 0
            self.move_to(len(self.items) - 1)
            self.scroll_end(animate=False)
        self.say_state()

    def select(self, key: str) -> None:
        super().select(key)
        at_end = self.index == len(self.items) - 1
        if self.follow and not at_end:
            self.set_follow(False)
        elif not self.follow and at_end and self.fresh == 0:
            self.follow = True
        self.say_state()

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        if self.follow and self.max_scroll_y > 0:
            self.set_follow(False)
        super()._on_mouse_scroll_up(event)

    def next_prompt(self, step: int) -> bool:
        """Go to the next thing the user said, or the one before; False when there is none."""
        place = self.index + step
        while 0 <= place < len(self.items):
            if self._rows[self.items[place]]["kind"] in event_rows.PROMPTS:
                self.move_to(place)
                return True
            place += step
        return False

    def block(self, key: str, size: int) -> list[Line]:
        return [event_rows.row(self._rows[key], size, self.user_home, with_session=self.everything)]

    def empty(self, size: int) -> list[Line]:
        if self.shown is None and not self.everything:
            return [crop((Piece("What is said in the selected session stands here.", "muted"),), size)]
        if self.loading_events and not self.everything:
            return [(Piece("◌ Reading …", "muted"),)]
        if self.twinless and not self.everything:
            lines: list[Line] = [
                (Piece("No twin of this session is kept.", "strong"),),
                (
                    Piece("⏎", "key"),
                    Piece(" reads its log now, ", "muted"),
                    Piece("K", "key"),
                    Piece(" keeps a twin", "muted"),
                ),
                (Piece("s", "key"), Piece(" records it, which keeps one as well", "muted")),
            ]
        else:
            lines = [
                (Piece("Nothing has been said yet.", "strong"),),
                (Piece("Events appear here as they happen.", "muted"),),
            ]
        return [crop(line, size) for line in lines]


class WarningsPane(Pane):
    NAME = "warnings"
    NUMBER = 4
    WORD = "Warnings"
    TALL = True

    def __init__(self, board: Board, user_home: str, keys: Sequence[Binding]) -> None:
        self._alerts: dict[str, Alert] = {}
        self._blocks: dict[tuple[Any, ...], list[Line]] = {}
        super().__init__(board, user_home, keys)

    def take(self) -> None:
        alerts = self.board.alerts()
        at_top = self.index == 0
        self._alerts = {one.key: one for one in warnings.expand(alerts)}
        self._blocks.clear()
        self.set_items(list(self._alerts))
        if at_top and not self.has_focus:
            # Nobody is reading: the newest is the one to show.
            self.move_to(0)
        sums = warnings.counted(alerts)
        told = [f"{sums['error']} ✗" if sums["error"] else "", f"{sums['warning']} !" if sums["warning"] else ""]
        self.say_title(" ".join(one for one in told if one))
        self.set_class(sums["error"] > 0, "-errors")

    @property
    def alert(self) -> Alert | None:
        return self._alerts.get(self.cursor or "")

    def block(self, key: str, size: int) -> list[Line]:
        alert = self._alerts[key]
        open_ = key == self.cursor
        found = self._blocks.get((key, size, open_))
        if found is None:
            found = self._blocks[key, size, open_] = warnings.block(alert, size, self.user_home, open_=open_)
        return found

    def empty(self, size: int) -> list[Line]:
        return [
            crop(line, size)
            for line in ((Piece("✓ All is well.", "good"),), (Piece("What needs you appears here.", "muted"),))
        ]
