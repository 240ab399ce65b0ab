"""Recordings as people live with them: started in the chat or from outside, stopped, failing, edited meanwhile."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from kato_tui.core.clock import stamp
from kato_tui.core.ingest import reader
from kato_tui.core.record import recorder
from tests.world import World, body


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A session that is known and up to date, with nothing recorded."""
    made = World(tmp_path)
    made.talk("first words")
    made.start()
    made.poll()
    return made


def _only(world: World, name: str) -> bytes:
    path = world.notes / name
    recording = next(one for one in world.recordings() if one.destination == str(path))
    assert body(path) == world.expected(recording)
    return body(path)


def test_a_recording_begins_with_its_command_and_ends_with_its_stop(world: World) -> None:
    world.hear("before\n::start ~/notes/a.md\nafter", "more\n::stop\nlater", "much later")
    text = _only(world, "a.md").decode()
    assert "::start" in text and "after" in text and "::stop" in text
    assert "before" not in text and "later" not in text


def test_commands_in_history_are_shown_and_not_run(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.talk("::start ~/notes/old.md", "talk")
    world.start()
    world.poll()
    assert not world.metadata().recordings and not list(world.notes.iterdir())


def test_a_session_that_appears_while_watching_is_no_history(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.start()
    world.clock.advance(10)
    world.hear("hello", "::start ~/notes/new.md", session="fresh")
    assert not world.metadata("fresh").recordings, "a record without a time may be old"
    world.talk("::start ~/notes/new.md", session="dated", at="2026-11-18T09:00:05.000Z")
    world.talk("::start ~/notes/past.md", session="dated", at="2026-11-17T09:00:05.000Z")
    world.poll()
    assert [Path(one.destination).name for one in world.recordings("dated")] == ["new.md"]


def test_commands_typed_while_the_engine_was_down_run_at_their_place(world: World) -> None:
    world.engine.close()
    world.talk("one", "two\n::start ~/notes/a.md", "three", "::stop", "four")
    world.start()
    world.poll()
    text = _only(world, "a.md").decode()
    assert "three" in text and "one" not in text and "four" not in text


def test_a_relative_destination_belongs_to_the_folder_of_its_own_moment(world: World) -> None:
    """The session goes on into other folders before the engine reads the command."""
    here, there = world.notes / "here", world.notes / "there"
    for folder in (here, there):
        folder.mkdir()
    world.engine.close()
    world.talk("::start a.md", "one", cwd=str(here))
    world.talk("two", "::stop ../here/a.md", "::start a.md", cwd=str(there))
    world.talk("three", cwd=str(world.notes))
    world.start()
    world.poll()
    assert [(one.destination, one.desired_state) for one in world.recordings()] == [
        (str(here / "a.md"), "off"),
        (str(there / "a.md"), "on"),
    ]


@pytest.mark.parametrize("keep", [True, False])
def test_a_command_runs_once_whatever_happens_to_its_log(tmp_path: Path, keep: bool) -> None:
    config = {"global_auto_generate_snapshots": keep}
    world = World(tmp_path, World(tmp_path / "x").config.model_copy(update=config))
    world.talk("hello")
    world.start()
    world.poll()
    world.hear("::start ~/notes/a.md", "one", "::stop", "two", "::start ~/notes/a.md", "three", "::stop")
    log = world.toys / "talk.jsonl"
    data = log.read_bytes()
    periods = world.recordings()[0].periods
    for rewritten in (data + b" \n", data[: len(data) // 2] + b"\n" + data[len(data) // 2 :], b"\n" + data, data):
        log.unlink()
        log.write_bytes(rewritten)
        world.poll()
        world.restart()
        world.poll()
        assert [one.periods for one in world.recordings()] == [periods]


def test_a_command_in_a_rewritten_log_is_new_if_it_was_never_met(world: World) -> None:
    world.hear("::start ~/notes/a.md", "one", "::stop")
    log = world.toys / "talk.jsonl"
    log.write_bytes(b"\n" + log.read_bytes())
    world.hear("again\n::start ~/notes/b.md", "two")
    assert {Path(one.destination).name for one in world.recordings()} == {"a.md", "b.md"}


def test_many_recordings_of_one_session_go_on_by_themselves(world: World) -> None:
    world.hear("::start ~/notes/a.md\n::start ~/notes/b.md\n::start ~/notes/c.jsonl", "one")
    world.hear("::stop dest:~/notes/b.md", "two")
    assert "two" in _only(world, "a.md").decode() and "two" in _only(world, "c.jsonl").decode()
    assert "two" not in _only(world, "b.md").decode()


def test_a_stopped_recording_is_resumed_as_a_new_period(world: World) -> None:
    world.hear("::start ~/notes/a.md", "one", "::stop", "between", "::start ~/notes/a.md", "two")
    (recording,) = world.recordings()
    assert [(p.started_cursor, p.stopped_cursor) for p in recording.periods] == [(2, 4), (6, None)]
    assert "between" not in _only(world, "a.md").decode()
    world.ask("stop")
    assert world.ask("resume", f"id:{recording.recording_id[:8]}").code == "done"
    world.hear("three")
    assert "three" in _only(world, "a.md").decode()


def test_a_restart_opens_and_closes_nothing(world: World) -> None:
    world.hear("::start ~/notes/a.md", "one")
    before = world.recordings()[0].periods
    for text in ("two", "three"):
        world.restart()
        world.hear(text)
    assert world.recordings()[0].periods == before
    _only(world, "a.md")


def test_a_capture_takes_everything_and_a_second_one_repeats_nothing(world: World) -> None:
    world.hear("::capture ~/notes/a.md", "one", "::capture ~/notes/a.md", "two")
    text = _only(world, "a.md").decode()
    assert text.count("first words") == 1 and text.count("two") == 1
    assert len(world.recordings()[0].periods) == 1


def test_a_capture_adds_what_a_recording_lacks(world: World) -> None:
    world.hear("::start ~/notes/a.md", "one", "::stop", "two", "::capture ~/notes/a.md", "three")
    text = _only(world, "a.md").decode()
    assert [text.count(words) for words in ("first words", "one", "two", "three")] == [1, 1, 1, 1]


def test_a_capture_into_a_running_recording_adds_the_past_and_goes_on(world: World) -> None:
    world.hear("zero", "::start ~/notes/a.md", "one")
    assert world.ask("capture", "~/notes/a.md").code == "done"
    world.hear("two")
    text = _only(world, "a.md").decode()
    assert [text.count(words) for words in ("first words", "zero", "one", "two")] == [1, 1, 1, 1]


def test_exporting_a_session_equals_recording_it_from_the_start(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.talk("first words")
    world.start()
    world.poll()
    world.ask("start", "~/notes/live.md", from_seq=1)
    for text in ("one", "two", "three"):
        world.hear(text)
    assert world.ask("export", "~/notes/export.md").code == "done"
    assert body(world.notes / "export.md") == body(world.notes / "live.md")
    world.hear("four")
    assert b"four" not in body(world.notes / "export.md")
    assert world.ask("export", "~/notes/export.md").code == "done"
    assert body(world.notes / "export.md") == body(world.notes / "live.md")
    assert world.ask("export", "~/notes/export.md").code == "nothing-new"


def test_an_export_never_goes_into_a_file_that_is_not_ours(world: World) -> None:
    (world.notes / "mine.md").write_text("my own words")
    told = world.ask("export", "~/notes/mine.md")
    assert (told.code, told.severity) == ("exists", "error")
    assert (world.notes / "mine.md").read_text() == "my own words"


@pytest.mark.parametrize(
    ("argument", "first"),
    [("from -1", "two"), ("from -2", "one"), ("from -9", "first words"), ('from "ONE"', "one"), ('from "wo"', "two")],
)
def test_a_recording_may_begin_in_the_past(world: World, argument: str, first: str) -> None:
    world.hear("one", "two", f"::record ~/notes/a.md {argument}", "three")
    _only(world, "a.md")
    (recording,) = world.recordings()
    assert world.events()[recording.periods[0].started_cursor - 1]["payload"]["text"] == first


def test_a_past_that_is_not_there_is_an_error(world: World) -> None:
    world.hear('::start ~/notes/a.md from "never said"')
    assert world.codes() == ["invalid"] and not world.recordings()
    assert "::start" in world.engine.notices[-1].message


def test_an_invalid_command_does_not_hold_up_the_others(world: World) -> None:
    world.hear("::strat\n::start /etc/x.md\n::start ~/notes/a.md\n::stop id:zz", "on")
    assert world.codes() == ["invalid-command", "denied-outside", "done", "too-short"]
    assert "did you mean ::start?" in world.engine.notices[0].message
    assert "on" in _only(world, "a.md").decode()


def test_the_default_destination_is_made_of_provider_ids_and_time(world: World) -> None:
    world.hear("::start", "one", "::start", "two")
    names = [Path(one.destination).name for one in world.recordings()]
    assert len(set(names)) == 2
    assert all(name.startswith("toy-067ea79e-") and name.endswith("-2026-11-18_0900.md") for name in names)
    assert all(Path(one.destination).parent == world.home.recordings for one in world.recordings())


def test_two_sessions_may_share_a_file_and_are_told(world: World) -> None:
    world.hear("hi", session="other")
    world.hear("::start ~/notes/a.jsonl", "one")
    world.hear("::start ~/notes/a.jsonl", "uno", session="other")
    assert "shared-destination" in world.codes()
    lines = (world.notes / "a.jsonl").read_bytes().splitlines()
    assert len(lines) == 4


# What can go wrong, and heals.


def _fail_and_heal(world: World, break_it: object, heal: object) -> None:
    assert callable(break_it) and callable(heal)
    world.hear("::start ~/notes/a.md\n::start ~/notes/deep/b.md", "one")
    break_it()
    world.hear("two", "three")
    failing = [one for one in world.engine.status().sessions[0].recordings if one.status == "failing"]
    assert [Path(one.destination).name for one in failing] == ["b.md"] and failing[0].last_error
    assert "three" in _only(world, "a.md").decode()
    heal()
    world.poll()
    world.engine.tick()
    assert world.engine.recorder.failures, "it rests before it tries again"
    world.clock.advance(120)
    world.engine.tick()
    assert not world.engine.recorder.failures
    assert "recording-failing" in world.codes() and world.codes()[-1] == "recording-healed"
    # The very file came back: nothing was made anew, and nobody edited it.
    assert not {"recording-recreated", "recording-edited"} & set(world.codes())


def test_a_folder_that_goes_away_fails_its_recording_alone_and_heals(world: World) -> None:
    deep, away = world.notes / "deep", world.notes / "away"
    _fail_and_heal(world, lambda: deep.rename(away), lambda: away.rename(deep))
    _only(world, "deep/b.md")


def test_a_file_replaced_by_a_folder_fails_and_heals(world: World) -> None:
    path, aside = world.notes / "deep/b.md", world.notes / "aside.md"

    def break_it() -> None:
        path.rename(aside)
        path.mkdir()

    def heal() -> None:
        path.rmdir()
        aside.rename(path)

    _fail_and_heal(world, break_it, heal)
    _only(world, "deep/b.md")


def test_a_file_replaced_by_a_link_is_never_written_through(world: World) -> None:
    path, aside, secret = world.notes / "deep/b.md", world.notes / "aside.md", world.base / "outside"
    secret.mkdir()
    target = secret / "x.txt"
    target.write_text("untouched")

    def break_it() -> None:
        path.rename(aside)
        os.mkfifo(path)

    def heal() -> None:
        path.unlink()
        aside.rename(path)

    _fail_and_heal(world, break_it, heal)
    assert target.read_text() == "untouched"


def test_a_command_that_a_fork_copied_is_run_once(world: World) -> None:
    """A fork copies the conversation with its ids and times: to the new session it looks typed just now."""
    typed = {"id": "m1", "at": stamp(world.clock.now() + timedelta(seconds=1))}
    world.talk("::start ~/notes/a.md", **typed)
    world.poll()
    world.talk("::start ~/notes/a.md", session="fork", **typed)
    world.poll()
    world.hear("::start ~/notes/b.md", session="fork")
    assert [one.destination for one in world.recordings()] == [str(world.notes / "a.md")]
    assert [one.destination for one in world.recordings("fork")] == [str(world.notes / "b.md")]
    assert "copied-command" in world.codes()


# What the user does with the file.


def test_a_deleted_file_is_made_anew_with_what_is_new(world: World) -> None:
    world.hear("::start ~/notes/a.md", "one")
    (world.notes / "a.md").unlink()
    world.hear("two")
    text = (world.notes / "a.md").read_text()
    assert "two" in text and "one" not in text
    assert "recording-recreated" in world.codes()


def test_a_moved_file_keeps_what_it_has(world: World) -> None:
    world.hear("::start ~/notes/a.md", "one")
    (world.notes / "a.md").rename(world.notes / "b.md")
    world.hear("two")
    assert "one" in (world.notes / "b.md").read_text()
    assert "two" in (world.notes / "a.md").read_text()


def test_notes_of_the_user_stay_where_they_are(world: World) -> None:
    path = world.notes / "a.md"
    path.write_bytes(b"my notes, no newline")
    world.hear("::start ~/notes/a.md", "one")
    with path.open("ab") as file:
        file.write(b"\nlook at this")
    world.hear("two")
    text = path.read_text()
    assert text.startswith("my notes, no newline\n") and "\nlook at this\n" in text
    assert text.index("one") < text.index("look at this") < text.index("two")


def test_a_file_that_was_cut_gets_nothing_again_and_says_so(world: World) -> None:
    path = world.notes / "a.md"
    world.hear("::start ~/notes/a.md", "one")
    path.write_text("cut down\n")
    world.hear("two")
    text = path.read_text()
    assert text.startswith("cut down\n") and "one" not in text and "two" in text
    assert "recording-edited" in world.codes()


def test_a_change_before_what_was_written_last_is_no_reason_for_a_warning(world: World) -> None:
    path = world.notes / "a.md"
    world.hear("::start ~/notes/a.md", "one")
    path.write_text(path.read_text().replace("title: ", "title: my own name for it, "))
    world.hear("two")
    # A second session adds its recording to the frontmatter, which moves all that follows.
    world.talk("hello", session="other")
    world.poll()
    world.hear("::start ~/notes/a.md", "from the other", session="other")
    world.hear("three")
    text = path.read_text()
    assert [text.count(f"\n{word}\n") for word in ("one", "two", "from the other", "three")] == [1, 1, 1, 1]
    assert "recording-edited" not in world.codes()
    assert "shared-destination" in world.codes()


def test_settings_belong_to_the_recording(world: World) -> None:
    settings = world.config.markdown.model_copy(update={"thinking": not world.config.markdown.thinking})
    world.ask("start", "~/notes/a.md", settings=settings)
    assert world.recordings()[0].settings == settings


def test_large_stretches_are_written_in_bounded_pieces(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "CHUNK", 1000)
    monkeypatch.setattr(recorder, "_CHUNK", 500)
    monkeypatch.setattr(recorder, "_MAX_INLINE", 400)
    world.hear(*(f"line {number} " * 20 for number in range(50)))
    world.ask("capture", "~/notes/a.md")
    _only(world, "a.md")
    world.engine.tick()
    assert not list(world.home.sessions.glob("*.pending"))


def test_a_session_whose_log_is_gone_can_still_be_exported_from_its_twin(world: World) -> None:
    world.hear("::start ~/notes/a.md", "one")
    (world.toys / "talk.jsonl").unlink()
    world.poll()
    assert world.ask("export", "~/notes/all.md").code == "done"
    assert "first words" in (world.notes / "all.md").read_text()
