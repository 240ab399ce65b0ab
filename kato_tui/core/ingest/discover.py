"""Finding sessions: which log files there are, and which of them make up one session.

A stat sweep over the providers' folders. Files are only opened where their name does not say whose they are, and only
the first time they are seen: what their heads told is kept in the index, so that a restart opens none of them.
"""

from __future__ import annotations

import os
import stat
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from kato_tui.core import identity
from kato_tui.core import text as texts
from kato_tui.core.config import Config
from kato_tui.core.errors import ConfigError
from kato_tui.core.ingest import reader
from kato_tui.core.model.index import FileOwner
from kato_tui.core.providers.base import Provider, SourceFile

#: Files whose owner is remembered between sweeps; the oldest are simply identified again.
_REMEMBERED: Final = 100_000
#: File systems keep time in steps; two changes within one cannot be told apart.
_TICK: Final = 100_000_000

_FolderStamp = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Root:
    provider: Provider
    path: Path
    keep_twins: bool


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session with the files that are to be read for it, oldest first."""

    key: str
    provider: Provider
    sources: list[SourceFile]
    stamp: reader.FileStamp
    keep_twin: bool


def roots_of(
    config: Config, providers: Mapping[str, Provider], environ: Mapping[str, str], user_home: Path
) -> list[Root]:
    """The folders to look in: those of the configuration, else each provider's own."""
    roots: list[Root] = []
    configured = {root.provider for root in config.roots}
    for number, root in enumerate(config.roots):
        provider = providers.get(root.provider)
        if provider is None:
            known = f"unknown provider `{root.provider}`, known: {', '.join(providers)}"
            raise ConfigError((("roots", number, "provider"), f"roots.{number}.provider: {known}"))
        own = root.auto_generate_snapshots
        keep = config.global_auto_generate_snapshots if own is None else own
        roots.append(Root(provider, Path(root.path).expanduser(), keep))
    for provider in providers.values():
        if provider.name not in configured:
            keep = config.global_auto_generate_snapshots
            roots += [Root(provider, path, keep) for path in provider.roots(environ, user_home)]
    return roots


