"""Brings recordings up to their session's twin: renders what is new and appends it, each event once (spec §7, §8).

A recording that fails keeps its reason and is tried again later; it holds back no other. What has been appended is
remembered in memory and written down with the next append, by `flush`, or found out again after a crash.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from kato_tui.core import identity
from kato_tui.core.clock import Clock, stamp
from kato_tui.core.errors import in_words
from kato_tui.core.model.intents import Notice, Severity
from kato_tui.core.model.session import FileMark, PendingAppend, Recording, Remark, SessionMetadata
from kato_tui.core.paths import Home
from kato_tui.core.record import appender, frontmatter, periods
from kato_tui.core.record.appender import Mark, NotThere, Spot
from kato_tui.core.record.asides import Asides
from kato_tui.core.record.destination import format_of
from kato_tui.core.record.failures import Failures
from kato_tui.core.record.outcomes import ref_of
from kato_tui.core.record.policy import Allowed, Denied, WritePolicy, WriteRefused
from kato_tui.core.record.writer import RenderState, writer_for
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.sessions import SessionStore
from kato_tui.core.store.twin import TwinReader

#: Rendered bytes appended at a time; more than this only when a single event is larger.
_CHUNK: Final = 1 << 20
#: Larger chunks lie in a file of their own until they are appended: metadata is written whole every time.
_MAX_INLINE: Final = 32 << 10
_HEAD: Final = 256 << 10

_REMARKS: Final[dict[Remark, str]] = {
    "recording-edited": "{file} was edited where recording {recording} wrote last: nothing is added again, the file is "
    "yours. Export the session for a complete copy",
    "recording-recreated": "{file} was moved or deleted: recording {recording} goes on in a new file there. Export the "
    "session for a complete copy",
}


class Log(Protocol):
    def write(self, event: str, **fields: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class _Piece:
    """Rendered events that go into the file together."""

    chunk: bytes
    to_seq: int
    period_index: int
    state: RenderState
    events: int


class Recorder:
    """All recordings of one home. Only the engine's own thread calls it."""

    def __init__(self, home: Home, store: SessionStore, policy: WritePolicy, clock: Clock, fs: Fs, audit: Log) -> None:
        self._home = home
        self._store = store
        self.policy = policy
        self._clock = clock
        self._fs = fs
        self._audit = audit
        #: By recording id: fields that are true of the file already but not yet of the metadata.
        self._ahead: dict[str, dict[str, Any]] = {}
        self._dirty: dict[str, str] = {}
        self._asides = Asides(home, fs)
        #: By destination: recordings (id and session key) with bytes that may or may not be in the file.
        self._open_ended: dict[str, dict[str, str]] = {}
        self.failures = Failures(clock)
        #: What the user should know; whoever reads them takes them away.
        self.notices: list[Notice] = []

    def view(self, recording: Recording) -> Recording:
        """`recording` as its file is, which may be ahead of the metadata."""
        ahead = self._ahead.get(recording.recording_id)
        return recording.model_copy(update=ahead) if ahead else recording

    def drain(self, key: str) -> int:
        """Append to every recording of the session what its file lacks; the number of events written."""
        metadata = self._store.load(key)
        if metadata is None or not metadata.recordings:
            return 0
        written, newest = 0, metadata.next_twin_seq - 1
        for recording in metadata.recordings:
            recording_id = recording.recording_id
            if self.failures.rests(recording_id) or not periods.behind(self.view(recording), newest):
                continue
            try:
                written += self._advance(key, recording_id)
                self._healed(metadata, recording)
            except (WriteRefused, OSError) as error:
                self._failed(metadata, recording, error)
        return written

    def flush(self) -> set[str]:
        """Write down what has been appended: after this a restart need not look into the files.

        Gives the keys of the sessions whose metadata changed. What a full disk does not take waits for the next time:
        the files are right already, and a restart finds out how far they are.
        """
        changed: set[str] = set()
        for recording_id, key in list(self._dirty.items()):
            with contextlib.suppress(OSError):
                ahead = self._ahead.get(recording_id)
                if ahead:
                    self._update(key, recording_id, ahead)
                self._written_down(recording_id)
                changed.add(key)
        unfinished = {one for waiting in self._open_ended.values() for one in waiting}
        self._asides.clear_all_but(unfinished | self._dirty.keys())
        return changed

    def settle(self, key: str) -> None:
        """Finish what a crash left unfinished, for all recordings of the session."""
        metadata = self._store.load(key)
        for recording in metadata.recordings if metadata is not None else []:
            if recording.pending is None or recording.recording_id in self._ahead:
                continue
            self._open_end(key, recording)
            try:
                self._settle(key, metadata_of(self._store, key), recording)
            except (WriteRefused, OSError) as error:
                self._failed(metadata_of(self._store, key), recording, error)

    def pending_files(self, keys: Iterable[str]) -> set[Path]:
        """Where the bytes lie that these sessions' recordings are about to append."""
        return {
            self._home.pending(key, recording.recording_id, recording.pending.sha256)
            for key in keys
            for recording in metadata_of(self._store, key).recordings
            if recording.pending is not None and recording.pending.chunk is None
        }

    def take_notices(self) -> list[Notice]:
        taken, self.notices = self.notices, []
        return taken

    # One recording.

    def _advance(self, key: str, recording_id: str) -> int:
        written = 0
        self._store.confirm()
        while True:
            metadata = metadata_of(self._store, key)
            recording = self.view(_recording(metadata, recording_id))
            if recording.pending is not None:
                recording = self._settle(key, metadata, recording)
            piece = self._render(metadata, periods.settled(recording))
            if piece is None:
                return written
            self._append(key, metadata, recording, piece)
            written += piece.events

    def _render(self, metadata: SessionMetadata, recording: Recording) -> _Piece | None:
        """The next events as bytes: of one period, about one chunk."""
        position = periods.next_seq(recording)
        newest = metadata.next_twin_seq - 1
        if position is None or position > newest:
            return None
        period = recording.periods[recording.period_index]
        last = newest if period.stopped_cursor is None else min(period.stopped_cursor, newest)
        writer = writer_for(format_of(Path(recording.destination)), recording.settings)
        state = recording.render_state if recording.render_state is not None else writer.begin()
        parts: list[bytes] = []
        size = events = 0
        twin = TwinReader(self._home.twin(metadata.session_key), metadata.next_twin_seq, metadata.twin_length)
        for event in twin.read(position):
            state, part = writer.render(state, event)
            parts.append(part)
            size += len(part)
            events += 1
            position = event["seq"]
            if size >= _CHUNK or position >= last:
                break
        return _Piece(b"".join(parts), position, recording.period_index, state, events)

    def _append(self, key: str, metadata: SessionMetadata, recording: Recording, piece: _Piece) -> None:
        if not piece.chunk:
            self._progress(key, recording, piece, recording.file)
            return
        self._settle_others(recording)
        allowed = self._allowed(recording)
        head, remark = b"", _recreated(recording)
        if allowed.path.exists():
            self._join(recording, allowed)
            remark = _edited(recording, allowed)
        else:
            head = self._head(metadata, recording)
        pending, chunk = self._write_down(key, recording, piece, allowed, head, remark)
        if head or not allowed.path.exists():
            self._make(recording, allowed)
        self._done(key, recording, pending, appender.append(self._fs, allowed, chunk))

    def _write_down(
        self, key: str, recording: Recording, piece: _Piece, allowed: Allowed, head: bytes, remark: Remark | None
    ) -> tuple[PendingAppend, bytes]:
        """Note in the metadata, durably, what is about to be appended where: a crash is judged by it."""
        spot = appender.spot(allowed) if not head and allowed.path.exists() else Spot(0, b"")
        placed, chunk = _placed(spot, head, piece.chunk)
        pending = PendingAppend(
            to_seq=piece.to_seq,
            period_index=piece.period_index,
            render_state=piece.state,
            events=piece.events,
            remark=remark,
            **placed,
        )
        self._open_end(key, recording)
        self._put_pending(key, recording.recording_id, pending, chunk)
        return pending, chunk

    def _open_end(self, key: str, recording: Recording) -> None:
        self._open_ended.setdefault(recording.destination, {})[recording.recording_id] = key

    def _settle_others(self, recording: Recording) -> None:
        """Finish what other recordings have under way in the same file: until then nobody knows where it ends."""
        for other_id, key in list(self._open_ended.get(recording.destination, {}).items()):
            if other_id == recording.recording_id:
                continue
            metadata = metadata_of(self._store, key)
            other = self.view(_recording(metadata, other_id))
            if other.pending is not None:
                self._settle(key, metadata, other)
            self._open_ended.get(recording.destination, {}).pop(other_id, None)

    def _settle(self, key: str, metadata: SessionMetadata, recording: Recording) -> Recording:
        """Bring the pending bytes into the file if a crash or an error kept them out; the recording as it is then."""
        pending = recording.pending
        assert pending is not None
        chunk = self._asides.bytes_of(key, recording.recording_id, pending)
        if chunk is None:
            raise WriteRefused(
                Denied(
                    Path(recording.destination),
                    "pending-lost",
                    f"cannot go on with {recording.destination}: what was about to be written is gone from "
                    f"{self._home.sessions}. Stop this recording and start another",
                )
            )
        allowed = self._allowed(recording)
        appender.clear_leftovers(self._fs, allowed)
        if not allowed.path.exists():
            head = chunk[: pending.head] or self._head(metadata, recording)
            remark = _recreated(recording)
            pending, chunk = self._elsewhere(key, recording, pending, chunk, Spot(0, b""), head, remark)
            self._make(recording, allowed)
        try:
            mark = appender.settle(
                self._fs, allowed, pending.base, base64.b64decode(pending.anchor), chunk, head=pending.head
            )
        except NotThere as gone:
            spot = appender.spot(allowed)
            head = chunk[: pending.head] if not spot.base else b""
            remark = "recording-edited" if gone.edited else None
            if pending.head and not head:
                # A new file was about to be made when the old one came back: what matters is whether it is the same.
                remark = _edited(recording, allowed)
                pending = pending.model_copy(update={"remark": None})
            pending, chunk = self._elsewhere(key, recording, pending, chunk, spot, head, remark)
            mark = appender.append(self._fs, allowed, chunk)
        self._done(key, recording, pending, mark)
        return self.view(_recording(metadata_of(self._store, key), recording.recording_id))

    def _elsewhere(
        self,
        key: str,
        recording: Recording,
        pending: PendingAppend,
        chunk: bytes,
        spot: Spot,
        head: bytes,
        remark: Remark | None,
    ) -> tuple[PendingAppend, bytes]:
        """Note that the pending bytes go to `spot` instead, with the head and the line break that they need there."""
        own = chunk[pending.head + len(_glue(base64.b64decode(pending.anchor))) :]
        placed, chunk = _placed(spot, head, own)
        moved = pending.model_copy(update={**placed, "remark": remark or pending.remark})
        if moved != pending:
            self._put_pending(key, recording.recording_id, moved, chunk)
        return moved, chunk

    # The file.

    def _allowed(self, recording: Recording) -> Allowed:
        """The destination, decided anew by the policy every time."""
        decision = self.policy.check(Path(recording.destination))
        if not isinstance(decision, Allowed):
            raise WriteRefused(decision)
        return decision

    def _head(self, metadata: SessionMetadata, recording: Recording) -> bytes:
        markdown = format_of(Path(recording.destination)) == "markdown"
        return frontmatter.header(_card(metadata, recording)) if markdown else b""

    def _make(self, recording: Recording, allowed: Allowed) -> None:
        # Folders are made for a new recording only: later, a missing folder may be a disk that is not mounted.
        appender.create(self._fs, allowed, folders=recording.file is None)
        self._audit.write("create", path=str(allowed.path), recording=identity.short_id(recording.recording_id))

    def _join(self, recording: Recording, allowed: Allowed) -> None:
        """An existing file: list the recording in its frontmatter, if it has one; nothing else of it is touched."""
        if recording.file is not None or format_of(allowed.path) != "markdown":
            return
        merged = frontmatter.merge(appender.read_head(allowed, _HEAD), recording.recording_id)
        if merged is not None:
            appender.replace_head(self._fs, allowed, merged.replaces, merged.block)

    # What is remembered.

    def _done(self, key: str, recording: Recording, pending: PendingAppend, mark: Mark) -> None:
        piece = _Piece(b"", pending.to_seq, pending.period_index, pending.render_state or {}, pending.events)
        file = FileMark(end=mark.end, tail=base64.b64encode(mark.tail).decode("ascii"))
        self._progress(key, recording, piece, file)
        waiting = self._open_ended.get(recording.destination, {})
        waiting.pop(recording.recording_id, None)
        if not waiting:
            self._open_ended.pop(recording.destination, None)
        self._ahead[recording.recording_id]["last_write_at"] = stamp(self._clock.now())
        if pending.remark is not None:
            name = identity.short_id(recording.recording_id)
            message = _REMARKS[pending.remark].format(file=recording.destination, recording=name)
            self._tell(metadata_of(self._store, key), pending.remark, message)

    def _progress(self, key: str, recording: Recording, piece: _Piece, file: FileMark | None) -> None:
        recording_id = recording.recording_id
        self._ahead[recording_id] = {
            **self._ahead.get(recording_id, {}),
            "pending": None,
            "write_cursor": piece.to_seq,
            "period_index": piece.period_index,
            "render_state": piece.state,
            "events_written": recording.events_written + piece.events,
            "file": file,
        }
        self._dirty[recording_id] = key

    def _put_pending(self, key: str, recording_id: str, pending: PendingAppend, chunk: bytes) -> None:
        self._asides.put(key, recording_id, pending, chunk, lambda: self._put(key, recording_id, {"pending": pending}))

    def _put(self, key: str, recording_id: str, fields: dict[str, Any]) -> Recording:
        """Store `fields` together with everything that was appended before."""
        changed = self._update(key, recording_id, {**self._ahead.get(recording_id, {}), **fields})
        self._written_down(recording_id)
        return _recording(changed, recording_id)

    def _update(self, key: str, recording_id: str, fields: dict[str, Any]) -> SessionMetadata:
        def change(current: SessionMetadata) -> SessionMetadata:
            kept = [
                one.model_copy(update=fields) if one.recording_id == recording_id else one for one in current.recordings
            ]
            return current.model_copy(update={"recordings": kept})

        return self._store.update(key, change)

    def _written_down(self, recording_id: str) -> None:
        self._ahead.pop(recording_id, None)
        self._dirty.pop(recording_id, None)

    # Failing and healing.

    def _failed(self, metadata: SessionMetadata, recording: Recording, error: WriteRefused | OSError) -> None:
        if isinstance(error, WriteRefused):
            code, reason = error.code, str(error)
        else:
            code, reason = "system", f"cannot record to {recording.destination}: {in_words(error)}"
        if self.failures.put(metadata.session_key, recording.recording_id, code, reason):
            self._tell(
                metadata, "recording-failing", f"{reason}. Nothing is lost: it is tried again", "error", recording
            )

    def _healed(self, metadata: SessionMetadata, recording: Recording) -> None:
        if self.failures.clear(recording.recording_id):
            name = identity.short_id(recording.recording_id)
            self._tell(
                metadata, "recording-healed", f"recording {name} goes on: {recording.destination}", "info", recording
            )

    def _tell(
        self,
        metadata: SessionMetadata,
        code: str,
        message: str,
        severity: Severity = "warning",
        recording: Recording | None = None,
    ) -> None:
        concerned = [recording] if recording is not None else []
        self.notices.append(
            Notice(
                at=stamp(self._clock.now()),
                code=code,
                severity=severity,
                message=message,
                session_short_id=identity.short_id(metadata.session_id),
                recordings=[ref_of(metadata.session_id, one.recording_id, one.destination) for one in concerned],
            )
        )


