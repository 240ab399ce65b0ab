"""Panes, layouts, themes, help, palette, mouse, and ways out."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.command import CommandPalette

from kato_tui import themes
from kato_tui.actions import ACTIONS, PANES, with_keymap
from kato_tui.core.errors import ConfigError
from kato_tui.screens.ask import Ask
from kato_tui.screens.help import Help
from kato_tui.widgets.bars import Card, KeyBar, TabBar
from tests.tui.house import Dash, House, look


def _shown(dash: Dash) -> list[str]:
    return [pane.NAME for pane in dash.app.panes if pane.display]


async def test_every_action_has_a_deed_and_every_deed_an_action(tmp_path: Path) -> None:
    async with look(House(tmp_path, empty=True)) as dash:
        assert set(dash.app.deeds.table) == {one.id for one in ACTIONS}


async def test_panes_are_reached_by_number_and_by_tab(tmp_path: Path) -> None:
    async with look(House(tmp_path)) as dash:
        for key, name in (("2", "recordings"), ("3", "events"), ("4", "warnings"), ("1", "sessions")):
            await dash.press(key)
            assert name == dash.app.pane.NAME and dash.app.focused is dash.app.pane
        seen = []
        for _ in PANES:
            await dash.press("tab")
            seen.append(dash.app.pane.NAME)
        assert seen == ["recordings", "events", "warnings", "sessions"]
        await dash.press("shift+tab")
        assert dash.app.pane.NAME == "warnings"


async def test_a_small_terminal_has_tabs_and_everything_stays_in_reach(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.play()
    async with look(house, (80, 24)) as dash:
        for number, name in enumerate(PANES, start=1):
            await dash.press(str(number))
            assert _shown(dash) == [name] and dash.app.base.query_one(TabBar).display
            assert max(map(len, dash.lines)) <= 80 and len(dash.lines) == 24
            assert dash.lines[1].replace("▌", " ").split()[0] == "1" and "? help" in dash.lines[-1]


async def test_wide_terminals_show_all_about_the_session(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house, (200, 60)) as dash:
        await dash.select(house.stage.tests)
        assert dash.app.base.query_one(Card).display and len(_shown(dash)) == 4
        assert house.session(house.stage.tests)["sessionId"] in dash.text and "fix/midnight-tide" in dash.text


async def test_zoom_shows_one_pane_and_the_others_come_back(tmp_path: Path) -> None:
    async with look(House(tmp_path)) as dash:
        await dash.press("3", "z")
        assert _shown(dash) == ["events"]
        await dash.press("4")
        assert _shown(dash) == ["warnings"]
        await dash.press("z")
        assert len(_shown(dash)) == 4
        await dash.press("z", "escape")
        assert len(_shown(dash)) == 4


async def test_panes_grow_and_shrink_and_no_further(tmp_path: Path) -> None:
    for size in ((140, 45), (200, 60)):
        async with look(House(tmp_path / f"{size[0]}"), size) as dash:
            pane = dash.app.sessions
            areas = [pane.size]
            await dash.press("+")
            areas.append(pane.size)
            await dash.press("-", "-")
            areas.append(pane.size)
            assert areas[1] != areas[0] or size == (140, 45)
            for _ in range(9):
                await dash.press("+")
            assert all(one.size.height > 1 and one.size.width > 8 for one in dash.app.panes)
            for _ in range(17):
                await dash.press("-")
            assert all(one.size.height > 1 and one.size.width > 8 for one in dash.app.panes)


async def test_any_size_can_follow_any_other(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.play()
    async with look(house) as dash:
        for width, height in ((20, 5), (200, 60), (1, 1), (80, 24), (300, 10), (40, 100), (140, 45)):
            await dash.pilot.resize_terminal(width, height)
            await dash.settled()
            assert len(dash.lines) == height
        assert len(_shown(dash)) == 4 and "Flaky tide test" in dash.text


async def test_themes_go_round_and_all_of_them_can_be_read(tmp_path: Path) -> None:
    async with look(House(tmp_path)) as dash:
        seen = []
        for _ in themes.CYCLE:
            await dash.press("T")
            seen.append(dash.app.theme)
        assert sorted(seen) == sorted(themes.CYCLE)
        for name in (*themes.OWN, "textual-light", "ansi-dark"):
            assert name in dash.app.available_themes
            dash.app.set_theme(name)
            await dash.settled()
            assert "Flaky tide test" in dash.text, name


async def test_a_theme_that_is_not_there_is_told_and_another_one_taken(tmp_path: Path) -> None:
    async with look(House(tmp_path, theme="of-nobody")) as dash:
        assert dash.app.theme in themes.OWN
        assert any("there is no theme of-nobody" in one for one in dash.alerts)


async def test_help_begins_with_the_pane_that_has_the_focus(tmp_path: Path) -> None:
    async with look(House(tmp_path)) as dash:
        for number, name in enumerate(PANES, start=1):
            await dash.press(str(number), "?")
            assert isinstance(dash.app.screen, Help)
            first = next(line for line in dash.sheet.splitlines() if "(" in line)
            assert f"{name.capitalize()} (this pane)" in first
            await dash.press("escape")


async def test_the_palette_finds_actions_by_name_and_by_what_they_do(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        for query in ("capture", "write everything so far and"):
            await dash.press("ctrl+p")
            assert isinstance(dash.app.screen, CommandPalette)
            await dash.type(query)
            await dash.until(lambda: "Capture" in dash.text)
            await dash.press("down", "enter")
            await dash.until(lambda: not isinstance(dash.app.screen, CommandPalette))
            await dash.settled()
        assert len(house.recordings(house.stage.tests)) >= 1


async def test_the_palette_begins_with_what_the_focused_pane_can_do(tmp_path: Path) -> None:
    async with look(House(tmp_path), size=(80, 24)) as dash:
        await dash.press("4", "ctrl+p")
        await dash.until(lambda: "do what the selected warning proposes" in dash.text)
        assert dash.text.index("Acknowledge all") < dash.text.index("Open session")


async def test_the_mouse_selects_opens_and_presses_keys(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        place = dash.app.sessions.items.index(f"claude:{house.stage.design.session}")
        await dash.pilot.click(dash.app.sessions, offset=(10, place + 2))
        await dash.settled()
        assert dash.app.sessions.cursor == f"claude:{house.stage.design.session}"
        await dash.pilot.click(dash.app.sessions, offset=(10, place + 2), times=2)
        await dash.settled()
        assert dash.app.focused is dash.app.events
        line = dash.lines[-1]
        await dash.pilot.click(KeyBar, offset=(line.index("start"), 0))
        await dash.settled()
        assert len(house.recordings(house.stage.design)) == 1
        await dash.pilot.resize_terminal(80, 24)
        await dash.settled()
        await dash.pilot.click(TabBar, offset=(dash.lines[1].index("Warnings"), 0))
        await dash.settled()
        assert dash.app.pane is dash.app.warnings


async def test_the_wheel_scrolls_and_stops_following(tmp_path: Path) -> None:
    house = House(tmp_path)
    for number in range(90):
        house.stage.tests.say(f"line {number}")
    house.poll()
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        pane = dash.app.events
        assert pane.follow
        pane.post_message(
            events.MouseScrollUp(pane, 5, 5, 0, -1, 0, False, False, False, screen_x=5, screen_y=12, style=None)
        )
        await dash.until(lambda: not pane.follow)
        await dash.settled()
        assert "paused" in dash.text


# Ways out.


async def test_escape_clears_one_thing_after_the_other_and_leaves_only_then(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.press("/")
        await dash.type("tide")
        await dash.press("enter", "3", "a", "z")
        await dash.press("escape")
        assert not dash.app.sessions.wanted.words
        await dash.press("escape")
        assert not dash.app.rooms.zoomed
        await dash.press("escape")
        assert not dash.app.events.everything
        await dash.press("escape")
        assert dash.toasts == ["esc again leaves"] and dash.app.is_running and not dash.app._exit
        await dash.press("escape")
        assert dash.app._exit


async def test_ctrl_c_leaves_when_pressed_twice_wherever_one_is(tmp_path: Path) -> None:
    async with look(House(tmp_path)) as dash:
        await dash.press("?", "ctrl+c")
        assert "ctrl+c again leaves" in dash.toasts and not dash.app._exit
        await dash.press("ctrl+c")
        assert dash.app._exit and dash.app.return_code == 0


async def test_leaving_asks_when_recordings_would_wait(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("s")
        for key in ("q", "ctrl+q"):
            await dash.press(key)
            assert isinstance(dash.app.screen, Ask) and "1 recording will wait" in dash.text
            await dash.press("escape")
            assert not dash.app._exit
        await dash.press("q", "y")
        assert dash.app._exit


async def test_a_question_that_comes_by_itself_is_not_answered_by_typing(tmp_path: Path) -> None:
    async with look(House(tmp_path)) as dash:
        answers: list[bool | None] = []
        dash.app.push_screen(Ask("No engine", "Start one?", "Take over", unasked=True), answers.append)
        await dash.settled()
        await dash.press("y", "n", "q")
        assert not answers and "Take over" in dash.text and "(y)" not in dash.sheet
        await dash.press("enter")
        assert answers == [False]


# The user's own keys.


async def test_own_keys_replace_the_ones_there_were(tmp_path: Path) -> None:
    house = House(tmp_path, keymap={"palette": "f2", "zoom": "ctrl+p", "start": "w", "quit": "ctrl+x"})
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("ctrl+p")
        assert dash.app.rooms.zoomed and not isinstance(dash.app.screen, CommandPalette)
        await dash.press("escape", "s")
        assert not house.recordings(house.stage.tests)
        await dash.press("w")
        assert len(house.recordings(house.stage.tests)) == 1
        assert "w start" in dash.lines[-1]
        await dash.press("ctrl+q")
        assert not isinstance(dash.app.screen, Ask)
        await dash.press("ctrl+x")
        assert isinstance(dash.app.screen, Ask)


@pytest.mark.parametrize(
    ("keymap", "said"),
    [
        ({"start": "x"}, "the key `x` would mean both"),
        ({"zoom": "s"}, "the key `s` would mean both `start` and `zoom`"),
        ({"strat": "s"}, "unknown action `strat`, did you mean `start`?"),
        ({"start": "ctrl+"}, "`ctrl+` is not a key"),
        ({"start": "j"}, "would mean both"),
        ({"zoom": "ctrl+c"}, "would mean both"),
        ({"interrupt": "f9"}, "ctrl+c"),
    ],
)
def test_a_key_that_would_hide_another_is_told(keymap: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said.replace("?", "\\?").replace("+", "\\+")):
        with_keymap(keymap)


# The bell.


async def test_the_bell_rings_when_an_assistant_begins_to_wait_if_that_is_wanted(tmp_path: Path) -> None:
    for bell in (False, True):
        house = House(tmp_path / str(bell), bell=bell)
        async with look(house) as dash:
            rung: list[str] = []
            dash.app.bell = lambda rung=rung: rung.append("bell")  # type: ignore[misc, method-assign]
            dash.app._write_raw = rung.append  # type: ignore[method-assign, assignment]
            house.clock.advance(5)
            house.stage.tests.ask("Commit?", ("Yes", "now"), ("No", "later"))
            await dash.hear()
            short = house.short(house.stage.tests)
            assert rung == (["bell", f"\x1b]9;kato-tui: {short} needs you\x07"] if bell else [])
            await dash.hear()
            assert len(rung) == (2 if bell else 0)


@pytest.mark.parametrize(
    ("written", "keys"),
    [("esc", ("escape",)), ("shift+w, F5", ("W", "f5")), ("del", ("delete",)), ("ctrl+X", ("ctrl+x",)), (",", (",",))],
)
def test_keys_may_be_written_as_people_do(written: str, keys: tuple[str, ...]) -> None:
    assert _key_of(written) == keys


def _key_of(written: str) -> tuple[str, ...]:
    return next(one.keys for one in with_keymap({"take-over": written, "clear": "ctrl+l"}) if one.id == "take-over")


async def test_titles_say_whose_events_and_recordings_they_are(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house, size=(80, 24)) as dash:
        await dash.select(house.stage.tests)
        for key in ("3", "2"):
            await dash.press(key)
            assert f"of {house.short(house.stage.tests)} Flaky tide test at midnight" in dash.text


async def test_events_of_another_day_say_which(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        assert "── following ─╯" in dash.text
        await dash.select(house.stage.legacy)
        assert "── Tue 17 Nov · following ─╯" in dash.text


async def test_the_footer_tells_what_keys_do_in_the_line(tmp_path: Path) -> None:
    async with look(House(tmp_path)) as dash:
        before = dash.lines[-1]
        await dash.press(":")
        assert "tab complete" in dash.lines[-1] and "X stop all" not in dash.lines[-1]
        await dash.pilot.click("#keys", offset=(2, 0))
        await dash.press("escape", "/")
        assert "⏎ keep the filter" in dash.lines[-1]
        await dash.press("escape")
        assert dash.lines[-1] == before


async def test_help_is_readable_to_the_end_of_each_line_in_a_small_terminal(tmp_path: Path) -> None:
    async with look(House(tmp_path), size=(80, 24)) as dash:
        await dash.press("?")
        assert "…" not in dash.sheet and "reads its log if no twin" in " ".join(dash.sheet.replace("│", " ").split())


async def test_the_smallest_terminal_shows_every_column_in_full(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.play()
    async with look(house, size=(60, 15)) as dash:
        header, first = dash.lines[3:5]
        assert header.rstrip("│").endswith("new") and not first.rstrip("│").rstrip().endswith("…")
        await dash.select(house.stage.tests)
        await dash.press("2", "a")
        assert house.short(house.stage.tests) in dash.text
