"""The `:` line: the very commands of the chat, completed as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kato_tui.screens.help import Help
from tests.tui.house import Dash, House, look


def _left_behind(house: House) -> dict[str, object]:
    """What commands leave: recordings, and what was told of them."""
    recordings = house.recordings(house.stage.tests)
    return {
        "recordings": [(Path(one["destination"]).name, one["desiredState"]) for one in recordings],
        "told": [(one.code, one.severity) for one in house.engine.notices],
    }


@pytest.mark.parametrize(
    "lines",
    [
        ("start",),
        ("record ~/notes/one.md", "stop"),
        ("start '~/notes/with blank.md'",),
        ("capture ~/notes/all.md", "stop dest:~/notes/all.md"),
        ("export ~/notes/once.md",),
        ("start ~/notes/one.md from -1",),
        ('start ~/notes/one.md from "midnight"',),
        ("start ~/notes/one.md", "start ~/notes/two.jsonl", "stop id:00000002"),
        ("start ~/notes/one.md", "start ~/notes/one.md"),
        ("stop id:ffffffff",),
        ("stop id:00",),
        ("start /etc/passwd.md",),
    ],
    ids=" ".join,
)
async def test_the_line_does_what_the_chat_does(tmp_path: Path, lines: tuple[str, ...]) -> None:
    (tmp_path / "chat").mkdir()
    (tmp_path / "line").mkdir()
    said, typed = House(tmp_path / "chat"), House(tmp_path / "line")
    for line in lines:
        said.stage.tests.user(f"::{line}")
        said.poll()
        # The message that holds the command is part of the conversation there.
        typed.stage.tests.user("(nothing)")
        typed.poll()
    async with look(typed) as dash:
        await dash.select(typed.stage.tests)
        for line in lines:
            await dash.command(line)
        assert _left_behind(typed) == _left_behind(said)


@pytest.mark.parametrize("prefix", ["", ":", "::", " "])
async def test_colons_and_blanks_before_a_command_do_not_matter(tmp_path: Path, prefix: str) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.command(f"{prefix}start ~/notes/one.md")
        assert len(house.recordings(house.stage.tests)) == 1


async def test_a_command_can_name_another_session(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.command(f"@{house.short(house.stage.cache)} start ~/notes/one.md")
        assert not house.recordings(house.stage.tests) and len(house.recordings(house.stage.cache)) == 1


async def test_a_slip_is_told_with_what_was_probably_meant(tmp_path: Path) -> None:
    async with look(House(tmp_path)) as dash:
        await dash.command("strat ~/notes/x.md")
        assert "did you mean :start?" in dash.toasts[-1] and "did you mean :start?" in dash.alerts[0]
        await dash.command("stop id:")
        assert "id" in dash.alerts[0]


async def _offered(dash: Dash, text: str) -> list[str]:
    await dash.press(":")
    await dash.type(text)
    found = [one.label for one in dash.app.line._choices]
    await dash.press("escape")
    return found


async def test_names_ids_and_paths_are_completed(tmp_path: Path) -> None:
    house = House(tmp_path)
    (house.stage.cwd / "docs").mkdir()
    (house.stage.cwd / "notes of mine.md").touch()
    (house.stage.cwd / "secret.key").touch()
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.command("start ~/notes/one.md")
        [one] = house.recordings(house.stage.tests)
        assert await _offered(dash, "st") == ["start", "stop"]
        assert await _offered(dash, "stop id:") == [f"id:{one['recordingShortId']}"]
        assert await _offered(dash, "stop one") == ["dest:~/notes/one.md"]
        assert await _offered(dash, "resume ") == []
        assert await _offered(dash, "start ") == ["docs/", "notes of mine.md"]
        assert await _offered(dash, "export n") == ["notes of mine.md"]
        # The home that paths are shown with, not that of whoever runs a demonstration.
        assert await _offered(dash, "start ~/no") == ["~/notes/"]
        assert await _offered(dash, f"@{house.short(house.stage.cache)[:3]}") == [house.short(house.stage.cache)]
        assert await _offered(dash, "theme kato-l") == ["kato-light"]
        assert "state" in await _offered(dash, "sort ")


async def test_tab_takes_what_is_offered(tmp_path: Path) -> None:
    house = House(tmp_path)
    (house.stage.cwd / "notes of mine.md").write_text("mine\n")
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press(":")
        await dash.type("sta")
        await dash.press("tab")
        assert dash.app.line.entry.value == "start "
        await dash.type("no")
        await dash.press("tab")
        assert dash.app.line.entry.value == 'start "notes of mine.md"'
        await dash.press("enter")
        house.stage.tests.say("into the file with blanks")
        await dash.hear()
        text = (house.stage.cwd / "notes of mine.md").read_text()
        assert text.startswith("mine\n") and "into the file with blanks" in text


async def test_former_lines_come_back(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        for line in ("sort state", "sort provider"):
            await dash.command(line)
        await dash.press(":", "up", "up")
        assert dash.app.line.entry.value == "sort state"
        await dash.press("down", "enter")
        assert dash.app.sessions.wanted.sort == "provider"


async def test_the_screen_has_words_of_its_own(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.command("filter ai:gemini")
        assert len(dash.app.sessions.items) == 1
        await dash.command("filter")
        assert len(dash.app.sessions.items) == 5
        await dash.command("theme kato-light")
        assert dash.app.theme == "kato-light"
        await dash.command("theme of-nobody")
        assert "there is no theme of-nobody" in dash.toasts[-1] and dash.app.theme == "kato-light"
        await dash.command("help")
        assert isinstance(dash.app.screen, Help)
        await dash.press("escape")
        await dash.command("q")
        assert dash.app._exit
