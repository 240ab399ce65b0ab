"""Agent state from the records alone (spec §10). The last meaningful record decides; no clock takes part."""

from __future__ import annotations

import re
from typing import Any, Final

from kato_tui.core.model.facts import AgentState
from kato_tui.core.providers.claude.memory import Memory

#: Tools that wait for the user.
DECISION_TOOLS: Final = frozenset(("AskUserQuestion", "ExitPlanMode"))
#: `stop_reason`s after which the assistant says nothing more by itself.
TURN_ENDS: Final = frozenset(("end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded"))
_VERSION: Final = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
#: Since this version every line of a message carries the final stop reason, so null means "still streaming".
_STOP_REASON_SINCE: Final = (2, 1, 98)


def idle(memory: Memory, since: str | None) -> AgentState:
    """The turn is over: calls without a result will not get one."""
    memory.open.clear()
    return AgentState("needs-you", "idle", None, since)


def prompted(memory: Memory, since: str | None) -> AgentState:
    """A prompt of its own line starts a new turn; calls still open belong to one that died."""
    memory.open.clear()
    return AgentState("working", "thinking", None, since)


def busy(memory: Memory, since: str | None) -> AgentState:
    """Within a turn: waiting for an answer, for a tool, or for the model."""
    if not memory.open:
        return AgentState("working", "thinking", None, since)
    acting: AgentState | None = None
    for name, started in reversed(memory.open.values()):
        if name in DECISION_TOOLS:
            return AgentState("needs-you", "decision", name, started)
        acting = acting or AgentState("working", "acting", name, started)
    return acting or AgentState("working", "thinking", None, since)


def after_assistant(memory: Memory, stop: Any, version: Any, ends_in_text: bool, since: str | None) -> AgentState:
    """The state after a line of an assistant message.

    Older versions leave `stop_reason` null on most lines, the last one of a turn included. There a text with no
    call open counts as the end of the turn: wrong for the moment until a tool call of the same message is
    written, whereas the other choice would be wrong for good. The line's own version tells which rule holds, so
    that the tail of a log is enough.
    """
    if isinstance(stop, str) and stop in TURN_ENDS:
        return idle(memory, since)
    if not memory.open and stop is None and ends_in_text and not _writes_stop_reasons(version):
        return idle(memory, since)
    return busy(memory, since)


def _writes_stop_reasons(version: Any) -> bool:
    match = _VERSION.match(version) if isinstance(version, str) else None
    return match is not None and tuple(map(int, match.groups())) >= _STOP_REASON_SINCE
