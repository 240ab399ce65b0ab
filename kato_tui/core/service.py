"""Runs an engine in one thread: hints, wishes and timers in, steps out. Screens and the socket pull from its hub."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

from kato_tui.core import identity
from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.errors import KatoError
from kato_tui.core.glance import glance
from kato_tui.core.hub import Hub
from kato_tui.core.ingest.batch import SessionIngest
from kato_tui.core.ingest.watch import Watcher, is_remote
from kato_tui.core.model.intents import Intent, Notice, Outcome
from kato_tui.core.model.session import SessionMetadata
from kato_tui.core.model.status import Status
from kato_tui.core.store.twin import TwinReader

_HOT_EVERY: Final = 1.0
_FOLDERS_EVERY: Final = 10.0
_ALL_EVERY: Final = 60.0
_HOT_FOR: Final = 600.0
_SHOWN_EVENTS: Final = 200


class Service:
    """`start`, then `submit`, `call` and `hub` from any thread, then `stop`. `failure` says why it ended by itself."""

    def __init__(self, engine: Engine, config: Config) -> None:
        self.engine = engine
        self.hub = Hub()
        self.failure: BaseException | None = None
        self._config = config
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="kato-engine", daemon=True)
        self._waiting: deque[str] = deque()
        self._open: dict[str, SessionIngest] = {}
        self._hot: dict[str, float] = {}
        self._due = {"hot": 0.0, "folders": 0.0, "all": 0.0}
        self._again: list[tuple[float, Path]] = []
        self._progress = [0, 0, 0]
        roots = [root.path for root in engine.roots]
        mode = config.watch.mode
        polling = mode == "polling" or (mode == "auto" and any(is_remote(root) for root in roots))
        self.watcher = None if polling else Watcher(roots, self._wake)
        engine.listener = self

    def start(self) -> None:
        """Take the home (`HomeBusy` when another engine has it) and begin to watch."""
        self.engine.start()
        self._thread.start()

    def stop(self) -> None:
        """Ask it to stop after the step it is in. Safe in a signal handler."""
        self._stopping = True
        self._inbox.put(None)

    def join(self, timeout: float | None = None) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def call(self, work: Callable[[], Any]) -> Future[Any]:
        """Have `work` done in the engine's thread, between two steps."""
        answer: Future[Any] = Future()

        def run() -> None:
            try:
                answer.set_result(work())
            except Exception as error:  # noqa: BLE001 - it belongs to who asked
                answer.set_exception(error)

        self._inbox.put(run)
        return answer

    def submit(self, intent: Intent) -> Future[Outcome]:
        def work() -> Outcome:
            # A log that came a moment ago can be meant as well.
            self._want(self.engine.stir())
            return self.engine.submit(intent)

        return self.call(work)

    def snapshot(self) -> Future[Status]:
        return self.call(self.engine.status)

    # What the engine tells.

    def noticed(self, notice: Notice) -> None:
        self.hub.put_notice(notice.model_dump(mode="json", by_alias=True, exclude_none=True))

    def changed(self, key: str) -> None:
        self.hub.put_dirty(key)

    def taken(self, key: str) -> None:
        ingest = self._open.pop(key, None)
        if ingest is not None:
            ingest.close()

    def appended(self, metadata: SessionMetadata, first: int) -> None:
        begin = max(first, metadata.next_twin_seq - _SHOWN_EVENTS)
        twin = TwinReader(self.engine.home.twin(metadata.session_key), metadata.next_twin_seq, metadata.twin_length)
        short = identity.short_id(metadata.session_id)
        self.hub.put_events([glance(event, short) for event in twin.read(begin)], begin - first)

    # The thread.

    def _run(self) -> None:
        try:
            if self._config.clean_session_states_on_shutdown:
                self.engine.forget_twins()
            if self.watcher is not None:
                self.watcher.start()
            while not self._stopping:
                self._round()
        except BaseException as error:  # noqa: BLE001 - never silent: a notice, and the program's exit code
            self.failure = error
            self.engine.say("engine-failed", "error", f"the engine stopped: {type(error).__name__}: {error}")
        finally:
            self._end()

    def _end(self) -> None:
        try:
            if self.watcher is not None:
                self.watcher.stop()
            for ingest in self._open.values():
                ingest.close()
            if self._config.clean_session_states_on_shutdown and self.failure is None:
                self.engine.forget_twins()
            self.engine.close()
        except (KatoError, OSError) as error:
            self.failure = self.failure or error
        finally:
            self.hub.close()

    def _round(self) -> None:
        self._take_inbox()
        self._follow_hints()
        self._sweep()
        if self._waiting:
            self._step(self._waiting.popleft())

    def _take_inbox(self) -> None:
        wait = not self._waiting
        timeout = max(0.0, min(min(self._due.values()), *(at for at, _ in self._again or [(1e18, Path())])) - _now())
        while True:
            try:
                work = self._inbox.get(wait and timeout > 0, timeout if wait and timeout > 0 else None)
            except queue.Empty:
                return
            wait = False
            if work is not None and not self._stopping:
                work()

    def _follow_hints(self) -> None:
        if self.watcher is None:
            self.engine.watching = "polling"
            return
        self.engine.watching = self.watcher.mode
        hints, everything = self.watcher.take()
        if everything:
            self._due["all"] = 0.0
        now = _now()
        # What is written into a new folder before its own watch stands is told by nobody: look there once more.
        self._again += [(now + 0.5, path) for path in hints if path.is_dir()]
        hints |= {path for at, path in self._again if at <= now}
        self._again = [(at, path) for at, path in self._again if at > now]
        if hints:
            self._want(self.engine.look(hints))

    def _sweep(self) -> None:
        now = _now()
        if self._due["all"] <= now:
            self.engine.discover()
            self._want({session.key for session in self.engine.pending()})
            self._due |= {"all": now + _ALL_EVERY, "folders": now + _FOLDERS_EVERY}
        if self._due["folders"] <= now:
            self._want(self.engine.stir())
            quick = self.engine.watching == "polling"
            self._due["folders"] = now + (_HOT_EVERY if quick else _FOLDERS_EVERY)
        if self._due["hot"] <= now:
            self._hot = {key: at for key, at in self._hot.items() if now - at < _HOT_FOR}
            self._want(self.engine.stat(self._hot))
            self.engine.tick()
            self.engine.save_index(self.engine.totals.problems)
            self._due["hot"] = now + _HOT_EVERY

    def _want(self, keys: set[str]) -> None:
        new = [key for key in sorted(keys) if key not in self._waiting]
        self._waiting.extend(new)
        self._progress[1] += len(new)

    def _step(self, key: str) -> None:
        """One batch of one session; one that has more to read waits for its next turn behind the others."""
        session = self.engine.sessions.get(key)
        if session is None:
            self.taken(key)
            return
        try:
            ingest = self._open.pop(key, None) or self.engine.open_ingest(session)
            first = ingest.metadata.next_twin_seq
            if ingest.step():
                self._open[key] = ingest
                self._waiting.append(key)
                self.engine.stepped(key, ingest, first)
                return
            ingest.close()
            self.engine.finished(session, ingest, first)
            self._progress[2] += ingest.report.bytes_read
        except (KatoError, OSError) as error:
            self.taken(key)
            self.engine.failed(key, error)
        self._hot[key] = _now()
        self._progress[0] += 1
        self.hub.put_progress(*self._progress)

    def _wake(self) -> None:
        self._inbox.put(None)


def _now() -> float:
    return time.monotonic()
