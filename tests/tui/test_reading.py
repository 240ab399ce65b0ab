"""What was said: the live list, one event in full, older ones, and files in the user's own programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.containers import VerticalScroll

from kato_tui import app as dashboard_app
from kato_tui.deeds import reading
from kato_tui.screens.detail import Detail
from kato_tui.widgets.toned import Prose
from tests.tui.house import Dash, House, look


async def test_new_events_appear_and_the_newest_stays_in_sight(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        for number in range(60):
            house.stage.tests.say(f"line {number} of many")
        await dash.hear()
        assert "line 59 of many" in dash.text and "line 0 of many" not in dash.text
        assert "following" in dash.text


async def test_whoever_scrolls_up_is_left_in_peace_and_told_how_much_is_new(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        for number in range(60):
            house.stage.tests.say(f"line {number} of many")
        await dash.hear()
        await dash.press("3", "g")
        top = dash.app.events.scroll_y
        house.stage.tests.say("unread one")
        house.stage.tests.say("unread two")
        await dash.hear()
        assert "+2 new · f follows again" in dash.text and "unread two" not in dash.text
        assert dash.app.events.scroll_y == top
        await dash.press("f")
        assert "unread two" in dash.text and "following" in dash.text and "new ·" not in dash.text
        await dash.press("f")
        assert "paused" in dash.text
        await dash.press("G")
        assert "following" in dash.text


async def test_jumps_go_from_one_thing_the_user_said_to_the_next(tmp_path: Path) -> None:
    house = House(tmp_path)
    log = house.stage.tests
    for name in ("first", "second"):
        log.user(f"{name} question")
        log.say("an answer")
        log.say("another")
    house.poll()
    async with look(house) as dash:
        await dash.select(log)
        await dash.press("3")

        def said() -> str:
            assert dash.app.events.event is not None
            return str(dash.app.events.event["text"])

        for key, words in (("N", "second question"), ("N", "first question"), ("n", "second question")):
            await dash.press(key)
            assert said() == words
        await dash.press("n")
        assert said() == "second question" and dash.toasts[-1] == "nothing was said after this"


async def test_an_event_opens_rendered_and_raw_and_leads_to_its_neighbours(tmp_path: Path) -> None:
    house = House(tmp_path)
    log = house.stage.tests
    log.say("# A heading\n\n- one\n- two")
    log.call("Bash", command="pytest -q")
    house.poll()
    async with look(house) as dash:
        await dash.select(log)
        await dash.press("3", "k", "enter")
        assert isinstance(dash.app.screen, Detail)
        assert "A heading" in dash.sheet and "# A heading" not in dash.sheet and "• one" in dash.sheet
        await dash.press("r")
        assert '"kind": "assistant.message"' in dash.sheet and "# A heading\\n" in dash.sheet
        await dash.press("y")
        assert '"seq": 2' in dash.copied
        await dash.press("r", "n")
        assert "pytest -q" in dash.sheet and "Bash" in dash.sheet
        await dash.press("p", "p")
        assert "around midnight" in dash.sheet
        await dash.press("y")
        assert dash.copied == "the tide test fails around midnight, but only sometimes"
        await dash.press("escape")
        assert dash.app.focused is dash.app.events


async def test_links_and_images_of_an_event_are_never_followed(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.stage.tests.say("[click](https://example.org/x) ![i](https://example.org/i.png) <b>html</b>")
    house.poll()
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("3", "enter")
        opened: list[str] = []
        dash.app.open_url = lambda url, **_: opened.append(url)  # type: ignore[method-assign]
        assert "click (https://example.org/x) [i] (https://example.org/i.png) <b>html</b>" in dash.sheet
        text = dash.app.screen.query_one(Prose)
        await dash.pilot.click(Prose, offset=(2, 0))
        await dash.settled()
        assert not opened and text.is_attached


async def test_older_events_are_read_when_the_first_one_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(tmp_path)
    for number in range(80):
        house.stage.tests.say(f"line {number} of many")
    house.poll()
    pages = 30
    monkeypatch.setattr(dashboard_app, "PAGE", pages)
    monkeypatch.setattr(reading, "PAGE", pages)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        assert len(dash.app.events.items) == pages
        await dash.press("3", "g")
        assert len(dash.app.events.items) == 2 * pages
        await dash.press("g")
        assert len(dash.app.events.items) == 81 and dash.app.events.first_seq == 1
        assert [int(key.partition("/")[2]) for key in dash.app.events.items] == list(range(1, 82))


async def test_a_session_without_a_twin_is_read_when_it_is_opened(tmp_path: Path) -> None:
    house = House(tmp_path, global_auto_generate_snapshots=False)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        assert "No twin of this session is kept" in dash.text
        await dash.press("enter")
        assert "around midnight" in dash.text and dash.app.focused is dash.app.events


async def test_the_feed_shows_all_sessions_and_escape_leaves_it(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.legacy)
        await dash.press("3", "a")
        house.stage.tests.say("from the tests")
        house.stage.cache.say("from the cache")
        await dash.hear()
        assert "Events of all sessions" in dash.text
        assert "from the tests" in dash.text and "from the cache" in dash.text
        await dash.press("escape")
        assert f"Events of {house.short(house.stage.legacy)}" in dash.text and "from the cache" not in dash.text


async def _cannot_open(dash: Dash, key: str) -> None:
    await dash.press(key)
    assert "cannot be left for another program" in dash.toasts[-1]


async def test_a_terminal_that_cannot_be_left_is_told_of(tmp_path: Path) -> None:
    # Pagers and editors in a real terminal: tests/e2e/test_terminal.py.
    house = House(tmp_path)
    async with look(house) as dash:
        await dash.select(house.stage.tests)
        await dash.press("s", "2")
        await _cannot_open(dash, "enter")
        await _cannot_open(dash, "E")


async def test_neighbours_are_those_of_the_event_that_is_shown_wherever_the_list_has_followed_to(
    tmp_path: Path,
) -> None:
    house = House(tmp_path)
    log = house.stage.tests
    for text in ("one", "two", "three"):
        log.say(text)
    house.poll()
    async with look(house) as dash:
        await dash.select(log)
        await dash.press("3", "enter")
        assert "three" in dash.sheet and dash.app.events.follow
        for text in ("four", "five"):
            log.say(text)
        await dash.hear()
        await dash.press("n")
        assert "four" in dash.sheet
        await dash.press("p", "p")
        assert "two" in dash.sheet
        # Also for keys that come quicker than events are read.
        dash.send("n", "n", "n", "n")
        await dash.until(lambda: "five" in dash.sheet and dash.toasts[-1:] == ["there is no event after this one"])


async def test_an_event_of_thousands_of_parts_opens_like_any_other(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.stage.tests.say("- point\n" * 2400)
    house.poll()
    async with look(house, size=(80, 24)) as dash:
        await dash.select(house.stage.tests)
        await dash.press("3", "enter")
        assert dash.sheet.count("• point") > 10
        assert len(dash.app.screen.query("*")) < 10
        await dash.press("G")
        assert dash.app.screen.query_one(VerticalScroll).scroll_y > 2000


async def test_all_about_a_session_can_be_read_in_a_small_terminal(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with look(house, size=(80, 24)) as dash:
        await dash.select(house.stage.tests)
        await dash.press("i")
        sheet = "".join(dash.sheet.replace("│", " ").split())
        session = house.session(house.stage.tests)
        for text in (
            session["title"],
            session["sessionId"],
            "fix/midnight-tide",
            f"--resume{house.stage.tests.session}",
        ):
            assert text.replace(" ", "") in sheet
        await dash.press("i")
        assert dash.app.focused is dash.app.sessions
