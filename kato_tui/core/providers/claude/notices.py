"""`system` records: notices of the harness, and markers that only tell the state of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, only_text, text_of
from kato_tui.core.providers.claude import activity, user

if TYPE_CHECKING:
    from kato_tui.core.providers.claude.translator import ClaudeTranslator

#: Subtypes whose `content` is shown as it is.
PLAIN: Final = {
    "compact_boundary": events.SYSTEM_MESSAGE,
    "microcompact_boundary": events.SYSTEM_MESSAGE,
    "informational": events.SYSTEM_MESSAGE,
    "bridge_status": events.SYSTEM_MESSAGE,
    "api_refusal": events.SYSTEM_MESSAGE,
    "model_refusal_fallback": events.SYSTEM_MESSAGE,
    "error": events.SYSTEM_MESSAGE,
    "session_start": events.SYSTEM_MESSAGE,
    "scheduled_task_fire": events.SYSTEM_MESSAGE,
    "agents_killed": events.SYSTEM_MESSAGE,
    "model_refusal_no_fallback": events.SYSTEM_MESSAGE,
    "model_consent_fallback": events.SYSTEM_MESSAGE,
    "permission_retry": events.SYSTEM_MESSAGE,
    "permission_denied": events.SYSTEM_MESSAGE,
    "memory_saved": events.PROVIDER_INFO,
    # Written by the model while the user was away, but no reply.
    "away_summary": events.PROVIDER_INFO,
    # Up to 1.0.56: progress of hooks, without a subtype.
    "": events.PROVIDER_INFO,
}
#: For records whose content is missing.
_STAND_IN: Final = {
    "compact_boundary": "Conversation compacted",
    "microcompact_boundary": "Context compacted",
    "agents_killed": "Background agents were stopped",
}
#: Subtypes that are left out, with the reason.
DENYLIST: Final = {"api_metrics": "how fast the service answered"}
#: Subtypes that end a turn.
_TURN_ENDS: Final = frozenset(("turn_duration", "stop_hook_summary"))
_TURN_MARKER: Final = "marks the end of a turn: becomes the agent state"
_QUIET_HOOKS: Final = "hooks that ran without errors"


def translate(t: ClaudeTranslator, record: Record) -> None:
    subtype = record.get("subtype")
    subtype = "" if subtype is None else subtype
    content = text_of(record.get("content"))
    if not isinstance(subtype, str):
        t.keep_raw(t.type, record)
        return
    t.enter(record)
    if subtype in _TURN_ENDS:
        t.set_state(activity.idle)
    if subtype == "compact_boundary" and t.time and not t.reappended and not t.here["copied"]:
        t.memory.boundary = t.time
    if subtype == "turn_duration":
        t.drop(_TURN_MARKER)
    elif subtype in DENYLIST:
        t.drop(DENYLIST[subtype])
    elif subtype == "stop_hook_summary":
        _stop_hooks(t, record)
    elif subtype == "api_error":
        t.say(events.SYSTEM_MESSAGE, _api_error(record), subtype, "error")
    elif subtype == "local_command" and content:
        user.local_command(t, content)
    elif subtype in PLAIN and (content or subtype in _STAND_IN):
        level = text_of(record.get("level")) or None
        t.say(PLAIN[subtype], content or _STAND_IN[subtype], subtype or "hook-progress", level)
        if not t.emitted:
            t.drop("empty notice")
    else:
        t.keep_raw(t.type, record, **t.here)


def _stop_hooks(t: ClaudeTranslator, record: Record) -> None:
    errors = record.get("hookErrors")
    lines = [_text(error) for error in errors] if isinstance(errors, list) else []
    reason = text_of(record.get("stopReason"))
    text = "\n".join(line for line in (*lines, reason) if line.strip())
    if text:
        t.say(events.SYSTEM_MESSAGE, text, "stop_hook_summary", "warning")
    t.drop(_QUIET_HOOKS)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return text_of(value.get("message")) or text_of(value.get("error"))
    return text_of(value)


def _api_error(record: Record) -> str:
    """The error may be nested, formatted, or an empty object; a retry notice then only has its numbers."""
    error = record.get("error")
    parts = [text_of(record.get("content"))]
    if isinstance(error, dict):
        deeper = error.get("error")
        parts += [text_of(error.get("formatted")), text_of(error.get("message"))]
        parts.append(text_of(deeper.get("message")) if isinstance(deeper, dict) else text_of(deeper))
        status = error.get("status")
        if isinstance(status, int):
            parts.append(f"status {status}")
    else:
        parts.append(only_text(error))
    text = next((part for part in parts if part), "API error")
    attempt, most = record.get("retryAttempt"), record.get("maxRetries")
    return f"{text} (retry {attempt} of {most})" if isinstance(attempt, int) and isinstance(most, int) else text
