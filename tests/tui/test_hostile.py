"""Whatever a log says, the terminal gets text: no escape sequence, no markup, no link, in any place of the screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kato_tui.core.model.intents import Notice
from tests.tui.house import Dash, House, look

#: Each would act if it came through: as a sequence, as markup that calls something, or as markup that crashes.
EVIL = (
    "\x1b]0;owned\x07\x1b[2J\x1b[31m",
    "\x9b31m\x9d0;owned\x9c",
    "[@click=app.quit]press[/] [/x] [bold",
    "[link=file:///etc/passwd]x[/link]",
    "\u202etxet desrever\u2066\u2069",
    "a\rb\x08\x0b\x0c\x00\x7f",
    "\U000e0041\U000e007f\u2028\u2029",
    "wide 潮汐 👩\u200d👩\u200d👧 é",
)
_ACTIVE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def _check(dash: Dash) -> None:
    width = dash.app.size.width
    for strip in dash.app.screen._compositor.render_strips(dash.app.size):
        assert not _ACTIVE.search(strip.text), repr(strip.text)
        assert strip.cell_length == width
        for segment in strip:
            meta = segment.style.meta if segment.style is not None and segment.style._meta else {}
            assert "@click" not in meta and "@action" not in meta, meta
            assert segment.style is None or segment.style.link is None


def _evil_house(base: Path) -> House:
    house = House(base)
    log = house.claude("evil", "harbour")
    log._branch = "".join(EVIL)
    for number, text in enumerate(EVIL):
        log.user(f"{text} question {number}")
        call = log.call("".join(EVIL)[:60], command=text, **{f"key {text}"[:30]: text})
        log.result(call, text)
        log.say(f"{text} answer {number}")
    log.ask(EVIL[0], (EVIL[2], EVIL[1]), (EVIL[3], EVIL[4]))
    log.title("".join(EVIL))
    log.append({"type": f"new{EVIL[0]}{EVIL[2]}", "content": EVIL[1]})
    house.poll()
    return house


@pytest.mark.parametrize("size", [(80, 24), (200, 60)], ids=str)
async def test_every_pane(tmp_path: Path, size: tuple[int, int]) -> None:
    house = _evil_house(tmp_path)
    log = house.claude("evil")
    async with look(house, size) as dash:
        await dash.select(log)
        for key in ("1", "2", "3", "4"):
            await dash.press(key)
            _check(dash)
        await dash.press("3", "a")
        _check(dash)
        await dash.press("1", "i")
        _check(dash)


async def test_events_in_full_rendered_and_raw(tmp_path: Path) -> None:
    house = _evil_house(tmp_path)
    async with look(house, (100, 40)) as dash:
        await dash.select(house.claude("evil"))
        await dash.press("3", "enter")
        for _ in range(4):
            _check(dash)
            await dash.press("p")
        await dash.press("r")
        _check(dash)


async def test_toasts_and_warnings(tmp_path: Path) -> None:
    house = _evil_house(tmp_path)
    async with look(house, (100, 40)) as dash:
        for number, text in enumerate(EVIL):
            with house.link.lock:
                notice: dict[str, Any] = {
                    "at": "2026-11-18T09:30:00Z",
                    "severity": "error",
                    "message": f"{text} {number}",
                }
                house.engine._news.put(Notice(code=f"evil{number}", session_short_id="4ce4cff5", **notice))
        await dash.settled()
        assert dash.toasts
        _check(dash)
        await dash.press("4", "y")
        _check(dash)


async def test_paths_in_recordings_completion_and_questions(tmp_path: Path) -> None:
    house = _evil_house(tmp_path)
    for number, text in enumerate(EVIL):
        (house.stage.cwd / f"{text.replace('/', '-').replace(chr(0), '')} {number}.md").touch()
    async with look(house, (140, 45)) as dash:
        await dash.select(house.claude("evil"))
        await dash.command("start ~/notes/[@click=app.quit]x[/].md")
        await dash.command("start '~/notes/[/x] \u202e.md'")
        await dash.press("2", "a")
        _check(dash)
        await dash.press(":")
        await dash.type("start ")
        _check(dash)
        await dash.press("escape", "X")
        _check(dash)
        await dash.press("escape", "/")
        await dash.type("[@click=app.quit]")
        await dash.press("enter")
        _check(dash)
        assert not dash.app._exit


async def test_the_palette_and_help_know_nothing_of_logs(tmp_path: Path) -> None:
    house = _evil_house(tmp_path)
    async with look(house) as dash:
        await dash.select(house.claude("evil"))
        await dash.press("?")
        _check(dash)
