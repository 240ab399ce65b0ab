"""Who does the work: the engine that runs, over its socket, or one of our own under the lock (spec §12).

Commands see only plain JSON values of the contracts. With an engine running this module imports neither pydantic nor
the engine, so that `status` answers at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kato_tui.core.errors import KatoError, SessionNotFound

if TYPE_CHECKING:
    from kato_tui.core.engine import Engine
    from kato_tui.core.paths import Home

Json = dict[str, Any]


class Backend(Protocol):
    """What a command can ask for."""

    #: Whether an engine goes on after the command: without one, a started recording waits for the next.
    running: bool

    def status(self) -> Json: ...

    def submit(self, intent: Json) -> Json: ...

    def events(self, session: str, from_seq: int) -> Iterator[Json]:
        """The events of a session's twin, brought up to date first; `SessionNotFound` when there is no such session."""

    def rebuild(self, session: str) -> Json: ...


class Connection(Protocol):
    """What `kato_tui.core.client.Client` offers."""

    def request(self, op: str, **fields: Any) -> Json: ...


def home() -> Home:
    from kato_tui.core.paths import Home

    return Home.from_environ(os.environ, Path.home())


@contextmanager
def backend() -> Iterator[Backend]:
    """The running engine, else one of our own for as long as the command takes."""
    remote = connect(home())
    if remote is not None:
        yield remote
        return
    engine = own_engine()
    engine.start()
    try:
        yield OwnEngine(engine)
    finally:
        engine.close()


def connect(place: Home) -> RunningEngine | None:
    """The engine that runs for this home, if there is one."""
    try:
        from kato_tui.core.client import Client, NotRunning  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    client = Client(place)
    try:
        client.request("ping")
    except NotRunning:
        return None
    return RunningEngine(client)


def own_engine() -> Engine:
    from kato_tui.core.config import load_config
    from kato_tui.core.engine import Engine
    from kato_tui.core.providers.registry import PROVIDERS

    place = home()
    return Engine(place, load_config(place.config), PROVIDERS, os.environ, Path.home())


class RunningEngine:
    """The engine of another process. Values come as it sends them."""

    running = True

    def __init__(self, client: Connection) -> None:
        self._client = client

    def status(self) -> Json:
        return self._client.request("status")

    def submit(self, intent: Json) -> Json:
        return self._client.request("submit", intent=intent)

    def events(self, session: str, from_seq: int) -> Iterator[Json]:
        while True:
            answer = self._client.request("events", session=session, fromSeq=from_seq, follow=False)
            _raise_if_refused(answer)
            events: list[Json] = answer["events"]
            yield from events
            if not answer.get("more") or not events:
                return
            from_seq = events[-1]["seq"] + 1

    def rebuild(self, session: str) -> Json:
        answer = self._client.request("rebuild", session=session)
        _raise_if_refused(answer)
        return answer


def _raise_if_refused(answer: Json) -> None:
    """A refusal comes as an outcome: it becomes the error that our own engine would have raised."""
    if answer.get("severity") == "error":
        known = answer.get("code") in ("not-found", "ambiguous", "too-short")
        raise (SessionNotFound if known else KatoError)(answer["message"])


class OwnEngine:
    """An engine of this process, started and locked."""

    running = False

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def status(self) -> Json:
        return self.engine.status().model_dump(mode="json", by_alias=True, exclude_none=True)

    def submit(self, intent: Json) -> Json:
        from kato_tui.core.model.intents import Intent

        outcome = self.engine.submit(Intent.model_validate(intent))
        return outcome.model_dump(mode="json", by_alias=True, exclude_none=True)

    def events(self, session: str, from_seq: int) -> Iterator[Json]:
        from kato_tui.core.store.twin import TwinReader

        engine = self.engine
        key = engine.resolve(session)
        engine.freshen(key, keep_twin=True)
        metadata = engine.store.load(key)
        if metadata is not None:
            twin = TwinReader(engine.home.twin(key), metadata.next_twin_seq, metadata.twin_length)
            yield from twin.read(from_seq)

    def rebuild(self, session: str) -> Json:
        report = self.engine.rebuild(session)
        return {"events": report.events, "bytesRead": report.bytes_read}
