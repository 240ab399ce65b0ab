"""The engine: ties discovery, ingest and state together. No thread, no hidden clock; callers drive it step by step."""

from __future__ import annotations

import contextlib
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from kato_tui.core.account import Account
from kato_tui.core.clock import Clock, SystemClock, stamp
from kato_tui.core.config import Config
from kato_tui.core.errors import (
    Fault,
    HomeUnusable,
    NeedsRebuild,
    SessionNotFound,
    SourceUnreadable,
    about_log,
    in_words,
)
from kato_tui.core.ingest.batch import Report, SessionIngest, Stores
from kato_tui.core.ingest.discover import Discovery, FoundSession, Root, is_barred, log_path, roots_of
from kato_tui.core.ingest.forget import forget_twin
from kato_tui.core.listener import Listener, Silent
from kato_tui.core.logs import JsonLog
from kato_tui.core.model.index import IndexEntry
from kato_tui.core.model.intents import Intent, Notice, Outcome, Severity
from kato_tui.core.model.session import SessionMetadata
from kato_tui.core.model.status import EngineStatus, Status, Watching
from kato_tui.core.notices import Notices
from kato_tui.core.paths import Home
from kato_tui.core.pool import Assistance
from kato_tui.core.providers.base import Provider
from kato_tui.core.record import desk, resolve
from kato_tui.core.record.chat import ChatCommands
from kato_tui.core.record.director import Director, Surroundings
from kato_tui.core.record.keeper import Keeper
from kato_tui.core.record.policy import write_policy
from kato_tui.core.record.recorder import Recorder
from kato_tui.core.status import About, engine_status
from kato_tui.core.store.fs import Fs, make_folders
from kato_tui.core.store.index import IndexStore
from kato_tui.core.store.lock import EngineLock
from kato_tui.core.store.sessions import SessionStore
from kato_tui.core.summary import Step, Summary
from kato_tui.core.survey import Survey

Progress = Callable[["Step"], None]
NewId = Callable[[], str]

