"""One line of what an event says: for feeds that show thousands of events without their payloads. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_SHOWN: Final = 400
#: What tells one call of a tool from the next, by how telling it is.
_TELLING: Final = (
    "command",
    "cmd",
    "file_path",
    "path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "input",
)


def glance(event: Mapping[str, Any], session_short_id: str) -> dict[str, Any]:
    """The short form of a canonical event: where it stands, when it was, who, and the beginning of what."""
    payload = event["payload"]
    moment = event.get("time") or {}
    shown = {
        "sessionShortId": session_short_id,
        "seq": event["seq"],
        "kind": event["kind"],
        "time": moment.get("providerTimestamp") or moment.get("capturedAt"),
        "text": _text(payload)[:_SHOWN],
    }
    if payload.get("name"):
        shown["tool"] = str(payload["name"])[:80]
    if payload.get("isError"):
        shown["failed"] = True
    if event.get("model"):
        shown["model"] = str(event["model"])[:80]
    return shown


def _text(payload: Mapping[str, Any]) -> str:
    for name in ("text", "line", "prompt"):
        if payload.get(name):
            return str(payload[name])
    if "selections" in payload:
        return ", ".join(map(str, (*payload["selections"], payload.get("freeText") or ""))).strip(", ")
    if "input" in payload or "name" in payload:
        return _call(payload)
    if "json" in payload:
        return str(payload["json"])[:_SHOWN]
    return str(payload.get("rawType") or "")


def _call(payload: Mapping[str, Any]) -> str:
    given = payload.get("input")
    if isinstance(given, Mapping):
        for name in _TELLING:
            if given.get(name):
                return _words(given[name])
        given = next((value for value in given.values() if isinstance(value, str) and value), "")
    return _words(given or payload.get("description") or "")


def _words(value: object) -> str:
    """Some tools take their command as a list of words."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
