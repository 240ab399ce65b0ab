"""Where intents from outside the chat come in: finds whom they mean and has them carried out (spec §8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from kato_tui.core import identity
from kato_tui.core.clock import Clock, stamp
from kato_tui.core.errors import KatoError, in_words
from kato_tui.core.model.index import IndexEntry
from kato_tui.core.model.intents import Intent, Outcome
from kato_tui.core.model.session import SessionMetadata
from kato_tui.core.paths import Home
from kato_tui.core.record import resolve
from kato_tui.core.record.director import Audit, Director, Wish
from kato_tui.core.record.outcomes import both_outcome, resolution_outcome
from kato_tui.core.store.sessions import SessionStore
from kato_tui.core.store.twin import TwinReader


class Sessions(Protocol):
    """What the desk asks of the engine."""

    def session_candidates(self) -> list[resolve.SessionCandidate]: ...

    def freshen(self, key: str, *, keep_twin: bool) -> None:
        """Bring the session up to date, with a twin; a `KatoError` says why it cannot be."""


class Desk:
    def __init__(
        self,
        home: Home,
        store: SessionStore,
        director: Director,
        sessions: Sessions,
        entries: Callable[[], Mapping[str, IndexEntry]],
        clock: Clock,
        audit: Audit,
    ) -> None:
        self._home = home
        self._store = store
        self._director = director
        self._sessions = sessions
        self._entries = entries
        self._clock = clock
        self._audit = audit

    def submit(self, intent: Intent) -> tuple[Outcome, list[str]]:
        """What came of the intent, and the keys of the sessions it changed."""
        outcomes, changed = self._carry_out(intent)
        first, *also = outcomes
        told = first.model_copy(update={"also": also})
        self._audit.write("intent", action=intent.action, origin=intent.origin, outcome=[one.code for one in outcomes])
        return told, changed

    def _carry_out(self, intent: Intent) -> tuple[list[Outcome], list[str]]:
        if intent.session is None:
            if intent.action not in ("stop", "resume"):
                return [_error("no-session", f"{intent.action} needs a session: name one by its id")], []
            return self._among_all(intent)
        answer = resolve.resolve_session(
            intent.session,
            self._sessions.session_candidates(),
            canonical=lambda text: self._director.canonical(text, None),
        )
        if not isinstance(answer, resolve.Matched):
            return [_error(answer.code, answer.reason)], []
        key = answer.found[0].session_key
        return self._keep(key, intent) if intent.action == "keep" else self._in_session(key, intent)

    def _among_all(self, intent: Intent) -> tuple[list[Outcome], list[str]]:
        """A target without a session: looked for among the recordings of all."""
        keys: dict[str, str] = {}
        pool: list[resolve.Candidate] = []
        for key, entry in self._entries().items():
            keys[entry.session_id] = key
            pool += (
                resolve.Candidate(entry.session_id, one.recording_id, one.destination, one.on)
                for one in entry.recordings
            )
        answer = resolve.resolve(
            intent.argument,
            pool,
            canonical=lambda text: self._director.canonical(text, None),
            action="stop" if intent.action == "stop" else "resume",
        )
        if not isinstance(answer, resolve.Matched):
            return [resolution_outcome(answer, None)], []
        outcomes: list[Outcome] = []
        changed: list[str] = []
        for one in answer.found:
            named = intent.model_copy(update={"argument": f"id:{one.recording_id}"})
            told, keys_changed = self._in_session(keys[one.session_id], named)
            outcomes += told
            changed += keys_changed
        if answer.warning is not None:
            outcomes.append(both_outcome(answer.warning, None))
        return outcomes, changed

    def _keep(self, key: str, intent: Intent) -> tuple[list[Outcome], list[str]]:
        """A twin of this one session, whatever its root's setting says."""
        keep = intent.argument is None
        if not keep and intent.argument != "off":
            return [_error("invalid-argument", f"keep takes nothing or `off`, not {intent.argument}")], []
        try:
            self._store.update(key, lambda current: current.model_copy(update={"keep_twin": keep}))
            self._sessions.freshen(key, keep_twin=keep)
        except (KatoError, OSError) as error:
            return [_error("unreadable", f"cannot keep a twin: {in_words(error)}")], []
        short = identity.short_id(identity.session_id(key))
        message = f"a twin of session {short} is kept from now on" if keep else f"no twin of session {short} is kept"
        return [Outcome(code="done", severity="info", message=message, session_short_id=short)], [key]

    def _in_session(self, key: str, intent: Intent) -> tuple[list[Outcome], list[str]]:
        try:
            self._sessions.freshen(key, keep_twin=intent.action != "stop")
        except (KatoError, OSError) as error:
            if intent.action != "stop":
                return [_error("unreadable", f"cannot {intent.action}: {in_words(error)}")], []
            # A stop must work also when the log cannot be read: it ends with what the twin holds.
        outcomes: list[Outcome] = []

        def change(current: SessionMetadata) -> SessionMetadata:
            twin = TwinReader(self._home.twin(key), current.next_twin_seq, current.twin_length)
            wish = Wish(
                intent.action,
                intent.argument,
                start_at=current.next_twin_seq,
                stop_at=current.next_twin_seq - 1,
                past=twin,
                at=stamp(self._clock.now()),
                from_seq=intent.from_seq,
                settings=intent.settings,
            )
            changed, told = self._director.decide(current, wish)
            outcomes.extend(told)
            return changed

        try:
            self._store.update(key, change)
        except (KatoError, OSError) as error:
            return [_error("not-saved", f"cannot {intent.action}: {in_words(error)}")], []
        return outcomes, [key]


def _error(code: str, message: str) -> Outcome:
    return Outcome(code=code, severity="error", message=message)


def session_candidates(entries: Iterable[tuple[str, str | None]]) -> list[resolve.SessionCandidate]:
    """Sessions by key and the path of their log, as a name is compared with them."""
    return [
        resolve.SessionCandidate(identity.session_id(key), key, key.partition(":")[2], source)
        for key, source in entries
    ]
