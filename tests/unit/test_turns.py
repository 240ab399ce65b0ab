"""Whose turn it is: at once after a quiet time, after a rest for those that go on and on."""

from __future__ import annotations

import pytest

from kato_tui.core.turns import Turns


class Watch:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def watch() -> Watch:
    return Watch()


def test_sessions_have_their_turns_in_the_order_of_asking(watch: Watch) -> None:
    turns = Turns(watch)
    for key in "abc":
        turns.ask(key)
    assert "b" in turns and turns.any_waits
    assert turns.next() == "a"
    turns.again("a")
    assert [turns.next() for _ in range(4)] == ["b", "c", "a", None]
    assert not turns.any_waits and "a" not in turns


def test_who_was_read_just_now_rests_ten_times_as_long_as_that_took(watch: Watch) -> None:
    turns = Turns(watch)
    turns.ended("a", 0.002)
    turns.ask("a")
    turns.ask("b")
    assert "a" in turns and list(turns.deadlines()) == [100.02]
    assert [turns.next(), turns.next()] == ["b", None]
    watch.time += 0.021
    assert turns.any_waits and turns.next() == "a"
    assert not list(turns.deadlines())


def test_after_a_quiet_time_and_while_there_is_more_nobody_rests(watch: Watch) -> None:
    turns = Turns(watch)
    turns.ended("a", 0.002)
    turns.again("a")
    assert turns.next() == "a"
    watch.time += 1
    turns.ask("a")
    assert turns.next() == "a"


def test_no_rest_is_long_and_none_is_remembered_for_ever(watch: Watch) -> None:
    turns = Turns(watch)
    turns.ended("slow", 60.0)
    turns.ask("slow")
    assert list(turns.deadlines()) == [100.5]
    for number in range(1000):
        watch.time += 1
        turns.ended(f"s{number}", 0.001)
    assert len(turns._had) == 1
