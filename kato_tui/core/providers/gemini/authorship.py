"""Who wrote the text of a `user` message: the person, or the CLI on its own behalf."""

from __future__ import annotations

import re
from typing import Any, Final

#: Text that the CLI puts into user turns, by how it begins. Upstream's own list views skip the same ones
#: (`sessionUtils.ts`); each becomes a provider.info of this subtype.
INJECTED: Final[dict[str, str]] = {
    "<session_context>": "session-context",
    "<hook_context>": "hook-context",
    "<state_snapshot>": "compaction-summary",
    "This is the Gemini CLI. We are setting up the context for our chat.": "session-context",
    "System: Please continue.": "continue",
    "System: Potential loop detected.": "loop-detected",
    # Shell mode (`!ls`): the output of the command, which may hold any text, stands in the user's name.
    "I ran the following shell command:": "shell-command",
    # 2025 documents hold the tool results of @-mentions as user text.
    "[Function Response: ": "function-response",
    "Here is the user's editor context": "ide-context",
    "Here is a summary of changes in the user's editor context": "ide-context",
}
_STARTS: Final = tuple(INJECTED)

#: Turns of these subtypes are answered by the model; the others only set the scene.
PROMPTING: Final = frozenset({"typed", "continue", "loop-detected", "function-response", "slash-command"})

#: What the CLI says in the model's place, and its subtype: no tokens were spent on it.
FOR_THE_MODEL: Final[dict[str, str]] = {
    "Got it. Thanks for the context!": "context-acknowledged",
    "Got it. Thanks for the additional context!": "context-acknowledged",
    "[The previous response was interrupted before it completed.]": "interrupted",
}
#: The end of what a hook added. Without a terminal the prompt follows in the same text.
_HOOK_END: Final = "</hook_context>"

#: What the user typed ends here when `@file` was expanded and no `displayContent` keeps the original (before 0.28).
_REFERENCED: Final = "\n--- Content from referenced files ---"

#: A slash command that reached the chat as plain content. A path such as `/etc/hosts is empty` is the user's text.
_SLASH: Final = re.compile(r"/[A-Za-z][\w:.-]*(?=\s|$)|\?\s*$")

_WORKING_IN: Final = re.compile(
    r"I'm currently working in the directory: *(/[^\n]+|[A-Za-z]:\\[^\n]+)"
    r"|Workspace Directories:\**\s*\n\s*- +(/[^\n]+|[A-Za-z]:\\[^\n]+)"
)
_CONTEXT_REACH: Final = 8192
_MAX_PATH: Final = 4096


def injected(text: str) -> str | None:
    """The subtype of a text part that a person did not write, or None."""
    start = text[:200].lstrip()
    if not start.startswith(_STARTS):
        return None
    return next(subtype for prefix, subtype in INJECTED.items() if start.startswith(prefix))


def split_hook(text: str) -> tuple[str, str]:
    """What a hook put before a prompt, and the prompt. The last end counts: nothing a hook wrote is the user's."""
    if not text[:200].lstrip().startswith("<hook_context>"):
        return "", text
    at = text.rfind(_HOOK_END) + len(_HOOK_END)
    return (text, "") if at < len(_HOOK_END) else (text[:at], text[at:].removeprefix("\n\n"))


def is_slash_command(text: str) -> bool:
    return _SLASH.match(text[:200].lstrip()) is not None


def split_references(text: str) -> tuple[str, str]:
    """What was typed, and the file contents that the CLI appended to it."""
    at = text.find(_REFERENCED) if _REFERENCED in text else -1
    return (text, "") if at < 0 else (text[:at], text[at + 1 :])


def working_directory(context: str) -> str | None:
    """The directory that a session context names: main chats have no `directories` of their own."""
    match = _WORKING_IN.search(context[:_CONTEXT_REACH])
    return folder((match[1] or match[2]).strip()) if match else None


def folder(value: Any) -> str | None:
    """An absolute path as a log names it; None for anything that cannot be one."""
    if not isinstance(value, str) or len(value) > _MAX_PATH:
        return None
    return value if value.startswith("/") or value[1:3] in (":\\", ":/") else None
