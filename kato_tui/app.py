"""The dashboard: its panes, its layouts, and what becomes of what the engine tells. Deeds are in `deeds.py`.

Everything that may take time happens in the pump's threads; this thread only paints and asks.
"""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import DescendantFocus, Resize
from textual.message import Message
from textual.screen import Screen

from kato_tui import themes
from kato_tui.actions import ACTIONS, PANES, Action, with_keymap
from kato_tui.board import Board, Changes, Update, wall_clock
from kato_tui.core.errors import KatoError
from kato_tui.core.glance import glance
from kato_tui.core.link import Link
from kato_tui.core.looks import Looks
from kato_tui.deeds import Deeds
from kato_tui.palette import Palette
from kato_tui.pump import Answer, Errands, Lost, MakeLink, Pump
from kato_tui.rooms import Rooms
from kato_tui.view.safe import safe
from kato_tui.view.sessions import named
from kato_tui.view.warnings import Alert
from kato_tui.view.words import Json, with_home
from kato_tui.widgets.bars import Card, Clickable, KeyBar, StatusBar, TabBar
from kato_tui.widgets.command_line import CommandLine
from kato_tui.widgets.panes import EventsPane, Pane, RecordingsPane, SessionsPane, WarningsPane
from kato_tui.widgets.virtual_list import VirtualList

#: Events asked for at a time.
PAGE: Final = 500
_AGES_EVERY: Final = 15.0
_TOASTS: Final = 3
_SEVERITIES: Final = {"info": "information", "warning": "warning", "error": "error"}


@dataclass
class Posted(Message):
    """Something from a thread."""

    what: Update | Lost | Answer


