"""Which sessions are listed and how: filter, order, what is hidden, what was seen."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.tui.house import Dash, House, look


def _titles(dash: Dash) -> list[str]:
    board = dash.app.board
    return [str(board.sessions[key].get("title")) for key in dash.app.sessions.items]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("midnight", {"Flaky tide test at midnight"}),
        ("TIDE page", {"Design of the tide page"}),
        ("ai:gemini", {"how does the cache in harbour/feed.py decide that a table is stale?"}),
        ("rec:on", {"Flaky tide test at midnight"}),
        ("branch:fix/", {"Flaky tide test at midnight"}),
        ("state:thinking", {"Flaky tide test at midnight"}),
        ("ai:claude tide page", {"Design of the tide page"}),
        ("nobody said this", set()),
    ],
)
async def test_a_filter_shows_what_matches(tmp_path: Path, words: str, found: set[str]) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("s", "/")
        await dash.type(words)
        assert set(_titles(dash)) == found
        await dash.press("enter")
        assert set(_titles(dash)) == found and not dash.app.line.is_open
        if not found:
            assert "Nothing matches" in dash.text
        await dash.press("escape")
        assert len(_titles(dash)) == 5


async def test_escape_in_the_filter_line_takes_the_filter_back(tmp_path: Path) -> None:
    async with look(House(tmp_path)) as dash:
        await dash.press("/")
        await dash.type("midnight")
        assert len(_titles(dash)) == 1
        await dash.press("escape")
        assert len(_titles(dash)) == 5 and dash.app.focused is dash.app.sessions


async def test_orders_go_round_and_are_told(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.play()
    async with look(house) as dash:
        for name in ("state", "provider", "project", "tokens", "unseen", "activity"):
            await dash.press("o")
            assert dash.toasts[-1] == f"sorted by {name}"
            subtitle = str(dash.app.sessions.border_subtitle)
            assert (f"by {name}" in subtitle) == (name != "activity")
        await dash.command("sort provider")
        rows = [dash.app.board.sessions[key]["provider"] for key in dash.app.sessions.items]
        assert rows == sorted(rows)
        await dash.command("sort colour")
        assert "activity, state" in dash.toasts[-1]


async def test_the_cursor_stays_on_its_session_when_the_list_is_sorted_anew(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.design)
        before = dash.app.sessions.cursor
        assert dash.app.sessions.index > 0
        house.clock.advance(60)
        house.stage.design.say("back again")
        await dash.hear()
        assert dash.app.sessions.cursor == before and dash.app.sessions.index == 0


async def test_stale_sessions_are_hidden_until_asked_for(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.clock.advance(timedelta(days=8).total_seconds())
    house.stage.tests.say("still here")
    house.poll()
    async with look(house) as dash:
        assert _titles(dash) == ["Flaky tide test at midnight"]
        assert "1 of 5 · 4 stale hidden" in dash.text
        await dash.press("V")
        assert len(_titles(dash)) == 5
        await dash.press("V")
        assert len(_titles(dash)) == 1


async def test_sub_agents_are_hidden_until_asked_for(tmp_path: Path) -> None:
    house = House(tmp_path)
    main = house.stage.tests
    agent = main.path.with_suffix("") / "subagents" / "agent-a1b2c3d4.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_bytes(
        main.path.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true,"agentId":"a1b2c3d4"')
    )
    house.poll()
    async with look(house) as dash:
        assert len(_titles(dash)) == 5 and "1 sub-agents hidden" in dash.text
        await dash.press("v")
        assert len(_titles(dash)) == 6 and "↳" in dash.text


async def test_what_was_not_seen_is_counted_until_somebody_looks(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.legacy)
        house.clock.advance(5)
        for log in (house.stage.tests, house.stage.design, house.stage.export):
            log.user("one")
            log.say("two")
        await dash.hear()
        assert dash.text.count("+2") == 3
        await dash.select(house.stage.tests)
        await dash.press("m")
        assert dash.text.count("+2") == 2
        await dash.select(house.stage.design)
        await dash.press("enter")
        assert dash.text.count("+2") == 1 and dash.app.focused is dash.app.events
        await dash.press("1", "M")
        assert "+2" not in dash.text


async def test_who_reads_along_has_seen_it(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("3")
        house.clock.advance(5)
        house.stage.tests.say("read at once")
        await dash.hear()
        assert "read at once" in dash.text and "+1" not in dash.text


async def test_recordings_of_all_sessions_or_of_one(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.play()
    async with look(house, (200, 60)) as dash:
        await dash.select(house.stage.tests)
        assert len(dash.app.recordings.items) == 2
        await dash.press("2", "a")
        assert len(dash.app.recordings.items) == 4 and "Recordings of all sessions" in dash.text
        await dash.press("a")
        assert len(dash.app.recordings.items) == 2


async def test_empty_homes_teach(tmp_path: Path) -> None:
    house = House(tmp_path, empty=True)
    async with look(house) as dash:
        for words in ("No sessions yet.", "~/.claude", "~/.codex", "~/.gemini", "kato-tui --demo", "All is well"):
            assert words in dash.text


async def test_a_filter_that_is_typed_keeps_the_selected_session_and_moves_nothing_else(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        before, height = dash.app.sessions.cursor, dash.app.sessions.size.height
        await dash.press("3", "/")
        await dash.type("branch:f")
        # On the way, `b` alone had left sessions of other names only.
        assert dash.app.sessions.cursor == before and len(dash.app.sessions.items) == 1
        assert dash.app.sessions.size.height == height
        await dash.press("enter")
        assert dash.app.focused is dash.app.sessions
        await dash.press("/")
        await dash.type("zz")
        assert not dash.app.sessions.items
        await dash.press("escape")
        assert dash.app.sessions.cursor == before and len(dash.app.sessions.items) == 5


async def test_a_filter_is_seen_where_there_is_room_for_one_pane_only(tmp_path: Path) -> None:
    async with look(House(tmp_path), size=(80, 24)) as dash:
        await dash.press("3", "/")
        await dash.type("midnight")
        assert dash.app.sessions.display and "Sessions 1" in dash.text
