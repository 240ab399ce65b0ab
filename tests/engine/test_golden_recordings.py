"""Recordings of whole days, byte for byte, from each assistant's own log to the user's file.

The same file comes out whether a session is recorded live, record by record and over restarts, or exported at the end.
`KATO_GOLDEN=write` writes the golden files anew: read the difference before committing it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from kato_tui.core.config import Config
from kato_tui.core.engine import Engine
from kato_tui.core.model.intents import Intent, Outcome
from kato_tui.core.paths import Home
from kato_tui.core.providers.registry import PROVIDERS
from tests.conftest import ManualClock
from tests.crashing import CrashingFs
from tests.machine import Place
from tests.scenes import SCENES
from tests.world import body

GOLDEN = Path(__file__).parents[1] / "golden" / "recordings"
ID = "0a0b0c0d-0000-4000-8000-000000000000"


class Desk:
    """An assistant's log that grows, and an engine beside it."""

    def __init__(self, base: Path, place: Place) -> None:
        self.base = base
        self.place = place
        self.log = base / place.path
        self.log.parent.mkdir(parents=True)
        (base / "notes").mkdir()
        self.clock = ManualClock()
        self.engine = self._start()

    def _start(self) -> Engine:
        engine = Engine(
            Home(self.base / ".kato"), Config(), PROVIDERS, {}, self.base, self.clock, CrashingFs(), lambda: ID
        )
        engine.start()
        return engine

    def restart(self) -> None:
        self.engine.close()
        self.engine = self._start()

    def write(self, *records: dict[str, object]) -> None:
        with self.log.open("ab") as log:
            log.write(self.place.lines(*records))
        self.engine.discover()
        self.engine.bring_up_to_date()

    def ask(self, action: str, name: str) -> Outcome:
        intent = Intent(action=action, argument=f"~/notes/{name}", session=self.place.session)
        return self.engine.submit(intent)

    def file(self, name: str) -> Path:
        return self.base / "notes" / name


@pytest.mark.parametrize("name", sorted(SCENES))
@pytest.mark.parametrize("form", ["md", "jsonl"])
def test_a_whole_day(tmp_path: Path, name: str, form: str) -> None:
    place, records = SCENES[name]
    desk = Desk(tmp_path, place)
    desk.write(*records)
    assert desk.ask("export", f"day.{form}").code == "done"
    _compare(GOLDEN / f"{name}.{form}", desk.file(f"day.{form}").read_bytes())
    desk.engine.close()


def _compare(golden: Path, made: bytes) -> None:
    if os.environ.get("KATO_GOLDEN") == "write":
        golden.write_bytes(made)
    assert made.decode() == golden.read_bytes().decode()


@pytest.mark.parametrize("name", sorted(SCENES))
@pytest.mark.parametrize("form", ["md", "jsonl"])
def test_recording_a_session_live_gives_the_bytes_of_exporting_it(tmp_path: Path, name: str, form: str) -> None:
    place, records = SCENES[name]
    desk = Desk(tmp_path, place)
    desk.write(*records[:2])
    assert desk.ask("capture", f"live.{form}").code == "done"
    for number, record in enumerate(records[2:]):
        desk.write(record)
        if number % 5 == 2:
            desk.restart()
    desk.engine.tick()
    assert desk.ask("export", f"export.{form}").code == "done"
    assert body(desk.file(f"live.{form}")) == body(desk.file(f"export.{form}"))
    desk.engine.close()


@pytest.mark.parametrize("name", ["codex", "codex-old"])
def test_codex_says_everything_once_and_loses_no_late_result(name: str) -> None:
    text = (GOLDEN / f"{name}.md").read_text()
    answers = {"codex": "Notes now live in SQLite.", "codex-old": "Renamed; the tests still run."}
    turns = {"codex": 1, "codex-old": 2}
    assert text.count(answers[name]) == turns[name]
    assert "unknown" not in text
    late = {"codex": "db = None\n```", "codex-old": "ok\n```"}
    assert text.index(answers[name]) < text.index(late[name])
    assert all(re.fullmatch(r"# \S+_\d{4}-\d\d-\d\d_\d{4}_\d\d", row) for row in text.split("\n") if row[:2] == "# ")
