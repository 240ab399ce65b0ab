"""The engine: ties discovery, ingest and state together. No thread, no hidden clock; callers drive it step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kato_tui.core import identity, paths
from kato_tui.core.clock import Clock, SystemClock
from kato_tui.core.config import Config
from kato_tui.core.errors import NeedsRebuild, SessionNotFound, SourceUnreadable
from kato_tui.core.ingest.batch import Report, SessionIngest, Stores
from kato_tui.core.ingest.discover import Discovery, FoundSession, Root, roots_of
from kato_tui.core.ingest.glimpse import glimpse
from kato_tui.core.model.facts import AgentState, Facts
from kato_tui.core.model.index import IndexEntry
from kato_tui.core.model.session import SessionMetadata
from kato_tui.core.paths import Home
from kato_tui.core.providers.base import Provider
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.index import IndexStore
from kato_tui.core.store.lock import EngineLock
from kato_tui.core.store.sessions import SessionStore

Progress = Callable[["Step"], None]


@dataclass(frozen=True, slots=True)
class Step:
    """How far a long run is: for a progress bar."""

    done: int
    total: int
    key: str
    bytes_read: int


@dataclass(slots=True)
class Summary:
    """What one run over all sessions came to."""

    sessions: int = 0
    changed: int = 0
    events: int = 0
    bytes_read: int = 0
    counters: Counter[str] = field(default_factory=Counter)
    #: Session key -> what is wrong and what to do; the other sessions went on.
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        self.changed += 1
        self.events += report.events
        self.bytes_read += report.bytes_read
        self.counters.update(report.counters)


class Engine:
    """One per home, guarded by its lock. `start`, then `bring_up_to_date` as often as wanted, then `close`."""

    def __init__(
        self,
        home: Home,
        config: Config,
        providers: Mapping[str, Provider],
        environ: Mapping[str, str],
        user_home: Path,
        clock: Clock | None = None,
        fs: Fs | None = None,
    ) -> None:
        self.home = home
        self.clock = clock or SystemClock()
        self._fs = fs or Fs()
        self._lock = EngineLock(home.lock)
        self._discovery = Discovery(roots_of(config, providers, environ, user_home))
        self.sessions: dict[str, FoundSession] = {}
        self.store = SessionStore(home, self.clock, self._fs)
        self.index = IndexStore(home, self.clock, self._fs)
        self._stores = Stores(home, self.store, self.clock, self._fs)
        #: Sessions that were up to date once in this run: what comes now is captured live.
        self._watched: set[str] = set()

    @property
    def roots(self) -> list[Root]:
        return self._discovery.roots

    def start(self) -> None:
        """Take the home and find the sessions. Reads no log."""
        for folder in self.home.folders():
            self._fs.make_folder(folder)
        self._lock.acquire()
        self.index.load()
        self.discover()

    def close(self) -> None:
        self.index.save(force=True)
        self._lock.release()

    def discover(self) -> None:
        """Look again which sessions there are; note those whose source has gone."""
        self.sessions = self._discovery.sweep()
        for key, entry in list(self.index.entries.items()):
            if key not in self.sessions and entry.source is not None and not entry.source.gone:
                self._mark_gone(key)

    def facts(self, key: str) -> Facts:
        """What is known about a session now: stored facts, or a glimpse at the ends of its log."""
        entry = self.index.entries.get(key)
        session = self.sessions.get(key)
        if session is None:
            return entry.facts if entry is not None else Facts()
        source = session.sources[-1]
        known = entry is not None and not self._changed(session, entry)
        facts = entry.facts if entry is not None and known else glimpse(session.provider, source)
        if session.provider.process_gone(source):
            facts = replace(facts, agent_state=AgentState("ended", "process-gone", since=facts.last_activity))
        return facts

    def pending(self) -> list[FoundSession]:
        """Sessions whose source changed since it was last read to its end."""
        entries = self.index.entries
        return [
            session
            for key, session in self.sessions.items()
            if key not in entries or self._changed(session, entries[key])
        ]

    def bring_up_to_date(self, progress: Progress | None = None) -> Summary:
        """Ingest everything that changed, session by session; one that fails does not hold up the others."""
        waiting = self.pending()
        summary = Summary(sessions=len(self.sessions), problems=self._refused())
        for done, session in enumerate(waiting):
            report = self._ingest(session, summary.problems)
            if report is not None:
                summary.add(report)
            self._save_index(summary.problems)
            if progress is not None:
                progress(Step(done + 1, len(waiting), session.key, summary.bytes_read))
        self._watched.update(self.sessions)
        return summary

    def _refused(self) -> dict[str, str]:
        """Stored sessions that cannot be used and have no log to be met through: named, or nobody would know."""
        met = {self.home.meta(key).name for key in self.sessions}
        return {name: problem for name, problem in self.index.refused.items() if name not in met}

    def rebuild(self, name: str) -> Report:
        """Make a session's state anew from its source. What was there is moved aside, never destroyed."""
        key = self.resolve(name)
        session = self.sessions.get(key)
        if session is None:
            raise SessionNotFound(f"the log of {name} is gone, so it cannot be rebuilt; what is stored stays as it is")
        for path in (self.home.meta(key), self.home.twin(key)):
            if path.exists():
                self._fs.replace(path, paths.set_aside(path, "before-rebuild"))
        self._fs.sync_folder(self.home.sessions)
        self.store.forget(key)
        self.index.remove(key)
        ingest = SessionIngest(self._stores, session.provider, session.sources, keep_twin=session.keep_twin)
        report = ingest.run()
        self.index.put(ingest.metadata)
        return report

    def resolve(self, name: str) -> str:
        """The key of the one session that `name` means: key, session id or a prefix of it, or the provider's id."""
        wanted = name.lower()
        keys = sorted(self.sessions.keys() | self.index.entries.keys())
        for key in keys:
            if name in (key, key.partition(":")[2]):
                return key
        matches = [key for key in keys if len(wanted) >= 8 and identity.session_id(key).startswith(wanted)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = ", ".join(f"{identity.session_id(key)} ({key})" for key in matches)
            raise SessionNotFound(f"{name} is ambiguous: {names}")
        raise SessionNotFound(f"no session {name!r}. Give at least 8 characters of its id, or the provider's own id")

    def _ingest(self, session: FoundSession, problems: dict[str, str]) -> Report | None:
        live = session.key in self._watched
        try:
            ingest = SessionIngest(
                self._stores, session.provider, session.sources, keep_twin=self._keeps_twin(session), live=live
            )
            report = ingest.run()
            self.index.put(ingest.metadata)
        except (NeedsRebuild, SourceUnreadable) as error:
            problems[session.key] = str(error)
            return None
        except OSError as error:
            problems[session.key] = f"{session.sources[-1].path}: {error.strerror or error}"
            return None
        return report

    def _save_index(self, problems: dict[str, str]) -> None:
        """The index only saves work: failing to write it (a full disk) must not stop anything."""
        try:
            self.index.save()
        except OSError as error:
            problems["index"] = f"{self.home.index}: {error.strerror or error}"

    def _keeps_twin(self, session: FoundSession) -> bool:
        if session.keep_twin:
            return True
        entry = self.index.entries.get(session.key)
        return entry is not None and entry.active_recordings > 0

    def _changed(self, session: FoundSession, entry: IndexEntry) -> bool:
        source = entry.source
        if source is None or source.gone or source.path != str(session.sources[-1].path):
            return True
        if (source.size, source.mtime_ns) != (session.stamp.size, session.stamp.mtime_ns):
            return True
        return self._keeps_twin(session) and entry.twin_lags

    def _mark_gone(self, key: str) -> None:
        """A log that was deleted takes nothing with it: twin, facts and recordings stay."""

        def change(current: SessionMetadata) -> SessionMetadata:
            if current.source is None:
                return current
            return current.model_copy(update={"source": current.source.model_copy(update={"gone": True})})

        try:
            self.index.put(self.store.update(key, change))
        except NeedsRebuild:
            return
