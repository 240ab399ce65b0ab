"""What the dashboard's actions do. Every wish for the engine is the intent that the chat would have sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from textual.app import SuspendNotSupported

from kato_tui import __version__, clipboard, outside, themes
from kato_tui.core.errors import KatoError
from kato_tui.core.glance import glance
from kato_tui.core.link import PAGE, Link
from kato_tui.pump import Lost
from kato_tui.screens.ask import Ask
from kato_tui.screens.detail import Detail
from kato_tui.screens.help import Help
from kato_tui.view import command as wording
from kato_tui.view import events as event_rows
from kato_tui.view import warnings
from kato_tui.view.safe import safe
from kato_tui.view.sessions import SORTS, active, key_of
from kato_tui.view.words import Json
from kato_tui.widgets.command_line import Mode

if TYPE_CHECKING:
    from kato_tui.app import Dashboard
    from kato_tui.view.warnings import Alert

#: Within so many seconds a second press means it.
_TWICE: Final = 2.0


class Deeds:
    def __init__(self, app: Dashboard) -> None:
        self._app = app
        self._pressed: tuple[str, float] = ("", 0.0)
        self._reading_older = False

    def do(self, name: str) -> None:
        deed: Callable[[], None] = getattr(self, name.replace("-", "_"))
        deed()

    # What is selected.

    @property
    def _session(self) -> Json | None:
        """The selected session; in the feed of everything, the one whose event is selected."""
        app = self._app
        if app.pane is app.events and app.events.everything and app.events.event is not None:
            return app.board.session(str(app.events.event["sessionShortId"]))
        return app.sessions.session

    def _with_session(self, then: Callable[[str, Json], None]) -> None:
        session = self._session
        if session is None:
            self._app.notify("no session is selected", markup=False)
        else:
            then(str(session["sessionId"]), session)

    def _with_recording(self, then: Callable[[Json], None]) -> None:
        found = self._app.recordings.recording
        if found is None:
            self._app.notify("no recording is selected: pane 2 lists them", markup=False)
        else:
            then(found)

    # Wishes for the engine.

    def submit(self, action: str, *, session: str | None = None, argument: str | None = None, **more: Any) -> None:
        intent = {"action": action, "session": session, "argument": argument, "origin": "dashboard", **more}
        self._send({key: value for key, value in intent.items() if value is not None})

    def _send(self, intent: Json) -> None:
        # What comes of it arrives as a notice, for this screen and every other one.
        self._app.pump.ask(lambda link: link.submit(dict(intent)), lambda _: None)

    def start(self) -> None:
        self._with_session(lambda key, _: self.submit("start", session=key))

    def capture(self) -> None:
        self._with_session(lambda key, _: self.submit("capture", session=key))

    def start_at(self) -> None:
        self._with_session(lambda *_: self._app.line.open("command", "start "))

    def export(self) -> None:
        self._with_session(lambda *_: self._app.line.open("command", "export "))

    def keep(self) -> None:
        def wish(key: str, session: Json) -> None:
            self.submit("keep", session=key, argument="off" if session.get("keepTwin") else None)

        self._with_session(wish)

    def start_here(self) -> None:
        event = self._app.events.event
        if event is None:
            self._app.notify("no event is selected", markup=False)
            return
        seq = int(event["seq"])
        self._with_session(lambda key, _: self.submit("start", session=key, fromSeq=seq))

    def stop(self) -> None:
        self._with_recording(lambda one: self.submit("stop", argument=f"id:{one['recordingId']}"))

    def resume(self) -> None:
        self._with_recording(lambda one: self.submit("resume", argument=f"id:{one['recordingId']}"))

    def stop_all(self) -> None:
        def wish(key: str, session: Json) -> None:
            on = active(session)
            if len(on) < 2:
                self.submit("stop", session=key)
                return
            names = "\n".join(f"  {one['recordingShortId']}  {safe(str(one['destination']), 60)}" for one in on)
            text = f"Stop {len(on)} recordings of this session?\n\n{names}"
            self._confirm("Stop all", text, "Stop all", lambda: self.submit("stop", session=key))

        self._with_session(wish)

    def _confirm(self, title: str, text: str, yes: str, then: Callable[[], None], *, unasked: bool = False) -> None:
        def answered(agreed: bool | None) -> None:
            if agreed:
                then()

        self._app.push_screen(Ask(title, text, yes, unasked=unasked), answered)

    # Sessions.

    def open_session(self) -> None:
        app = self._app

        def show(_: str, session: Json) -> None:
            self._mark(key_of(session))
            app.go_to(app.events)
            if app.events.twinless and not app.events.everything:
                app.read_events(str(session["sessionShortId"]))
                app.events.repaint()

        self._with_session(show)

    def seen(self) -> None:
        self._mark(self._app.sessions.cursor)

    def seen_all(self) -> None:
        self._mark(*self._app.board.sessions)

    def _mark(self, *keys: str | None) -> None:
        self._app.board.mark_seen(*(key for key in keys if key))
        self._app.sessions.repaint()

    def filter(self) -> None:
        self._app.line.open("filter", self._app.sessions.wanted.words)

    def sort(self) -> None:
        self._want(self._app.sessions.wanted.next_sort())
        self._app.notify(f"sorted by {self._app.sessions.wanted.sort}", markup=False, timeout=2)

    def sub_agents(self) -> None:
        wanted = self._app.sessions.wanted
        self._want(replace(wanted, subagents=not wanted.subagents))

    def stale(self) -> None:
        wanted = self._app.sessions.wanted
        self._want(replace(wanted, stale=not wanted.stale))

    def _want(self, wanted: Any) -> None:
        self._app.sessions.want(wanted)

    # Recordings.

    def open_recording(self) -> None:
        self._with_recording(lambda one: self._open("pager", str(one["destination"])))

    def edit_recording(self) -> None:
        self._with_recording(lambda one: self._open("editor", str(one["destination"])))

    def _open(self, tool: outside.Tool, path: str) -> None:
        try:
            with self._app.suspend():
                outside.open_file(tool, path)
        except SuspendNotSupported:
            self._app.say("cannot-open", "warning", "this terminal cannot be left for another program")
        except KatoError as error:
            self._app.say("cannot-open", "warning", str(error))
        self._app.refresh(layout=True)

    def all_recordings(self) -> None:
        pane = self._app.recordings
        pane.everything = not pane.everything
        pane.take(self._app.sessions.session)

    # Events.

    def follow(self) -> None:
        self._app.events.set_follow(not self._app.events.follow)

    def next_prompt(self) -> None:
        if not self._app.events.next_prompt(1):
            self._app.notify("nothing was said after this", markup=False, timeout=2)

    def previous_prompt(self) -> None:
        if not self._app.events.next_prompt(-1):
            self._app.notify("nothing was said before this", markup=False, timeout=2)

    def all_events(self) -> None:
        pane = self._app.events
        if pane.everything:
            pane.everything = False
            self._app.watch_selected_again()
        else:
            pane.open_everything()

    def open_event(self) -> None:
        glanced = self._app.events.event
        if glanced is None:
            self.open_session()
            return

        def show(event: Json) -> None:
            self._app.push_screen(Detail(event, glanced, self._turn, self.copy))

        self._read_event(glanced, show)

    def _turn(self, step: int) -> None:
        """The event before or after, in the window that is open."""
        pane = self._app.events
        pane.move_to(pane.index + step)
        glanced, screen = pane.event, self._app.screen
        if glanced is not None and isinstance(screen, Detail):

            def show(event: Json) -> None:
                self._app.call_later(screen.show, event, glanced)

            self._read_event(glanced, show)

    def _read_event(self, glanced: Json, then: Callable[[Json], None]) -> None:
        short, seq = str(glanced["sessionShortId"]), int(glanced["seq"])

        def shown(found: list[Json] | None) -> None:
            if found:
                then(found[0])

        self._app.pump.ask(lambda link: link.events(short, seq, 1)["events"], shown, slot="event")

    def read_older(self) -> None:
        """More of what was before, when the first event in the list is reached."""
        pane = self._app.events
        first, short = pane.first_seq, pane.shown
        if first is None or first <= 1 or short is None or self._reading_older:
            return
        self._reading_older = True

        def read(link: Link) -> list[Json]:
            begin = max(1, first - PAGE)
            return [glance(one, short) for one in link.events(short, begin, first - begin)["events"]]

        def put(rows: list[Json] | None) -> None:
            self._reading_older = False
            if rows and short == pane.shown and pane.first_seq == first:
                pane.put_before(rows)

        self._app.pump.ask(read, put)

    # Warnings.

    def fix(self) -> None:
        alert = self._app.warnings.alert
        if alert is not None:
            _FIXES[warnings.fix_of(alert).kind](self, alert)

    def _fix_command(self, alert: Alert) -> None:
        self._go_to_session(alert)
        self._app.line.open("command", warnings.fix_of(alert).text)

    def _fix_toggle(self, alert: Alert) -> None:
        found = alert.candidate or {}
        known = self._app.board.recording(str(found.get("recordingId")))
        action = "stop" if known is None or known["desiredState"] == "on" else "resume"
        self.submit(action, argument=f"id:{found['recordingId']}")

    def _go_to_session(self, alert: Alert) -> None:
        app = self._app
        session = app.board.session(alert.session)
        if session is None:
            return
        key = key_of(session)
        if not app.sessions.has(key):
            app.sessions.want(replace(app.sessions.wanted, words="", stale=True, subagents=True))
        app.sessions.select(key)

    def _fix_session(self, alert: Alert) -> None:
        self._go_to_session(alert)
        self._app.go_to(self._app.sessions)

    def _fix_rebuild(self, alert: Alert) -> None:
        short = str(alert.session)
        text = (
            f"Rebuild {short} from its log?\n\n"
            "What is there now is set aside, not deleted. Recordings stay as they are."
        )

        def told(done: Json | None) -> None:
            if done is not None:
                self._app.say("rebuilt", "info", f"{short}: rebuilt, {done['events']} events")

        self._confirm(
            "Rebuild", text, "Rebuild", lambda: self._app.pump.ask(lambda link: link.rebuild(short), told), unasked=True
        )

    def _fix_keep_all(self, alert: Alert) -> None:
        names = [str(one["session"]) for one in alert.candidates]
        text = f"Keep twins of {len(names)} sessions? Their logs are read now, and copies stay when the logs go."

        def keep() -> None:
            for name in names:
                self.submit("keep", session=name)
            self._app.board.acknowledge(alert.key)

        self._confirm("Keep twins", text, "Keep them", keep, unasked=True)

    def _fix_restart(self, _: Alert) -> None:
        self.take_over()

    def _fix_copy(self, alert: Alert) -> None:
        self.copy(warnings.report(alert, __version__), "the report")

    def _fix_none(self, _: Alert) -> None:
        self._app.notify("nothing to do: `d` takes it off the list", markup=False, timeout=3)

    def acknowledge(self) -> None:
        alert = self._app.warnings.alert
        if alert is not None:
            self._acknowledge(alert.key.partition("/")[0])

    def acknowledge_all(self) -> None:
        self._acknowledge(*(one.key for one in self._app.board.alerts()))

    def _acknowledge(self, *keys: str) -> None:
        self._app.board.acknowledge(*keys)
        self._app.warnings.take()

    # The clipboard.

    def copy(self, text: str, what: str) -> None:
        """To the terminal's clipboard at once, to the others in a thread: they are slow and may hang."""
        self._app.copy_to_clipboard(text)

        def told(taken: list[str] | None) -> None:
            where = ", ".join(("terminal", *(taken or ())))
            self._app.notify(f"copied {safe(what, 80)} ({where})", markup=False, timeout=2)

        self._app.local.add(lambda: clipboard.copy(text), told)

    def copy_session(self) -> None:
        self._with_session(lambda _, one: self.copy(str(one["sessionShortId"]), str(one["sessionShortId"])))

    def copy_session_full(self) -> None:
        self._with_session(lambda key, _: self.copy(key, key))

    def copy_resume(self) -> None:
        def wish(_: str, session: Json) -> None:
            found = session.get("resumeCommand")
            if found:
                self.copy(str(found), str(found))
            else:
                self._app.notify("this session cannot be resumed by a command", markup=False)

        self._with_session(wish)

    def copy_recording(self) -> None:
        self._with_recording(lambda one: self.copy(str(one["recordingShortId"]), str(one["recordingShortId"])))

    def copy_recording_full(self) -> None:
        self._with_recording(lambda one: self.copy(str(one["recordingId"]), str(one["recordingId"])))

    def copy_destination(self) -> None:
        self._with_recording(lambda one: self.copy(str(one["destination"]), str(one["destination"])))

    def copy_event(self) -> None:
        self._copy_event(event_rows.text_of)

    def copy_event_json(self) -> None:
        self._copy_event(lambda event: event_rows.pretty(dict(event)))

    def _copy_event(self, text_of: Callable[[Json], str]) -> None:
        glanced = self._app.events.event
        if glanced is not None:
            self._read_event(glanced, lambda event: self.copy(text_of(event), f"event {event['seq']}"))

    def copy_ids(self) -> None:
        alert = self._app.warnings.alert
        if alert is not None:
            found = warnings.ids(alert)
            self.copy(found, found.replace("\n", ", "))

    # The `:` line.

    def command(self) -> None:
        self._app.line.open("command")

    def typed(self, mode: Mode, text: str) -> None:
        if mode == "filter":
            self._want(replace(self._app.sessions.wanted, words=text))
            return
        known = self._known()
        self._app.local.add(
            lambda: wording.complete(text, known, outside.list_folder),
            lambda found: self._app.line.offer(found or ()) if self._app.line.entry.value == text else None,
            slot="complete",
        )

    def _known(self) -> wording.Known:
        board = self._app.board
        session = self._session
        return wording.Known(
            recordings=board.recordings(),
            sessions=[(str(one["sessionShortId"]), str(one.get("title") or "")) for one in board.sessions.values()],
            themes=sorted(self._app.available_themes),
            cwd=str((session or {}).get("cwd") or ""),
        )

    def entered(self, mode: Mode, text: str) -> None:
        if mode == "filter":
            self._want(replace(self._app.sessions.wanted, words=text))
            return
        if not text.strip(" :"):
            return
        session = self._session
        wish = wording.parse(text, str(session["sessionId"]) if session is not None else None)
        if wish.error is not None:
            self._app.say("invalid-command", "warning", wish.error)
        elif wish.local is not None:
            self._do_local(*wish.local)
        elif wish.intent is not None:
            self._send(wish.intent)

    def _do_local(self, name: str, argument: str) -> None:
        if name == "filter":
            self.entered("filter", argument)
        elif name == "sort":
            sort = argument if argument in SORTS else self._app.sessions.wanted.next_sort().sort
            self._want(replace(self._app.sessions.wanted, sort=sort))
        elif name == "theme" and argument:
            self._app.set_theme(argument)
        else:
            self.do(name)

    # The screen.

    def palette(self) -> None:
        self._app.action_command_palette()

    def help(self) -> None:
        self._app.push_screen(Help(self._app.actions, self._app.pane.NAME))

    def zoom(self) -> None:
        self._app.zoom(not self._app.zoomed)

    def grow(self) -> None:
        self._app.resize_panes(1)

    def shrink(self) -> None:
        self._app.resize_panes(-1)

    def next_pane(self) -> None:
        self._step_pane(1)

    def previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        panes: Sequence[Any] = self._app.panes
        self._app.go_to(panes[(panes.index(self._app.pane) + step) % len(panes)])

    def pane_1(self) -> None:
        self._app.go_to(self._app.sessions)

    def pane_2(self) -> None:
        self._app.go_to(self._app.recordings)

    def pane_3(self) -> None:
        self._app.go_to(self._app.events)

    def pane_4(self) -> None:
        self._app.go_to(self._app.warnings)

    def theme(self) -> None:
        at = themes.CYCLE.index(self._app.theme) if self._app.theme in themes.CYCLE else -1
        self._app.set_theme(themes.CYCLE[(at + 1) % len(themes.CYCLE)])

    def clear(self) -> None:
        """Whatever can be cleared first; with nothing left, leaving is offered."""
        app = self._app
        if app.sessions.wanted.words:
            self.entered("filter", "")
        elif app.zoomed:
            app.zoom(False)
        elif app.events.everything:
            self.all_events()
        else:
            app.clear_notifications()
            self._twice("escape", "esc again leaves")

    def _twice(self, key: str, hint: str) -> None:
        before, at = self._pressed
        if before == key and time.monotonic() - at < _TWICE:
            self._app.exit(0)
            return
        self._pressed = (key, time.monotonic())
        self._app.notify(hint, markup=False, timeout=_TWICE)

    def interrupt(self) -> None:
        self._twice("ctrl+c", "ctrl+c again leaves")

    def quit(self) -> None:
        """Leave. Where recordings would pause because the engine goes with us, that is said first."""
        app = self._app
        on = sum(len(active(one)) for one in app.board.sessions.values())
        if app.pump.remote or not on or app.throw_away:
            app.exit(0)
            return
        text = (
            f"{on} recording{'s' if on != 1 else ''} will wait until kato-tui runs again, and then catch up with what\n"
            "was said meanwhile. `kato-tui --no-ui` goes on without a screen."
        )
        self._confirm("Leave", text, "Leave", lambda: app.exit(0))

    # The engine.

    def take_over(self) -> None:
        if self._app.pump.connected:
            self._app.notify("an engine is running", markup=False, timeout=2)
            return
        self._app.board.phase = "starting"
        self._app.show_status()
        self._app.pump.start()

    def engine_lost(self, lost: Lost) -> None:
        app = self._app
        app.board.phase = "gone"
        app.show_status()
        if lost.remote:
            app.say("engine-gone", "error", f"the engine that was attached to has gone: {lost.reason}")
            text = "The engine this screen was attached to has gone.\n\nStart one here, in its place?"
            self._confirm("No engine", text, "Take over", self.take_over, unasked=True)
        else:
            app.say("engine-failed", "error", lost.reason)

    def ring(self, calling: list[Json]) -> None:
        """The bell, and a message of the desktop where the terminal passes one on. Fixed words and ids only."""
        self._app.bell()
        names = ", ".join(safe(str(one["sessionShortId"]), 8) for one in calling[:3])
        self._app.write_raw(f"\x1b]9;kato-tui: {names} needs you\x07")

    # Moving.

    def down(self) -> None:
        self._move(1)

    def up(self) -> None:
        self._move(-1)

    def page_down(self) -> None:
        self._move(self._app.pane.page)

    def page_up(self) -> None:
        self._move(-self._app.pane.page)

    def first(self) -> None:
        self._app.pane.move_to(0)

    def last(self) -> None:
        pane = self._app.pane
        pane.move_to(len(pane.items) - 1)
        if pane is self._app.events:
            self._app.events.set_follow(True)

    def _move(self, step: int) -> None:
        pane = self._app.pane
        pane.move_to(pane.index + step)


_FIXES: Final[dict[str, Callable[[Deeds, Any], None]]] = {
    "command": Deeds._fix_command,
    "toggle": Deeds._fix_toggle,
    "session": Deeds._fix_session,
    "rebuild": Deeds._fix_rebuild,
    "restart": Deeds._fix_restart,
    "keep-all": Deeds._fix_keep_all,
    "copy": Deeds._fix_copy,
    "none": Deeds._fix_none,
}
