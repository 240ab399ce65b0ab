"""What the user should know, as blocks of lines with the action that fixes each. Pure; messages are cleaned here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from kato_tui.view.cells import Line, Piece, Tone, piece, spread, wrap
from kato_tui.view.safe import safe
from kato_tui.view.sessions import key_of
from kato_tui.view.words import SEVERITIES, Json, clock, home_path, with_home

_TONES: Final[dict[str, Tone]] = {"info": "muted", "warning": "warn", "error": "bad"}
_MOST_LINES: Final = 4
_MOST_TYPES: Final = 4
_SOON: Final = timedelta(days=7)

#: What Enter does: open the `:` line with a text, or one of the app's own deeds.
FixKind = Literal["command", "toggle", "session", "rebuild", "restart", "keep-all", "copy", "none"]


class Fix(NamedTuple):
    kind: FixKind
    words: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing to know. `key` is stable, so that the cursor stays on it and acknowledging it lasts."""

    key: str
    at: str
    code: str
    severity: str
    message: str
    session: str | None = None
    #: Recordings that could have been meant, or that are concerned.
    candidates: tuple[Json, ...] = ()
    #: Recordings that it is about, beyond doubt.
    recordings: tuple[Json, ...] = ()
    #: The one candidate that this row is about, when it is a candidate's own row.
    candidate: Json | None = None


def from_notice(notice: Json) -> Alert:
    return Alert(
        f"n{notice['id']}",
        str(notice.get("at") or ""),
        str(notice["code"]),
        str(notice["severity"]),
        str(notice["message"]),
        notice.get("sessionShortId"),
        tuple(notice.get("candidates", ())),
        tuple(notice.get("recordings", ())),
    )


def standing(session: Json) -> list[Alert]:
    """What is wrong with a session for as long as it is: these alerts go by themselves when it is right again."""
    short, key = str(session["sessionShortId"]), key_of(session)
    found: list[Alert] = []
    if session.get("problem"):
        found.append(Alert(f"problem:{key}", "", "needs-rebuild", "error", str(session["problem"]), short))
    for one in session.get("recordings", ()):
        if one["status"] == "failing":
            message = f"recording {one['recordingShortId']} fails: {one.get('lastError') or 'unknown reason'}"
            at = str(one.get("lastWriteAt") or "")
            found.append(Alert(f"failing:{one['recordingId']}", at, "failing", "error", message, short, candidate=one))
    return found


def unknown_types(sessions: Iterable[Json]) -> list[Alert]:
    """Record types that this version does not know, one alert an assistant: a new one is in every session at once."""
    counts: dict[str, Counter[str]] = {}
    holders: Counter[str] = Counter()
    for one in sessions:
        counts.setdefault(str(one["provider"]), Counter()).update(one["unknownTypes"])
        holders[str(one["provider"])] += 1
    found = []
    for provider, types in counts.items():
        names = ", ".join(f"{safe(name, 40)} ×{count}" for name, count in types.most_common(_MOST_TYPES))
        more = f" and {len(types) - _MOST_TYPES} more" if len(types) > _MOST_TYPES else ""
        where = f", in {holders[provider]} sessions" if holders[provider] > 1 else ""
        message = f"{provider} writes record types this version does not know: {names}{more}{where}. They are kept raw"
        found.append(Alert(f"unknown:{provider}:{len(types)}", "", "unknown-types", "info", message))
    return found


def retention(sessions: Iterable[Json], rules: Mapping[str, tuple[int, str]], now: datetime) -> list[Alert]:
    """Logs that their assistant deletes soon and that no twin holds, one alert an assistant."""
    found = []
    for provider, (days, why) in rules.items():
        limit = (now - timedelta(days=days) + _SOON).isoformat()
        names = [str(one["sessionShortId"]) for one in sessions if _goes_soon(one, provider, limit)]
        if names:
            message = (
                f"{provider} deletes {len(names)} of its logs within {_SOON.days} days ({why}), and no twin holds them"
            )
            refs = tuple({"session": name} for name in names)
            found.append(Alert(f"retention:{provider}:{len(names)}", "", "retention", "warning", message, None, refs))
    return found


def _goes_soon(session: Json, provider: str, limit: str) -> bool:
    if session.get("provider") != provider or session.get("sourceGone"):
        return False
    if session.get("sourceKind", "main") != "main" or not session.get("twinLags"):
        return False
    last = session.get("lastActivity")
    return bool(last) and str(last) < limit


