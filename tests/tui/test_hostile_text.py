"""The dashboard with hostile text in everything it shows: every pane, window, toast and title, seen as a terminal
would get it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kato_tui.core.model.intents import Intent
from tests.conftest import LONG
from tests.machine import CLAUDE
from tests.security import hostile
from tests.tui.house import Dash, House, look


def _check(dash: Dash, where: str) -> None:
    """Nothing that a terminal acts on is drawn, and nothing that Textual would act on was made of the text."""
    app = dash.app
    for line in app.screen._compositor.render_strips(app.size):
        for segment in line:
            found = hostile.ACTIVE.search(segment.text)
            assert not found, (where, segment.text)
            style = segment.style
            if style is not None:
                assert "evil" not in (style.link or ""), (where, segment)
                assert "app.quit" not in str(style.meta), (where, segment)
    assert not hostile.ACTIVE.search(str(app.title) + str(app.sub_title)), where
    assert app.is_running and app.return_code is None, where


def _hostile_house(base: Path, text: str) -> House:
    house = House(base)
    hostile.write(base, text)
    house.poll()
    return house


@pytest.mark.parametrize("kind", sorted(hostile.ALL) if LONG else sorted(hostile.TOGETHER))
async def test_nothing_of_a_log_acts_on_the_dashboard(tmp_path: Path, kind: str) -> None:
    text = {**hostile.ALL, **hostile.TOGETHER}[kind]
    house = _hostile_house(tmp_path, text)
    async with look(house, size=(160, 50)) as dash:
        await dash.select(CLAUDE)
        _check(dash, "sessions")
        for keys in (("3",), ("a",), ("G",), ("enter",), ("r",), ("r",), ("n",), ("escape",), ("2",), ("4",), ("1",)):
            await dash.press(*keys)
            _check(dash, f"after {keys}")
        shown = "".join(char for char in text if char not in "\x00/\r\n")[:30]
        await dash.press("slash")
        await dash.type("title")
        _check(dash, "filter")
        await dash.press("escape")
        house.engine.say("odd", "error", f"said {text}")
        house.engine.submit(Intent(action="start", argument=f"~/notes/{shown}.md", session=CLAUDE.session))
        house.engine.submit(Intent(action="stop", argument=text, session=CLAUDE.session))
        await dash.hear()
        _check(dash, "toasts")
        await dash.press("2", "enter")
        _check(dash, "recordings")
        await dash.press("escape", "4", "enter")
        _check(dash, "warnings")
        await dash.press("escape", "question_mark")
        _check(dash, "help")
        await dash.press("escape")


async def test_hostile_text_in_the_command_line_stays_text(tmp_path: Path) -> None:
    house = _hostile_house(tmp_path, hostile.MARKUP["an action"])
    async with look(house) as dash:
        await dash.select(CLAUDE)
        for text in list(hostile.MARKUP.values())[:3]:
            await dash.command(f"start /nowhere/{text}")
            _check(dash, text)
            await dash.command(f"stop {text}")
            _check(dash, text)