#: Session logs become about this much larger when they are unpacked.
_COMPRESSION: Final = 8


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
        new_id: NewId | None = None,
    ) -> None:
        self.home = home
        self._config = config
        self._environ = environ
        self._user_home = user_home
        self.clock = clock or SystemClock()
        self.fs = fs or Fs()
        self._lock = EngineLock(home.lock)
        self._discovery = Discovery(roots_of(config, providers, environ, user_home))
        self.sessions: dict[str, FoundSession] = self._discovery.sessions
        self.store = SessionStore(home, self.clock, self.fs)
        self.index = IndexStore(home, self.clock, self.fs)
        self._stores = Stores(home, self.store, self.clock, self.fs)
        self.log = JsonLog(home.operational_log, self.clock)
        self._news = Notices(self.clock, self.log, lambda notice: self.listener.noticed(notice))
        self._set_up_recording(new_id or (lambda: str(uuid.uuid4())))
        #: Who is told what happens, as it happens.
        self.listener: Listener = Silent()
        self.watching: Watching = "none"
        self.latency_ms: float | None = None
        self._since: str | None = None
        self._providers = providers
        self._account = Account(self.log, self._news)
        #: Sums over everything since the start.
        self.totals = self._account.totals
        #: Sessions that were up to date once in this run: what comes now is captured live.
        self._watched: set[str] = set()
        self._let_go: set[str] = set()
        self.survey = Survey(self, providers)

    def _set_up_recording(self, new_id: NewId) -> None:
        """Those who carry out wishes, from the chat and from outside, and keep the files up."""
        audit = JsonLog(self.home.audit_log, self.clock)
        policy = write_policy(self._config, self.home, self._user_home)
        self.recorder = Recorder(self.home, self.store, policy, self.clock, self.fs, audit)
        self._keeper = Keeper(
            self.home,
            self.fs,
            self.store,
            self.index,
            self.recorder,
            self._news,
            lambda key: self.listener.changed(key),
        )
        markdown, others_at = self._config.markdown, self._keeper.others_at
        self._around = Surroundings(self._user_home, policy, markdown, self.clock, audit, others_at, new_id)
        director = Director(self._around)
        self._commands = ChatCommands(director, audit)
        self._desk = desk.Desk(self.home, self.store, director, self, lambda: self.index.entries, self.clock, audit)

    @property
    def roots(self) -> list[Root]:
        return self._discovery.roots

    @property
    def notices(self) -> deque[Notice]:
        """What the user should know, newest last."""
        return self._news.kept

    def start(self) -> None:
        """Take the home and find the sessions. Reads no log."""
        self.take_home()
        self.discover()

    def take_home(self) -> None:
        """Lock it, and know what it holds."""
        try:
            for folder in self.home.folders():
                make_folders(self.fs, folder)
            self._lock.acquire()
            # What a dead process renamed is visible, and a power cut may still undo it: nothing is done upon it before.
            self.fs.sync_folder(self.home.sessions)
        except OSError as error:
            self._lock.release()
            raise HomeUnusable(
                f"cannot keep state in {self.home.root}: {in_words(error, of=self.home.root)}. "
                "Set KATO_HOME to a folder that you can write to, as in KATO_HOME=/tmp/kato kato-tui"
            ) from error
        self._since = stamp(self.clock.now())
        self.index.load()
        self._keeper.clear_leftovers()
        self._keeper.settle()
        self._discovery.known = dict(self.index.files)

    def close(self) -> None:
        self._keeper.flush()
        self.index.save(force=True)
        self._lock.release()

    def submit(self, intent: Intent) -> Outcome:
        """Carry out a wish from a key or a command line: the same as the command in the chat."""
        outcome, changed = self._desk.submit(intent)
        for key in changed:
            self.record(key)
        for one in (outcome, *outcome.also):
            self._news.outcome(one)
        return outcome

    def tick(self) -> None:
        """What time brings: failing recordings are tried again, and what was appended is written down."""
        self._keeper.tick()

    def session_candidates(self) -> list[resolve.SessionCandidate]:
        sources = {key: entry.source.path if entry.source else None for key, entry in self.index.entries.items()}
        sources |= {key: str(session.sources[-1].path) for key, session in self.sessions.items()}
        return desk.session_candidates(sources.items())

    def freshen(self, key: str, *, keep_twin: bool) -> None:
        """Bring a session up to date, with its twin where one is needed."""
        session = self.sessions.get(key)
        if session is None:
            entry = self.index.entries.get(key)
            if entry is not None and entry.twin_lags and keep_twin:
                raise SessionNotFound("the log is gone and there is no complete twin of it")
            return
        self.listener.taken(key)
        self._bring(session, keep_twin=keep_twin or self.keeps_twin(session))

    def discover(self) -> None:
        """Look again which sessions there are; note those whose source has gone."""
        self._discovery.sweep()
        self.index.put_files(self._discovery.known)
        for key in list(self.index.entries):
            self._check_gone(key)

    def look_everywhere(self) -> set[str]:
        """Look at all logs and folders; the keys of what is to be read, also of what could not be read before."""
        self._noticed(self._discovery.look_everywhere())
        self.index.put_files(self._discovery.known)
        return {session.key for session in self.pending()}

    def look(self, paths: Iterable[Path]) -> set[str]:
        """Follow hints about changed files; the keys of the sessions that are to be read."""
        return self._noticed(self._discovery.look(paths))

    def stir(self) -> set[str]:
        """Look at the folders of all logs: what came, moved or went since."""
        return self._noticed(self._discovery.stir())

    def stat(self, keys: Iterable[str]) -> set[str]:
        """Look at the logs of these sessions."""
        return self._noticed(self._discovery.stat(keys))

    def _noticed(self, keys: set[str]) -> set[str]:
        for key in keys:
            self._check_gone(key)
        return {key for key in keys if self.is_pending(key)}

    def is_pending(self, key: str) -> bool:
        session, entry = self.sessions.get(key), self.index.entries.get(key)
        return session is not None and (entry is None or self._changed(session, entry))

    def _check_gone(self, key: str) -> None:
        entry = self.index.entries.get(key)
        if key in self.sessions or entry is None or entry.source is None or entry.source.gone:
            return
        if not is_barred(Path(entry.source.path)):
            self._mark_gone(key)

    def status(self) -> Status:
        """All there is to show, from memory; only sessions with recordings have their metadata looked at."""
        sessions = list(self.survey.session_statuses(self.survey.all_keys()))
        return Status(engine=self.engine_status(), sessions=sessions, warnings=list(self.notices))

    def refusal(self, key: str) -> str | None:
        """Why the stored state of a session cannot be used."""
        return self.index.refused.get(self.home.meta(key).name) if self.index.refused else None

    def engine_status(self) -> EngineStatus:
        about = About(str(self.home.root), self._since, self.watching, self.latency_ms, self.totals)
        return engine_status(about, self.roots, self.sessions, self.index.entries)

    def pending(self) -> list[FoundSession]:
        """Sessions whose source changed since it was last read to its end."""
        return [session for key, session in self.sessions.items() if self.is_pending(key)]

    def bring_up_to_date(self, progress: Progress | None = None) -> Summary:
        """Ingest everything that changed, session by session; one that fails does not hold up the others."""
        waiting = self.pending()
        summary = Summary(sessions=len(self.sessions), problems=self._refused())
        for done, session in enumerate(waiting):
            report = self._ingest(session, summary.problems)
            if report is not None:
                summary.add(report)
            self.save_index(summary.problems)
            if progress is not None:
                progress(Step(done + 1, len(waiting), session.key, summary.bytes_read))
        self._watched.update(self.sessions)
        return summary

    def _refused(self) -> dict[str, str]:
        """Stored sessions that cannot be used: named even where no reading meets them, because their log has not
        changed or is gone, or nobody would know."""
        keys = {self.home.meta(key).name: key for key in self.sessions} if self.index.refused else {}
        return {keys.get(name, name): problem for name, problem in self.index.refused.items()}

    def recorded_at(self, key: str) -> list[str]:
        """The destinations at which a session is being recorded, as far as the index knows."""
        entry = self.index.entries.get(key)
        return [one.destination for one in entry.recordings if one.on] if entry is not None else []

    def resolve(self, name: str) -> str:
        """The key of the one session that `name` means: id or prefix, the provider's own id, key or log."""
        answer = resolve.resolve_session(name, self.session_candidates(), canonical=log_path)
        if not isinstance(answer, resolve.Matched):
            raise SessionNotFound(answer.reason)
        return answer.found[0].session_key

    def _ingest(self, session: FoundSession, problems: dict[str, str]) -> Report | None:
        try:
            report = self._bring(session, keep_twin=self.keeps_twin(session))
            self.record(session.key)
        except (NeedsRebuild, SourceUnreadable) as error:
            self._discovery.doubt(session.key)
            problems[session.key] = str(error)
            return None
        except OSError as error:
            problems[session.key] = about_log(session.sources[-1].path, error)
            return None
        except Exception as error:  # noqa: BLE001 - a log that no code was ready for must not stop the others
            problems[session.key] = str(Fault(error))
            return None
        return report

    def _bring(self, session: FoundSession, *, keep_twin: bool) -> Report:
        ingest = self.open_ingest(session, keep_twin=keep_twin)
        first = ingest.metadata.next_twin_seq
        ingest.run()
        self.finished(session, ingest, first)
        return ingest.report

    def open_ingest(
        self,
        session: FoundSession,
        *,
        keep_twin: bool | None = None,
        live: bool | None = None,
        since: str | None = None,
    ) -> SessionIngest:
        """For callers that advance sessions step by step; `finished` when it has come to its end."""
        return SessionIngest(
            self._stores,
            session.provider,
            session.sources,
            keep_twin=self.keeps_twin(session) if keep_twin is None else keep_twin,
            live=session.key in self._watched if live is None else live,
            commands=self._commands,
            since=since or self.since_of(session.key),
        )

    def since_of(self, key: str) -> str | None:
        """From when on commands count in a session that is met for the first time; None for never.

        What was thrown away here and comes again was seen before: nothing in it is new.
        """
        return None if key in self._let_go else self._since

    def stepped(self, key: str, ingest: SessionIngest, first: int) -> None:
        """A batch is on disk: let the recordings and those who watch have what it brought, from seq `first` on."""
        self.index.put(ingest.metadata)
        if ingest.metadata.recordings:
            self.record(key)
        self.listener.changed(key)
        if ingest.metadata.next_twin_seq > first:
            self.listener.appended(ingest.metadata, first)

    def finished(self, session: FoundSession, ingest: SessionIngest, first: int) -> None:
        self._account.add(session.key, ingest.report)
        self._account.went_well(session.key)
        if session.key in self._watched and self._has_news(session):
            self.latency_ms = max(0.0, self.clock.now().timestamp() * 1000 - session.stamp.mtime_ns / 1e6)
        self._watched.add(session.key)
        self.stepped(session.key, ingest, first)

    def broken_off(self, key: str, ingest: SessionIngest) -> None:
        """Its batches so far are on disk, and what they brought is told; somebody else reads on from there."""
        self._account.add(key, ingest.report)

    # Catch-up by other processes.

    def assistance(self) -> Assistance:
        """What a process needs to bring sessions up to date for this engine."""
        return Assistance(
            hello=lambda: {
                "home": str(self.home.root),
                "userHome": str(self._user_home),
                "config": self._config.model_dump(mode="json", by_alias=True, exclude_none=True),
            },
            lock=lambda: self._lock.descriptor,
        )

    def assist(self) -> None:
        """Work for the engine that holds the lock, session by session as it says."""
        self.index.load_when_asked()

    def is_live(self, key: str) -> bool:
        """Whether the session was up to date once in this run."""
        return key in self._watched

    def bytes_to_read(self, key: str, *, keep_twin: bool) -> int:
        """About how much reading it takes to bring the session up to date; 0 when it is."""
        session, entry = self.sessions.get(key), self.index.entries.get(key)
        if session is None:
            return 0
        size = session.stamp.size * (_COMPRESSION if session.sources[-1].compressed else 1)
        if entry is None or entry.source is None or (entry.twin_lags and keep_twin):
            return size
        if entry.source.path != session.sources[-1].written or entry.source.size > size:
            return size
        return size - entry.source.size

    def adopt(self, key: str, events: int, report: Report) -> None:
        """A session was brought up to date by another process, with `events` new ones in its twin."""
        self.store.forget(key)
        self._account.add(key, report)
        self._account.went_well(key)
        self._watched.add(key)
        self.record(key)
        metadata = self.store.load(key)
        if metadata is not None and events:
            self.listener.appended(metadata, max(1, metadata.next_twin_seq - events))

    def let_go(self, key: str) -> None:
        """The session's state is about to be thrown away. Its log may stay: then it is met anew, as the past."""
        self.listener.taken(key)
        self._let_go.add(key)
        self._watched.discard(key)

    def reconfigure(self, config: Config) -> None:
        """Take new settings while running: roots, where recordings may go, and how new ones are written.

        All of them or, when one cannot be used (`ConfigError`), none.
        """
        roots = roots_of(config, self._providers, self._environ, self._user_home)
        policy = write_policy(config, self.home, self._user_home)
        self._config = config
        known = self._discovery.known
        self._discovery = Discovery(roots)
        self._discovery.known = known
        self.sessions = self._discovery.sessions
        self.recorder.policy = policy
        self._around.policy = policy
        self._around.settings = config.markdown
        self.discover()

    def failed(self, key: str, error: Exception) -> None:
        """A session that cannot be read now: said once, tried again at every sweep."""
        self._discovery.doubt(key)
        session = self.sessions.get(key)
        self._account.failed(key, error, session.sources[-1].path if session is not None else None)

    def say(self, code: str, severity: Severity, message: str, key: str | None = None) -> None:
        """Something about the engine itself, or about the session of that key, that the user should know."""
        self._news.say(code, severity, message, key)

    def forget_twins(self) -> int:
        """Remove the twins that can be made again from their logs and that no recording needs; how many they were."""
        return sum(forget_twin(self._stores, session, self.index) for session in self.sessions.values())

    def record(self, key: str) -> None:
        """Append what the session's recordings do not have yet."""
        self._keeper.record(key)

    def save_index(self, problems: dict[str, str]) -> None:
        """The index only saves work: failing to write it (a full disk) must not stop anything."""
        try:
            self.index.save()
        except OSError as error:
            problems["index"] = f"{self.home.index}: {in_words(error)}"

    def keeps_twin(self, session: FoundSession) -> bool:
        if session.keep_twin:
            return True
        entry = self.index.entries.get(session.key)
        return entry is not None and (entry.keep_twin or entry.active_recordings > 0)

    def _changed(self, session: FoundSession, entry: IndexEntry) -> bool:
        source, stamp = entry.source, session.stamp
        if source is None or source.gone or source.size != stamp.size or source.mtime_ns != stamp.mtime_ns:
            return True
        if source.path != session.sources[-1].written:
            return True
        return entry.twin_lags and self.keeps_twin(session)

    def _has_news(self, session: FoundSession) -> bool:
        """Whether the log was written to since it was read last: a second look at an old one takes no time."""
        entry = self.index.entries.get(session.key)
        return entry is None or entry.source is None or entry.source.mtime_ns != session.stamp.mtime_ns

    def _mark_gone(self, key: str) -> None:
        """A log that was deleted takes nothing with it: twin, facts and recordings stay."""

        def change(current: SessionMetadata) -> SessionMetadata:
            if current.source is None:
                return current
            return current.model_copy(update={"source": replace(current.source, gone=True)})

        # What cannot be written down now is noticed again at the next look.
        with contextlib.suppress(NeedsRebuild, OSError):
            self.index.put(self.store.update(key, change))
