"""A slice of what `python -m benchmarks.crash` does with the real program: kills and power cuts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import LONG
from tests.crash import real
from tests.crash.conftest import linux_only

pytestmark = linux_only


def test_the_program_killed_just_before_a_system_call_goes_on_from_there(memory: Path) -> None:
    if reason := real.no_strace():
        pytest.skip(reason)
    calls = real.Calls(memory)
    assert len(calls.points) > 200
    assert {call for call, _ in calls.points} >= {"write", "rename", "fsync"}
    for number in range(0, len(calls.points), 1 if LONG else 130):
        calls.play(number)


def test_the_program_killed_at_any_moment_under_load_goes_on_from_there(memory: Path) -> None:
    kills = real.Kills(memory)
    for number in range(100 if LONG else 2):
        kills.play(number)


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_power_cut_under_the_running_program_loses_nothing(memory: Path, kind: str) -> None:
    if reason := real.no_power(kind):
        pytest.skip(reason)
    with real.power(kind, memory) as play:
        for number in range(50 if LONG else 1):
            play(number)
