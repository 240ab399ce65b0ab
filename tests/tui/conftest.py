"""Tests of the dashboard are coroutines; nothing of the developer's desktop is touched by them."""

from __future__ import annotations

import asyncio
import inspect
import time

import pytest

from kato_tui import clipboard, pump
from kato_tui.app import Dashboard
from kato_tui.deeds import leaving


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(pyfuncitem.obj(**given))
    return True


class SteadyMeter:
    """What the machine's load is must not show in a picture."""

    def __init__(self, pid: int | None = None) -> None:
        pass

    def read(self) -> tuple[float | None, int | None]:
        return 3.0, 60_000_000


@pytest.fixture(autouse=True)
def _steady(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "TICK", 0.01)
    monkeypatch.setattr(pump, "_WAIT", 0.1)
    monkeypatch.setattr(pump, "Meter", SteadyMeter)
    # A busy machine needs longer than people for the second press, and for the second click.
    monkeypatch.setattr(leaving, "_TWICE", 1000.0)
    monkeypatch.setattr(Dashboard, "CLICK_CHAIN_TIME_THRESHOLD", 1000.0)
    monkeypatch.setattr(clipboard, "copy", lambda text: [])
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for name in ("NO_COLOR", "TMUX", "PAGER", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
