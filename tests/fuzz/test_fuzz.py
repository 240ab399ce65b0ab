"""A slice of what `python -m benchmarks.fuzz` does at length: the first inputs of a fixed seed, for every target."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.conftest import LONG
from tests.fuzz.targets import TARGETS, WEIGHTS

#: Inputs of a target of weight 1.
_FEW = 1500 if LONG else 25
#: Generous: here a hang shall be found, not a slow machine.
_SECONDS = 20.0


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_no_input_breaks_a_promise(tmp_path: Path, name: str) -> None:
    target = TARGETS[name](tmp_path)
    try:
        for number in range(_FEW * WEIGHTS[name]):
            try:
                target.run(1, number, _SECONDS)
            except BaseException as error:
                error.add_note(f"replay: python -m benchmarks.fuzz --target {name} --seed 1 --only {number}")
                raise
    finally:
        target.close()


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_an_input_is_found_again_by_its_number(tmp_path: Path, name: str) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = TARGETS[name](tmp_path / "one"), TARGETS[name](tmp_path / "two")
    try:
        made = [[target.make(Random(f"7:{number}")) for number in range(5)] for target in (one, two)]
    finally:
        one.close()
        two.close()
    assert made[0] == made[1]
