"""Who wrote the text of a `user` message: the person, or the CLI on its own behalf."""

from __future__ import annotations

import re
from typing import Final

#: Text that the CLI puts into user turns, by how it begins. Upstream's own list views skip the same ones
#: (`sessionUtils.ts`); each becomes a provider.info of this subtype.
INJECTED: Final[dict[str, str]] = {
    "<session_context>": "session-context",
    "<hook_context>": "hook-context",
    "<state_snapshot>": "compaction-summary",
    "This is the Gemini CLI. We are setting up the context for our chat.": "session-context",
    "System: Please continue.": "continue",
    # 2025 documents hold the tool results of @-mentions as user text.
    "[Function Response: ": "function-response",
    "Here is the user's editor context": "ide-context",
    "Here is a summary of changes in the user's editor context": "ide-context",
}
_STARTS: Final = tuple(INJECTED)

#: Turns of these subtypes are answered by the model; the others only set the scene.
PROMPTING: Final = frozenset({"typed", "continue", "function-response", "slash-command"})

#: The model's half of a bootstrap or compaction pair, which the CLI writes itself: no tokens were spent on it.
ACKNOWLEDGED: Final = frozenset({"Got it. Thanks for the context!", "Got it. Thanks for the additional context!"})

#: What the user typed ends here when `@file` was expanded and no `displayContent` keeps the original (before 0.28).
_REFERENCED: Final = "\n--- Content from referenced files ---"

#: A slash command that reached the chat as plain content. A path such as `/etc/hosts is empty` is the user's text.
_SLASH: Final = re.compile(r"/[A-Za-z][\w:.-]*(?=\s|$)|\?\s*$")

_WORKING_IN: Final = re.compile(
    r"I'm currently working in the directory: *(/[^\n]+|[A-Za-z]:\\[^\n]+)"
    r"|Workspace Directories:\**\s*\n\s*- +(/[^\n]+|[A-Za-z]:\\[^\n]+)"
)
_CONTEXT_REACH: Final = 8192


def injected(text: str) -> str | None:
    """The subtype of a text part that a person did not write, or None."""
    start = text[:200].lstrip()
    if not start.startswith(_STARTS):
        return None
    return next(subtype for prefix, subtype in INJECTED.items() if start.startswith(prefix))


def is_slash_command(text: str) -> bool:
    return _SLASH.match(text[:200].lstrip()) is not None


def split_references(text: str) -> tuple[str, str]:
    """What was typed, and the file contents that the CLI appended to it."""
    at = text.find(_REFERENCED) if _REFERENCED in text else -1
    return (text, "") if at < 0 else (text[:at], text[at + 1 :])


def working_directory(context: str) -> str | None:
    """The directory that a session context names: main chats have no `directories` of their own."""
    match = _WORKING_IN.search(context[:_CONTEXT_REACH])
    return (match[1] or match[2]).strip() if match else None
