"""Decides what a wish changes in the recordings of one session (spec §8).

The only place where recordings are started and stopped, for chat, dashboard and command line alike. It writes no
file: it turns metadata into the next metadata, which its caller stores, and says what came of it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from kato_tui.core import identity
from kato_tui.core.clock import Clock, stamp
from kato_tui.core.model.intents import Action, Outcome, RecordingRef
from kato_tui.core.model.session import Recording, SessionMetadata
from kato_tui.core.model.settings import RecordSettings
from kato_tui.core.record import destination as destinations
from kato_tui.core.record import resolve
from kato_tui.core.record.destination import (
    Argument,
    DestinationError,
    Naming,
    Place,
    absolute,
    parse_argument,
    unwrap,
)
from kato_tui.core.record.outcomes import both_outcome, candidates_of, named, outcome, resolution_outcome
from kato_tui.core.record.periods import Stretch, closed, extended, open_period, uncovered
from kato_tui.core.record.policy import Allowed, WritePolicy, canonical
from kato_tui.core.record.turns import NoSuchTurn, first_seq


class Past(Protocol):
    """The events of a session so far."""

    def read(self, from_seq: int = 1) -> Iterator[dict[str, Any]]: ...


class Audit(Protocol):
    def write(self, event: str, **fields: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class Wish:
    """An intent that has found its session and its place in the conversation."""

    action: Action
    argument: str | None
    #: The first event that a start takes in, and the last one before a stop ends; equal for a command in the chat.
    start_at: int
    stop_at: int
    past: Past
    at: str | None = None
    by_seq: int | None = None
    #: Where the session stood when it was wished, if that is known; else it is where it stands now.
    cwd: str | None = None
    from_seq: int | None = None
    settings: RecordSettings | None = None


@dataclass(slots=True)
class Surroundings:
    """What decisions depend on besides the session itself."""

    user_home: Path
    policy: WritePolicy
    settings: RecordSettings
    clock: Clock
    audit: Audit
    #: Recordings of other sessions that are on, by their destination: two in one file are worth a warning.
    others_at: Callable[[str, str], list[RecordingRef]]
    new_id: Callable[[], str] = field(default=lambda: str(uuid.uuid4()))


Decision = tuple[SessionMetadata, list[Outcome]]

_NEWLY: Final[dict[str, str]] = {
    "start": "recording",
    "record": "recording",
    "capture": "capturing everything so far and going on",
    "export": "exporting",
    "resume": "recording again",
}


class Refused(Exception):
    """Nothing is changed; the outcome says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


