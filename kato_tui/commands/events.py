"""`events`: a session's twin as canonical JSON lines, to its end or for as long as it grows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kato_tui.commands.backend import backend
from kato_tui.commands.record import path_or_name
from kato_tui.core.client import NotRunning
from kato_tui.core.errors import HomeBusy
from kato_tui.exit_codes import DONE

if TYPE_CHECKING:
    import argparse

_EVERY: Final = 1.0


def run_events(arguments: argparse.Namespace, wait: Callable[[float], None] = time.sleep) -> int:
    session = path_or_name(arguments.session)
    next_seq = put_events(session, arguments.from_seq)
    if not arguments.follow:
        return DONE
    try:
        while True:
            wait(_EVERY)
            try:
                next_seq = put_events(session, next_seq)
            except (HomeBusy, NotRunning):
                continue  # a one-off command holds the home, or the engine goes: what is new is there in a second
    except KeyboardInterrupt:
        return DONE


def put_events(session: str, from_seq: int) -> int:
    """Print the events from `from_seq` on; gives the seq that comes next."""
    from kato_tui.core.store.twin import event_line

    with backend() as engine:
        for event in engine.all_events(session, from_seq):
            sys.stdout.buffer.write(event_line(event))
            from_seq = event["seq"] + 1
    sys.stdout.flush()
    return from_seq
