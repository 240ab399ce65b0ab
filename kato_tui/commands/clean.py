"""`clean`: says what it would throw away; with `--yes` it does it. Recordings' files are never touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kato_tui.commands.backend import backend
from kato_tui.commands.record import path_or_name
from kato_tui.commands.talk import UsageError, put, put_json, say
from kato_tui.exit_codes import DONE, FAILED
from kato_tui.view.safe import safe
from kato_tui.view.words import counted, size

if TYPE_CHECKING:
    import argparse

Json = dict[str, Any]

_LISTED: Final = 20


def run_clean(arguments: argparse.Namespace) -> int:
    if (arguments.older_than is None) == (arguments.session is None):
        raise UsageError("say what to clean: either --older-than DAYS or --session SESSION")
    wanted: Json = {"yes": arguments.yes}
    if arguments.session is not None:
        wanted["session"] = path_or_name(arguments.session)
    else:
        wanted["olderThan"] = arguments.older_than
    with backend() as engine:
        plan = engine.clean(**wanted)
    if arguments.json:
        put_json(plan)
    else:
        _put_plan(plan)
    # One session was named and stays: that is a failure. Among the old ones, it is only told.
    return FAILED if plan["refused"] and arguments.session is not None else DONE


def _put_plan(plan: Json) -> None:
    sessions, files = plan["sessions"], plan["files"]
    for part in sessions[:_LISTED]:
        put(_line(part))
    if len(sessions) > _LISTED:
        put(f"and {counted(len(sessions) - _LISTED, 'more session')}")
    for path in files:
        put(safe(path))
    for short, why in sorted(plan["refused"].items()):
        say(f"{short} stays: {why}")
    lost = sum(part["onlyCopy"] for part in sessions)
    if lost:
        say(f"{lost} of these twins {'was' if lost == 1 else 'were'} the only copy: the assistant deleted the log")
    if not sessions and not files:
        if not plan["refused"]:
            put("nothing to clean")
        return
    what = f"{counted(len(sessions), 'session')} and {counted(len(files), 'other file')}, {size(plan['bytes'])}"
    put(f"removed {what}" if plan["done"] else f"would remove {what}. Nothing was changed: --yes does it")


def _line(part: Json) -> str:
    notes = [f"{counted(part['recordings'], 'stopped recording')} forgotten, files stay"] if part["recordings"] else []
    notes += ["only copy"] if part["onlyCopy"] else []
    more = f" ({'; '.join(notes)})" if notes else ""
    name = safe(part["title"] or part["sessionKey"], 60)
    return f"{part['sessionShortId']}  {part['lastActivity'][:10]}  {size(part['bytes'])}  {name}{more}"
