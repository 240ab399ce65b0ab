"""The session a Gemini file belongs to, from its first bytes alone: its name holds only 8 characters of the id."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from kato_tui.core.providers.base import Layout
from kato_tui.core.providers.parsing import parse

#: A half-written or cut document does not parse, but its header keys stand before the messages.
_SESSION_ID: Final = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')
_KIND: Final = re.compile(rb'"kind"\s*:\s*"([a-z]{1,20})"')
#: The header is line 1, or soon after it where a writer put bootstrap records first.
_MAX_LINES: Final = 50


@dataclass(frozen=True, slots=True)
class Head:
    session_id: str
    kind: str
    #: How the bytes are laid out, whatever the file is called: legacy JSON may stand in a `.jsonl`.
    layout: Layout
    #: `projectHash` stands in every header and in no other assistant's log.
    hashed: bool


def read(data: bytes) -> Head | None:
    """The header in the first bytes of a file, or None when there is none (yet)."""
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not data.startswith(b"{"):
        return None
    first, newline, _ = data.partition(b"\n")
    if newline and isinstance(_complete(first), dict):
        return _from_lines(data)
    whole = _complete(data)
    if isinstance(whole, dict):
        # One line without its newline: complete as a document, and nothing more may ever come.
        return _from_record(whole, "document" if "messages" in whole or newline else "lines")
    # A first line that was torn by a crash is followed by whole ones; those of a document are no records.
    return (_from_lines(data) if newline else None) or _from_cut(data, "document" if newline else "lines")


def _complete(data: bytes) -> Any:
    """The value, where the bytes can hold a whole one at all: finding out that a cut document has no end is slow."""
    return parse(data) if data.rstrip().endswith(b"}") else None


def holds_messages(data: bytes) -> bool:
    """Whether the first lines hold a model's message as only this format writes it: for logs without a header."""
    for line in data.split(b"\n", _MAX_LINES)[:_MAX_LINES]:
        record = parse(line) if b'"gemini"' in line else None
        if isinstance(record, dict) and record.get("type") == "gemini" and isinstance(record.get("id"), str):
            return True
    return False


def _from_lines(data: bytes) -> Head | None:
    for line in data.split(b"\n", _MAX_LINES)[:_MAX_LINES]:
        record = parse(line) if b'"sessionId"' in line else None
        if isinstance(record, dict):
            found = _from_record(record, "lines")
            if found is None and isinstance(record.get("$set"), dict):
                found = _from_record(record["$set"], "lines")
            if found is not None:
                return found
    return None


def _from_record(record: dict[str, Any], layout: Layout) -> Head | None:
    session_id, kind = record.get("sessionId"), record.get("kind")
    if not isinstance(session_id, str) or not session_id:
        return None
    return Head(session_id, kind if isinstance(kind, str) else "", layout, "projectHash" in record)


def _from_cut(data: bytes, layout: Layout) -> Head | None:
    end = data.find(b'"messages"')
    header = data if end < 0 else data[:end]
    match = _SESSION_ID.search(header)
    if match is None:
        return None
    kind = _KIND.search(header)
    session_id = match[1].decode("utf-8", "replace")
    return Head(session_id, kind[1].decode() if kind else "", layout, b'"projectHash"' in header)
