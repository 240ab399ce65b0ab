"""`item_completed`: the mirrors of paginated logs (>= 0.147). Item types are PascalCase, their content snake_case."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, only_list, only_text, text_of
from kato_tui.core.providers.codex import calls, messages, notices, outputs, wrappers

if TYPE_CHECKING:
    from kato_tui.core.providers.codex.translator import CodexTranslator, Handler

_PREFIX: Final = "event_msg.item_completed."


def user_message(t: CodexTranslator, item: Record) -> None:
    text: list[str] = []
    media: list[Record] = []
    paths: list[str] = []
    for block in only_list(item.get("content")):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            text.append(only_text(block.get("text")))
        elif kind in ("image", "audio"):
            media.append(wrappers.image_facts(block))
        elif kind in ("local_image", "local_audio"):
            paths.append(text_of(block.get("path")))
        elif kind not in ("skill", "mention"):
            # A skill or mention names what the text already mentions.
            t.keep_block(f"UserMessage content {kind}", block)
    t.paginated = True
    messages.confirm_user(t, "".join(text), media, paths, "i")


def agent_message(t: CodexTranslator, item: Record) -> None:
    t.paginated = True
    blocks = [only_text(block["text"]) for block in only_list(item.get("content"))]
    messages.assistant_said(t, ["".join(blocks)], item.get("phase"), "i", text_of(item.get("id")))


def reasoning(t: CodexTranslator, item: Record) -> None:
    sections = only_list(item.get("summary_text")) + only_list(item.get("raw_content"))
    messages.thought(t, [only_text(section) for section in sections], "i")


def plan(t: CodexTranslator, item: Record) -> None:
    """The plan that the response item holds as `<proposed_plan>`; legacy logs write this item too."""
    messages.assistant_said(t, [only_text(item.get("text"))], "plan", "i")


def hook_prompt(t: CodexTranslator, item: Record) -> None:
    fragments = [only_text(fragment["text"]) for fragment in only_list(item.get("fragments"))]
    for fragment in fragments:
        messages.hook_prompt(t, fragment, "i")
    t.drop("empty hook prompt")


def sleep(t: CodexTranslator, item: Record) -> None:
    duration = item.get("duration_ms")
    t.notice(events.PROVIDER_INFO, f"Slept {duration} ms" if isinstance(duration, int) else "Slept", "sleep")


def _tool(describe: calls.Describe, fields: calls.Result) -> Handler:
    def handler(t: CodexTranslator, item: Record) -> None:
        if item.get("source") in ("user_shell", "userShell"):
            t.repeat("the <user_shell_command> record tells it")
        else:
            calls.described(t, item, "i", describe, fields)

    return handler


_ITEMS: Final[dict[str, Callable[[CodexTranslator, Record], None]]] = {
    "UserMessage": user_message,
    "AgentMessage": agent_message,
    "Reasoning": reasoning,
    "Plan": plan,
    "HookPrompt": hook_prompt,
    "Sleep": sleep,
    "CommandExecution": _tool(calls.exec_command, outputs.of_command),
    "FileChange": _tool(calls.patch, outputs.of_patch),
    "McpToolCall": _tool(calls.mcp, outputs.of_mcp),
    "DynamicToolCall": _tool(calls.dynamic, outputs.of_dynamic),
    "CollabAgentToolCall": _tool(calls.collab, outputs.of_rest),
    "ImageView": _tool(calls.view_image, outputs.of_rest),
    "ImageGeneration": calls.image_generation_call,
    "WebSearch": calls.web_search_end,
    "SubAgentActivity": notices.sub_agent_activity,
    "EnteredReviewMode": notices.entered_review,
    "ExitedReviewMode": notices.exited_review,
    "ContextCompaction": notices.context_compaction_item,
}


def _on_item(handler: Handler) -> Handler:
    def on_payload(t: CodexTranslator, body: Record) -> None:
        handler(t, body["item"])

    return on_payload


HANDLERS: Final[dict[str, Handler]] = {_PREFIX + name: _on_item(handler) for name, handler in _ITEMS.items()}
