"""What the dashboard shows, as pure functions: rows that fit at every width, orders, filters, ages, gauges, edges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kato_tui.view import bar, events, recordings, sessions, warnings, words
from kato_tui.view.cells import Piece, Tone, crop, cut, pad, plain, spread, width, wrap
from kato_tui.view.sessions import SORTS, Wanted

NOW = datetime(2026, 8, 30, 12, 0, tzinfo=UTC)
TEXTS = st.text(st.sampled_from("ab c—é日本👍🏽\u0301\u202e\x1b[]/\n\t"), max_size=60)


def _ago(**span: float) -> str:
    return (NOW - timedelta(**span)).isoformat()


def _session(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "sessionId": f"{number:08x}-0000-4000-8000-000000000000",
        "sessionShortId": f"{number:08x}",
        "provider": "claude",
        "providerSessionId": f"s{number}",
        "reason": "idle",
        "state": "needs-you",
        "lastActivity": _ago(minutes=number),
        "recordings": [],
        **fields,
    }


def _recording(on: bool = True, status: str = "recording", **fields: Any) -> dict[str, Any]:
    return {
        "recordingId": "7d14af8e-0000-4000-8000-000000000000",
        "recordingShortId": "7d14af8e",
        "sessionShortId": "00000001",
        "destination": "/home/me/notes/tide.md",
        "desiredState": "on" if on else "off",
        "status": status,
        "eventsWritten": 12,
        "periods": [],
        **fields,
    }


def _keys(everyone: list[dict[str, Any]], wanted: Wanted, unseen: dict[str, int] | None = None) -> list[str]:
    return [key.removeprefix("claude:") for key in sessions.choose(everyone, wanted, NOW, unseen or {})[0]]


@given(TEXTS, st.integers(0, 90))
def test_a_cut_text_never_takes_more_cells_than_there_are(text: str, size: int) -> None:
    assert width([Piece(cut(text, size))]) <= size
    assert width([Piece(pad(text, size))]) == size
    assert width([Piece(pad(text, size, right=True))]) == size


@given(st.lists(TEXTS.map(Piece), max_size=5), st.lists(TEXTS.map(Piece), max_size=3), st.integers(0, 90))
def test_lines_fit(left: list[Piece], right: list[Piece], size: int) -> None:
    assert width(crop(left, size)) <= size
    assert width(spread(tuple(left), tuple(right), size)) <= size


@given(TEXTS, st.integers(4, 40))
def test_wrapped_words_are_all_there_when_there_is_room(text: str, size: int) -> None:
    lines = wrap(text, size, 200)
    assert all(width([Piece(line)]) <= size for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(TEXTS, TEXTS, st.integers(62, 240), st.sampled_from(["idle", "acting", "thinking", "decision", "new-one"]))
def test_rows_of_sessions_fill_their_width_whatever_logs_say(title: str, cwd: str, size: int, reason: str) -> None:
    one = _session(1, title=title, cwd=cwd, gitBranch=title, tool=cwd, reason=reason, contextTokens=5, contextWindow=9)
    line = sessions.row(one, size, NOW, unseen=5000)
    assert width(line) == width(sessions.header(size)) == size
    assert not any(ord(char) < 32 or char in "\x1b\u202e" for char in plain(line))


@given(TEXTS, st.integers(40, 200))
def test_rows_of_recordings_fill_their_width(error: str, size: int) -> None:
    line = recordings.row(_recording(status="failing", lastError=error), size, NOW, "/home/me")
    assert width(line) == width(recordings.header(size)) == size


@given(TEXTS, st.integers(20, 160))
def test_warnings_and_the_bar_fit(text: str, size: int) -> None:
    alert = warnings.from_notice(
        {"id": 1, "at": _ago(minutes=1), "code": "ambiguous", "severity": "error", "message": text}
    )
    assert all(width(line) <= size for line in warnings.block(alert, size, open_=True))
    facts = bar.Facts("attached", text, {"pid": 12345, "latencyMs": 99999}, 5000, 7, 10**9, 1e6, {}, 99.0, 10**9, 3)
    assert width(bar.status(facts, size)) <= size


def test_what_the_bar_leaves_out_first_is_what_matters_least() -> None:
    facts = bar.Facts("running", "kato", {"roots": [{"exists": True}]}, 12, 1, 0, 0.0, {}, 1.0, 60_000_000)
    assert "60 MB" in plain(bar.status(facts, 120))
    narrow = plain(bar.status(facts, 50))
    assert "60 MB" not in narrow and "watching" in narrow and "12 sessions" in narrow


def test_the_newest_session_stands_first_and_old_ones_and_sub_agents_are_counted_instead_of_shown() -> None:
    everyone = [
        _session(3),
        _session(1),
        _session(4, sourceKind="subagent"),
        _session(5, lastActivity=_ago(days=8)),
        _session(6, lastActivity=_ago(days=8), recordings=[_recording()]),
    ]
    keys, hidden = sessions.choose(everyone, Wanted(), NOW, {})
    assert keys == ["claude:s1", "claude:s3", "claude:s6"]
    assert hidden == {"sub-agents": 1, "stale": 1}
    assert len(sessions.choose(everyone, Wanted(subagents=True, stale=True), NOW, {})[0]) == 5


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("activity", ["s1", "s2", "s3"]),
        ("state", ["s3", "s1", "s2"]),
        ("provider", ["s1", "s2", "s3"]),
        ("project", ["s2", "s3", "s1"]),
        ("tokens", ["s2", "s1", "s3"]),
        ("unseen", ["s3", "s1", "s2"]),
    ],
)
def test_orders(sort: str, order: list[str]) -> None:
    everyone = [
        _session(1, reason="idle", cwd="/z", usage={"total": 5}),
        _session(2, reason="acting", cwd="/a", usage={"total": 9}),
        _session(3, reason="decision", cwd="/b"),
    ]
    assert _keys(everyone, Wanted(sort=sort), {"claude:s3": 4}) == order


def test_going_through_the_orders_comes_back_to_the_first() -> None:
    wanted = Wanted()
    seen = []
    for _ in SORTS:
        seen.append(wanted.sort)
        wanted = wanted.next_sort()
    assert tuple(seen) == SORTS and wanted.sort == SORTS[0]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", ["s1", "s2", "s3"]),
        ("TIDE", ["s1", "s2"]),
        ("tide test", ["s2"]),
        ("ai:codex", ["s3"]),
        ("is:asks", ["s3"]),
        ("state:working", ["s2"]),
        ("rec:on", ["s1"]),
        ("rec:off", ["s2", "s3"]),
        ("rec:failing", ["s1"]),
        ("branch:main", ["s2"]),
        ("model:opus", ["s3"]),
        ("00000003", ["s3"]),
        ("nothing:like", []),
        ("[/x]", []),
    ],
)
def test_the_filter(typed: str, found: list[str]) -> None:
    everyone = [
        _session(1, title="The tide page", recordings=[_recording(status="failing")]),
        _session(2, title="Tide test", gitBranch="main", reason="acting", state="working"),
        _session(3, title="Linter", provider="codex", reason="decision", model="claude-opus-4-8"),
    ]
    keys = [key.split(":")[1] for key in sessions.choose(everyone, Wanted(typed), NOW, {})[0]]
    assert keys == found


@pytest.mark.parametrize(
    ("used", "room", "told", "tone"),
    [
        (None, None, "-", "muted"),
        (0, 100, "0", "muted"),
        (37_000, None, "37.0k", "muted"),
        (10, 100, "▁10%", "muted"),
        (80, 100, "▆80%", "warn"),
        (95, 100, "█95%", "bad"),
        (4000, 100, "█999%", "bad"),
    ],
)
def test_the_gauge_of_the_context(used: int | None, room: int | None, told: str, tone: Tone) -> None:
    assert sessions.context(_session(1, contextTokens=used, contextWindow=room)) == (Piece(told, tone),)


@pytest.mark.parametrize(("last", "tone"), [(_ago(hours=5), "good"), (_ago(days=2), "muted"), (None, "muted")])
def test_work_that_stands_still_for_days_is_told_without_colour(last: str | None, tone: Tone) -> None:
    line = sessions.state(_session(1, state="working", reason="thinking", lastActivity=last), NOW)
    assert line[0] == Piece("● thinking", tone)


def test_a_session_calls_when_it_begins_to_wait_and_not_when_it_goes_on_waiting() -> None:
    working = _session(1, state="working", reason="thinking")
    asking, idle = _session(1, reason="decision"), _session(1)
    assert (
        sessions.needs_you(working, idle) and sessions.needs_you(working, asking) and sessions.needs_you(idle, asking)
    )
    assert not sessions.needs_you(None, idle) and not sessions.needs_you(idle, idle)
    assert not sessions.needs_you(asking, asking) and not sessions.needs_you(idle, working)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (_ago(seconds=3), "now"),
        (_ago(seconds=42), "42s"),
        (_ago(minutes=3), "3m"),
        (_ago(hours=30), "1d"),
        (_ago(days=800), "2y"),
        (_ago(hours=-2), "in the future"),
        ("yesterday", "?"),
        (None, "?"),
    ],
)
def test_ages(text: str | None, told: str) -> None:
    assert words.age(text, NOW) == told


@given(st.floats(0, 9.9e11))
def test_amounts_take_few_columns(count: float) -> None:
    assert len(words.amount(count)) <= 6


def test_paths_are_cut_at_their_front() -> None:
    assert words.short_path("/home/me/notes/tide.md", 80, "/home/me") == "~/notes/tide.md"
    assert words.short_path("/home/me/notes/tide.md", 8, "/home/me") == "…tide.md"
    assert words.home_path("/home/melissa/x", "/home/me") == "/home/melissa/x"


def test_recordings_that_go_on_stand_first() -> None:
    listed = [
        _recording(on=False, createdAt=_ago(days=1)),
        _recording(createdAt=_ago(days=3)),
        _recording(createdAt=_ago(days=2)),
    ]
    assert [(one["desiredState"], one["createdAt"]) for one in recordings.ordered(listed)] == [
        ("on", _ago(days=2)),
        ("on", _ago(days=3)),
        ("off", _ago(days=1)),
    ]


@given(st.text(st.sampled_from("`~ab\n"), max_size=40))
def test_nothing_closes_the_fence_around_a_text(text: str) -> None:
    fenced = events.fenced(text).rstrip("\n").split("\n")
    opening = fenced[0]
    assert set(opening) == {"`"} and fenced[-1] == opening
    assert not any(line.strip().startswith(opening) for line in fenced[1:-1])
