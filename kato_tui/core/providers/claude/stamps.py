"""Times as Claude Code writes them, made comparable as strings."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

_USUAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
#: Epoch numbers above this are milliseconds (it is the year 5138 in seconds, 1973 in milliseconds).
_MILLISECONDS: Final = 100_000_000_000
#: Steps back below this are jitter of the asynchronous writer: 90 % of all real ones are under a second.
JITTER_SECONDS: Final = 2.0


def stamp(value: Any) -> str | None:
    """The time as `YYYY-MM-DDTHH:MM:SS.mmmZ`, or None for anything that is no time of a known zone."""
    if isinstance(value, str):
        if _USUAL.fullmatch(value):
            return value
        return _iso(value) if len(value) <= 40 else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _epoch(float(value))
    return None


def _iso(value: str) -> str | None:
    try:
        moment = datetime.fromisoformat(value)
        return _text(moment.astimezone(UTC)) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _epoch(value: float) -> str | None:
    try:
        return _text(datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def older(earlier: str, later: str | None) -> bool:
    """Whether `earlier` lies before `later` by more than the writer's jitter."""
    if later is None or earlier >= later:
        return False
    try:
        distance = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    except ValueError:
        return False
    return distance.total_seconds() > JITTER_SECONDS
