"""What the dashboard knows of the engine: its own copy, changed only by updates. No Textual, no thread, no file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from kato_tui.view import sessions as rows
from kato_tui.view import warnings
from kato_tui.view.bar import Facts, Phase
from kato_tui.view.warnings import Alert

Json = Mapping[str, Any]

#: Events of all sessions that are kept for the feed of everything.
FEED: Final = 2000
_ALERTS: Final = 500
#: Seconds over which the rate of events is taken.
_WINDOW: Final = 5.0


@dataclass(frozen=True, slots=True)
class Update:
    """All that is new since the last one, as the pump hands it over: frozen, so no thread can change it."""

    sessions: tuple[Json, ...] = ()
    #: Keys of sessions that are no more.
    gone: tuple[str, ...] = ()
    engine: Json | None = None
    events: tuple[Json, ...] = ()
    dropped: int = 0
    notices: tuple[Json, ...] = ()
    progress: Json | None = None
    phase: Phase | None = None
    cpu: float | None = None
    rss: int | None = None
    #: Days after which each assistant deletes its logs, and which setting says so.
    rules: Mapping[str, tuple[int, str]] | None = None
    #: The very first of a connection: what is in it is not news.
    first: bool = False


@dataclass(slots=True)
class Changes:
    """Which parts of the screen an update concerns."""

    sessions: bool = False
    alerts: bool = False
    events: tuple[Json, ...] = ()
    #: Sessions that have just begun to wait for their user.
    calling: list[Json] = field(default_factory=list)
    news: list[Alert] = field(default_factory=list)


def wall_clock() -> datetime:
    return datetime.now(UTC)


class Board:
    def __init__(self, now: Callable[[], datetime] = wall_clock, title: str = "kato") -> None:
        self.now = now
        self.title = title
        self.sessions: dict[str, Json] = {}
        self.engine: Json = {}
        self.phase: Phase = "starting"
        self.progress: Json = {}
        self.feed: deque[Json] = deque(maxlen=FEED)
        self.cpu: float | None = None
        self.rss: int | None = None
        self.unseen: dict[str, int] = {}
        self._keys: dict[str, str] = {}
        #: ISO times compare as text; logs and we write both in UTC.
        self._opened = now().isoformat()
        self._notices: deque[Alert] = deque(maxlen=_ALERTS)
        self._standing: dict[str, list[Alert]] = {}
        #: Those with record types that nobody knows.
        self._strange: dict[str, Json] = {}
        self._retention: list[Alert] = []
        self._rules: Mapping[str, tuple[int, str]] = {}
        self._acknowledged: set[str] = set()
        self._own = 0
        self._recent: deque[tuple[datetime, int]] = deque()

    # What comes in.

    def apply(self, update: Update) -> Changes:
        """Take an update over and say what it changed."""
        changes = Changes(events=update.events)
        if update.first:
            self._forget({rows.key_of(one) for one in update.sessions})
        for one in update.sessions:
            self._put(one, changes, first=update.first)
        for key in update.gone:
            changes.sessions = self._drop(key) or changes.sessions
        self._take_engine(update)
        self.feed.extend(update.events)
        if update.events or update.dropped:
            self._recent.append((self.now(), len(update.events) + update.dropped))
        for notice in update.notices:
            alert = warnings.from_notice(notice)
            self._notices.append(alert)
            changes.news += [] if update.first else [alert]
        changes.alerts = changes.sessions or bool(update.notices)
        if update.rules is not None:
            self._rules = update.rules
        if update.rules is not None or update.first:
            self._retention = warnings.retention(self.sessions.values(), self._rules, self.now())
            changes.alerts = True
        return changes

    def _forget(self, known: set[str]) -> None:
        """Another engine speaks: what the last one said of itself holds no longer, and its notices count from one."""
        self.feed.clear()
        for key in self.sessions.keys() - known:
            self._drop(key)
        self._acknowledged = {key for key in self._acknowledged if not _is_notice(key)}
        self._notices = deque((one for one in self._notices if not _is_notice(one.key)), maxlen=_ALERTS)

    def _take_engine(self, update: Update) -> None:
        self.engine = update.engine if update.engine is not None else self.engine
        self.progress = update.progress if update.progress is not None else self.progress
        self.phase = update.phase or self.phase
        self.cpu = update.cpu if update.cpu is not None else self.cpu
        self.rss = update.rss if update.rss is not None else self.rss

    def _put(self, session: Json, changes: Changes, *, first: bool) -> None:
        key = rows.key_of(session)
        before = self.sessions.get(key)
        self.sessions[key] = session
        self._keys[str(session["sessionShortId"])] = key
        if not first and (fresh := self._fresh(before, session)):
            self.unseen[key] = self.unseen.get(key, 0) + fresh
        found = warnings.standing(session)
        if found or key in self._standing:
            # What went and comes again was not acknowledged.
            gone = {one.key for one in self._standing.get(key, ())}
            self._acknowledged -= gone - {one.key for one in found}
            self._standing[key] = found
        if session.get("unknownTypes"):
            self._strange[key] = session
        else:
            self._strange.pop(key, None)
        changes.sessions = True
        if not first and rows.needs_you(before, session):
            changes.calling.append(session)

    def _fresh(self, before: Json | None, session: Json) -> int:
        """How much was said since the last look. History that is only now read is no news."""
        if str(session.get("lastActivity") or "") <= self._opened:
            return 0
        if before is None:
            return rows.messages(session) if str(session.get("firstActivity") or "") > self._opened else 0
        return max(0, rows.messages(session) - rows.messages(before)) if not before.get("bytesBehind") else 0

    def _drop(self, key: str) -> bool:
        found = self.sessions.pop(key, None)
        if found is not None:
            self._keys.pop(str(found["sessionShortId"]), None)
        self._standing.pop(key, None)
        self._strange.pop(key, None)
        self.unseen.pop(key, None)
        return found is not None

    # What is asked.

    def session(self, name: str | None) -> Json | None:
        """By key or by short id."""
        if name is None:
            return None
        return self.sessions.get(name) or self.sessions.get(self._keys.get(name, ""))

    def recordings(self) -> list[Json]:
        return [one for session in self.sessions.values() for one in session.get("recordings", ())]

    def recording(self, recording_id: str) -> Json | None:
        return next((one for one in self.recordings() if one["recordingId"] == recording_id), None)

    def mark_seen(self, *keys: str) -> None:
        for key in keys:
            self.unseen.pop(key, None)

    def alerts(self) -> list[Alert]:
        """What is not acknowledged: what is wrong, then what happened, newest first, then what is only odd."""
        standing = [alert for found in self._standing.values() for alert in found]
        urgent = sorted((*standing, *self._retention), key=lambda one: _RANK.get(one.severity, 9))
        failing = {str(one.candidate["recordingId"]) for one in standing if one.candidate is not None}
        happened = (one for one in reversed(self._notices) if not _says_again(one, failing))
        everything = (*urgent, *happened, *warnings.unknown_types(self._strange.values()))
        return [one for one in everything if one.key not in self._acknowledged]

    def acknowledge(self, *keys: str) -> None:
        self._acknowledged.update(keys)

    def tell(self, code: str, severity: str, message: str) -> Alert:
        """Something that the dashboard itself has to say."""
        self._own += 1
        alert = Alert(f"own{self._own}", self.now().isoformat(), code, severity, message)
        self._notices.append(alert)
        return alert

    def rate(self) -> float:
        """Events a second, over the last few."""
        now = self.now()
        while self._recent and (now - self._recent[0][0]).total_seconds() > _WINDOW:
            self._recent.popleft()
        return sum(count for _, count in self._recent) / _WINDOW

    def facts(self) -> Facts:
        everyone = self.sessions.values()
        return Facts(
            phase=self.phase,
            title=self.title,
            engine=self.engine,
            sessions=len(self.sessions),
            recordings=sum(len(rows.active(one)) for one in everyone),
            behind=int(self.engine.get("bytesBehind", 0)),
            rate=self.rate(),
            progress=self.progress,
            cpu=self.cpu,
            rss=self.rss,
            asking=sum(
                one.get("reason") == "decision" and one.get("state") == "needs-you" and not one.get("problem")
                for one in everyone
            ),
        )


def _says_again(alert: Alert, failing: set[str]) -> bool:
    """Whether it tells that a recording began to fail which stands there as failing still."""
    return alert.code == "recording-failing" and any(str(one["recordingId"]) in failing for one in alert.recordings)


def _is_notice(key: str) -> bool:
    """Whether an alert is the engine's; `warnings.from_notice` numbers them."""
    return key[0] == "n" and key[1:].isdigit()


_RANK: Final = {"error": 0, "warning": 1, "info": 2}
