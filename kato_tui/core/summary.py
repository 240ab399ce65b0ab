"""What bringing sessions up to date comes to: how far it is, and what it was in the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kato_tui.core.ingest.batch import Report


@dataclass(frozen=True, slots=True)
class Step:
    """How far a long run is: for a progress bar."""

    done: int
    total: int
    key: str
    bytes_read: int


@dataclass(slots=True)
class Summary:
    """What one run over all sessions came to."""

    sessions: int = 0
    changed: int = 0
    events: int = 0
    bytes_read: int = 0
    counters: Counter[str] = field(default_factory=Counter)
    #: Session key -> what is wrong and what to do; the other sessions went on.
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        self.changed += 1
        self.events += report.events
        self.bytes_read += report.bytes_read
        self.counters.update(report.counters)
