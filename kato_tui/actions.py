"""Everything the dashboard can do, in one table: keys, footer, help, palette, the README's key table and the keymap.

Plain values without Textual, so that `config validate` can judge a keymap without loading a screen.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from kato_tui.core.errors import ConfigError, Place

#: Where a key counts: everywhere, or only while that pane has the focus.
Scope = Literal["anywhere", "sessions", "recordings", "events", "warnings"]
PANES: Final[tuple[Scope, ...]] = ("sessions", "recordings", "events", "warnings")


@dataclass(frozen=True, slots=True)
class Action:
    id: str
    keys: tuple[str, ...]
    #: What it does, as a sentence without a subject.
    help: str
    scope: Scope = "anywhere"
    #: A word for the footer; without one it is not shown there.
    footer: str = ""
    group: str = ""


def _all(group: str, scope: Scope, *rows: tuple[str, str, str, str]) -> tuple[Action, ...]:
    return tuple(Action(name, tuple(keys.split()), text, scope, footer, group) for name, keys, footer, text in rows)


ACTIONS: Final[tuple[Action, ...]] = (
    *_all(
        "Sessions",
        "sessions",
        ("open-session", "enter", "events", "go to the events of the session; reads its log if no twin is kept"),
        ("about", "i", "", "show all that is known about the session"),
        ("copy-session", "y", "copy id", "copy the short id of the session"),
        ("copy-session-full", "Y", "", "copy the whole id of the session"),
        ("copy-resume", "R", "", "copy the command that resumes the session in its assistant"),
        ("seen", "m", "", "mark the session as seen"),
        ("seen-all", "M", "", "mark all sessions as seen"),
    ),
    *_all(
        "Recordings",
        "recordings",
        ("open-recording", "enter", "read", "read the file in $PAGER"),
        ("edit-recording", "E", "edit", "open the file in $EDITOR"),
        ("stop", "x", "stop", "stop the selected recording"),
        ("resume", "r", "resume", "go on with the selected, stopped recording"),
        ("copy-recording", "y", "copy id", "copy the short id of the recording"),
        ("copy-recording-full", "Y", "", "copy the whole id of the recording"),
        ("copy-destination", "p", "copy path", "copy where the recording is written to"),
        ("all-recordings", "a", "all", "show the recordings of all sessions, or of the selected one only"),
    ),
    *_all(
        "Events",
        "events",
        ("open-event", "enter", "open", "show the whole event: rendered, or as JSON with `r`"),
        ("follow", "f", "follow", "keep the newest event in sight, or stop doing so"),
        ("start-here", "h", "record from here", "start a recording that begins at the selected event"),
        ("next-prompt", "n", "prompts", "jump to the next thing you said"),
        ("previous-prompt", "N", "", "jump to the thing you said before"),
        ("copy-event", "y", "copy text", "copy the text of the event"),
        ("copy-event-json", "Y", "", "copy the event as JSON"),
        ("all-events", "a", "all", "show the events of all sessions, or of the selected one only"),
    ),
    *_all(
        "Warnings",
        "warnings",
        ("fix", "enter", "fix", "do what the selected warning proposes"),
        ("acknowledge", "d", "done", "take the selected warning off the list"),
        ("acknowledge-all", "D", "", "take all warnings off the list"),
        ("copy-ids", "y", "copy ids", "copy the ids that the warning names"),
    ),
    *_all(
        "Selected session",
        "anywhere",
        ("start", "s", "start", "record the session from now on, at its usual place"),
        ("start-at", "S", "start at", "record the session into a file you name"),
        ("capture", "c", "capture", "write everything so far and go on recording"),
        ("export", "e", "export", "write everything so far, once, into a file you name"),
        ("stop-all", "X", "stop all", "stop all recordings of the session"),
        ("keep", "K", "", "keep a twin of the session from now on, or no longer"),
    ),
    *_all(
        "List of sessions",
        "anywhere",
        ("filter", "/", "filter", "show only the sessions that match"),
        ("sort", "o", "", "sort by the next of activity, state, provider, project, tokens, unseen"),
        ("sub-agents", "v", "", "show or hide sub-agents"),
        ("stale", "V", "", "show or hide sessions without activity for a week"),
    ),
    *_all(
        "Screen",
        "anywhere",
        ("command", ":", "command", "type a command, the same as in the chat"),
        ("palette", "ctrl+p", "", "find any action by its name"),
        ("help", "? f1", "help", "show all keys"),
        ("zoom", "z", "zoom", "show the focused pane alone, or all panes again"),
        ("grow", "+ =", "", "give the upper or left panes more room"),
        ("shrink", "-", "", "give the upper or left panes less room"),
        ("next-pane", "tab", "", "go to the next pane"),
        ("previous-pane", "shift+tab", "", "go to the pane before"),
        ("pane-1", "1", "", "go to the sessions"),
        ("pane-2", "2", "", "go to the recordings"),
        ("pane-3", "3", "", "go to the events"),
        ("pane-4", "4", "", "go to the warnings"),
        ("theme", "T", "", "change the colours"),
        ("take-over", "ctrl+r", "", "start an engine here when the one before has gone"),
        ("clear", "escape", "", "clear the filter, the zoom or the messages; twice with nothing to clear leaves"),
        ("quit", "q ctrl+q", "quit", "leave; an engine that was running before goes on"),
        ("interrupt", "ctrl+c", "", "leave, when pressed twice"),
    ),
    *_all(
        "Moving",
        "anywhere",
        ("down", "j down", "", "one down"),
        ("up", "k up", "", "one up"),
        ("page-down", "pagedown ctrl+d", "", "a page down"),
        ("page-up", "pageup ctrl+u", "", "a page up"),
        ("first", "g home", "", "to the first; older events are read when there are more"),
        ("last", "G end", "", "to the last"),
    ),
)
BY_ID: Final = {one.id: one for one in ACTIONS}

#: The footer's order, for as many as fit.
_FOOTER: Final = ("help", "start", "stop-all", "filter", "command", "capture", "export", "start-at", "zoom", "quit")


def footer(actions: tuple[Action, ...], scope: str) -> list[Action]:
    """What the footer offers in a pane: its own keys, then the most useful of the others."""
    named = {one.id: one for one in actions}
    return [*(one for one in actions if one.scope == scope and one.footer), *(named[name] for name in _FOOTER)]


#: Keys by names as terminals are told of them; others would be taken without complaint and never come.
_NAMED: Final = "backspace|delete|down|end|enter|escape|home|insert|left|pagedown|pageup|right|space|tab|up"
_KEY: Final = re.compile(rf"(?:(?:ctrl|shift|alt|super)\+)*(?:[!-~]|{_NAMED}|f\d{{1,2}})")
#: What people write for them.
_ALSO: Final = {"esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "del": "delete"}


def _key(text: str) -> str:
    """A key as terminals name it: shift with a letter is the capital."""
    *held, last = text.split("+") if len(text) > 1 and not text.endswith("+") else [text]
    if len(last) > 1:
        last = _ALSO.get(last.lower(), last.lower())
    if held == ["shift"] and len(last) == 1 and last.isalpha():
        return last.upper()
    return "+".join((*(one.lower() for one in held), last.lower() if "ctrl" in held and len(last) == 1 else last))


def with_keymap(keymap: Mapping[str, str]) -> tuple[Action, ...]:
    """The table with the user's own keys in it. `ConfigError` says what is wrong with them, all of it."""
    problems: list[tuple[Place, str]] = []
    mine: dict[str, tuple[str, ...]] = {}
    for name, text in keymap.items():
        keys = tuple(_key(key) for key in (text.replace(",", " ").split() if text != "," else ","))
        if name not in BY_ID:
            near = difflib.get_close_matches(name, BY_ID, n=1)
            hint = f", did you mean `{near[0]}`?" if near else ""
            problems.append((("keymap", name), f"keymap: unknown action `{name}`{hint}"))
        elif name == "interrupt":
            problem = "keymap.interrupt: ctrl+c is the one key that always leaves; `quit` can be any"
            problems.append((("keymap", name), problem))
        elif wrong := [key for key in keys if not _KEY.fullmatch(key)]:
            problem = f"keymap.{name}: `{wrong[0]}` is not a key; keys are x, X, ctrl+x, f5, enter, …"
            problems.append((("keymap", name), problem))
        else:
            mine[name] = keys
    changed = tuple(replace(one, keys=mine.get(one.id, one.keys)) for one in ACTIONS)
    problems += [(("keymap",), problem) for problem in _clashes(changed)]
    if problems:
        raise ConfigError(*problems)
    return changed


def _clashes(actions: tuple[Action, ...]) -> list[str]:
    """Keys that would mean two things at once: one of the two could never be reached."""
    problems = []
    for pane in PANES:
        taken: dict[str, str] = {}
        for one in actions:
            for key in one.keys if one.scope in ("anywhere", pane) else ():
                other = taken.setdefault(key, one.id)
                if other != one.id:
                    problems.append(f"keymap: the key `{key}` would mean both `{other}` and `{one.id}`")
    return list(dict.fromkeys(problems))


_SHOWN: Final = {
    "enter": "⏎",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "down": "↓",
    "up": "↑",
    "shift+tab": "⇧tab",
}


def shown(key: str) -> str:
    """A key as it is written on the screen."""
    return _SHOWN.get(key, key.replace("ctrl+", "^") if key.startswith("ctrl+") else key)
