"""The index file: a throttled cache of all metadata, which may be deleted or damaged at any time (spec §2)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from pydantic import TypeAdapter

from kato_tui.core.clock import Clock
from kato_tui.core.errors import NeedsRebuild
from kato_tui.core.model.index import INDEX_SCHEMA_VERSION, FileOwner, IndexEntry, RecordingEntry
from kato_tui.core.model.session import SessionMetadata
from kato_tui.core.paths import Home
from kato_tui.core.record.periods import behind
from kato_tui.core.store.atomic import write_atomic
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.sessions import read_metadata

_ENTRIES: Final = TypeAdapter(dict[str, IndexEntry])
_OWNERS: Final = TypeAdapter(dict[str, FileOwner])
_HEAD: Final = b'{"schemaVersion":%d,"sessions":{\n' % INDEX_SCHEMA_VERSION
_MIDDLE: Final = b'\n},"files":{\n'
_END: Final = b"\n}}\n"
#: Entries that are written at a time.
_PIECE: Final = 256
#: Written at most this often: the index only saves work, it never holds the truth. A write costs as much as there are
#: sessions, and after a crash only the metadata is read again that changed since the last one.
_EVERY: Final = timedelta(seconds=30)


class IndexStore:
    """The entries of all known sessions in memory, and their cached copy on disk."""

    def __init__(self, home: Home, clock: Clock, fs: Fs | None = None) -> None:
        self._home = home
        self._clock = clock
        self._fs = fs or Fs()
        self._dirty = False
        self._written: datetime | None = None
        self._entries: dict[str, IndexEntry] = {}
        self._late = False
        self.files: dict[str, FileOwner] = {}
        #: Sessions whose metadata could not be used, with what to do about it.
        self.refused: dict[str, str] = {}

    @property
    def entries(self) -> dict[str, IndexEntry]:
        if self._late:
            self.load()
        return self._entries

    def load_when_asked(self) -> None:
        """`load`, but only when the entries are looked at: a worker hardly ever does, and thousands take memory."""
        self._late = True

    def load(self) -> bool:
        """Read the index; if it is missing, damaged or of another version, rebuild it. True when it was usable."""
        usable, self._late = True, False
        try:
            with self._home.index.open("rb") as lines:
                self._entries, self.files = _read(lines)
        except (OSError, ValueError):
            self._entries = {}
            usable = False
        self._refresh()
        return usable

    def _refresh(self) -> None:
        """Read the metadata files that are not as the index says; one that cannot be used takes only itself out.

        The index is written late and without a sync, so after a crash it may not know the newest metadata.
        """
        self.refused = {}
        known = {entry.metadata: entry.metadata_stamp for entry in self.entries.values()}
        stored = self._home.stored_metas()
        for name, found in stored.items():
            if known.get(name) == found:
                continue
            try:
                self.put(read_metadata(self._home.sessions / name))
            except (NeedsRebuild, OSError) as error:
                self.refused[name] = str(error)
        for key in [key for key, entry in self.entries.items() if entry.metadata not in stored]:
            self.remove(key)

    def put(self, metadata: SessionMetadata) -> None:
        entry = entry_of(self._home, metadata)
        # What was refused at the start and is whole now was rebuilt.
        self.refused.pop(entry.metadata, None)
        if self.entries.get(metadata.session_key) != entry:
            self.entries[metadata.session_key] = entry
            self._dirty = True

    def put_files(self, files: dict[str, FileOwner]) -> None:
        if self.files != files:
            self._dirty = True
        self.files = dict(files)

    def remove(self, key: str) -> None:
        if self.entries.pop(key, None) is not None:
            self._dirty = True

    def save(self, *, force: bool = False) -> None:
        """Write the index if something changed and the last write is long enough ago (or `force`)."""
        now = self._clock.now()
        if not self._dirty or (not force and self._written is not None and now - self._written < _EVERY):
            return
        write_atomic(self._fs, self._home.index, _written(self.entries, self.files), durable=False)
        self._dirty, self._written = False, now


# The file is one JSON object with a line for each entry: read line by line, thousands of entries take a third of the
# memory that the whole text and its values would take beside them.


def _written(entries: dict[str, IndexEntry], files: dict[str, FileOwner]) -> Iterator[bytes]:
    yield _HEAD
    yield from _joined(
        _line(_ENTRIES.dump_json({key: one}, by_alias=True, exclude_none=True)) for key, one in entries.items()
    )
    yield _MIDDLE
    yield from _joined(
        _line(_OWNERS.dump_json({path: one}, by_alias=True, exclude_none=True)) for path, one in files.items()
    )
    yield _END


def _line(single: bytes) -> bytes:
    """The one entry of an object, without the braces around it."""
    return single[1:-1]


def _joined(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines with commas between them, a bounded piece at a time."""
    comma = b""
    while piece := b",\n".join(itertools.islice(lines, _PIECE)):
        yield comma + piece
        comma = b",\n"


def _read(lines: Iterable[bytes]) -> tuple[dict[str, IndexEntry], dict[str, FileOwner]]:
    """`ValueError` for anything that was not written by this version, or not to its end."""
    entries: dict[str, IndexEntry] = {}
    owners: dict[str, FileOwner] = {}
    expected = [_HEAD, _MIDDLE.lstrip(), _END.lstrip()]
    for line in lines:
        if line == expected[0]:
            expected.pop(0)
            if not expected:
                return entries, owners
        elif len(expected) == 2 and line.strip():
            entries |= _ENTRIES.validate_json(b"{%b}" % line.rstrip(b",\n"))
        elif len(expected) == 1 and line.strip():
            owners |= _OWNERS.validate_json(b"{%b}" % line.rstrip(b",\n"))
        elif line.strip():
            break
    raise ValueError("not an index of this version")


def entry_of(home: Home, metadata: SessionMetadata) -> IndexEntry:
    cursor, source = metadata.ingest_cursor, metadata.source
    read = cursor.byte_offset if cursor is not None else 0
    path = home.meta(metadata.session_key)
    return IndexEntry(
        session_id=metadata.session_id,
        provider=metadata.provider,
        provider_session_id=metadata.provider_session_id,
        metadata=path.name,
        source_kind=metadata.source_kind,
        source=source,
        facts=metadata.facts,
        twin_events=metadata.next_twin_seq - 1,
        twin_lags=metadata.twin_cursor is not None,
        keep_twin=metadata.keep_twin,
        behind_bytes=max(0, source.size - read) if source is not None else 0,
        recordings=tuple(
            RecordingEntry(
                recording_id=recording.recording_id,
                destination=recording.destination,
                on=recording.desired_state == "on",
            )
            for recording in metadata.recordings
        ),
        unsettled=any(behind(recording, metadata.next_twin_seq - 1) for recording in metadata.recordings),
        metadata_stamp=home.stamp(path),
    )
