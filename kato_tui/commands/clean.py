"""`clean`: says what it would throw away; with `--yes` it does it. Recordings' files are never touched."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from kato_tui.commands.backend import connect, home, own_engine
from kato_tui.commands.record import path_or_name
from kato_tui.commands.talk import DONE, FAILED, UsageError, put, put_json, say
from kato_tui.core.errors import KatoError
from kato_tui.view.safe import safe

if TYPE_CHECKING:
    from kato_tui.core.clean import Plan, SessionPart

_LISTED: Final = 20


def run_clean(arguments: argparse.Namespace) -> int:
    from kato_tui.core import clean

    if (arguments.older_than is None) == (arguments.session is None):
        raise UsageError("say what to clean: either --older-than DAYS or --session SESSION")
    if connect(home()) is not None:
        raise KatoError(f"cannot clean {home().root} while an engine runs: stop it first, with ctrl+c or SIGTERM")
    engine = own_engine()
    engine.start()
    try:
        if arguments.session is not None:
            plan = clean.plan_session(engine, path_or_name(arguments.session))
        else:
            plan = clean.plan_old(engine, arguments.older_than)
        if arguments.yes:
            clean.carry_out(engine, plan)
    finally:
        engine.close()
    if arguments.json:
        put_json(_as_json(plan, done=arguments.yes))
    else:
        _put_plan(plan, done=arguments.yes)
    # One session was named and stays: that is a failure. Among the old ones, it is only told.
    return FAILED if plan.refused and arguments.session is not None else DONE


def _put_plan(plan: Plan, *, done: bool) -> None:
    from kato_tui.progress import size

    for part in plan.sessions[:_LISTED]:
        put(_line(part))
    if len(plan.sessions) > _LISTED:
        put(f"and {len(plan.sessions) - _LISTED} more sessions")
    for path in plan.files:
        put(f"{safe(str(path))}")
    for short, why in sorted(plan.refused.items()):
        say(f"{short} stays: {why}")
    lost = sum(part.only_copy for part in plan.sessions)
    if lost:
        say(f"{lost} of these twins {'was' if lost == 1 else 'were'} the only copy: the assistant deleted the log")
    if not plan.sessions and not plan.files:
        put("nothing to clean")
        return
    what = f"{len(plan.sessions)} sessions and {len(plan.files)} other files, {size(plan.bytes)}"
    put(f"removed {what}" if done else f"would remove {what}. Nothing was changed: --yes does it")


def _line(part: SessionPart) -> str:
    from kato_tui.progress import size

    notes = [f"{part.recordings} stopped recordings forgotten, their files stay"] if part.recordings else []
    notes += ["only copy"] if part.only_copy else []
    more = f" ({'; '.join(notes)})" if notes else ""
    name = safe(part.title or part.key, 60)
    return f"{part.short_id}  {part.last:%Y-%m-%d}  {size(part.bytes)}  {name}{more}"


def _as_json(plan: Plan, *, done: bool) -> dict[str, Any]:
    return {
        "done": done,
        "bytes": plan.bytes,
        "sessions": [
            {
                "sessionShortId": part.short_id,
                "sessionKey": part.key,
                "lastActivity": part.last.isoformat(),
                "files": [str(path) for path in part.files],
                "bytes": part.bytes,
                "onlyCopy": part.only_copy,
                "recordings": part.recordings,
            }
            for part in plan.sessions
        ],
        "files": [str(path) for path in plan.files],
        "refused": plan.refused,
    }
