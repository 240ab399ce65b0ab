"""`status`, `sessions` and `recordings`: what there is and how it stands."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from kato_tui.columns import columns
from kato_tui.commands import show
from kato_tui.commands.backend import backend
from kato_tui.commands.talk import put, put_json, say
from kato_tui.core.client import NotRunning
from kato_tui.core.errors import HomeBusy
from kato_tui.exit_codes import DONE

if TYPE_CHECKING:
    import argparse

_EVERY: Final = 1.0
_REDRAW: Final = "\x1b[H\x1b[J"


def run_status(arguments: argparse.Namespace) -> int:
    if arguments.live:
        return live(arguments)
    status = _status(recent=_is_short(arguments))
    if arguments.json:
        put_json(status)
    else:
        _put_lines(status, arguments.all)
    return DONE


def run_sessions(arguments: argparse.Namespace) -> int:
    status = _status(recent=_is_short(arguments))
    now = _now()
    sessions, hidden = show.split_hidden(status["sessions"], now, everything=arguments.all)
    hidden = show.with_left_out(hidden, status.get("hidden", {}))
    if arguments.json:
        put_json(sessions)
        return DONE
    for line in show.table(show.session_rows(sessions, now), _width()) if sessions else [show.no_sessions(status)]:
        put(line)
    if hidden:
        say(show.hidden_line(hidden))
    for line in show.closed_roots(status["engine"]):
        say(line)
    return DONE


def run_recordings(arguments: argparse.Namespace) -> int:
    status = _status()
    recordings = show.all_recordings(status)
    if arguments.json:
        put_json(recordings)
    elif not recordings:
        put("nothing is recorded yet: kato-tui start SESSION, or ::start in the chat")
    else:
        for line in show.table(show.recording_rows(recordings, _now())):
            put(line)
    return DONE


def live(
    arguments: argparse.Namespace, wait: Callable[[float], None] = time.sleep, terminal: bool | None = None
) -> int:
    """A new picture every second until ctrl+c. Piped, only what changed, a line each.

    Each picture asks anew: an engine that is started meanwhile is found, and nothing is locked in between.
    """
    on_terminal = sys.stdout.isatty() if terminal is None else terminal
    before: dict[str, str] = {}
    try:
        while True:
            status = _status_or_none(recent=_is_short(arguments))
            if status is not None and arguments.json:
                put_json(status, indent=False)
            elif status is not None and on_terminal:
                sys.stdout.write(_REDRAW)
                _put_lines(status, arguments.all)
            elif status is not None:
                _put_changes(status, before, everything=arguments.all)
            sys.stdout.flush()
            wait(_EVERY)
    except KeyboardInterrupt:
        return DONE


def _put_changes(status: dict[str, Any], before: dict[str, str], *, everything: bool) -> None:
    now = _now()
    sessions, _ = show.split_hidden(status["sessions"], now, everything=everything)
    for one, row in zip(sessions, show.session_rows(sessions, now)[1:], strict=True):
        # The age changes by itself, so it is no news.
        line = "  ".join(cell for place, cell in enumerate(row) if place != 5)
        if before.get(one["sessionId"]) != line:
            before[one["sessionId"]] = line
            put(f"{now:%H:%M:%S}  {line}")


def _put_lines(status: dict[str, Any], everything: bool) -> None:
    for line in show.status_lines(status, _now(), everything=everything, width=_width()):
        put(line)
    put("")
    put(show.engine_line(status["engine"]))


def _is_short(arguments: argparse.Namespace) -> bool:
    """Whether some sessions are not shown anyway; machines and `--all` get everything."""
    return not arguments.all and not arguments.json


def _status(*, recent: bool = False) -> dict[str, Any]:
    with backend() as engine:
        return engine.status(recent=recent)


def _status_or_none(*, recent: bool) -> dict[str, Any] | None:
    """None while a one-off command holds the home, or the engine goes: the next picture will do."""
    try:
        return _status(recent=recent)
    except (HomeBusy, NotRunning):
        return None


def _now() -> datetime:
    return datetime.now(UTC)


def _width() -> int | None:
    """The terminal's width; a pipe gets whole lines."""
    return columns() if sys.stdout.isatty() else None
