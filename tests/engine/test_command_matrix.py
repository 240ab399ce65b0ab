"""Every form of every command, against none, one, two and many recordings, running and stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world import World

A = "aaaaaaaa-0000-4000-8000-000000000001"
B = "bbbbbbbb-0000-4000-8000-000000000002"
TWIN_1 = "cccccccc-0000-4000-8000-000000000003"
TWIN_2 = "cccccccc-0000-4000-8000-000000000004"
IDS = (A, B, TWIN_1, TWIN_2)
NAMES = {A: "a.md", B: "b.md", TWIN_1: "c.md", TWIN_2: "d.md"}


def _world(tmp_path: Path, running: tuple[str, ...], stopped: tuple[str, ...]) -> World:
    """A session with these recordings; they are made in the order of `IDS`, so that each gets the id it should."""
    wanted = [one for one in IDS if one in (*running, *stopped)]
    world = World(tmp_path, ids=wanted)
    world.talk("hello")
    world.start()
    world.poll()
    for one in wanted:
        world.hear(f"::start ~/notes/{NAMES[one]}")
    for one in stopped:
        world.hear(f"::stop id:{one}")
    world.engine.notices.clear()
    return world


def _running(world: World) -> set[str]:
    recordings = world.recordings() if world.home.twin("toy:talk").exists() else []
    return {one.recording_id for one in recordings if one.desired_state == "on"}


STOPS: list[tuple[str, tuple[str, ...], tuple[str, ...], set[str], list[str]]] = [
    # what is typed, running before, stopped before, still running after, what is told
    ("::stop", (), (), set(), ["not-found"]),
    ("::stop", (), (A,), set(), ["not-found"]),
    ("::stop", (A,), (), set(), ["done"]),
    ("::stop", (A, B), (), set(), ["done"]),
    ("::stop", (A, B, TWIN_1, TWIN_2), (), set(), ["done"]),
    ("::stop", (A,), (B,), set(), ["done"]),
    ("::STOP", (A,), (), set(), ["done"]),
    (f"::stop id:{A}", (), (), set(), ["not-found"]),
    (f"::stop id:{A}", (A, B), (), {B}, ["done"]),
    (f"::stop id:{A}", (B,), (A,), {B}, ["already-stopped"]),
    (f"::stop id:{A.upper()}", (A, B), (), {B}, ["done"]),
    ("::stop id:aaaaaaaa", (A, B), (), {B}, ["done"]),
    ("::stop id:aaaaaaaa-0", (A, B), (), {B}, ["done"]),
    ("::stop id:aaaaaaa", (A, B), (), {A, B}, ["too-short"]),
    ("::stop id:dddddddd", (A, B), (), {A, B}, ["not-found"]),
    ("::stop id:cccccccc", (TWIN_1, TWIN_2), (), {TWIN_1, TWIN_2}, ["ambiguous"]),
    (f"::stop id:{TWIN_1}", (TWIN_1, TWIN_2), (), {TWIN_2}, ["done"]),
    ("::stop id:", (A,), (), {A}, ["invalid-command"]),
    ("::stop dest:~/notes/a.md", (), (), set(), ["not-found"]),
    ("::stop dest:~/notes/a.md", (A, B), (), {B}, ["done"]),
    ("::stop dest:~/notes/a.md", (B,), (A,), {B}, ["already-stopped"]),
    ("::stop dest:~/notes/./x/../a.md", (A, B), (), {B}, ["done"]),
    ('::stop dest:"~/notes/a.md"', (A, B), (), {B}, ["done"]),
    ("::stop dest:~/notes/z.md", (A,), (), {A}, ["not-found"]),
    ("::stop dest:", (A,), (), {A}, ["invalid-command"]),
    ("::stop ~/notes/a.md", (A, B), (), {B}, ["done"]),
    ("::stop @~/notes/a.md", (A, B), (), {B}, ["done"]),
    ("::stop [a](~/notes/a.md)", (A, B), (), {B}, ["done"]),
    ("::stop aaaaaaaa", (A, B), (), {B}, ["done"]),
    ("::stop cccccccc", (TWIN_1, TWIN_2), (), {TWIN_1, TWIN_2}, ["ambiguous"]),
    ("::stop aaaa", (A, B), (), {A, B}, ["too-short"]),
    ("::stop nothing like it", (A,), (), {A}, ["not-found"]),
]


@pytest.mark.parametrize(("line", "running", "stopped", "left", "told"), STOPS)
def test_a_stop_means_what_it_says(
    tmp_path: Path, line: str, running: tuple[str, ...], stopped: tuple[str, ...], left: set[str], told: list[str]
) -> None:
    world = _world(tmp_path, running, stopped)
    world.hear(line)
    assert world.codes() == told
    assert _running(world) == left
    if told == ["ambiguous"]:
        notice = world.engine.notices[-1]
        assert {one.recording_id for one in notice.candidates} == {TWIN_1, TWIN_2}
        assert all(one.destination in notice.message for one in notice.candidates)


def test_a_bare_argument_that_is_a_destination_and_an_id_stops_both_and_says_so(tmp_path: Path) -> None:
    """A file in the session's folder may have the name of another recording's id."""
    world = World(tmp_path, ids=(A, B))
    world.talk("hello", cwd=str(tmp_path / "notes"))
    world.start()
    world.poll()
    world.hear("::start ~/notes/a.md")
    world.hear("::start ~/notes/aaaaaaaa.md")
    for recording in world.recordings():
        if recording.recording_id == B:
            (tmp_path / "notes" / "aaaaaaaa").symlink_to(recording.destination)
    world.engine.notices.clear()
    world.hear("::stop aaaaaaaa")
    assert world.codes() == ["done", "ambiguous-target"]
    assert _running(world) == set()
    assert {one.recording_id for one in world.engine.notices[-1].candidates} == {A, B}


STARTS: list[tuple[str, tuple[str, ...], tuple[str, ...], int, list[str]]] = [
    # what is typed, running before, stopped before, periods of a.md after, what is told
    ("::start ~/notes/a.md", (), (), 1, ["done"]),
    ("::record ~/notes/a.md", (), (), 1, ["done"]),
    ("::start ~/notes/a.md", (A,), (), 1, ["already-recording"]),
    ("::start ~/notes/a.md", (B,), (A,), 2, ["done"]),
    ("::start '~/notes/a.md'", (A,), (), 1, ["already-recording"]),
    ("::capture ~/notes/a.md", (), (), 1, ["done"]),
    ("::capture ~/notes/a.md", (A,), (), 3, ["done"]),
    ("::capture ~/notes/a.md", (), (A,), 3, ["done"]),
    ("::export ~/notes/a.md", (), (), 1, ["done"]),
    ("::export ~/notes/a.md", (A,), (), 1, ["already-recording"]),
    ("::export", (), (), 0, ["invalid-command"]),
    ("::export ~/notes/a.md from -3", (), (), 0, ["invalid"]),
    ("::start relative.md", (), (), 0, ["invalid"]),
    ("::start ~/notes/a.exe", (), (), 0, ["denied-extension"]),
    ("::start ~/.ssh/a.md", (), (), 0, ["denied-dot-directory"]),
    ("::start /etc/a.md", (), (), 0, ["denied-outside"]),
    ("::start ~/.kato/sessions/a.md", (), (), 0, ["denied-protected"]),
]


@pytest.mark.parametrize(("line", "running", "stopped", "periods", "told"), STARTS)
def test_a_start_means_what_it_says(
    tmp_path: Path, line: str, running: tuple[str, ...], stopped: tuple[str, ...], periods: int, told: list[str]
) -> None:
    world = _world(tmp_path, running, stopped)
    world.hear(line, "more")
    assert world.codes() == told
    recordings = world.metadata().recordings
    assert sum(len(one.periods) for one in recordings if one.destination.endswith("/a.md")) == periods


@pytest.mark.parametrize("line", [line for line, *_ in STOPS if line.startswith("::stop")])
def test_the_same_words_mean_the_same_from_outside(tmp_path: Path, line: str) -> None:
    """Chat, keys and command line make one intent: with the recordings running, each stops the same ones."""
    chat = _world(tmp_path / "chat", (A, B, TWIN_1, TWIN_2), ())
    chat.hear(line)
    outside = _world(tmp_path / "outside", (A, B, TWIN_1, TWIN_2), ())
    argument = line.removeprefix("::stop").strip().replace("id:", "id:", 1) or None
    told = outside.ask("stop", argument, session=None)
    assert _running(outside) == _running(chat)
    invalid = chat.codes() == ["invalid-command"]
    assert invalid or [told.code, *(one.code for one in told.also)][0] == chat.codes()[0]
