"""Tool calls, their results, and the questions among them, as twin events.

Every event here carries the call's id and the type `tool`, wherever it stands in the log: a call in `toolCalls[]`,
in a functionCall part or in a later copy of its message is one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kato_tui.core.model import events
from kato_tui.core.model.facts import AgentState
from kato_tui.core.providers.base import Record, opt, text_of
from kato_tui.core.providers.gemini import content as parts
from kato_tui.core.providers.gemini import decisions, tools

if TYPE_CHECKING:
    from kato_tui.core.providers.gemini.messages import Message
    from kato_tui.core.providers.gemini.translate import GeminiTranslator

TOOL: Final = "tool"
#: Questions whose answer has not come yet are remembered, this many calls of them.
MAX_ASKED: Final = 8


def told(t: GeminiTranslator, message: Message, model: str | None, entries: list[Any]) -> AgentState | None:
    """Tell the tool calls of a model turn (its `toolCalls`, and those that only its content lists); the state they
    leave the agent in, or None when there are none."""
    known: list[tuple[str, Record]] = []
    for index, call in enumerate(entries):
        if not isinstance(call, dict) or not ("name" in call or "id" in call):
            t.keep_raw("toolCall", call, **message.where())
            continue
        identifier = tools.call_id(call, index, message.id)
        known.append((identifier, call))
    # After a sync the content lists the same calls as parts; those that `toolCalls` has are not told twice.
    ids, names = {identifier for identifier, _ in known}, {tools.name(call) for _, call in known}
    for index, call in enumerate(message.content.calls):
        identifier = tools.call_id(call, index, message.id)
        if identifier not in ids and (call.get("id") or tools.name(call) not in names):
            known.append((identifier, call))
    for identifier, call in known:
        _one(t, message, identifier, call, model)
    return _state([call for _, call in known], message.timestamp) if known else None


def _one(t: GeminiTranslator, message: Message, identifier: str, call: Record, model: str | None) -> None:
    time = (parts.iso(call.get("timestamp")) or message.timestamp) if message.timestamp else None
    where = message.where(event_type=TOOL, event_id=identifier, timestamp=time)
    if time and message.news:
        t.facts.saw_time(time)
    new = t.seen.new_call(identifier) and not message.copied
    name = tools.name(call)
    asked = decisions.questions(name, call.get("args")) if name in decisions.TOOLS else None
    if asked:
        for payload in decisions.prompts(identifier, asked):
            t.tell_once(events.ASSISTANT_DECISION, payload, message, **where, model=model)
    else:
        payload = tools.call_payload(identifier, call)
        t.tell_once(events.TOOL_CALL, payload, message, **where, model=model, counts=new)
    if not tools.ended(call):
        if asked:
            t.ask(identifier, decisions.remembered(asked))
        return
    payload = tools.result_payload(identifier, call)
    cancelled = text_of(call.get("status")) == "cancelled"
    _result(t, message, name, payload, asked, where, cancelled=cancelled)


def responses(t: GeminiTranslator, message: Message) -> bool:
    """Tell the tool results that a user turn holds as functionResponse parts; whether there are any."""
    for index, response in enumerate(message.content.responses):
        identifier = tools.call_id(response, index, message.id)
        where = message.where(event_type=TOOL, event_id=identifier)
        found = tools.read_response(response)
        payload = opt(
            toolCallId=identifier,
            text=found.text or None,
            json=found.structured or None,
            isError=True if found.failed else None,
        )
        kept = t.asked.get(parts.name_of(identifier)) if t.asked else None
        asked = decisions.recalled(kept) if kept is not None else None
        _result(t, message, tools.name(response), payload, asked, where, cancelled=False)
    return bool(message.content.responses)


def _result(
    t: GeminiTranslator,
    message: Message,
    name: str,
    payload: Record,
    asked: list[decisions.Question] | None,
    where: dict[str, Any],
    *,
    cancelled: bool,
) -> None:
    identifier = payload["toolCallId"]
    answers = None
    if asked is not None:
        answers = decisions.responses(name, identifier, asked, payload.get("text", ""), cancelled=cancelled)
        # Kept until pushed out: the same answer may come again in a message of its own.
        t.ask(identifier, decisions.remembered(asked))
    if answers is not None:
        for answer in answers:
            t.tell_once(events.USER_DECISION, answer, message, **where)
        return
    if "text" in payload:
        payload["text"] = t.clean(payload["text"])
    t.tell_once(events.TOOL_RESULT, payload, message, **where)


def _state(known: list[Record], since: str | None) -> AgentState:
    for call in known:
        if tools.ended(call):
            continue
        time = parts.iso(call.get("timestamp")) or since
        name = tools.name(call)
        if name in decisions.TOOLS:
            return AgentState("needs-you", "decision", name, time)
        return AgentState("working", "acting", name, time)
    if all(call.get("status") == "cancelled" for call in known):
        # With every call refused the CLI sends nothing back to the model: the turn is over.
        return AgentState("needs-you", "idle", None, since)
    return AgentState("working", "thinking", None, parts.iso(known[-1].get("timestamp")) or since)
