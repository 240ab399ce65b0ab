"""Runs an engine in one thread: hints, wishes and timers in, steps out. Screens and the socket pull from its hub."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from kato_tui import __version__
from kato_tui.core import identity
from kato_tui.core.config import Config, at_its_line, load_config
from kato_tui.core.engine import Engine
from kato_tui.core.errors import ConfigError, Fault, KatoError
from kato_tui.core.glance import glance
from kato_tui.core.hot import Hot
from kato_tui.core.hub import Hub
from kato_tui.core.ingest.batch import Report, SessionIngest
from kato_tui.core.ingest.watch import Watcher, is_remote
from kato_tui.core.model.intents import Notice, Outcome
from kato_tui.core.model.session import SessionMetadata
from kato_tui.core.operations import Operations
from kato_tui.core.pool import Pool
from kato_tui.core.rounds import Rounds
from kato_tui.core.store.twin import TwinReader
from kato_tui.core.turns import Turns
from kato_tui.core.worker import job_of

Json = dict[str, Any]

#: Reading more than this, in one session or in all that wait, is left to the worker processes.
_HEAVY: Final = 1 << 20
_HEAVY_TOGETHER: Final = 4 << 20
#: So long a session is read after all others that came to light with it: it keeps a worker busy for a while.
_GIANT: Final = 64 << 20
#: First looks that one list of sessions waits for; the others show when they are read, the newest first.
_FIRST_LOOKS: Final = 64
_SHOWN_EVENTS: Final = 200
_SHOWN_IN_CATCH_UP: Final = 3


class Service:
    """`start`, then `ask`, `call` and `hub` from any thread, then `stop`. `failure` says why it ended by itself."""

    def __init__(self, engine: Engine, config: Config) -> None:
        self.engine = engine
        self.hub = Hub()
        self.failure: BaseException | None = None
        #: Processes for long reading; without one, the engine's thread does all in small steps.
        self.pool: Pool | None = None
        self.watcher: Watcher | None = None
        self._operations = Operations(engine)
        self._config = config
        self._config_stamp = engine.home.stamp(engine.home.config)
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._stopping = False
        #: The thread has ended: whoever asks now, or still waits, is told so.
        self._over = False
        self._thread = threading.Thread(target=self._run, name="kato-engine", daemon=True)
        #: Sessions to be read here.
        self._turns = Turns(_now)
        self._open: dict[str, SessionIngest] = {}
        #: By session: what is to be done once a worker has brought it up to date.
        self._held: dict[str, list[Callable[[Json], None]]] = {}
        self._hot = Hot(_now)
        self._rounds = Rounds(_now)
        self._done, self._total, self._bytes = 0, 0, 0
        self._reading: dict[str, int] = {}
        engine.listener = self
        engine.survey.first_looks = _FIRST_LOOKS

    def start(self) -> None:
        """Take the home (`HomeBusy` when another engine has it) and begin to watch."""
        # The watch first: where it stands before everything is looked at, looking once is enough.
        self._watch()
        try:
            self.engine.take_home()
            if self.watcher is not None and self.watcher.mode == "events":
                self.watcher.take()
            self.engine.discover()
        except BaseException:
            self._unwatch()
            raise
        # A watch that breaks has everything listed again at once; until one stands, the folders are looked at often.
        self._rounds.looked("list", "events" if self.watcher is not None else "polling")
        known = len(self.engine.sessions)
        self.engine.log.write("engine.started", version=__version__, pid=os.getpid(), sessions=known)
        self._thread.start()

    def stop(self) -> None:
        """Ask it to stop after the step it is in. Safe in a signal handler."""
        self._stopping = True
        self._inbox.put(None)

    def join(self, timeout: float | None = None) -> bool:
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def wake(self) -> None:
        self._inbox.put(None)

    def call(self, work: Callable[[], Any]) -> Future[Any]:
        """Have `work` done in the engine's thread, between two steps."""
        answer: Future[Any] = Future()
        self._inbox.put(lambda: self._fulfil(answer, work))
        if self._over:
            self._refuse_the_rest()
        return answer

    def ask(self, op: str, fields: Json) -> Future[Json]:
        """Have an operation done. One that needs a session which takes long to read is done when that is read."""
        answer: Future[Json] = Future()
        self._inbox.put(lambda: self._answer(op, fields, answer))
        if self._over:
            self._refuse_the_rest()
        return answer

    def _answer(self, op: str, fields: Json, answer: Future[Json]) -> None:
        if self._over:
            self._fulfil(answer, dict)
            return
        try:
            if op in ("submit", "events"):
                # A log that came a moment ago can be meant as well.
                self._want(self.engine.stir())
            key = self._operations.session_of(op, fields)
            long = op == "rebuild" and self.pool is not None
            rebuild = self._operations.begin_rebuild(fields, _HEAVY) if long else None
        except Exception as error:  # noqa: BLE001 - it belongs to who asked
            answer.set_exception(error)
            return

        if rebuild is not None:
            self._hold(
                rebuild.key,
                lambda done: self._fulfil(answer, lambda: self._operations.end_rebuild(rebuild, done)),
                keep_twin=rebuild.keep_twin,
            )
            return

        def work(_: Json) -> None:
            self._fulfil(answer, lambda: self._operations.run(op, fields))

        if key is None or self.pool is None or self.engine.bytes_to_read(key, keep_twin=True) < _HEAVY:
            work({})
        else:
            self._hold(key, work, keep_twin=True)

    def _hold(self, key: str, work: Callable[[Json], None], *, keep_twin: bool) -> None:
        """Have a worker bring the session up to date; its answer is for `work`."""
        self._held.setdefault(key, []).append(work)
        if len(self._held[key]) == 1:
            self.taken(key)
            self._delegate(key, keep_twin=keep_twin, urgent=True)

    def _fulfil(self, answer: Future[Any], work: Callable[[], Any]) -> None:
        if self._over:
            answer.set_exception(KatoError("the engine has stopped"))
            return
        try:
            answer.set_result(work())
        except Exception as error:  # noqa: BLE001 - it belongs to who asked
            answer.set_exception(error)

    # What the engine tells.

    def noticed(self, notice: Notice) -> None:
        self.hub.put_notice(notice.model_dump(mode="json", by_alias=True, exclude_none=True))

    def changed(self, key: str) -> None:
        self.hub.put_dirty(key)

    def taken(self, key: str) -> None:
        ingest = self._open.pop(key, None)
        if ingest is not None:
            self._break_off(key, ingest)
        if self.pool is not None and self.pool.has(key):
            self.pool.cancel(key)
            self._turns.again(key)

    def _break_off(self, key: str, ingest: SessionIngest) -> None:
        ingest.close()
        self._bytes += ingest.report.bytes_read
        self.engine.broken_off(key, ingest)

    def appended(self, metadata: SessionMetadata, first: int) -> None:
        # Reading whole twins again for a feed that nobody can follow would cost a quarter of a catch-up.
        shown = _SHOWN_IN_CATCH_UP if self.pool is not None and self.pool.busy else _SHOWN_EVENTS
        begin = max(first, metadata.next_twin_seq - shown)
        twin = TwinReader(self.engine.home.twin(metadata.session_key), metadata.next_twin_seq, metadata.twin_length)
        short = identity.short_id(metadata.session_id)
        self.hub.put_events([glance(event, short) for event in twin.read(begin)], begin - first)

    # The thread.

    def _run(self) -> None:
        try:
            if self._config.clean_session_states_on_shutdown:
                self.engine.forget_twins()
            self._want({session.key for session in self.engine.pending()})
            while not self._stopping:
                self._round()
        except BaseException as error:  # noqa: BLE001 - never silent: a notice, and the program's exit code
            self.failure = error
            self.engine.say("engine-failed", "error", f"the engine stopped: {type(error).__name__}: {error}")
        finally:
            self._end()

    def _watch(self) -> None:
        roots = [root.path for root in self.engine.roots]
        mode = self._config.watch.mode
        polling = mode == "polling" or (mode == "auto" and any(is_remote(root) for root in roots))
        self._unwatch()
        self.watcher = None if polling else Watcher(roots, self.wake)
        if self.watcher is not None:
            self.watcher.start()

    def _unwatch(self) -> None:
        if self.watcher is not None:
            self.watcher.stop()

    def _end(self) -> None:
        try:
            self._unwatch()
            if self.pool is not None:
                self.pool.close()
            for key, ingest in self._open.items():
                self._break_off(key, ingest)
            if self._config.clean_session_states_on_shutdown and self.failure is None:
                self.engine.forget_twins()
            self._log_the_end()
            self.engine.close()
        except (KatoError, OSError) as error:
            self.failure = self.failure or error
        finally:
            self._refuse_the_rest()
            self.hub.close()

    def _log_the_end(self) -> None:
        totals = self.engine.totals
        self.engine.log.write(
            "engine.stopped",
            failure=type(self.failure).__name__ if self.failure is not None else None,
            read=totals.changed,
            events=totals.events,
            bytes=totals.bytes_read,
            counters=dict(totals.counters),
        )

    def _refuse_the_rest(self) -> None:
        """Whoever still waits for an answer gets one: the work is done or refused, never forgotten."""
        self._stopping = True
        for waiting in self._held.values():
            for work in waiting:
                self._inbox.put(partial(work, {}))
        self._over = True
        while True:
            try:
                left = self._inbox.get_nowait()
            except queue.Empty:
                return
            if left is not None:
                left()

    def _round(self) -> None:
        self._take_inbox()
        self._take_answers()
        self._follow_hints()
        self._sweep()
        key = self._turns.next()
        if key is not None:
            self._step(key)

    def _take_inbox(self) -> None:
        timeout = 0.0 if self._turns.any_waits else max(0.0, min(self._deadlines()) - _now())
        try:
            work = self._inbox.get(timeout > 0, timeout or None)
            while not self._stopping:
                if work is not None:
                    work()
                work = self._inbox.get_nowait()
        except queue.Empty:
            return
        if work is not None:
            self._inbox.put(work)

    def _deadlines(self) -> Iterable[float]:
        yield from self._rounds.deadlines()
        yield from self._turns.deadlines()

    def _follow_hints(self) -> None:
        if self.watcher is None:
            self.engine.watching = "polling"
            return
        self.engine.watching = self.watcher.mode
        hints, everything = self.watcher.take()
        if everything:
            self._rounds.hasten("all" if self.watcher.mode == "events" else "list")
        hints |= self._rounds.second_looks(hints)
        if hints:
            self._want(self.engine.look(hints))

    def _sweep(self) -> None:
        rounds, watching = self._rounds, self.engine.watching
        if rounds.take("list", watching):
            self.engine.discover()
            self._want({session.key for session in self.engine.pending()})
            rounds.looked("list", watching)
        elif rounds.take("all", watching):
            self._want(self.engine.look_everywhere())
            rounds.looked("all", watching)
        elif rounds.take("folders", watching):
            self._want(self.engine.stir())
        if rounds.take("hot", watching):
            self._want(self.engine.stat(self._hot.keys()))
        if rounds.take("tick", watching):
            self.engine.tick()
            self.engine.save_index(self.engine.totals.problems)
            if rounds.jumped():
                rounds.hasten("list")
            self._notice_config()

    def _notice_config(self) -> None:
        found = self.engine.home.stamp(self.engine.home.config)
        if found == self._config_stamp:
            return
        self._config_stamp = found
        try:
            config = load_config(self.engine.home.config)
            with at_its_line(self.engine.home.config):
                self.engine.reconfigure(config)
        except ConfigError as error:
            wrong = "; ".join(str(error).splitlines())
            self.engine.say("config-refused", "error", f"the former settings stay in force: {wrong}")
            return
        self._config = config
        if self.pool is not None:
            self.pool.renew()
        self._watch()
        self._rounds.hasten("list")
        self.engine.say("config-taken", "info", "the settings changed and are in force")

    def _want(self, keys: set[str]) -> None:
        sizes = {key: self._bytes_to_read(key) for key in keys if not self._is_wanted(key)}
        new = sorted(sizes, key=lambda key: (sizes[key] >= _GIANT, -self._changed_at(key), key))
        self._total += len(new)
        together = sum(size for size in sizes.values() if size < _HEAVY) > _HEAVY_TOGETHER
        for key in new:
            size = sizes[key]
            if self.pool is not None and (size >= _HEAVY or (together and not self.engine.is_live(key))):
                self._delegate(key)
            else:
                self._turns.ask(key)

    def _changed_at(self, key: str) -> int:
        """What was worked on last is read first."""
        session = self.engine.sessions.get(key)
        return session.stamp.mtime_ns if session is not None else 0

    def _is_wanted(self, key: str) -> bool:
        return key in self._turns or (self.pool is not None and self.pool.has(key))

    def _bytes_to_read(self, key: str) -> int:
        session = self.engine.sessions.get(key)
        keep = session is not None and self.engine.keeps_twin(session)
        return self.engine.bytes_to_read(key, keep_twin=keep)

    # Long reading, in other processes.

    def _delegate(self, key: str, *, keep_twin: bool = False, urgent: bool = False) -> None:
        session = self.engine.sessions.get(key)
        if session is None or self.pool is None:
            return
        keep = keep_twin or self.engine.keeps_twin(session)
        live, since = self.engine.is_live(key), self.engine.since_of(key)
        job = partial(job_of, session, keep_twin=keep, live=live, since=since)
        self.pool.submit(key, job, urgent=urgent)

    def _take_answers(self) -> None:
        for answer in self.pool.take() if self.pool is not None else ():
            key = answer["key"]
            if "bytes" in answer:
                self._reading[key] = answer["bytes"]
                self._tell_progress()
                continue
            if "done" in answer:
                self._adopt(key, answer["done"])
            else:
                self.engine.failed(key, KatoError(answer["error"]))
            self._reading.pop(key, None)
            self._finish(key)
            for work in self._held.pop(key, ()):
                work(answer)
            if "done" in answer:
                self._look_back(key)

    def _adopt(self, key: str, done: Json) -> None:
        outcomes = [Outcome.model_validate(one) for one in done["outcomes"]]
        report = Report(done["bytesRead"], done["events"], Counter(done["counters"]), outcomes)
        self._bytes += report.bytes_read
        try:
            self.engine.adopt(key, report.events, report)
        except (KatoError, OSError) as error:
            self.engine.failed(key, error)
        except Exception as error:  # noqa: BLE001 - as in reading it here
            self.engine.failed(key, Fault(error))

    # Short reading, here.

    def _step(self, key: str) -> None:
        """One batch of one session; one that has more to read waits for its next turn behind the others."""
        session = self.engine.sessions.get(key)
        if session is None:
            self.taken(key)
            self._finish(key)
            return
        begun = _now()
        try:
            ingest = self._open.pop(key, None) or self.engine.open_ingest(session)
            first = ingest.metadata.next_twin_seq
            if ingest.step():
                self._open[key] = ingest
                self._turns.again(key)
                with self.hub.together():
                    self.engine.stepped(key, ingest, first)
                return
            ingest.close()
            self._bytes += ingest.report.bytes_read
            with self.hub.together():
                self.engine.finished(session, ingest, first)
                self._turns.ended(key, _now() - begun)
                self._finish(key)
        except (KatoError, OSError) as error:
            self._drop(key, error)
            return
        except Exception as error:  # noqa: BLE001 - a log that no code was ready for must not stop the others
            self._drop(key, Fault(error))
            return
        self._look_back(key)

    def _drop(self, key: str, error: Exception) -> None:
        self.taken(key)
        self.engine.failed(key, error)
        self._finish(key)

    def _look_back(self, key: str) -> None:
        """A hint that came while the session was read changed nothing then: it was wanted already."""
        self.engine.stat({key})
        if self.engine.is_pending(key):
            self._want({key})

    def _finish(self, key: str) -> None:
        session = self.engine.sessions.get(key)
        if session is not None:
            self._hot.changed(key, session.stamp.mtime_ns)
        self._done += 1
        self._tell_progress()

    def _tell_progress(self) -> None:
        self.hub.put_progress(self._done, self._total, self._bytes + sum(self._reading.values()))


def _now() -> float:
    return time.monotonic()
