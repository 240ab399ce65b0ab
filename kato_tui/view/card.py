"""Everything about one session, for screens that have the room. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from kato_tui.view import sessions
from kato_tui.view.blocks import Block
from kato_tui.view.cells import Line, Piece, Tone, crop, pad, piece
from kato_tui.view.words import Json, amount, home_path, since, with_home

_LABEL: Final = 9
_BAR: Final = 20


def card(session: Json | None, size: int, now: datetime, user_home: str = "") -> list[Line]:
    if session is None:
        return [(Piece("Select a session to see what is known about it.", "muted"),)]
    return [crop(line, size) for line in ((_title(session),), (), *_fields(session, now, user_home))]


def sheet(session: Json, now: datetime, user_home: str = "") -> tuple[Block, ...]:
    """The same with nothing cut off, for a window of its own."""
    blank = (Piece(" " * (_LABEL + 1)),)
    fields = (Block(line[1:], line[:1], blank) for line in _fields(session, now, user_home))
    return (Block((_title(session),)), Block(()), *fields)


def _title(session: Json) -> Piece:
    return Piece(" ".join(sessions.title(session)[-1].text.split()), "strong")


def _fields(session: Json, now: datetime, user_home: str) -> list[Line]:
    return [
        _field("state", *sessions.state(session, now)),
        _field("assistant", sessions.provider(session), *_model(session)),
        _field("folder", Piece(home_path(str(session.get("cwd") or "-"), user_home))),
        _field("branch", piece(session.get("gitBranch") or "-")),
        _field("said", Piece(_said(session))),
        _field("context", *_context(session)),
        _field("tokens", *_tokens(session)),
        _field("active", Piece(_active(session, now))),
        _field("twin", *_twin(session)),
        _field("id", piece(session["sessionId"], "muted")),
        _field("resume", piece(with_home(session.get("resumeCommand") or "-", user_home), "muted")),
    ]


def _field(name: str, *pieces: Piece) -> Line:
    return (Piece(pad(name, _LABEL) + " ", "muted"), *pieces)


def _model(session: Json) -> Line:
    return (Piece(" · ", "muted"), piece(session["model"], "text", 60)) if session.get("model") else ()


def _said(session: Json) -> str:
    return (
        f"{amount(session.get('userMessages', 0))} by you, {amount(session.get('assistantMessages', 0))} by it, "
        f"{amount(session.get('toolCalls', 0))} tool calls"
    )


def _context(session: Json) -> Line:
    share = sessions.context_share(session)
    if share is None:
        return (Piece(amount(session.get("contextTokens")), "muted"),)
    filled = min(_BAR, round(share * _BAR))
    tone: Tone = "bad" if share >= 0.9 else "warn" if share >= 0.75 else "good"
    return (
        Piece("━" * filled, tone),
        Piece("━" * (_BAR - filled), "muted"),
        Piece(f" {share * 100:.0f}% of {amount(session['contextWindow'])}"),
    )


def _tokens(session: Json) -> Line:
    usage = session.get("usage") or {}
    parts = (("in", "input"), ("out", "output"), ("read", "cacheRead"), ("write", "cacheWrite"))
    told = " · ".join(f"{amount(usage[name])} {word}" for word, name in parts if usage.get(name))
    return (Piece(amount(usage.get("total", 0))), Piece(f"  {told}" if told else "", "muted"))


def _active(session: Json, now: datetime) -> str:
    first, last = since(session.get("firstActivity"), now), since(session.get("lastActivity"), now)
    ago = last if last in ("now", "-") else f"{last} ago"
    return f"{ago}, begun {first if first in ('now', '-') else f'{first} ago'}"


def _twin(session: Json) -> Line:
    events = int(session.get("twinEvents", 0))
    if not events:
        return (Piece("none kept", "muted"),)
    lags = (Piece(" · behind its log", "warn"),) if session.get("twinLags") else ()
    return (Piece(f"{amount(events)} events"), *lags)
