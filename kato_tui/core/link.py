"""What a screen or a command needs of an engine, whether it runs in this process or in another (spec §12).

Plain JSON values of the contracts both ways, so that callers cannot tell the two apart. All methods block: screens
call them from threads of their own. Imports nothing heavy: `status` of a running engine has to be quick.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from kato_tui.core.client import Client, RequestFailed
from kato_tui.core.errors import KatoError, SessionNotFound

if TYPE_CHECKING:
    from kato_tui.core.hub import Delta
    from kato_tui.core.operations import Operations
    from kato_tui.core.paths import Home
    from kato_tui.core.service import Service

Json = dict[str, Any]

#: How long the engine may take for one answer before the caller is told that it is busy.
PATIENCE: Final = 120.0
#: Events in one answer; readers page on.
PAGE: Final = 500


class Link(ABC):
    #: Whether the engine is another process's: it goes on when this one ends.
    remote = False

    def status(self, *, recent: bool = False) -> Json:
        """All there is; `recent` leaves out what a short picture hides, and adds how much that is as `hidden`."""
        return self._ask("status", recent=recent)

    def engine(self) -> Json:
        """The engine's own part of the status: what a screen that knows the sessions asks again and again."""
        return self._ask("engine")

    def session(self, session: str) -> Json:
        return self._ask("session", session=session)

    def submit(self, intent: Json) -> Json:
        return self._ask("submit", intent=intent)

    def events(self, session: str, from_seq: int, limit: int = PAGE) -> Json:
        """`events`, and the `lastSeq` there is; from a negative seq, so many from the end. Makes the twin first."""
        return self._ask("events", session=session, fromSeq=from_seq, limit=limit)

    def all_events(self, session: str, from_seq: int) -> Iterator[Json]:
        """Page after page, to the end that there was at the first."""
        last: int | None = None
        while last is None or from_seq <= last:
            page = self.events(session, from_seq)
            yield from page["events"]
            if not page["events"]:
                return
            last = page["lastSeq"] if last is None else last
            from_seq = page["events"][-1]["seq"] + 1

    def rebuild(self, session: str) -> Json:
        return self._ask("rebuild", session=session)

    def clean(self, **wanted: Any) -> Json:
        return self._ask("clean", **wanted)

    @abstractmethod
    def changes(self, since: int, timeout: float) -> Delta:
        """What is new since that version; waits up to `timeout` seconds for something to be."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _ask(self, op: str, **fields: Any) -> Json: ...


class DirectLink(Link):
    """An engine that this very thread drives: for one command, under the lock."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def changes(self, since: int, timeout: float) -> Delta:  # noqa: ARG002
        raise KatoError("nothing changes by itself: no engine runs")

    def close(self) -> None:
        return

    def _ask(self, op: str, **fields: Any) -> Json:
        return self._operations.run(op, fields)


class LocalLink(Link):
    """The service of this process: every question is answered in the engine's thread, between two of its steps."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def changes(self, since: int, timeout: float) -> Delta:
        return self._service.hub.changes(since, timeout)

    def close(self) -> None:
        """Ask the engine to stop, and wait until the step it was at is on disk."""
        self._service.stop()
        self._service.join()

    def _ask(self, op: str, **fields: Any) -> Json:
        try:
            return self._service.ask(op, fields).result(PATIENCE)
        except TimeoutError as error:
            raise KatoError("the engine is busy: try again") from error


class RemoteLink(Link):
    """The engine of another process. `NotRunning` when there is none, or none any longer."""

    remote = True

    def __init__(self, home: Home) -> None:
        self._home = home
        self._client = Client(home, PATIENCE)
        # Waiting for changes keeps a connection busy, so it has one of its own.
        self._waiting: Client | None = None

    def require_answers(self) -> None:
        self._client.require_answers()

    def when_mute(self, tell: Callable[[str], None]) -> None:
        """`tell` of an engine that lets the next question wait, and whose it is."""
        self._client.mute = lambda: tell(self._client.who())

    def changes(self, since: int, timeout: float) -> Delta:
        if self._waiting is None:
            self._waiting = Client(self._home, PATIENCE)
        # Only screens follow, and a `status` has no need of what they do.
        from kato_tui.core.hub import Delta

        return Delta.from_json(self._waiting.request("changes", since=since, timeout=timeout))

    def close(self) -> None:
        self._client.close()
        if self._waiting is not None:
            self._waiting.close()

    def _ask(self, op: str, **fields: Any) -> Json:
        try:
            answer: Json = self._client.request(op, **fields)
        except RequestFailed as error:
            raise (SessionNotFound if error.code == "not-found" else KatoError)(str(error)) from error
        return answer
