"""Between link and screen: threads that wait for the engine, so that the screen never does.

The screen gets one frozen `Update` at a time, at once after a quiet spell and then at most four times a second; while
it has not taken one over, no other is made. Threads are daemons: leaving never waits for them. No Textual in here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from kato_tui.board import Update
from kato_tui.core.client import NotAnswering, NotRunning
from kato_tui.core.errors import ConfigError, KatoError, SessionNotFound
from kato_tui.meter import Meter
from kato_tui.view.sessions import is_recent, key_of

if TYPE_CHECKING:
    from kato_tui.core.hub import Delta
    from kato_tui.core.link import Link

Json = Mapping[str, Any]
MakeLink = Callable[[], "Link"]

#: Between two updates: four a second cost a fifth of a core at 1,000 events a second, ten cost a third.
TICK: Final = 0.25
_WAIT: Final = 1.0
_ENGINE_EVERY: Final = 2.0
_METER_EVERY: Final = 2.0
_RECHECK_EVERY: Final = 10.0
_RULES_EVERY: Final = 600.0
_RECENT: Final = timedelta(hours=1)
_MOST_RECHECKED: Final = 30
#: Seconds in which changed sessions are asked for within one update; the rest comes with the next.
_BUDGET: Final = 0.1
#: So many at once are quicker asked for all together.
_MANY: Final = 400


@dataclass(frozen=True, slots=True)
class Lost:
    """The engine is gone, or did not come: why, and whether it was another process's."""

    reason: str
    remote: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an errand, to be handled by the screen's own thread."""

    then: Callable[[Any], None]
    result: Any = None
    error: Exception | None = None


Post = Callable[[Update | Lost | Answer], None]


class Errands:
    """Work of one kind, done one after the other in a thread of its own. A later one in the same slot replaces it."""

    def __init__(self, post: Post, name: str) -> None:
        self._post = post
        self._changed = threading.Condition()
        self._queue: list[tuple[str | None, Callable[[], Any], Callable[[Any], None]]] = []
        self._closed = False
        self._busy = 0
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def add(self, work: Callable[[], Any], then: Callable[[Any], None], slot: str | None = None) -> None:
        with self._changed:
            if slot is not None:
                self._queue = [one for one in self._queue if one[0] != slot]
            self._queue.append((slot, work, then))
            self._changed.notify()

    @property
    def busy(self) -> bool:
        with self._changed:
            return bool(self._queue or self._busy)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                _, work, then = self._queue.pop(0)
                self._busy = 1
            try:
                answer = Answer(then, work())
            except Exception as error:  # noqa: BLE001 - it is shown to the user by whoever handles the answer
                answer = Answer(then, None, error)
            with self._changed:
                self._busy = 0
            self._post(answer)


