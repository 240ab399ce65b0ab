"""Status as people read it: plain JSON values in, lines out. Pure; every text of a log is cleaned here (spec §12)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from kato_tui.core.recent import horizon, why_hidden
from kato_tui.view.safe import safe
from kato_tui.view.words import RECORDINGS, SEVERITIES, STATES, Json, age, counted, local, project, size

_TITLE: Final = 60
_LEAST: Final = 8


def split_hidden(sessions: Iterable[Json], now: datetime, *, everything: bool) -> tuple[list[Json], dict[str, int]]:
    """The sessions to show, newest first, and how many of each sort are hidden.

    What is being recorded or has a problem is never hidden.
    """
    shown: list[Json] = []
    hidden: dict[str, int] = {}
    since = horizon(now)
    for one in sessions:
        why = None
        if not everything and not _matters(one):
            why = why_hidden(one.get("sourceKind", "main"), one.get("lastActivity"), since)
        if why is None:
            shown.append(one)
        else:
            hidden[why] = hidden.get(why, 0) + 1
    shown.sort(key=lambda one: (str(one.get("lastActivity") or ""), str(one["sessionId"])), reverse=True)
    return shown, hidden


def _matters(session: Json) -> bool:
    return bool(session.get("problem")) or any(one["desiredState"] == "on" for one in session.get("recordings", ()))


def with_left_out(hidden: Mapping[str, int], left_out: Mapping[str, int]) -> dict[str, int]:
    """What is hidden here, and what the engine did not even send."""
    return {why: hidden.get(why, 0) + left_out.get(why, 0) for why in (*left_out, *hidden)}


def hidden_line(hidden: Mapping[str, int]) -> str:
    parts = " and ".join(f"{count} {why}" for why, count in hidden.items())
    return f"{parts} hidden: --all shows all"


def state(session: Json) -> str:
    if session.get("problem"):
        return "✗ needs rebuild"
    words = STATES.get(str(session.get("reason")), safe(str(session.get("reason")), 20))
    tool = session.get("tool")
    return f"{words} {safe(str(tool), 20)}" if tool else words


def title(session: Json) -> str:
    text = session.get("title")
    name = safe(str(text), _TITLE) if text else "(no title yet)"
    return f"{name} (log gone)" if session.get("sourceGone") else name


def session_rows(sessions: Iterable[Json], now: datetime) -> list[list[str]]:
    rows = [["state", "session", "assistant", "title", "project", "age", "recordings"]]
    rows += [
        [
            state(one),
            safe(str(one["sessionShortId"]), 12),
            safe(str(one["provider"]), 12),
            title(one),
            project(one),
            age(one.get("lastActivity"), now),
            _counted(one.get("recordings", ())),
        ]
        for one in sessions
    ]
    return rows


def _counted(recordings: Sequence[Json]) -> str:
    on = sum(one["desiredState"] == "on" for one in recordings)
    failing = sum(one["status"] == "failing" for one in recordings)
    off = len(recordings) - on
    parts = [f"{on} on" if on else "", f"{failing} failing" if failing else "", f"{off} stopped" if off else ""]
    return ", ".join(part for part in parts if part) or "-"


def recording_rows(recordings: Iterable[Json], now: datetime) -> list[list[str]]:
    rows = [["state", "recording", "session", "events", "written", "destination"]]
    rows += [
        [
            RECORDINGS.get(str(one["status"]), safe(str(one["status"]), 20)),
            safe(str(one["recordingShortId"]), 12),
            safe(str(one["sessionShortId"]), 12),
            str(one["eventsWritten"]),
            age(one["lastWriteAt"], now) if one.get("lastWriteAt") else "-",
            safe(str(one["destination"])) + (f"  {safe(str(one['lastError']))}" if one.get("lastError") else ""),
        ]
        for one in recordings
    ]
    return rows


def warning_line(warning: Json) -> str:
    who = f" {warning['sessionShortId']}" if warning.get("sessionShortId") else ""
    mark = SEVERITIES.get(str(warning["severity"]), "!")
    return f"{mark} {local(warning['at'])}{safe(who, 12)} {safe(str(warning['message']))}"


def engine_line(engine: Json) -> str:
    watching = engine.get("watching", "none")
    who = "no engine watches: kato-tui --no-ui starts one"
    if watching != "none":
        who = f"engine {engine.get('pid') or ''} watches by {safe(str(watching), 12)}".replace("  ", " ")
    behind = f", {size(engine['bytesBehind'])} behind" if engine.get("bytesBehind") else ""
    sessions, recordings = counted(engine["sessions"], "session"), counted(engine["activeRecordings"], "recording")
    return f"{sessions}, {recordings} on{behind}; {who}"


def no_sessions(status: Json) -> str:
    return "no sessions to show" if status["engine"]["sessions"] else nothing_found(status["engine"]["roots"])


def nothing_found(roots: Iterable[Json]) -> str:
    """For a machine without a session: where they were looked for, and what can be done without any."""
    folders = ", ".join(safe(str(root["path"])) for root in roots)
    hint = "Other folders can be named in the settings (kato-tui config init); kato-tui --demo shows made-up sessions"
    return f"nothing found, looked in {folders}\n{hint}"


def closed_roots(engine: Json) -> list[str]:
    """The folders that are there and cannot be looked into: a list without their sessions looks complete."""
    closed = [(safe(str(one["path"])), one["problem"]) for one in engine.get("roots", ()) if one.get("problem")]
    return [f"{path} cannot be read: {problem}. kato-tui doctor says how to open it" for path, problem in closed]


def status_lines(status: Json, now: datetime, *, everything: bool, width: int | None) -> list[str]:
    """The whole picture: sessions, recordings that are on or failing, and warnings."""
    sessions, hidden = split_hidden(status["sessions"], now, everything=everything)
    hidden = with_left_out(hidden, status.get("hidden", {}))
    lines = table(session_rows(sessions, now), width) if sessions else [no_sessions(status)]
    lines += [f"  {one['sessionShortId']}: {safe(str(one['problem']))}" for one in sessions if one.get("problem")]
    if hidden:
        lines.append(hidden_line(hidden))
    lines += closed_roots(status["engine"])
    active = [one for one in all_recordings(status) if everything or one["status"] != "stopped"]
    if active:
        lines += ["", *table(recording_rows(active, now), width)]
    warnings = [one for one in status.get("warnings", ()) if everything or one["severity"] != "info"]
    if warnings:
        lines += ["", "warnings", *map(warning_line, warnings)]
    return lines


def all_recordings(status: Json) -> list[Json]:
    return [one for session in status["sessions"] for one in session.get("recordings", ())]


# Laying out.


def table(rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Rows under one another. In a terminal of `width` columns the widest texts are cut, not wrapped."""
    taken = [list(map(columns, row)) for row in rows]
    widths = [max(column) for column in zip(*taken, strict=True)]
    if width is not None:
        _shrink(widths, width - 2 * (len(widths) - 1))
    return ["  ".join(map(_cell, row, took, widths)).rstrip() for row, took in zip(rows, taken, strict=True)]


def _shrink(widths: list[int], room: int) -> None:
    while sum(widths) > room and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1


def _cell(text: str, took: int, size: int) -> str:
    if took > size:
        text = fit(text, size)
        took = columns(text)
    return text + " " * (size - took)


def columns(text: str) -> int:
    """How many columns a terminal takes for `text`: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_column, text))


def _column(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fit(text: str, size: int) -> str:
    if columns(text) <= size:
        return text
    kept, used = [], 0
    for char in text:
        used += _column(char)
        if used > size - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"
