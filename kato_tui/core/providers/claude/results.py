"""Tool results: what the tool printed, and the structured result less what only repeats it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kato_tui.core import text as texts
from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, text_of
from kato_tui.core.providers.claude import activity, authorship, decisions, pasted

if TYPE_CHECKING:
    from kato_tui.core.providers.claude.translator import ClaudeTranslator

#: Fields of `toolUseResult` that are left out of `json`, with what they repeat.
REPEATED_FIELDS: Final = {
    "stdout": "Bash: the text",
    "stderr": "Bash: the text",
    "originalFile": "Edit, Write: the whole file as it was",
    "oldString": "Edit: the call's input",
    "newString": "Edit: the call's input",
    "edits": "MultiEdit: the call's input",
    "content": "Write: the call's input; Task, Grep: the text",
    "prompt": "Task: the call's input",
    "plan": "ExitPlanMode: the call's input",
    "newTodos": "TodoWrite: the call's input",
    "oldTodos": "TodoWrite: the call before",
    "results": "WebSearch: the text",
    "filenames": "Glob, Grep: the text",
}
#: These the text does not hold when a large output was spilled to a file, or when there is no text.
_SPILLED_FIELDS: Final = frozenset(("stdout", "stderr", "content", "results", "filenames"))
_SPILLED: Final = "<persisted-output>"
#: The harness appends reminders for the model to what a tool printed.
_REMINDER: Final = "\n\n<system-reminder>\n"
_REMINDER_END: Final = "</system-reminder>"
#: Stands under every file that was read, the same each time: not even worth a notice.
DENIED_REMINDERS: Final = ("Whenever you read a file, you should consider whether it ",)
#: Nested values deeper than this are cut: no tool needs it, a hostile log might.
_MAX_DEPTH: Final = 32


def translate(t: ClaudeTranslator, record: Record, blocks: list[Any]) -> None:
    """A user line with tool results. Whatever else it holds was not typed by the user."""
    extra = record.get("toolUseResult")
    for block in blocks:
        if not isinstance(block, dict) or block.get("type") != "tool_result":
            _beside(t, block)
            continue
        call_id = block.get("tool_use_id")
        if isinstance(call_id, str) and call_id:
            _result(t, call_id, block, extra)
            extra = None
        else:
            t.keep_raw("user.tool_result", block, **t.here)
    if not t.emitted:
        t.drop("empty text beside a tool result")


def _beside(t: ClaudeTranslator, block: Any) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    text = block.get("text") if isinstance(block, dict) else None
    if kind == "text" and isinstance(text, str):
        if text.strip() in authorship.INTERRUPTIONS:
            t.say(events.SYSTEM_MESSAGE, text, "interrupted")
            t.set_state(activity.idle)
        else:
            t.say(events.PROVIDER_INFO, text, authorship.machine_subtype(text) or "beside-tool-result")
    elif kind in ("image", "document"):
        t.say(events.PROVIDER_INFO, texts.media_text(media_of(block)), "beside-tool-result")
    else:
        t.keep_raw(f"user.{text_of(kind) or 'block'}", block, **t.here)


def _result(t: ClaudeTranslator, call_id: str, block: Record, extra: Any) -> None:
    text = _content_text(t, block.get("content"))
    failed = block.get("is_error")
    failed = failed if isinstance(failed, bool) else None
    if not text and not isinstance(extra, dict):
        text = _content_text(t, extra)
    text, reminders = split_reminders(text)
    tool = t.memory.close_tool(call_id) if t.live else ""
    t.set_state(activity.busy)
    if decisions.declined(t, call_id, text, failed):
        _user_words(t, text, tool)
    elif not decisions.answer(t, call_id, text, extra, failed):
        structured = structured_result(extra, text) if isinstance(extra, dict) else None
        payload: Record = {"toolCallId": call_id}
        if text:
            payload["text"] = text
        if structured:
            payload["json"] = structured
        if failed is not None:
            payload["isError"] = failed
        t.emit(events.TOOL_RESULT, payload, **t.here)
        if failed:
            _user_words(t, text, tool)
    for reminder in reminders:
        t.say(events.PROVIDER_INFO, reminder, "system-reminder")


def split_reminders(text: str) -> tuple[str, list[str]]:
    """What a tool printed, and what the harness appended to it for the model; a text that is only that stays whole."""
    reminders: list[str] = []
    while text.endswith((_REMINDER_END, f"{_REMINDER_END}\n")):
        at = text.rfind(_REMINDER)
        if at < 0:
            break
        reminder = text[at + len(_REMINDER) :].rstrip("\n").removesuffix(_REMINDER_END).strip()
        text = text[:at]
        if not reminder.startswith(DENIED_REMINDERS):
            reminders.insert(0, reminder)
    return text, reminders


def _user_words(t: ClaudeTranslator, text: str, tool: str) -> None:
    """The reason a user typed for refusing a tool, if `text` holds one.

    An MCP server chooses the text of its own errors and could imitate a refusal: such words never run commands.
    """
    words = authorship.rejection_words(text)
    if not words or t.other_agent:
        return
    words, quoted = pasted.unwrap(words)
    if tool and not tool.startswith("mcp__"):
        t.emit_typed(words, None, quoted, **t.here)
    else:
        t.emit(events.USER_MESSAGE, {"text": texts.whole(words)}, **t.here)


def _content_text(t: ClaudeTranslator, content: Any) -> str:
    """`content` is a string, a list of blocks, a list of bare strings, or absent."""
    if isinstance(content, str):
        return t.clean(content)
    if not isinstance(content, list):
        if content is not None and not isinstance(content, bool):
            t.keep_raw("tool_result.content", content, **t.here)
        return ""
    return t.clean("\n".join(part for part in (_part_text(t, item) for item in content) if part))


def _part_text(t: ClaudeTranslator, item: Any) -> str:
    if isinstance(item, str):
        return item
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "text" and isinstance(item.get("text"), str):
        return str(item["text"])
    if kind in ("image", "document"):
        return texts.media_text(media_of(item))
    if kind == "tool_reference" and isinstance(item.get("tool_name"), str):
        return str(item["tool_name"])
    t.keep_raw(f"tool_result.{text_of(kind) or 'block'}", item, **t.here)
    return ""


def media_of(block: Record) -> Record:
    """Facts about an image or document block, whatever its source."""
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
    media_type = text_of(source.get("media_type")) or ("image/*" if block.get("type") == "image" else None)
    name = text_of(block.get("title")) or text_of(source.get("url")) or text_of(source.get("file_id")) or None
    data = text_of(source.get("data")) or None
    if source.get("type") == "text" and data:
        return {**texts.media_facts(media_type, None, name), "size": len(data.encode("utf-8", "replace"))}
    return texts.media_facts(media_type, data, name)


def structured_result(extra: Record, text: str) -> Record:
    """`toolUseResult` without the fields that repeat the text, the call or whole files."""
    only_here = not text or text.startswith(_SPILLED)
    out: Record = {}
    for key, value in extra.items():
        if key in REPEATED_FIELDS and not (value and only_here and key in _SPILLED_FIELDS):
            continue
        if value is None or type(value) is bool or type(value) is int:
            out[key] = value
        # Read: the numbers are worth keeping, the file's content is the text.
        elif key == "file" and isinstance(value, dict):
            out[key] = {name: part for name, part in value.items() if not _bulky(name, part)}
        else:
            out[key] = lean(value)
    return out


def _bulky(name: str, value: Any) -> bool:
    return name in ("content", "base64", "cells") or isinstance(value, (dict, list))


def lean(value: Any, depth: int = 0) -> Any:
    """`value` without base64 data and opaque ciphertext, which no reader can use."""
    if isinstance(value, str):
        return texts.without_bytes(value)
    if isinstance(value, dict):
        if depth > _MAX_DEPTH:
            return "[too deep]"
        binary = value.get("type") == "base64" or "base64" in value
        return {
            key: lean(part, depth + 1)
            for key, part in value.items()
            if key not in ("base64", "encrypted_content") and not (binary and key == "data")
        }
    if isinstance(value, list):
        return [lean(part, depth + 1) for part in value] if depth <= _MAX_DEPTH else "[too deep]"
    return value
