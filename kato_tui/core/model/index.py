"""The index, `daemon-control.json`: a cache of the metadata files, so that a restart re-reads nothing (spec §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from pydantic import ConfigDict

from kato_tui.core.model.base import FACT_CONTRACT, Integer
from kato_tui.core.model.events import Identifier
from kato_tui.core.model.facts import Facts
from kato_tui.core.model.session import Count, SourceStamp

INDEX_SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingEntry:
    """A recording as far as resolving a target needs it."""

    __pydantic_config__: ClassVar[ConfigDict] = FACT_CONTRACT

    recording_id: Identifier
    destination: Identifier
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """Where a session's metadata is, and the facts that lists show.

    A plain value with slots: there are as many in memory as there ever were sessions, and a model takes twice as much.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FACT_CONTRACT

    session_id: Identifier
    provider: Identifier
    provider_session_id: Identifier
    metadata: Identifier
    source_kind: Literal["main", "subagent", "workflow"] = "main"
    source: SourceStamp | None = None
    facts: Facts
    twin_events: Count = 0
    twin_lags: bool = False
    keep_twin: bool = False
    behind_bytes: Count = 0
    recordings: tuple[RecordingEntry, ...] = ()
    #: A recording may lack something that the twin holds: looked at before anything else after a start.
    unsettled: bool = False
    #: Inode, size and mtime of the metadata file this was taken from: a newer file is read again.
    metadata_stamp: tuple[Integer, Integer, Integer] | None = None

    @property
    def active_recordings(self) -> int:
        # Asked for every session at every look, and most have none.
        return sum(recording.on for recording in self.recordings) if self.recordings else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOwner:
    """Whose log a file was found to be by reading its head; good for as long as size and mtime stay as they are."""

    __pydantic_config__: ClassVar[ConfigDict] = FACT_CONTRACT

    size: Count
    mtime_ns: Integer
    provider: Identifier
    #: None for a file that is no session's log (yet).
    provider_session_id: Identifier | None = None
    kind: Literal["main", "subagent", "workflow"] = "main"
    layout: Literal["lines", "document"] = "lines"
    compressed: bool = False
    generation: str = ""
    parent: str | None = None
