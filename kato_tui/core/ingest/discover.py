"""Finding sessions: which log files there are, and which of them make up one session.

A stat sweep over the providers' folders. Files are only opened where their name does not say whose they are, and only
the first time they are seen: what their heads told is kept in the index, so that a restart opens none of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
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
    for root in config.roots:
        provider = providers.get(root.provider)
        if provider is None:
            raise ConfigError(f"roots: unknown provider `{root.provider}`, known: {', '.join(providers)}")
        own = root.auto_generate_snapshots
        keep = config.global_auto_generate_snapshots if own is None else own
        roots.append(Root(provider, Path(root.path).expanduser(), keep))
    for provider in providers.values():
        if provider.name not in configured:
            keep = config.global_auto_generate_snapshots
            roots += [Root(provider, path, keep) for path in provider.roots(environ, user_home)]
    return roots


class Discovery:
    """Sweeps the roots. Remembers whose file is whose, so that a second sweep opens nothing."""

    def __init__(self, roots: list[Root]) -> None:
        self.roots = roots
        self._owners: OrderedDict[Path, SourceFile] = OrderedDict()
        #: What heads of files told, by path: from the index at first, then as the last sweep found it.
        self.known: dict[str, FileOwner] = {}

    def sweep(self) -> dict[str, FoundSession]:
        """Every session there is now, by session key."""
        found: dict[str, list[SourceFile]] = {}
        keep: dict[str, bool] = {}
        providers: dict[str, Provider] = {}
        met: set[str] = set()
        for root in self.roots:
            for path in root.provider.walk(root.path):
                met.add(str(path))
                source = self._identify(root.provider, path)
                if source is None:
                    continue
                key = identity.session_key(source.provider, source.provider_session_id)
                found.setdefault(key, []).append(source)
                keep[key] = keep.get(key, False) or root.keep_twins
                providers[key] = root.provider
        sessions: dict[str, FoundSession] = {}
        for key, sources in found.items():
            session = self._session(key, providers[key], sources, keep[key])
            if session is not None:
                sessions[key] = session
        self._refresh(sessions, met)
        return sessions

    def _refresh(self, sessions: dict[str, FoundSession], met: set[str]) -> None:
        """A log that grows stays the same session's: without its new stamp the next start would open it again."""
        known = {path: owner for path, owner in self.known.items() if path in met}
        for session in sessions.values():
            path = str(session.sources[-1].path)
            owner = known.get(path)
            if owner is not None and (owner.size, owner.mtime_ns) != (session.stamp.size, session.stamp.mtime_ns):
                stamp = {"size": session.stamp.size, "mtime_ns": session.stamp.mtime_ns}
                known[path] = owner.model_copy(update=stamp)
        self.known = known

    def _session(self, key: str, provider: Provider, sources: list[SourceFile], keep: bool) -> FoundSession | None:
        ordered = provider.order(sources) if len(sources) > 1 else sources
        stamp = reader.stamp_of(ordered[-1].path)
        return FoundSession(key, provider, ordered, stamp, keep) if stamp is not None else None

    def _identify(self, provider: Provider, path: Path) -> SourceFile | None:
        source = self._owners.get(path)
        if source is not None:
            return source
        source = self._look(provider, path)
        if source is not None:
            self._owners[path] = source
            while len(self._owners) > _REMEMBERED:
                self._owners.popitem(last=False)
        return source

    def _look(self, provider: Provider, path: Path) -> SourceFile | None:
        """Whose file this is: as noted when its head was last read, else by its name or its head."""
        stamp, owner = reader.stamp_of(path), self.known.get(str(path))
        if owner is not None and owner.provider == provider.name and _unchanged(owner, stamp):
            return _source_of(path, owner)
        opened = False

        def read_head(path: Path) -> bytes:
            nonlocal opened
            opened = True
            return reader.read_head(path)

        source = provider.identify(path, read_head)
        if opened and stamp is not None and texts.written_name(str(path)) == str(path):
            self.known[str(path)] = _owner_of(provider, source, stamp)
        return source


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
