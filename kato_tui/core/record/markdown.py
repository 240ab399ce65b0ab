"""Recordings in Markdown (spec §9): what was said stands open under its speaker, what was done is folded away.

Each rendered block starts with a newline and ends with exactly one, so a file is always header + blocks, with an empty
line between them and one newline at its end. A command line such as `::stop` is part of what the user typed:
it is shown where it stood, as a quoted line of code, so that a recording tells where it was started and stopped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from kato_tui.core.model import events
from kato_tui.core.model.settings import RecordSettings
from kato_tui.core.record import markdown_text as md
from kato_tui.core.record import tool_blocks as tools
from kato_tui.core.record.writer import Event, RenderState

USER: Final = "User"
_MAX_NAME: Final = 80
_MAX_LABEL: Final = 80
#: Calls and questions whose label is remembered for the result or answer; older ones are named by their id.
_MAX_OPEN: Final = 32
_MAX_ID: Final = 80
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][\w.:/@+-]*", re.ASCII)
#: A notice up to this long and of one line needs no fold.
_SHORT_NOTICE: Final = 200
_HASH_SHOWN: Final = 12
#: Notices that are part of the conversation, not of the machinery: what the user agreed to where the question did not
#: hold it, what others asked instead of the user, and where the rest of the conversation is.
_SPOKEN: Final = {
    "continued-from": "**Begun elsewhere**",
    "continued-in": "**Continued elsewhere**",
    "approved-plan": "**Approved plan**",
    "agent-prompt": "**Prompt of another agent**",
    "heartbeat": "**Scheduled prompt**",
    **dict.fromkeys(("peer", "coordinator", "cross-session-message"), "**Message of another session**"),
    **dict.fromkeys(("channel", "channel-message"), "**Message from a channel**"),
}


@dataclass(frozen=True, slots=True)
class _Piece:
    """What an event shows: its Markdown, whose heading it belongs under, and a label to remember under an id."""

    body: str
    #: None: it belongs to nobody and leaves the speaker as it is.
    by_user: bool | None
    opens: tuple[str, str] | None = None


class MarkdownWriter:
    """Renders events by kind. The state: who spoke last, the last model, open calls and questions, an open list."""

    def __init__(self, settings: RecordSettings) -> None:
        self._settings = settings
        self._kinds: dict[str, Callable[[RenderState, Event], _Piece | None]] = {
            events.USER_MESSAGE: self._user_message,
            events.USER_COMMAND: self._command,
            events.USER_DECISION: self._answer,
            events.ASSISTANT_MESSAGE: self._message,
            events.ASSISTANT_DECISION: self._question,
            events.PROVIDER_INFO: self._info,
        }
        if settings.thinking:
            self._kinds[events.ASSISTANT_THINKING] = self._thinking
        if settings.tool_calls:
            self._kinds[events.TOOL_CALL] = self._call
            self._kinds[events.TOOL_RESULT] = self._result
        if settings.system_events:
            self._kinds[events.SYSTEM_MESSAGE] = self._notice
            self._kinds[events.PROVIDER_RAW] = self._raw

    def begin(self) -> RenderState:
        return {"speaker": "", "model": "", "open": {}, "list": False}

    def render(self, state: RenderState, event: Event) -> tuple[RenderState, bytes]:
        kind = self._kinds.get(event["kind"])
        piece = kind(state, event) if kind is not None else None
        if piece is None or not piece.body:
            return state, b""
        speaker, model = _speaker(state, event, piece.by_user)
        body = piece.body
        if speaker != state["speaker"]:
            body = f"{_heading(speaker, event)}\n\n{body}"
        elif state["list"] and md.continues_list(body):
            body = md.SEPARATOR + body
        after = {
            "speaker": speaker,
            "model": model,
            "open": _remembered(state["open"], piece.opens) if piece.opens else state["open"],
            "list": not body.endswith(_END) and md.may_end_in_list(body),
        }
        return after, f"\n{body}\n".encode("utf-8", "replace")

    def _user_message(self, _state: RenderState, event: Event) -> _Piece:
        payload = event["payload"]
        text = md.block(payload.get("text") or "", italic=self._settings.italic_user_text)
        facts = [_attachment(item) for item in payload.get("attachments") or ()]
        return _Piece(_stacked(text, *facts), by_user=True)

    def _command(self, _state: RenderState, event: Event) -> _Piece:
        return _Piece("> " + md.code(event["payload"]["line"]), by_user=True)

    def _answer(self, state: RenderState, event: Event) -> _Piece:
        payload = event["payload"]
        asked = state["open"].get(_key(payload["decisionId"]))
        chosen = "\n".join(f"- [x] {md.plain(label)}" for label in payload.get("selections") or ())
        own = md.block(payload.get("freeText") or "", italic=self._settings.italic_user_text)
        title = f"**Answer** to “{md.plain(asked)}”" if asked else "**Answer**"
        return _Piece(_stacked(title, chosen, own) if chosen or own else f"{title}: *none*", by_user=True)

    def _message(self, _state: RenderState, event: Event) -> _Piece | None:
        payload = event["payload"]
        if payload.get("phase") == "commentary" and not self._settings.commentary:
            return None
        return _Piece(md.block(payload["text"]), by_user=False)

    def _thinking(self, _state: RenderState, event: Event) -> _Piece:
        text = md.block(event["payload"]["text"])
        return _Piece(_fold("Thinking", text) if text else "", by_user=False)

    def _question(self, _state: RenderState, event: Event) -> _Piece:
        payload = event["payload"]
        prompt = payload.get("prompt") or ""
        several = " (several may be chosen)" if payload.get("multiSelect") else ""
        options = "\n".join(_option(option) for option in payload.get("options") or ())
        title = "**Plan for approval**" if payload.get("decisionKey") == events.PLAN_APPROVAL else "**Question**"
        body = _stacked(f"{title}{several}", md.block(prompt), options)
        return _Piece(body, by_user=False, opens=(payload["decisionId"], md.title(prompt, _MAX_LABEL)))

    def _call(self, _state: RenderState, event: Event) -> _Piece:
        payload = event["payload"]
        name = payload["name"]
        view = tools.call_view(name, payload.get("input"))
        detail = md.line(view.detail or payload.get("description") or "", _MAX_LABEL)
        label = md.line(name, _MAX_NAME)
        label = f"{label}: {detail}" if detail else label
        body = _named(name, detail) if view.single else _fold(label, view.body)
        return _Piece(body, by_user=False, opens=(payload["toolCallId"], label))

    def _result(self, state: RenderState, event: Event) -> _Piece | None:
        payload = event["payload"]
        limit, failed = self._settings.result_limit, payload.get("isError") is True
        label = state["open"].get(_key(payload["toolCallId"])) or f"call {md.line(payload['toolCallId'], _MAX_ID)}"
        name, _, detail = label.partition(": ")
        if limit == 0 or (name in tools.QUIET and not failed):
            return None
        view = tools.result_view(name, payload, limit)
        if view.pointer:
            return _Piece(f"{_named(name, detail)} → agent {md.code(view.pointer)}", by_user=False)
        if not view.body and not view.note:
            return None
        title = f"{'Error from' if failed else 'Result of'} {label}"
        return _Piece(_fold(f"{title} ({view.note})" if view.note else title, view.body), by_user=False)

    def _info(self, state: RenderState, event: Event) -> _Piece | None:
        payload = event["payload"]
        title = _SPOKEN.get(payload.get("subtype") or "")
        if title is not None:
            return _Piece(_stacked(title, md.block(payload["text"])), by_user=None)
        return self._notice(state, event) if self._settings.system_events else None

    def _notice(self, _state: RenderState, event: Event) -> _Piece:
        payload = event["payload"]
        text = payload["text"].strip()
        title = " ".join(filter(None, ("System", payload.get("level"), payload.get("subtype"))))
        if len(text) <= _SHORT_NOTICE and "\n" not in text:
            return _Piece(f"> *{md.plain(title)}:* {md.plain(text)}", by_user=None)
        title = md.line(title, _MAX_LABEL)
        shown, rest = tools.cut(text, self._settings.result_limit or None)
        return _Piece(_fold(title, _stacked(md.fence(shown), rest)), by_user=None)

    def _raw(self, _state: RenderState, event: Event) -> _Piece:
        return _Piece(f"> *Unknown record:* {md.code(md.line(event['payload']['rawType']))}", by_user=None)


def _speaker(state: RenderState, event: Event, by_user: bool | None) -> tuple[str, str]:
    """Who speaks, and the last model: an event that does not state its model says nothing about a change."""
    model = state["model"]
    if by_user is None:
        return state["speaker"], model
    if by_user:
        return USER, model
    stated = _assistant(event.get("model") or "")
    return stated or model or _assistant(event["session"]["provider"]), stated or model


@lru_cache(maxsize=64)
def _assistant(stated: str) -> str:
    """The assistant's name on one line. Nobody but the user may be called the user."""
    name = md.line(stated, _MAX_NAME)
    return f"{name} (assistant)" if name.lower() == USER.lower() else name


