"""The worker processes: told the settings once each, so new settings are for new ones."""

from __future__ import annotations

import os
import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kato_tui.core.pool import Assistance, Pool


class Crew:
    """A pool of one, and how often a worker was told what holds."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.hired = 0
        self._woken: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.lock = os.open(base / "lock", os.O_RDWR | os.O_CREAT)
        self.pool = Pool(Assistance(self._hello, lambda: self.lock), lambda: self._woken.put(None), 1)

    def _hello(self) -> dict[str, Any]:
        self.hired += 1
        return {"home": str(self.base / "kato"), "userHome": str(self.base), "config": {}}

    def ask(self) -> None:
        """A job for a log that is not there."""
        source = {"id": "a", "path": str(self.base / "gone.jsonl"), "kind": "main", "layout": "lines"}
        more = {"compressed": False, "generation": "", "parent": None}
        job = {"key": "claude:a", "provider": "claude", "keepTwin": False, "live": False, "since": None}
        self.pool.submit("claude:a", lambda: job | {"sources": [source | more]})

    def answer(self) -> dict[str, Any]:
        while not (found := self.pool.take()):
            self._woken.get(timeout=30)
        return found[0]


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    made = Crew(tmp_path)
    yield made
    made.pool.close()
    os.close(made.lock)


def test_a_worker_goes_on_with_the_next_job_until_the_settings_change(crew: Crew) -> None:
    for _ in range(2):
        crew.ask()
        assert crew.answer()["error"].endswith("gone.jsonl is gone")
    assert crew.hired == 1
    crew.pool.renew()
    crew.ask()
    assert crew.answer()["key"] == "claude:a"
    assert crew.hired == 2


def test_a_worker_in_the_middle_of_a_job_ends_with_it_when_the_settings_change(crew: Crew) -> None:
    crew.ask()
    crew.pool.renew()
    assert crew.answer()["key"] == "claude:a"
    crew.ask()
    assert crew.answer()["key"] == "claude:a"
    assert crew.hired == 2
