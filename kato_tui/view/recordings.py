"""Recordings as rows. Pure; a destination is shown by its end, which is what tells files apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from kato_tui.view.cells import Column, Line, Piece, Tone, header_line, layout, piece, table_line
from kato_tui.view.words import RECORDINGS, Json, amount, clock, short_path, since

_TONES: Final[dict[str, Tone]] = {"recording": "accent", "behind": "warn", "failing": "bad", "stopped": "muted"}
_COLUMNS: Final = (
    Column("state", 11),
    Column("id", 8),
    Column("session", 8, least=84),
    Column("destination", 10, flex=1),
    Column("started", 7, right=True, least=70),
    Column("written", 7, right=True, least=58),
    Column("events", 6, right=True, least=40),
    Column("periods", 7, right=True, least=84),
)
#: In a list of all sessions' recordings, whose it is counts for more than since when.
_LEASTS: Final = {"session": 48, "started": 84}
_OF_ALL: Final = tuple(replace(one, least=_LEASTS.get(one.name, one.least)) for one in _COLUMNS)


def of_session(session: Json | None) -> list[Json]:
    return list(session.get("recordings", ())) if session is not None else []


def ordered(recordings: Iterable[Json]) -> list[Json]:
    """Those that go on first, each group with the newest first."""
    found = sorted(recordings, key=lambda one: str(one.get("createdAt") or ""), reverse=True)
    return sorted(found, key=lambda one: one["desiredState"] != "on")


def columns(size: int, *, of_all: bool = False) -> list[tuple[Column, int]]:
    return layout(_OF_ALL if of_all else _COLUMNS, size)


def header(size: int, *, of_all: bool = False) -> Line:
    return header_line(columns(size, of_all=of_all))


def row(recording: Json, size: int, now: datetime, user_home: str = "", *, of_all: bool = False) -> Line:
    shown = columns(size, of_all=of_all)
    room = next(size for column, size in shown if column.name == "destination")
    status = str(recording["status"])
    tone = _TONES.get(status, "text")
    failed = status == "failing" and recording.get("lastError")
    where = piece(recording["lastError"], "bad") if failed else Piece(_place(recording, room, user_home))
    periods = len(recording.get("periods", ()))
    cells: dict[str, Line] = {
        "state": (Piece(RECORDINGS.get(status, "?"), tone),),
        "id": (piece(recording["recordingShortId"], "muted", 12),),
        "session": (piece(recording["sessionShortId"], "muted", 12),),
        "destination": (where,),
        "started": (Piece(clock(started(recording), seconds=False), "muted"),),
        "written": (Piece(since(recording.get("lastWriteAt"), now), "muted"),),
        "events": (Piece(amount(recording.get("eventsWritten", 0)), "muted"),),
        "periods": (Piece(str(periods), "muted"),),
    }
    return table_line(cells, shown)


def _place(recording: Json, room: int, user_home: str) -> str:
    return short_path(str(recording["destination"]), room, user_home)


def started(recording: Json) -> str | None:
    """When its newest period began."""
    periods = recording.get("periods") or ()
    begun = periods[-1].get("startedAt") if periods else None
    return begun or recording.get("createdAt")
