"""What people ask for and what comes of it: one intent and one outcome for chat, keys and command line (spec §8)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kato_tui.core.model.base import Contract
from kato_tui.core.model.events import Identifier
from kato_tui.core.model.settings import RecordSettings

#: `keep` is not for chats: keep a twin of the session from now on, or with the argument `off`, no longer.
Action = Literal["start", "record", "capture", "export", "stop", "resume", "keep"]
Severity = Literal["info", "warning", "error"]


class Intent(Contract):
    """One wish. `argument` is written exactly as it would stand behind the command in a chat."""

    action: Action
    argument: str | None = None
    #: The session meant: id, prefix, provider's id or log path. None means all sessions, for stop and resume only.
    session: str | None = None
    #: Begin at this event instead of now: what "start from here" sends.
    from_seq: Annotated[int, Field(ge=1)] | None = None
    settings: RecordSettings | None = None
    origin: Literal["chat", "dashboard", "command-line"] = "command-line"


class RecordingRef(Contract):
    """A recording as people meet it: its ids and where it is."""

    recording_id: Identifier
    recording_short_id: Identifier
    destination: Identifier
    session_short_id: Identifier


class Outcome(Contract):
    """What became of an intent. `message` is whole: it names the thing, the reason and the next step."""

    code: Identifier
    severity: Severity
    message: str
    session_short_id: str | None = None
    recordings: list[RecordingRef] = Field(default_factory=list)
    #: Who else could have been meant, where the target was ambiguous.
    candidates: list[RecordingRef] = Field(default_factory=list)
    #: What else there is to know, such as a stop that was ambiguous.
    also: list[Outcome] = Field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        return self.severity != "error"


class Notice(Contract):
    """Something the user should know: shown in the warnings pane, in `status` and in the operational log."""

    at: str
    code: Identifier
    severity: Severity
    message: str
    session_short_id: str | None = None
    #: Those it is about, and those that could have been meant where that is not clear.
    recordings: list[RecordingRef] = Field(default_factory=list)
    candidates: list[RecordingRef] = Field(default_factory=list)
