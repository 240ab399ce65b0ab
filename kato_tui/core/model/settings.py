"""What a recording shows of a conversation (spec §9), settable per recording."""

from __future__ import annotations

from typing import Annotated

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
    #: Characters shown of each tool result; 0 shows no results at all, None shows them whole.
    tool_result_limit: Annotated[int, Field(ge=0)] | None = 4000
    #: What the assistant says between tool calls, where the provider tells it from the answer.
    commentary: bool = True
    system_events: bool = False
    italic_user_text: bool = False
