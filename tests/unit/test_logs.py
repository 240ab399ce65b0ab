"""Logs of what kato-tui did: JSON lines, rotated, and never in the way."""

from __future__ import annotations

from pathlib import Path

import orjson

from kato_tui.core.logs import JsonLog
from tests.conftest import ManualClock


def _events(path: Path) -> list[int]:
    return [orjson.loads(line)["number"] for line in path.read_bytes().splitlines()]


def test_a_full_log_is_rotated_and_only_so_many_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "operational.jsonl"
    log = JsonLog(path, ManualClock(), max_bytes=150, kept=2)
    for number in range(11):
        log.write("counted", number=number)
    kept = sorted(tmp_path.iterdir())
    assert [one.name for one in kept] == ["operational.jsonl", "operational.jsonl.1", "operational.jsonl.2"]
    assert _events(kept[2]) + _events(kept[1]) + _events(kept[0]) == list(range(11))[-sum(map(_lines, kept)) :]
    assert all(one.stat().st_mode & 0o777 == 0o600 for one in kept)


def _lines(path: Path) -> int:
    return len(path.read_bytes().splitlines())


def test_a_log_that_cannot_be_written_is_only_counted(tmp_path: Path) -> None:
    log = JsonLog(tmp_path / "none" / "x.jsonl", ManualClock())
    log.write("lost")
    assert log.failures == 1
