"""An engine that runs, with its socket: what `--no-ui`, the dashboard and the demonstration all start."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kato_tui.core.config import Config, at_its_line
from kato_tui.core.control import Control
from kato_tui.core.engine import Engine
from kato_tui.core.errors import in_words
from kato_tui.core.link import LocalLink
from kato_tui.core.paths import Home
from kato_tui.core.pool import Pool
from kato_tui.core.providers.registry import PROVIDERS
from kato_tui.core.service import Service


class Host:
    """`start` (`HomeBusy` when another engine has the home), then `link` from any thread, then `close`."""

    def __init__(self, engine: Engine, config: Config, *, workers: int | None = None) -> None:
        self.config = config
        self.service = Service(engine, config)
        if workers != 0:
            self.service.pool = Pool(engine.assistance(), self.service.wake, workers or _spare_cores())
        self._control = Control(self.service)

    def start(self) -> None:
        with _nothing_collected():
            self.service.start()
        try:
            self._control.start()
        except OSError as error:
            message = f"no control socket ({in_words(error)}): commands cannot reach this engine while it runs"
            self.service.call(lambda: self.service.engine.say("no-socket", "warning", message))

    def link(self) -> LocalLink:
        return LocalLink(self.service)

    def close(self) -> None:
        """Safe to call twice. The socket goes first, so that nobody asks an engine that has stopped."""
        self._control.close()
        self.service.stop()
        self.service.join()


def own_host(home: Home, config: Config) -> Host:
    """The host of this user's real sessions."""
    with at_its_line(home.config):
        return Host(Engine(home, config, PROVIDERS, os.environ, Path.home()), config)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Thousands of sessions are taken in at a start and all stay: looking for garbage among them costs a tenth of it,
    and would cost as much again each time later on."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _spare_cores() -> int:
    """One core stays free for the engine and the screen; more than four only fight over the disk."""
    return max(1, min(4, (os.cpu_count() or 2) - 1))