class Discovery:
    """Knows the sessions there are. Remembers whose file is whose, so that a second look opens nothing.

    `sweep` is the truth and lists everything. `look_everywhere` costs a stat of each log and folder. The others cost
    what changed: `look` follows hints, `stat` looks at chosen sessions, `stir` lists only the roots in which a folder's
    time moved.
    """

    def __init__(self, roots: list[Root]) -> None:
        self.roots = roots
        self.sessions: dict[str, FoundSession] = {}
        self._owners: OrderedDict[Path, SourceFile] = OrderedDict()
        #: What heads of files told, by path: from the index at first, then as the last sweep found it.
        self.known: dict[str, FileOwner] = {}
        self._met: set[str] = set()
        #: By root: the logs below it as they were last listed, and their sessions.
        self._listed: list[dict[Path, SourceFile]] = [{} for _ in roots]
        self._members: dict[str, dict[Path, tuple[SourceFile, Root]]] = {}
        self._folders: dict[Path, _FolderStamp] = dict.fromkeys(root.path for root in roots)
        #: Files below a root that are no logs, so that their changes cost no listing; forgotten at every sweep.
        self._foreign: set[Path] = set()

    def sweep(self) -> dict[str, FoundSession]:
        """Every session there is now, by session key."""
        self._foreign.clear()
        self._met.clear()
        before, begun = self._stamps(), time.time_ns()
        for number in range(len(self.roots)):
            self._list(number)
        self.stat(list(self._members.keys() | self.sessions.keys()))
        self._note_folders(before, begun)
        self.known = {path: owner for path, owner in self.known.items() if path in self._met}
        self._met.clear()
        self._refresh_known()
        return self.sessions

    def look_everywhere(self) -> set[str]:
        """What a sweep finds, less new files that leave no trace in their folder, at a small part of its cost."""
        changed = self.stir() | self.stat(list(self.sessions))
        self._met.clear()
        self._refresh_known()
        return changed

    def _refresh_known(self) -> None:
        """A log that grows stays the same session's: without its new stamp the next start would open it again."""
        known = self.known
        for session in self.sessions.values():
            path = str(session.sources[-1].path)
            owner = known.get(path)
            if owner is not None and (owner.size, owner.mtime_ns) != (session.stamp.size, session.stamp.mtime_ns):
                known[path] = replace(owner, size=session.stamp.size, mtime_ns=session.stamp.mtime_ns)

    def look(self, paths: Iterable[Path]) -> set[str]:
        """Follow hints: the keys of the sessions that changed. A path that is no known log has its root listed."""
        keys: set[str] = set()
        stirred: set[int] = set()
        for path in paths:
            owner = self._owners.get(path)
            if owner is not None and reader.stamp_of(path) is not None:
                keys.add(_key_of(owner))
            elif path not in self._foreign:
                stirred.update(number for number, root in enumerate(self.roots) if path.is_relative_to(root.path))
                self._note_foreign(path)
        if stirred:
            before, begun = self._stamps(), time.time_ns()
            for number in stirred:
                keys |= self._list(number)
            self._note_folders(before, begun)
        return self.stat(keys)

    def stir(self) -> set[str]:
        """List the roots below which a known folder changed; the keys of the sessions that changed with it."""
        now = time.time_ns()
        moved = [folder for folder, seen in self._folders.items() if seen is None or _folder_stamp(folder, now) != seen]
        return self.look(moved) if moved else set()

    def stat(self, keys: Iterable[str]) -> set[str]:
        """Look at the files of these sessions; the keys of those that are not as they were."""
        changed: set[str] = set()
        for key in keys:
            before = self.sessions.get(key)
            now = self._session(key)
            if now == before:
                continue
            changed.add(key)
            if now is None:
                self.sessions.pop(key, None)
            else:
                self.sessions[key] = now
        return changed

    def _list(self, number: int) -> set[str]:
        """The logs below one root as they are now; the keys of the sessions that gained or lost a file."""
        root, before = self.roots[number], self._listed[number]
        now: dict[Path, SourceFile] = {}
        touched: set[str] = set()
        for path in root.provider.walk(root.path):
            self._foreign.discard(path)
            self._met.add(str(path))
            source = self._identify(root.provider, path)
            if source is None:
                continue
            # The path that is held already: there are as many as there are logs.
            now[source.path] = source
        for path, source in before.items():
            if now.get(path) != source:
                touched.add(self._part(path, source))
        for path, source in now.items():
            if before.get(path) != source:
                key = _key_of(source)
                self._members.setdefault(key, {})[path] = (source, root)
                touched.add(key)
        self._listed[number] = now
        return touched

    def _part(self, path: Path, source: SourceFile) -> str:
        """The file is no longer this session's, or no longer there."""
        key = _key_of(source)
        self._members.get(key, {}).pop(path, None)
        if self._owners.get(path) == source:
            self._owners.pop(path)
        return key

    def doubt(self, key: str) -> None:
        """A session could not be read: its files may not be what they were taken for, so look at them anew."""
        for path in self._members.get(key, ()):
            self._owners.pop(path, None)
            self.known.pop(str(path), None)
            # So that its root is listed again soon.
            self._folders[path.parent] = None

    def _session(self, key: str) -> FoundSession | None:
        members = self._members.get(key)
        if not members:
            self._members.pop(key, None)
            return None
        sources = [source for source, _ in members.values()]
        root = next(iter(members.values()))[1]
        ordered = root.provider.order(sources) if len(sources) > 1 else sources
        stamp = reader.stamp_of(ordered[-1].path)
        keep = any(root.keep_twins for _, root in members.values())
        return FoundSession(key, root.provider, ordered, stamp, keep) if stamp is not None else None

    def _note_folders(self, before: dict[Path, _FolderStamp], begun: int) -> None:
        """The folders in which logs lie, up to their roots: a file that comes or goes moves their time.

        With the stamps from before they were listed: what came in between is then a change. A folder that was not
        known before is listed once more, unless it stood still since well before the listing `begun`.
        """
        folders: set[Path] = set()
        for root, listed in zip(self.roots, self._listed, strict=True):
            folders.add(root.path)
            for folder in {path.parent for path in listed}:
                while folder not in folders and folder.is_relative_to(root.path):
                    folders.add(folder)
                    folder = folder.parent
        self._folders = {
            folder: before[folder] if folder in before else _folder_stamp(folder, begun) for folder in folders
        }

    def _stamps(self) -> dict[Path, _FolderStamp]:
        now = time.time_ns()
        return {folder: _folder_stamp(folder, now) for folder in self._folders}

    def _note_foreign(self, path: Path) -> None:
        if len(self._foreign) < _REMEMBERED and not is_folder(path):
            self._foreign.add(path)

    def _identify(self, provider: Provider, path: Path) -> SourceFile | None:
        source = self._owners.get(path)
        if source is not None:
            return source
        source = self._recognise(provider, path)
        if source is not None:
            self._owners[path] = source
            while len(self._owners) > _REMEMBERED:
                self._owners.popitem(last=False)
        return source

    def _recognise(self, provider: Provider, path: Path) -> SourceFile | None:
        """Whose file this is: as noted when its head was last read, else by its name or its head."""
        owner = self.known.get(str(path))
        if owner is not None and owner.provider == provider.name and _unchanged(owner, reader.stamp_of(path)):
            return _source_of(path, owner)
        stamp: reader.FileStamp | None = None

        def read_head(path: Path) -> bytes:
            nonlocal stamp
            stamp = reader.stamp_of(path)
            return reader.read_head(path)

        source = provider.identify(path, read_head)
        if stamp is not None and texts.written_name(str(path)) == str(path):
            self.known[str(path)] = _owner_of(provider, source, stamp)
        return source


