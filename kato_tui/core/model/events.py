"""The SessionTwin event, schema version 1 (spec §4).

These models describe and check a line of a twin. The hot loop never builds them: it writes plain dicts whose
shape these models pin down in the tests.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from kato_tui.core.model.base import Contract

TWIN_SCHEMA_VERSION: Final = 1

USER_MESSAGE: Final = "user.message"
USER_COMMAND: Final = "user.kato-command"
USER_DECISION: Final = "user.decision.response"
ASSISTANT_MESSAGE: Final = "assistant.message"
ASSISTANT_THINKING: Final = "assistant.thinking"
ASSISTANT_DECISION: Final = "assistant.decision.prompt"
TOOL_CALL: Final = "assistant.tool.call"
TOOL_RESULT: Final = "assistant.tool.result"
SYSTEM_MESSAGE: Final = "system.message"
PROVIDER_INFO: Final = "provider.info"
PROVIDER_RAW: Final = "provider.raw"

#: The `decisionKey` of a plan that waits for approval: its prompt is the plan itself.
PLAN_APPROVAL: Final = "plan-approval"

KINDS: Final = (
    USER_MESSAGE,
    USER_COMMAND,
    USER_DECISION,
    ASSISTANT_MESSAGE,
    ASSISTANT_THINKING,
    ASSISTANT_DECISION,
    TOOL_CALL,
    TOOL_RESULT,
    SYSTEM_MESSAGE,
    PROVIDER_INFO,
    PROVIDER_RAW,
)

CursorKind = Literal["byte-offset", "item-index", "opaque"]
Text = Annotated[str, Field(min_length=1)]
Identifier = Annotated[str, Field(min_length=1)]


class Attachment(Contract):
    """An image or file that came with a message: facts about it, never its bytes."""

    media_type: str
    size: int | None = None
    sha256: str | None = None
    name: str | None = None


class UserMessage(Contract):
    text: str
    attachments: list[Attachment] | None = None


class AllTarget(Contract):
    kind: Literal["all"]


class DestinationTarget(Contract):
    kind: Literal["destination"]
    value: Identifier


class RecordingIdTarget(Contract):
    kind: Literal["recording-id"]
    value: Identifier
    match: Literal["exact", "prefix"]


Target = Annotated[AllTarget | DestinationTarget | RecordingIdTarget, Field(discriminator="kind")]


class UserCommand(Contract):
    command: Identifier
    line: Text
    raw_argument: str | None = None
    target: Target | None = None
    error: str | None = None


class AssistantMessage(Contract):
    text: Text
    phase: Literal["commentary", "final", "other"] | None = None


class AssistantThinking(Contract):
    text: Text


class ToolCall(Contract):
    tool_call_id: Identifier
    name: Identifier
    description: str | None = None
    input: Any = None


class ToolResult(Contract):
    tool_call_id: Identifier
    text: str | None = None
    json_: Annotated[Any, Field(alias="json")] = None
    is_error: bool | None = None


class DecisionOption(Contract):
    id: Identifier
    label: str
    description: str | None = None


class DecisionPrompt(Contract):
    decision_id: Identifier
    decision_key: Identifier
    provider_question_id: str | None = None
    prompt: str
    options: list[DecisionOption]
    multi_select: bool | None = None


class DecisionResponse(Contract):
    decision_id: Identifier
    provider_question_id: str | None = None
    selections: list[str]
    free_text: str | None = None


class Notice(Contract):
    """`system.message` and `provider.info`."""

    text: Text
    subtype: str | None = None
    level: str | None = None


class Raw(Contract):
    raw_type: Identifier
    raw: Any


PAYLOADS: Final[dict[str, type[Contract]]] = {
    USER_MESSAGE: UserMessage,
    USER_COMMAND: UserCommand,
    USER_DECISION: DecisionResponse,
    ASSISTANT_MESSAGE: AssistantMessage,
    ASSISTANT_THINKING: AssistantThinking,
    ASSISTANT_DECISION: DecisionPrompt,
    TOOL_CALL: ToolCall,
    TOOL_RESULT: ToolResult,
    SYSTEM_MESSAGE: Notice,
    PROVIDER_INFO: Notice,
    PROVIDER_RAW: Raw,
}


class SessionRef(Contract):
    provider: Identifier
    provider_session_id: Identifier
    session_id: Identifier


class SourceCursor(Contract):
    kind: CursorKind
    value: int | str


class EventSource(Contract):
    provider_event_type: Identifier
    provider_event_id: str | None = None
    cursor: SourceCursor
    emit_index: Annotated[int, Field(ge=0)]


class EventTime(Contract):
    provider_timestamp: str | None = None
    captured_at: str | None = None


class TwinEvent(Contract):
    """One line of a twin. `payload` is checked against the model of its kind."""

    schema_version: Literal[1]
    session: SessionRef
    seq: Annotated[int, Field(ge=1)]
    kind: Literal[
        "user.message",
        "user.kato-command",
        "user.decision.response",
        "assistant.message",
        "assistant.thinking",
        "assistant.decision.prompt",
        "assistant.tool.call",
        "assistant.tool.result",
        "system.message",
        "provider.info",
        "provider.raw",
    ]
    source: EventSource
    time: EventTime | None = None
    turn_id: str | None = None
    model: str | None = None
    payload: dict[str, Any]
    crc: Annotated[int, Field(ge=0, lt=2**32)]

    def model_post_init(self, _context: object, /) -> None:
        PAYLOADS[self.kind].model_validate(self.payload)
