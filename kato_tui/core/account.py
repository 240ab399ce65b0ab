"""What reading sessions came to since the start: sums, what is wrong with whom, and what of it is worth a word."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kato_tui.core import identity
from kato_tui.core.errors import about_log, in_words
from kato_tui.core.ingest.batch import Report
from kato_tui.core.ingest.fold import HalfWritten
from kato_tui.core.logs import JsonLog
from kato_tui.core.notices import Notices
from kato_tui.core.summary import Summary

#: A reading that was longer than this, or out of the ordinary, is noted in the operational log.
_WORTH_A_LINE: Final = 1 << 20
_EVERYDAY: Final = frozenset({"resumes"})


class Account:
    def __init__(self, log: JsonLog, news: Notices) -> None:
        self._log = log
        self._news = news
        self.totals = Summary()
        #: Sessions whose document was met in the middle of being written.
        self._half_written: set[str] = set()

    def add(self, key: str, report: Report) -> None:
        """Something of a session was read, and is on disk."""
        self.totals.add(report)
        if report.bytes_read > _WORTH_A_LINE or report.counters.keys() - _EVERYDAY:
            self._log.write(
                "read",
                session=identity.short_id(identity.session_id(key)),
                events=report.events,
                bytes=report.bytes_read,
                counters=dict(report.counters),
            )
        if report.counters.get("rewrites"):
            message = "its log was rewritten: it was read anew, and what the twin held before stays in it"
            self._news.say("rewritten", "info", message, key)
        for outcome in report.outcomes:
            self._news.outcome(outcome)

    def went_well(self, key: str) -> None:
        """The session is up to date: what was wrong with it is over."""
        self.totals.problems.pop(key, None)
        self._half_written.discard(key)

    def failed(self, key: str, error: Exception, log: Path | None) -> None:
        """A session that cannot be read now: said once, however often it is tried."""
        message = about_log(log, error) if log is not None else in_words(error)
        if self.totals.problems.get(key) == message:
            return
        if isinstance(error, HalfWritten) and key not in self._half_written:
            # Documents are written in place: met in that moment, one is whole again at the next look.
            self._half_written.add(key)
            return
        self.totals.problems[key] = message
        self._news.say("unreadable", "error", message, key)
