"""`kato-tui --no-ui`: the engine without a screen, one line for each thing that happens, until a signal ends it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kato_tui.core.config import load_config
from kato_tui.core.host import Host, own_host
from kato_tui.core.hub import Delta
from kato_tui.core.paths import Home
from kato_tui.core.service import Service
from kato_tui.core.store.twin import event_line
from kato_tui.view.safe import safe
from kato_tui.view.words import clock, counted, size

if TYPE_CHECKING:
    import argparse

_WORTH_A_LINE: Final = 1 << 20
#: A signal that comes in the moment before the wait begins is handled only after it.
_WAIT: Final = 0.5


def run_headless(arguments: argparse.Namespace) -> int:
    """`kato-tui --no-ui`: exit code 0 after a signal, 1 when the engine could not start or failed."""
    home = Home.from_environ(os.environ, Path.home())
    return run(own_host(home, load_config(home.config)), as_json=arguments.lines_json)


def run(host: Host, *, as_json: bool = False) -> int:
    """Run the engine until a signal ends it, telling what happens."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: host.service.stop())
    try:
        host.start()
        _follow(host.service, as_json=as_json)
    finally:
        host.close()
    failure = host.service.failure
    if failure is not None:
        sys.stderr.write(f"kato-tui: the engine stopped: {safe(str(failure))}\n")
    return 1 if failure is not None else 0


def _follow(service: Service, *, as_json: bool) -> None:
    version, progress = 0, {"done": 0, "total": 0, "bytes": 0}
    caught_up = progress
    if not as_json:
        _write(_hello(service))
    while True:
        delta = service.hub.changes(version, _WAIT)
        version = delta.version
        _write(_json_lines(delta, progress) if as_json else [*_lines(delta), *_progress_line(delta, caught_up)])
        progress = delta.progress
        if progress["done"] == progress["total"]:
            caught_up = progress
        if delta.closed:
            return


def _hello(service: Service) -> list[str]:
    engine = service.engine
    folders = ", ".join(safe(str(root.path)) for root in engine.roots)
    return [f"kato-tui watches {folders}. State is kept in {safe(str(engine.home.root))}. Ctrl+c ends it"]


def _write(lines: list[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _lines(delta: Delta) -> list[str]:
    return [
        f"{clock(notice['at'])} {safe(notice.get('sessionShortId', '-'), 8):8} {safe(notice['message'])}"
        for notice in delta.notices
    ]


def _progress_line(delta: Delta, before: dict[str, Any]) -> list[str]:
    """The end of a catch-up is worth a line; a live append is not."""
    now = delta.progress
    if now["done"] < now["total"] or now["bytes"] - before["bytes"] < _WORTH_A_LINE:
        return []
    return [f"up to date: {counted(now['done'], 'session')} read, {size(now['bytes'])}"]


def _json_lines(delta: Delta, before: dict[str, Any]) -> list[str]:
    items: list[dict[str, Any]] = [{"type": "notice", **notice} for notice in delta.notices]
    items += [{"type": "event", **event} for event in delta.events]
    if delta.dropped:
        items.append({"type": "dropped", "events": delta.dropped})
    if delta.progress != before:
        items.append({"type": "progress", **delta.progress})
    # Escaped like a twin's lines: also the output for programs is looked at by people.
    return [event_line(item).decode().rstrip("\n") for item in items]
