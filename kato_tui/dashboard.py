"""`kato-tui`: the dashboard on the user's own sessions. What stands between command line and screen."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kato_tui.actions import with_keymap
from kato_tui.commands.talk import UsageError
from kato_tui.core.errors import ConfigError
from kato_tui.core.looks import Looks, load_looks
from kato_tui.core.paths import Home
from kato_tui.pump import MakeLink

if TYPE_CHECKING:
    import argparse

    from kato_tui.core.host import Host

#: What the engine gets for its last step before it is left to finish or die: restarting is safe either way.
_PATIENCE: Final = 1.5


def run_dashboard(_: argparse.Namespace) -> int:
    from kato_tui.attach import attach

    def own() -> Host:
        # In the thread that starts it, behind the first frame: the engine takes as long to load as the screen.
        from kato_tui.core.config import load_config
        from kato_tui.core.host import own_host

        return own_host(home, load_config(home.config))

    need_terminal("kato-tui --no-ui")
    home = Home.from_environ(os.environ, Path.home())
    looks = load_looks(home.config)
    _check_keymap(looks, home)
    return show(lambda: attach(home, own), looks, user_home=str(Path.home()), log_to=home)


def _check_keymap(looks: Looks, home: Home) -> None:
    try:
        with_keymap(looks.keymap)
    except ConfigError:
        from kato_tui.core.config import at_its_line

        with at_its_line(home.config):
            raise


def need_terminal(instead: str) -> None:
    """A screen needs one; scripts and services are told what they want."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"the dashboard needs a terminal; without one: {instead}")
    if os.environ.get("TERM", "") in ("dumb", ""):
        raise UsageError(
            f"this terminal cannot show the dashboard (TERM is {os.environ.get('TERM') or 'not set'}): {instead}"
        )


def show(
    make_link: MakeLink,
    looks: Looks,
    *,
    user_home: str,
    title: str = "kato",
    throw_away: bool = False,
    log_to: Home | None = None,
) -> int:
    """Run the screen until it is left. The terminal is restored by then, whatever happened."""
    # All that is made for the first frame stays: looking through it for garbage takes a tenth of the time to it.
    gc.disable()
    from kato_tui.app import Dashboard

    app = Dashboard(make_link, looks, user_home=user_home, title=title, throw_away=throw_away)
    app.run()
    ended = app.pump.close(_PATIENCE)
    if app.failure is not None:
        _report(app.failure, log_to)
    if app.pump.refused is not None:
        raise app.pump.refused
    # Whoever watches the program from outside is told that its engine did not work.
    code = app.return_code or int(app.pump.failed)
    if not ended:
        # The engine is in the middle of something long. It can be cut off anywhere; waiting is what people notice.
        sys.stdout.flush()
        os._exit(code)
    return code


def _report(failure: Exception, log_to: Home | None) -> None:
    """Where it went wrong, without the values: those are conversations."""
    frames = [f"{one.filename}:{one.lineno} {one.name}" for one in traceback.extract_tb(failure.__traceback__)]
    if log_to is not None:
        from kato_tui.core.clock import SystemClock
        from kato_tui.core.logs import JsonLog

        log = JsonLog(log_to.operational_log, SystemClock())
        log.write("dashboard.failed", error=type(failure).__name__, frames=frames)
        sys.stderr.write(f"kato-tui: please report this; the trace is in {log_to.operational_log}\n")
    else:
        sys.stderr.write("".join(f"  {frame}\n" for frame in frames))
