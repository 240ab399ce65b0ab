"""Cleaning: only what is old or named, never a recording's file, never behind a recording that is on."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from kato_tui.core import clean
from kato_tui.core.config import Config
from kato_tui.core.errors import SessionNotFound
from tests.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path, Config(global_auto_generate_snapshots=True))
    made.start()
    return made


def _age(world: World, days: float, *paths: Path) -> None:
    then = (world.clock.now() - timedelta(days=days)).timestamp()
    for path in paths:
        os.utime(path, (then, then))


def _grow_old(world: World, session: str, days: float) -> None:
    """A session whose log says nothing about time is as old as what is stored of it."""
    _age(world, days, world.home.meta(f"toy:{session}"))


def _names(plan: clean.Plan) -> list[str]:
    return [part.key for part in plan.sessions]


def test_only_sessions_without_activity_for_so_long_are_planned(world: World) -> None:
    world.hear("old", session="old")
    world.hear("new", session="new")
    _grow_old(world, "old", 40)
    _grow_old(world, "new", 10)
    assert _names(clean.plan_old(world.engine, 30)) == ["toy:old"]


def test_a_plan_changes_nothing_and_says_what_it_would_free(world: World) -> None:
    world.hear("words", session="old")
    _grow_old(world, "old", 40)
    plan = clean.plan_old(world.engine, 30)
    assert plan.bytes == sum(path.stat().st_size for path in world.home.session_files("toy:old")) > 0
    assert world.home.twin("toy:old").exists() and world.home.meta("toy:old").exists()


def test_carried_out_twin_and_metadata_are_gone_and_the_log_stays(world: World) -> None:
    world.hear("words", session="old")
    _grow_old(world, "old", 40)
    clean.carry_out(world.engine, clean.plan_old(world.engine, 30))
    assert world.home.session_files("toy:old") == []
    assert "toy:old" not in world.engine.index.entries
    assert (world.toys / "old.jsonl").exists()
    world.poll()
    assert world.home.twin("toy:old").exists()


def test_a_session_that_is_being_recorded_stays(world: World) -> None:
    world.hear("words")
    world.ask("start", str(world.notes / "x.md"))
    _grow_old(world, "talk", 400)
    plan = clean.plan_old(world.engine, 30)
    assert plan.sessions == [] and "kato-tui stop" in next(iter(plan.refused.values()))
    assert clean.plan_session(world.engine, "toy:talk").refused


def test_files_of_recordings_are_never_touched(world: World) -> None:
    world.hear("words")
    path = world.notes / "x.md"
    world.ask("export", str(path))
    before = path.read_bytes()
    plan = clean.plan_session(world.engine, "toy:talk")
    assert plan.sessions[0].recordings == 1
    clean.carry_out(world.engine, plan)
    assert path.read_bytes() == before


def test_a_twin_whose_log_is_gone_is_named_as_the_only_copy(world: World) -> None:
    world.hear("words")
    (world.toys / "talk.jsonl").unlink()
    world.poll()
    assert clean.plan_session(world.engine, "toy:talk").sessions[0].only_copy


def test_one_session_is_cleaned_whatever_its_age_and_no_other(world: World) -> None:
    world.hear("a", session="one")
    world.hear("b", session="two")
    clean.carry_out(world.engine, clean.plan_session(world.engine, "toy:one"))
    assert world.home.session_files("toy:one") == [] and len(world.home.session_files("toy:two")) == 2


def test_a_name_that_begins_another_name_takes_only_its_own_files(world: World) -> None:
    world.hear("a", session="one")
    world.hear("b", session="one.agent")
    assert {path.name for path in world.home.session_files("toy:one")} == {"toy:one.meta.json", "toy:one.twin.jsonl"}


def test_an_unknown_session_is_not_found(world: World) -> None:
    with pytest.raises(SessionNotFound):
        clean.plan_session(world.engine, "12345678")


def test_old_logs_and_what_repairs_set_aside_go_too(world: World) -> None:
    world.hear("words")
    rotated = world.home.logs / "operational.jsonl.2"
    aside = world.home.sessions / "toy:talk.twin.jsonl.torn-1"
    fresh = world.home.logs / "audit.jsonl.1"
    for path in (rotated, aside, fresh):
        path.write_bytes(b"x" * 10)
    _age(world, 90, rotated, aside)
    plan = clean.plan_old(world.engine, 30)
    assert set(plan.files) >= {rotated, aside} and fresh not in plan.files
    clean.carry_out(world.engine, plan)
    assert not rotated.exists() and not aside.exists() and fresh.exists()
    assert world.home.twin("toy:talk").exists()


def test_a_time_in_a_log_that_cannot_be_read_does_not_stop_the_cleaning(world: World) -> None:
    world.hear("words")
    world.engine.index.entries["toy:talk"].facts.last_activity = "the day before yesterday"
    _grow_old(world, "talk", 40)
    assert _names(clean.plan_old(world.engine, 30)) == ["toy:talk"]


def test_the_last_activity_counts_rather_than_the_age_of_the_files(world: World) -> None:
    world.hear("words")
    world.engine.index.entries["toy:talk"].facts.last_activity = "2026-01-01T00:00:00.000Z"
    assert _names(clean.plan_old(world.engine, 30)) == ["toy:talk"]
    world.engine.index.entries["toy:talk"].facts.last_activity = "2026-11-17T00:00:00.000Z"
    _grow_old(world, "talk", 40)
    assert _names(clean.plan_old(world.engine, 30)) == []
