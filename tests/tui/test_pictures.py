"""The screen as it is drawn, compared with pictures that people have looked at: `tests/golden/screens/*.svg`.

`KATO_GOLDEN=1 pytest tests/tui/test_pictures.py` draws them anew. Nothing in them may depend on the machine: the clock
stands still, ids are counted, load and latency are fixed, and no cursor blinks.
"""

from __future__ import annotations

import difflib
import html
import os
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kato_tui.demo_story import RECORDING_IDS
from tests.tui.house import Dash, House, look

GOLDEN = Path(__file__).parents[1] / "golden" / "screens"
Visit = Callable[[Dash], Awaitable[None]]


def _words(svg: str) -> list[str]:
    """The lines of a picture, for people who read what changed."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text class="[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    return ["".join(text for _, text in sorted(row)).rstrip() for _, row in sorted(rows.items())]


def _compare(name: str, svg: str, actual: Path) -> None:
    golden = GOLDEN / f"{name}.svg"
    if os.environ.get("KATO_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(svg, "utf-8")
    expected = golden.read_text("utf-8")
    if svg == expected:
        return
    (actual / f"{name}.svg").write_text(svg, "utf-8")
    changed = "\n".join(difflib.unified_diff(_words(expected), _words(svg), "expected", "drawn", lineterm="", n=1))
    pytest.fail(f"{actual / name}.svg is not {golden}\n{changed or 'the words are the same, the colours are not'}")


async def _draw(name: str, house: House, tmp_path: Path, size: tuple[int, int], visit: Visit | None = None) -> None:
    async with look(house, size, toasts=False) as dash:
        dash.app.line.entry.cursor_blink = False
        await dash.until(lambda: dash.app.board.cpu is not None)
        if visit is not None:
            await visit(dash)
        await dash.settled()
        _compare(name, dash.app.export_screenshot(title=name), tmp_path)


def _pressing(*keys: str) -> Visit:
    async def visit(dash: Dash) -> None:
        await dash.select(dash.house.stage.tests)
        await dash.press(*keys)

    return visit


def _told(tmp_path: Path, **settings: Any) -> House:
    """The story of the demonstration has been told."""
    house = House(tmp_path, ids=iter(RECORDING_IDS), **settings)
    house.play()
    return house


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
async def test_sizes(tmp_path: Path, size: tuple[int, int]) -> None:
    await _draw(f"{size[0]}x{size[1]}", _told(tmp_path), tmp_path, size, _pressing())


@pytest.mark.parametrize("theme", ["kato-light", "kato-safe", "kato-16"])
async def test_themes(tmp_path: Path, theme: str) -> None:
    await _draw(theme, _told(tmp_path, theme=theme), tmp_path, (120, 40), _pressing("3"))


async def test_no_colours_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    await _draw("no-colour", _told(tmp_path), tmp_path, (120, 40), _pressing("3"))


async def test_nothing_yet(tmp_path: Path) -> None:
    await _draw("empty", House(tmp_path, empty=True), tmp_path, (120, 40))


async def test_nothing_yet_in_a_small_terminal(tmp_path: Path) -> None:
    await _draw("empty-80x24", House(tmp_path, empty=True), tmp_path, (80, 24))


async def test_thousands_of_sessions(tmp_path: Path) -> None:
    house = _told(tmp_path)
    house.link.crowd = 5000
    await _draw("thousands", house, tmp_path, (120, 40))


async def test_a_recording_that_fails(tmp_path: Path) -> None:
    house = House(tmp_path)
    folder = house.base / "away"
    folder.mkdir()

    async def visit(dash: Dash) -> None:
        await dash.select(house.stage.tests)
        await dash.command("start ~/away/notes.md")
        house.stage.tests.say("written")
        await dash.hear()
        shutil.rmtree(folder)
        folder.write_text("a file is in the way")
        house.stage.tests.say("kept for later")
        await dash.hear()
        await dash.press("4")

    await _draw("failing", house, tmp_path, (120, 40), visit)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
async def test_a_stop_that_could_mean_two(tmp_path: Path, size: tuple[int, int]) -> None:
    async def visit(dash: Dash) -> None:
        await dash.press("4")
        pane = dash.app.warnings
        pane.select(next(key for key, one in pane._alerts.items() if one.code == "ambiguous" and one.candidates))

    await _draw(f"ambiguous-{size[0]}x{size[1]}", _told(tmp_path), tmp_path, size, visit)


async def test_one_event(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.stage.tests.say(
        "# The cause\n\nThe port is in **UTC+1**:\n\n```python\nassert at == '00:02'\n```\n\n- freeze it"
    )
    house.poll()
    await _draw("event", house, tmp_path, (100, 30), _pressing("3", "enter"))


async def test_a_question(tmp_path: Path) -> None:
    async def visit(dash: Dash) -> None:
        await dash.select(dash.house.stage.tests)
        await dash.command("start ~/notes/one.md")
        await dash.command("start ~/notes/two.md")
        await dash.press("X")

    await _draw("question", House(tmp_path), tmp_path, (100, 30), visit)


async def test_a_line_that_is_being_typed(tmp_path: Path) -> None:
    async def visit(dash: Dash) -> None:
        await dash.press(":")
        await dash.type("stop id:")

    await _draw("line", _told(tmp_path), tmp_path, (100, 30), visit)


async def test_all_keys(tmp_path: Path) -> None:
    await _draw("help", House(tmp_path), tmp_path, (80, 24), _pressing("?"))
