"""The demonstration: real formats, the real engine, the same story every time, nothing left behind."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kato_tui import demo
from kato_tui.core.ingest.translate import Translation
from kato_tui.core.providers.registry import detect
from kato_tui.demo import Demo, Player, SteppedClock

START = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)


def _played(base: Path) -> Demo:
    clock = SteppedClock(START)
    played = Demo(base, clock)
    with played:
        while (wait := played.player.wait) is not None:
            clock.advance(wait)
            played.player.step()
            played.poll()
    return played


def test_the_story_shows_every_provider_recordings_and_warnings(tmp_path: Path) -> None:
    engine = _played(tmp_path).engine
    assert {key.partition(":")[0] for key in engine.sessions} == {"claude", "codex", "gemini"}
    codes = [notice.code for notice in engine.notices]
    assert codes.count("done") >= 4
    assert {"ambiguous", "invalid-command"} <= set(codes)
    assert any(code.startswith("denied-") for code in codes)
    assert engine.totals.counters["rewrites"] == 1


def test_no_record_of_the_story_is_unknown_to_its_provider(tmp_path: Path) -> None:
    engine = _played(tmp_path).engine
    for session in engine.sessions.values():
        found = detect(session.sources[-1].path)
        assert found is not None and found[0].name == session.provider.name
        translation = Translation(*found)
        assert list(translation.lines())
        assert not any(row.raw or row.invalid for row in translation.tally.values()), translation.tally
        assert not engine.survey.facts(session.key).unknown_types


def test_what_was_asked_for_is_in_the_files(tmp_path: Path) -> None:
    _played(tmp_path)
    notes = (tmp_path / "notes" / "midnight.md").read_text()
    assert "freeze the clock" in notes and "that is all for the notes" not in notes
    export = (tmp_path / "notes" / "csv-export.md").read_text()
    assert "semicolons" in export
    assert not Path("/etc/harbour.md").exists()


def test_a_story_played_twice_is_the_same(tmp_path: Path) -> None:
    logs: list[dict[str, bytes]] = []
    for name in ("one", "two"):
        base = tmp_path / name / "ada"
        base.mkdir(parents=True)
        player = Player(base, SteppedClock(START))
        while player.step():
            pass
        logs.append(
            {
                str(path.name): path.read_bytes().replace(str(base).encode(), b"")
                for path in sorted(base.rglob("*.jsonl"))
            }
        )
    assert logs[0] == logs[1] and len(logs[0]) == 5


def test_the_live_story_begins_only_when_the_engine_knows_what_was_there_before(tmp_path: Path) -> None:
    with demo.performance(tmp_path, SteppedClock(START)) as shown:
        hub = shown.host.service.hub
        shown.host.start()
        delta = hub.changes()
        while not any(notice["code"] == "done" for notice in delta.notices):
            delta = hub.changes(delta.version, None)
        first = next(notice for notice in delta.notices if notice["code"] == "done")
        shown.host.close()
    assert "7ade0001" in first["message"] and "recordings" in first["message"]


def test_an_endless_story_goes_on_after_its_end(tmp_path: Path) -> None:
    player = Player(tmp_path, SteppedClock(START), endless=True)
    assert all(player.step() for _ in range(60))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_throw_away_home_is_gone_also_when_the_process_is_asked_to_end(number: int) -> None:
    with pytest.raises(KeyboardInterrupt), demo.throw_away_home() as base:
        assert base.is_dir()
        os.kill(os.getpid(), number)
    assert not base.exists()
