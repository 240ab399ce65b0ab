"""Recordings from keys: what stands in the files, what is told, what the panes show."""

from __future__ import annotations

from pathlib import Path

from tests.tui.house import Dash, House, look


async def _told(dash: Dash, words: str) -> None:
    """Every outcome is a toast and a line in the warnings."""
    assert any(words in one for one in dash.toasts), dash.toasts
    assert any(words in one for one in dash.alerts), dash.alerts


async def test_start_records_the_session_from_now_on(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("s")
        [one] = house.recordings(house.stage.tests)
        house.stage.tests.say("said after the start")
        await dash.hear()
        text = Path(one["destination"]).read_text()
        assert "said after the start" in text and "around midnight" not in text
        await _told(dash, one["recordingShortId"])
        assert one["recordingShortId"] in dash.text and "● recording" in dash.text


async def test_start_at_asks_for_a_file(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("S")
        assert dash.app.line.is_open and dash.app.line.entry.value == "start "
        await dash.type("~/notes/mine.md")
        await dash.press("enter")
        house.stage.tests.say("in my notes")
        await dash.hear()
        assert "in my notes" in (house.stage.notes / "mine.md").read_text()
        assert not dash.app.line.is_open and dash.app.focused is dash.app.sessions
        await _told(dash, "notes/mine.md")


async def test_start_from_here_begins_with_the_selected_event(tmp_path: Path) -> None:
    house = House(tmp_path)
    log = house.stage.tests
    log.say("before")
    log.user("the turning point")
    log.say("behind it")
    house.poll()
    async with look(house) as dash:
        await dash.select(log)
        await dash.press("3", "k", "h")
        [one] = house.recordings(log)
        text = Path(one["destination"]).read_text()
        assert "the turning point" in text and "behind it" in text and "before" not in text


async def test_start_from_here_works_in_the_feed_of_all_sessions(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.design)
        house.stage.tests.say("of another session")
        await dash.hear()
        await dash.press("3", "a")
        assert dash.app.events.event is not None and dash.app.events.event["text"] == "of another session"
        await dash.press("h")
        assert not house.recordings(house.stage.design)
        [one] = house.recordings(house.stage.tests)
        assert "of another session" in Path(one["destination"]).read_text()


async def test_stop_ends_the_selected_recording_only_and_resume_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path)
    log = house.stage.tests
    async with look(house) as dash:
        await dash.select(log)
        await dash.command("start ~/notes/one.md")
        await dash.command("start ~/notes/two.md")
        await dash.press("2")
        chosen = dash.app.recordings.recording
        assert chosen is not None
        name = Path(chosen["destination"]).name
        await dash.press("x")
        house.clock.advance(1)
        log.say("while it was stopped")
        await dash.hear()
        states = {Path(one["destination"]).name: one["desiredState"] for one in house.recordings(log)}
        assert states.pop(name) == "off" and list(states.values()) == ["on"]
        assert dash.app.recordings.recording["recordingId"] == chosen["recordingId"]  # type: ignore[index]
        await _told(dash, chosen["recordingShortId"])
        await dash.press("r")
        log.say("gone on")
        await dash.hear()
        text = (house.stage.notes / name).read_text()
        assert "gone on" in text and "while it was stopped" not in text
        [periods] = [one["periods"] for one in house.recordings(log) if one["recordingId"] == chosen["recordingId"]]
        assert len(periods) == 2


async def test_stop_all_asks_when_there_are_several(tmp_path: Path) -> None:
    house = House(tmp_path)
    log = house.stage.tests
    async with look(house) as dash:
        await dash.select(log)
        await dash.command("start ~/notes/one.md")
        await dash.command("start ~/notes/two.md")
        await dash.press("X")
        assert "Stop 2 recordings" in dash.text and "~/notes/one.md" in dash.text
        await dash.press("n")
        assert [one["desiredState"] for one in house.recordings(log)] == ["on", "on"]
        await dash.press("X", "y")
        assert [one["desiredState"] for one in house.recordings(log)] == ["off", "off"]


async def test_stop_all_of_one_recording_does_not_ask(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("s", "X")
        [one] = house.recordings(house.stage.tests)
        assert one["desiredState"] == "off"


async def test_capture_writes_everything_so_far_and_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("c")
        house.stage.tests.say("and this too")
        await dash.hear()
        [one] = house.recordings(house.stage.tests)
        text = Path(one["destination"]).read_text()
        assert "around midnight" in text and "and this too" in text
        await _told(dash, one["recordingShortId"])


async def test_export_writes_once(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.design)
        await dash.press("e")
        await dash.type("~/notes/tide.md")
        await dash.press("enter")
        house.stage.design.say("too late for the export")
        await dash.hear()
        text = (house.stage.notes / "tide.md").read_text()
        assert "high water" in text and "too late" not in text
        assert not [one for one in house.recordings(house.stage.design) if one["desiredState"] == "on"]
        await _told(dash, "notes/tide.md")


async def test_a_refusal_is_told_and_touches_nothing(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.command("start /etc/harbour.md")
        assert not house.recordings(house.stage.tests)
        await _told(dash, "outside the allowed folders")


async def test_keep_keeps_a_twin_and_lets_it_go(tmp_path: Path) -> None:
    house = House(tmp_path, global_auto_generate_snapshots=False)
    log = house.stage.tests
    twin = house.home.twin(f"claude:{log.session}")
    async with look(house) as dash:
        await dash.select(log)
        assert "No twin of this session is kept" in dash.text and not twin.exists()
        await dash.press("K")
        assert twin.exists() and house.session(log)["keepTwin"]
        assert "around midnight" in dash.text
        await dash.press("K")
        assert not house.session(log).get("keepTwin")


async def test_without_a_session_keys_say_so(tmp_path: Path) -> None:
    async with look(House(tmp_path, empty=True)) as dash:
        for key in ("s", "S", "c", "e", "X", "K", "y", "Y", "R", "m", "enter"):
            await dash.press(key)
            assert dash.toasts[-1] == "no session is selected", key
            dash.app.clear_notifications()
        for pane, keys, words in (("2", "xrEyYp", "no recording"), ("3", "hyY", "no event"), ("4", "y", "no warning")):
            await dash.press(pane)
            for key in keys:
                await dash.press(key)
                assert dash.toasts[-1].startswith(words), (pane, key)
                dash.app.clear_notifications()
