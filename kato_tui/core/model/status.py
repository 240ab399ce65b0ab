"""The status contract, version 1: what `status --json`, the socket and the dashboard all show (spec §12)."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from kato_tui.core.model.base import Contract
from kato_tui.core.model.events import Identifier
from kato_tui.core.model.facts import Usage
from kato_tui.core.model.intents import Notice
from kato_tui.core.model.session import Count, Period
from kato_tui.core.model.settings import RecordSettings

STATUS_SCHEMA_VERSION: Final = 1

#: `recording`: on and up to date; `behind`: on, with events still to be written; `failing`: see `lastError`.
RecordingState = Literal["recording", "behind", "failing", "stopped"]
#: How changes of logs are noticed.
Watching = Literal["events", "polling", "none"]


class RecordingStatus(Contract):
    recording_id: Identifier
    recording_short_id: Identifier
    session_short_id: Identifier
    destination: Identifier
    desired_state: Literal["on", "off"]
    status: RecordingState
    write_cursor: Count
    events_written: Count
    periods: list[Period]
    settings: RecordSettings
    created_at: str | None = None
    last_write_at: str | None = None
    last_error: str | None = None


class SessionStatus(Contract):
    session_id: Identifier
    session_short_id: Identifier
    provider: Identifier
    provider_session_id: Identifier
    source_kind: Literal["main", "subagent", "workflow"]
    source: str | None = None
    source_gone: bool = False
    #: The metadata cannot be used: what to do about it. The other fields then are what little is known.
    problem: str | None = None
    title: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    model: str | None = None
    cli_version: str | None = None
    parent: str | None = None
    state: Literal["needs-you", "working", "ended"]
    reason: Literal["idle", "decision", "acting", "thinking", "process-gone"]
    tool: str | None = None
    since: str | None = None
    usage: Usage
    context_tokens: int | None = None
    context_window: int | None = None
    user_messages: Count
    assistant_messages: Count
    tool_calls: Count
    first_activity: str | None = None
    last_activity: str | None = None
    resume_command: str | None = None
    twin_events: Count
    twin_lags: bool
    #: The user wants a twin of it, whatever the settings say of the others.
    keep_twin: bool = False
    bytes_behind: Count
    unknown_types: dict[str, int] = Field(default_factory=dict)
    recordings: list[RecordingStatus] = Field(default_factory=list)


class RootStatus(Contract):
    provider: Identifier
    path: Identifier
    exists: bool
    #: Why nothing is found in it although it exists.
    problem: str | None = None
    keep_twins: bool


class EngineStatus(Contract):
    version: Identifier
    home: Identifier
    #: None when no engine runs and the status was read from disk.
    pid: int | None = None
    started_at: str | None = None
    #: How changes are noticed.
    watching: Watching = "none"
    roots: list[RootStatus]
    sessions: Count
    active_recordings: Count
    bytes_behind: Count
    events: Count
    #: Milliseconds from the change of a log to its events on disk, of the last batch.
    latency_ms: float | None = None
    #: Resumes, replays, rewrites, duplicates suppressed, anchor mismatches and the like, since the start.
    counters: dict[str, int]


class Status(Contract):
    schema_version: Literal[1] = STATUS_SCHEMA_VERSION
    engine: EngineStatus
    sessions: list[SessionStatus]
    warnings: list[Notice]
