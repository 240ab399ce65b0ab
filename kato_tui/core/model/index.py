"""The index, `daemon-control.json`: a cache of the metadata files, so that a restart re-reads nothing (spec §2)."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from kato_tui.core.model.base import Contract
from kato_tui.core.model.events import Identifier
from kato_tui.core.model.facts import Facts
from kato_tui.core.model.session import Count, SourceStamp

INDEX_SCHEMA_VERSION: Final = 1


class IndexEntry(Contract):
    """Where a session's metadata is, and the facts that lists show."""

    session_id: Identifier
    provider: Identifier
    provider_session_id: Identifier
    metadata: Identifier
    source_kind: Literal["main", "subagent", "workflow"] = "main"
    source: SourceStamp | None = None
    facts: Facts
    twin_lags: bool = False
    behind_bytes: Count = 0
    active_recordings: Count = 0


class Index(Contract):
    schema_version: Literal[1] = INDEX_SCHEMA_VERSION
    sessions: dict[str, IndexEntry] = Field(default_factory=dict)
