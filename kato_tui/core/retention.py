"""How long assistants keep their own logs, and in which form: what `doctor` warns about. Reads settings only.

Claude Code deletes transcripts untouched for `cleanupPeriodDays` (30) when it starts; Gemini CLI does so with chats
older than `general.sessionRetention.maxAge` (30 days). Codex deletes nothing by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from kato_tui.core.ingest import reader

#: A log that goes within this time is worth a warning.
SOON: Final = timedelta(days=7)

_DEFAULT_DAYS: Final = 30
_MAX_SETTINGS: Final = 1 << 20
_AGE: Final = re.compile(r"(\d{1,5})([hdwm])")
_HOURS: Final = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30}
_PAGINATED: Final = re.compile(rb'"history_mode"\s*:\s*"paginated"|"ordinal"\s*:\s*\d')


@dataclass(frozen=True, slots=True)
class Rule:
    """Logs older than `days` are deleted; `why` names the setting."""

    days: int
    why: str


def rules(roots: Iterable[Mapping[str, Any]]) -> dict[str, Rule]:
    """The rule of each assistant that has one, the strictest where it has several folders. `roots` as in the status."""
    found: dict[str, Rule] = {}
    for root in roots:
        make = _RULES.get(str(root["provider"]))
        rule = make(Path(str(root["path"])).parent) if make is not None and root["exists"] else None
        if rule is not None:
            known = found.get(str(root["provider"]))
            found[str(root["provider"])] = min(known, rule, key=lambda one: one.days) if known else rule
    return found


def _claude(folder: Path) -> Rule | None:
    settings = folder / "settings.json"
    days = _settings(settings).get("cleanupPeriodDays")
    if isinstance(days, int) and not isinstance(days, bool) and days >= 0:
        return Rule(days, f"cleanupPeriodDays in {settings}")
    return Rule(_DEFAULT_DAYS, "its default; cleanupPeriodDays changes it")


def _gemini(folder: Path) -> Rule | None:
    settings = folder / "settings.json"
    general = _settings(settings).get("general")
    wanted = general.get("sessionRetention") if isinstance(general, dict) else None
    if not isinstance(wanted, dict):
        return Rule(_DEFAULT_DAYS, "its default; general.sessionRetention changes it")
    if wanted.get("enabled") is False:
        return None
    age = _AGE.fullmatch(str(wanted.get("maxAge", "")))
    days = int(age[1]) * _HOURS[age[2]] // 24 if age else _DEFAULT_DAYS
    return Rule(days, f"general.sessionRetention in {settings}")


_RULES: Final[dict[str, Callable[[Path], Rule | None]]] = {"claude": _claude, "gemini": _gemini}


def _settings(path: Path) -> dict[str, Any]:
    """The settings as far as they can be read: a broken file means the defaults, as for the assistant itself."""
    try:
        with path.open("rb") as file:
            value = json.loads(file.read(_MAX_SETTINGS))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def changed(path: Path) -> datetime | None:
    """When a log was last written to: what the assistants go by."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None


def generation(provider: str, path: Path) -> str:
    """The form of a log: what a report about a misread session has to name."""
    packed = ", compressed" if path.name.endswith(".zst") else ""
    if path.name.endswith(".json"):
        return "JSON document"
    if provider != "codex":
        return f"JSONL{packed}"
    try:
        first = reader.read_head(path).partition(b"\n")[0]
    except OSError:
        first = b""
    if not first:
        return "unreadable"
    if _PAGINATED.search(first):
        return f"paginated{packed}"
    return f"legacy{packed}" if b'"session_meta"' in first else f"bare{packed}"
