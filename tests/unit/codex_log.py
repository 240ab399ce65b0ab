"""Builders for Codex rollouts: each function gives one record, `lines` makes a log of them."""

from __future__ import annotations

import json
from typing import Any

import orjson

Record = dict[str, Any]

THREAD = "019a0000-0000-7000-8000-000000000001"
PARENT = "01990000-0000-7000-8000-000000000009"
TURN = "019a0000-1000-7000-8000-000000000002"
TIME = "2026-05-01T10:00:00.000Z"


def lines(*records: Record) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def line(kind: str, payload: Record, at: str = TIME, ordinal: int | None = None) -> Record:
    record: Record = {"timestamp": at}
    if ordinal is not None:
        record["ordinal"] = ordinal
    return record | {"type": kind, "payload": payload}


def meta(thread: str = THREAD, at: str = TIME, **fields: Any) -> Record:
    payload = {"id": thread, "timestamp": TIME, "cwd": "/w", "cli_version": "0.140.0", "source": "cli"} | fields
    return line("session_meta", payload, at)


def event(kind: str, at: str = TIME, **fields: Any) -> Record:
    return line("event_msg", {"type": kind} | fields, at)


def item(kind: str, at: str = TIME, **fields: Any) -> Record:
    return line("response_item", {"type": kind} | fields, at)


def completed(kind: str, at: str = TIME, **fields: Any) -> Record:
    return event("item_completed", at, item={"type": kind} | fields, turn_id=TURN)


def context(model: str = "gpt-5.5", **fields: Any) -> Record:
    return line("turn_context", {"turn_id": TURN, "cwd": "/w", "model": model} | fields)


def started(turn: str = TURN, at: str = TIME, **fields: Any) -> Record:
    return event("task_started", at, turn_id=turn, **fields)


def done(turn: str = TURN, at: str = TIME) -> Record:
    return event("task_complete", at, turn_id=turn)


def user_item(text: str, at: str = TIME, kinds: list[str] | None = None, **fields: Any) -> Record:
    if kinds is not None:
        fields["internal_chat_message_metadata_passthrough"] = {"turn_id": TURN, "content_item_kinds": kinds}
    return item("message", at, role="user", content=[{"type": "input_text", "text": text}], **fields)


def user_event(text: str, at: str = TIME, **fields: Any) -> Record:
    return event("user_message", at, message=text, **fields)


def prompt(text: str, at: str = TIME) -> list[Record]:
    """A prompt as legacy logs write it: the response item, then its event."""
    return [user_item(text, at), user_event(text, at)]


def assistant_item(text: str, phase: str | None = None, at: str = TIME, **fields: Any) -> Record:
    if phase:
        fields["phase"] = phase
    return item("message", at, role="assistant", content=[{"type": "output_text", "text": text}], **fields)


def agent_event(text: str, phase: str | None = None, at: str = TIME) -> Record:
    return event("agent_message", at, message=text, phase=phase)


def call(call_id: str, name: str = "exec_command", arguments: Any = None, at: str = TIME) -> Record:
    return item("function_call", at, call_id=call_id, name=name, arguments=json.dumps(arguments or {}))


def output(call_id: str, text: Any, at: str = TIME) -> Record:
    return item("function_call_output", at, call_id=call_id, output=text)


def tokens(total: int, cached: int = 0, out: int = 0, last: int | None = None) -> Record:
    usage = {"input_tokens": total - out, "cached_input_tokens": cached, "output_tokens": out, "total_tokens": total}
    recent = {"input_tokens": last or total, "total_tokens": last or total}
    info = {"total_token_usage": usage, "last_token_usage": recent, "model_context_window": 1000}
    return event("token_count", info=info)


def bare_meta(thread: str = THREAD) -> Record:
    return {"id": thread, "timestamp": TIME, "instructions": None}


def bare(record: Record) -> Record:
    """A response item as Rust <= 0.31 wrote it: without an envelope."""
    payload: Record = record["payload"]
    return payload


def conversation(words: str, reply: str, thread: str = THREAD) -> list[Record]:
    """One legacy turn: what the user said and what came back."""
    answer = [assistant_item(reply, "final_answer"), agent_event(reply, "final_answer")]
    return [meta(thread), context(), started(), *prompt(words), *answer, done()]
