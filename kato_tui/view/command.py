"""The `:` line: the very commands of the chat, and a few words for the screen itself. Pure text in, wishes out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kato_tui.core.record.commands import COMMANDS, parse_line
from kato_tui.view.safe import safe
from kato_tui.view.sessions import FILTER_WORDS, SORTS
from kato_tui.view.words import Json, home_path

#: Intents that chats have no command for.
_MORE: Final = ("resume", "keep")
#: What concerns the screen only.
LOCAL: Final = ("filter", "sort", "theme", "help", "quit")
#: What hands that know other programs type.
_SHORT: Final = {"q": "quit", "q!": "quit", "h": "help"}
NAMES: Final = (*COMMANDS, *_MORE, *LOCAL)

_ID: Final = re.compile(r"(?:id:.*|[0-9a-fA-F-]{8,36})")
_SUFFIXES: Final = (".md", ".markdown", ".txt", ".jsonl")
_MOST: Final = 8


@dataclass(frozen=True, slots=True)
class Wish:
    """What a line asks for: an intent for the engine, something of the screen, or an error to show."""

    intent: dict[str, Any] | None = None
    local: tuple[str, str] | None = None
    error: str | None = None


def parse(line: str, session: str | None) -> Wish:
    """`session` is the selected one, whose chat the line might have been typed in; `@id` names another."""
    text = line.strip().lstrip(":").strip()
    if text.startswith("@"):
        named, _, text = text[1:].partition(" ")
        session, text = named, text.strip().lstrip(":")
    name, _, argument = text.partition(" ")
    name, argument = _SHORT.get(name.lower(), name.lower()), argument.strip()
    if name in LOCAL:
        return Wish(local=(name, argument))
    if name not in _MORE:
        command = parse_line(f"::{text}")
        if command is None or command.get("error"):
            return Wish(error=_unknown(name, command))
    if name in ("stop", "resume") and _ID.fullmatch(argument):
        # Ids are shown for the recordings of all sessions, so they may be meant of all.
        session = None
    elif session is None:
        return Wish(error=f"{name} needs a session: select one, or write :@<session id> {name}")
    intent: dict[str, Any] = {"action": name, "origin": "dashboard"}
    if argument:
        intent["argument"] = argument
    if session is not None:
        intent["session"] = session
    return Wish(intent=intent)


def _unknown(name: str, command: dict[str, Any] | None) -> str:
    if command is not None and name in COMMANDS:
        return str(command["error"])
    near = difflib.get_close_matches(name, NAMES, n=1)
    hint = f"did you mean :{near[0]}?" if near else f"there are {', '.join(NAMES)}"
    return f"unknown command :{safe(name, 40)}, {hint}"


# Completion.


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to go on: the whole line it makes, and what to show for it."""

    line: str
    label: str
    note: str = ""


