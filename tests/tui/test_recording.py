"""Recordings from keys: what stands in the files, what is told, what the panes show."""

from __future__ import annotations

from pathlib import Path

from tests.tui.house import House, look


async def test_s_records_the_session_from_now_on(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("s")
        [one] = house.recordings(house.stage.tests)
        house.stage.tests.say("said after the start")
        await dash.hear()
        text = Path(one["destination"]).read_text()
        assert "said after the start" in text and "around midnight" not in text
        assert any(one["recordingShortId"] in told for told in dash.toasts)
        assert any(one["recordingShortId"] in told for told in dash.alerts)
        assert one["recordingShortId"] in dash.text and "● recording" in dash.text
