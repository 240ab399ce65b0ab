"""The SessionTwin file: append-only JSON lines that tell a torn tail from a whole one (spec §4, reliability §3).

The newline commits a line, the dense `seq` orders it, and the CRC proves it: after a power cut a later page may be
on disk before an earlier one, so a terminated line can still hold a hole. Opening costs only what was appended after
the length that the metadata vouches for.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson

from kato_tui.core import paths
from kato_tui.core.errors import NeedsRebuild
from kato_tui.core.model.events import TWIN_SCHEMA_VERSION
from kato_tui.core.providers.base import Draft
from kato_tui.core.store.fs import Fs, overwrite
from kato_tui.core.store.unusable import unusable

_CHUNK: Final = 256 << 10
#: So many events are encoded at a time: those of a whole document would be held twice.
_TOGETHER: Final = 512
#: More digits than any seq has: later lines may need a few more than the first.
_SEQ_DIGITS: Final = 24
_CRC_KEY: Final = b',"crc":'
_SEQ = re.compile(rb'"sessionId":"[0-9a-f-]{36}"\},"seq":(\d+),')
#: Left as they are by orjson, but a terminal acts on them: DEL, C1 controls, line separators, bidirectional controls.
#: Tag characters, which hide text from people, become visible too.
#: By first byte, which is looked for first: in running text a search for all of them at once takes fifty times as long.
_ACTIVE: Final = tuple(
    (lead, re.compile(re.escape(lead) + rest))
    for lead, rest in (
        (b"\x7f", b""),
        (b"\xc2", rb"[\x80-\x9f]"),
        (b"\xd8", rb"\x9c"),
        (b"\xe2", rb"(?:\x80[\x8e\x8f\xa8-\xae]|\x81[\xa6-\xa9])"),
        (b"\xf3", rb"\xa0[\x80\x81][\x80-\xbf]"),
    )
)


def _escape(match: re.Match[bytes]) -> bytes:
    units = match[0].decode("utf-8").encode("utf-16-be")
    return b"".join(b"\\u%b" % units[at : at + 2].hex().encode() for at in range(0, len(units), 2))


def _inert(line: bytes) -> bytes:
    if line.isascii() and b"\x7f" not in line:
        return line
    for lead, active in _ACTIVE:
        if lead in line:
            line = active.sub(_escape, line)
    return line


class LineEncoder:
    """Turns drafts of one session into twin lines. `cat` on the result cannot move a cursor or clear a screen."""

    def __init__(self, session: dict[str, str], cursor_kind: str) -> None:
        head = b'{"schemaVersion":%d,"session":%s,"seq":' % (TWIN_SCHEMA_VERSION, orjson.dumps(session))
        self._prefix = _inert(head)
        self._cursor_kind = cursor_kind

    def encode(self, drafts: Iterable[Draft], first: int, captured_at: str | None) -> bytes:
        """The lines of drafts that are to be the events from `first` on."""
        parts: list[bytes | memoryview] = []
        for seq, draft in enumerate(drafts, start=first):
            head = b"%b%d," % (self._prefix, seq)
            # Views, since a payload may be megabytes: it is copied once.
            body = memoryview(_inert(orjson.dumps(self._event(draft, captured_at))))[1:]
            parts += (head, body[:-1], _CRC_KEY, b"%d}\n" % zlib.crc32(body, zlib.crc32(head)))
        return b"".join(parts)

    def _event(self, draft: Draft, captured_at: str | None) -> dict[str, Any]:
        """All that is the draft's own."""
        cursor = {"kind": self._cursor_kind, "value": draft.cursor}
        source: dict[str, Any] = {"providerEventType": draft.event_type}
        if draft.event_id is not None:
            source["providerEventId"] = draft.event_id
        source["cursor"] = cursor
        source["emitIndex"] = draft.emit_index
        event: dict[str, Any] = {"kind": draft.kind, "source": source}
        if captured_at is not None and not draft.copied:
            time = {} if draft.timestamp is None else {"providerTimestamp": draft.timestamp}
            event["time"] = {**time, "capturedAt": captured_at}
        elif draft.timestamp is not None:
            event["time"] = {"providerTimestamp": draft.timestamp}
        if draft.turn_id is not None:
            event["turnId"] = draft.turn_id
        if draft.model is not None:
            event["model"] = draft.model
        event["payload"] = draft.payload
        return event


