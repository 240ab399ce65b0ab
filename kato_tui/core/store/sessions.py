"""The one owner of session metadata: every write of a `.meta.json` happens here (spec §10).

An update is a function from the freshest stored value to the next one, serialised per session, so two callers can
never write over each other's facts.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import TypeAdapter, ValidationError

from kato_tui.core import identity
from kato_tui.core.clock import Clock, stamp
from kato_tui.core.model.session import METADATA_SCHEMA_VERSION, SessionMetadata
from kato_tui.core.paths import Home
from kato_tui.core.store.atomic import write_atomic
from kato_tui.core.store.fs import Fs
from kato_tui.core.store.unusable import unusable

Change = Callable[[SessionMetadata], SessionMetadata]

_METADATA: Final = TypeAdapter(SessionMetadata)
_OPAQUE: Final = {"parser_state", "twin_parser_state"}
_DIGITS: Final = bytes.maketrans(b"0123456789", b"0" * 10)
_HUGE_NUMBERS: Final = (b"-" + b"0" * 19, b"0" * 20)
#: Metadata of sessions in use is kept, so that a batch costs one write and no read: so many bytes of files, which are
#: about four times as many in memory. A long session has 30 KB.
_CACHED: Final = 2 << 20
#: Locks are shared by sessions (by hash): serialised per session, bounded in number.
_LOCKS: Final = 64


class SessionStore:
    """Reads and writes the metadata of all sessions of one home."""

    def __init__(self, home: Home, clock: Clock, fs: Fs | None = None) -> None:
        self._home = home
        self._clock = clock
        self._fs = fs or Fs()
        self._cache: OrderedDict[str, tuple[tuple[int, int, int], SessionMetadata]] = OrderedDict()
        self._cached = 0
        self._cache_guard = threading.Lock()
        self._locks = [threading.RLock() for _ in range(_LOCKS)]
        #: A write failed, perhaps after its rename: what is visible may not be on disk.
        self._doubtful = False

    def load(self, key: str) -> SessionMetadata | None:
        """The stored metadata, None when there is none; `NeedsRebuild` when it cannot be used."""
        path = self._home.meta(key)
        found = _signature(path)
        if found is None:
            return None
        with self._cache_guard:
            cached = self._cache.get(key)
        if cached is not None and cached[0] == found:
            return cached[1]
        metadata = read_metadata(path)
        if metadata.session_key != key:
            raise unusable(path, f"belongs to {metadata.session_key!r}, not to {key!r}")
        self._remember(key, found, metadata)
        return metadata

    def new(self, provider: str, provider_session_id: str) -> SessionMetadata:
        """Metadata of a session seen for the first time; stored by its first update."""
        key = identity.session_key(provider, provider_session_id)
        return SessionMetadata(
            session_key=key,
            session_id=identity.session_id(key),
            provider=provider,
            provider_session_id=provider_session_id,
            created_at=stamp(self._clock.now()),
        )

    def update(self, key: str, change: Change) -> SessionMetadata:
        """Apply `change` to the freshest stored entry (or a new one) and wait until the result is on disk."""
        with self._locks[hash(key) % _LOCKS]:
            self.confirm()
            provider, _, provider_session_id = key.partition(":")
            current = self.load(key) or self.new(provider, provider_session_id)
            changed = change(current)
            if changed == current and _signature(self._home.meta(key)) is not None:
                return current
            changed = changed.model_copy(update={"updated_at": stamp(self._clock.now())})
            path = self._home.meta(key)
            try:
                write_atomic(self._fs, path, encode_metadata(changed))
            except OSError:
                self._doubtful = True
                raise
            written = _signature(path)
            if written is not None:
                self._remember(key, written, changed)
            return changed

    def confirm(self) -> None:
        """Make sure, before anything is done upon what `load` gives, that it is on disk."""
        if self._doubtful:
            self._fs.sync_folder(self._home.sessions)
            self._doubtful = False

    def forget(self, key: str) -> None:
        with self._cache_guard:
            self._drop(key)

    def _remember(self, key: str, signature: tuple[int, int, int], metadata: SessionMetadata) -> None:
        with self._cache_guard:
            self._drop(key)
            while self._cache and self._cached + signature[1] > _CACHED:
                self._drop(next(iter(self._cache)))
            self._cache[key] = (signature, metadata)
            self._cached += signature[1]

    def _drop(self, key: str) -> None:
        found = self._cache.pop(key, None)
        if found is not None:
            self._cached -= found[0][1]


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def encode_metadata(metadata: SessionMetadata) -> bytes:
    value = _METADATA.dump_python(metadata, by_alias=True, exclude_none=True, exclude=_OPAQUE, mode="json")
    # Parser state belongs to the provider: leaving out its nulls would change what a restart takes over.
    value["parserState"] = metadata.parser_state
    if metadata.twin_parser_state is not None:
        value["twinParserState"] = metadata.twin_parser_state
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def read_metadata(path: Path) -> SessionMetadata:
    """The metadata in a file. One that is not exactly understood is refused (`NeedsRebuild`) and left alone."""
    data = path.read_bytes()
    try:
        value: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise unusable(path, f"is not valid JSON ({error})") from error
    version = value.get("schemaVersion") if isinstance(value, dict) else None
    if version != METADATA_SCHEMA_VERSION:
        problem = f"has schema version {version!r}, this kato-tui reads {METADATA_SCHEMA_VERSION}"
        newer = isinstance(version, int) and version > METADATA_SCHEMA_VERSION
        raise unusable(path, problem, "Update kato-tui, or run" if newer else "Run")
    try:
        found = _METADATA.validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise unusable(path, f"has an invalid {where}: {first['msg']}") from error
    if _has_huge_number(data) and not _writable(found):
        raise unusable(path, "holds a number that no JSON writer takes")
    return found


def _has_huge_number(data: bytes) -> bool:
    """With all digits alike this is a plain search, twenty times as fast as a pattern: it is done for every session."""
    alike = data.translate(_DIGITS)
    return any(huge in alike for huge in _HUGE_NUMBERS)


def _writable(metadata: SessionMetadata) -> bool:
    """Whether it can be written again: parser and render states hold any JSON, and somebody may have edited them."""
    try:
        encode_metadata(metadata)
    except TypeError:
        return False
    return True
