"""Reading along: what has just been said is in sight, whatever the pane's height."""

from __future__ import annotations

from pathlib import Path

from tests.tui.house import House, look


async def test_the_newest_event_is_in_sight_when_more_come_than_fit(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house, size=(120, 30)) as dash:
        await dash.select(house.stage.tests)
        for number in range(60):
            house.stage.tests.say(f"answer number {number}")
        await dash.hear()
        assert "answer number 59" in dash.text and "answer number 0" not in dash.text


async def test_the_newest_event_stays_in_sight_when_the_pane_becomes_lower(tmp_path: Path) -> None:
    house = House(tmp_path)
    for number in range(12):
        house.stage.tests.say(f"answer number {number}")
    house.poll()
    async with look(house, size=(120, 30)) as dash:
        await dash.select(house.stage.tests)
        await dash.press("3")
        assert "answer number 0" in dash.text
        await dash.pilot.resize_terminal(120, 22)
        await dash.until(lambda: "answer number 0" not in dash.text and "answer number 11" in dash.text)
