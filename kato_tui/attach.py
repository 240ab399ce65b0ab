"""Which engine a dashboard uses: the one that runs for its home, else one of its own (spec §12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kato_tui.core.client import NotRunning
from kato_tui.core.errors import HomeBusy
from kato_tui.core.link import Link, LocalLink, RemoteLink
from kato_tui.core.paths import Home

if TYPE_CHECKING:
    from kato_tui.core.host import Host


class OwnLink(LocalLink):
    """The link of a host that was started for this screen and ends with it."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.service)
        self._host = host

    def close(self) -> None:
        self._host.close()


def own_link(host: Host) -> Link:
    host.start()
    return OwnLink(host)


def attach(home: Home, make_host: Callable[[], Host]) -> Link:
    """Blocks while the engine starts."""
    try:
        return _awake(home)
    except NotRunning:
        pass
    try:
        return own_link(make_host())
    except HomeBusy:
        # Somebody was quicker between the two questions.
        return _awake(home)


def _awake(home: Home) -> RemoteLink:
    """An engine that was stopped would leave the screen empty without a word."""
    link = RemoteLink(home)
    try:
        link.require_answers()
    except Exception:
        link.close()
        raise
    return link
