"""Tool calls of a Gemini message: `toolCalls[]` entries, and the functionCall / functionResponse parts they mirror."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from kato_tui.core import text as texts
from kato_tui.core.providers.base import Record, opt, text_of
from kato_tui.core.providers.gemini import content as parts

#: The CLI records a call when it has ended. Only these statuses say so; `completed` is a fork's word for success.
FAILED: Final[dict[str, bool]] = {"success": False, "completed": False, "error": True, "cancelled": True}

#: Fields of a structured `resultDisplay` that are left out: the whole file before and after an edit, which
#: `fileDiff` already shows, and which made up half of the largest real chat.
DISPLAY_LEFT_OUT: Final[dict[str, str]] = {
    "originalContent": "the file before the edit: fileDiff holds the change",
    "newContent": "the file after the edit: fileDiff holds the change",
}

#: Since 0.29 old outputs are replaced by a pointer to a spilled file; what was displayed is then the better text.
_MASKED: Final = "<tool_output_masked>"
#: What a functionResponse is known to hold.
_RESPONSE_KEYS: Final = frozenset({"id", "name", "response", "parts"})
#: Without a description of its own a call carries the tool's manual, thousands of characters long.
_MAX_DESCRIPTION: Final = 200


@dataclass(slots=True)
class Printed:
    """What the result parts of one call hold."""

    pieces: list[str] = field(default_factory=list)
    extra: Record = field(default_factory=dict)
    #: Parts that are neither text nor a file.
    odd: list[Any] = field(default_factory=list)
    failed: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.pieces)

    @property
    def structured(self) -> Record:
        return {**self.extra, "parts": self.odd} if self.odd else self.extra


def call_id(call: Record, index: int, message_id: str | None) -> str:
    """The provider's id of a call; where it gives none, the call's place in its message."""
    given = call.get("id")
    if isinstance(given, str) and given:
        return given
    return f"{message_id or parts.digest(name(call), repr(call.get('args')))}:{index}"


def name(call: Record) -> str:
    return parts.label(call.get("name")) or "unnamed"


def call_payload(identifier: str, call: Record) -> Record:
    described = text_of(call.get("description")) or text_of(call.get("displayName"))
    return opt(
        toolCallId=identifier,
        name=name(call),
        description=texts.one_line(described, _MAX_DESCRIPTION) or None,
        input=parts.without_bytes(call.get("args")),
    )


def ended(call: Record) -> bool:
    return text_of(call.get("status")) in FAILED or call.get("result") is not None


def result_payload(identifier: str, call: Record) -> Record:
    """The `assistant.tool.result` of an ended call (text not cleaned yet)."""
    result = printed(call.get("result"), identifier)
    text, shown = result.text, call.get("resultDisplay")
    structured: Record = dict(result.structured)
    if isinstance(shown, dict):
        kept = {key: value for key, value in shown.items() if key not in DISPLAY_LEFT_OUT}
        structured.update(parts.without_bytes(kept))
    elif shown:
        seen = shown if isinstance(shown, str) else _grid(shown)
        if seen is None:
            structured["resultDisplay"] = parts.without_bytes(shown)
        elif not text.strip():
            text = seen
        elif text.startswith(_MASKED):
            structured["resultDisplay"] = texts.clean(seen)
    if isinstance(call.get("agentId"), str):
        structured["agentId"] = call["agentId"]
    failed = FAILED.get(text_of(call.get("status")), True if result.failed else None)
    return opt(toolCallId=identifier, text=text or None, json=structured or None, isError=failed)


def printed(result: Any, identifier: str) -> Printed:
    """The parts of a call's `result` that are its own.

    A `$set.messages` sync stores the whole user turn with each of its calls, so a result may list the responses of
    its neighbours too: those with another id are theirs.
    """
    items = result if isinstance(result, list) else [result]
    responses = [item["functionResponse"] for item in items if isinstance(item, dict) and _is_response(item)]
    own = [response for response in responses if response.get("id") in (identifier, None)] or responses[:1]
    out = Printed()
    for response in own:
        _read_response(response, out)
    if len(responses) > 1:
        return out
    for item in items:
        if isinstance(item, str):
            out.pieces.append(item)
        elif isinstance(item, dict) and not _is_response(item):
            _read_part(item, out)
        elif item is not None and not isinstance(item, dict):
            out.odd.append(parts.without_bytes(item))
    return out


def _is_response(item: Record) -> bool:
    return isinstance(item.get("functionResponse"), dict)


def _read_part(part: Record, out: Printed) -> None:
    facts = parts.media(part)
    if facts is not None:
        out.pieces.append(texts.media_text(facts))
    elif isinstance(part.get("text"), str):
        out.pieces.append(part["text"])
    else:
        out.odd.append(parts.without_bytes(part))


def read_response(response: Record) -> Printed:
    """What one functionResponse part holds."""
    out = Printed()
    _read_response(response, out)
    return out


def _read_response(response: Record, out: Printed) -> None:
    body = response.get("response")
    if isinstance(body, str):
        out.pieces.append(body)
    elif isinstance(body, dict):
        for key, value in body.items():
            if key in ("output", "error") and isinstance(value, str):
                if value:
                    out.pieces.append(value)
            elif value is not None:
                out.extra[str(key)] = parts.without_bytes(value)
        out.failed = bool(body.get("error")) and not body.get("output")
    elif body is not None:
        out.extra["response"] = parts.without_bytes(body)
    out.extra |= {key: parts.without_bytes(response[key]) for key in response if key not in _RESPONSE_KEYS}
    nested = response.get("parts")
    for part in nested if isinstance(nested, list) else []:
        if isinstance(part, dict):
            _read_part(part, out)


def _grid(shown: Any) -> str | None:
    """The text of an ANSI grid: a list of lines, each a list of tokens with their colours."""
    if not isinstance(shown, list):
        return None
    lines: list[str] = []
    for line in shown:
        if not isinstance(line, list) or not all(isinstance(token, dict) for token in line):
            return None
        lines.append("".join(text_of(token.get("text")) for token in line).rstrip())
    return "\n".join(lines).rstrip()
