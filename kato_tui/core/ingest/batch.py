"""Brings one session up to date, in the order that survives a crash at any point (spec §7).

A *pass* goes over the session's files from a cursor to their end, in *batches*: bounded bytes are read and translated,
their events appended to the twin and synced, and only then is the metadata saved with the new cursor. A crash between
the two leaves *recovered* events: the twin has them and the metadata does not know them. The next start is given them
by the source once more, matches them one by one, and adds nothing twice.

Facts follow every change, a twin is kept only where it is wanted. One that is wanted again first *catches up* with the
facts, in a pass of its own. A source that was rewritten is *replayed*: read from its start and compared with all that
the twin holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from kato_tui.core import identity
from kato_tui.core.clock import Clock, stamp
from kato_tui.core.ingest import reader
from kato_tui.core.ingest.dedupe import as_draft
from kato_tui.core.ingest.fold import Fold, Rewritten, start_of
from kato_tui.core.ingest.ledger import Ledger
from kato_tui.core.ingest.sink import OutOfStep, Placed, TwinSink
from kato_tui.core.model.events import USER_COMMAND
from kato_tui.core.model.intents import Outcome
from kato_tui.core.model.session import IngestCursor, SessionMetadata, SourceStamp
from kato_tui.core.paths import Home
from kato_tui.core.providers.base import Draft, Provider, SourceFile
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.sessions import SessionStore
from kato_tui.core.store.twin import LineEncoder, Twin


@dataclass(frozen=True, slots=True)
class Stores:
    """Where a session's state is kept."""

    home: Home
    sessions: SessionStore
    clock: Clock
    fs: Fs = field(default_factory=Fs)


@dataclass(slots=True)
class Report:
    """What bringing a session up to date came to."""

    bytes_read: int = 0
    events: int = 0
    #: Cursor resumes, rewrites, replays, duplicates suppressed, anchor mismatches (spec §12).
    counters: Counter[str] = field(default_factory=Counter)
    #: What became of the commands in the conversation.
    outcomes: list[Outcome] = field(default_factory=list)


class Commands(Protocol):
    """Runs commands: the metadata as they want it, and what to tell."""

    def run(
        self, metadata: SessionMetadata, commands: Iterable[Placed], past: Twin
    ) -> tuple[SessionMetadata, list[Outcome]]: ...


class _TwinWanted(Exception):
    """A command was met in a session whose twin is not kept: it needs one before it can act."""


