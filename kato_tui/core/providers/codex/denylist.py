"""What of a Codex log does not become an event, and why. Anything that is not named here is kept."""

from __future__ import annotations

from typing import Final

#: Record type -> reason. Nothing here carries conversation.
DENYLIST: Final[dict[str, str]] = {
    "session_meta": "becomes facts: identity, folder, branch, version",
    "bare.meta": "becomes facts: identity, branch",
    "bare.state": "a save marker without content (Rust <= 0.31)",
    "turn_context": "becomes facts: model, folder",
    "event_msg.token_count": "becomes the token usage",
    "event_msg.thread_name_updated": "becomes the session title",
    "event_msg.task_started": "becomes the agent state",
    "event_msg.turn_started": "becomes the agent state",
    "event_msg.task_complete": "becomes the agent state; its last message has a record of its own",
    "event_msg.turn_complete": "becomes the agent state; its last message has a record of its own",
    "event_msg.thread_settings_applied": "settings of the client, no conversation",
    "event_msg.thread_goal_updated": "bookkeeping of the goal feature; the goal itself is a prompt",
    "response_item.ghost_snapshot": "undo data (<= 0.125)",
    "world_state": "a snapshot of the environment for the model, rewritten every turn",
    "inter_agent_communication_metadata": "a flag about the agent message in the next record",
    "security_risk_score": "bookkeeping of the service",
    "retained_context": "repeats what was said, for the reviewer of approvals",
    "response_item.additional_tools": "tools the model may use",
    "token_usage_record": "bookkeeping per request; token_count holds the running total",
}

#: Reasons for records of known types that turn out to hold nothing to keep.
EMPTY_MESSAGE: Final = "empty message"
EMPTY_REASONING: Final = "empty or encrypted reasoning"
ENCRYPTED_MAIL: Final = "empty or encrypted inter-agent message"
INSTRUCTIONS: Final = "instructions for the model, written by Codex (developer and system role)"
INJECTED: Final = "context for the model, injected by Codex into a user record"
HELD: Final = "held until the record that tells who wrote it"
ACKNOWLEDGED: Final = "acknowledges a question whose answer comes later"