class Dashboard(App[int]):
    CSS_PATH = "kato_tui.tcss"
    TITLE = "kato-tui"
    COMMANDS: ClassVar[set[Any]] = {Palette}
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "do('interrupt')", show=False, priority=True)]

    def __init__(
        self,
        make_link: MakeLink,
        looks: Looks,
        *,
        user_home: str = "",
        title: str = "kato",
        throw_away: bool = False,
        now: Callable[[], datetime] = wall_clock,
    ) -> None:
        super().__init__()
        # Textual's own keys: these are in our table as well, and may be others there.
        for key in (self.COMMAND_PALETTE_BINDING, "ctrl+q"):
            self._bindings.key_to_bindings.pop(key, None)
        #: Nothing that happens here lasts, so leaving needs no warning.
        self.throw_away = throw_away
        self.actions = with_keymap(looks.keymap)
        self.looks = looks
        self.user_home = user_home
        self.board = Board(now, title)
        self.pump = Pump(make_link, self._from_thread)
        self.local = Errands(self._from_thread, "kato-local")
        self.rooms = Rooms(self)
        self.deeds = Deeds(self)
        self.failure: Exception | None = None
        self._asked_for: str | None = None
        for theme in themes.THEMES:
            self.register_theme(theme)
        known = looks.theme is not None and looks.theme in self.available_themes
        self._begin_with(str(looks.theme) if known else self._own_theme())

    def _begin_with(self, theme: str) -> None:
        """Take a theme before anything is drawn: one that is set later has every style worked out twice."""
        self.set_reactive(Dashboard.theme, theme)
        dark = self.current_theme.dark
        self.set_class(dark, "-dark-mode", update=False)
        self.set_class(not dark, "-light-mode", update=False)
        self.add_class(f"-theme-{theme}", update=False)
        self._refresh_truecolor_filter(self.ansi_theme)
        self.stylesheet.set_variables(self.get_css_variables())

    # Composition.

    def compose(self) -> ComposeResult:
        keys = {scope: self._bindings_of(scope) for scope in PANES}
        yield StatusBar()
        yield TabBar()
        with Container(id="board"):
            yield SessionsPane(self.board, self.user_home, keys["sessions"])
            yield Card()
            yield EventsPane(self.board, self.user_home, keys["events"])
            yield RecordingsPane(self.board, self.user_home, keys["recordings"])
            yield WarningsPane(self.board, self.user_home, keys["warnings"])
        yield CommandLine()
        yield KeyBar()

    def _bindings_of(self, scope: str) -> list[Binding]:
        """One binding for each key; keys that move are anywhere's too, but lists need them before their scroll bars."""
        mine = [one for one in self.actions if one.scope == scope or one.group == "Moving"]
        return list(
            Binding.make_bindings(
                Binding(key, f"app.do('{one.id}')", one.help, show=False, priority=True, id=f"{one.id}-{key}")
                for one in mine
                for key in one.keys
            )
        )

    def on_mount(self) -> None:
        for one in self.actions:
            if one.scope == "anywhere" and one.group != "Moving":
                for key in one.keys:
                    self._bind(key, one)
        if self.looks.theme not in (None, self.theme):
            self.set_theme(str(self.looks.theme))
        self._handle_signals()
        self.sessions.focus()
        self.rooms.fit(*self.size)
        self.show_status()
        self.set_interval(_AGES_EVERY, self._repaint_ages)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """After the first frame: the engine that may have to be loaded takes its share of this process."""
        gc.freeze()
        gc.enable()
        self.pump.start()

    def _bind(self, key: str, action: Action) -> None:
        # Tab would be taken by the screen, which knows nothing of zoom and tabs.
        screen = self.screen._bindings
        named = Binding(key, f"app.do('{action.id}')", action.help, show=False, priority=True)
        for one in Binding.make_bindings([named]):
            screen.key_to_bindings[one.key] = [one]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the line is open, keys are letters. Else each has its effect before the next is looked at.

        Who types on at once means the pane or the line that the key before has led to.
        """
        return action != "do" or parameters == ("interrupt",) or not self.line.is_open

    def _own_theme(self) -> str:
        return themes.ANSI if self.console.color_system == "standard" else themes.DARK

    def _handle_signals(self) -> None:
        """A closed terminal or a `kill` ends us like a key does: the terminal is put right first."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, partial(self._end, number))

    def _end(self, number: int) -> None:
        self.exit(return_code=128 + number)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return super().get_theme_variable_defaults() | themes.defaults(self.current_theme)

    @property
    def sessions(self) -> SessionsPane:
        return self.base.query_one(SessionsPane)

    @property
    def recordings(self) -> RecordingsPane:
        return self.base.query_one(RecordingsPane)

    @property
    def events(self) -> EventsPane:
        return self.base.query_one(EventsPane)

    @property
    def warnings(self) -> WarningsPane:
        return self.base.query_one(WarningsPane)

    @property
    def line(self) -> CommandLine:
        return self.base.query_one(CommandLine)

    @property
    def base(self) -> Screen[Any]:
        """The screen with the panes, whatever lies over it."""
        return self.screen_stack[0]

    @property
    def panes(self) -> tuple[Pane, ...]:
        return (self.sessions, self.recordings, self.events, self.warnings)

    @property
    def pane(self) -> Pane:
        """The pane that has the focus, or had it before something lay over it."""
        found = self.base.focused
        return found if isinstance(found, Pane) else self._last_pane or self.sessions

    _last_pane: Pane | None = None

    # Layout.

    def on_resize(self, event: Resize) -> None:
        self.rooms.fit(event.size.width, event.size.height)

    def go_to(self, pane: Pane) -> None:
        pane.display = True
        self._last_pane = pane
        # Not by `focus`, which does it later: the line that the next key opens would lose the focus again.
        self.base.set_focus(pane)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        if isinstance(event.widget, Pane) and not self._leaving:
            self._last_pane = event.widget
            self.rooms.show_panes()

    def _repaint_ages(self) -> None:
        """Times that are told as ages grow by themselves."""
        if self._leaving:
            return
        self.sessions.repaint()
        self.recordings.repaint()
        self.rooms.show_card()
        self.show_status()

    def show_status(self) -> None:
        self.base.query_one(StatusBar).tell(self.board.facts())

    # What comes from threads.

    def _from_thread(self, what: Update | Lost | Answer) -> None:
        self.post_message(Posted(what))

    @on(Posted)
    def _take(self, message: Posted) -> None:
        what = message.what
        if self._leaving:
            self.pump.taken()
        elif isinstance(what, Update):
            try:
                self._apply(what)
            finally:
                self.pump.taken()
        elif isinstance(what, Lost):
            self.deeds.leaving.engine_lost(what)
        elif what.error is not None:
            self._tell_failure(what.error)
            what.then(None)
        else:
            what.then(what.result)

    @property
    def _leaving(self) -> bool:
        """Whether the screen is being taken down: what still comes then has nowhere to be shown."""
        return self._exit or not self.is_running

    def _tell_failure(self, error: Exception) -> None:
        """What the engine could not do now is one thing, a mistake of the program another."""
        if isinstance(error, KatoError):
            self.say("not-done", "warning", str(error))
        else:
            self.say("dashboard-failed", "error", f"{type(error).__name__}: {error}")

    def _apply(self, update: Update) -> None:
        changes = self.board.apply(update)
        if changes.sessions or update.first:
            self._see_selected()
            self.sessions.take()
            self.recordings.take(self.sessions.session)
            self._watch_selected(again=update.first)
            self.rooms.share()
        if changes.alerts:
            self.warnings.take()
        if changes.events:
            self.events.append(changes.events)
        self._tell_news(changes)
        self.rooms.show_tabs()
        self.rooms.show_card()
        self.show_status()

    def _see_selected(self) -> None:
        """Who reads along sees what is said."""
        if self.pane is self.events and self.events.follow and self.sessions.cursor and not self.events.everything:
            self.board.mark_seen(self.sessions.cursor)

    def _tell_news(self, changes: Changes) -> None:
        for alert in changes.news[:_TOASTS]:
            self.toast(alert)
        if len(changes.news) > _TOASTS:
            self.hint(f"{len(changes.news) - _TOASTS} more in the warnings")
        if changes.calling and self.looks.bell:
            self._ring(changes.calling)

    def _ring(self, calling: list[Json]) -> None:
        """The bell, and a message of the desktop where the terminal passes one on. Fixed words and ids only."""
        self.bell()
        names = ", ".join(safe(str(one["sessionShortId"]), 8) for one in calling[:3])
        self._write_raw(f"\x1b]9;kato-tui: {names} needs you\x07")

    def _write_raw(self, sequence: str) -> None:
        """A sequence for the terminal itself. Only for fixed words: nothing of a log may get here."""
        if self._driver is not None:
            self._driver.write(sequence)
            self._driver.flush()

    def toast(self, alert: Alert) -> None:
        self.notify(
            safe(with_home(alert.message, self.user_home), 400),
            title=safe(alert.session or "", 12),
            severity=_SEVERITIES.get(alert.severity, "information"),  # type: ignore[arg-type]
            timeout=8 if alert.severity == "error" else 4,
            markup=False,
        )

    def hint(self, text: str, seconds: float = 3) -> None:
        """A word about a key that needs no line in the warnings. `text` is clean."""
        self.notify(text, markup=False, timeout=seconds)

    def say(self, code: str, severity: str, message: str) -> None:
        """Something of the dashboard's own: a toast, and a line in the warnings."""
        self.toast(self.board.tell(code, severity, message))
        self.warnings.take()

    # What is selected.

    @on(VirtualList.Moved)
    def _moved(self, message: VirtualList.Moved) -> None:
        message.stop()
        if self._leaving:
            return
        if message.list is self.sessions:
            self.recordings.take(self.sessions.session)
            self._watch_selected()
            self.rooms.show_card()
        elif message.list is self.events and self.events.index == 0:
            self.deeds.reading.read_older()

    @on(VirtualList.Opened)
    def _opened(self, message: VirtualList.Opened) -> None:
        message.stop()
        self.do(_OPENS[str(message.list.id)])

    @on(Clickable.Picked)
    def _picked(self, message: Clickable.Picked) -> None:
        message.stop()
        if isinstance(message.bar, TabBar):
            self.go_to(next(one for one in self.panes if message.name == one.NAME))
        else:
            self.do(message.name)

    def _watch_selected(self, *, again: bool = False) -> None:
        """Show the events of the selected session, asking for them where they are not the ones shown."""
        if self.events.everything:
            return
        session = self.sessions.session
        short = str(session["sessionShortId"]) if session is not None else None
        has_twin = bool(session and session.get("twinEvents"))
        self.events.call(named(session))
        if short == self._asked_for and not again and not (self.events.twinless and has_twin):
            return
        self._asked_for = short
        self.events.open_session(short, twinless=not has_twin)
        if short is not None and has_twin:
            self.read_events(short)

    def watch_selected_again(self) -> None:
        self._watch_selected(again=True)

    def read_events(self, short: str) -> None:
        self.events.loading_events = True

        def read(link: Link) -> list[Json]:
            return [glance(one, short) for one in link.events(short, -PAGE, PAGE)["events"]]

        self.pump.ask(read, lambda rows: self._fill(short, rows), slot="events")

    def _fill(self, short: str, rows: list[Json] | None) -> None:
        if short == self.events.shown and not self.events.everything:
            self.events.fill(rows or ())

    # Keys.

    def action_do(self, name: str) -> None:
        self.do(name)

    def do(self, name: str) -> None:
        """Carry out an action of the table."""
        self.deeds.do(name)

    def set_theme(self, name: str) -> None:
        if name not in self.available_themes:
            known = ", ".join(sorted(self.available_themes))
            self.say("no-theme", "warning", f"there is no theme {safe(name, 40)}: {known}")
            return
        self.theme = name
        self.hint(f"theme {name}: set `theme` in config.toml to keep it")

    @on(CommandLine.Typed)
    def _typed(self, message: CommandLine.Typed) -> None:
        self.rooms.show_keys()
        self.deeds.entering.typed(message.mode, message.text)

    @on(CommandLine.Entered)
    def _entered(self, message: CommandLine.Entered) -> None:
        self.base.set_focus(self.pane)
        self.deeds.entering.entered(message.mode, message.text)

    @on(CommandLine.Left)
    def _left(self, message: CommandLine.Left) -> None:
        self.base.set_focus(self.pane)
        if message.mode == "filter":
            self.deeds.lists.filter_as_typed("")

    # When something goes wrong.

    def _fatal_error(self) -> None:
        """Textual would print every local variable, and with them what was said in the sessions."""
        self.failure = self._exception
        self._exit_renderables.append(Text(f"kato-tui: {type(self._exception).__name__}: the dashboard failed"))
        self._close_messages_no_wait()


#: What a double click does: the same as Enter, whatever key the user has put that on.
_OPENS: Final[dict[str, str]] = {one.scope: one.id for one in ACTIONS if "enter" in one.keys}
