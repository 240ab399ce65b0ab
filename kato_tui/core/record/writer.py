"""How events become the bytes of a recording: a fold, so that batching, restarts and timing leave no trace.

`render` depends only on the state and the event. The state is saved with the recording between batches, so it is
plain JSON of bounded size; it is replaced, never mutated, so a batch that fails can simply be rendered again.
"""

from __future__ import annotations

from typing import Any, Protocol

from kato_tui.core.model.settings import RecordSettings
from kato_tui.core.record.destination import Format

RenderState = dict[str, Any]
Event = dict[str, Any]


class Writer(Protocol):
    """Turns decoded twin lines into bytes to append, in the order of the twin."""

    def begin(self) -> RenderState:
        """The state at the start of a recording period: nobody has spoken yet."""
        ...

    def render(self, state: RenderState, event: Event) -> tuple[RenderState, bytes]:
        """The state after `event` and its bytes; b"" when the event is not shown."""
        ...


def writer_for(format: Format, settings: RecordSettings) -> Writer:
    # Each format is imported when first used: a JSONL export needs no Markdown, and neither is needed to watch.
    if format == "jsonl":
        from kato_tui.core.record.jsonl import JsonlWriter

        return JsonlWriter()
    from kato_tui.core.record.markdown import MarkdownWriter

    return MarkdownWriter(settings)
