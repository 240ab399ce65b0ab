"""Slices of `python -m benchmarks.load` and `python -m benchmarks.soak`: the same checks on little work."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import load, soak
from benchmarks.load import Figures
from tests.conftest import LONG
from tests.e2e.running import Running

SCALES = {"growing": 0.01, "file": 0.005, "line": 0.05, "many": 0.0008}


@pytest.mark.parametrize("name", sorted(load.SCENARIOS))
def test_nothing_is_lost_under_load(tmp_path: Path, name: str) -> None:
    figures = Figures()
    scale = 0.1 if LONG else SCALES[name]
    load.SCENARIOS[name](tmp_path, load.parsed(["--scale", str(scale), "--minutes", "0.05"]), figures)
    assert figures.lost == []


def test_what_is_lost_is_seen(tmp_path: Path) -> None:
    """Or the test above would prove nothing: a record that never reached its twin, and one out of order."""
    writers = load.Writers(Running(tmp_path), 1)
    twin = writers.running.home.twin(f"claude:{writers.session(0)}")
    twin.parent.mkdir(parents=True)
    writers.say(0, 2)
    said = [f'{{"kind":"user.message","payload":{{"text":"s0r{number} "}}}}\n' for number in (1, 2, 3)]
    for lines, wrong in ((said, False), (said[:2], True), (said[::-1], True), ([*said, said[0]], True)):
        twin.write_text("".join(lines))
        assert (writers.missing(0) is not None) is wrong


def test_days_of_work_leave_nothing_behind(tmp_path: Path) -> None:
    played = soak.Soak(tmp_path, 3, 1, steps=24)
    days = list(played.days(6))
    played.check()
    played.close()
    # What a translator remembers fills up over more days than these.
    assert [one for one in soak.grown(days) if not one.startswith("written")] == []


def test_growth_is_seen() -> None:
    def day(number: int, **more: float) -> soak.Day:
        fields = {"memory": 50 << 20, "handles": 7, "operations": 5.0, "written": 9.0, "read": 9.0, "twin": 1.0}
        return soak.Day(number, 100, **(fields | more))  # type: ignore[arg-type]

    steady = [day(number) for number in range(9)]
    assert soak.grown(steady) == []
    for grown in ({"memory": 90 << 20}, {"handles": 8}, {"operations": 7.0}, {"written": 12.0}, {"read": 12.0}):
        assert len(soak.grown([*steady[:6], *(day(number, **grown) for number in (6, 7, 8))])) == 1