ListFolder = Callable[[str], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Known:
    """What can be completed: plain values, so that a thread may use them."""

    recordings: Sequence[Json] = ()
    sessions: Sequence[tuple[str, str]] = ()
    themes: Sequence[str] = ()
    cwd: str = ""
    #: Written as `~` where there is a note to show.
    user_home: str = ""


def complete(line: str, known: Known, list_folder: ListFolder) -> list[Choice]:
    """How the line may go on, best first. `list_folder` gives the names in a folder, folders with a `/` behind."""
    colons = line[: len(line) - len(line.lstrip(" :"))]
    rest = line[len(colons) :]
    if rest.startswith("@"):
        named, space, tail = rest[1:].partition(" ")
        if not space:
            return _sessions(colons, named, known)
        colons, rest = f"{colons}@{named} ", tail
    name, space, argument = rest.partition(" ")
    if not space:
        found = [one for one in NAMES if one.startswith(name.lower())]
        return [Choice(f"{colons}{one} ", one, _NOTES.get(one, "")) for one in found][:_MOST]
    head = f"{colons}{name} "
    argument = argument.lstrip()
    make = _ARGUMENTS.get(name.lower())
    return make(head, argument, known, list_folder)[:_MOST] if make is not None else []


_NOTES: Final = {
    "start": "record from now on",
    "record": "the same as start",
    "stop": "all recordings of the session, or one",
    "capture": "all so far, then go on",
    "export": "all so far, once",
    "resume": "go on with a stopped recording",
    "keep": "keep a twin of the session",
    "filter": "show only what matches",
    "sort": "order of the sessions",
    "theme": "colours",
    "help": "all keys",
    "quit": "leave",
}


def _sessions(colons: str, typed: str, known: Known) -> list[Choice]:
    found = (one for one in known.sessions if one[0].startswith(typed.lower()) or typed.lower() in one[1].lower())
    choices = []
    for short, title in found:
        choices.append(Choice(f"{colons}@{short} ", short, safe(title, 60)))
        if len(choices) == _MOST:
            break
    return choices


def _targets(head: str, argument: str, known: Known, _: ListFolder) -> list[Choice]:
    stopping = head.split()[-1].strip(":") == "stop"
    pool = [one for one in known.recordings if (one["desiredState"] == "on") == stopping]
    typed = argument.lower()
    choices = []
    for one in pool:
        by_id = f"id:{_shortest(one, known.recordings)}"
        where = str(one["destination"])
        if by_id.startswith(typed) or by_id[3:].startswith(typed):
            choices.append(Choice(head + by_id, by_id, home_path(where, known.user_home)))
        elif f"dest:{where}".lower().startswith(typed) or (typed and typed in where.lower()):
            choices.append(Choice(f"{head}dest:{where}", f"dest:{home_path(where, known.user_home)}"))
    return choices


def _shortest(recording: Json, everyone: Sequence[Json]) -> str:
    """The short id, or the whole one where the short one means several."""
    short = recording["recordingShortId"]
    several = sum(one["recordingShortId"] == short for one in everyone) > 1
    return str(recording["recordingId"] if several else short)


def _paths(head: str, argument: str, known: Known, list_folder: ListFolder) -> list[Choice]:
    quote = '"' if argument.startswith('"') else ""
    typed = argument.lstrip('"').lstrip("@")
    if not typed and not known.cwd:
        typed = "~/"
    folder, slash, start = typed.rpartition("/")
    base = f"{folder}{slash}"
    where = base if base.startswith(("/", "~")) else f"{known.cwd}/{base}"
    names = [one for one in list_folder(where) if _offered(one, start)]
    choices = []
    for name in sorted(names, key=lambda one: (not one.endswith("/"), one.lower())):
        mark = quote or ('"' if " " in base + name else "")
        end = mark if not name.endswith("/") else ""
        choices.append(Choice(f"{head}{mark}{base}{name}{end}", safe(base + name, 200)))
    return choices


def _offered(name: str, start: str) -> bool:
    if not name.lower().startswith(start.lower()) or (name.startswith(".") and not start.startswith(".")):
        return False
    if not name.isprintable() or '"' in name:
        return False
    return name.endswith("/") or name.lower().endswith(_SUFFIXES)


def _words(*words: str) -> Callable[[str, str, Known, ListFolder], list[Choice]]:
    return lambda head, argument, _, __: [Choice(head + one, one) for one in words if one.startswith(argument.lower())]


def _themes(head: str, argument: str, known: Known, _: ListFolder) -> list[Choice]:
    return [Choice(head + one, one) for one in known.themes if argument.lower() in one]


_ARGUMENTS: Final[dict[str, Callable[[str, str, Known, ListFolder], list[Choice]]]] = {
    "start": _paths,
    "record": _paths,
    "capture": _paths,
    "export": _paths,
    "stop": _targets,
    "resume": _targets,
    "keep": _words("off"),
    "sort": _words(*SORTS),
    "filter": _words(*FILTER_WORDS),
    "theme": _themes,
}
