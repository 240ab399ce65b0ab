"""Builders for Gemini chats: the smallest records that show a case, as JSONL lines or as a whole document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from kato_tui.core.providers.base import Draft, Layout, Record, SourceFile, SourceKind, Translator
from kato_tui.core.providers.gemini import Gemini

SESSION = "5e551017-0000-4000-8000-000000000001"


def at(minute: int, second: int = 0) -> str:
    return f"2026-07-02T09:{minute:02}:{second:02}.000Z"


def header(session: str = SESSION, **fields: Any) -> Record:
    return {"sessionId": session, "projectHash": "ab" * 32, "startTime": at(0), "lastUpdated": at(0), **fields}


def user(text: str, id: str = "u1", minute: int = 1, **fields: Any) -> Record:
    return {"id": id, "timestamp": at(minute), "type": "user", "content": [{"text": text}], **fields}


def gemini(text: Any = "", id: str = "g1", minute: int = 2, **fields: Any) -> Record:
    return {"id": id, "timestamp": at(minute), "type": "gemini", "content": text, "model": "gemini-3-pro", **fields}


def notice(kind: str, text: str, id: str = "n1", minute: int = 3) -> Record:
    return {"id": id, "timestamp": at(minute), "type": kind, "content": text}


def thought(subject: str, description: str) -> Record:
    return {"subject": subject, "description": description, "timestamp": at(1, 30)}


def tokens(input: int, output: int, cached: int = 0, thoughts: int = 0, tool: int = 0) -> Record:
    return {
        "input": input,
        "output": output,
        "cached": cached,
        "thoughts": thoughts,
        "tool": tool,
        "total": input + output + thoughts + tool,
    }


def response(id: str, output: str, name: str = "read_file", **more: Any) -> Record:
    return {"functionResponse": {"id": id, "name": name, "response": {"output": output, **more}}}


def call(id: str = "c1", name: str = "read_file", output: str | None = "1\n", **fields: Any) -> Record:
    """A tool call that ended well, or one without a result (output None)."""
    record: Record = {"id": id, "name": name, "args": {"file_path": "a.py"}}
    if output is not None:
        record |= {"result": [response(id, output, name)], "status": "success", "timestamp": at(2, 5)}
    return {**record, **fields}


def ask(*questions: Record, id: str = "q1", output: str | None = None, **fields: Any) -> Record:
    return call(id, "ask_user", output, args={"questions": list(questions)}, **fields)


def question(text: str, *labels: str, **fields: Any) -> Record:
    options = [{"label": label, "description": f"about {label}"} for label in labels]
    return {"question": text, "header": "Pick", "type": "choice", "options": options, **fields}


def results(*parts: Record, id: str = "r1", minute: int = 3) -> Record:
    """Tool responses as the user turn that 0.44 and later store beside the tool calls."""
    return {"id": id, "timestamp": at(minute), "type": "user", "content": list(parts)}


def updated(minute: int = 4) -> Record:
    return {"$set": {"lastUpdated": at(minute)}}


def replaced(*messages: Record) -> Record:
    return {"$set": {"messages": list(messages), "lastUpdated": at(9)}}


def rewind(id: str) -> Record:
    return {"$rewindTo": id}


def document(*messages: Record, **fields: Any) -> Record:
    return {**header(), **fields, "messages": list(messages)}


def lines(*records: Record) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def source(layout: Layout = "lines", kind: SourceKind = "main", parent: str | None = None) -> SourceFile:
    return SourceFile("gemini", SESSION, Path("/chats/session-x"), kind=kind, layout=layout, parent=parent)


def translator(layout: Layout = "lines", kind: SourceKind = "main") -> Translator:
    made = Gemini().translator(source(layout, kind))
    made.tally = {}
    return made


def fed(*records: Record, into: Translator | None = None) -> tuple[list[Draft], Translator]:
    """The drafts of a JSONL with these records, and the translator that made them."""
    made = into or translator()
    drafts = [
        draft for number, line in enumerate(lines(*records).split(b"\n")[:-1]) for draft in made.feed(line, number)
    ]
    return drafts, made


def fed_document(value: Record) -> tuple[list[Draft], Translator]:
    made = translator("document")
    drafts = made.feed_document(orjson.dumps(value))
    assert drafts is not None
    return drafts, made


def conversation(prompt: str, reply: str, session: str = SESSION) -> list[Record]:
    return [header(session), user(prompt), gemini(reply)]
