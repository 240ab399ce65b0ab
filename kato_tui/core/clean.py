"""What can be thrown away: state and logs that are old, or all state of one session. Never a recording's file.

First a plan, which says what would go and what that means; then, if it is wanted, the deed. Both under the lock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kato_tui.core import identity
from kato_tui.core.engine import Engine
from kato_tui.core.model.index import IndexEntry


@dataclass(frozen=True, slots=True)
class SessionPart:
    """The state of one session that would go."""

    key: str
    title: str | None
    last: datetime
    files: tuple[Path, ...]
    bytes: int
    #: The assistant has deleted its log: after this, nothing of the conversation is left but recordings.
    only_copy: bool
    #: Stopped recordings: their files stay, but kato-tui no longer knows them.
    recordings: int

    @property
    def short_id(self) -> str:
        return identity.short_id(identity.session_id(self.key))

    def as_json(self) -> dict[str, Any]:
        return {
            "sessionShortId": self.short_id,
            "sessionKey": self.key,
            "title": self.title,
            "lastActivity": self.last.isoformat(),
            "files": [str(path) for path in self.files],
            "bytes": self.bytes,
            "onlyCopy": self.only_copy,
            "recordings": self.recordings,
        }


@dataclass(slots=True)
class Plan:
    sessions: list[SessionPart] = field(default_factory=list)
    #: Rotated or idle logs, and files that were set aside by repairs.
    files: list[Path] = field(default_factory=list)
    file_bytes: int = 0
    #: Session short id -> why it stays although it was asked for.
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return self.file_bytes + sum(part.bytes for part in self.sessions)

    def as_json(self, *, done: bool) -> dict[str, Any]:
        return {
            "done": done,
            "bytes": self.bytes,
            "sessions": [part.as_json() for part in self.sessions],
            "files": [str(path) for path in self.files],
            "refused": self.refused,
        }


def plan_old(engine: Engine, days: int) -> Plan:
    """Everything that saw no activity for `days` days."""
    limit = engine.clock.now() - timedelta(days=days)
    plan = Plan()
    for key, entry in sorted(engine.index.entries.items()):
        if _last(engine, key, entry) < limit:
            _add(plan, engine, key, entry)
    taken = {path for part in plan.sessions for path in part.files}
    loose = [*engine.home.log_files(), *engine.home.set_aside_files()]
    plan.files = [path for path in loose if path not in taken and _changed(path) < limit]
    plan.file_bytes = _size(plan.files)
    return plan


def plan_session(engine: Engine, name: str) -> Plan:
    """All state of the session that `name` means; `SessionNotFound` when it means none or several."""
    key = engine.resolve(name)
    plan = Plan()
    entry = engine.index.entries.get(key)
    if entry is not None:
        _add(plan, engine, key, entry)
    elif engine.home.meta(key).name in engine.index.refused:
        plan.refused[identity.short_id(identity.session_id(key))] = engine.index.refused[engine.home.meta(key).name]
    return plan


def carry_out(engine: Engine, plan: Plan) -> None:
    """Metadata goes first: a crash in between leaves a twin that the next start simply makes anew."""
    for part in plan.sessions:
        engine.let_go(part.key)
        for path in sorted(part.files, key=lambda one: one != engine.home.meta(part.key)):
            path.unlink(missing_ok=True)
        engine.store.forget(part.key)
        engine.index.remove(part.key)
        engine.log.write("cleaned", session=part.short_id, bytes=part.bytes)
    for path in plan.files:
        path.unlink(missing_ok=True)


def _add(plan: Plan, engine: Engine, key: str, entry: IndexEntry) -> None:
    if entry.active_recordings:
        short = identity.short_id(entry.session_id)
        plan.refused[short] = f"it is being recorded: kato-tui stop --session {short}"
        return
    files = engine.home.session_files(key)
    plan.sessions.append(
        SessionPart(
            key=key,
            title=entry.facts.title,
            last=_last(engine, key, entry),
            files=tuple(files),
            bytes=_size(files),
            only_copy=entry.twin_events > 0 and key not in engine.sessions,
            recordings=len(entry.recordings),
        )
    )


def _last(engine: Engine, key: str, entry: IndexEntry) -> datetime:
    """The last activity; a time that cannot be read, or none, gives way to the age of what is stored."""
    try:
        found = datetime.fromisoformat(entry.facts.last_activity or "")
    except ValueError:
        return _changed(engine.home.meta(key))
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _changed(path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return datetime.now(UTC)


def _size(files: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in files if path.exists())
