"""Sessions as rows: which are shown, in what order, and what each says. Pure; texts of logs are cleaned here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from kato_tui.view.cells import Column, Line, Piece, Tone, header_line, layout, piece, table_line
from kato_tui.view.safe import safe
from kato_tui.view.words import STATES, Json, amount, moment, project, since

STALE: Final = timedelta(days=7)
_LIVELY: Final = timedelta(days=1)
#: The names of the orders, in the order the key goes through them.
SORTS: Final = ("activity", "state", "provider", "project", "tokens", "unseen")

_TONES: Final[dict[str, Tone]] = {
    "acting": "good",
    "thinking": "good",
    "decision": "warn",
    "idle": "text",
    "process-gone": "muted",
}
_URGENCY: Final = {"decision": 0, "idle": 1, "acting": 2, "thinking": 2, "process-gone": 3}
_PROVIDERS: Final[dict[str, Tone]] = {"claude": "claude", "codex": "codex", "gemini": "gemini"}
_GAUGE: Final = " ▁▂▃▄▅▆▇█"
_COLUMNS: Final = (
    Column("state", 16),
    Column("ai", 6),
    Column("id", 8),
    Column("title", 12, flex=3),
    Column("project", 8, flex=1, least=92),
    Column("tokens", 6, right=True, least=104),
    Column("ctx", 5, right=True, least=74),
    Column("last", 4, right=True),
    Column("rec", 4),
    Column("new", 4, right=True),
)
#: Where there is little room, how long a state has held is left to the column of the last activity.
_SMALL: Final = 64
_SMALL_COLUMNS: Final = (Column("state", 11), *_COLUMNS[1:])


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user wants to see of the sessions."""

    words: str = ""
    sort: str = "activity"
    subagents: bool = False
    stale: bool = False

    def next_sort(self) -> Wanted:
        return replace(self, sort=SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)])


def key_of(session: Json) -> str:
    return f"{session['provider']}:{session['providerSessionId']}"


def messages(session: Json) -> int:
    """How much was said so far: what "unseen" is counted in."""
    return int(session.get("userMessages", 0)) + int(session.get("assistantMessages", 0))


def active(session: Json) -> list[Json]:
    """Its recordings that are on."""
    return [one for one in session.get("recordings", ()) if one["desiredState"] == "on"]


def choose(
    sessions: Iterable[Json], wanted: Wanted, now: datetime, unseen: Mapping[str, int]
) -> tuple[list[str], dict[str, int]]:
    """The keys of the sessions to show, in order, and how many of each sort are hidden.

    What is being recorded, has a problem or is asked for by name is never hidden.
    """
    test = matcher(wanted.words)
    shown: list[Json] = []
    hidden = {"sub-agents": 0, "stale": 0}
    horizon = (now - STALE).isoformat()
    for one in sessions:
        if test is not None and not test(one):
            continue
        why = _hidden(one, wanted, horizon) if test is None else None
        if why is None:
            shown.append(one)
        else:
            hidden[why] += 1
    shown.sort(key=lambda one: (str(one.get("lastActivity") or ""), str(one["sessionId"])), reverse=True)
    order = _ORDERS.get(wanted.sort)
    if order is not None:
        shown.sort(key=lambda one: order(one, unseen))
    return [key_of(one) for one in shown], {why: count for why, count in hidden.items() if count}


def _hidden(session: Json, wanted: Wanted, horizon: str) -> str | None:
    if session.get("problem") or active(session):
        return None
    if not wanted.subagents and session.get("sourceKind", "main") != "main":
        return "sub-agents"
    last = session.get("lastActivity")
    # ISO times compare as text as far as days matter: no clock is parsed for thousands of rows.
    return "stale" if not wanted.stale and last and str(last) < horizon else None


_ORDERS: Final[dict[str, Callable[[Json, Mapping[str, int]], Any]]] = {
    "state": lambda one, _: _URGENCY.get(str(one.get("reason")), 9),
    "provider": lambda one, _: str(one.get("provider")),
    "project": lambda one, _: (str(one.get("cwd") or "~"), str(one.get("gitBranch") or "")),
    "tokens": lambda one, _: -int((one.get("usage") or {}).get("total", 0)),
    "unseen": lambda one, unseen: -unseen.get(key_of(one), 0),
}

# The filter: words that must all be in the row, and `name:value` for what is not text.


def matcher(words: str) -> Callable[[Json], bool] | None:
    """A test for a filter text, or None for an empty one."""
    tests = [_test(word) for word in words.lower().split()]
    if not tests:
        return None
    return lambda session: all(test(session) for test in tests)


def _test(word: str) -> Callable[[Json], bool]:
    name, colon, value = word.partition(":")
    special = _SPECIAL.get(name) if colon else None
    if special is not None:
        return lambda session: special(session, value)
    return lambda session: word in _haystack(session)


def _haystack(session: Json) -> str:
    parts = (session.get(name) for name in ("title", "sessionShortId", "provider", "cwd", "gitBranch", "model"))
    return " ".join(str(part) for part in parts if part).lower()


def _is_state(session: Json, value: str) -> bool:
    words = STATES.get(str(session.get("reason")), "")
    return value in f"{session.get('state')} {session.get('reason')} {words}".lower()