class Pump:
    def __init__(self, make_link: MakeLink, post: Post) -> None:
        self._make_link = make_link
        self._post = post
        self._link: Link | None = None
        # A socket takes one question at a time; waiting for changes has a connection of its own.
        self._asking = threading.Lock()
        self._taken = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._errands = Errands(post, "kato-errands")
        self.failed = False
        #: The settings that no engine could be started with: nothing to be shown on a screen.
        self.refused: ConfigError | None = None

    @property
    def remote(self) -> bool:
        return self._link is not None and self._link.remote

    @property
    def connected(self) -> bool:
        return self._link is not None

    @property
    def busy(self) -> bool:
        return self._errands.busy

    def start(self) -> None:
        """Connect and follow, in a thread. Again after the engine was lost: that is taking over."""
        if self._thread is not None and self._thread.is_alive():
            return
        self.failed = False
        self._thread = threading.Thread(target=self._run, name="kato-pump", daemon=True)
        self._thread.start()

    def taken(self) -> None:
        """The screen has taken the last update over."""
        self._taken.set()

    def ask(self, work: Callable[[Link], Any], then: Callable[[Any], None], slot: str | None = None) -> None:
        """Have something asked of the engine; `then` gets the answer in the screen's thread."""
        self._errands.add(lambda: self._ask(work), then, slot)

    def close(self, patience: float) -> bool:
        """Let go of the engine, and stop it if it is ours; False when that takes longer than `patience`."""
        self._stop.set()
        self._taken.set()
        self._errands.close()
        closing = threading.Thread(target=self._close_link, name="kato-close", daemon=True)
        closing.start()
        closing.join(patience)
        return not closing.is_alive()

    def _close_link(self) -> None:
        link = self._link
        if link is None and self._thread is not None:
            # It may be about to start an engine: that has to be ended as well.
            self._thread.join()
            link = self._link
        if link is not None:
            with suppress(Exception):
                link.close()

    def _ask(self, work: Callable[[Link], Any]) -> Any:
        link = self._link
        if link is None:
            raise KatoError("no engine yet: try again in a moment")
        with self._asking:
            return work(link)

    # The thread.

    def _run(self) -> None:
        try:
            link = self._make_link()
        except ConfigError as error:
            self.refused = error
            self._lose(str(error), remote=False)
            return
        except NotAnswering as error:
            self._lose(str(error), remote=False)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, the user must see it
            self._lose(f"the engine could not start: {error}", remote=False)
            return
        self._link = link
        try:
            _Follower(self, link).run()
        except NotRunning as error:
            self._lose(str(error), remote=link.remote)
        except Exception as error:  # noqa: BLE001 - never silent
            self._lose(f"{type(error).__name__}: {error}", remote=link.remote)

    def _lose(self, reason: str, *, remote: bool) -> None:
        link, self._link = self._link, None
        if self._stop.is_set():
            self._link = link
            return
        if link is not None:
            with suppress(Exception):
                link.close()
        self.failed = not remote
        self._post(Lost(reason, remote))

    def hand_over(self, update: Update) -> None:
        self._taken.clear()
        if self._stop.is_set():
            return
        self._post(update)
        self._taken.wait()

    def pause(self, seconds: float) -> bool:
        """Wait; True when it is time to end."""
        return self._stop.wait(seconds)

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def query(self, work: Callable[[], Any]) -> Any:
        with self._asking:
            return work()


