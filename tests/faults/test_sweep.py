"""A slice of the fault sweep; all of it is `python -m benchmarks.crash faults`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import LONG
from tests.crash.conftest import linux_only
from tests.faults.sweep import ERRORS, Sweep

pytestmark = [linux_only, pytest.mark.usefixtures("pieces")]

#: Each case takes its share of the operations.
_SHARES = 2


@pytest.mark.parametrize("share", range(_SHARES))
def test_an_error_at_any_operation_is_said_and_heals(memory: Path, share: int) -> None:
    sweep = Sweep(memory)
    assert sweep.operations > 500 and sweep.syncs > 150
    whole = (sweep.operations + sweep.syncs) * len(ERRORS)
    for number in range(share, whole, _SHARES if LONG else 97):
        sweep.play(number)
