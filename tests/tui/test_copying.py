"""Everything that can be copied: the value goes to the clipboard and is shown."""

from __future__ import annotations

import base64
from pathlib import Path

import orjson
import pytest

from kato_tui import clipboard
from tests.tui.house import House, look


async def test_ids_paths_and_commands_can_be_copied(tmp_path: Path) -> None:
    house = House(tmp_path)
    log = house.stage.tests
    async with look(house) as dash:
        await dash.select(log)
        await dash.press("s")
        session, [recording] = house.session(log), house.recordings(log)
        wanted = {
            "y": session["sessionShortId"],
            "Y": session["sessionId"],
            "R": session["resumeCommand"],
            "2 y": recording["recordingShortId"],
            "2 Y": recording["recordingId"],
            "2 p": recording["destination"],
        }
        for keys, value in wanted.items():
            await dash.press("1", *keys.split())
            assert dash.copied == value
            assert dash.toasts[-1].startswith(f"copied {value[:60]}")


async def test_the_text_of_an_event_is_copied_exactly(tmp_path: Path) -> None:
    house = House(tmp_path)
    said = "two lines\n\tand a tab, 'quotes', [brackets] and 潮"
    house.stage.tests.say(said)
    house.poll()
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("3", "y")
        assert dash.copied == said
        await dash.press("Y")
        assert orjson.loads(dash.copied)["payload"]["text"] == said


async def test_an_enormous_event_is_copied_in_part_and_that_is_said(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.stage.tests.say("x" * (3 << 20))
    house.poll()
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("3", "y")
        assert len(dash.copied) == 1 << 20 and dash.toasts[-1].startswith("copied the beginning of event")


async def test_a_warning_gives_its_ids(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("s", "4", "y")
        [recording] = house.recordings(house.stage.tests)
        assert dash.copied == recording["recordingId"]


def test_the_terminals_own_clipboard_gets_base64_only() -> None:
    sequence = clipboard.osc52("\x1b]0;title\x07 and 潮")
    head, _, tail = sequence.partition("c;")
    assert head == "\x1b]52;" and tail.endswith("\x07")
    assert base64.b64decode(tail[:-1]).decode() == "\x1b]0;title\x07 and 潮"


@pytest.mark.parametrize(
    ("environ", "asked"),
    [({}, ["desktop"]), ({"SSH_CONNECTION": "1"}, []), ({"TMUX": "x"}, ["tmux", "desktop"])],
)
def test_other_clipboards_are_used_where_they_make_sense(
    environ: dict[str, str], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(clipboard, "_tmux", lambda text: True)
    assert clipboard.copy("x", environ, lambda text: True) == asked
    assert clipboard.copy("x", environ, lambda text: False) == [one for one in asked if one == "tmux"]
