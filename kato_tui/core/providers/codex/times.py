"""Codex writes times as ISO strings, seconds, milliseconds and float seconds; and its ids hold a time of their own."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

_ISO_UTC: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z", re.ASCII)
_UUID7: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
#: Above this a number cannot be seconds of our age: some writers put milliseconds into `started_at`.
_SECONDS_LIMIT: Final = 100_000_000_000
#: Below this (2020-09-13) a number is a counter or a placeholder such as the 0 in old Plan lines.
_EARLIEST: Final = 1_600_000_000


def iso(value: Any) -> str | None:
    """A line's timestamp as ISO-8601 UTC, or None when it is none."""
    if isinstance(value, str):
        if _ISO_UTC.fullmatch(value):
            return value
        return _from_offset(value) if len(value) <= 40 else None
    millis = epoch_ms(value)
    return None if millis is None else from_ms(millis)


def _from_offset(value: str) -> str | None:
    try:
        moment = datetime.fromisoformat(value)
        return None if moment.tzinfo is None else _format(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def epoch_ms(value: Any) -> int | None:
    """Seconds (int or float) or milliseconds since 1970 as milliseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _EARLIEST <= value < 1e14:
        return None
    return int(value if value >= _SECONDS_LIMIT else value * 1000)


def iso_ms(value: str | None) -> int | None:
    """Milliseconds of a timestamp that `iso` gave."""
    if value is None:
        return None
    try:
        return int(datetime.fromisoformat(value).timestamp() * 1000)
    except ValueError:
        return None


def from_ms(millis: int) -> str:
    return _format(datetime.fromtimestamp(millis / 1000, UTC))


def _format(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def uuid7_ms(value: Any) -> int | None:
    """The time inside a UUIDv7: thread and turn ids since 2025-09."""
    if not isinstance(value, str) or not _UUID7.fullmatch(value):
        return None
    return int(value[:8] + value[9:13], 16)
