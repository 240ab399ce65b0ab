"""Which sessions a short picture leaves out: one rule for who shows it and for the engine, which does not send them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kato_tui.core.engine import Engine

OLD: Final = timedelta(days=7)


def horizon(now: datetime) -> str:
    """What happened before this is old. ISO times compare as text as far as days matter."""
    return (now - OLD).isoformat()


def why_hidden(source_kind: str, last_activity: str | None, since: str) -> str | None:
    if source_kind != "main":
        return "sub-agents"
    return f"older than {OLD.days} days" if last_activity and last_activity < since else None


def choose(engine: Engine, now: datetime) -> tuple[list[str], dict[str, int]]:
    """The keys of the sessions to show, and how many of each sort are left out.

    What is recorded, has a problem or is not read yet is never left out here.
    """
    since = horizon(now)
    shown: list[str] = []
    hidden: dict[str, int] = {}
    for key in engine.survey.all_keys():
        entry = engine.index.entries.get(key)
        why = why_hidden(entry.source_kind, entry.facts.last_activity, since) if entry is not None else None
        if entry is None or why is None or entry.active_recordings or engine.is_pending(key) or engine.refusal(key):
            shown.append(key)
        else:
            hidden[why] = hidden.get(why, 0) + 1
    return shown, hidden
