"""Shared fixtures: a home of its own for every test, a clock that stands still, none of the developer's settings."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kato_tui.core.paths import Home

#: `KATO_LONG=1` looks for new counterexamples; otherwise every run checks the same ones, so that none fails by chance.
LONG = bool(os.environ.get("KATO_LONG"))
settings.register_profile(
    "kato",
    deadline=None,
    derandomize=not LONG,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("kato")


class ManualClock:
    """Time moves only when a test says so."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 18, 9, 0, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "kato")
    for folder in found.folders():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return found


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KATO_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