class SessionIngest:
    """Brings one session up to date. `step` does one batch; call it until it gives False, then `close`.

    `live` means that the session was up to date and watched, so that new records carry the time of their capture.
    `commands` runs what the user typed; in a session met for the first time only what was typed after `since`.
    """

    def __init__(
        self,
        stores: Stores,
        provider: Provider,
        sources: list[SourceFile],
        *,
        keep_twin: bool,
        live: bool = False,
        commands: Commands | None = None,
        since: str | None = None,
    ) -> None:
        self._stores = stores
        self._provider = provider
        self._sources = sources
        self._keep_twin = keep_twin
        self._live = live
        self._commands = commands
        self._since = since
        self._key = identity.session_key(provider.name, sources[-1].provider_session_id)
        # The stamp is taken before anything is read: what is appended meanwhile shows as a change afterwards.
        self._stamp = reader.stamp_of(sources[-1].path)
        self.report = Report()
        self._metadata = self._load()
        self._twin = self._open_twin()
        self._recover()
        self._fold: Fold | None = None
        self._sink: TwinSink | None = None
        self._ledger: Ledger | None = None
        self._orphans: list[Placed] = []
        self._due: list[Placed] = []
        self._catching_up = False
        self._finished = False

    @property
    def metadata(self) -> SessionMetadata:
        return self._metadata

    @property
    def bytes_so_far(self) -> int:
        """For progress: what was read, the pass that is under way included."""
        return self.report.bytes_read + (self._fold.bytes_read if self._fold is not None else 0)

    def step(self) -> bool:
        """One batch. False when the session is up to date."""
        if self._finished:
            return False
        try:
            if self._fold is None:
                self._begin()
            return self._batch()
        except (Rewritten, OutOfStep):
            self._restart()
            return True
        except _TwinWanted:
            self.close()
            self._keep_twin = True
            return True

    def run(self) -> Report:
        """Every batch there is, then `close`."""
        try:
            while self.step():
                pass
        finally:
            self.close()
        return self.report

    def close(self) -> None:
        if self._fold is not None:
            self._fold.close()
            self._fold = None

    # Opening.

    def _load(self) -> SessionMetadata:
        self._stores.sessions.confirm()
        found = self._stores.sessions.load(self._key)
        if found is not None:
            return found
        source = self._sources[-1]
        fresh = self._stores.sessions.new(source.provider, source.provider_session_id)
        if self._stores.home.twin(self._key).exists():
            # The metadata is lost but the twin is not: compare everything with it instead of starting a second one.
            fresh = fresh.model_copy(update={"ingest_cursor": self._start(replaying=True)})
        return fresh

    def _open_twin(self) -> Twin:
        session = {
            "provider": self._metadata.provider,
            "providerSessionId": self._metadata.provider_session_id,
            "sessionId": self._metadata.session_id,
        }
        encoder = LineEncoder(session, self._provider.cursor_kind)
        path = self._stores.home.twin(self._key)
        return Twin(self._stores.fs, path, encoder, self._metadata.next_twin_seq, self._metadata.twin_length)

    def _recover(self) -> None:
        recovered = self._twin.recover()
        if recovered:
            self.report.counters["recovered"] += recovered

    @property
    def _recovered(self) -> int:
        """Events at the end of the twin that the metadata does not know yet, nor whoever runs the commands in them."""
        return self._twin.next_seq - self._metadata.next_twin_seq

    def _start(self, *, replaying: bool) -> IngestCursor:
        return start_of(self._provider, self._sources[0]).model_copy(update={"replaying": replaying})

    # One pass: either over the facts, and with them the twin, or over the twin alone until it has caught up.

    def _begin(self) -> None:
        metadata = self._metadata
        cursor = metadata.ingest_cursor
        behind = self._twin_cursor_behind()
        # A document is folded whole anyway, and a replay too: these passes bring twin and facts at once.
        self._catching_up = behind is not None and not behind.replaying and not self._is_document()
        if behind is not None:
            self._fold = Fold(self._provider, self._sources, behind, metadata.twin_parser_state)
        elif cursor is None or cursor.replaying or cursor.byte_offset == 0:
            self._fold = Fold(self._provider, self._sources)
        else:
            self._fold = Fold(self._provider, self._sources, cursor, metadata.parser_state, metadata.facts)
            self.report.counters["resumes"] += 1
        self._sink = None
        self._ledger = self._open_ledger()
        self._orphans = []
        if self._keep_twin:
            replaying = self._replaying()
            self._orphans = self._orphaned() if replaying else []
            if replaying:
                self.report.counters["replays"] += 1
            self._sink = TwinSink(
                self._twin,
                self._provider,
                recovered=self._recovered,
                replaying=replaying,
                returning=metadata.cut_cursor is not None,
            )

    def _open_ledger(self) -> Ledger | None:
        """What decides which commands of this pass are new; None while the twin only catches up, for then all of them
        were looked through before."""
        if self._commands is None or self._catching_up:
            return None
        cursor = self._metadata.ingest_cursor
        return Ledger(
            self._metadata.command_counts,
            from_start=cursor is None or cursor.replaying or cursor.byte_offset == 0 or self._is_document(),
            by_id=self._provider.stable_ids,
            # The source is noted at the end of the first pass: a crash in the middle leaves the rest as history.
            history=self._metadata.source is None,
            since=self._since,
        )

    def _orphaned(self) -> list[Placed]:
        """Commands that were written just before a crash: in a replay they are repetitions, yet nobody ran them."""
        events = self._twin.read(self._twin.next_seq - self._recovered) if self._recovered else ()
        return [(event["seq"], as_draft(event)) for event in events if event["kind"] == USER_COMMAND]

    def _twin_cursor_behind(self) -> IngestCursor | None:
        """Where the twin stands, if it is wanted and the facts are ahead of it."""
        metadata = self._metadata
        if not self._keep_twin:
            return None
        if metadata.twin_cursor is not None and self._is_document():
            return self._start(replaying=False)
        return metadata.twin_cursor

    def _is_document(self) -> bool:
        return self._sources[-1].layout == "document"

    def _replaying(self) -> bool:
        cursors = (self._metadata.twin_cursor, self._metadata.ingest_cursor)
        return any(cursor is not None and cursor.replaying for cursor in cursors)

    def _batch(self) -> bool:
        """Take what the reader has in memory, piece by piece, then write all of it at once: one sync a batch."""
        assert self._fold is not None
        limit = self._metadata.ingest_cursor if self._catching_up else None
        records = self._fold.advance(limit)
        if records is None and not self._orphans:
            return self._end_pass()
        before, captured_at = self._twin.next_seq, self._captured_at()
        self._take(records or [], captured_at)
        while records is not None and self._fold.ready and self._twin.staged_bytes <= reader.CHUNK:
            records = self._fold.advance(limit)
            self._take(records or [], captured_at)
        self._twin.flush()
        self.report.events += self._twin.next_seq - before
        if records is None or self._fold.at_end(limit):
            # The pass ends with this batch: its marks are written once. Most sessions are a single batch.
            return self._end_pass()
        self._save()
        return True

    def _take(self, records: list[list[Draft]], captured_at: str | None) -> None:
        wanted = self._new_commands(records)
        if self._sink is not None:
            placed = self._sink.take(records, captured_at)
            self._due += [(seq, draft) for seq, draft in self._orphans + placed if id(draft) in wanted]
            self._orphans = []
        elif wanted:
            raise _TwinWanted

    def _new_commands(self, records: list[list[Draft]]) -> set[int]:
        if self._ledger is None:
            return set()
        left = self._ledger.left_over(draft for _, draft in self._orphans)
        return {id(draft) for draft in (*left, *self._ledger.new(draft for record in records for draft in record))}

    def _captured_at(self) -> str | None:
        """The time that new events carry: now, if they arrived while the session was watched; None for the past."""
        if not self._live or self._catching_up or self._replaying():
            return None
        return stamp(self._stores.clock.now())

    def _end_pass(self) -> bool:
        """Everything is on disk: close the pass, and go on with the facts if this one only caught the twin up."""
        assert self._fold is not None
        if self._sink is not None and self._sink.unmatched:
            # The source lost its end in the crash: what the twin took from there is in no place of it any more.
            raise OutOfStep
        fold, self._fold = self._fold, None
        fold.close()
        self._count(fold)
        if self._catching_up:
            self._catching_up = False
            self._commit(
                {"twin_cursor": None, "twin_parser_state": None, **self._twin_marks(), **self._cut_marks(fold)}
            )
            return True
        self._finished = True
        self._commit({**self._fold_marks(fold), **self._twin_marks(), **self._cut_marks(fold), **self._source_marks()})
        return False

    def _save(self) -> None:
        """The cursor moves only now, after the events it covers are on disk."""
        assert self._fold is not None
        if self._catching_up:
            cursor, state = self._fold.cursor, self._fold.state()
            marks = {**self._twin_marks(), **self._cut_marks(self._fold)}
            self._commit({"twin_cursor": cursor, "twin_parser_state": state, **marks})
        elif self._keep_twin and self._replaying():
            # Until a replay has reached the end it can only be started over, which adds nothing twice.
            self._commit({**self._twin_marks(), **self._command_marks()})
        else:
            self._commit({**self._fold_marks(self._fold), **self._twin_marks(), **self._cut_marks(self._fold)})

    def _restart(self) -> None:
        """The source was rewritten: the next batch begins a pass from its start. What the twin holds stays, whatever
        its source lost; when there is something to compare with, that pass is a replay."""
        self.close()
        self._twin.unstage()
        self.report.counters["rewrites"] += 1
        started = self._start(replaying=self._keep_twin and self._twin.next_seq > 1)
        changes: dict[str, Any] = {"ingest_cursor": started, "parser_state": {}}
        behind = None if self._keep_twin else self._start(replaying=self._twin.next_seq > 1)
        changes |= {"twin_cursor": behind, "twin_parser_state": None, "cut_cursor": self._cut_at()}
        # What the twin is ahead is vouched for by the replay, together with the commands in it.
        self._due = []
        self._commit(changes)

    def _cut_at(self) -> IngestCursor | None:
        """How far the source once reached: until it is read that far again, what comes may be what was there before."""
        known = (self._metadata.cut_cursor, self._metadata.ingest_cursor)
        places = [cursor for cursor in known if cursor is not None and cursor.byte_offset]
        return max(places, key=lambda cursor: (cursor.generation, cursor.byte_offset), default=None)

    # What is written down.

    def _fold_marks(self, fold: Fold) -> dict[str, Any]:
        facts = fold.facts()
        self._provider.facts_beside(fold.source, facts)
        marks: dict[str, Any] = {
            "ingest_cursor": fold.cursor.model_copy(update={"replaying": False}),
            "parser_state": fold.state(),
            "facts": facts,
            "source_kind": fold.source.kind,
        }
        marks |= self._command_marks()
        if self._keep_twin:
            marks |= {"twin_cursor": None, "twin_parser_state": None}
        elif self._metadata.twin_cursor is None:
            # The twin is not kept (any longer): remember where it stands, so that it can be taken up (again).
            marks["twin_cursor"] = self._metadata.ingest_cursor or self._start(replaying=False)
            marks["twin_parser_state"] = self._metadata.parser_state
        return marks

    def _command_marks(self) -> dict[str, Any]:
        return {"command_counts": self._ledger.counts()} if self._ledger is not None else {}

    def _twin_marks(self) -> dict[str, Any]:
        if not self._keep_twin and self._recovered:
            return {}
        return {
            "next_twin_seq": self._twin.next_seq,
            "twin_length": self._twin.length,
            "command_cursor": self._twin.next_seq - 1,
        }

    def _cut_marks(self, fold: Fold) -> dict[str, Any]:
        """A source that was cut gives no old records any more once it is past its former end, or said something new."""
        cut = self._metadata.cut_cursor
        if cut is None or self._sink is None:
            return {}
        reached = (fold.cursor.generation, fold.cursor.byte_offset) >= (cut.generation, cut.byte_offset)
        return {"cut_cursor": None} if reached or self._sink.news else {}

    def _source_marks(self) -> dict[str, Any]:
        if self._stamp is None:
            return {}
        path = self._sources[-1].written
        return {"source": SourceStamp(path=path, size=self._stamp.size, mtime_ns=self._stamp.mtime_ns)}

    def _commit(self, changes: dict[str, Any]) -> None:
        base = self._metadata
        told: list[Outcome] = []

        def change(current: SessionMetadata) -> SessionMetadata:
            created = current.created_at or base.created_at
            changed = current.model_copy(update={**changes, "created_at": created})
            if self._due and self._commands is not None:
                changed, outcomes = self._commands.run(changed, self._due, self._twin)
                told.extend(outcomes)
            return changed

        # What commands change is stored with the cursor that passes them: run once, or not at all.
        self._metadata = self._stores.sessions.update(self._key, change)
        self._due = []
        self.report.outcomes += told

    def _count(self, fold: Fold) -> None:
        self.report.bytes_read += fold.bytes_read
        if fold.document_resume is not None:
            self.report.counters[f"document-{fold.document_resume}"] += 1
        if self._sink is not None:
            self.report.counters["duplicates"] += self._sink.duplicates
            self._sink.duplicates = 0
