"""What is told of the sessions: stored facts, else a glimpse at the ends of a log. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kato_tui.core import identity
from kato_tui.core.errors import NeedsRebuild
from kato_tui.core.ingest.discover import FoundSession
from kato_tui.core.ingest.glimpse import Glimpses
from kato_tui.core.model.facts import AgentState, Facts
from kato_tui.core.model.status import RecordingStatus, SessionStatus
from kato_tui.core.providers.base import Provider, SourceFile
from kato_tui.core.record.recorder import Recorder
from kato_tui.core.status import recording_statuses, session_status
from kato_tui.core.store.index import IndexStore
from kato_tui.core.store.sessions import SessionStore


class Known(Protocol):
    """What there is to look at: the engine's own state."""

    sessions: dict[str, FoundSession]
    index: IndexStore
    store: SessionStore
    recorder: Recorder

    def is_pending(self, key: str) -> bool: ...

    def refusal(self, key: str) -> str | None: ...


class Survey:
    def __init__(self, known: Known, providers: Mapping[str, Provider]) -> None:
        self._known = known
        self._providers = providers
        self._glimpses = Glimpses()
        #: At how many unread logs a list of all sessions may look; None for all of them.
        self.first_looks: int | None = None

    def all_keys(self) -> list[str]:
        """All sessions there are or were."""
        return sorted(self._known.sessions.keys() | self._known.index.entries.keys())

    def facts(self, key: str, *, look: bool = True) -> Facts:
        """What is known about a session now; without `look` no log is opened for it."""
        entry = self._known.index.entries.get(key)
        session = self._known.sessions.get(key)
        if session is None or not self._known.is_pending(key):
            return entry.facts if entry is not None else Facts()
        if look or self._glimpses.holds(session):
            return self._glimpses.of(session)
        return entry.facts if entry is not None else Facts()

    def session_status(self, key: str) -> SessionStatus:
        return self._status(key, look=True, ended=key in self._ended([key]))

    def session_statuses(self, keys: Sequence[str]) -> Iterator[SessionStatus]:
        """The sessions of the status one by one: thousands of them at once take a lot of memory."""
        looks, ended = self._worth_a_look(keys), self._ended(keys)
        for key in keys:
            yield self._status(key, look=key in looks, ended=key in ended)

    def _worth_a_look(self, keys: Iterable[str]) -> set[str]:
        """The unread sessions whose logs a list looks at: a first look costs milliseconds each."""
        found = (self._known.sessions[key] for key in keys if self._known.is_pending(key))
        unread = [session for session in found if not self._glimpses.holds(session)]
        unread.sort(key=lambda session: -session.stamp.mtime_ns)
        return {session.key for session in unread[: self.first_looks]}

    def _ended(self, keys: Iterable[str]) -> set[str]:
        """Sessions whose process has ended. A registry of processes is read once, not once for each session."""
        by_provider: dict[str, list[SourceFile]] = {}
        for key in keys:
            session = self._known.sessions.get(key)
            if session is not None:
                by_provider.setdefault(session.provider.name, []).append(session.sources[-1])
        return {
            identity.session_key(name, session)
            for name, sources in by_provider.items()
            for session in self._providers[name].ended(sources)
        }

    def _status(self, key: str, *, look: bool, ended: bool) -> SessionStatus:
        known = self._known
        entry = known.index.entries.get(key)
        recordings: list[RecordingStatus] = []
        problem = known.refusal(key)
        if entry is not None and entry.recordings:
            try:
                metadata = known.store.load(key)
                recordings = recording_statuses(metadata, known.recorder) if metadata is not None else []
            except NeedsRebuild as error:
                problem = str(error)
        facts = self.facts(key, look=look)
        if ended:
            facts = replace(facts, agent_state=AgentState("ended", "process-gone", since=facts.last_activity))
        provider = self._providers.get(key.partition(":")[0])
        found = known.sessions[key].sources[-1] if key in known.sessions else None
        return session_status(key, entry, facts, provider, recordings, problem, found)
