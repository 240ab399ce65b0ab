"""A conversation as decoded twin events, in words that tests can read."""

from __future__ import annotations

from typing import Any

from kato_tui.core.model import events
from kato_tui.core.model.settings import RecordSettings
from kato_tui.core.providers.base import Draft
from kato_tui.core.record.writer import Event, writer_for
from kato_tui.core.store.twin import LineEncoder, decode_line

SESSION = {"provider": "codex", "providerSessionId": "s", "sessionId": "00000000-0000-5000-8000-000000000000"}
MODEL = "gpt-5.3-codex"
AT = "2026-02-25T11:15:49.120Z"


def encoded(kind: str, payload: dict[str, Any], *, at: str | None = AT, model: str | None = None) -> bytes:
    draft = Draft(kind, payload, "say", timestamp=at, model=model, cursor=1)
    return LineEncoder(SESSION, "byte-offset").encode([draft], 1, None)


def event(kind: str, payload: dict[str, Any], *, at: str | None = AT, model: str | None = None) -> Event:
    found = decode_line(encoded(kind, payload, at=at, model=model))
    assert found is not None
    return found


def user(text: str, **more: Any) -> Event:
    return event(events.USER_MESSAGE, {"text": text}, **more)


def command(line: str) -> Event:
    return event(events.USER_COMMAND, {"command": "start", "line": line})


def says(text: str, *, phase: str | None = None, model: str | None = MODEL, at: str | None = AT) -> Event:
    payload = {"text": text, **({"phase": phase} if phase else {})}
    return event(events.ASSISTANT_MESSAGE, payload, at=at, model=model)


def thinks(text: str) -> Event:
    return event(events.ASSISTANT_THINKING, {"text": text}, model=MODEL)


def calls(name: str, given: Any = None, *, id: str = "c1", model: str | None = MODEL) -> Event:
    return event(events.TOOL_CALL, {"toolCallId": id, "name": name, "input": given}, model=model)


def returns(text: str | None, *, id: str = "c1", **more: Any) -> Event:
    payload = {"toolCallId": id, **({"text": text} if text is not None else {}), **more}
    return event(events.TOOL_RESULT, payload)


def asks(prompt: str, *options: tuple[str, str], id: str = "q:0", several: bool = False) -> Event:
    listed = [{"id": str(n), "label": label, "description": about} for n, (label, about) in enumerate(options, 1)]
    payload = {"decisionId": id, "decisionKey": "k", "prompt": prompt, "options": listed, "multiSelect": several}
    return event(events.ASSISTANT_DECISION, payload, model=MODEL)


def answers(*chosen: str, words: str | None = None, id: str = "q:0") -> Event:
    payload = {"decisionId": id, "selections": list(chosen), **({"freeText": words} if words else {})}
    return event(events.USER_DECISION, payload)


def info(text: str, kind: str = events.PROVIDER_INFO, **more: Any) -> Event:
    return event(kind, {"text": text, **more})


def raw(raw_type: str) -> Event:
    return event(events.PROVIDER_RAW, {"rawType": raw_type, "raw": {"secret": 1}})


def rendered(*talk: Event, **settings: Any) -> str:
    writer = writer_for("markdown", RecordSettings(**settings))
    state, out = writer.begin(), b""
    for one in talk:
        state, block = writer.render(state, one)
        assert block == b"" or (block.startswith(b"\n") and block.endswith(b"\n") and not block.endswith(b"\n\n"))
        out += block
    return out.decode()
