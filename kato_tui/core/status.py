"""Makes the status of sessions and recordings from what the engine knows. Reads no log, writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kato_tui import __version__
from kato_tui.core import identity
from kato_tui.core.ingest.discover import FoundSession, Root, is_barred, is_folder
from kato_tui.core.model.facts import Facts
from kato_tui.core.model.index import IndexEntry
from kato_tui.core.model.session import Recording, SessionMetadata
from kato_tui.core.model.status import (
    EngineStatus,
    RecordingState,
    RecordingStatus,
    RootStatus,
    SessionStatus,
    Watching,
)
from kato_tui.core.providers.base import Provider, SourceFile
from kato_tui.core.record.periods import behind
from kato_tui.core.record.recorder import Recorder
from kato_tui.core.summary import Summary


@dataclass(frozen=True, slots=True)
class About:
    """What only a running engine knows of itself; `since` is None while it doesn't run."""

    home: str
    since: str | None
    watching: Watching
    latency_ms: float | None
    totals: Summary


def engine_status(
    about: About, roots: Iterable[Root], found: Mapping[str, FoundSession], entries: Mapping[str, IndexEntry]
) -> EngineStatus:
    return EngineStatus(
        version=__version__,
        home=about.home,
        pid=os.getpid() if about.since is not None else None,
        started_at=about.since,
        watching=about.watching,
        latency_ms=about.latency_ms,
        roots=[
            RootStatus(
                provider=root.provider.name,
                path=str(root.path),
                exists=barred is not None or is_folder(root.path),
                problem=barred,
                keep_twins=root.keep_twins,
            )
            for root, barred in ((root, _barred(root.path)) for root in roots)
        ],
        sessions=len(found.keys() | entries.keys()),
        active_recordings=sum(entry.active_recordings for entry in entries.values()),
        bytes_behind=sum(entry.behind_bytes for entry in entries.values()),
        events=about.totals.events,
        counters=dict(about.totals.counters),
    )


def _barred(folder: Path) -> str | None:
    """Why nothing is found in a folder that is there, or that may be there behind one that is closed."""
    closed = is_barred(folder) or (is_folder(folder) and not os.access(folder, os.R_OK | os.X_OK))
    return "permission denied" if closed else None


def session_status(
    key: str,
    entry: IndexEntry | None,
    facts: Facts,
    provider: Provider | None,
    recordings: list[RecordingStatus],
    problem: str | None = None,
    found: SourceFile | None = None,
) -> SessionStatus:
    """The status of one session; `found` is its log as it was met, for sessions that were not read yet."""
    name, _, provider_session_id = key.partition(":")
    session_id = entry.session_id if entry is not None else identity.session_id(key)
    source = entry.source if entry is not None else None
    path = source.path if source is not None else str(found.path) if found is not None else None
    state = facts.agent_state
    return SessionStatus(
        session_id=session_id,
        session_short_id=identity.short_id(session_id),
        provider=name,
        provider_session_id=provider_session_id,
        source_kind=entry.source_kind if entry is not None else found.kind if found is not None else "main",
        source=path,
        # A log that came back is not read yet, perhaps, but it is there.
        source_gone=source is not None and source.gone and found is None,
        problem=problem,
        title=facts.title,
        cwd=facts.cwd,
        git_branch=facts.git_branch,
        model=facts.model,
        cli_version=facts.cli_version,
        parent=facts.parent,
        state=state.state,
        reason=state.reason,
        tool=state.tool,
        since=state.since,
        usage=facts.usage,
        context_tokens=facts.context_tokens,
        context_window=facts.context_window,
        user_messages=facts.user_messages,
        assistant_messages=facts.assistant_messages,
        tool_calls=facts.tool_calls,
        first_activity=facts.first_activity,
        last_activity=facts.last_activity,
        resume_command=provider.resume_command(facts, path) if provider is not None else None,
        twin_events=entry.twin_events if entry is not None else 0,
        twin_lags=entry is None or entry.twin_lags,
        keep_twin=entry is not None and entry.keep_twin,
        bytes_behind=entry.behind_bytes if entry is not None else 0,
        unknown_types=facts.unknown_types,
        recordings=recordings,
    )


def recording_statuses(metadata: SessionMetadata, recorder: Recorder) -> list[RecordingStatus]:
    return [_recording_status(metadata, recorder.view(one), recorder) for one in metadata.recordings]


def _recording_status(metadata: SessionMetadata, recording: Recording, recorder: Recorder) -> RecordingStatus:
    failure = recorder.failures.get(recording.recording_id)
    return RecordingStatus(
        recording_id=recording.recording_id,
        recording_short_id=identity.short_id(recording.recording_id),
        session_short_id=identity.short_id(metadata.session_id),
        destination=recording.destination,
        desired_state=recording.desired_state,
        status="failing" if failure is not None else _state(recording, metadata.next_twin_seq - 1),
        write_cursor=recording.write_cursor,
        events_written=recording.events_written,
        periods=recording.periods,
        settings=recording.settings,
        created_at=recording.created_at,
        last_write_at=recording.last_write_at,
        last_error=failure.reason if failure is not None else None,
    )


def _state(recording: Recording, newest: int) -> RecordingState:
    if behind(recording, newest):
        return "behind"
    return "recording" if recording.desired_state == "on" else "stopped"
