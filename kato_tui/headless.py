"""`kato-tui --no-ui`: the engine without a screen, one line for each thing that happens, until a signal ends it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import orjson

from kato_tui.core.config import load_config
from kato_tui.core.control import Control
from kato_tui.core.engine import Engine
from kato_tui.core.errors import KatoError
from kato_tui.core.hub import Delta
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.core.service import Service
from kato_tui.progress import size
from kato_tui.view.safe import safe


def run(*, as_json: bool = False) -> int:
    """The exit code: 0 after a signal, 1 when the engine could not start or failed."""
    user_home = Path.home()
    home = Home.from_environ(os.environ, user_home)
    try:
        config = load_config(home.config)
        service = Service(Engine(home, config, PROVIDERS, os.environ, user_home), config)
        service.start()
    except (KatoError, OSError) as error:
        sys.stderr.write(f"kato-tui: {safe(str(error))}\n")
        return 1
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: service.stop())
    control = Control(service)
    try:
        control.start()
        _follow(service, as_json=as_json)
    except OSError as error:
        sys.stderr.write(f"kato-tui: {safe(str(error))}\n")
        service.stop()
        service.join(2)
        return 1
    finally:
        control.close()
    service.join()
    return 1 if service.failure is not None else 0


def _follow(service: Service, *, as_json: bool) -> None:
    version, done = 0, -1
    while True:
        delta = service.hub.changes(version, None)
        version = delta.version
        for line in _json_lines(delta) if as_json else _lines(delta):
            sys.stdout.write(line + "\n")
        now = delta.progress["done"]
        if not as_json and now != done and now == delta.progress["total"] and now:
            sys.stdout.write(f"up to date: {now} sessions read, {size(delta.progress['bytes'])}\n")
        done = now
        sys.stdout.flush()
        if delta.closed:
            return


def _lines(delta: Delta) -> list[str]:
    return [
        f"{safe(notice['at'][11:19])} {safe(notice.get('sessionShortId', '-'), 8):8} {safe(notice['message'])}"
        for notice in delta.notices
    ]


def _json_lines(delta: Delta) -> list[str]:
    items: list[dict[str, Any]] = [{"type": "notice", **notice} for notice in delta.notices]
    items += [{"type": "event", **event} for event in delta.events]
    if delta.dropped:
        items.append({"type": "dropped", "events": delta.dropped})
    items.append({"type": "progress", **delta.progress})
    return [orjson.dumps(item).decode() for item in items]
