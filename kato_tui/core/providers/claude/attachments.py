"""`attachment` records: context that the harness showed the model, and since 2.1.97 prompts typed mid-turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, only_text, text_of
from kato_tui.core.providers.claude import prompt_queue

if TYPE_CHECKING:
    from kato_tui.core.providers.claude.translator import ClaudeTranslator

#: Kinds that are left out, with the reason.
DENYLIST: Final = {
    "task_reminder": "reminder to the model, repeated every few turns",
    "todo_reminder": "reminder to the model, repeated every few turns",
    "total_tokens_reminder": "reminder to the model",
    "batching_reminder_sent": "reminder to the model",
    "silent_turn_reminder": "reminder to the model",
    "read_truncation_notice": "reminder to the model",
    "deferred_tools_delta": "list of tools the model may load",
    "mcp_instructions_delta": "instructions of MCP servers to the model",
    "agent_listing_delta": "list of agents the model may start",
    "skill_listing": "list of skills the model may load",
    "dynamic_skill": "list of skills the model may load",
    "invoked_skills": "skills that were already shown when they were loaded",
    "command_permissions": "permissions of a slash command",
    "plan_mode": "standing instructions of plan mode to the model",
    "plan_mode_exit": "standing instructions of plan mode to the model",
    "plan_mode_reentry": "standing instructions of plan mode to the model",
    "auto_mode": "standing instructions of auto mode to the model",
    "auto_mode_exit": "standing instructions of auto mode to the model",
    "ultra_effort_enter": "setting of the running program",
    "ultra_effort_exit": "setting of the running program",
    "budget_usd": "setting of the running program",
    "output_style": "setting of the running program",
    "workflow_size_guideline_change": "setting of the running program",
    "workflow_keyword_request": "setting of the running program",
    "advisor_tool": "list of tools the model may use",
    "prompt_snapshot": "the system prompt and the tools as they were sent",
    "instructions": "standing instructions to the model",
    "environment": "description of the machine to the model",
    "session_context": "description of the session to the model",
    "model": "description of the model to itself",
    "date": "the day, told to the model at the start",
    "team_context": "description of the team to the model",
    "bash_output_audience_note": "reminder to the model",
}
_SILENT_HOOK: Final = "a hook that told the model nothing"
_MAY_BE_SILENT: Final = ("hook_success", "async_hook_response")


def _lines(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(item for item in value if isinstance(item, str))
    return text_of(value)


def _content(a: Record) -> str:
    return _lines(a.get("content"))


def _path(a: Record) -> str:
    """Which file it was; its content is on the user's disk."""
    return next((text_of(a.get(key)) for key in ("displayPath", "filename", "path") if text_of(a.get(key))), "")


def _snippet(a: Record) -> str:
    return "\n".join(part for part in (_path(a), only_text(a.get("snippet"))) if part)


def _selection(a: Record) -> str:
    place = f"{_path(a)}:{a.get('lineStart')}-{a.get('lineEnd')}"
    return f"{place}\n{_content(a)}"


def _blocking(a: Record) -> str:
    error = a.get("blockingError")
    text = text_of(error.get("blockingError")) if isinstance(error, dict) else text_of(error)
    return _hook(a, text)


def _failed_hook(a: Record) -> str:
    return _hook(a, text_of(a.get("stderr")) or text_of(a.get("stdout")))


def _hook(a: Record, text: str = "was cancelled") -> str:
    name = text_of(a.get("hookName"))
    return f"{name}: {text}" if name and text else text


def _diagnostics(a: Record) -> str:
    lines: list[str] = []
    files = a.get("files")
    for file in files if isinstance(files, list) else []:
        found = file.get("diagnostics") if isinstance(file, dict) else None
        for entry in found if isinstance(found, list) else []:
            if isinstance(entry, dict):
                lines.append(
                    f"{text_of(file.get('uri'))}: {text_of(entry.get('severity'))} {text_of(entry.get('message'))}"
                )
    return "\n".join(lines)


def _date(a: Record) -> str:
    return text_of(a.get("newDate"))


def _async_hook(a: Record) -> str:
    return _hook(a, text_of(a.get("response")) or text_of(a.get("stderr")) or text_of(a.get("stdout")))


def _remote(a: Record) -> str:
    return "\n".join(text_of(a.get(key)) for key in ("url", "pr", "commit") if text_of(a.get(key)))


def _any_text(a: Record) -> str:
    """For kinds seen too rarely to know their fields."""
    keys = ("content", "text", "message", "summary", "description", "condition", "status")
    return next((_lines(a.get(key)) for key in keys if _lines(a.get(key))), "")


#: Kind -> the text of its notice. A known kind without such a text has changed its shape: it is kept raw.
INFO: Final[dict[str, Callable[[Record], str]]] = {
    "hook_success": _content,
    "hook_system_message": _content,
    "hook_additional_context": _content,
    "hook_blocking_error": _blocking,
    "hook_non_blocking_error": _failed_hook,
    "hook_cancelled": _hook,
    "async_hook_response": _async_hook,
    "remote_session_change": _remote,
    "edited_text_file": _snippet,
    "file": _path,
    "directory": _path,
    "compact_file_reference": _path,
    "nested_memory": _path,
    "opened_file_in_ide": _path,
    "selected_lines_in_ide": _selection,
    "diagnostics": _diagnostics,
    "date_change": _date,
    "goal_status": _any_text,
    "task_status": _any_text,
}
_LEVELS: Final = {"hook_blocking_error": "error", "hook_non_blocking_error": "warning"}


def translate(t: ClaudeTranslator, record: Record) -> None:
    attachment = record.get("attachment")
    kind = attachment.get("type") if isinstance(attachment, dict) else None
    if not isinstance(attachment, dict) or not isinstance(kind, str):
        t.keep_raw("attachment", record)
        return
    t.enter(record)
    if kind == "queued_command":
        prompt_queue.attached(t, attachment)
        return
    if kind in DENYLIST:
        t.drop(DENYLIST[kind])
        return
    extract = INFO.get(kind)
    text = extract(attachment) if extract else ""
    if text.strip():
        t.say(events.PROVIDER_INFO, text, kind, _LEVELS.get(kind))
    if t.emitted:
        return
    if kind in _MAY_BE_SILENT or (kind in INFO and "content" in attachment and not attachment["content"]):
        t.drop(_SILENT_HOOK)
    else:
        t.keep_raw(t.type, attachment, **t.here)
