"""Periods of a recording: which stretches of a session its file holds (spec §8). Pure values in, pure values out."""

from __future__ import annotations

from collections.abc import Iterable

from kato_tui.core.model.session import Period, Recording

#: First and last seq of a stretch, both included; None for "and everything that comes".
Stretch = tuple[int, int | None]


def open_period(recording: Recording) -> Period | None:
    """The period that is still running, if there is one: always the last."""
    last = recording.periods[-1] if recording.periods else None
    return last if last is not None and last.stopped_cursor is None else None


def uncovered(periods: Iterable[Period], first: int, last: int | None = None) -> list[Stretch]:
    """The stretches between `first` and `last` (None: for good) that none of the periods holds yet, in order."""
    gaps: list[Stretch] = []
    position = first
    for period in sorted(periods, key=lambda one: one.started_cursor):
        if last is not None and period.started_cursor > last:
            break
        if period.started_cursor > position:
            gaps.append((position, period.started_cursor - 1))
        if period.stopped_cursor is None:
            return gaps
        position = max(position, period.stopped_cursor + 1)
    if last is None or position <= last:
        gaps.append((position, last))
    return gaps


def closed(recording: Recording, last: int, at: str | None, by_seq: int | None) -> Recording:
    """`recording` with its running period ended at seq `last`, that one included, and nothing wanted any more."""
    periods = list(recording.periods)
    if open_period(recording) is not None:
        # A stop before the first event of the period leaves an empty stretch: its end is just before its start.
        end = max(last, periods[-1].started_cursor - 1)
        periods[-1] = periods[-1].model_copy(update={"stopped_cursor": end, "stopped_at": at, "stopped_by_seq": by_seq})
    return recording.model_copy(update={"periods": periods, "desired_state": "off"})


def extended(recording: Recording, stretches: list[Stretch], at: str | None, by_seq: int | None) -> Recording:
    """`recording` with these stretches to be written next; it is on when the last of them is open."""
    periods = list(recording.periods)
    for first, last in stretches:
        ended = at if last is not None else None
        periods.append(
            Period(
                started_cursor=first,
                stopped_cursor=last,
                started_at=at,
                stopped_at=ended,
                started_by_seq=by_seq,
                stopped_by_seq=by_seq if last is not None else None,
            )
        )
    on = bool(stretches) and stretches[-1][1] is None
    state = "on" if on else recording.desired_state
    return recording.model_copy(update={"periods": periods, "desired_state": state})


def next_seq(recording: Recording) -> int | None:
    """The seq that is to be written next in the present period, or None when that period is complete."""
    if recording.period_index >= len(recording.periods):
        return None
    period = recording.periods[recording.period_index]
    position = period.started_cursor if recording.render_state is None else recording.write_cursor + 1
    return position if period.stopped_cursor is None or position <= period.stopped_cursor else None


def settled(recording: Recording) -> Recording:
    """`recording` moved past the periods that are complete, to the one that is to be written.

    A period that goes on where the last one ended goes on with its render state too: the file reads as one.
    """
    while next_seq(recording) is None and recording.period_index + 1 < len(recording.periods):
        done, following = recording.periods[recording.period_index : recording.period_index + 2]
        joined = done.stopped_cursor is not None and following.started_cursor == done.stopped_cursor + 1
        state = recording.render_state if joined else None
        recording = recording.model_copy(update={"period_index": recording.period_index + 1, "render_state": state})
    return recording


def behind(recording: Recording, newest: int) -> bool:
    """Whether the twin, whose last event is `newest`, holds something that the file does not."""
    moved = settled(recording)
    position = next_seq(moved)
    return recording.pending is not None or (position is not None and position <= newest)