def _is_recording(session: Json, value: str) -> bool:
    if value in ("off", "no"):
        return not active(session)
    if value.startswith("fail"):
        return any(one["status"] == "failing" for one in session.get("recordings", ()))
    return bool(active(session))


_SPECIAL: Final[dict[str, Callable[[Json, str], bool]]] = {
    "ai": lambda one, value: value in str(one.get("provider")),
    "provider": lambda one, value: value in str(one.get("provider")),
    "state": _is_state,
    "is": _is_state,
    "rec": _is_recording,
    "recording": _is_recording,
    "branch": lambda one, value: value in str(one.get("gitBranch") or "").lower(),
    "model": lambda one, value: value in str(one.get("model") or "").lower(),
}
FILTER_WORDS: Final = ("ai:", "state:", "rec:on", "rec:failing", "branch:", "model:")

# Rows.


def columns(size: int) -> list[tuple[Column, int]]:
    return layout(_COLUMNS if size >= _SMALL else _SMALL_COLUMNS, size)


def header(size: int) -> Line:
    return header_line(columns(size))


def row(session: Json, size: int, now: datetime, unseen: int = 0) -> Line:
    cells: dict[str, Line] = {
        "state": state(session, now) if size >= _SMALL else state(session, now)[:1],
        "ai": (provider(session),),
        "id": (piece(session["sessionShortId"], "muted", 12),),
        "title": title(session),
        "project": (Piece(project(session), "muted"),),
        "tokens": (Piece(amount((session.get("usage") or {}).get("total") or None), "muted"),),
        "ctx": context(session),
        "last": (Piece(since(session.get("lastActivity"), now), "muted"),),
        "rec": recording_mark(session),
        "new": (Piece(f"+{min(unseen, 999)}", "accent"),) if unseen else (),
    }
    return table_line(cells, columns(size))


def provider(session: Json) -> Piece:
    name = str(session.get("provider"))
    return piece(name, _PROVIDERS.get(name, "text"), 12)


def state(session: Json, now: datetime) -> Line:
    """Glyph, word, what it does and for how long."""
    if session.get("problem"):
        return (Piece("✗ needs rebuild", "bad"),)
    reason = str(session.get("reason"))
    tone = _TONES.get(reason, "text")
    if tone == "good" and not is_recent(session, now, _LIVELY):
        # As its log has it; but whoever was at work days ago hardly still is.
        tone = "muted"
    words = STATES.get(reason) or safe(reason, 12)
    tool = session.get("tool") if reason == "acting" else None
    if tool:
        words = f"● {safe(str(tool), 10)}"
    held = since(session.get("since"), now) if session.get("since") else ""
    return (Piece(words, tone), Piece(f" {held}" if held else "", "muted"))


def title(session: Json) -> Line:
    text = session.get("title")
    line: Line = (piece(text, "text", 300),) if text else (Piece("(no title yet)", "muted"),)
    if session.get("sourceKind", "main") != "main":
        line = (Piece("↳ ", "muted"), *line)
    return (Piece("log gone · ", "warn"), *line) if session.get("sourceGone") else line


def named(session: Json | None) -> str:
    """How panes that show something of a session call it: by its id, and by its title if it has one."""
    if session is None:
        return ""
    return f"of {session['sessionShortId']} {session.get('title') or ''}".strip()


def context(session: Json) -> Line:
    """How full the model's context is: a gauge and a number, orange and red before it overflows.

    Where the log doesn't tell how much room there is, the size alone: a share of a guess would be a guess.
    """
    share = context_share(session)
    if share is None:
        return (Piece(amount(session.get("contextTokens")), "muted"),)
    gauge = _GAUGE[min(8, max(1, round(share * 8)))] if share > 0 else " "
    tone: Tone = "bad" if share >= 0.9 else "warn" if share >= 0.75 else "muted"
    return (Piece(f"{gauge}{min(999, round(share * 100))}%", tone),)


def context_share(session: Json) -> float | None:
    used, room = session.get("contextTokens"), session.get("contextWindow")
    return int(used) / int(room) if used and room else None


def recording_mark(session: Json) -> Line:
    recordings = session.get("recordings", ())
    failing = sum(one["status"] == "failing" for one in recordings)
    on = len(active(session))
    if failing:
        return (Piece(f"!{failing}", "bad"),)
    if on:
        return (Piece(f"●{on}", "accent"),)
    return (Piece(f"○{len(recordings)}", "muted"),) if recordings else ()


def counted(shown: int, everything: int, hidden: Mapping[str, int], wanted: Wanted) -> str:
    """The pane's own words about what it shows."""
    parts = [f"{shown} of {everything}" if shown != everything else f"{shown}"]
    parts += [f"{count} {why} hidden" for why, count in hidden.items()]
    if wanted.words:
        parts.append(f"filter “{safe(wanted.words, 24)}”")
    if wanted.sort != "activity":
        parts.append(f"by {wanted.sort}")
    return " · ".join(parts)


def needs_you(before: Json | None, after: Json) -> bool:
    """Whether a session has just begun to wait for its user."""
    if before is None or after.get("state") != "needs-you":
        return False
    return before.get("state") == "working" or (
        before.get("reason") != "decision" and after.get("reason") == "decision"
    )


def is_recent(session: Json, now: datetime, within: timedelta) -> bool:
    last = moment(session.get("lastActivity"))
    return last is not None and now - last < within
