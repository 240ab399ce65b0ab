"""How often the service looks at what, by a clock that the test moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from kato_tui.core.rounds import Rounds


class Times:
    """The steady clock and the one on the wall."""

    def __init__(self) -> None:
        self.steady = 100.0
        self.wall = 1_000_000.0

    def pass_by(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += seconds


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def rounds(times: Times) -> Rounds:
    return Rounds(lambda: times.steady, lambda: times.wall)


def test_every_look_is_due_at_first_and_then_in_its_own_time(rounds: Rounds, times: Times) -> None:
    assert rounds.take("folders", "events") and not rounds.take("folders", "events")
    times.pass_by(9.9)
    assert not rounds.take("folders", "events")
    times.pass_by(0.2)
    assert rounds.take("folders", "events")


def test_a_look_that_took_long_is_put_off_from_its_end_with_all_that_it_includes(rounds: Rounds, times: Times) -> None:
    assert rounds.take("list", "polling")
    times.pass_by(70)
    rounds.looked("list", "polling")
    assert not any(rounds.take(one, "polling") for one in ("list", "all", "folders"))
    assert rounds.take("hot", "polling")


def test_what_may_have_been_missed_is_looked_for_at_once(rounds: Rounds) -> None:
    rounds.looked("list", "events")
    rounds.hasten("all")
    assert not rounds.take("list", "events") and rounds.take("all", "events")
    assert min(rounds.deadlines()) == 0.0


def test_a_new_folder_is_looked_at_once_more_when_its_watch_stands(
    rounds: Rounds, times: Times, tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"")
    assert rounds.second_looks([tmp_path, tmp_path / "log.jsonl"]) == set()
    assert times.steady + 0.5 in rounds.deadlines()
    times.pass_by(0.6)
    assert rounds.second_looks([]) == {tmp_path}
    assert rounds.second_looks([]) == set()


def test_a_machine_that_slept_or_got_a_new_time_is_noticed_once(rounds: Rounds, times: Times) -> None:
    times.pass_by(1000)
    assert not rounds.jumped()
    times.wall += 3600
    assert rounds.jumped() and not rounds.jumped()
    times.wall -= 3600
    assert rounds.jumped()