class Director:
    def __init__(self, around: Surroundings) -> None:
        self._around = around

    def decide(self, metadata: SessionMetadata, wish: Wish) -> Decision:
        """The metadata as `wish` wants it, and what to tell. Refusals change nothing."""
        try:
            return _ACTIONS[wish.action](self, metadata, wish)
        except Refused as refused:
            return metadata, [refused.outcome]
        except (DestinationError, NoSuchTurn) as error:
            return metadata, [outcome(metadata, "invalid", "error", str(error))]

    # Start, record, capture, export: one file, some stretches of the conversation.

    def _start(self, metadata: SessionMetadata, wish: Wish) -> Decision:
        argument = parse_argument(wish.action, wish.argument)
        first = self._first(argument, wish)
        recording, _ = self._recording_at(metadata, argument, wish)
        return self._write(metadata, recording, uncovered(recording.periods, first), wish)

    def _capture(self, metadata: SessionMetadata, wish: Wish) -> Decision:
        argument = parse_argument(wish.action, wish.argument)
        if argument.path is None and (running := _complete_capture(metadata, self._around.policy)):
            message = f"already capturing everything to {named(running)}"
            return metadata, [outcome(metadata, "already-recording", "info", message, [running])]
        recording, _ = self._recording_at(metadata, argument, wish)
        return self._write(metadata, recording, uncovered(recording.periods, 1), wish)

    def _export(self, metadata: SessionMetadata, wish: Wish) -> Decision:
        argument = parse_argument(wish.action, wish.argument)
        if argument.path is None:
            raise DestinationError("export needs a destination, as in ::export ~/notes/talk.md")
        recording, known = self._recording_at(metadata, argument, wish)
        path = Path(recording.destination)
        if not known and path.exists():
            raise Refused(
                outcome(
                    metadata,
                    "exists",
                    "error",
                    f"cannot export to {self._around.policy.tilde(path)}: the file exists and kato-tui did not write "
                    "it for this session. Choose a new name",
                )
            )
        if known and open_period(recording) is not None:
            message = f"{named(recording)} is being recorded: use ::capture there to add what came before"
            raise Refused(outcome(metadata, "already-recording", "error", message, [recording]))
        stretches = uncovered(recording.periods, 1, wish.stop_at)
        if not stretches:
            message = f"{named(recording)} holds everything so far"
            return metadata, [outcome(metadata, "nothing-new", "info", message, [recording])]
        return self._write(metadata, recording, stretches, wish)

    def _write(self, metadata: SessionMetadata, recording: Recording, stretches: list[Stretch], wish: Wish) -> Decision:
        """Have the recording cover `stretches` as well. A period that is running ends before them and, since nobody
        stopped it, goes on as another one behind them."""
        running = open_period(recording)
        if running is not None:
            if not stretches:
                message = f"already recording {named(recording)}"
                return metadata, [outcome(metadata, "already-recording", "info", message, [recording])]
            recording = closed(recording, wish.start_at - 1, wish.at, wish.by_seq)
            stretches = [*stretches, (wish.start_at, None)]
        recording = extended(recording, stretches, wish.at, wish.by_seq)
        message = f"{_NEWLY[wish.action]} {'to ' if wish.action in ('export', 'capture') else ''}{named(recording)}"
        outcomes = [outcome(metadata, "done", "info", message, [recording])]
        outcomes += self._shared_file(metadata, recording)
        return _with(metadata, recording), outcomes

    def _first(self, argument: Argument, wish: Wish) -> int:
        if wish.from_seq is not None:
            return min(wish.from_seq, wish.start_at)
        if argument.begin is None:
            return wish.start_at
        return first_seq(argument.begin, _before(wish))

    def _recording_at(self, metadata: SessionMetadata, argument: Argument, wish: Wish) -> tuple[Recording, bool]:
        """The session's recording at the destination that is meant, and whether it was there already."""
        recording_id = self._around.new_id()
        naming = Naming(metadata.provider, metadata.session_id, recording_id, self._around.clock.now())
        target = destinations.resolve(argument.path, self._place(wish.cwd or metadata.facts.cwd), naming)
        allowed = self.allowed(metadata, target.path)
        for recording in reversed(metadata.recordings):
            if recording.destination == str(allowed.path) and not _thrown_away(recording):
                return recording, True
        fresh = Recording(
            recording_id=recording_id,
            destination=str(allowed.path),
            desired_state="off",
            write_cursor=0,
            created_at=stamp(self._around.clock.now()),
            settings=wish.settings or self._around.settings,
        )
        return fresh, False

    def allowed(self, metadata: SessionMetadata, path: Path) -> Allowed:
        """The policy's decision on `path`, on record; refuses what it denies."""
        decision = self._around.policy.check(path)
        self._around.audit.write("write", session=identity.short_id(metadata.session_id), **decision.audit())
        if not isinstance(decision, Allowed):
            raise Refused(outcome(metadata, f"denied-{decision.code}", "error", decision.reason))
        return decision

    def _place(self, cwd: str | None) -> Place:
        folder = Path(cwd) if cwd is not None else None
        return Place(self._around.user_home, self._around.policy.recordings_folder, folder)

    def _shared_file(self, metadata: SessionMetadata, recording: Recording) -> list[Outcome]:
        others = self._around.others_at(recording.destination, metadata.session_id)
        if not others:
            return []
        names = ", ".join(f"{other.recording_short_id} of session {other.session_short_id}" for other in others)
        message = f"{named(recording)} is also written by {names}: their messages will stand in one file"
        return [outcome(metadata, "shared-destination", "warning", message, [recording], candidates=others)]

    # Stop and resume: recordings that are there already.

    def _stop(self, metadata: SessionMetadata, wish: Wish) -> Decision:
        found, outcomes = self._resolved(metadata, wish, "stop")
        for recording in found:
            metadata = _with(metadata, closed(recording, wish.stop_at, wish.at, wish.by_seq))
        if found:
            message = f"stopped {', '.join(map(named, found))}"
            outcomes.insert(0, outcome(metadata, "done", "info", message, found))
        return metadata, outcomes

    def _resume(self, metadata: SessionMetadata, wish: Wish) -> Decision:
        found, outcomes = self._resolved(metadata, wish, "resume")
        for recording in found:
            self.allowed(metadata, Path(recording.destination))
            metadata, more = self._write(metadata, recording, [(wish.start_at, None)], wish)
            outcomes = more + outcomes
        return metadata, outcomes

    def _resolved(
        self, metadata: SessionMetadata, wish: Wish, action: resolve.Action
    ) -> tuple[list[Recording], list[Outcome]]:
        candidates = candidates_of(metadata)
        answer = resolve.resolve(
            wish.argument,
            candidates,
            canonical=lambda text: self.canonical(text, wish.cwd or metadata.facts.cwd),
            session_id=metadata.session_id,
            action=action,
        )
        outcomes = [resolution_outcome(answer, metadata)] if not isinstance(answer, resolve.Matched) else []
        if not isinstance(answer, resolve.Matched):
            return [], outcomes
        if answer.warning is not None:
            outcomes.append(both_outcome(answer.warning, metadata))
        meant = {one.recording_id for one in answer.found}
        return [one for one in metadata.recordings if one.recording_id in meant], outcomes

    def canonical(self, text: str, cwd: str | None) -> str:
        """A typed destination in the form that recordings store."""
        return str(canonical(absolute(unwrap(text), self._place(cwd))))


