"""Removing a twin that can be made again from its log (`cleanSessionStatesOnShutdown`, spec §7)."""

from __future__ import annotations

from typing import Any

from kato_tui.core.errors import NeedsRebuild
from kato_tui.core.ingest.batch import Stores
from kato_tui.core.ingest.discover import FoundSession
from kato_tui.core.ingest.fold import start_of
from kato_tui.core.model.session import SessionMetadata
from kato_tui.core.store.index import IndexStore


def forget_twin(stores: Stores, session: FoundSession, index: IndexStore) -> bool:
    """Remove the session's twin, unless a recording points into it. Facts and known commands stay.

    Metadata first: a crash between the two leaves a twin that the next pass matches with the log, event by event. The
    twin then has to catch up from the start, and a pass that only catches up runs no command.
    """
    path = stores.home.twin(session.key)
    if not path.exists():
        return False
    try:
        metadata = stores.sessions.load(session.key)
        if metadata is None or metadata.recordings or metadata.ingest_cursor is None:
            return False
        changed = stores.sessions.update(session.key, lambda current: _without_twin(current, session))
    except NeedsRebuild:
        return False
    stores.fs.unlink(path)
    index.put(changed)
    return True


def _without_twin(metadata: SessionMetadata, session: FoundSession) -> SessionMetadata:
    fields: dict[str, Any] = {
        "next_twin_seq": 1,
        "twin_length": 0,
        "command_cursor": 0,
        "twin_cursor": start_of(session.provider, session.sources[0]),
        "twin_parser_state": None,
    }
    return metadata.model_copy(update=fields)
