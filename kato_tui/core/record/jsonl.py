"""Recordings in JSONL: the canonical events themselves, one a line, whatever the settings.

A JSONL recording is for programs, which can leave out what they don't want but cannot bring back what is missing, so
every kind is written. The line is made by the twin's own encoder from the event's own fields and comes out
byte for byte as it stands in the twin, checksum and terminal-safe escapes included.
"""

from __future__ import annotations

from typing import Final

from kato_tui.core.providers.base import Draft
from kato_tui.core.record.writer import Event, RenderState
from kato_tui.core.store.twin import LineEncoder

#: Writers are shared by the recordings of many sessions; encoders are cheap, so a small cache is dropped when full.
_MAX_ENCODERS: Final = 64


class JsonlWriter:
    """Writes every event as its twin line. Lines stand alone, so there is nothing to remember."""

    def __init__(self) -> None:
        self._encoders: dict[tuple[str, str, str, str], LineEncoder] = {}

    def begin(self) -> RenderState:
        return {}

    def render(self, state: RenderState, event: Event) -> tuple[RenderState, bytes]:
        source, time = event["source"], event.get("time") or {}
        draft = Draft(
            kind=event["kind"],
            payload=event["payload"],
            event_type=source["providerEventType"],
            event_id=source.get("providerEventId"),
            timestamp=time.get("providerTimestamp"),
            turn_id=event.get("turnId"),
            model=event.get("model"),
            cursor=source["cursor"]["value"],
            emit_index=source["emitIndex"],
        )
        encoder = self._encoder(event["session"], source["cursor"]["kind"])
        return state, encoder.encode(draft, event["seq"], time.get("capturedAt"))

    def _encoder(self, session: dict[str, str], cursor_kind: str) -> LineEncoder:
        key = (session["provider"], session["providerSessionId"], session["sessionId"], cursor_kind)
        encoder = self._encoders.get(key)
        if encoder is None:
            if len(self._encoders) >= _MAX_ENCODERS:
                self._encoders.clear()
            encoder = self._encoders[key] = LineEncoder(session, cursor_kind)
        return encoder
