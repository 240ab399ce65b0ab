"""What a recording shows of a conversation (spec §9), settable per recording."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kato_tui.core.model.base import Contract


class RecordSettings(Contract):
    """The defaults give a conversation that reads well later: all that was said and done, the bulk folded away.

    Thinking and tool calls are on because they explain the answer and render folded. System events (hook output,
    reminders, records of unknown types) are off because nobody said them. JSONL recordings ignore all of this.
    """

    thinking: bool = True
    #: Calls and their results alike: one without the other explains nothing.
    tool_calls: bool = True
    #: Characters shown of each tool result; 0 shows no results at all, "all" shows them whole.
    tool_result_limit: Annotated[int, Field(ge=0)] | Literal["all"] = 4000
    #: What the assistant says between tool calls, where the provider tells it from the answer.
    commentary: bool = True
    system_events: bool = False
    italic_user_text: bool = False

    @property
    def result_limit(self) -> int | None:
        """Characters shown of each tool result; None for all of them."""
        return None if self.tool_result_limit == "all" else self.tool_result_limit