def _recreated(recording: Recording) -> Remark | None:
    """What to say when the file is not there: nothing, if it never was."""
    return "recording-recreated" if recording.file is not None else None


def _edited(recording: Recording, allowed: Allowed) -> Remark | None:
    mark = recording.file
    changed = mark is not None and appender.edited(allowed, Mark(mark.end, base64.b64decode(mark.tail)))
    return "recording-edited" if changed else None


def _placed(spot: Spot, head: bytes, own: bytes) -> tuple[dict[str, Any], bytes]:
    """What the metadata notes of bytes that go to `spot`, and the bytes as they go there: behind the head of a new
    file, and on a line of their own. What is noted tells how to take both off again, for another place."""
    chunk = head + _glue(spot.anchor) + own
    fields = {
        "base": spot.base,
        "anchor": base64.b64encode(spot.anchor).decode("ascii"),
        "head": len(head),
        "chunk": chunk.decode("utf-8") if len(chunk) <= _MAX_INLINE else None,
        "length": len(chunk),
        "sha256": hashlib.sha256(chunk).hexdigest(),
    }
    return fields, chunk


def _glue(before: bytes) -> bytes:
    """The line break that is missing where the user's last line was not ended: our blocks begin on their own line."""
    return b"\n" if before and not before.endswith(b"\n") else b""


def metadata_of(store: SessionStore, key: str) -> SessionMetadata:
    found = store.load(key)
    assert found is not None, key  # recordings are only ever reached through stored metadata
    return found


def _recording(metadata: SessionMetadata, recording_id: str) -> Recording:
    return next(one for one in metadata.recordings if one.recording_id == recording_id)


def _card(metadata: SessionMetadata, recording: Recording) -> frontmatter.RecordingCard:
    facts = metadata.facts
    return frontmatter.RecordingCard(
        title=facts.title,
        created=recording.created_at,
        session_id=metadata.session_id,
        recording_id=recording.recording_id,
        provider=metadata.provider,
        models=tuple(facts.models),
        continued_from=recording.write_cursor + 1 if recording.file is not None else None,
    )
