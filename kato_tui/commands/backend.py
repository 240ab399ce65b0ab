"""Who does the work: the engine that runs, over its socket, or one of our own under the lock (spec §12).

With an engine running this imports neither pydantic nor the engine, so that `status` answers at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kato_tui.commands.talk import say
from kato_tui.core.client import NotRunning
from kato_tui.core.link import DirectLink, Link, RemoteLink

if TYPE_CHECKING:
    from kato_tui.core.engine import Engine
    from kato_tui.core.paths import Home


def home() -> Home:
    from kato_tui.core.paths import Home

    return Home.from_environ(os.environ, Path.home())


@contextmanager
def backend() -> Iterator[Link]:
    """The running engine, else one of our own for as long as the command takes."""
    remote = connect(home())
    if remote is not None:
        try:
            yield remote
        finally:
            remote.close()
        return
    from kato_tui.core.operations import Operations

    engine = own_engine()
    engine.start()
    try:
        yield DirectLink(Operations(engine))
    finally:
        engine.close()


def connect(place: Home) -> RemoteLink | None:
    """The engine that runs for this home, if there is one."""
    try:
        link = RemoteLink(place)
    except NotRunning:
        return None
    link.when_mute(lambda engine: say(f"{engine} does not answer yet, still waiting. Ctrl+c gives up"))
    return link


def own_engine() -> Engine:
    from kato_tui.core.config import at_its_line, load_config
    from kato_tui.core.engine import Engine
    from kato_tui.core.providers.registry import PROVIDERS

    place = home()
    with at_its_line(place.config):
        return Engine(place, load_config(place.config), PROVIDERS, os.environ, Path.home())