_FIXES: Final[dict[str, Fix]] = {
    "ambiguous": Fix("none", "pick one below"),
    "not-found": Fix("command", "⏎ name another", "stop id:"),
    "too-short": Fix("command", "⏎ type more of it", "stop id:"),
    "invalid-command": Fix("command", "⏎ type it again"),
    "invalid": Fix("command", "⏎ type it again"),
    "needs-rebuild": Fix("rebuild", "⏎ rebuild from its log"),
    "failing": Fix("command", "⏎ record elsewhere", "start "),
    "engine-failed": Fix("restart", "⏎ start it again"),
    "engine-gone": Fix("restart", "⏎ take over here"),
    "retention": Fix("keep-all", "⏎ keep twins of them"),
    "unknown-types": Fix("copy", "⏎ copy for a report"),
    "dashboard-failed": Fix("copy", "⏎ copy for a report"),
}
_DENIED: Final = Fix("command", "⏎ record elsewhere", "start ")
_LOOK: Final = Fix("session", "⏎ go to the session")
_NOTHING: Final = Fix("none", "")


def fix_of(alert: Alert) -> Fix:
    """What Enter does about it."""
    if alert.candidate is not None and alert.code != "failing":
        return Fix("toggle", "⏎ stop or resume this one")
    if alert.code.startswith("denied"):
        return _DENIED
    found = _FIXES.get(alert.code)
    if found is not None:
        return found
    return _LOOK if alert.session else _NOTHING


def expand(alerts: Iterable[Alert]) -> list[Alert]:
    """Every alert, with a row of its own for each candidate below it, so that one can be picked."""
    rows: list[Alert] = []
    for alert in alerts:
        rows.append(alert)
        if alert.code == "retention":
            continue
        rows += [
            Alert(f"{alert.key}/{one['recordingId']}", "", alert.code, "info", "", one["sessionShortId"], candidate=one)
            for one in alert.candidates
        ]
    return rows


def block(alert: Alert, size: int, user_home: str = "", *, open_: bool = False) -> list[Line]:
    """The lines of an alert: what happened, wrapped, and what to do about it when the cursor is there."""
    if alert.candidate is not None and not alert.message:
        return [_candidate(alert.candidate, size, user_home)]
    tone = _TONES.get(alert.severity, "text")
    mark = SEVERITIES.get(alert.severity, "!")
    head = f"{mark} {clock(alert.at, seconds=False)} " if alert.at else f"{mark} "
    blank = " " * len(head)
    texts = wrap(safe(with_home(alert.message, user_home)), size - len(head), _MOST_LINES if open_ else 2)
    words: Tone = "muted" if alert.severity == "info" else "text"
    lines: list[Line] = [(Piece(head, tone), Piece(texts[0], words))]
    lines += [(Piece(blank), Piece(text, words)) for text in texts[1:]]
    if open_:
        who = (piece(alert.session, "muted", 12),) if alert.session else ()
        fix = fix_of(alert).words
        if fix or who:
            lines.append(spread((Piece(blank), Piece(fix, "key")), who, size))
    return lines


def _candidate(one: Json, size: int, user_home: str) -> Line:
    head = (Piece("   └ ", "muted"), piece(one["recordingShortId"], "accent", 12))
    # Short ids may be the same: this much of the whole tells them apart, and can be typed.
    more = piece(str(one["recordingId"])[8:13], "muted", 12)
    where = Piece(home_path(str(one["destination"]), user_home))
    return spread((*head, more, Piece(" "), where), (), size)


def ids(alert: Alert) -> str:
    """What is worth copying of an alert."""
    if alert.candidate is not None:
        return str(alert.candidate["recordingId"])
    named = (*alert.candidates, *alert.recordings)
    listed = [str(one["recordingId"]) for one in named if "recordingId" in one]
    return "\n".join(listed) or str(alert.session or alert.message)


def report(alert: Alert, version: str) -> str:
    """A line for an issue: nothing of a conversation is in it."""
    return f"kato-tui {version}: {alert.code}: {safe(alert.message)}"


def counted(alerts: Iterable[Alert]) -> dict[str, int]:
    sums = {"error": 0, "warning": 0, "info": 0}
    for one in alerts:
        sums[one.severity] = sums.get(one.severity, 0) + 1
    return sums
