"""Bytes that are about to be appended and are too many for the metadata: each in a file of its own until it is done."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from pathlib import Path

from kato_tui.core.model.session import PendingAppend
from kato_tui.core.paths import Home
from kato_tui.core.store.atomic import write_atomic
from kato_tui.core.store.fs import Fs


class Asides:
    """Knows which such files each recording has; the metadata speaks of one of them at most."""

    def __init__(self, home: Home, fs: Fs) -> None:
        self._home = home
        self._fs = fs
        self._files: dict[str, list[Path]] = {}

    def bytes_of(self, key: str, recording_id: str, pending: PendingAppend) -> bytes | None:
        """What is to be appended; None when it is gone."""
        if pending.chunk is not None:
            return pending.chunk.encode("utf-8")
        path = self._home.pending(key, recording_id, pending.sha256)
        try:
            chunk = path.read_bytes()
        except FileNotFoundError:
            return None
        self._note(recording_id, path)
        return chunk if hashlib.sha256(chunk).hexdigest() == pending.sha256 else None

    def put(
        self, key: str, recording_id: str, pending: PendingAppend, chunk: bytes, told: Callable[[], object]
    ) -> None:
        """Large bytes first, then the metadata that speaks of them (`told`), and only then the former ones go."""
        path = self._home.pending(key, recording_id, pending.sha256) if pending.chunk is None else None
        if path is not None:
            self._note(recording_id, path)
            write_atomic(self._fs, path, chunk)
        told()
        self._clear(recording_id, path)

    def clear_all_but(self, busy: Collection[str]) -> None:
        """Remove the files of recordings that have nothing under way."""
        for recording_id in [one for one in self._files if one not in busy]:
            self._clear(recording_id)

    def _note(self, recording_id: str, path: Path) -> None:
        known = self._files.setdefault(recording_id, [])
        if path not in known:
            known.append(path)

    def _clear(self, recording_id: str, wanted: Path | None = None) -> None:
        """What cannot be removed now is removed later."""
        kept = [path for path in self._files.pop(recording_id, ()) if path == wanted or not self._removed(path)]
        if kept:
            self._files[recording_id] = kept

    def _removed(self, path: Path) -> bool:
        try:
            self._fs.unlink(path)
        except OSError:
            return False
        return True