class _Follower:
    """Follows one link until it ends: what changed becomes updates."""

    def __init__(self, pump: Pump, link: Link) -> None:
        self._pump = pump
        self._link = link
        self._known: dict[str, Json] = {}
        self._dirty: dict[str, None] = {}
        self._version = 0
        self._handed = 0.0
        self._engine: Json = {}
        self._due = {"engine": 0.0, "meter": 0.0, "recheck": 0.0, "rules": 0.0}
        self._meter: Meter | None = None
        self._shown_load: tuple[float | None, int | None] = (None, None)

    def run(self) -> None:
        self._begin()
        while not self._pump.stopping:
            delta = self._link.changes(self._version, _WAIT)
            if delta.closed:
                raise NotRunning("the engine stopped")
            wait = self._handed + TICK - time.monotonic()
            if delta.version > self._version and wait > 0:
                if self._pump.pause(wait):
                    return
                # What came meanwhile belongs to the same update.
                delta = self._link.changes(self._version, 0)
            self._offer(delta)

    def _begin(self) -> None:
        status = self._pump.query(self._link.status)
        # What was said before we came is taken along, but it is no news.
        delta = self._link.changes(0, 0)
        self._version = delta.version
        self._known = {key_of(one): one for one in status["sessions"]}
        self._engine = status["engine"]
        now = time.monotonic()
        self._due = {"engine": now + _ENGINE_EVERY, "meter": now, "recheck": now + _RECHECK_EVERY, "rules": now}
        self._meter = Meter(self._engine.get("pid") if self._link.remote else None)
        self._pump.hand_over(
            Update(
                sessions=tuple(status["sessions"]),
                engine=self._engine,
                events=delta.events,
                dropped=delta.dropped,
                notices=delta.notices,
                progress=delta.progress,
                phase="attached" if self._link.remote else "running",
                rules=self._rules(),
                first=True,
            )
        )

    def _offer(self, delta: Delta) -> None:
        """Hand over what is new, if anything is."""
        news = delta.version > self._version
        self._version = delta.version
        self._dirty.update(dict.fromkeys(delta.dirty))
        self._recheck()
        sessions, gone = self._changed_sessions()
        engine = self._fresh_engine(changed=news)
        load = self._load()
        rules = self._rules() if self._is_due("rules", _RULES_EVERY) else None
        if not (news or sessions or gone or engine or load or rules):
            return
        self._pump.hand_over(
            Update(
                sessions=tuple(sessions),
                gone=tuple(gone),
                engine=engine,
                events=delta.events if news else (),
                dropped=delta.dropped if news else 0,
                notices=delta.notices if news else (),
                progress=delta.progress if news else None,
                cpu=load[0] if load else None,
                rss=load[1] if load else None,
                rules=rules,
            )
        )
        if news:
            # Figures of the engine's own are no reason to let the next words wait.
            self._handed = time.monotonic()

    def _is_due(self, what: str, every: float) -> bool:
        now = time.monotonic()
        if now < self._due[what]:
            return False
        self._due[what] = now + every
        return True

    def _changed_sessions(self) -> tuple[list[Json], list[str]]:
        """The new state of as many changed sessions as there is time for."""
        if len(self._dirty) > _MANY:
            self._dirty.clear()
            return self._everything()
        changed: list[Json] = []
        gone: list[str] = []
        until = time.monotonic() + _BUDGET
        while self._dirty and time.monotonic() < until:
            key = next(iter(self._dirty))
            del self._dirty[key]
            found = self._session(key)
            if found is None:
                gone.append(key)
                self._known.pop(key, None)
            elif found != self._known.get(key):
                self._known[key] = found
                changed.append(found)
        return changed, gone

    def _session(self, key: str) -> Json | None:
        try:
            found: Json = self._pump.query(lambda: self._link.session(key))
        except SessionNotFound:
            return None
        return found

    def _everything(self) -> tuple[list[Json], list[str]]:
        status = self._pump.query(self._link.status)
        now = {key_of(one): one for one in status["sessions"]}
        changed = [one for key, one in now.items() if one != self._known.get(key)]
        gone = [key for key in self._known if key not in now]
        self._known = now
        return changed, gone

    def _recheck(self) -> None:
        """Nobody tells when an assistant's process ends: those that may be running are looked at now and then."""
        if not self._is_due("recheck", _RECHECK_EVERY):
            return
        now = datetime.now(UTC)
        alive = (
            key for key, one in self._known.items() if one.get("state") != "ended" and is_recent(one, now, _RECENT)
        )
        self._dirty.update(dict.fromkeys(list(alive)[:_MOST_RECHECKED]))

    def _fresh_engine(self, *, changed: bool) -> Json | None:
        if not (changed or self._engine.get("bytesBehind")) or not self._is_due("engine", _ENGINE_EVERY):
            return None
        found: Json = self._pump.query(self._link.engine)
        if found == self._engine:
            return None
        self._engine = found
        return found

    def _load(self) -> tuple[float | None, int | None] | None:
        """CPU and memory, when what would be shown of them is not what is shown."""
        if self._meter is None or not self._is_due("meter", _METER_EVERY):
            return None
        cpu, rss = self._meter.read()
        shown = (None if cpu is None else float(round(cpu)), None if rss is None else round(rss / 5e6))
        if shown == self._shown_load:
            return None
        self._shown_load = shown
        return cpu, rss

    def _rules(self) -> Mapping[str, tuple[int, str]]:
        from kato_tui.core import retention  # in this thread: it is not needed for the first frame

        self._due["rules"] = time.monotonic() + _RULES_EVERY
        found = retention.rules(self._engine.get("roots", ()))
        return {provider: (rule.days, rule.why) for provider, rule in found.items()}