def _heading(speaker: str, event: Event) -> str:
    name = speaker if _PLAIN_NAME.fullmatch(speaker) else md.plain(speaker)
    stamp = _stamp(event.get("time") or {})
    return f"# {name}_{stamp}" if stamp else f"# {name}"


def _stamp(time: dict[str, Any]) -> str:
    """The moment in UTC, from the provider or else from when it was seen; "" rather than a guess."""
    for key in ("providerTimestamp", "capturedAt"):
        try:
            moment = datetime.fromisoformat(time.get(key, ""))
            if moment.tzinfo is not None:
                return moment.astimezone(UTC).strftime("%Y-%m-%d_%H%M_%S")
        except (ValueError, TypeError, OverflowError):
            continue
    return ""


_END: Final = "</details>"


def _named(name: str, detail: str) -> str:
    """A call on one line."""
    return f"**{md.plain(name)}** {md.plain(detail)}".rstrip()


def _fold(title: str, body: str) -> str:
    """A collapsible block under a title of one line.

    The empty lines around the body end the HTML, so that what is inside is Markdown again.
    """
    return f"<details>\n<summary>{md.in_html(title)}</summary>\n\n{body}\n\n{_END}"


def _stacked(*parts: str) -> str:
    """The parts that are there, one below the other, none of them swallowed by a list above it."""
    out = ""
    for part in filter(None, parts):
        apart = md.SEPARATOR if out and md.continues_list(part) and md.may_end_in_list(out) else ""
        out = f"{out}\n\n{apart}{part}" if out else part
    return out


def _option(option: dict[str, Any]) -> str:
    label, about = md.plain(option.get("label") or option["id"]), md.plain(option.get("description") or "")
    return f"- **{label}** — {about}" if about else f"- **{label}**"


def _attachment(facts: dict[str, Any]) -> str:
    parts = [str(facts["mediaType"])]
    if facts.get("size") is not None:
        parts.append(f"{facts['size']} bytes")
    if facts.get("sha256"):
        parts.append(f"sha256 {facts['sha256'][:_HASH_SHOWN]}")
    if facts.get("name"):
        parts.append(facts["name"])
    return f"*Attached: {md.plain(', '.join(parts))}*"


def _key(identifier: str) -> str:
    """An id as a key of the state; an over-long one by its hash."""
    if len(identifier) <= _MAX_ID:
        return identifier
    return hashlib.sha256(identifier.encode("utf-8", "replace")).hexdigest()


def _remembered(known: dict[str, str], opened: tuple[str, str]) -> dict[str, str]:
    key = _key(opened[0])
    kept = dict(known)
    kept.pop(key, None)
    kept[key] = opened[1]
    if len(kept) > _MAX_OPEN:
        del kept[next(iter(kept))]
    return kept
