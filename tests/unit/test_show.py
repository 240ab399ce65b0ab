"""What people see of a status: plain values in, lines out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kato_tui.commands import show
from kato_tui.view import words

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)


def _session(**fields: Any) -> dict[str, Any]:
    return {
        "sessionId": "0a0b0c0d-0000",
        "sessionShortId": "0a0b0c0d",
        "provider": "claude",
        "sourceKind": "main",
        "reason": "idle",
        "lastActivity": "2026-11-18T08:59:00Z",
        "recordings": [],
        **fields,
    }


def _recording(**fields: Any) -> dict[str, Any]:
    return {
        "recordingShortId": "7ade0001",
        "sessionShortId": "0a0b0c0d",
        "destination": "/n/x.md",
        "desiredState": "on",
        "status": "recording",
        "eventsWritten": 3,
        **fields,
    }


def _engine(**fields: Any) -> dict[str, Any]:
    return {"sessions": 1, "activeRecordings": 0, "bytesBehind": 0, **fields}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-11-18T08:59:59Z", "now"),
        ("2026-11-18T08:59:15.000Z", "45s"),
        ("2026-11-18T08:00:00", "1h"),
        ("2026-11-11T09:00:00Z", "7d"),
        ("2024-11-11T09:00:00Z", "2y"),
        ("2027-01-01T00:00:00Z", "in the future"),
        ("yesterday", "?"),
        (None, "?"),
    ],
)
def test_ages_are_said_in_one_unit(text: str | None, shown: str) -> None:
    assert words.age(text, NOW) == shown


def test_old_sessions_and_sub_agents_are_hidden_unless_they_matter() -> None:
    old = {"lastActivity": "2026-11-01T00:00:00Z"}
    sessions = [
        _session(),
        _session(**old),
        _session(sourceKind="subagent"),
        _session(**old, recordings=[_recording()]),
        _session(**old, problem="needs a rebuild"),
        _session(lastActivity=None),
    ]
    shown, hidden = show.split_hidden(sessions, NOW, everything=False)
    assert len(shown) == 4 and hidden == {"sub-agents": 1, "older than 7 days": 1}
    assert show.split_hidden(sessions, NOW, everything=True)[1] == {}


def test_every_state_has_a_glyph_and_a_word() -> None:
    assert show.state(_session(reason="acting", tool="Bash")) == "● working Bash"
    assert show.state(_session(reason="decision")) == "◆ asks you"
    assert show.state(_session(problem="x")) == "✗ needs rebuild"
    assert show.state(_session(reason="brand-new")) == "brand-new"


def test_a_table_fits_its_terminal_by_cutting_the_longest_text() -> None:
    rows = show.session_rows([_session(title="word " * 30, cwd="/a/very-long-folder-name", gitBranch="b" * 30)], NOW)
    lines = show.table(rows, 80)
    assert all(show.columns(line) <= 80 for line in lines) and "…" in lines[1]
    assert "0a0b0c0d" in lines[1]


def test_wide_characters_take_two_columns() -> None:
    assert show.columns("日本") == 4 and show.fit("日本語", 4) == "日…"
    lines = show.table([["a", "b"], ["日本", "c"]])
    assert lines == ["a     b", "日本  c"]


def test_a_status_names_problems_failures_and_warnings_but_not_every_done() -> None:
    failing = _recording(status="failing", lastError="disk full")
    status = {
        "engine": _engine(),
        "sessions": [
            _session(problem="run rebuild", recordings=[failing, _recording(status="stopped", desiredState="off")])
        ],
        "warnings": [
            {"at": "2026-11-18T08:00:00Z", "severity": "info", "message": "done that", "code": "done"},
            {"at": "2026-11-18T08:00:00Z", "severity": "error", "message": "two meant", "code": "ambiguous"},
        ],
    }
    text = "\n".join(show.status_lines(status, NOW, everything=False, width=None))
    assert "run rebuild" in text and "! failing" in text and "disk full" in text and "✗ 2026" in text
    assert "done that" not in text and "○ stopped" not in text
    assert "done that" in "\n".join(show.status_lines(status, NOW, everything=True, width=None))


def test_the_engine_is_told_from_a_one_off_answer() -> None:
    assert "no engine watches" in show.engine_line(_engine())
    assert "engine 12 watches by polling" in show.engine_line(_engine(watching="polling", pid=12, bytesBehind=5))
