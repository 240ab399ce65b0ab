"""Assistant lines: one API message is split over several lines, usually one content block each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kato_tui.core.model import events
from kato_tui.core.providers.base import Record, opt, text_of
from kato_tui.core.providers.claude import activity, decisions, prompt_queue, results
from kato_tui.core.providers.claude.memory import digest, new_part

if TYPE_CHECKING:
    from kato_tui.core.providers.claude.translator import ClaudeTranslator

#: The model name of lines that the harness writes itself.
SYNTHETIC: Final = "<synthetic>"
#: What older versions write for a message without text.
_NO_CONTENT: Final = "(no content)"
_EMPTY: Final = "empty assistant text"
_HIDDEN: Final = "thinking whose text is not in the log, only its signature"
_USAGE_FIELDS: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_NOTHING: Final = [0, 0, 0, 0]
#: Beyond any model; sums of it stay far below what JSON readers take.
_MAX_TOKENS: Final = 2**53
#: With a tool call to follow a text comments on the work; at the end of the turn it is the answer.
_PHASES: Final = {"tool_use": "commentary", "end_turn": "final"}


class _Line:
    """What the blocks of one line share."""

    __slots__ = ("dropped", "entry", "known", "phase", "repeated", "where")

    def __init__(self, t: ClaudeTranslator, message: Record, model: str | None, entry: Record | None) -> None:
        self.where: dict[str, Any] = {**t.here, "model": model}
        stop = message.get("stop_reason")
        self.phase = _PHASES.get(stop) if isinstance(stop, str) else None
        self.entry = entry
        self.known = len(entry["blocks"]) if entry else 0
        self.repeated = False
        self.dropped = _EMPTY


def translate(t: ClaudeTranslator, record: Record) -> None:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(message, dict) or not isinstance(content, list):
        t.keep_raw("assistant", record)
        return
    t.enter(record)
    if t.live:
        t.memory.answered = t.memory.records
        if t.memory.left:
            prompt_queue.settle(t)
    model = text_of(message.get("model")) or None
    if model == SYNTHETIC or record.get("isApiErrorMessage"):
        _harness_text(t, record, content)
        return
    entry = _count_usage(t, message)
    line = _Line(t, message, model, entry)
    for block in content:
        _block(t, block, line)
    if model and not t.sidechain:
        t.facts.saw_model(model)
    if t.live:
        t.facts.agent_state = activity.after_assistant(
            t.memory, message.get("stop_reason"), record.get("version"), _ends_in_text(content), t.time
        )
    if not t.emitted:
        if line.repeated:
            t.repeat("snapshot of a message already translated")
        else:
            t.drop(line.dropped)


def _ends_in_text(content: list[Any]) -> bool:
    """Some models open a message with a text of two newlines, which ends nothing."""
    last = content[-1] if content else None
    return isinstance(last, dict) and last.get("type") == "text" and bool(text_of(last.get("text")).strip())


def _harness_text(t: ClaudeTranslator, record: Record, content: list[Any]) -> None:
    """An API failure or another line in the assistant's name that no model wrote; the turn is over."""
    failed = bool(record.get("isApiErrorMessage"))
    for block in content:
        if isinstance(block, dict) and block.get("type") == "text":
            level = "error" if failed else "info"
            t.say(events.SYSTEM_MESSAGE, text_of(block.get("text")), "api-error" if failed else "synthetic", level)
        else:
            t.keep_raw("assistant.synthetic", block, **t.here)
    t.set_state(activity.idle)
    if not t.emitted:
        t.drop(_EMPTY)


def _block(t: ClaudeTranslator, block: Any, line: _Line) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    handler = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if handler is None and isinstance(kind, str) and kind.endswith(_SERVER_RESULT):
        handler = _server_tool_result
    if handler is None or not handler(t, block, line):
        t.keep_raw(f"assistant.{text_of(kind) or 'block'}", block, **line.where)


def _text(t: ClaudeTranslator, block: Record, line: _Line) -> bool:
    text = block.get("text")
    if not isinstance(text, str):
        return False
    return _prose(t, line, events.ASSISTANT_MESSAGE, "" if text.strip() == _NO_CONTENT else text)


def _thinking(t: ClaudeTranslator, block: Record, line: _Line) -> bool:
    text = block.get("thinking")
    if not isinstance(text, str):
        return False
    line.dropped = _HIDDEN
    return _prose(t, line, events.ASSISTANT_THINKING, text)


