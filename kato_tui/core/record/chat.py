"""Runs the commands that stand in a conversation, at their own place in it (spec §8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kato_tui.core import identity
from kato_tui.core.ingest.sink import Placed
from kato_tui.core.model.intents import Outcome
from kato_tui.core.model.session import SessionMetadata
from kato_tui.core.providers.base import Draft
from kato_tui.core.record.director import Audit, Director, Past, Wish
from kato_tui.core.record.outcomes import outcome

#: Commands whose session is remembered: many more than anybody types before their conversation is copied.
_MAX_RUN: Final = 4096


class ChatCommands:
    def __init__(self, director: Director, audit: Audit) -> None:
        self._director = director
        self._audit = audit
        #: Where each command was run, by its record's id, its place in it, time and words: a fork copies all of them.
        self._ran_in: dict[tuple[str, str, int, str | None, str], str] = {}

    def run(
        self, metadata: SessionMetadata, commands: Iterable[Placed], past: Past
    ) -> tuple[SessionMetadata, list[Outcome]]:
        """The metadata after these commands, in their order; an invalid one does not hold up the others."""
        outcomes: list[Outcome] = []
        for seq, draft in commands:
            payload = draft.payload
            if "error" in payload:
                message = f"{payload['line']}: {payload['error']}"
                told = [outcome(metadata, "invalid-command", "error", message)]
            elif home := self._copied_from(metadata, draft):
                message = f"{payload['line']}: it was typed in session {home} and copied here, so it is not run again"
                told = [outcome(metadata, "copied-command", "info", message)]
            else:
                metadata, told = self._director.decide(
                    metadata,
                    Wish(
                        payload["command"],
                        payload.get("rawArgument"),
                        start_at=seq,
                        stop_at=seq,
                        past=past,
                        at=draft.timestamp,
                        by_seq=seq,
                        cwd=draft.cwd,
                    ),
                )
                told = [_naming_the_line(one, payload["line"]) for one in told]
            outcomes += told
            self._audit.write(
                "command",
                session=identity.short_id(metadata.session_id),
                seq=seq,
                command=payload["command"],
                outcome=[one.code for one in told],
            )
        return metadata, outcomes

    def _copied_from(self, metadata: SessionMetadata, draft: Draft) -> str | None:
        """The short id of the other session in which this very command was run."""
        if draft.event_id is None:
            return None
        name = (metadata.provider, draft.event_id, draft.emit_index, draft.timestamp, draft.payload["line"])
        home = self._ran_in.setdefault(name, metadata.session_id)
        if len(self._ran_in) > _MAX_RUN:
            del self._ran_in[next(iter(self._ran_in))]
        return identity.short_id(home) if home != metadata.session_id else None


def _naming_the_line(told: Outcome, line: str) -> Outcome:
    """What went wrong, with the command it is about: there were several in the message."""
    return told if told.severity == "info" else told.model_copy(update={"message": f"{line}: {told.message}"})