def event_line(event: dict[str, Any]) -> bytes:
    """The line of an event that was read from a twin, byte for byte as it stands there."""
    return _inert(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))


def decode_line(line: bytes) -> dict[str, Any] | None:
    """The event of a line (with or without its newline) if it is whole, else None."""
    cut = line.rfind(_CRC_KEY)
    if cut < 0:
        return None
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(event, dict) or event.get("crc") != zlib.crc32(b"}", zlib.crc32(memoryview(line)[:cut])):
        return None
    return event


def _seq_reach(file: BinaryIO) -> int:
    """How far into a line its seq stands: the same in all lines of a twin, whose session id may be very long."""
    found = _SEQ.search(file.readline())
    return (found.end() if found is not None else 0) + _SEQ_DIGITS


class TwinReader:
    """The events of one session's twin, as far as `next_seq` and `length` vouch for them."""

    def __init__(self, path: Path, next_seq: int = 1, length: int = 0) -> None:
        self.path = path
        self.next_seq = next_seq
        self.length = length

    def read(self, from_seq: int = 1) -> Iterator[dict[str, Any]]:
        """The events from `from_seq` on. A damaged line ends the session's trust, never passes silently."""
        expected = max(from_seq, 1)
        if expected >= self.next_seq:
            return
        for line in self._raw_lines(self._offset_of(expected), self.length):
            event = decode_line(line)
            if event is None or event.get("seq") != expected:
                raise unusable(self.path, f"is damaged at event {expected}")
            if event.get("schemaVersion") != TWIN_SCHEMA_VERSION:
                raise self._unsupported(event.get("schemaVersion"))
            yield event
            expected += 1

    def _unsupported(self, version: object) -> NeedsRebuild:
        problem = f"has schema version {version!r}, this kato-tui reads {TWIN_SCHEMA_VERSION}"
        return unusable(self.path, problem, "Update kato-tui, or run")

    def _raw_lines(self, offset: int, end: int | None = None) -> Iterator[bytes]:
        """Lines with their newlines from `offset` to `end`; a last line without one comes as it is."""
        with self.path.open("rb", buffering=_CHUNK) as file:
            file.seek(offset)
            while end is None or offset < end:
                line = file.readline()
                if not line:
                    return
                offset += len(line)
                yield line

    def _offset_of(self, seq: int) -> int:
        """Where the line of `seq` starts: a binary search over bytes, so no index file and no full read."""
        if seq <= 1:
            return 0
        low, high = 0, self.length
        with self.path.open("rb") as file:
            reach = _seq_reach(file)
            while low < high:
                middle = (low + high) // 2
                file.seek(middle)
                if middle:
                    file.seek(middle - 1)
                    file.readline()
                start = file.tell()
                found = _SEQ.search(file.read(reach)) if start < high else None
                if found is None or int(found[1]) >= seq:
                    high = middle
                else:
                    low = middle + 1
            file.seek(max(low - 1, 0))
            if low:
                file.readline()
            return file.tell()


