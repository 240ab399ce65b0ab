"""What the user should know: kept for readers, told to who watches, and noted in the operational log."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from kato_tui.core import identity
from kato_tui.core.clock import Clock, stamp
from kato_tui.core.logs import JsonLog
from kato_tui.core.model.intents import Notice, Outcome, Severity

#: Notices kept for readers; each is in the operational log as well.
_KEPT: Final = 500


class Notices:
    """The one way by which anything in the engine speaks up."""

    def __init__(self, clock: Clock, log: JsonLog, tell: Callable[[Notice], None]) -> None:
        self._clock = clock
        self._log = log
        self._tell = tell
        #: Newest last.
        self.kept: deque[Notice] = deque(maxlen=_KEPT)

    def put(self, notice: Notice) -> None:
        self.kept.append(notice)
        self._tell(notice)
        self._log.write("notice", code=notice.code, severity=notice.severity, session=notice.session_short_id)

    def say(self, code: str, severity: Severity, message: str, key: str | None = None) -> None:
        """Something about the engine itself, or about the session of that key."""
        short = identity.short_id(identity.session_id(key)) if key is not None else None
        at = stamp(self._clock.now())
        self.put(Notice(at=at, code=code, severity=severity, message=message, session_short_id=short))

    def outcome(self, outcome: Outcome) -> None:
        """What became of an intent, for those who did not ask."""
        self.put(
            Notice(
                at=stamp(self._clock.now()),
                code=outcome.code,
                severity=outcome.severity,
                message=outcome.message,
                session_short_id=outcome.session_short_id,
                recordings=outcome.recordings,
                candidates=outcome.candidates,
            )
        )
