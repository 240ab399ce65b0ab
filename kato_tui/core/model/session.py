"""Session metadata, recordings and cursors, schema version 1 (spec §2, §7, §8, §10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field

from kato_tui.core.model.base import FACT_CONTRACT, MAX_INTEGER, Contract, Integer
from kato_tui.core.model.events import CursorKind, Identifier
from kato_tui.core.model.facts import Facts
from kato_tui.core.model.settings import RecordSettings

METADATA_SCHEMA_VERSION: Final = 1

Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStamp:
    """The source as it was last seen: unchanged size and mtime mean that nothing needs to be read."""

    __pydantic_config__: ClassVar[ConfigDict] = FACT_CONTRACT

    path: str
    size: Count
    mtime_ns: Integer
    gone: bool = False


class Period(Contract):
    """A stretch of a session that a recording covers; opened and closed only by explicit starts and stops."""

    started_cursor: Count
    stopped_cursor: Count | None = None
    started_at: str | None = None
    stopped_at: str | None = None
    started_by_seq: Count | None = None
    stopped_by_seq: Count | None = None


#: Codes of warnings about what the user did to the file.
Remark = Literal["recording-edited", "recording-recreated"]


class PendingAppend(Contract):
    """Bytes that are about to be appended to a recording, written down first: a crash can then tell what is missing.

    `anchor` is what stood before `base` at that time, verbatim (base64), so that the place is found again after the
    user edited the file. The bytes themselves are kept rather than rendered anew: settings and renderer may change.
    """

    to_seq: Count
    #: Which period the recording is in, and in which render state, once these bytes are in the file.
    period_index: Count
    render_state: dict[str, Any] | None
    events: Count
    base: Count
    anchor: str
    #: How many of the bytes are the head of a new file: left out when the file turns out not to be new.
    head: Count = 0
    #: The text, or None when it is too large for the metadata and lies in a file of its own.
    chunk: str | None = None
    length: Count
    sha256: str
    #: What the user is to be told once the bytes are in the file: a warning must not die with the process that saw why.
    remark: Remark | None = None


class FileMark(Contract):
    """Where the file ended after the last append, and its last bytes (base64): tells whether somebody edited it."""

    end: Count
    tail: str


class Recording(Contract):
    recording_id: Identifier
    destination: Identifier
    desired_state: Literal["on", "off"]
    #: Every event of the periods so far, up to and including this seq, is in the file.
    write_cursor: Count
    created_at: str | None = None
    #: In the order in which they are written. A period is the seqs from `startedCursor` to `stoppedCursor`, both in.
    periods: list[Period] = Field(default_factory=list)
    settings: RecordSettings = Field(default_factory=RecordSettings)
    #: The period that is being written; periods before it are complete.
    period_index: Count = 0
    #: What the writer needs to go on within the period; None at the start of one.
    render_state: dict[str, Any] | None = None
    pending: PendingAppend | None = None
    file: FileMark | None = None
    events_written: Count = 0
    last_write_at: str | None = None


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
    #: Where the ingest stood before the source was cut or rewritten: up to there its records may come back.
    cut_cursor: IngestCursor | None = None
    next_twin_seq: Annotated[int, Field(ge=1, le=MAX_INTEGER)] = 1
    twin_length: Count = 0
    #: Only while the twin lags behind the facts (it is not kept all the time): its own position and parser state.
    twin_cursor: IngestCursor | None = None
    twin_parser_state: dict[str, Any] | None = None
    #: Everything before this seq was looked through for commands.
    command_cursor: Count = 0
    #: How often each command line was met (by hash): a rewritten log that shows them again runs none of them again.
    command_counts: dict[str, Integer] = Field(default_factory=dict)
    #: The user wants this session's twin kept, whatever the settings of its root.
    keep_twin: bool = False
    facts: Facts = Field(default_factory=Facts)
    recordings: list[Recording] = Field(default_factory=list)
    created_at: str | None = None
    updated_at: str | None = None
