"""Keeps recordings up with their twins: after every batch, after a pause that a failure forced, and after a crash."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from kato_tui.core.errors import Fault, NeedsRebuild
from kato_tui.core.model.intents import RecordingRef
from kato_tui.core.notices import Notices
from kato_tui.core.paths import Home
from kato_tui.core.record.outcomes import ref_of
from kato_tui.core.record.recorder import Recorder
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.index import IndexStore
from kato_tui.core.store.sessions import SessionStore


class Keeper:
    """`changed` is told of every session whose recordings were looked after."""

    def __init__(
        self,
        home: Home,
        fs: Fs,
        store: SessionStore,
        index: IndexStore,
        recorder: Recorder,
        news: Notices,
        changed: Callable[[str], None],
    ) -> None:
        self._home = home
        self._fs = fs
        self._store = store
        self._index = index
        self._recorder = recorder
        self._news = news
        self._changed = changed

    def clear_leftovers(self) -> None:
        """Remove what processes that died left half done; it was never more than a copy."""
        left = self._home.temporary_files()
        if not self._index.refused:
            # Of a session that cannot be read it is not known what it is about to append.
            wanted = self._recorder.pending_files(self._unsettled())
            left += [path for path in self._home.pending_files() if path not in wanted]
        for path in left:
            with contextlib.suppress(OSError):
                self._fs.unlink(path)

    def settle(self) -> None:
        """Finish all appends that a crash left unfinished, before anything is appended to any of those files."""
        unsettled = self._unsettled()
        for key in unsettled:
            self._guarded(key, self._recorder.settle)
        for key in unsettled:
            self.record(key)

    def record(self, key: str) -> None:
        """Append what the session's recordings do not have yet."""
        self._guarded(key, self._recorder.drain)
        self._reindex(key)
        self._changed(key)
        for notice in self._recorder.take_notices():
            self._news.put(notice)

    def tick(self) -> None:
        """What time brings: failing recordings are tried again, and what was appended is written down."""
        for key in self._recorder.failures.due():
            self.record(key)
        self.flush()

    def flush(self) -> None:
        for key in self._recorder.flush():
            self._reindex(key)

    def others_at(self, destination: str, session_id: str) -> list[RecordingRef]:
        """What other sessions are recording to the same file."""
        return [
            ref_of(entry.session_id, recording.recording_id, recording.destination)
            for entry in self._index.entries.values()
            for recording in entry.recordings
            if recording.on and recording.destination == destination and entry.session_id != session_id
        ]

    def _unsettled(self) -> list[str]:
        return [key for key, entry in self._index.entries.items() if entry.unsettled]

    def _guarded(self, key: str, work: Callable[[str], object]) -> None:
        """Do it for one session. If its state cannot be used that is told, and the others go on."""
        try:
            work(key)
        except NeedsRebuild as error:
            self._news.say("needs-rebuild", "error", str(error), key)
        except Exception as error:  # noqa: BLE001 - an event that no code was ready for must not stop the others
            self._news.say("fault", "error", str(Fault(error)), key)

    def _reindex(self, key: str) -> None:
        try:
            metadata = self._store.load(key)
        except NeedsRebuild:
            return
        if metadata is not None:
            self._index.put(metadata)
