"""A slice of the crash matrix; all of it is `python -m benchmarks.crash matrix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import LONG
from tests.crash.conftest import linux_only
from tests.crash.days import DAYS
from tests.crash.matrix import Schedule, lived, play

_SLICE = 2000 if LONG else 60
#: Steps over the numbers, so that the slice has operations of the whole day.
_STRIDE = 13

pytestmark = [linux_only, pytest.mark.usefixtures("pieces")]


@pytest.mark.parametrize("name", sorted(DAYS))
def test_a_day_that_ends_at_any_operation_in_any_way_is_made_good(memory: Path, name: str) -> None:
    day = lived(name, memory)
    assert len(day.pictures) > 200
    for number in range(0, _SLICE * _STRIDE, _STRIDE):
        play(day, Schedule.of(number, len(day.pictures)))