def _prose(t: ClaudeTranslator, line: _Line, kind: str, text: str) -> bool:
    if not text.strip():
        return True
    part = new_part(line.entry, line.known, kind, text) if line.entry is not None else text
    part = t.clean(part)
    if part.strip():
        payload: Record = {"text": part}
        if line.phase is not None and kind == events.ASSISTANT_MESSAGE:
            payload["phase"] = line.phase
        t.emit(kind, payload, **line.where)
    else:
        line.repeated = True
    return True


def _redacted(_t: ClaudeTranslator, _block: Record, line: _Line) -> bool:
    line.dropped = _HIDDEN
    return True


def _tool_use(t: ClaudeTranslator, block: Record, line: _Line) -> bool:
    call_id, name = block.get("id"), block.get("name")
    if not (isinstance(call_id, str) and call_id and isinstance(name, str) and name):
        return False
    if _told(line, events.TOOL_CALL, call_id):
        return True
    if t.live:
        t.memory.open_tool(call_id, name, t.time)
    tool_input = block.get("input")
    if decisions.ask(t, call_id, name, tool_input, line.where):
        return True
    payload: Record = {"toolCallId": call_id, "name": t.clean(name) or "tool"}
    description = tool_input.get("description") if isinstance(tool_input, dict) else None
    if description and isinstance(description, str):
        payload["description"] = t.clean(description)
    if tool_input is not None:
        payload["input"] = tool_input
    t.emit(events.TOOL_CALL, payload, **line.where)
    return True


def _told(line: _Line, kind: str, call_id: str) -> bool:
    """Whether an earlier snapshot of the message held this call or result. By hash: one id may begin with another."""
    if line.entry is None or new_part(line.entry, line.known, kind, digest(call_id)):
        return False
    line.repeated = True
    return True


def _server_tool_use(t: ClaudeTranslator, block: Record, line: _Line) -> bool:
    """A tool that runs at the API: its result comes as a block of the same message, so it is never open."""
    call_id, name = text_of(block.get("id")), text_of(block.get("name"))
    if not (call_id and name):
        return False
    if not _told(line, events.TOOL_CALL, call_id):
        payload = opt(toolCallId=call_id, name=t.clean(name) or "tool", input=block.get("input"))
        t.emit(events.TOOL_CALL, payload, **line.where)
    return True


def _server_tool_result(t: ClaudeTranslator, block: Record, line: _Line) -> bool:
    call_id = text_of(block.get("tool_use_id"))
    if not call_id:
        return False
    if not _told(line, events.TOOL_RESULT, call_id):
        payload = opt(toolCallId=call_id, json=results.lean(block.get("content")))
        t.emit(events.TOOL_RESULT, payload, **line.where)
    return True


_BLOCKS: Final[dict[str, Callable[[ClaudeTranslator, Record, _Line], bool]]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _tool_use,
    "server_tool_use": _server_tool_use,
}
#: Each tool at the API (web_search, web_fetch, advisor, code_execution, …) has a type of its own for its results.
_SERVER_RESULT: Final = "_tool_result"


def _count_usage(t: ClaudeTranslator, message: Record) -> Record | None:
    """Count a message's tokens once and return what is known of it.

    Its lines repeat the usage, the first ones with placeholders: what counts is the most that any line says.
    Side chains in old main files are real spend; copies and re-appended lines are not.
    """
    message_id = text_of(message.get("id"))
    entry = t.memory.message(message_id) if message_id else None
    known = entry is not None
    if entry is None and message_id:
        entry = t.memory.begin_message(message_id)
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return entry
    now = _counts(usage)
    if t.live and now != _NOTHING:
        t.facts.context_tokens = now[0] + now[2] + now[3]
    before = entry["usage"] if entry is not None else _NOTHING
    most = list(map(max, now, before)) if known and now != before else now
    if most == before:
        return entry
    if entry is not None:
        entry["usage"] = most
    if not t.here["copied"] and (known or not t.reappended):
        gained = list(map(int.__sub__, most, before)) if known else most
        t.facts.usage.add(gained[0], gained[1], gained[2], gained[3], 0, sum(gained))
    return entry


def _counts(usage: Record) -> list[int]:
    given = list(map(usage.get, _USAGE_FIELDS))
    for value in given:
        if type(value) is not int or not 0 <= value < _MAX_TOKENS:
            return [one if type(one) is int and 0 <= one < _MAX_TOKENS else 0 for one in given]
    return given  # type: ignore[return-value]