class Twin(TwinReader):
    """One session's twin. `next_seq` and `length` describe what is known to be whole and on disk."""

    def __init__(self, fs: Fs, path: Path, encoder: LineEncoder, next_seq: int = 1, length: int = 0) -> None:
        super().__init__(path, next_seq, length)
        self._fs = fs
        self._encoder = encoder
        #: Lines that are to be written together, and how many events they are.
        self._staged: list[bytes] = []
        self._staged_events = 0
        self.staged_bytes = 0

    def recover(self) -> int:
        """Take in whole lines that a crash kept from the metadata, cut off a torn tail; the number of such lines."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            size = 0
        if size < self.length:
            problem = f"is shorter ({size} bytes) than what was saved in it ({self.length} bytes)"
            raise unusable(self.path, problem)
        if size == self.length:
            return 0
        self._make_durable()
        known = self.next_seq
        for line in self._raw_lines(self.length):
            event = decode_line(line) if line.endswith(b"\n") else None
            if event is None or event.get("seq") != self.next_seq:
                self._refuse_other_versions(line)
                break
            if event.get("schemaVersion") != TWIN_SCHEMA_VERSION:
                raise self._unsupported(event.get("schemaVersion"))
            self.next_seq += 1
            self.length += len(line)
        if self.length < size:
            self._cut_tail()
        return self.next_seq - known

    def append(self, drafts: list[Draft], captured_at: str | None = None) -> None:
        """Write `drafts` as the next events and wait until they are on disk. All of them, or none."""
        self.stage(drafts, captured_at)
        self.flush()

    def stage(self, drafts: list[Draft], captured_at: str | None = None) -> int:
        """Take `drafts` as the next events, to be written by the next `flush`; gives the seq of the first."""
        first = self.next_seq + self._staged_events
        for at in range(0, len(drafts), _TOGETHER):
            some = drafts[at : at + _TOGETHER]
            lines = self._encoder.encode(some, first + at, captured_at)
            self._staged.append(lines)
            self._staged_events += len(some)
            self.staged_bytes += len(lines)
        return first

    def unstage(self) -> tuple[list[bytes], int]:
        """Forget what was staged; gives it."""
        blocks, count = self._staged, self._staged_events
        self._staged, self._staged_events, self.staged_bytes = [], 0, 0
        return blocks, count

    def flush(self) -> None:
        """Write what was staged and wait until it is on disk. All of it, or none."""
        blocks, count = self.unstage()
        if not count:
            return
        descriptor = self._fs.open_append(self.path)
        try:
            try:
                for block in blocks:
                    self._fs.write(descriptor, block)
                self._fs.sync(descriptor)
            except OSError:
                # Everything behind `length` is ours and unconfirmed: a full disk must not leave half a batch.
                self._fs.truncate(descriptor, self.length)
                raise
        finally:
            self._fs.close(descriptor)
        if self.length == 0:
            self._fs.sync_folder(self.path.parent)
        self.length += sum(map(len, blocks))
        self.next_seq += count

    def _refuse_other_versions(self, line: bytes) -> None:
        """A line that is whole in another version's form is no torn tail: it must not be cut off."""
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            return
        version = value.get("schemaVersion") if isinstance(value, dict) else None
        if version is not None and version != TWIN_SCHEMA_VERSION:
            raise self._unsupported(version)

    def _make_durable(self) -> None:
        """Before trusting what the last process wrote: it may be visible and still not on disk.

        The same bytes are written once more: after a failed sync they count as clean, and another one would say so.
        """
        descriptor = self._fs.open_append(self.path)
        try:
            position = self.length
            while chunk := os.pread(descriptor, _CHUNK, position):
                overwrite(self._fs, descriptor, chunk, position)
                position += len(chunk)
            self._fs.sync(descriptor)
        finally:
            self._fs.close(descriptor)
        self._fs.sync_folder(self.path.parent)

    def _cut_tail(self) -> None:
        """Keep the torn bytes in a file of their own, then cut them off."""
        aside = self._fs.open_new(paths.set_aside(self.path, "torn"))
        descriptor = self._fs.open_append(self.path)
        try:
            position = self.length
            while chunk := os.pread(descriptor, _CHUNK, position):
                self._fs.write(aside, chunk)
                position += len(chunk)
            self._fs.sync(aside)
            self._fs.truncate(descriptor, self.length)
            self._fs.sync(descriptor)
        finally:
            self._fs.close(aside)
            self._fs.close(descriptor)
