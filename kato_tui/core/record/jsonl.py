"""Recordings in JSONL: the canonical events themselves, one a line, whatever the settings.

A JSONL recording is for programs, which can leave out what they don't want but cannot bring back what is missing, so
every kind is written, byte for byte as it stands in the twin, checksum and terminal-safe escapes included.
"""

from __future__ import annotations

from kato_tui.core.record.writer import Event, RenderState
from kato_tui.core.store.twin import event_line


class JsonlWriter:
    """Writes every event as its twin line. Lines stand alone, so there is nothing to remember."""

    def begin(self) -> RenderState:
        return {}

    def render(self, state: RenderState, event: Event) -> tuple[RenderState, bytes]:
        return state, event_line(event)
