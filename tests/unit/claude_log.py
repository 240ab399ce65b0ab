"""Builders for Claude Code transcripts: the smallest records that the real program could have written."""

from __future__ import annotations

from typing import Any

import orjson

Record = dict[str, Any]

SESSION = "0f0f0f0f-0000-4000-8000-000000000001"
#: Before and after every line of a message carried its final stop reason.
OLD = "1.0.51"
NEW = "2.1.252"


def at(second: int) -> str:
    return f"2026-08-30T08:{second // 60 % 60:02}:{second % 60:02}.000Z"


def chain(kind: str, uuid: str = "u1", second: int = 0, **fields: Any) -> Record:
    """A record of the conversation with its envelope."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "uuid": uuid,
        "timestamp": at(second),
        "cwd": "/w",
        "sessionId": SESSION,
        "version": NEW,
        "gitBranch": "main",
        **fields,
    }


def user(content: Any, uuid: str = "u1", second: int = 0, **fields: Any) -> Record:
    return chain("user", uuid, second, message={"role": "user", "content": content}, **fields)


def typed(content: Any, uuid: str = "u1", second: int = 0, **fields: Any) -> Record:
    return user(content, uuid, second, origin={"kind": "human"}, promptSource="typed", **fields)


def assistant(
    *blocks: Record,
    uuid: str = "a1",
    second: int = 1,
    message: str = "msg_1",
    stop: str | None = None,
    usage: Record | None = None,
    **fields: Any,
) -> Record:
    body = {
        "id": message,
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": usage or {"input_tokens": 1, "output_tokens": 2},
    }
    return chain("assistant", uuid, second, message=body, **fields)


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def thinking(words: str) -> Record:
    return {"type": "thinking", "thinking": words, "signature": "sig"}


def call(call_id: str = "toolu_1", name: str = "Bash", **tool_input: Any) -> Record:
    return {"type": "tool_use", "id": call_id, "name": name, "input": tool_input}


def image(data: str = "aGVsbG8=") -> Record:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def result(
    content: Any, call_id: str = "toolu_1", uuid: str = "r1", second: int = 2, error: bool | None = None, **fields: Any
) -> Record:
    block: Record = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if error is not None:
        block["is_error"] = error
    return user([block], uuid, second, **fields)


def question(words: str, *labels: str, multi: bool = False) -> Record:
    options = [{"label": label, "description": f"about {label}"} for label in labels]
    return {"question": words, "header": words[:12], "multiSelect": multi, "options": options}


def refusal(words: str = "") -> str:
    start = "The user doesn't want to proceed with this tool use. The tool use was rejected. "
    return start + (f"To tell you how to proceed, the user said:\n{words}" if words else "STOP and wait.")


def queue(operation: str, content: Any = None, second: int = 3, **fields: Any) -> Record:
    record: Record = {"type": "queue-operation", "operation": operation, "timestamp": at(second), "sessionId": SESSION}
    return {**record, **fields} if content is None else {**record, "content": content, **fields}


def attachment(kind: str, uuid: str = "at1", second: int = 4, **fields: Any) -> Record:
    return chain("attachment", uuid, second, attachment={"type": kind, **fields})


def queued(prompt: Any, uuid: str = "at1", second: int = 4) -> Record:
    return attachment("queued_command", uuid, second, prompt=prompt, commandMode="prompt", origin={"kind": "human"})


def system(subtype: str | None = None, uuid: str = "s1", second: int = 5, **fields: Any) -> Record:
    named = {} if subtype is None else {"subtype": subtype}
    return chain("system", uuid, second, **named, **fields)


def title(kind: str, words: str) -> Record:
    field = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}[kind]
    return {"type": kind, field: words, "sessionId": SESSION}


def lines(*records: Record) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def conversation(prompt: str, reply: str) -> list[Record]:
    return [typed(prompt), assistant(text(reply), stop="end_turn")]
