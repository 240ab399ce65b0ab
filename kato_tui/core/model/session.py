"""Session metadata, recordings and cursors, schema version 1 (spec §2, §7, §8, §10)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from kato_tui.core.model.base import Contract
from kato_tui.core.model.events import CursorKind, Identifier
from kato_tui.core.model.facts import Facts

METADATA_SCHEMA_VERSION: Final = 1

Count = Annotated[int, Field(ge=0)]


class Anchor(Contract):
    """Proof that the source is still the file the cursor was taken in."""

    length: Count
    sha256: str
    message_id: str | None = None


class IngestCursor(Contract):
    """A position in the provider's source, always just after a complete record."""

    kind: CursorKind
    value: Count
    byte_offset: Count
    line_hint: Count
    #: Which of the files that continue one another this position is in.
    generation: str = ""
    anchor: Anchor | None = None
    #: The source was rewritten: until its end has been reached again, everything is compared with the whole twin.
    replaying: bool = False


class SourceStamp(Contract):
    """The source as it was last seen: unchanged size and mtime mean that nothing needs to be read."""

    path: str
    size: Count
    mtime_ns: int
    gone: bool = False


class Period(Contract):
    """A stretch of a session that a recording covers; opened and closed only by explicit starts and stops."""

    started_cursor: Count
    stopped_cursor: Count | None = None
    started_at: str | None = None
    stopped_at: str | None = None
    started_by_seq: Count | None = None
    stopped_by_seq: Count | None = None


class Recording(Contract):
    recording_id: Identifier
    destination: Identifier
    desired_state: Literal["on", "off"]
    write_cursor: Count
    created_at: str | None = None
    periods: list[Period] = Field(default_factory=list)


class SessionMetadata(Contract):
    """Everything kato-tui knows about a session besides its events. Authoritative."""

    schema_version: Literal[1] = METADATA_SCHEMA_VERSION
    session_key: Identifier
    session_id: Identifier
    provider: Identifier
    provider_session_id: Identifier
    source_kind: Literal["main", "subagent", "workflow"] = "main"
    source: SourceStamp | None = None
    ingest_cursor: IngestCursor | None = None
    parser_state: dict[str, Any] = Field(default_factory=dict)
    next_twin_seq: Annotated[int, Field(ge=1)] = 1
    twin_length: Count = 0
    #: Only while the twin lags behind the facts (it is not kept all the time): its own position and parser state.
    twin_cursor: IngestCursor | None = None
    twin_parser_state: dict[str, Any] | None = None
    command_cursor: Count = 0
    facts: Facts = Field(default_factory=Facts)
    recordings: list[Recording] = Field(default_factory=list)
    created_at: str | None = None
    updated_at: str | None = None