_ACTIONS: Final[dict[str, Callable[[Director, SessionMetadata, Wish], Decision]]] = {
    "start": Director._start,
    "record": Director._start,
    "capture": Director._capture,
    "export": Director._export,
    "stop": Director._stop,
    "resume": Director._resume,
}


def _with(metadata: SessionMetadata, recording: Recording) -> SessionMetadata:
    """`metadata` with this recording in the place of its former self, or as a new one."""
    kept = list(metadata.recordings)
    for number, one in enumerate(kept):
        if one.recording_id == recording.recording_id:
            kept[number] = recording
            break
    else:
        kept.append(recording)
    return metadata.model_copy(update={"recordings": kept})


def _thrown_away(recording: Recording) -> bool:
    """A stopped recording whose file the user removed: what its periods covered is not there any more."""
    return recording.desired_state == "off" and recording.file is not None and not Path(recording.destination).exists()


def _complete_capture(metadata: SessionMetadata, policy: WritePolicy) -> Recording | None:
    """A running recording in the default folder that holds everything from the start."""
    for recording in metadata.recordings:
        inside = Path(recording.destination).is_relative_to(canonical(policy.recordings_folder))
        if inside and open_period(recording) is not None and not uncovered(recording.periods, 1):
            return recording
    return None


def _before(wish: Wish) -> Iterator[dict[str, Any]]:
    """The events that were there when the command was typed: without the words before it in its own message."""
    held: list[dict[str, Any]] = []
    for event in wish.past.read():
        if event["seq"] >= wish.start_at:
            own = event["source"]["cursor"]["value"]
            yield from (one for one in held if one["source"]["cursor"]["value"] != own)
            return
        if held and held[-1]["source"]["cursor"]["value"] != event["source"]["cursor"]["value"]:
            yield from held
            held = []
        held.append(event)
    yield from held
