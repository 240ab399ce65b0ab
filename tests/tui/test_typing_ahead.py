"""Who types faster than the screen paints still writes into the line, and presses no keys of a pane."""

from __future__ import annotations

from pathlib import Path

from tests.tui.house import House, look


async def test_a_command_that_is_typed_at_once_goes_into_the_line(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.type(":stop sXcq")
        assert dash.app.line.is_open and dash.app.line.entry.value == "stop sXcq"
        assert not house.recordings(house.stage.tests)


async def test_a_colon_and_a_slash_in_the_line_are_letters(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.type(":start ~/S/e:x.md")
        assert dash.app.line.entry.value == "start ~/S/e:x.md"
        await dash.press("escape")
        await dash.type("/tide: e")
        assert dash.app.line.entry.value == "tide: e"


async def test_a_path_typed_at_once_behind_the_key_that_asks_for_it(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.type("S~/notes/quick.md")
        assert dash.app.line.entry.value == "start ~/notes/quick.md"


async def test_a_command_typed_right_behind_the_key_of_a_pane_is_carried_out(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house, size=(80, 24)) as dash:
        await dash.select(house.stage.tests)
        dash.send("3", ":", *"start ~/notes/quick.md", "enter")
        await dash.settled()
        [one] = house.recordings(house.stage.tests)
        assert one["destination"] == str(house.stage.notes / "quick.md")
        assert dash.app.focused is dash.app.events and not dash.app.line.is_open


async def test_keys_that_change_the_line_take_their_turn_among_its_letters(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.press(":")
        dash.send(*"xyz", "ctrl+u", *"stopp", "backspace", "home", *"@1 ", "end", *" id:", "enter")
        await dash.settled()
        assert dash.app.line.entry.value == "@1 stop id:"
        assert not dash.app.line.is_open


async def test_a_key_counts_in_the_pane_that_had_the_focus_when_it_was_pressed(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.press("g")
        dash.send("j", "j", "3")
        await dash.settled()
        assert dash.app.sessions.index == 2
        assert dash.app.focused is dash.app.events
