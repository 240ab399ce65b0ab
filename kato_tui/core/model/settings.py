"""What a recording shows of a conversation (spec §9), settable per recording."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kato_tui.core.model.base import MAX_INTEGER, Contract


class RecordSettings(Contract):
    """The defaults give a conversation that reads well later: all that was said and done, the bulk folded away.

    Thinking and tool calls are on because they explain the answer and render folded. System events (hook output,
    reminders, records of unknown types) are off because nobody said them. JSONL recordings ignore all of this.
    """

    thinking: bool = Field(True, description="the assistant's thinking, folded")
    # Calls and their results alike: one without the other explains nothing.
    tool_calls: bool = Field(True, description="tool calls and their results, folded")
    tool_result_limit: Annotated[int, Field(ge=0, le=MAX_INTEGER)] | Literal["all"] = Field(
        4000, description='characters shown of each result; `0` shows none, `"all"` shows them whole'
    )
    commentary: bool = Field(
        True, description="what the assistant says between tool calls, where its log tells that from the answer"
    )
    system_events: bool = Field(False, description="hook output, reminders, records of unknown types")
    italic_user_text: bool = Field(False, description="your own words in italics")

    @property
    def result_limit(self) -> int | None:
        """Characters shown of each tool result; None for all of them."""
        return None if self.tool_result_limit == "all" else self.tool_result_limit
