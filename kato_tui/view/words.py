"""The words and glyphs that stand for states and times, the same on the screen and on the command line. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, Final

from kato_tui.view.safe import safe

Json = Mapping[str, Any]

#: Reason -> how it looks. The word is always there: glyphs and colours are for the eye only.
STATES: Final[dict[str, str]] = {
    "acting": "● working",
    "thinking": "● thinking",
    "decision": "◆ asks you",
    "idle": "○ idle",
    "process-gone": "× ended",
}
RECORDINGS: Final[dict[str, str]] = {
    "recording": "● recording",
    "behind": "◐ behind",
    "failing": "! failing",
    "stopped": "○ stopped",
}
SEVERITIES: Final[dict[str, str]] = {"info": "·", "warning": "!", "error": "✗"}

_AGES: Final = ((86400 * 365, "y"), (86400, "d"), (3600, "h"), (60, "m"))
_UNITS: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def size(count: int) -> str:
    """Bytes as people say them."""
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.2f} GB"


def counted(count: int, noun: str) -> str:
    """So many of them, as people say it."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def moment(text: str | None) -> datetime | None:
    """A timestamp of a contract, or None where there is none that can be read: logs write what they like."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def age(text: str | None, now: datetime) -> str:
    """How long ago, in one unit: `3m`."""
    then = moment(text)
    if then is None:
        return "?"
    seconds = int((now - then).total_seconds())
    if seconds < 0:
        return "in the future" if seconds < -60 else "now"
    for length, unit in _AGES:
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return "now" if seconds < 10 else f"{seconds}s"


def since(text: str | None, now: datetime) -> str:
    """How long ago for a screen that is not redrawn every second: `now` for the whole first minute, `-` if unknown."""
    told = age(text, now)
    if told == "?":
        return "-"
    return "now" if told.endswith("s") or told == "in the future" else told


def _here(text: str | None) -> datetime | None:
    then = moment(text)
    try:
        return then.astimezone() if then is not None else None
    except (OverflowError, ValueError):
        return None


def local(text: str | None) -> str:
    """Day and time where the user is, for what may be days old."""
    here = _here(text)
    return here.strftime("%Y-%m-%d %H:%M:%S") if here is not None else "?"


def day(text: str | None, now: datetime) -> str:
    """The local day of a timestamp, nothing when that is today: `Tue 17 Nov`, with the year when it is another."""
    here, today = _here(text), now.astimezone()
    if here is None or here.date() == today.date():
        return ""
    return here.strftime("%a %d %b" if here.year == today.year else "%d %b %Y")


def clock(text: str | None, *, seconds: bool = True) -> str:
    """The local time of day of a timestamp; blanks of the same width when it has none."""
    here = _here(text)
    if here is None:
        return " " * (8 if seconds else 5)
    return here.strftime("%H:%M:%S" if seconds else "%H:%M")


def amount(count: float | None) -> str:
    """A count in at most five columns: `93.5k`."""
    if count is None:
        return "-"
    for size, unit in _UNITS:
        if count >= size:
            value = count / size
            return f"{value:.1f}{unit}" if value < 100 else f"{value:.0f}{unit}"
    return f"{count:.0f}"


def home_path(path: str, user_home: str = "") -> str:
    """A path as people write it: `~` for their home. Cleaned."""
    if user_home and (path == user_home or path.startswith(user_home.rstrip("/") + "/")):
        path = "~" + path[len(user_home.rstrip("/")) :]
    return safe(path)


def with_home(text: str, user_home: str) -> str:
    """A sentence with paths in it, each as people write it."""
    return text.replace(f"{user_home.rstrip('/')}/", "~/") if user_home else text


def short_path(path: str, size: int, user_home: str = "") -> str:
    """A path cut at its front, because its end is what tells files apart."""
    shown = home_path(path, user_home)
    return shown if len(shown) <= size else "…" + shown[-(size - 1) :]


def project(session: Json) -> str:
    """The last folder of the working directory, with the branch: what tells sessions of one machine apart."""
    folder = PurePath(str(session["cwd"])).name if session.get("cwd") else ""
    branch = session.get("gitBranch")
    return safe(f"{folder or '-'}{f'@{branch}' if branch else ''}", 40)
