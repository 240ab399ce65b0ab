"""The palette: every action of the table, those of the focused pane first, and the themes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from kato_tui.actions import PANES, shown

if TYPE_CHECKING:
    from kato_tui.app import Dashboard


class Palette(Provider):
    async def discover(self) -> Hits:
        for name, words, run in self._offered():
            yield DiscoveryHit(name, run, help=words)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, words, run in self._offered():
            score = max(matcher.match(name), matcher.match(words) / 2)
            if score > 0:
                yield Hit(score, matcher.highlight(name), run, help=words)

    def _offered(self) -> Iterable[tuple[str, str, Callable[[], Any]]]:
        app = cast("Dashboard", self.app)
        for one in sorted(app.actions, key=lambda one: one.scope != app.pane.NAME):
            if one.group == "Moving" or one.id == "palette":
                continue
            name = one.id.replace("-", " ").capitalize()
            where = f"{one.scope} · " if one.scope in PANES else ""
            yield name, f"{where}{one.help} ({shown(one.keys[0])})", partial(app.do, one.id)
        for name in sorted(app.available_themes):
            yield f"Theme {name}", "change the colours", partial(app.set_theme, name)