def _key_of(source: SourceFile) -> str:
    return identity.session_key(source.provider, source.provider_session_id)


def _unchanged(owner: FileOwner, stamp: reader.FileStamp | None) -> bool:
    return stamp is not None and (owner.size, owner.mtime_ns) == (stamp.size, stamp.mtime_ns)


def _owner_of(provider: Provider, source: SourceFile | None, stamp: reader.FileStamp) -> FileOwner:
    if source is None:
        return FileOwner(size=stamp.size, mtime_ns=stamp.mtime_ns, provider=provider.name)
    return FileOwner(
        size=stamp.size,
        mtime_ns=stamp.mtime_ns,
        provider=provider.name,
        provider_session_id=source.provider_session_id,
        kind=source.kind,
        layout=source.layout,
        compressed=source.compressed,
        generation=source.generation,
        parent=source.parent,
    )


def _source_of(path: Path, owner: FileOwner) -> SourceFile | None:
    if owner.provider_session_id is None:
        return None
    return SourceFile(
        owner.provider,
        owner.provider_session_id,
        path,
        owner.kind,
        owner.layout,
        owner.compressed,
        owner.generation,
        owner.parent,
    )


def is_folder(path: Path) -> bool:
    """False as well where a folder above it is closed: `Path.is_dir` raises there, and one closed folder of one
    assistant must stop nothing."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def is_barred(path: Path) -> bool:
    """Whether nobody can tell what is there, since a folder above it is closed: not to be seen is not to be gone."""
    try:
        path.stat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return False


def _folder_stamp(folder: Path, now: int) -> _FolderStamp:
    """Inode and time of change, zeros for a folder that is not there; None when it changed so shortly before `now`,
    or since, that it may do so again without its time moving on."""
    try:
        found = os.stat(folder)  # noqa: PTH116 - twice as fast, and asked for thousands of folders
    except OSError:
        return 0, 0
    return None if now - found.st_ctime_ns < _TICK else (found.st_ino, found.st_ctime_ns)


def log_path(text: str) -> str:
    """The path of a log as sessions have it; a name that no file system takes stays as it is, and names no log."""
    try:
        return os.path.realpath(text)
    except ValueError:
        return text
