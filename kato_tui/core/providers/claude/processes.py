"""The registry of running Claude Code processes: `sessions/<pid>.json` beside the projects.

A log cannot say that its process is gone; the registry can, when it names a process that no longer runs. A session
without an entry proves nothing: older versions keep no registry.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kato_tui.core.providers.parsing import parse

_MAX_ENTRIES: Final = 512
_MAX_BYTES: Final = 64 << 10


def ended(registry: Path) -> set[str]:
    """The sessions for which the registry names processes of which none runs."""
    entries = _entries(registry)
    return {session for _, session in entries} - {session for pid, session in entries if _runs(pid)}


def _entries(registry: Path) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    try:
        names = sorted(entry.name for entry in os.scandir(registry) if entry.name.endswith(".json"))
    except OSError:
        return found
    for name in names[:_MAX_ENTRIES]:
        try:
            with (registry / name).open("rb") as file:
                value = parse(file.read(_MAX_BYTES))
        except OSError:
            continue
        if isinstance(value, dict):
            pid, session = value.get("pid"), value.get("sessionId")
            if isinstance(pid, int) and isinstance(session, str):
                found.append((pid, session))
    return found


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError, ValueError):
        return False
    except PermissionError:
        return True
    return pid > 0
