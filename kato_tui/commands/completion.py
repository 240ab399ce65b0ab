"""`completion`: a script with which a shell completes commands, options, ids and files. Printed, never installed.

The words stand in the script; which sessions and recordings there are, the script asks for when it needs them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from kato_tui.commands.completion_scripts import SCRIPTS, Argument, Command
from kato_tui.commands.talk import put_json
from kato_tui.exit_codes import DONE

Json = Mapping[str, Any]

#: What may stand for an argument of this name: files of the shell, or what `completion sessions` lists.
_KINDS: Final = {"SESSION": "sessions", "TARGET": "recordings", "DEST": "files", "FILE": "files"}


def run_completion(arguments: argparse.Namespace) -> int:
    from kato_tui.arguments import COMMANDS, parser

    if arguments.what in _LISTS:
        return _list(_LISTS[arguments.what], as_json=arguments.json)
    made = parser()
    commands = [_command("", "", made)]
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands += [_command(name, COMMANDS[name].help, one) for name, one in action.choices.items()]
    text = SCRIPTS[arguments.what](commands)
    if arguments.json:
        put_json({"shell": arguments.what, "script": text})
    else:
        sys.stdout.write(text)
    return DONE


def _command(name: str, help_: str, made: argparse.ArgumentParser) -> Command:
    """Taken from the parser itself, so that no option is ever missing."""
    found = [_argument(action) for action in made._actions if not isinstance(action, argparse._SubParsersAction)]
    options = tuple(one for one in found if one.option)
    return Command(name, help_, options, tuple(one for one in found if not one.option))


def _argument(action: argparse.Action) -> Argument:
    option = next((one for one in action.option_strings if one.startswith("--")), "")
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    return Argument(
        option,
        name,
        action.help or "",
        takes_value=action.nargs != 0,
        choices=tuple(word for word in map(str, action.choices or ()) if word not in _LISTS),
        kind=_KINDS.get(name, ""),
        repeats=action.nargs == "+",
    )


# What there is to choose from, for the scripts: an id and what it stands for, a line each, the newest first.


def _sessions(status: Json) -> list[tuple[str, str]]:
    from datetime import UTC, datetime

    from kato_tui.commands import show

    now = datetime.now(UTC)
    shown, _ = show.split_hidden(status["sessions"], now, everything=True)
    main = [one for one in shown if one.get("sourceKind") == "main"]
    return [(str(one["sessionShortId"]), f"{one['provider']}: {show.title(one)}") for one in main]


def _recordings(status: Json) -> list[tuple[str, str]]:
    from kato_tui.commands import show
    from kato_tui.view.safe import safe

    found = show.all_recordings(status)
    found.sort(key=lambda one: str(one.get("createdAt", "")), reverse=True)
    return [(str(one["recordingShortId"]), f"{one['status']}: {safe(str(one['destination']))}") for one in found]


def _list(pick: Callable[[Json], list[tuple[str, str]]], *, as_json: bool) -> int:
    from kato_tui.commands.backend import backend

    with backend() as engine:
        found = pick(engine.status())
    if as_json:
        put_json([{"id": short, "what": what} for short, what in found])
    else:
        sys.stdout.write("".join(f"{short}\t{what}\n" for short, what in found))
    return DONE


_LISTS: Final[dict[str, Callable[[Json], list[tuple[str, str]]]]] = {
    "sessions": _sessions,
    "recordings": _recordings,
}
