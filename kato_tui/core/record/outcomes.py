"""What people are told about their recordings: outcomes made of resolutions, refusals and things done."""

from __future__ import annotations

from collections.abc import Iterable

from kato_tui.core import identity
from kato_tui.core.model.intents import Outcome, RecordingRef, Severity
from kato_tui.core.model.session import Recording, SessionMetadata
from kato_tui.core.record import resolve


def candidates_of(metadata: SessionMetadata) -> list[resolve.Candidate]:
    return [
        resolve.Candidate(metadata.session_id, one.recording_id, one.destination, one.desired_state == "on")
        for one in metadata.recordings
    ]


def resolution_outcome(
    answer: resolve.Already[resolve.Candidate]
    | resolve.NotFound
    | resolve.TooShort
    | resolve.Ambiguous[resolve.Candidate],
    metadata: SessionMetadata | None,
) -> Outcome:
    """What to tell when a target means nothing, too much, or nothing more to do."""
    found: Iterable[resolve.Candidate] = ()
    if isinstance(answer, resolve.Already):
        found = answer.found
    elif isinstance(answer, resolve.Ambiguous):
        found = answer.candidates
    refs = [ref_of(one.session_id, one.recording_id, one.destination) for one in found]
    already = isinstance(answer, resolve.Already)
    return Outcome(
        code=answer.code,
        severity="info" if already else "error",
        message=answer.reason,
        session_short_id=identity.short_id(metadata.session_id) if metadata is not None else None,
        recordings=refs if already else [],
        candidates=[] if already else refs,
    )


def both_outcome(warning: resolve.BothMatched, metadata: SessionMetadata | None) -> Outcome:
    both = [*warning.by_destination, *warning.by_id]
    return Outcome(
        code=warning.code,
        severity="warning",
        message=warning.reason,
        session_short_id=identity.short_id(metadata.session_id) if metadata is not None else None,
        candidates=[ref_of(one.session_id, one.recording_id, one.destination) for one in both],
    )


def ref_of(session_id: str, recording_id: str, destination: str) -> RecordingRef:
    return RecordingRef(
        recording_id=recording_id,
        recording_short_id=identity.short_id(recording_id),
        destination=destination,
        session_short_id=identity.short_id(session_id),
    )


def outcome(
    metadata: SessionMetadata,
    code: str,
    severity: Severity,
    message: str,
    recordings: Iterable[Recording] = (),
    candidates: Iterable[RecordingRef] = (),
) -> Outcome:
    return Outcome(
        code=code,
        severity=severity,
        message=message,
        session_short_id=identity.short_id(metadata.session_id),
        recordings=[ref_of(metadata.session_id, one.recording_id, one.destination) for one in recordings],
        candidates=list(candidates),
    )


def named(recording: Recording) -> str:
    return f"{identity.short_id(recording.recording_id)} ({recording.destination})"
