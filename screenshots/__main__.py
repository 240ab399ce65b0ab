"""Take all pictures, or those named: `python -m screenshots [name …]`. Writes SVG and PNG beside this file."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import resvg_py
from textual.pilot import Pilot

from kato_tui.app import Dashboard
from kato_tui.attach import own_link
from kato_tui.core.looks import Looks
from kato_tui.demo import Performance, SteppedClock, performance

_HERE: Final = Path(__file__).parent
_BEGIN: Final = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)
#: The picture's own font is fetched from the web by browsers; here one of the system's has to do.
_FONT: Final = "DejaVu Sans Mono"


@dataclass(frozen=True)
class Picture:
    name: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    theme: str | None = None
    #: The session that is selected.
    session: str = "Flaky tide test at midnight"
    #: Messages that come and go would hide what the picture is about.
    toasts: bool = False


PICTURES: Final = (
    Picture("dashboard", (140, 40), ("3",)),
    Picture("light", (140, 40), ("3",), "kato-light"),
    Picture("safe", (140, 40), ("3",), "kato-safe"),
    Picture("sixteen", (140, 40), ("3",), "kato-16"),
    Picture("wide", (200, 50), ("3",)),
    Picture("narrow", (80, 24)),
    Picture("ambiguous-stop", (120, 36), ("4", "z")),
    Picture("event", (120, 36), ("3", "g", *(["j"] * 5), "enter")),
    Picture("help", (120, 44), ("?",)),
    Picture("command", (120, 36), (":", *"stop id:")),
    Picture("palette", (120, 36), ("ctrl+p", *"copy")),
)


async def take(picture: Picture, folder: Path) -> None:
    """The demonstration from its beginning, then the keys, then the picture."""
    with tempfile.TemporaryDirectory(prefix="kato-picture-") as temporary:
        base = Path(temporary).resolve()
        clock = SteppedClock(_BEGIN)
        with performance(base, clock) as shown:
            host = shown.host
            looks = Looks({}, picture.theme, bell=False)
            app = Dashboard(
                lambda: own_link(host), looks, user_home=str(base), title="kato", throw_away=True, now=clock.now
            )
            async with app.run_test(size=picture.size, notifications=picture.toasts) as pilot:
                await _told(shown, app, pilot)
                await _select(picture.session, app, pilot)
                await pilot.press(*picture.keys)
                await _settled(app, pilot)
                svg = app.export_screenshot(title="kato-tui")
            app.pump.close(5)
    (folder / f"{picture.name}.svg").write_text(svg, "utf-8")
    (folder / f"{picture.name}.png").write_bytes(to_png(svg))


async def _told(shown: Performance, app: Dashboard, pilot: Pilot[Any]) -> None:
    """Until the story is over."""
    while not shown.over:
        await pilot.pause(0.1)
    await _settled(app, pilot)


async def _select(title: str, app: Dashboard, pilot: Pilot[Any]) -> None:
    """Go to the session of that title, wherever the last events have put it in the list."""
    titles = [str(session.get("title")) for session in map(app.board.sessions.get, app.sessions.items) if session]
    await pilot.press("g", *(["j"] * titles.index(title)))
    await _settled(app, pilot)


async def _settled(app: Dashboard, pilot: Pilot[Any]) -> None:
    await pilot.pause(0.6)
    while app.pump.busy or app.local.busy:
        await pilot.pause(0.05)
    await pilot.pause()


def to_png(svg: str) -> bytes:
    plain = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", _FONT)
    return bytes(resvg_py.svg_to_bytes(svg_string=plain, monospace_family=_FONT, width=1600))


def main(names: Iterable[str]) -> int:
    wanted = set(names)
    unknown = wanted - {one.name for one in PICTURES}
    if unknown:
        sys.stderr.write(f"no picture {', '.join(sorted(unknown))}: {', '.join(one.name for one in PICTURES)}\n")
        return 2
    # The same pictures on every machine, whatever its own terminal can do.
    os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TZ": "UTC"}
    os.environ.pop("NO_COLOR", None)
    for picture in PICTURES:
        if not wanted or picture.name in wanted:
            asyncio.run(take(picture, _HERE))
            sys.stdout.write(f"{picture.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
