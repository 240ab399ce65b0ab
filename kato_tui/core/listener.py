"""Who the engine tells what happens while it happens: a hub for screens, or nobody."""

from __future__ import annotations

from typing import Protocol

from kato_tui.core.model.intents import Notice
from kato_tui.core.model.session import SessionMetadata


class Listener(Protocol):
    """Called from the engine's own thread, between its steps."""

    def noticed(self, notice: Notice) -> None: ...

    def changed(self, key: str) -> None:
        """The session's facts or recordings are not as they were."""

    def appended(self, metadata: SessionMetadata, first: int) -> None:
        """The twin has new events, from seq `first` on."""

    def taken(self, key: str) -> None:
        """The engine is about to read this session itself: whoever was in the middle of it lets go."""


class Silent:
    """Tells nobody."""

    def noticed(self, notice: Notice) -> None: ...

    def changed(self, key: str) -> None: ...

    def appended(self, metadata: SessionMetadata, first: int) -> None: ...

    def taken(self, key: str) -> None: ...
